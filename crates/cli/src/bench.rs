//! `doorway bench`: measures locks, and prints the results as tables, JSON or a chart.
use std::{
    cmp::Reverse,
    fmt::{Display, Write},
    ops::ControlFlow,
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use clap::Args;
use doorway_bench::{Group, Kind, ROUNDS, Results, Row, Scenario, candidates, choose};
use serde_json::{Value, json};

use crate::{
    estimate::{Estimate, Pace},
    output::{Answer, FAILS, Failure, HOLDS, UNDECIDED, try_writing, write},
    plot::{self, Bar},
    progress::{Watcher, interrupted},
    screen::Screen,
    tasks,
};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Approximate time of all measurements together, in seconds [default: 180, with `--matrix` 900]
    #[arg(long, value_name = "S", value_parser = seconds)]
    seconds: Option<f64>,
    /// Only these locks or groups of locks; the groups are ours, std, peers and catalogue
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    only: Vec<String>,
    /// Only scenarios of this kind: alone, busy or sleeping; with `--threads` and `-k`, not only default ones
    #[arg(long, value_name = "KIND")]
    scenario: Option<String>,
    /// Only scenarios with this number of threads
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Only scenarios with this capacity
    #[arg(short, value_name = "K")]
    k: Option<usize>,
    /// Measures asynchronous locks, with tasks on tokio's runtime; `--threads` is then the number of tasks
    #[arg(long, conflicts_with_all = ["only", "scenario", "list", "plot"])]
    tasks: bool,
    /// Measures a matrix: critical sections and remainders of 0 to 20 us, 2 to 64 threads, k = 1 and 4
    #[arg(long, conflicts_with_all = ["scenario", "list", "tasks"])]
    matrix: bool,
    /// Lists the locks that can be measured, and measures nothing
    #[arg(long)]
    list: bool,
    /// Draws a bar chart of the entries per second; with `--matrix`, heat maps
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    const MAX: f64 = 1e6;
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= MAX => Ok(seconds),
        _ => Err("expected a number of seconds, such as 120 or 0.5".to_string()),
    }
}

/// The largest `--threads`. More threads show nothing new, and may exceed a limit of the machine.
const MAX_THREADS: usize = 1024;

/// The default of `--seconds`.
const SECONDS: f64 = 180.0;
const MATRIX_SECONDS: f64 = 900.0;

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    if arguments.tasks {
        return tasks::run(arguments.seconds.unwrap_or(SECONDS), arguments.threads, arguments.k, arguments.json);
    }
    if arguments.matrix {
        return run_matrix(arguments);
    }
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
    let time = Duration::from_secs_f64(arguments.seconds.unwrap_or(SECONDS));
    let mut rounds = Rounds::new(time);
    let results = doorway_bench::run(&locks, &scenarios, time, |progress| {
        rounds.tell(progress.round, progress.lock, &progress.scenario)
    });
    rounds.end(results.rounds)?;
    if let Some(path) = &arguments.plot {
        write(path, &svg(&results))?;
    }
    let text = if arguments.json { format!("{:#}\n", as_json(&results)) } else { as_text(&results) };
    Ok(Answer { text, code: code(results.rows.iter().all(Row::excludes), results.rounds) })
}

