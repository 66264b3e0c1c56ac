//! The properties about order, on one execution as it goes on.
use doorway_memory::{Pid, Property};

use crate::{execution::Step, program::Section, stepper::named};

/// Which processes have started the doorway after which others had completed it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Order {
    /// For each process, while it waits: the processes that have started the doorway since then, as bits.
    late: Vec<u32>,
}

impl Order {
    pub(crate) fn new(n: usize) -> Order {
        Order { late: vec![0; n] }
    }

    /// Takes note of a step, after which processes are in these sections; returns what it violates.
    pub(crate) fn step(&mut self, step: &Step, sections: &[Section], k: usize) -> Vec<(Property, String)> {
        let q = step.process;
        let [before, after] = step.sections;
        let mut violated = Vec::new();
        if before == Section::Remainder && after != Section::Reap {
            for p in (0..sections.len()).filter(|&p| p != q && sections[p] == Section::Wait) {
                self.late[p] |= 1 << q;
            }
        }
        if after == Section::Critical && before != Section::Critical {
            let overtaken: Vec<Pid> = (0..sections.len()).filter(|&p| self.late[p] >> q & 1 == 1).collect();
            let (all, have) = (named(&overtaken), if overtaken.len() == 1 { "has" } else { "have" });
            let note = format!("process {q} starts the doorway after {all} {have} completed it, and enters first");
            if !overtaken.is_empty() {
                violated.push((Property::Fcfs, note.clone()));
            }
            if overtaken.len() >= k {
                violated.push((Property::KFcfs, note));
            }
        }
        for p in (0..sections.len()).filter(|&p| sections[p] != Section::Wait) {
            self.late[p] = 0;
        }
        violated
    }
}
