//! `doorway bench`
use std::{cmp::Reverse, fmt::Write, ops::ControlFlow, path::PathBuf, time::Duration};

use clap::Args;
use doorway_bench::{Group, Kind, ROUNDS, Results, Row, Scenario, candidates, choose};
use serde_json::{Value, json};

use crate::{
    output::{Answer, FAILS, HOLDS, Trouble, UNDECIDED, try_writing, write},
    plot::{self, Bar},
    progress::{Watcher, interrupted},
};

#[derive(Args)]
pub(crate) struct Arguments {
    /// About how long it may take in all
    #[arg(long, value_name = "S", default_value_t = 180.0, value_parser = seconds)]
    seconds: f64,
    /// Only these locks, or groups of them: ours, std, peers, catalogue
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    only: Vec<String>,
    /// Only what threads do together so: busy, sleeping, or alone; with `--threads` and `-k`, any number of them
    #[arg(long, value_name = "KIND")]
    scenario: Option<String>,
    /// Only so many threads
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Only so many inside at once
    #[arg(short, value_name = "K")]
    k: Option<usize>,
    /// Only lists what can be measured
    #[arg(long)]
    list: bool,
    /// Draws entries a second
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    const MOST: f64 = 1e6;
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= MOST => Ok(seconds),
        _ => Err("it is a number of seconds, such as 120 or 0.5".to_string()),
    }
}

/// More threads than this say nothing new, and a machine may not have room for them.
const MOST_THREADS: usize = 1024;

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Trouble> {
    let locks = choose(&arguments.only)?;
    if arguments.list {
        let all = if arguments.only.is_empty() { candidates() } else { locks };
        let line =
            |lock: &doorway_bench::Candidate| format!("{:<26}{:<11}{}\n", lock.name, lock.group.name(), lock.order);
        return Ok(Answer { text: all.iter().map(line).collect(), code: HOLDS });
    }
    if let Some(path) = &arguments.plot {
        try_writing(path)?;
    }
    let scenarios = scenarios(arguments)?;
    let watcher = Watcher::new("bench".to_string());
    let results = doorway_bench::run(&locks, &scenarios, Duration::from_secs_f64(arguments.seconds), |progress| {
        if interrupted() {
            return ControlFlow::Break(());
        }
        watcher.say(&format!("round {} of {ROUNDS}: {}: {}", progress.round, progress.scenario, progress.lock));
        ControlFlow::Continue(())
    });
    watcher.done();
    if results.rounds == 0 {
        return Err(Trouble("interrupted before the first round was through; try fewer `--seconds`".to_string()));
    }
    if let Some(path) = &arguments.plot {
        write(path, &svg(&results))?;
    }
    let text = if arguments.json { format!("{:#}\n", as_json(&results)) } else { as_text(&results) };
    let code = match () {
        () if !results.rows.iter().all(Row::excludes) => FAILS,
        () if results.rounds < ROUNDS => UNDECIDED,
        () => HOLDS,
    };
    Ok(Answer { text, code })
}

/// Those that were asked for: of the usual ones, or another one if it is told in full.
fn scenarios(arguments: &Arguments) -> Result<Vec<Scenario>, Trouble> {
    let &Arguments { ref scenario, threads, k, .. } = arguments;
    let kind = match scenario {
        Some(name) => Some(kind(name)?),
        None => None,
    };
    if threads.is_some_and(|threads| !(1..=MOST_THREADS).contains(&threads)) || k == Some(0) {
        return Err(Trouble(format!("`--threads` is from 1 to {MOST_THREADS}, and `-k` at least 1")));
    }
    let asked = |it: &Scenario| {
        kind.is_none_or(|kind| kind == it.kind)
            && threads.is_none_or(|threads| threads == it.threads)
            && k.is_none_or(|k| k == it.k)
    };
    let usual: Vec<Scenario> = Scenario::all().into_iter().filter(asked).collect();
    match (kind, threads, k) {
        _ if !usual.is_empty() => Ok(usual),
        (Some(Kind::Alone), _, Some(k)) => Ok(vec![Scenario::new(Kind::Alone, 1, k)]),
        (Some(kind), Some(threads), Some(k)) => Ok(vec![Scenario::new(kind, threads, k)]),
        _ => {
            let all: Vec<String> = Scenario::all()
                .iter()
                .map(|it| format!("  --scenario {} --threads {} -k {}", it.kind.name(), it.threads, it.k))
                .collect();
            Err(Trouble(format!(
                "that is none of the usual scenarios; give all three for another one:\n{}",
                all.join("\n")
            )))
        }
    }
}

