//! The properties, each read off the graph.
mod bounded;
mod bypass;
mod deadlock_freedom;
mod exclusion;
mod fcfs;
mod fife;
mod k_fcfs;
mod rule;
mod starvation_freedom;
mod waits;

use doorway_memory::{Pid, Property};

use crate::{
    Model,
    components::Steps,
    error::Error,
    graph::Graph,
    judge::Judge,
    parallel,
    program::{Program, Section},
    real::{AmongReal, Finder, InGraph, realise},
    report::{Finding, Verdict},
    run::Path,
    symmetry,
};
pub(crate) use waits::any;
use waits::{Entries, Waits};

/// What a property finds in a graph that shows it does not hold.
pub(crate) struct Violation {
    path: Path,
    processes: Vec<Pid>,
    note: String,
}

/// A graph, and everything about waiting that several properties ask of it.
pub(crate) struct Evidence<'a> {
    judge: Judge<'a>,
    /// For each process; empty if no wanted property needs it.
    waits: Vec<Waits>,
    /// For each process; none if it is without bound for some, or if no wanted property needs it.
    entries: Option<Vec<Entries>>,
    /// If processes are all alike: instead of `waits`.
    trouble: Option<symmetry::Trouble>,
}

/// The properties of the kind of algorithm checked.
pub(crate) fn of(program: &dyn Program) -> &'static [Property] {
    match () {
        () if program.is_part() => &Property::OF_PARTS,
        () if program.assigns() => &Property::OF_ASSIGNING_LOCKS,
        () => &Property::OF_LOCKS,
    }
}

/// Those of them that are wanted.
pub(crate) fn wanted(program: &dyn Program, model: &Model) -> Vec<Property> {
    let told = |property| !model.symmetric || !is_about_order(property);
    of(program).iter().copied().filter(|&property| model.wants(property) && told(property)).collect()
}

/// Whether a property is about who comes before whom.
pub(crate) fn is_about_order(property: Property) -> bool {
    matches!(property, Property::Fcfs | Property::KFcfs | Property::Fife | Property::Bypass)
}

/// Whether a property is about what processes have been given.
fn is_a_rule(property: Property) -> bool {
    matches!(property, Property::Rule | Property::Assignment)
}

/// Whether a property needs no more than the states.
pub(crate) fn is_about_states(property: Property) -> bool {
    property == Property::Exclusion
}

/// Bytes that judging the states found so far takes, on so many threads.
pub(crate) fn bytes_to_judge(graph: &Graph, model: &Model, threads: usize) -> usize {
    // For each state: sections; and on each thread the largest of what components, entries and shortest paths take.
    // (If processes are all alike, it is done on one thread, for all of them together.)
    let (once, on_each) = if model.symmetric { (4 + 24 * model.n, 1) } else { (4, 28 + model.n) };
    graph.ids() * (once + on_each * threads)
}

/// On how many threads the properties can be judged within the memory: one at least, which the search has left room for.
pub(crate) fn affordable_threads(graph: &Graph, model: &Model) -> usize {
    let left = model.max_memory.map_or(usize::MAX, |max| (max as usize).saturating_sub(graph.bytes()));
    (1..=model.threads).rev().find(|&threads| bytes_to_judge(graph, model, threads) <= left).unwrap_or(1)
}

