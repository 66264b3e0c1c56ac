//! `doorway check`
use std::{cmp::Ordering, panic::Location};

use clap::{Args, ValueEnum};
use doorway_algorithms::{
    About, Claim, Kind, Size,
    registry::{self, Visitor},
};
use doorway_checker::{
    Bound, Error, Finding, Model, Property, Registers, Report, Run, Step, Verdict, View, check, check_part,
};
use doorway_memory::{Exclusion, Part};
use serde_json::{Map, Value, json};

use crate::{
    limits::Limits,
    output::{Answer, FAILS, HOLDS, Trouble, UNDECIDED},
    progress::Watcher,
};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The algorithm; `doorway list` shows them all
    name: String,
    /// How many processes
    #[arg(short)]
    n: Option<usize>,
    /// How many may be inside at once
    #[arg(short)]
    k: Option<usize>,
    /// Up to so many processes may stop for ever
    #[arg(long, value_name = "C", default_value_t = 0)]
    crashes: usize,
    /// Processes may die anywhere; others reap them, and their numbers are used again
    #[arg(long)]
    deaths: bool,
    /// Processes may give up while they wait
    #[arg(long)]
    abandons: bool,
    /// Each process makes at most R passages, or calls of a part
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(u32).range(1..1_000_000))]
    passages: Option<u32>,
    /// All processes together make at most R passages, or calls of a part
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(u32).range(1..1_000))]
    passages_in_all: Option<u32>,
    /// Counts states that differ only in who is who as one; leaves out the properties about order
    #[arg(long)]
    symmetry: bool,
    /// What a read that overlaps a write returns
    #[arg(long, value_enum, default_value_t = Kinds::Atomic)]
    registers: Kinds,
    /// When writes become visible: at once, or on their way through store buffers, as on x86
    #[arg(long, value_enum, default_value_t = Order::Sc)]
    memory: Order,
    /// With `--memory tso`: plain stores, as if the algorithm had no fences
    #[arg(long)]
    no_fences: bool,
    /// Only this property; may be given several times
    #[arg(long = "property", value_name = "P")]
    properties: Vec<String>,
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

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Trouble> {
    let about = registry::find(&arguments.name)?;
    let size = about.size(arguments.n, arguments.k)?;
    if arguments.no_fences && arguments.memory == Order::Sc {
        let why = "without store buffers fences do nothing; add `--memory tso`, or leave out `--no-fences`";
        return Err(Trouble(why.to_string()));
    }
    for (asked, interruption) in [(arguments.deaths, Interruption::Death), (arguments.abandons, Interruption::Abandon)]
    {
        if asked {
            interruption.supported_by(about)?;
        }
    }
    let properties = properties(about, &arguments.properties)?;
    let mut model = Model::new(size.n).k(size.k).crashes(arguments.crashes).only(properties.iter().copied());
    if let Some(passages) = arguments.passages {
        model = model.passages(passages);
    }
    if let Some(passages) = arguments.passages_in_all {
        model = model.passages_in_all(passages);
    }
    if arguments.registers == Kinds::Safe {
        model = model.safe_registers();
    }
    if arguments.symmetry {
        model = model.symmetric();
    }
    if arguments.deaths {
        model = model.deaths();
    }
    if arguments.abandons {
        model = model.abandons();
    }
    model = match arguments.memory {
        Order::Sc => model,
        Order::Tso if arguments.no_fences => model.tso_without_fences(),
        Order::Tso => model.tso(),
    };
    if arguments.crashes > 0 && about.kind == Kind::Part {
        return Err(Trouble(format!(
            "`{}` is a part and is checked without crashes; leave out `--crashes`",
            about.name
        )));
    }
    let report = check_one(about, size, arguments.limits.apply(model))?;
    let unclaimed = match (arguments.registers, arguments.memory) {
        (Kinds::Safe, _) => !about.claims.contains(&Claim::SafeRegisters),
        (_, Order::Tso) => arguments.no_fences || about.kind == Kind::Part,
        (Kinds::Atomic, Order::Sc) => false,
    };
    let claims = if unclaimed { Vec::new() } else { claims(about, size, arguments.crashes) };
    let claims = if arguments.deaths { claims_with_deaths(claims) } else { claims };
    let unclaimed = arguments.abandons && !about.claims.contains(&Claim::Abandons);
    let claims = if unclaimed { Vec::new() } else { claims };
    let code = if properties.is_empty() { code_by_claims(&claims, &report) } else { code_by_verdicts(&report) };
    let text = if arguments.json {
        let mut value = as_json(about, size, arguments.crashes, &report);
        if arguments.registers == Kinds::Safe {
            value["registers"] = "safe".into();
        }
        value["symmetry"] = arguments.symmetry.into();
        value["deaths"] = arguments.deaths.into();
        value["abandons"] = arguments.abandons.into();
        if arguments.memory == Order::Tso {
            let place = |place: &&Location<'_>| format!("{}:{}", place.file(), place.line());
            value["memory"] = "tso".into();
            value["fences"] = report.fences.iter().map(place).collect::<Vec<_>>().into();
        }
        format!("{value:#}\n")
    } else {
        let k = if about.kind == Kind::KExclusion { format!(" k={}", size.k) } else { String::new() };
        let crashes = match arguments.crashes {
            0 => None,
            1 => Some("1 crash".to_string()),
            many => Some(format!("{many} crashes")),
        };
        let deaths = arguments.deaths.then(|| "deaths".to_string());
        let abandons = arguments.abandons.then(|| "abandons".to_string());
        let faults: Vec<String> = [crashes, deaths, abandons].into_iter().flatten().collect();
        let faults = if faults.is_empty() { String::new() } else { format!(" with {}", faults.join(" and ")) };
        let safe = if arguments.registers == Kinds::Safe { " on safe registers" } else { "" };
        let tso = match arguments.memory {
            Order::Sc => "",
            Order::Tso if arguments.no_fences => " on tso without fences",
            Order::Tso => " on tso",
        };
        let alike = if arguments.symmetry { " modulo symmetry" } else { "" };
        let compared = beside_the_text(about, &claims, &report);
        format!("{} n={}{k}{faults}{safe}{tso}{alike}: {report}{compared}", about.name, size.n)
    };
    Ok(Answer { text, code })
}

