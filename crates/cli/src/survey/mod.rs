//! `doorway survey`: what the sources claim beside what is found, for the whole catalogue.
mod details;
mod overview;
mod summary;
mod table_1;
mod tables;

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
        mpsc,
    },
    thread,
    time::Instant,
};

use clap::Args;
use doorway_algorithms::{About, Extent, Finds, Kind, Pinned, registry};
use doorway_catalogue::{Row, Surveyor};
use doorway_checker::{Error, Model, Observer, Progress};
use serde_json::{Value, json};

use crate::{
    estimate::{Estimate, Pace},
    json,
    limits::Limits,
    lookup::find,
    output::{Answer, FAILS, Failure, HOLDS, Reader, UNDECIDED, print},
    progress::{Watcher, interrupted},
    screen::{Screen, WEAK},
};
use overview::{Overview, Section};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Only these algorithms, with everything that is found about them
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Also prints the papers' tables: remote memory references, and Table 1 of Danek's k-Bakery paper
    #[arg(long, conflicts_with = "json")]
    tables: bool,
    #[command(flatten)]
    limits: Limits,
    /// Prints JSON: a list of the results of `doorway check`, with more keys
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let start = Instant::now();
    let algorithms = algorithms(&arguments.names)?;
    let mut printer = Printer::new(Screen::of_stdout(), arguments);
    let mut rows: Vec<Row> = Vec::new();
    let is_stopped = !each(&algorithms, &arguments.limits, |row| {
        // Each line is printed as soon as it is known.
        let is_read = print(&printer.row(&row))? != Reader::Gone;
        rows.push(row);
        Ok(is_read)
    })?;
    let text = if arguments.json {
        let list: Vec<Value> = rows.iter().map(row_as_json).collect();
        format!("{:#}\n", Value::from(list))
    } else {
        printer.end(&rows, algorithms.len(), start.elapsed().as_secs_f64())
    };
    Ok(Answer { text, code: code(&rows, is_stopped) })
}