/// Reads the properties off the graph, on as many threads as there is memory for.
pub(crate) fn judge(program: &dyn Program, judge: Judge<'_>) -> Result<Vec<Finding>, Error> {
    let (graph, model) = (judge.graph, judge.model);
    let wanted = wanted(program, model);
    let threads = affordable_threads(graph, model);
    let needed = |about: fn(Property) -> bool| wanted.iter().any(|&property| about(property));
    let about_waiting = |property| property != Property::Exclusion && !is_a_rule(property);
    let trouble = (model.symmetric && needed(about_waiting)).then(|| symmetry::Trouble::of(&judge));
    let waits = if needed(about_waiting) && !model.symmetric {
        parallel::map(threads, model.processes(), |p| Waits::of(&judge, p))
    } else {
        Vec::new()
    };
    let bounded = waits.iter().all(|waits| waits.overtaken.is_empty());
    let about_order = |property| matches!(property, Property::Fcfs | Property::KFcfs | Property::Bypass);
    let entries = (bounded && needed(about_order))
        .then(|| parallel::map(threads, model.processes(), |p| Entries::during_waits_of(&judge, p)));
    let evidence = Evidence { judge, waits, entries, trouble };
    let violations =
        parallel::map(threads, 0..wanted.len(), |i| evidence.violation(&InGraph(&evidence.judge), wanted[i]));
    // Asked last: who was cancelled in the middle of any of this has not seen everything. States need no judging.
    let judged = !model.cancelled();
    let everything_seen = |property| graph.stop.is_none() && (judged || is_about_states(property));
    let findings = std::iter::zip(wanted, violations).map(|(property, violation)| {
        let mut finding = Finding::new(property);
        if property == Property::Bypass {
            finding.bypass =
                Some(evidence.bypass()).filter(|bypass| everything_seen(property) || bypass.is_unbounded());
        }
        let violation =
            if is_a_rule(property) { evidence.breach(&InGraph(&evidence.judge), program) } else { violation };
        let mut verdict = if everything_seen(property) { Verdict::Holds } else { Verdict::Unknown };
        if let Some(Violation { path, processes, note }) = violation {
            verdict = Verdict::Fails;
            (finding.processes, finding.note) = (processes, note);
            finding.run = realise(program, graph, model, &path)?;
        }
        if verdict == Verdict::Fails && finding.run.is_none() {
            let real = AmongReal::new(program, &evidence.judge);
            let violation = match () {
                () if model.symmetric => None,
                () if is_a_rule(property) => evidence.breach(&real, program),
                () => evidence.violation(&real, property),
            };
            (finding.processes, finding.note) = (Vec::new(), String::new());
            let is_broken = violation.is_some();
            if let Some(Violation { path, processes, note }) = violation {
                (finding.processes, finding.note) = (processes, note);
                finding.run = realise(program, graph, model, &path)?;
            }
            if finding.run.is_some() {
                verdict = Verdict::Fails;
            } else if !is_broken && real.was_exhaustive() && !model.symmetric && everything_seen(property) {
                verdict = Verdict::Holds;
            } else {
                verdict = Verdict::Unknown;
                finding.note = unrealised(property, model);
            }
        }
        // Without an execution nothing is known to be unbounded.
        finding.bypass = finding.bypass.filter(|bypass| !bypass.is_unbounded() || verdict == Verdict::Fails);
        finding.verdict = verdict;
        Ok(finding)
    });
    findings.collect()
}

/// Why a property that fails in the graph is not decided: no real execution was found in which it does.
fn unrealised(property: Property, model: &Model) -> String {
    let about = "some executions of the search break it, but in none of those tried do its tickets occur";
    match () {
        () if model.symmetric => format!("{about}; check it without symmetry"),
        () if is_about_states(property) => format!("{about}; with a limit on the passages in all, tickets are real"),
        () => format!("{about} for ever; with a limit on the passages in all, tickets are real"),
    }
}

impl Evidence<'_> {
    fn violation(&self, find: &impl Finder, property: Property) -> Option<Violation> {
        match property {
            _ if self.judge.model.symmetric => self.violation_of_some(find, property),
            Property::Exclusion => self.crowding(find),
            Property::DeadlockFreedom => self.deadlock(find),
            Property::StarvationFreedom => self.starvation(find),
            Property::Fcfs => self.overtaking(find),
            Property::KFcfs if self.judge.model.k == 1 => self.overtaking(find),
            Property::KFcfs => self.k_overtaking(find),
            Property::Fife => self.held_back(find),
            Property::Bypass => self.endless_overtaking(find),
            Property::BoundedExit => Section::WAYS_OUT.into_iter().find_map(|way| self.endless(find, way)),
            Property::WaitFreeDoorway => self.endless(find, Section::Doorway),
            Property::WaitFree => self.endless(find, Section::Wait),
            _ => None,
        }
    }

    /// When processes are all alike: what can happen to one can happen to each.
    fn violation_of_some(&self, find: &impl Finder, property: Property) -> Option<Violation> {
        let judge = &self.judge;
        if property == Property::Exclusion {
            let Violation { path, .. } = self.crowding(find)?;
            let (path, _) = symmetry::named(judge, &path);
            return Some(Violation { path, processes: Vec::new(), note: String::new() });
        }
        let trouble = self.trouble.as_ref()?;
        let (path, p) = match property {
            Property::DeadlockFreedom => trouble.deadlock(judge)?,
            Property::StarvationFreedom => trouble.starvation(judge)?,
            Property::BoundedExit => trouble.endless(judge, Section::Exit)?,
            Property::WaitFreeDoorway => trouble.endless(judge, Section::Doorway)?,
            _ => return None,
        };
        Some(Violation { path, processes: Vec::new(), note: format!("process {p} is kept for ever") })
    }

    /// The processes with something to complain of.
    fn processes(&self, bad: impl Fn(&Waits) -> bool) -> Vec<Pid> {
        self.waits.iter().enumerate().filter(|(_, waits)| bad(waits)).map(|(p, _)| p).collect()
    }
}