fn run_matrix(arguments: &Arguments) -> Result<Answer, Failure> {
    use doorway_bench::matrix::{self, Cell, Mix};

    let locks = matrix::choose(&arguments.only)?;
    if let Some(path) = &arguments.plot {
        try_writing(path)?;
    }
    let mut mixes = Mix::all();
    mixes.retain(|mix| {
        arguments.threads.is_none_or(|threads| threads == mix.threads) && arguments.k.is_none_or(|k| k == mix.k)
    });
    if mixes.is_empty() {
        let threads = "2, 4, 8, 16, 32 or 64, or with a long critical section 3, 9 or 33";
        return Err(Failure(format!("no cell matches; `--threads` is {threads}, and `-k` is 1, or 4 if that is less")));
    }
    let time = Duration::from_secs_f64(arguments.seconds.unwrap_or(MATRIX_SECONDS));
    let mut rounds = Rounds::new(time);
    let results =
        matrix::run(&locks, &mixes, time, |progress| rounds.tell(progress.round, progress.lock, &progress.mix));
    rounds.end(results.rounds)?;
    if let Some(path) = &arguments.plot {
        write(path, &crate::matrix::svg(&results))?;
    }
    let text = if arguments.json {
        format!("{:#}\n", crate::matrix::as_json(&results))
    } else {
        crate::matrix::as_text(&results, Screen::of_stdout())
    };
    Ok(Answer { text, code: code(results.cells.iter().all(Cell::excludes), results.rounds) })
}

/// The exit code of measurements.
pub(crate) fn code(all_exclude: bool, rounds: usize) -> u8 {
    match () {
        () if !all_exclude => FAILS,
        () if rounds < ROUNDS => UNDECIDED,
        () => HOLDS,
    }
}

/// Shows the progress of measurements in rounds.
pub(crate) struct Rounds {
    watcher: Arc<Watcher>,
    current: usize,
}

impl Rounds {
    pub(crate) fn new(time: Duration) -> Rounds {
        Rounds { watcher: Watcher::of_pieces(Estimate::new(ROUNDS, Pace::Budget(time))), current: 0 }
    }

    /// A lock is measured in a round; breaks if the user has interrupted that.
    pub(crate) fn tell(&mut self, round: usize, lock: &str, scenario: &impl Display) -> ControlFlow<()> {
        if interrupted() {
            return ControlFlow::Break(());
        }
        if round > self.current {
            self.current = round;
            self.watcher.begin("rounds");
        }
        self.watcher.say(&format!("{lock}: {scenario}"));
        ControlFlow::Continue(())
    }

    /// All that was measured is this number of complete rounds.
    pub(crate) fn end(self, complete: usize) -> Result<(), Failure> {
        self.watcher.done();
        if complete > 0 {
            return Ok(());
        }
        Err(Failure("interrupted before the first round was complete; give fewer `--seconds`".to_string()))
    }
}

/// The default scenarios that match the arguments; if there are none, the scenario that the arguments specify fully.
fn scenarios(arguments: &Arguments) -> Result<Vec<Scenario>, Failure> {
    let &Arguments { ref scenario, threads, k, .. } = arguments;
    let kind = match scenario {
        Some(name) => Some(kind(name)?),
        None => None,
    };
    if threads.is_some_and(|threads| !(1..=MAX_THREADS).contains(&threads)) || k == Some(0) {
        return Err(Failure(format!("`--threads` must be 1 to {MAX_THREADS}, and `-k` at least 1")));
    }
    let matches = |scenario: &Scenario| {
        kind.is_none_or(|kind| kind == scenario.kind)
            && threads.is_none_or(|threads| threads == scenario.threads)
            && k.is_none_or(|k| k == scenario.k)
    };
    let matching: Vec<Scenario> = Scenario::all().into_iter().filter(matches).collect();
    match (kind, threads, k) {
        _ if !matching.is_empty() => Ok(matching),
        (Some(Kind::Alone), _, Some(k)) => Ok(vec![Scenario::new(Kind::Alone, 1, k)]),
        (Some(kind), Some(threads), Some(k)) => Ok(vec![Scenario::new(kind, threads, k)]),
        _ => {
            let options = |scenario: &Scenario| {
                let Scenario { kind, threads, k, .. } = scenario;
                format!("  --scenario {} --threads {threads} -k {k}", kind.name())
            };
            let all: Vec<String> = Scenario::all().iter().map(options).collect();
            Err(Failure(format!(
                "no default scenario matches; for another one give all three options. The default scenarios are:\n{}",
                all.join("\n")
            )))
        }
    }
}