/// Surveys algorithms, one on each thread, and hands the rows on in the order of the algorithms, until `take` returns false
/// or the user interrupts it. Returns whether all were handed on.
pub(crate) fn each(
    algorithms: &[&'static About],
    limits: &Limits,
    mut take: impl FnMut(Row) -> Result<bool, Failure>,
) -> Result<bool, Failure> {
    let at_once = limits.threads().min(algorithms.len());
    let weights = algorithms.iter().map(|about| weight(about)).collect();
    let watcher = Watcher::of_pieces(Estimate::new(algorithms.len(), Pace::Weights(weights)).at_once(at_once));
    let (next, is_over) = (AtomicUsize::new(0), Arc::new(AtomicBool::new(false)));
    let (send, receive) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..at_once {
            let send = send.clone();
            scope.spawn(|| {
                let send = send;
                // ORDERING: Relaxed: the flag and the counter publish no other data.
                while !is_over.load(Relaxed)
                    && let number = next.fetch_add(1, Relaxed)
                    && let Some(about) = algorithms.get(number)
                {
                    watcher.begin_at_once(number, about.name);
                    let search = Arc::new(Search { number, watcher: watcher.clone(), is_over: is_over.clone() });
                    let row = search.row(about, limits.clone(), at_once.min(algorithms.len() - number));
                    watcher.finish(number);
                    if send.send((number, row)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(send);
        let mut all_taken = Ok(true);
        for (about, row) in std::iter::zip(algorithms, in_order(receive)) {
            let row = row.map_err(|error| Failure(format!("`{}`: {error}", about.name)));
            all_taken = row.and_then(|row| Ok(watcher.beside(|| take(row))? && !interrupted()));
            if !matches!(all_taken, Ok(true)) {
                break;
            }
        }
        is_over.store(true, Relaxed);
        watcher.done();
        all_taken
    })
}

/// What the threads have found, in the order of the numbers.
fn in_order<T>(found: mpsc::Receiver<(usize, T)>) -> impl Iterator<Item = T> {
    let mut early = BTreeMap::new();
    (0..).map_while(move |next| {
        while !early.contains_key(&next) {
            let (number, one) = found.recv().ok()?;
            early.insert(number, one);
        }
        early.remove(&next)
    })
}

/// The survey of one algorithm, beside others.
struct Search {
    number: usize,
    watcher: Arc<Watcher>,
    /// Whether its result is not needed any more.
    is_over: Arc<AtomicBool>,
}

impl Search {
    fn row(self: &Arc<Search>, about: &'static About, limits: Limits, at_once: usize) -> Result<Row, Error> {
        let (observer, ticking) = (self.clone(), self.clone());
        let cancelled = move || {
            ticking.watcher.tick();
            ticking.cancelled()
        };
        let shape = move |model| limits.apply(model).one_of(at_once).observer(observer.clone());
        Surveyor::new(shape, Arc::new(cancelled)).row(about)
    }
}

impl Observer for Search {
    fn progress(&self, progress: &Progress) {
        self.watcher.progress_of(self.number, progress);
    }

    fn cancelled(&self) -> bool {
        // ORDERING: Relaxed: the flag is polled by itself, and publishes no other data.
        interrupted() || self.is_over.load(Relaxed)
    }
}

/// The algorithms with these names, or all that a survey includes.
fn algorithms(names: &[String]) -> Result<Vec<&'static About>, Failure> {
    if names.is_empty() {
        return Ok(registry::all().iter().copied().filter(|about| about.is_surveyed()).collect());
    }
    let named = names.iter().map(|name| {
        let about = find(name)?;
        if about.is_surveyed() {
            return Ok(about);
        }
        let name = about.name;
        Err(Failure(format!("`{name}` is too large for a survey; try `doorway check {name} --passages 1`")))
    });
    named.collect()
}

/// About how long a survey of an algorithm takes, relative to others, by the numbers of states that are pinned.
///
/// The factors were measured. Remote memory references take longest: in the CC model a state has a cache, too.
pub(crate) fn weight(about: &'static About) -> f64 {
    let states = |n: usize, k: usize, extent: Extent| {
        let is_meant = |pinned: &&Pinned| {
            let is_plain = pinned.crashes == 0 && !pinned.symmetric && pinned.under.is_empty();
            is_plain && pinned.n == n && pinned.k.is_none_or(|of| of == k) && pinned.extent == extent
        };
        let found = about.pinned.iter().filter(is_meant).map(|pinned| match pinned.finds {
            Finds::States(states) => states,
            _ => 0,
        });
        found.max().unwrap_or(0) as f64
    };
    let Ok(size) = about.size(None, None) else { return 1.0 };
    let of_a_state = match (about.kind, about.local_spin) {
        (Kind::Part, _) => 3.0,
        (_, None) => 30.0,
        (_, Some(_)) => 170.0,
    };
    let of_three = if about.kind == Kind::KExclusion && size.k == 1 { states(3, 2, Extent::Passages(1)) } else { 0.0 };
    let simulations = if about.remote.is_some() { 1.5e6 } else { 0.0 };
    1e6 + simulations + of_a_state * states(size.n, size.k, Extent::Surveyed) + 10.0 * of_three
}

/// What is printed of a survey: with names the details of each algorithm, else the overview.
struct Printer<'a> {
    screen: Screen,
    overview: Overview,
    arguments: &'a Arguments,
    section: Option<Section>,
}

impl Printer<'_> {
    fn new(screen: Screen, arguments: &Arguments) -> Printer<'_> {
        Printer { screen, overview: Overview::new(screen), arguments, section: None }
    }

    /// What is printed when a row is known.
    fn row(&mut self, row: &Row) -> String {
        if self.arguments.json {
            return String::new();
        }
        let section = Section::of(row.about);
        let space = if self.section.is_some() { "\n" } else { "" };
        let is_new = self.section.replace(section) != Some(section);
        match () {
            () if !self.arguments.names.is_empty() => format!("{space}{}", details::text(&self.screen, row)),
            () if is_new => format!("{space}{}{}", self.overview.head(section), self.overview.row(row)),
            () => self.overview.row(row),
        }
    }

    /// What is printed after the last row; fewer than `total` if the survey was stopped.
    fn end(&self, rows: &[Row], total: usize, seconds: f64) -> String {
        let is_whole = self.arguments.names.is_empty();
        let left_out: Vec<&About> =
            registry::all().iter().copied().filter(|about| is_whole && !about.is_surveyed()).collect();
        let tables = if self.arguments.tables {
            let surveyor = Surveyor::new(|model| model, Arc::new(interrupted));
            let left_out: Vec<_> = left_out.iter().map(|about| (*about, surveyor.grown(about))).collect();
            tables::text(&self.screen, rows, &left_out)
        } else {
            String::new()
        };
        let more = "`doorway survey NAME` shows everything about an algorithm, `--tables` the papers' tables.";
        let more = self.screen.paint(WEAK, &self.screen.fold(0, more));
        let legend = if is_whole { format!("\n{}{more}", overview::legend(&self.screen)) } else { String::new() };
        let summary = summary::text(&self.screen, rows, total, &left_out, seconds);
        format!("{tables}{legend}\n{summary}")
    }
}

