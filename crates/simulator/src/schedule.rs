//! Who takes the next step.
use std::fmt;

use doorway_memory::{Exclusion, Pid};

use crate::{
    execution::Execution,
    machine::{Access, Machine},
    random::Random,
    registers::Kind,
};

/// A way of choosing who takes the next step.
///
/// ```
/// use doorway_simulator::Schedule;
/// assert_eq!(Schedule::RoundRobin.to_string(), "round-robin");
/// assert_eq!(Schedule::ALL.len(), 7);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Schedule {
    /// One process after the other makes its passages, alone.
    Solo,
    /// Everyone takes a step in turn.
    RoundRobin,
    /// Anyone, at every single access.
    Random,
    /// Three processes only, many times, and at random as well: what takes an odd moment is found among few.
    Few,
    /// Everyone arrives at once, and again when all are through.
    Bursts,
    /// First who must fetch something again, then who makes the most others fetch again.
    Greedy,
    /// One process is let on only where that costs it something and tells it nothing new, as long as others can go on.
    Victim,
}

impl Schedule {
    /// All of them.
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
    /// Who took the last step.
    last: Pid,
    pub(crate) victim: Pid,
    /// Bursts that are over.
    bursts: u32,
}

/// How many processes a greedy choice looks at: all of them would cost as much as there are, at every step.
const CHOICE: usize = 12;
/// How many steps of others a victim waits before it comes, in the mean.
const PATIENCE: usize = 16;

impl Scheduler {
    pub(crate) fn new(schedule: Schedule, victim: Pid, random: Random) -> Scheduler {
        Scheduler { schedule, random, last: 0, victim, bursts: 0 }
    }

    /// Who takes the next step, if anyone can.
    pub(crate) fn pick<A: Exclusion<Machine>>(&mut self, run: &Execution<A>) -> Option<Pid> {
        if run.ready.len() == 0 {
            return None;
        }
        let p = match self.schedule {
            Schedule::Solo if run.ready.contains(self.last) && !run.is_fresh(self.last) => self.last,
            // The first burst goes in step, the others at random.
            Schedule::Bursts if self.bursts > 0 => self.anyone(run),
            Schedule::Solo | Schedule::RoundRobin | Schedule::Bursts => run.ready.next(self.last + 1)?,
            Schedule::Random | Schedule::Few => self.anyone(run),
            Schedule::Greedy => self.worst_for_others(run),
            Schedule::Victim => self.fool(run),
        };
        self.last = p;
        Some(p)
    }

    /// Everyone has left.
    pub(crate) fn burst_ended(&mut self) {
        self.bursts += 1;
    }

    fn anyone<A: Exclusion<Machine>>(&mut self, run: &Execution<A>) -> Pid {
        run.ready.get(self.random.below(run.ready.len()))
    }

    fn worst_for_others<A: Exclusion<Machine>>(&mut self, run: &Execution<A>) -> Pid {
        let harm = |p| match run.next(p) {
            None => usize::MAX,
            Some(access @ Access { kind: Kind::Read, .. }) if run.machine.is_remote(access, p) => usize::MAX,
            Some(access) => run.machine.harm(access, p),
        };
        let choice = (0..run.ready.len().min(CHOICE)).map(|_| self.anyone(run));
        choice.max_by_key(|&p| harm(p)).expect("someone is ready")
    }

    fn fool<A: Exclusion<Machine>>(&mut self, run: &Execution<A>) -> Pid {
        let victim = self.victim;
        if !run.ready.contains(victim) {
            return self.anyone(run);
        }
        let learns = |access: Access| {
            access.kind == Kind::Read && run.machine.is_remote(access, victim) && !run.machine.looks_the_same(access)
        };
        // When it comes is up to chance, so that it finds the lock in all sorts of states.
        let waits =
            if run.is_fresh(victim) { self.random.below(PATIENCE) > 0 } else { run.next(victim).is_some_and(learns) };
        if run.ready.len() == 1 || !waits {
            return victim;
        }
        loop {
            let p = self.anyone(run);
            if p != victim {
                return p;
            }
        }
    }
}
