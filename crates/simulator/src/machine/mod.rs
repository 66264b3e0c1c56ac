//! The memory of a simulated execution.
//!
//! A process is stopped before each access by an error that its source propagates, and continues there later. To
//! continue, it is run again from the start of its section: since `turns` tells the machine the state that a loop
//! carries from one iteration to the next, the process enters each of its loops in the iteration it was in, and its
//! accesses in that iteration return the recorded values again. A step therefore costs as much as the current
//! iterations are long, not the passage; and a process that is not continued needs no cleanup.
mod memory;
mod tape;
#[cfg(test)]
mod tests;

use std::{marker::PhantomData, mem};

use doorway_memory::{Cost, Pid};
use rustc_hash::FxHashMap;

use crate::registers::{Kind, Registers};

pub(crate) use tape::Tape;

/// The memory of a simulated execution, which also allocates its registers.
///
/// ```
/// use doorway_memory::{Cost, Memory, Space};
/// use doorway_simulator::Machine;
///
/// let mut machine = Machine::new(Cost::Dsm);
/// let flag = machine.shared("flag", false);
/// assert!(machine.write(&flag, true).is_err(), "a process is stopped before each access");
/// ```
pub struct Machine {
    cost: Cost,
    registers: Registers,
    /// The process that is running.
    running: Pid,
    /// The tape of the running process.
    pub(crate) tape: Tape,
    /// The position on the tape up to which it has been replayed.
    at: usize,
    permit: Permit,
    /// Whether a step continues, after its access, through reads that are local.
    pub(crate) batches_local_reads: bool,
    /// The position in the tape's log where this step begins.
    fresh_from: usize,
    /// Why the process stopped.
    stopped: Stopped,
    /// Whether each process is suspended until a register of which it has a copy is written.
    suspended: Vec<bool>,
    /// The processes that were woken since the scheduler last took them from here.
    pub(crate) woken: Vec<Pid>,
    /// The victim of the adversary, and the value of each register it has read in its passage, when it last read it.
    victim: Option<(Pid, FxHashMap<u32, u64>)>,
    /// The number of accesses so far.
    pub(crate) accesses: u64,
    scratch: Vec<u64>,
}

/// A register of a [`Machine`].
///
/// See [`Machine`].
#[derive(Debug)]
pub struct Reg<T>(u32, PhantomData<fn() -> T>);

/// The error that stops a process.
///
/// ```
/// use doorway_memory::{Cost, Memory, Space};
/// use doorway_simulator::{Halt, Machine};
///
/// let mut machine = Machine::new(Cost::Dsm);
/// let flag = machine.shared("flag", false);
/// assert_eq!(machine.read(&flag), Err(Halt));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Halt;

/// Why a process has stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stopped {
    /// It is about to make an access.
    Before(Access),
    /// It busy-waits, and every further iteration would be the same until a register that it has read is written.
    Suspended,
}

/// The accesses that a process may make now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Permit {
    /// One access.
    One,
    /// Reads that are local.
    Free,
    /// None: the process is replayed up to its next access.
    None,
}

/// An access that a process is about to make.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Access {
    pub(crate) reg: u32,
    /// The kind it would have if it were made now.
    pub(crate) kind: Kind,
}

impl Machine {
    /// A machine without registers.
    ///
    /// See [`Machine`].
    #[must_use]
    pub fn new(cost: Cost) -> Machine {
        Machine {
            cost,
            registers: Registers::new(),
            running: 0,
            tape: Tape::default(),
            at: 0,
            permit: Permit::None,
            batches_local_reads: false,
            fresh_from: 0,
            stopped: Stopped::Suspended,
            suspended: Vec::new(),
            woken: Vec::new(),
            victim: None,
            accesses: 0,
            scratch: Vec::new(),
        }
    }

    /// Prepares the machine for `n` processes, one of which may be the victim of an adversary.
    pub(crate) fn prepare(&mut self, n: usize, victim: Option<Pid>) {
        self.suspended = vec![false; n];
        self.victim = victim.map(|p| (p, FxHashMap::default()));
    }

    /// Continues process `p`, whose tape has been swapped in.
    pub(crate) fn resume(&mut self, p: Pid, permit: Permit) {
        self.running = p;
        self.permit = permit;
        self.fresh_from = self.tape.log.len();
    }

    /// Begins or continues a section.
    pub(crate) fn enter_section(&mut self) {
        self.at = 0;
    }

    /// Ends a section.
    pub(crate) fn leave_section(&mut self) {
        self.tape.rewind();
        self.fresh_from = 0;
    }