fn code(rows: &[Row], is_interrupted: bool) -> u8 {
    if is_interrupted || rows.iter().any(Row::is_undecided) {
        UNDECIDED
    } else if rows.iter().any(Row::differs) {
        FAILS
    } else {
        HOLDS
    }
}

fn row_as_json(row: &Row) -> Value {
    let Row { about, size, report, .. } = row;
    let mut value = json::report(about, *size, &Model::new(size.n).k(size.k).assumptions(), report);
    value["status"] = about.status().name().into();
    value["why_broken"] = about.status().why().into();
    value["crashes_survived"] = row.crashes.into();
    value["survives_one_of_three"] = row.survives_one_of_three.into();
    value["rmr"] = row.remote.map(|[cc, dsm]| json!({ "cc": cc.number(), "dsm": dsm.number() })).into();
    value["rmr_claimed"] = about.remote.map(|claimed| json!({ "cc": claimed.cc, "dsm": claimed.dsm })).into();
    let grown = row.grown.iter().map(|grown| {
        let [cc, dsm] = &grown.class;
        (grown.variable.to_string(), json!({ "cc": cc, "dsm": dsm }))
    });
    value["rmr_fitted"] = Value::Object(grown.collect());
    value["tso"] = match &row.tso {
        Some([with_fences, plain_stores]) => {
            json!({ "with_fences": with_fences.to_string(), "plain_stores": plain_stores.to_string() })
        }
        None => Value::Null,
    };
    value["safe"] = row.safe.as_ref().map(ToString::to_string).into();
    value["primitives"] = report.primitives.clone().into();
    value["table_1"] = table_1::as_json(row);
    value["departures"] = about.departures.into();
    value["report"] = doorway_explorer::surveyed(row);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(names: &[&str], max_states: Option<u64>) -> Vec<Row> {
        let shape = move |model: Model| match max_states {
            Some(states) => model.max_states(states),
            None => model,
        };
        let surveyor = Surveyor::new(shape, Arc::new(|| false));
        names.iter().map(|name| surveyor.row(registry::find(name).unwrap()).unwrap()).collect()
    }

    /// Every row of a survey that stops early and measures nothing.
    fn quick_rows() -> Vec<Row> {
        let surveyor = Surveyor::new(|model| model.max_states(500), Arc::new(|| true));
        algorithms(&[]).ok().unwrap().into_iter().map(|about| surveyor.row(about).unwrap()).collect()
    }

    fn arguments(names: &[&str]) -> Arguments {
        #[derive(clap::Parser)]
        struct Survey {
            #[command(flatten)]
            arguments: Arguments,
        }
        let words = ["survey", "--tables"].iter().chain(names);
        <Survey as clap::Parser>::parse_from(words).arguments
    }

    /// Everything that a survey prints.
    fn printed(rows: &[Row], names: &[&str], width: usize) -> String {
        let arguments = arguments(names);
        let mut printer = Printer::new(Screen::plain(width), &arguments);
        let lines: String = rows.iter().map(|row| printer.row(row)).collect();
        lines + &printer.end(rows, rows.len(), 0.0)
    }

    #[track_caller]
    fn fits(text: &str, width: usize) {
        for line in text.lines() {
            assert!(crate::screen::columns(line) <= width, "more than {width} columns: {line}");
        }
    }

    /// What a survey did not decide is not called a disagreement, nor as claimed.
    #[test]
    fn a_survey_that_is_stopped_early_names_what_is_not_decided() {
        let names = ["fischer-queue", "filter-k", "danek-lee", "k-bakery-fife", "lock-one"];
        let rows = rows(&names, Some(60));
        assert_eq!(code(&rows, false), UNDECIDED);
        let text = printed(&rows, &names, 1000);
        let last = text.lines().last().unwrap();
        let undecided = "fischer-queue, filter-k, danek-lee, k-bakery-fife";
        assert!(last.ends_with(&format!(" s: 1 as claimed; not decided: {undecided}.")), "{last}");
        // Table 1 has the rows of these.
        let printed =
            ["Fischer et al. [12]", "Peterson (DSM) [21]", "Danek and Lee (CC/DSM) [8]", "FIFE algorithm (Figure 2)"];
        for row in printed {
            assert_eq!(text.matches(&format!("\n{row}: ")).count(), 1, "{row}");
        }
    }

    #[test]
    fn a_survey_says_what_is_as_claimed_and_what_is_broken() {
        let rows = rows(&["mcs", "fischer-queue-names", "lock-two", "bouncer"], None);
        assert_eq!((code(&rows, false), code(&rows, true)), (HOLDS, UNDECIDED));
        let stopped = summary::text(&Screen::plain(100), &rows, 79, &[], 1.0);
        assert_eq!(stopped, "stopped after 4 of 79 algorithms, 7457 states in 1.0 s: 4 as claimed.\n");
        let text = printed(&rows, &[], 100);
        assert!(text.ends_with("s: all as claimed.\n"), "{text}");
        let why = "\nlock-two                    a process that competes alone waits for ever\n";
        assert!(text.contains(why), "{text}");
        let lines: Vec<&str> = text.lines().collect();
        for line in [
            "Mutual exclusion           n k excl dead starv fcfs kfcfs fife byp exit door crash  cc dsm tso  size",
            "mcs                        3 1 ✓    ✓    ✓     ✓    +     +    0   ✗    ✓    0       8   4 ✓     824",
            "k-exclusion                n k excl dead starv kfcfs fife byp exit door name crash  cc dsm tso  size",
            "fischer-queue-names        3 2 ✓    ✓    ✓     ✓     ✓    ∞   ✓    ✓    ✓    1       6   ∞ ✓    6103",
            "Broken locks               n k excl dead starv fcfs kfcfs fife byp exit door crash  cc dsm tso  size",
            "Parts                      n rule wait-free  size source",
        ] {
            assert!(lines.contains(&line), "no line {line:?} in\n{text}");
        }
    }

    /// The report of the Filter lock, as if it were that of the Bakery.
    #[test]
    fn a_survey_shows_a_claim_beside_what_was_found_only_where_they_differ() {
        let [filter, bakery] = ["filter", "bakery"].map(|name| rows(&[name], None).remove(0));
        let compared = doorway_catalogue::compare(bakery.about.claims, &filter.report);
        let wrong = Row { about: bakery.about, compared, crashes: Some(0), ..filter };
        let line = Overview::new(Screen::plain(100)).row(&wrong);
        let cells: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(cells[..10], ["bakery", "3", "1", "✓", "✓", "✓", "✗≠✓", "-", "-", "∞≠0"], "{line}");
        fits(&line, 100);
        let text = printed(&[wrong], &["bakery"], 100);
        assert!(text.contains("  fcfs                      holds             ✗ fails, NOT as claimed\n"), "{text}");
        assert!(text.ends_with(": 0 as claimed; NOT as claimed: bakery (fcfs, bypass).\n"), "{text}");
    }

    #[test]
    fn every_line_of_a_survey_fits() {
        let rows = quick_rows();
        assert_eq!(rows.len(), registry::all().iter().filter(|about| about.is_surveyed()).count());
        for width in [100, 120, 160, 200] {
            let overview = Overview::new(Screen::plain(width));
            rows.iter().for_each(|row| fits(&(overview.head(Section::of(row.about)) + &overview.row(row)), width));
        }
        fits(&rows.iter().map(|row| details::text(&Screen::plain(100), row)).collect::<String>(), 100);
        fits(&tables::text(&Screen::plain(100), &rows, &[]), 100);
        fits(&overview::legend(&Screen::plain(100)), 100);
        let narrow = Overview::new(Screen::plain(70));
        rows.iter().for_each(|row| fits(&(narrow.head(Section::of(row.about)) + &narrow.row(row)), 70));
    }

    /// Everything that is printed for the whole catalogue, as it is found.
    #[test]
    #[ignore = "5 minutes: the whole survey"]
    fn every_line_of_the_whole_survey_fits() {
        let surveyor = Surveyor::default();
        let rows: Vec<Row> =
            algorithms(&[]).ok().unwrap().into_iter().map(|about| surveyor.row(about).unwrap()).collect();
        assert_eq!(code(&rows, false), HOLDS);
        for width in [100, 160] {
            fits(&printed(&rows, &[], width), width);
            fits(&printed(&rows, &["all"], width), width);
        }
    }

    /// Longer surveys weigh more: the estimate of the time left depends on it.
    #[test]
    fn weights_follow_the_pinned_states() {
        let weight = |name: &str| weight(registry::find(name).unwrap());
        assert!(weight("k-bakery") > 100.0 * weight("peterson"), "it has a million states");
        assert!(weight("mcs") > weight("peterson"), "its growth is simulated");
    }
}