/// What may happen to a process, if the algorithm is made for it.
#[derive(Clone, Copy)]
enum Interruption {
    Death,
    Abandon,
}

impl Interruption {
    /// Refuses an algorithm that is not, and names those that are.
    fn supported_by(self, about: &'static About) -> Result<(), Trouble> {
        let size = about.size(None, None).expect("an algorithm is for its default size");
        if registry::visit(about, size, Asking(self)) {
            return Ok(());
        }
        // Not those that are made for it and fail.
        let claim = match self {
            Interruption::Death => Claim::Deaths,
            Interruption::Abandon => Claim::Abandons,
        };
        let names = registry::all().iter().filter(|about| about.claims.contains(&claim));
        let names: Vec<String> = names.map(|about| format!("`{}`", about.name)).collect();
        let names = names.join(" or ");
        Err(Trouble(match self {
            Interruption::Death => {
                format!("who dies in `{}` cannot be reaped; leave out `--deaths`, or try {names}", about.name)
            }
            Interruption::Abandon => {
                format!("who waits in `{}` cannot give up; leave out `--abandons`, or try {names}", about.name)
            }
        }))
    }
}

/// Whether an algorithm is made for an interruption.
struct Asking(Interruption);

impl Visitor for Asking {
    type Space = Registers;
    type Output = bool;

    fn exclusion<A: Exclusion<View>>(self, _: &'static About, _: Size, _: impl Fn(&mut Registers) -> A) -> bool {
        match self.0 {
            Interruption::Death => A::REAPABLE,
            Interruption::Abandon => A::ABANDONABLE,
        }
    }

    fn part<A: Part<View>>(self, _: &'static About, _: Size, _: impl Fn(&mut Registers) -> A) -> bool {
        false
    }
}

/// Checks an algorithm of the catalogue, with progress.
pub(crate) fn check_one(about: &'static About, size: Size, model: Model) -> Result<Report, Trouble> {
    let watcher = Watcher::new(about.name.to_string());
    let report = registry::visit(about, size, Checking(model.observer(watcher.clone())));
    watcher.done();
    report.map_err(|error| Trouble(format!("`{}`: {error}", about.name)))
}

struct Checking(Model);

impl Visitor for Checking {
    type Space = Registers;
    type Output = Result<Report, Error>;

    fn exclusion<A: Exclusion<View>>(
        self,
        _: &'static About,
        _: Size,
        make: impl Fn(&mut Registers) -> A,
    ) -> Self::Output {
        check(&self.0, make)
    }

    fn part<A: Part<View>>(self, about: &'static About, _: Size, make: impl Fn(&mut Registers) -> A) -> Self::Output {
        let model = if about.sequential { self.0.sequential() } else { self.0 };
        check_part(&model, make)
    }
}

