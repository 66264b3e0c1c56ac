//! The fuzzer's command line.
use std::{
    collections::BTreeMap,
    process::ExitCode,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

use doorway_checker::Verdict;
use doorway_fuzz::{
    campaigns::{NAMES, case},
    compare::compare,
    shrink::{kind, shrink},
};

const USAGE: &str = "\
usage: fuzz [--minutes M | --programs N] [--campaign NAME]... [--seed S] [--threads T] [--seed-only SEED]
            [--max-mismatches N] [--stop]

  --minutes M         divide this time between the campaigns (default: 1)
  --programs N        check this number of programs in each campaign instead
  --campaign NAME     run only this campaign; can be repeated; `--list` lists the names
  --seed S            start from this seed (default: the time)
  --seed-only SEED    check the program of this seed, and show it
  --threads T         threads (default: 2)
  --max-mismatches N  shrink and show at most N mismatches in each campaign (default: 3)
  --stop              end with the first mismatch, and print the number of programs until then";

struct Options {
    minutes: f64,
    programs: Option<u64>,
    campaigns: Vec<&'static str>,
    seed: u64,
    only: Option<u64>,
    threads: usize,
    shown: usize,
    stop: bool,
}

fn options() -> Result<Option<Options>, String> {
    let clock = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64);
    let mut options = Options {
        minutes: 1.0,
        programs: None,
        campaigns: Vec::new(),
        seed: clock >> 10 & 0xffff_ffff,
        only: None,
        threads: 2,
        shown: 3,
        stop: false,
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut number = || -> Result<u64, String> {
            let value = args.next().ok_or(format!("`{arg}` needs a number"))?;
            value.parse().map_err(|_| format!("`{arg}` needs a number, not `{value}`"))
        };
        match arg.as_str() {
            "--help" | "-h" => {
                println!("{USAGE}");
                return Ok(None);
            }
            "--list" => {
                NAMES.iter().for_each(|name| println!("{name}"));
                return Ok(None);
            }
            "--stop" => options.stop = true,
            "--programs" => options.programs = Some(number()?),
            "--seed" => options.seed = number()?,
            "--seed-only" => options.only = Some(number()?),
            "--threads" => options.threads = number()?.max(1) as usize,
            "--max-mismatches" => options.shown = number()? as usize,
            "--minutes" => {
                let value = args.next().ok_or("`--minutes` needs a number")?;
                options.minutes = value.parse().map_err(|_| format!("`--minutes` needs a number, not `{value}`"))?;
            }
            "--campaign" => {
                let value = args.next().ok_or("`--campaign` needs a name")?;
                let name = NAMES.iter().find(|name| **name == value);
                options
                    .campaigns
                    .push(name.ok_or(format!("there is no campaign `{value}`; `--list` lists the names"))?);
            }
            other => return Err(format!("`{other}` is not an option\n{USAGE}")),
        }
    }
    if options.campaigns.is_empty() {
        options.campaigns = NAMES.to_vec();
    }
    Ok(Some(options))
}

/// The result of a campaign.
#[derive(Default)]
struct Tally {
    programs: u64,
    compared: u64,
    complete: u64,
    refused: u64,
    undecided: u64,
    missed: u64,
    loose: u64,
    verdicts: BTreeMap<&'static str, [u64; 3]>,
    /// The seeds with mismatches, each with the subject of its first mismatch.
    bad: Vec<(u64, String)>,
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(Some(options)) => options,
        Ok(None) => return ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("fuzz: {why}");
            return ExitCode::from(2);
        }
    };
    if let Some(seed) = options.only {
        let mut found = false;
        for campaign in &options.campaigns {
            let case = case(campaign, seed);
            let outcome = compare(&case.program, &case.setup, case.job);
            println!("{campaign} {seed}: {:?}, {}\n{}\n{outcome:#?}", case.job, case.setup, case.program);
            found |= !outcome.mismatches.is_empty();
        }
        return ExitCode::from(u8::from(found));
    }
    println!("seed {}", options.seed);
    let mut failed = false;
    for campaign in &options.campaigns {
        failed |= !run(campaign, &options);
        if failed && options.stop {
            break;
        }
    }
    ExitCode::from(u8::from(failed))
}

/// Runs a campaign; false if there was a mismatch.
fn run(campaign: &'static str, options: &Options) -> bool {
    let start = Instant::now();
    let time = Duration::from_secs_f64(options.minutes * 60.0 / options.campaigns.len() as f64);
    let next = AtomicU64::new(0);
    let tally = Mutex::new(Tally::default());
    std::thread::scope(|scope| {
        for _ in 0..options.threads {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let done = match options.programs {
                        Some(programs) => index >= programs,
                        None => start.elapsed() >= time,
                    };
                    if done {
                        return;
                    }
                    if options.stop && !tally.lock().expect("no thread panics").bad.is_empty() {
                        return;
                    }
                    let seed = options.seed.wrapping_add(index);
                    let case = case(campaign, seed);
                    let outcome = compare(&case.program, &case.setup, case.job);
                    let mut tally = tally.lock().expect("no thread panics");
                    tally.programs += 1;
                    tally.compared += outcome.compared as u64;
                    tally.complete += u64::from(outcome.complete);
                    tally.refused += u64::from(outcome.refused.is_some());
                    tally.undecided += outcome.undecided as u64;
                    tally.missed += outcome.missed as u64;
                    tally.loose += outcome.loose as u64;
                    for (property, verdict) in &outcome.verdicts {
                        let at = match verdict {
                            Verdict::Holds => 0,
                            Verdict::Fails => 1,
                            Verdict::Unknown => 2,
                        };
                        tally.verdicts.entry(property.name()).or_default()[at] += 1;
                    }
                    if let Some(first) = outcome.mismatches.first() {
                        tally.bad.push((seed, kind(first)));
                    }
                }
            });
        }
    });
    let mut tally = tally.into_inner().expect("no thread panics");
    tally.bad.sort_unstable();
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{campaign}: {} programs in {seconds:.1} s, {} comparisons, {} complete, {} refused, {} undecided ({} with a violation), {} loose bounds, {} mismatches",
        tally.programs,
        tally.compared,
        tally.complete,
        tally.refused,
        tally.undecided,
        tally.missed,
        tally.loose,
        tally.bad.len()
    );
    let shares: Vec<String> = tally
        .verdicts
        .iter()
        .map(|(property, [holds, fails, open])| {
            let share = 100 * fails / (holds + fails + open).max(1);
            format!("{property} {share}%")
        })
        .collect();
    if !shares.is_empty() {
        println!("    fail: {}", shares.join(", "));
    }
    // One of each kind.
    let mut kinds: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for (seed, kind) in &tally.bad {
        kinds.entry(kind).or_default().push(*seed);
    }
    for (kind, seeds) in kinds.iter().take(options.shown) {
        let (small, outcome) = shrink(&case(campaign, seeds[0]));
        println!("  MISMATCH {campaign} {}: {:?}, {}", seeds[0], small.job, small.setup);
        for line in small.program.to_string().lines().chain(outcome.mismatches.iter().flat_map(|text| text.lines())) {
            println!("    {line}");
        }
        let more: Vec<String> = seeds.iter().skip(1).take(10).map(ToString::to_string).collect();
        println!("  `{kind}…` {} times; also with seeds {}", seeds.len(), more.join(", "));
    }
    tally.bad.is_empty()
}