fn kind(name: &str) -> Result<Kind, Trouble> {
    Kind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
        let kinds = Kind::ALL.map(|kind| format!("`{}`", kind.name())).join(", ");
        Trouble(format!("`{name}` is no scenario; give one of {kinds}"))
    })
}

/// Those that were measured, in the order of the results.
fn measured(results: &Results) -> Vec<Scenario> {
    let mut scenarios = Vec::new();
    for row in &results.rows {
        if !scenarios.contains(&row.scenario) {
            scenarios.push(row.scenario);
        }
    }
    scenarios
}

/// What was measured in a scenario, the fastest first.
fn ranked(results: &Results, scenario: Scenario) -> Vec<&Row> {
    let mut rows: Vec<&Row> = results.rows.iter().filter(|row| row.scenario == scenario).collect();
    rows.sort_by(|a, b| match scenario.kind {
        Kind::Alone => a.ns.unwrap_or(f64::INFINITY).total_cmp(&b.ns.unwrap_or(f64::INFINITY)),
        _ => b.ops_per_s.unwrap_or(0.0).total_cmp(&a.ops_per_s.unwrap_or(0.0)),
    });
    rows
}

/// Entries a second if there were no lock.
fn no_lock(results: &Results, scenario: Scenario) -> Option<f64> {
    results.no_lock_ops_per_s.iter().find(|(of, _)| *of == scenario).map(|&(_, ops)| ops)
}

/// Entries a second of the standard library's lock, and of the best that others have in order of arrival.
fn yardsticks(rows: &[&Row]) -> (Option<f64>, Option<f64>) {
    let of_std = rows.iter().filter(|row| row.group == Group::Standard);
    let standard = of_std.min_by_key(|row| Reverse(row.lock == "std-mutex")).and_then(|row| row.ops_per_s);
    let in_order = rows.iter().filter(|row| row.group == Group::Peers && row.is_fifo());
    (standard, in_order.filter_map(|row| row.ops_per_s).reduce(f64::max))
}

fn as_text(results: &Results) -> String {
    let mut text = String::new();
    for scenario in measured(results) {
        let rows = ranked(results, scenario);
        // A String takes all that is written to it.
        let _ = writeln!(text, "{scenario}");
        match scenario.kind {
            Kind::Alone => alone(&mut text, &rows, results.fetch_add_ns),
            _ => together(&mut text, &rows, no_lock(results, scenario)),
        }
        text.push('\n');
    }
    if results.rounds < ROUNDS {
        let _ = writeln!(text, "interrupted after {} of {ROUNDS} rounds", results.rounds);
    }
    for row in results.rows.iter().filter(|row| !row.excludes()) {
        let Row { lock, scenario, most_inside, .. } = row;
        let _ = writeln!(text, "`{lock}` FAILS: {most_inside} were inside at once, {scenario}");
    }
    text += "* ours. Jain: 1 if all enter equally often. passed: others who entered between one's arrival and entry.\n";
    text += "Compare ratios, and only within one run; what differs by less than twice +- is a tie.\n";
    text += "The catalogue's locks: `--only catalogue`.\n";
    if !cfg!(feature = "peers") {
        text += "Other people's locks: `cargo run --release --features peers -- bench`.\n";
    }
    text
}

fn mark(row: &Row) -> char {
    if row.group == Group::Ours { '*' } else { ' ' }
}

fn alone(text: &mut String, rows: &[&Row], fetch_add: f64) {
    let _ = writeln!(text, "  {:<26}{:<8}{:>9}{:>13}", "lock", "order", "ns", "x fetch_add");
    let _ = writeln!(text, "  {:<26}{:<8}{fetch_add:>9.1}{:>13.2}", "(one fetch_add)", "", 1.0);
    for row in rows {
        let ns = row.ns.unwrap_or(f64::NAN);
        let _ = writeln!(text, "{} {:<26}{:<8}{ns:>9.1}{:>13.2}", mark(row), row.lock, row.order, ns / fetch_add);
    }
}