fn kind(name: &str) -> Result<Kind, Failure> {
    Kind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
        let kinds = Kind::ALL.map(|kind| format!("`{}`", kind.name())).join(", ");
        Failure(format!("no scenario is called `{name}`; give one of {kinds}"))
    })
}

/// The scenarios that were measured, in the order of the results.
fn measured(results: &Results) -> Vec<Scenario> {
    let mut scenarios = Vec::new();
    for row in &results.rows {
        if !scenarios.contains(&row.scenario) {
            scenarios.push(row.scenario);
        }
    }
    scenarios
}

/// The rows of a scenario, the fastest lock first.
fn ranked(results: &Results, scenario: Scenario) -> Vec<&Row> {
    let mut rows: Vec<&Row> = results.rows.iter().filter(|row| row.scenario == scenario).collect();
    rows.sort_by(|a, b| match scenario.kind {
        Kind::Alone => a.ns.unwrap_or(f64::INFINITY).total_cmp(&b.ns.unwrap_or(f64::INFINITY)),
        _ => b.ops_per_s.unwrap_or(0.0).total_cmp(&a.ops_per_s.unwrap_or(0.0)),
    });
    rows
}

/// Entries per second without a lock.
fn no_lock(results: &Results, scenario: Scenario) -> Option<f64> {
    results.no_lock_ops_per_s.iter().find(|(of, _)| *of == scenario).map(|&(_, ops)| ops)
}

/// The baselines of the ratios: entries per second of the standard library's lock, and of the fastest lock of another
/// crate in order of arrival.
fn baselines(rows: &[&Row]) -> (Option<f64>, Option<f64>) {
    let of_std = rows.iter().filter(|row| row.group == Group::Standard);
    let standard = of_std.min_by_key(|row| Reverse(row.lock == "std-mutex")).and_then(|row| row.ops_per_s);
    let fifo = rows.iter().filter(|row| row.group == Group::Peers && row.is_fifo());
    (standard, fifo.filter_map(|row| row.ops_per_s).reduce(f64::max))
}

fn as_text(results: &Results) -> String {
    let mut text = String::new();
    for scenario in measured(results) {
        let rows = ranked(results, scenario);
        // Writing to a String does not fail, here and below.
        let _ = writeln!(text, "{scenario}");
        match scenario.kind {
            Kind::Alone => write_uncontended(&mut text, &rows, results.fetch_add_ns),
            _ => write_contended(&mut text, &rows, no_lock(results, scenario)),
        }
        text.push('\n');
    }
    if results.rounds < ROUNDS {
        let _ = writeln!(text, "interrupted after {} of {ROUNDS} rounds", results.rounds);
    }
    for row in results.rows.iter().filter(|row| !row.excludes()) {
        let Row { lock, scenario, most_holders, .. } = row;
        let _ = writeln!(text, "`{lock}` FAILS: {most_holders} holders at once, {scenario}");
    }
    text += "*: of doorway. Jain: 1 if all threads enter equally often. ";
    text += "overtaken: others' entries between arrival and entry.\n";
    text += "Compare only ratios within one run; results that differ by less than twice +- are a tie.\n";
    text += "Locks of the catalogue: `--only catalogue`.\n";
    if !cfg!(feature = "peers") {
        text += "Locks of other crates: `cargo run --release --features peers -- bench`.\n";
    }
    text
}

/// The mark of a row in a table: `*` for a lock of `doorway`.
fn mark(row: &Row) -> char {
    if row.group == Group::Ours { '*' } else { ' ' }
}

