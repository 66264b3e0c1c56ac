//! The outcomes of calls and the names of holders, and the combinations of them that break the program's rule.
use doorway_memory::Pid;
use rustc_hash::FxHashMap;

use super::{Evidence, Violation};
use crate::{graph::Id, judge::Judge, program::Program, real::Finder, symmetry};

/// The shortest path to a state whose outcomes break the rule.
pub(super) fn breach(evidence: &Evidence<'_>, find: &impl Finder) -> Option<Violation> {
    let judge = &evidence.judge;
    let breaches = evidence.breaches.as_ref().filter(|breaches| !breaches.complaints.is_empty())?;
    let is_breach = |_, state| breaches.complaint(judge, state).is_some();
    let path = find.find(None, 1, |_, _, _, _| Some(0), is_breach, Some)?;
    let note = breaches.complaint(judge, judge.end(&path)).unwrap_or_default().to_string();
    let path = if judge.model.symmetric { symmetry::named(judge, &path).0 } else { path };
    Some(Violation { path, processes: Vec::new(), note })
}

/// The combinations of outcomes that break the rule. Many states have the same outcomes, so the rule is asked once for
/// each combination.
pub(crate) struct Breaches {
    /// For each process.
    outcomes: Vec<Outcomes>,
    /// For each combination of outcomes that breaks the rule, how it does.
    complaints: FxHashMap<u64, String>,
}

/// The outcomes of one process, numbered.
struct Outcomes {
    /// For each local state.
    numbers: Vec<u32>,
    different: u64,
}

impl Breaches {
    /// Asks the program's rule about every combination of outcomes that occurs in the graph.
    pub(super) fn of(judge: &Judge<'_>, program: &dyn Program) -> Breaches {
        let outcomes = judge.model.processes().map(|p| Outcomes::of(judge, program, p)).collect();
        let mut breaches = Breaches { outcomes, complaints: FxHashMap::default() };
        let mut obeys: FxHashMap<u64, bool> = FxHashMap::default();
        for state in (0..judge.graph.ids() as Id).filter(|&state| judge.graph.exists(state)) {
            let combination = breaches.combination(judge, state);
            obeys.entry(combination).or_insert_with(|| {
                let packed = &judge.graph.state(state);
                let processes = judge.model.processes().map(|p| {
                    let local = judge.graph.automaton.local(p, judge.graph.layout.fields[p].get(packed));
                    (local.section, &*local.history)
                });
                match program.rule(judge.model.k, &processes.collect::<Vec<_>>()) {
                    Ok(()) => true,
                    Err(complaint) => {
                        breaches.complaints.insert(combination, complaint);
                        false
                    }
                }
            });
        }
        breaches
    }

    /// How the outcomes in a state break the rule, if they do.
    fn complaint(&self, judge: &Judge<'_>, state: Id) -> Option<&str> {
        self.complaints.get(&self.combination(judge, state)).map(String::as_str)
    }

    /// The outcomes of all processes in a state, as one number.
    fn combination(&self, judge: &Judge<'_>, state: Id) -> u64 {
        let packed = &judge.graph.state(state);
        self.outcomes.iter().enumerate().fold(0, |combination, (p, outcomes)| {
            let local = judge.graph.layout.fields[p].get(packed);
            combination * outcomes.different + u64::from(outcomes.numbers[local as usize])
        })
    }
}

impl Outcomes {
    fn of(judge: &Judge<'_>, program: &dyn Program, p: Pid) -> Outcomes {
        let automaton = &judge.graph.automaton;
        let mut known: FxHashMap<Vec<u64>, u32> = FxHashMap::default();
        let locals = (0..automaton.contents(p)).map(|local| automaton.local(p, local as u32));
        let numbers = locals
            .map(|local| {
                let next = known.len() as u32;
                *known.entry(program.outcome(local.section, &local.history)).or_insert(next)
            })
            .collect();
        Outcomes { numbers, different: known.len() as u64 }
    }
}