fn together(text: &mut String, rows: &[&Row], no_lock: Option<f64>) {
    let (standard, in_order) = yardsticks(rows);
    let ratio = |ops: Option<f64>, to: Option<f64>| or_dash(ops.zip(to).map(|(ops, to)| format!("{:.2}", ops / to)));
    let _ = writeln!(
        text,
        "  {:<26}{:<8}{:>10}{:>6}{:>7}{:>8}{:>6}{:>14}{:>9}{:>12}{:>9}",
        "lock", "order", "entries/s", "+- %", "x std", "x fifo", "Jain", "passed p99.9", "max", "wait p99.9", "CPU us"
    );
    if let Some(ops) = no_lock {
        let ratios = [standard, in_order].map(|to| ratio(no_lock, to));
        let _ = writeln!(
            text,
            "  {:<26}{:<8}{:>10}{:>6}{:>7}{:>8}",
            "(no lock at all)",
            "",
            entries(ops),
            "",
            ratios[0],
            ratios[1]
        );
    }
    for row in rows {
        let _ = writeln!(
            text,
            "{} {:<26}{:<8}{:>10}{:>6}{:>7}{:>8}{:>6}{:>14}{:>9}{:>12}{:>9}",
            mark(row),
            row.lock,
            row.order,
            or_dash(row.ops_per_s.map(entries)),
            or_dash(row.ops_error.map(|error| format!("{:.1}", error * 100.0))),
            ratio(row.ops_per_s, standard),
            ratio(row.ops_per_s, in_order),
            or_dash(row.jain.map(|jain| format!("{jain:.2}"))),
            or_dash(row.passed_p999.map(|passed| passed.to_string())),
            or_dash(row.passed_max.map(|passed| passed.to_string())),
            or_dash(row.wait_p999_ns.map(span)),
            or_dash(row.cpu_us_per_op.map(|cpu| format!("{cpu:.2}"))),
        );
    }
}

fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".to_string())
}

fn entries(per_second: f64) -> String {
    if per_second < 1e5 { format!("{per_second:.0}") } else { format!("{:.2} M", per_second / 1e6) }
}

fn span(ns: u64) -> String {
    match ns as f64 {
        ns if ns < 1e4 => format!("{ns:.0} ns"),
        ns if ns < 1e7 => format!("{:.0} us", ns / 1e3),
        ns => format!("{:.0} ms", ns / 1e6),
    }
}

fn as_json(results: &Results) -> Value {
    let alone = |of: &Row| {
        let same = |row: &&Row| row.lock == of.lock && row.scenario.k == of.scenario.k && row.ns.is_some();
        results.rows.iter().find(same).and_then(|row| row.ns)
    };
    let rows = results.rows.iter().filter(|row| row.scenario.kind != Kind::Alone).map(|row| {
        json!({
            "lock": row.lock,
            "ours": row.group == Group::Ours,
            "group": row.group.name(),
            "order": row.order,
            "scenario": row.scenario.kind.name(),
            "k": row.scenario.k,
            "threads": row.scenario.threads,
            "ns_uncontended": alone(row),
            "ns_fetch_add": results.fetch_add_ns,
            "ops_per_s": row.ops_per_s,
            "ops_per_s_error": row.ops_error,
            "ops_per_s_best": row.best_ops_per_s,
            "ops_per_s_no_lock": no_lock(results, row.scenario),
            "jain": row.jain,
            "passed_p999": row.passed_p999,
            "passed_max": row.passed_max,
            "wait_p999_ns": row.wait_p999_ns,
            "cpu_us_per_op": row.cpu_us_per_op,
            "excludes": row.excludes(),
            "rounds": results.rounds,
        })
    });
    rows.collect::<Vec<_>>().into()
}

fn svg(results: &Results) -> String {
    let contended = measured(results).into_iter().filter(|scenario| scenario.kind != Kind::Alone);
    let groups: Vec<(String, Vec<Bar>)> = contended
        .map(|scenario| {
            let bars = ranked(results, scenario).into_iter().map(|row| Bar {
                label: format!("{} ({})", row.lock, row.order),
                value: row.ops_per_s.unwrap_or(0.0),
                shown: or_dash(row.ops_per_s.map(entries)),
                is_ours: row.group == Group::Ours,
            });
            (scenario.to_string(), bars.collect())
        })
        .collect();
    plot::bars("entries a second; ours are filled", &groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_shown_in_units_that_fit() {
        assert_eq!(["850 ns", "12 us", "35 ms"], [850, 12_345, 34_800_000].map(span).each_ref().map(String::as_str));
    }

    #[test]
    fn a_number_of_seconds_is_more_than_none() {
        assert_eq!(seconds("0.5"), Ok(0.5));
        assert!(["0", "-1", "NaN", "inf", "1e9", "soon"].iter().all(|text| seconds(text).is_err()));
    }
}