fn write_uncontended(text: &mut String, rows: &[&Row], fetch_add: f64) {
    let _ = writeln!(text, "  {:<26}{:<8}{:>9}{:>13}", "lock", "order", "ns", "x fetch_add");
    let _ = writeln!(text, "  {:<26}{:<8}{fetch_add:>9.1}{:>13.2}", "(one fetch_add)", "", 1.0);
    for row in rows {
        let ns = row.ns.unwrap_or(f64::NAN);
        let _ = writeln!(text, "{} {:<26}{:<8}{ns:>9.1}{:>13.2}", mark(row), row.lock, row.order, ns / fetch_add);
    }
}

fn write_contended(text: &mut String, rows: &[&Row], no_lock: Option<f64>) {
    let (standard, fifo) = baselines(rows);
    let ratio = |ops: Option<f64>, to: Option<f64>| or_dash(ops.zip(to).map(|(ops, to)| format!("{:.2}", ops / to)));
    let _ = writeln!(
        text,
        "  {:<26}{:<8}{:>10}{:>6}{:>7}{:>8}{:>6}{:>16}{:>8}{:>12}{:>8}",
        "lock",
        "order",
        "entries/s",
        "+- %",
        "x std",
        "x fifo",
        "Jain",
        "overtaken p99.9",
        "max",
        "wait p99.9",
        "CPU us"
    );
    if let Some(ops) = no_lock {
        let ratios = [standard, fifo].map(|to| ratio(no_lock, to));
        let _ = writeln!(
            text,
            "  {:<26}{:<8}{:>10}{:>6}{:>7}{:>8}",
            "(no lock)",
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
            "{} {:<26}{:<8}{:>10}{:>6}{:>7}{:>8}{:>6}{:>16}{:>8}{:>12}{:>8}",
            mark(row),
            row.lock,
            row.order,
            or_dash(row.ops_per_s.map(entries)),
            or_dash(row.ops_error.map(|error| format!("{:.1}", error * 100.0))),
            ratio(row.ops_per_s, standard),
            ratio(row.ops_per_s, fifo),
            or_dash(row.jain.map(|jain| format!("{jain:.2}"))),
            or_dash(row.overtaken_p999.map(|overtaken| overtaken.to_string())),
            or_dash(row.overtaken_max.map(|overtaken| overtaken.to_string())),
            or_dash(row.wait_p999_ns.map(span)),
            or_dash(row.cpu_us_per_op.map(|cpu| format!("{cpu:.2}"))),
        );
    }
}

fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".to_string())
}

/// A number of entries per second, short.
fn entries(per_second: f64) -> String {
    if per_second < 1e5 { format!("{per_second:.0}") } else { format!("{:.2} M", per_second / 1e6) }
}

/// A duration in a unit that suits its length.
fn span(ns: u64) -> String {
    match ns as f64 {
        ns if ns < 1e4 => format!("{ns:.0} ns"),
        ns if ns < 1e7 => format!("{:.0} us", ns / 1e3),
        ns => format!("{:.0} ms", ns / 1e6),
    }
}

fn as_json(results: &Results) -> Value {
    let uncontended_ns = |of: &Row| {
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
            "ns_uncontended": uncontended_ns(row),
            "ns_fetch_add": results.fetch_add_ns,
            "ops_per_s": row.ops_per_s,
            "ops_per_s_error": row.ops_error,
            "ops_per_s_best": row.best_ops_per_s,
            "ops_per_s_no_lock": no_lock(results, row.scenario),
            "jain": row.jain,
            "overtaken_p999": row.overtaken_p999,
            "overtaken_max": row.overtaken_max,
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
    plot::bars("entries per second; the bars of doorway are filled", &groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_shown_in_units_that_suit_their_length() {
        assert_eq!(["850 ns", "12 us", "35 ms"], [850, 12_345, 34_800_000].map(span).each_ref().map(String::as_str));
    }

    #[test]
    fn seconds_are_positive_and_at_most_a_million() {
        assert_eq!(seconds("0.5"), Ok(0.5));
        assert!(["0", "-1", "NaN", "inf", "1e9", "soon"].iter().all(|text| seconds(text).is_err()));
    }
}
