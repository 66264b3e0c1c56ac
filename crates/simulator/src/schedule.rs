//! Schedules: which process takes the next step.
use std::fmt;

use doorway_memory::{Exclusion, Pid};

use crate::{
    execution::Execution,
    machine::{Access, Machine},
    random::Random,
    registers::Kind,
};

/// A way of choosing the process that takes the next step.
///
/// ```
/// use doorway_simulator::Schedule;
/// assert_eq!(Schedule::RoundRobin.to_string(), "round-robin");
/// assert_eq!(Schedule::ALL.len(), 7);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Schedule {
    /// The processes make their passages one after the other, uncontended.
    Solo,
    /// Each process in turn takes a step.
    RoundRobin,
    /// A random process, at every single access.
    Random,
    /// As `Random`, with three processes and many passages: rare interleavings are more likely among few processes.
    Few,
    /// All processes arrive at once, and again when all have completed their passages.
    Bursts,
    /// An adversary: prefers processes whose next read is remote, then those whose access invalidates the most copies.
    Greedy,
    /// An adversary that delays one process, the victim, before a remote read that would return a new value, as long as
    /// another process can take a step.
    Victim,
}

impl Schedule {
    /// All schedules.
    ///
    /// ```
    /// assert!(doorway_simulator::Schedule::ALL.contains(&doorway_simulator::Schedule::Greedy));
    /// ```
    pub const ALL: [Schedule; 7] = [
        Schedule::Solo,
        Schedule::RoundRobin,
        Schedule::Random,
        Schedule::Few,
        Schedule::Bursts,
        Schedule::Greedy,
        Schedule::Victim,
    ];
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Schedule::Solo => "solo",
            Schedule::RoundRobin => "round-robin",
            Schedule::Random => "random",
            Schedule::Few => "few",
            Schedule::Bursts => "bursts",
            Schedule::Greedy => "greedy",
            Schedule::Victim => "victim",
        })
    }
}

/// A schedule in use.
pub(crate) struct Scheduler {
    schedule: Schedule,
    random: Random,
    /// The process that took the last step.
    last: Pid,
    pub(crate) victim: Pid,
    /// The number of bursts that have ended.
    bursts: u32,
}

/// The number of processes among which a greedy choice is made: to examine all at every step would take too long.
const GREEDY_SAMPLE: usize = 12;
/// The mean number of steps of others before the victim begins a passage.
const MEAN_VICTIM_DELAY: usize = 16;

impl Scheduler {
    pub(crate) fn new(schedule: Schedule, victim: Pid, random: Random) -> Scheduler {
        Scheduler { schedule, random, last: 0, victim, bursts: 0 }
    }

    /// The process that takes the next step, or none if no process can.
    pub(crate) fn pick<A: Exclusion<Machine>>(&mut self, execution: &Execution<A>) -> Option<Pid> {
        if execution.ready.len() == 0 {
            return None;
        }
        let p = match self.schedule {
            Schedule::Solo if execution.ready.contains(self.last) && !execution.is_in_remainder(self.last) => self.last,
            // The first burst is in round-robin order, the others are random.
            Schedule::Bursts if self.bursts > 0 => self.random_process(execution),
            Schedule::Solo | Schedule::RoundRobin | Schedule::Bursts => execution.ready.next(self.last + 1)?,
            Schedule::Random | Schedule::Few => self.random_process(execution),
            Schedule::Greedy => self.most_invalidating(execution),
            Schedule::Victim => self.deceive_victim(execution),
        };
        self.last = p;
        Some(p)
    }

    /// Begins the next burst: all processes have completed their passages.
    pub(crate) fn burst_ended(&mut self) {
        self.bursts += 1;
    }

    fn random_process<A: Exclusion<Machine>>(&mut self, execution: &Execution<A>) -> Pid {
        execution.ready.get(self.random.below(execution.ready.len()))
    }

    fn most_invalidating<A: Exclusion<Machine>>(&mut self, execution: &Execution<A>) -> Pid {
        let invalidations = |p| match execution.next(p) {
            None => usize::MAX,
            Some(access @ Access { kind: Kind::Read, .. }) if execution.machine.is_remote(access, p) => usize::MAX,
            Some(access) => execution.machine.invalidations(access, p),
        };
        let choice = (0..execution.ready.len().min(GREEDY_SAMPLE)).map(|_| self.random_process(execution));
        choice.max_by_key(|&p| invalidations(p)).expect("a process is ready")
    }

    fn deceive_victim<A: Exclusion<Machine>>(&mut self, execution: &Execution<A>) -> Pid {
        let victim = self.victim;
        if !execution.ready.contains(victim) {
            return self.random_process(execution);
        }
        let learns = |access: Access| {
            access.kind == Kind::Read
                && execution.machine.is_remote(access, victim)
                && !execution.machine.is_unchanged_for_victim(access)
        };
        // The victim arrives at a random time, so that it finds the lock in many different states.
        let waits = if execution.is_in_remainder(victim) {
            self.random.below(MEAN_VICTIM_DELAY) > 0
        } else {
            execution.next(victim).is_some_and(learns)
        };
        if execution.ready.len() == 1 || !waits {
            return victim;
        }
        loop {
            let p = self.random_process(execution);
            if p != victim {
                return p;
            }
        }
    }
}