fn properties(about: &About, names: &[String]) -> Result<Vec<Property>, Trouble> {
    let all: &[Property] = match about.kind {
        Kind::Part => &Property::OF_PARTS,
        _ if about.assigns() => &Property::OF_ASSIGNING_LOCKS,
        _ => &Property::OF_LOCKS,
    };
    let list = || all.iter().map(|property| property.name()).collect::<Vec<_>>().join(", ");
    let known = |name: &String| match Property::named(name) {
        Some(property) if all.contains(&property) => Ok(property),
        Some(_) => Err(Trouble(format!("`{name}` is not a property of `{}`; it has {}", about.name, list()))),
        None => Err(Trouble(format!("no property is called `{name}`; the properties are {}", list()))),
    };
    names.iter().map(known).collect()
}

/// All hold; or one fails; or it could not be decided.
fn code_by_verdicts(report: &Report) -> u8 {
    let any = |verdict| report.findings.iter().any(|finding| finding.verdict == verdict);
    match () {
        () if any(Verdict::Fails) => FAILS,
        () if any(Verdict::Unknown) => UNDECIDED,
        () => HOLDS,
    }
}

/// What the source claims of this size, when so many crash: progress only if it claims to survive that; and that something fails,
/// or how often something happens, only for as many processes as that is claimed for.
pub(crate) fn claims(about: &About, size: Size, crashes: usize) -> Vec<Claim> {
    let is_progress =
        |claim: &Claim| matches!(claim, Claim::Holds(Property::DeadlockFreedom | Property::StarvationFreedom));
    let is_for_more = |claim: &Claim| matches!(claim, Claim::Fails(_) | Claim::Bypass(_) | Claim::Entries(_));
    let survived = crashes <= about.crashes(size.k);
    let enough = size.n >= about.default_n;
    about
        .claims
        .iter()
        .copied()
        .filter(|claim| (survived || !is_progress(claim)) && (enough || !is_for_more(claim)))
        .collect()
}

/// What of these is claimed if processes die: all, or else only what fails then.
fn claims_with_deaths(claims: Vec<Claim>) -> Vec<Claim> {
    if claims.contains(&Claim::Deaths) {
        return claims;
    }
    let fails = |claim| match claim {
        Claim::FailsWithDeaths(property) => Some(Claim::Fails(property)),
        _ => None,
    };
    claims.into_iter().filter_map(fails).collect()
}

/// All is as claimed; or something is not; or it could not be decided.
fn code_by_claims(claims: &[Claim], report: &Report) -> u8 {
    let undecided = |finding: &Finding| {
        finding.verdict == Verdict::Unknown
            || (is_claimed(claims, finding) && agrees(claims, finding, report).is_none())
    };
    if report.findings.iter().any(|finding| agrees(claims, finding, report) == Some(false)) {
        FAILS
    } else if report.findings.iter().any(undecided) {
        UNDECIDED
    } else {
        HOLDS
    }
}

/// Whether a finding is as claimed, if anything is claimed and something was found that tells. What was found in some executions
/// only can contradict a claim that something never happens, but not one that it does.
pub(crate) fn agrees(claims: &[Claim], finding: &Finding, report: &Report) -> Option<bool> {
    if finding.verdict == Verdict::Unknown {
        return None;
    }
    let all_seen = report.incomplete.is_none();
    let holds = finding.verdict == Verdict::Holds;
    let count = |claimed: Option<u32>, found: Bound| {
        let at_most = |bound: Option<u32>| bound.map_or(u64::MAX, u64::from);
        match at_most(found.number()).cmp(&at_most(claimed)) {
            Ordering::Equal => Some(true),
            Ordering::Greater => Some(false),
            Ordering::Less => all_seen.then_some(false),
        }
    };
    let about_this = claims.iter().filter_map(|claim| match *claim {
        Claim::Holds(property) if property == finding.property => Some(holds),
        Claim::Fails(property) if property == finding.property => (!holds || all_seen).then_some(!holds),
        Claim::Bypass(bound) => count(bound, finding.bypass?.late),
        Claim::Entries(bound) => count(bound, finding.bypass?.in_all),
        _ => None,
    });
    about_this.reduce(|all, one| all && one)
}

/// Whether anything is claimed that a finding is about.
fn is_claimed(claims: &[Claim], finding: &Finding) -> bool {
    claims.iter().any(|claim| match *claim {
        Claim::Holds(property) | Claim::Fails(property) => property == finding.property,
        Claim::Bypass(_) | Claim::Entries(_) => finding.property == Property::Bypass,
        _ => false,
    })
}

/// One line on how this compares with the source.
fn beside_the_text(about: &About, claims: &[Claim], report: &Report) -> String {
    let claimed: Vec<(&str, Option<bool>)> = report
        .findings
        .iter()
        .filter(|finding| is_claimed(claims, finding))
        .map(|finding| (finding.property.name(), agrees(claims, finding, report)))
        .collect();
    let those =
        |that| claimed.iter().filter(|(_, is)| *is == that).map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let (otherwise, undecided) = (those(Some(false)), those(None));
    let source = about.source;
    match (claimed.is_empty(), otherwise.is_empty(), undecided.is_empty()) {
        (true, ..) => String::new(),
        (_, false, _) => format!("not as claimed ({otherwise}): {source}\n"),
        (_, _, false) => format!("not decided whether as claimed ({undecided}): {source}\n"),
        _ => format!("as claimed: {source}\n"),
    }
}