    /// Ends the current step: the running process is a holder, or in the remainder, until its next step.
    pub(crate) fn stay(&mut self) {
        self.permit = Permit::None;
    }

    /// Ends a passage. The next one begins with the process's next step.
    pub(crate) fn leave_passage(&mut self) {
        self.stay();
        self.tape.remote = 0;
        self.tape.spins_remotely = false;
        if let Some((_, seen)) = self.victim.as_mut().filter(|(victim, _)| *victim == self.running) {
            seen.clear();
        }
    }

    pub(crate) fn stopped(&self) -> Stopped {
        self.stopped
    }

    /// Whether the access would be remote for `p`.
    pub(crate) fn is_remote(&self, access: Access, p: Pid) -> bool {
        self.registers.is_remote(self.cost, access.reg, access.kind, p)
    }

    /// The number of other processes whose copies the access would invalidate.
    pub(crate) fn invalidations(&self, access: Access, p: Pid) -> usize {
        match access.kind {
            Kind::Read => 0,
            Kind::Write | Kind::FailedCas => self.registers.copies_of_others(access.reg, p),
        }
    }

    /// Whether the register has the value that the victim last read there, or was not read by it in this passage.
    pub(crate) fn is_unchanged_for_victim(&self, access: Access) -> bool {
        let seen = self.victim.as_ref().and_then(|(_, seen)| seen.get(&access.reg));
        seen.is_none_or(|&word| word == self.registers.word(access.reg))
    }
}

impl Machine {
    /// Performs an access, or stops the process. An access that is on the tape returns its recorded result.
    #[inline]
    fn access(
        &mut self,
        reg: u32,
        kind: impl FnOnce(u64) -> Kind,
        change: impl FnOnce(u64) -> Change,
    ) -> Result<u64, Halt> {
        if let Some(&word) = self.tape.words.get(self.at) {
            self.at += 1;
            return Ok(word);
        }
        let p = self.running;
        let before = self.registers.word(reg);
        let kind = kind(before);
        let remote = self.registers.is_remote(self.cost, reg, kind, p);
        match self.permit {
            Permit::One => self.permit = if self.batches_local_reads { Permit::Free } else { Permit::None },
            Permit::Free if kind == Kind::Read && !remote => {}
            Permit::Free | Permit::None => {
                self.stopped = Stopped::Before(Access { reg, kind });
                return Err(Halt);
            }
        }
        self.accesses += 1;
        self.tape.remote += u64::from(remote);
        let Change { written, returned } = change(before);
        if kind == Kind::Write {
            self.registers.set(reg, written);
        }
        if kind == Kind::Read && !self.registers.has_copy(reg, p) {
            let earlier = self.tape.log.iter().rposition(|&read| read == reg);
            self.tape.overtaken = self.tape.overtaken.max(earlier.map_or(0, |at| at as u32 + 1));
        }
        let (suspended, woken) = (&mut self.suspended, &mut self.woken);
        self.registers.update_copies(self.cost, reg, kind, p, |q| {
            if mem::take(&mut suspended[q]) {
                woken.push(q);
            }
        });
        if kind == Kind::Read {
            self.tape.log.push(reg);
            if let Some((_, seen)) = self.victim.as_mut().filter(|(victim, _)| *victim == p) {
                seen.insert(reg, before);
            }
        } else {
            self.tape.log.clear();
            (self.tape.overtaken, self.fresh_from) = (0, 0);
            self.tape.writes += 1;
        }
        self.tape.words.push(returned);
        self.at += 1;
        Ok(returned)
    }

    /// Suspends the process if further iterations of its loop would be the same; returns whether it did.
    ///
    /// The iteration wrote nothing, read the registers in the log from `log` on, and left the loop's state unchanged.
    /// It repeats until one of these registers is written, so the process is not run until then.
    fn suspend(&mut self, log: usize) -> bool {
        let (p, read) = (self.running, &self.tape.log[log..]);
        // A register that was read in this very step cannot have been written since.
        let old = &read[..self.fresh_from.saturating_sub(log).min(read.len())];
        let has_seen_two_values = self.tape.overtaken as usize > log;
        if read.is_empty() || has_seen_two_values || !old.iter().all(|&reg| self.registers.has_copy(reg, p)) {
            return false;
        }
        self.tape.spins_remotely |= self.cost == Cost::Dsm && !read.iter().all(|&reg| self.registers.is_home(reg, p));
        self.suspended[p] = true;
        self.stopped = Stopped::Suspended;
        true
    }
}

/// The value that an access writes, if it writes, and the value that it returns.
struct Change {
    written: u64,
    returned: u64,
}
