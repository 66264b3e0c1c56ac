//! What a part's calls return obeys the part's rule; and the names that a lock gives are different.
use std::cell::RefCell;

use rustc_hash::FxHashMap;

use super::{Evidence, Violation};
use crate::{graph::Id, program::Program, real::Finder, symmetry};

impl Evidence<'_> {
    pub(super) fn breach(&self, find: &impl Finder, program: &dyn Program) -> Option<Violation> {
        let judge = &self.judge;
        let outcomes: Vec<Outcomes> = judge.model.processes().map(|p| self.outcomes(program, p)).collect();
        // Many states have the same outcomes; the rule is asked once for each combination.
        let asked: RefCell<FxHashMap<u64, Option<String>>> = RefCell::default();
        let complaint = |state: Id| {
            let packed = judge.graph.state(state);
            let local = |p: usize| judge.graph.layout.fields[p].get(packed);
            let combination = outcomes.iter().enumerate().fold(0, |combination, (p, outcomes)| {
                combination * outcomes.different + u64::from(outcomes.of_local[local(p) as usize])
            });
            let mut asked = asked.borrow_mut();
            let answer = asked.entry(combination).or_insert_with(|| {
                let processes = judge.model.processes().map(|p| {
                    let local = judge.graph.automaton.local(p, local(p));
                    (local.section, &*local.history)
                });
                program.rule(&processes.collect::<Vec<_>>()).err()
            });
            answer.clone()
        };
        let path = find.find(None, 1, |_, _, _, _| Some(0), |_, state| complaint(state).is_some(), Some)?;
        let note = complaint(judge.end(&path)).unwrap_or_default();
        let path = if judge.model.symmetric { symmetry::named(judge, &path).0 } else { path };
        Some(Violation { path, processes: Vec::new(), note })
    }

    /// Which of process `p`'s local states have the same latest outcome.
    fn outcomes(&self, program: &dyn Program, p: usize) -> Outcomes {
        let automaton = &self.judge.graph.automaton;
        let mut numbers: FxHashMap<Vec<u64>, u32> = FxHashMap::default();
        let locals = (0..automaton.contents(p)).map(|local| automaton.local(p, local as u32));
        let of_local = locals
            .map(|local| {
                let next = numbers.len() as u32;
                *numbers.entry(program.outcome(local.section, &local.history)).or_insert(next)
            })
            .collect();
        Outcomes { of_local, different: numbers.len() as u64 }
    }
}

/// A process' outcomes, numbered.
struct Outcomes {
    of_local: Vec<u32>,
    different: u64,
}