pub(crate) fn as_json(about: &About, size: Size, crashes: usize, report: &Report) -> Value {
    let properties: Map<String, Value> =
        report.findings.iter().map(|finding| (finding.property.name().to_string(), finding_as_json(finding))).collect();
    json!({
        "algorithm": about.name,
        "n": size.n,
        "k": (about.kind != Kind::Part).then_some(size.k),
        "crashes": crashes,
        "registers": "atomic",
        "memory": "sc",
        "states": report.states,
        "transitions": report.transitions,
        "depth": report.depth,
        "seconds": report.seconds,
        "bytes_per_state": report.bytes_per_state,
        "complete": report.incomplete.is_none(),
        "reason": report.incomplete,
        "properties": properties,
    })
}

fn finding_as_json(finding: &Finding) -> Value {
    let verdict = match finding.verdict {
        Verdict::Holds => "holds",
        Verdict::Fails => "fails",
        Verdict::Unknown => "unknown",
    };
    let mut value = json!({
        "verdict": verdict,
        "trace": finding.run.as_ref().map_or(Vec::new(), steps_as_json),
        "cycle_at": finding.run.as_ref().and_then(|run| run.cycle_at),
        "processes": finding.processes,
        "note": finding.note,
    });
    if finding.property == Property::Bypass {
        value["bound"] = json!(finding.bypass.and_then(|bypass| bypass.late.number()));
        value["in_all"] = json!(finding.bypass.and_then(|bypass| bypass.in_all.number()));
    }
    value
}

pub(crate) fn steps_as_json(run: &Run) -> Vec<Value> {
    let step = |step: &Step| json!({ "process": step.process, "line": step.line, "access": step.access });
    run.steps.iter().map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(name: &str, shape: impl FnOnce(Model) -> Model) -> Report {
        let about = registry::find(name).unwrap();
        let size = about.size(None, None).unwrap();
        registry::visit(about, size, Checking(shape(Model::new(size.n).k(size.k)))).unwrap()
    }

    /// The exit code says whether all is as claimed, whatever kind of claim it is.
    #[test]
    fn every_kind_of_claim_that_is_not_met_is_told_by_the_exit_code() {
        let peterson = report("peterson", |model| model);
        let code = |claim| code_by_claims(&[claim], &peterson);
        assert_eq!(code(Claim::Holds(Property::Fcfs)), HOLDS);
        assert_eq!(code(Claim::Fails(Property::Fcfs)), FAILS);
        assert_eq!(code(Claim::Bypass(Some(0))), HOLDS);
        assert_eq!(code(Claim::Bypass(Some(1))), FAILS);
        assert_eq!(code(Claim::Bypass(None)), FAILS);
        assert_eq!(code(Claim::Entries(Some(1))), HOLDS);
        assert_eq!(code(Claim::Entries(Some(0))), FAILS);
        let lock_one = report("lock-one", |model| model);
        assert_eq!(code_by_claims(&[Claim::Holds(Property::DeadlockFreedom)], &lock_one), FAILS);
    }

    /// In some executions only, a property that is claimed to fail may hold, and a bound need not be met.
    #[test]
    fn a_limited_search_contradicts_only_what_it_has_seen() {
        let filter = report("filter", |model| model.passages(1));
        assert!(filter.holds(Property::Bypass) && filter.fails(Property::Fcfs));
        let code = |claim| code_by_claims(&[claim], &filter);
        assert_eq!(code(Claim::Fails(Property::Bypass)), UNDECIDED);
        assert_eq!(code(Claim::Bypass(None)), UNDECIDED);
        assert_eq!(code(Claim::Bypass(Some(5))), UNDECIDED);
        assert_eq!(code(Claim::Bypass(Some(0))), FAILS);
        assert_eq!(code(Claim::Holds(Property::Fcfs)), FAILS);
    }

    #[test]
    fn nothing_undecided_is_called_claimed() {
        let about = registry::find("one-bit").unwrap();
        let one_bit = report("one-bit", |model| model.max_states(20));
        let line = beside_the_text(about, about.claims, &one_bit);
        assert!(line.starts_with("not decided whether as claimed (exclusion, "), "{line}");
        assert_eq!(code_by_claims(about.claims, &one_bit), UNDECIDED);
    }
}
