//! `doorway check`
use std::{panic::Location, path::PathBuf};

use clap::{Args, ValueEnum};
use doorway_algorithms::{About, Claim, Condition, Kind, Size, registry};
use doorway_catalogue::{Agreement, claims, compare, subject};
use doorway_checker::{Assumptions, Model, Property, Report, Verdict};
use doorway_explorer::{Scenario, picture};
use serde_json::Value;

use crate::{
    every_n, json, lanes,
    limits::Limits,
    lookup::{Sizes, find, title},
    output::{self, Answer, FAILS, Failure, HOLDS, UNDECIDED},
    progress::watched,
    screen::{BAD, GOOD, OPEN, Screen},
};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The algorithm; `doorway list` shows them all
    name: String,
    #[command(flatten)]
    sizes: Sizes,
    /// Decides whether exclusion and order hold for every number of processes at once
    #[arg(long, conflicts_with_all = [
        "n", "crashes", "deaths", "aborts", "expiries", "passages", "passages_in_all", "symmetry", "forget", "registers", "memory",
        "no_fences", "properties", "lanes", "svg",
    ])]
    every_n: bool,
    /// Up to C processes may crash: they take no further step
    #[arg(long, value_name = "C", default_value_t = 0)]
    crashes: usize,
    /// Processes may die anywhere; others reap them, and their numbers are used again
    #[arg(long)]
    deaths: bool,
    /// Waiters may abort
    #[arg(long, alias = "abandons")]
    aborts: bool,
    /// Processes may die, and live ones may be taken for dead, as when a lease expires, and go on for a while
    #[arg(long)]
    expiries: bool,
    /// Each process makes at most R passages, or calls of a part
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(u32).range(1..1_000_000))]
    passages: Option<u32>,
    /// All processes together make at most R passages, or calls of a part
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(u32).range(1..1_000))]
    passages_in_all: Option<u32>,
    /// Counts states that differ by a permutation of processes as one; leaves out the properties about order
    #[arg(long)]
    symmetry: bool,
    /// Counts states that differ only in values on which no step depends any more as one
    #[arg(long, alias = "forget-tickets")]
    forget: bool,
    /// Counts states that no later step can tell apart as one: far fewer with tickets, but each takes longer
    #[arg(long)]
    merge: bool,
    /// What a read that overlaps a write returns: an old or new value, or any
    #[arg(long, value_enum, default_value_t = Kinds::Atomic)]
    registers: Kinds,
    /// When writes become visible: at once, or through store buffers, as on x86
    #[arg(long, value_enum, default_value_t = Order::Sc)]
    memory: Order,
    /// With `--memory tso`: plain stores, as if the algorithm had no fences
    #[arg(long)]
    no_fences: bool,
    /// Only this property; may be given several times
    #[arg(long = "property", value_name = "P")]
    properties: Vec<String>,
    /// When to print a counterexample as lanes, one for each process, if they fit; `auto`: on a terminal
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Lanes::Auto)]
    lanes: Lanes,
    /// Draws the first counterexample
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    limits: Limits,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kinds {
    Atomic,
    Safe,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Order {
    Sc,
    Tso,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Lanes {
    Auto,
    Always,
    Never,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let about = find(&arguments.name)?;
    let size = arguments.sizes.of(about)?;
    if arguments.every_n {
        return every_n::run(about, size.k, &arguments.limits, arguments.json);
    }
    let model = arguments.model(about, size)?;
    let properties = properties(about, subject(about, size).properties(&model), &arguments.properties)?;
    let model = model.only(properties.iter().copied());
    let report = watched(about.name, model.clone(), |model| doorway_catalogue::check(about, size, &model))?;
    let claims = claims(about, &model);
    let code = if properties.is_empty() { code_by_claims(&claims, &report) } else { code_by_verdicts(&report) };
    let assumed = model.assumptions();
    if let Some(path) = &arguments.svg {
        let failed = report.findings.iter().find_map(|finding| Some((finding.property, finding.execution.as_ref()?)));
        match failed {
            Some((property, execution)) => {
                let title = format!("{}{}: {property} fails", title(about, size), setting(&assumed));
                output::write(path, &picture(&title, size.n, execution))?;
            }
            None => output::complain(&format!("nothing fails, so `{}` is not written", path.display())),
        }
    }
    let text = if arguments.json {
        format!("{:#}\n", arguments.as_json(about, size, &assumed, &report))
    } else {
        let compared = beside_the_source(about, &claims, &report);
        let alike = match (arguments.symmetry, arguments.forget) {
            (false, false) if arguments.merge => ", states merged",
            (false, false) => "",
            (true, false) => " modulo symmetry",
            (false, true) => " modulo forgotten values",
            (true, true) => " modulo symmetry and forgotten values",
        };
        let screen = Screen::of_stdout();
        let shown = arguments.shown(&screen, size.n, &report);
        let text = format!("{}{}{alike}: {shown}{compared}", title(about, size), setting(&assumed));
        coloured(&screen, &screen.with_sentences_folded(&text))
    };
    Ok(Answer { text, code })
}

impl Arguments {
    fn model(&self, about: &'static About, size: Size) -> Result<Model, Failure> {
        if self.no_fences && self.memory == Order::Sc {
            let why = "without store buffers fences do nothing; add `--memory tso`, or leave out `--no-fences`";
            return Err(Failure(why.to_string()));
        }
        if self.crashes > 0 && about.kind == Kind::Part {
            let name = about.name;
            return Err(Failure(format!("`{name}` is a part and is checked without crashes; leave out `--crashes`")));
        }
        if (self.deaths || self.expiries) && !subject(about, size).is_reapable() {
            let flag = if self.expiries { "--expiries" } else { "--deaths" };
            return Err(unsupported(about, "has no recovery (`reap`)", flag, Condition::Deaths));
        }
        if self.aborts && !subject(about, size).is_abortable() {
            return Err(unsupported(about, "is not abortable", "--aborts", Condition::Aborts));
        }
        let mut scenario = Scenario::of(about);
        (scenario.size, scenario.passages, scenario.crashes) = (size, self.passages, self.crashes);
        (scenario.deaths, scenario.aborts, scenario.expiries) = (self.deaths, self.aborts, self.expiries);
        scenario.safe = self.registers == Kinds::Safe;
        (scenario.tso, scenario.fences) = (self.memory == Order::Tso, !self.no_fences);
        let mut model = scenario.model();
        if let Some(passages) = self.passages_in_all {
            model = model.passages_in_all(passages);
        }
        if self.symmetry {
            model = model.symmetric();
        }
        if self.forget {
            model = model.forget();
        }
        if self.merge {
            model = model.merge();
        }
        Ok(self.limits.apply(model))
    }

    /// The report, with its counterexamples as lanes where that is asked for and they fit.
    fn shown(&self, screen: &Screen, n: usize, report: &Report) -> String {
        let in_lanes = match self.lanes {
            Lanes::Auto => screen.is_terminal,
            Lanes::Always => true,
            Lanes::Never => false,
        };
        let text = report.to_string();
        if !in_lanes {
            return text;
        }
        // A report prints an execution right after its finding, and these lines are unlike any others.
        report.findings.iter().fold(text, |text, finding| {
            let lanes = finding.execution.as_ref().and_then(|execution| {
                Some((format!("{finding}{execution}"), format!("{finding}{}", lanes::text(screen, execution, n)?)))
            });
            lanes.map_or(text.clone(), |(list, lanes)| text.replace(&list, &lanes))
        })
    }

    fn as_json(&self, about: &About, size: Size, assumed: &Assumptions, report: &Report) -> Value {
        let mut value = json::report(about, size, assumed, report);
        value["symmetry"] = self.symmetry.into();
        value["forget"] = self.forget.into();
        value["merge"] = self.merge.into();
        value["deaths"] = self.deaths.into();
        value["aborts"] = self.aborts.into();
        value["expiries"] = self.expiries.into();
        if assumed.tso {
            let place = |place: &&Location<'_>| format!("{}:{}", place.file(), place.line());
            value["fences"] = report.fences.iter().map(place).collect::<Vec<_>>().into();
        }
        value
    }
}

/// Refuses an algorithm without a capability, and names those that have it and are correct with it.
fn unsupported(about: &About, what: &str, flag: &str, condition: Condition) -> Failure {
    let names = registry::all().iter().filter(|about| about.tolerates(condition));
    let names: Vec<String> = names.map(|about| format!("`{}`", about.name)).collect();
    Failure(format!("`{}` {what}; leave out `{flag}`, or try {}", about.name, names.join(", ")))
}

/// The failures and the memory of a check, as its title shows them.
fn setting(assumed: &Assumptions) -> String {
    let crashes = match assumed.crashes {
        0 => None,
        1 => Some("1 crash".to_string()),
        many => Some(format!("{many} crashes")),
    };
    let deaths = assumed.deaths.then(|| if assumed.expiries { "expiries" } else { "deaths" }.to_string());
    let aborts = assumed.aborts.then(|| "aborts".to_string());
    let failures: Vec<String> = [crashes, deaths, aborts].into_iter().flatten().collect();
    let failures = if failures.is_empty() { String::new() } else { format!(" with {}", failures.join(" and ")) };
    let safe = if assumed.safe_registers { " on safe registers" } else { "" };
    let tso = match (assumed.tso, assumed.fenced) {
        (false, _) => "",
        (true, true) => " on tso",
        (true, false) => " on tso without fences",
    };
    format!("{failures}{safe}{tso}")
}

/// The text with its verdicts in colour.
fn coloured(screen: &Screen, text: &str) -> String {
    // `FAILS` and `FAIL`: the longer word with its space, so that no part is replaced twice.
    let words = [
        (" FAILS", BAD),
        (" FAIL;", BAD),
        (" FAIL (", BAD),
        (" not decided", OPEN),
        ("\nnot as claimed", BAD),
        ("\nas claimed", GOOD),
    ];
    words.into_iter().fold(text.to_string(), |text, (word, style)| text.replace(word, &screen.paint(style, word)))
}

fn properties(about: &About, all: &[Property], names: &[String]) -> Result<Vec<Property>, Failure> {
    let list = || all.iter().map(|property| property.name()).collect::<Vec<_>>().join(", ");
    let known = |name: &String| match Property::named(name) {
        Some(property) if all.contains(&property) => Ok(property),
        Some(Property::Fenced) => {
            let why =
                "`fenced` is about expiries, for a lock with tokens; add `--expiries`, or try `fischer-queue-names`";
            Err(Failure(why.to_string()))
        }
        Some(_) => Err(Failure(format!("`{name}` is not a property of `{}`; it has {}", about.name, list()))),
        None => Err(Failure(format!("no property is called `{name}`; the properties are {}", list()))),
    };
    names.iter().map(known).collect()
}

/// The exit code if properties were asked for: all hold, one fails, or one was not decided.
fn code_by_verdicts(report: &Report) -> u8 {
    let any = |verdict| report.findings.iter().any(|finding| finding.verdict == verdict);
    match () {
        () if any(Verdict::Fails) => FAILS,
        () if any(Verdict::Unknown) => UNDECIDED,
        () => HOLDS,
    }
}

/// The exit code otherwise: everything is as claimed, something is not, or something was not decided.
fn code_by_claims(claims: &[Claim], report: &Report) -> u8 {
    let is_unknown = report.findings.iter().any(|finding| finding.verdict == Verdict::Unknown);
    match compare(claims, report).overall() {
        Agreement::Differs => FAILS,
        Agreement::Undecided => UNDECIDED,
        Agreement::Agrees if is_unknown => UNDECIDED,
        Agreement::Agrees => HOLDS,
    }
}

/// One line on how the findings compare with the source.
fn beside_the_source(about: &About, claims: &[Claim], report: &Report) -> String {
    let compared = compare(claims, report);
    let those = |agreement| compared.those(agreement).map(|property| property.name()).collect::<Vec<_>>().join(", ");
    let source = about.source;
    match compared.overall() {
        _ if compared.properties.is_empty() => String::new(),
        Agreement::Agrees => format!("as claimed: {source}\n"),
        Agreement::Differs => format!("not as claimed ({}): {source}\n", those(Agreement::Differs)),
        Agreement::Undecided => {
            format!("not decided whether as claimed ({}): {source}\n", those(Agreement::Undecided))
        }
    }
}

#[cfg(test)]
mod tests {
    use doorway_algorithms::claim::{holds, lacks};

    use super::*;
    use crate::screen::columns;

    fn report(name: &str, shape: impl FnOnce(Model) -> Model) -> Report {
        let about = registry::find(name).unwrap();
        let size = about.size(None, None).unwrap();
        doorway_catalogue::check(about, size, &shape(Model::new(size.n).k(size.k))).unwrap()
    }

    #[test]
    fn sentences_are_folded_and_lanes_stay_as_they_are() {
        const WIDTH: usize = 78;
        let screen = Screen::terminal(WIDTH);
        let report = report("one-bit", |model| model.max_states(1000));
        let execution = report.finding(Property::StarvationFreedom).execution.as_ref().unwrap();
        let lanes = lanes::text(&screen, execution, 4).unwrap();
        let visible = |line: &str| columns(&anstream::adapter::strip_str(line).to_string());
        assert!(lanes.lines().any(|line| line.starts_with('\x1b') && columns(line) > WIDTH && visible(line) <= WIDTH));
        assert_eq!(screen.with_sentences_folded(&lanes), lanes);
        let text = screen.with_sentences_folded(&report.to_string());
        assert!(text.lines().all(|line| columns(line) <= WIDTH), "{text}");
        assert!(text.contains("\n  not every execution was explored: ") && text.contains("\n    "), "{text}");
    }

    #[test]
    fn the_exit_code_tells_claims_that_are_not_met_and_those_not_decided() {
        let peterson = report("peterson", |model| model);
        assert_eq!(code_by_claims(&[holds(Property::Fcfs)], &peterson), HOLDS);
        assert_eq!(code_by_claims(&[lacks(Property::Fcfs)], &peterson), FAILS);
        let filter = report("filter", |model| model.passages(1));
        assert_eq!(code_by_claims(&[lacks(Property::Bypass)], &filter), UNDECIDED);
    }

    #[test]
    fn nothing_undecided_is_called_claimed() {
        let about = registry::find("one-bit").unwrap();
        let one_bit = report("one-bit", |model| model.max_states(20));
        let line = beside_the_source(about, about.claims, &one_bit);
        assert!(line.starts_with("not decided whether as claimed (exclusion, "), "{line}");
        assert_eq!(code_by_claims(about.claims, &one_bit), UNDECIDED);
    }
}
