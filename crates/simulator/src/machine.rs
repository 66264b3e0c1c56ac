//! The memory of a simulated run.
//!
//! A process is stopped before each access by an error that its source passes on, and goes on later where it was: `turns`
//! tells the machine what a loop carries from turn to turn, so to go on a process is run from the start of its section,
//! enters each of its loops at the turn it was in, is told again what it has seen in that turn, and is there. A step costs
//! as much as the turns it is in are long, not as the passage is; and a process that is given up is simply forgotten.
use std::{
    marker::PhantomData,
    mem,
    ops::ControlFlow::{self, Break, Continue},
};

use doorway_memory::{Cost, Home, Local, Memory, Name, Number, Pid, Sink, Source, Space, Value};
use rustc_hash::FxHashMap;

use crate::registers::{Kind, Registers};

/// The memory of a simulated run, and where its registers come from.
///
/// ```
/// use doorway_memory::{Cost, Memory, Space};
/// use doorway_simulator::Machine;
///
/// let mut machine = Machine::new(Cost::Dsm);
/// let flag = machine.shared("flag", false);
/// assert!(machine.write(&flag, true).is_err(), "a process is stopped before it makes an access");
/// ```
pub struct Machine {
    cost: Cost,
    registers: Registers,
    /// The process that is running.
    running: Pid,
    /// What it has seen.
    pub(crate) tape: Tape,
    /// How much of that it has been told again.
    at: usize,
    permit: Permit,
    /// Whether it may go on, after an access, through reads that cost nothing.
    pub(crate) runs_on: bool,
    /// How much of the tape's log is of this step.
    fresh_from: usize,
    /// Why it stopped.
    stopped: Stopped,
    /// Who waits for a change of something it has a copy of.
    asleep: Vec<bool>,
    /// Who has been woken since this was last looked at.
    pub(crate) woken: Vec<Pid>,
    /// What one process has seen last, in its passage, of each register: for who wants to fool it.
    fooled: Option<(Pid, FxHashMap<u32, u64>)>,
    /// All accesses so far.
    pub(crate) accesses: u64,
    scratch: Vec<u64>,
}

/// A register of a [`Machine`].
///
/// ```
/// use doorway_memory::{Cost, Space};
/// use doorway_simulator::{Machine, Reg};
/// let flag: Reg<bool> = Machine::new(Cost::Dsm).shared("flag", false);
/// ```
#[derive(Debug)]
pub struct Reg<T>(u32, PhantomData<fn() -> T>);

/// The process stops here.
///
/// ```
/// # use doorway_memory::Memory;
/// fn stopped(result: Result<(), <doorway_simulator::Machine as Memory>::Halt>) -> bool {
///     result == Err(doorway_simulator::Halt)
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Halt;

/// Why a process has stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stopped {
    /// It is about to make an access.
    Before(Access),
    /// Another turn would be as the last one, until something it has read is written.
    Asleep,
}

/// What a process may do now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Permit {
    /// Make an access.
    One,
    /// Make a read that costs nothing.
    Free,
    /// Come to where it is, and stop.
    None,
}

/// An access that is about to happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Access {
    pub(crate) reg: u32,
    /// As it would be now.
    pub(crate) kind: Kind,
}

/// What a process has seen in its section, and what that has cost.
#[derive(Default, Debug)]
pub(crate) struct Tape {
    /// What its accesses returned; for a loop that has ended [`ENDED`] and what it ended with, for one that has not its
    /// turn's [`Header`] and state.
    words: Vec<u64>,
    /// What it has read since it last wrote.
    log: Vec<u32>,
    /// How often it has written: tells what is logged of a turn from what was logged before.
    writes: u32,
    /// Remote references of this passage.
    pub(crate) remote: u64,
    /// Whether it has waited where each look is remote: there is no bound then.
    pub(crate) endless: bool,
}

impl Tape {
    /// At the start of a section.
    pub(crate) fn rewind(&mut self) {
        self.words.clear();
        self.log.clear();
        self.writes = 0;
    }
}

/// In place of a loop that has ended. A header is never 0.
const ENDED: u64 = 0;

/// When a turn started: after so many writes, with so much in the log.
#[derive(Clone, Copy)]
struct Header {
    writes: u32,
    log: u32,
}

impl Header {
    fn word(self) -> u64 {
        u64::from(self.writes) << 32 | u64::from(self.log) << 1 | 1
    }
    fn of_word(word: u64) -> Header {
        Header { writes: (word >> 32) as u32, log: (word as u32) >> 1 }
    }
}

impl Machine {
    /// A machine without registers.
    ///
    /// ```
    /// use doorway_memory::Cost;
    /// let machine = doorway_simulator::Machine::new(Cost::Dsm);
    /// ```
    #[must_use]
    pub fn new(cost: Cost) -> Machine {
        Machine {
            cost,
            registers: Registers::new(),
            running: 0,
            tape: Tape::default(),
            at: 0,
            permit: Permit::None,
            runs_on: false,
            fresh_from: 0,
            stopped: Stopped::Asleep,
            asleep: Vec::new(),
            woken: Vec::new(),
            fooled: None,
            accesses: 0,
            scratch: Vec::new(),
        }
    }

    /// For so many processes, one of which may be one to fool.
    pub(crate) fn prepare(&mut self, n: usize, fooled: Option<Pid>) {
        self.asleep = vec![false; n];
        self.fooled = fooled.map(|p| (p, FxHashMap::default()));
    }

    /// Process `p` runs now; its tape is in.
    pub(crate) fn resume(&mut self, p: Pid, permit: Permit) {
        self.running = p;
        self.permit = permit;
        self.fresh_from = self.tape.log.len();
    }

    /// A section starts, or is gone on with.
    pub(crate) fn enter_section(&mut self) {
        self.at = 0;
    }

    /// A section has ended.
    pub(crate) fn leave_section(&mut self) {
        self.tape.rewind();
        self.fresh_from = 0;
    }

    /// The running process is inside. It does not leave unasked.
    pub(crate) fn stay(&mut self) {
        self.permit = Permit::None;
    }

    /// A passage has ended. Nobody starts another one unasked.
    pub(crate) fn leave_passage(&mut self) {
        self.stay();
        self.tape.remote = 0;
        self.tape.endless = false;
        if let Some((_, seen)) = self.fooled.as_mut().filter(|(fooled, _)| *fooled == self.running) {
            seen.clear();
        }
    }

    pub(crate) fn stopped(&self) -> Stopped {
        self.stopped
    }

    /// Whether that access would be remote for `p`.
    pub(crate) fn is_remote(&self, access: Access, p: Pid) -> bool {
        self.registers.is_remote(self.cost, access.reg, access.kind, p)
    }

    /// How many copies that access would take from others.
    pub(crate) fn harm(&self, access: Access, p: Pid) -> usize {
        match access.kind {
            Kind::Read => 0,
            Kind::Write | Kind::Miss => self.registers.copies_of_others(access.reg, p),
        }
    }

    /// Whether the one to fool would see there what it saw last.
    pub(crate) fn looks_the_same(&self, access: Access) -> bool {
        let seen = self.fooled.as_ref().and_then(|(_, seen)| seen.get(&access.reg));
        seen.is_none_or(|&word| word == self.registers.word(access.reg))
    }
}

impl Machine {
    /// An access: what it returned, if it is one the process has made; or else it is made now, or the process stops.
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
            Permit::One => self.permit = if self.runs_on { Permit::Free } else { Permit::None },
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
        let (asleep, woken) = (&mut self.asleep, &mut self.woken);
        self.registers.touch(self.cost, reg, kind, p, |q| {
            if mem::take(&mut asleep[q]) {
                woken.push(q);
            }
        });
        if kind == Kind::Read {
            self.tape.log.push(reg);
            if let Some((_, seen)) = self.fooled.as_mut().filter(|(fooled, _)| *fooled == p) {
                seen.insert(reg, before);
            }
        } else {
            self.tape.log.clear();
            self.fresh_from = 0;
            self.tape.writes += 1;
        }
        self.tape.words.push(returned);
        self.at += 1;
        Ok(returned)
    }

    fn header(&self) -> Header {
        Header { writes: self.tape.writes, log: self.tape.log.len() as u32 }
    }

    /// Whether a turn that read only, from `log` on, and leaves the loop as it was would go the same way again and again:
    /// nothing it read has been written since. The process need not run until something is.
    fn falls_asleep(&mut self, log: usize) -> bool {
        let (p, read) = (self.running, &self.tape.log[log..]);
        // What was read in this very step cannot have been written since.
        let old = &read[..self.fresh_from.saturating_sub(log).min(read.len())];
        if read.is_empty() || !old.iter().all(|&reg| self.registers.has_copy(reg, p)) {
            return false;
        }
        self.tape.endless |= self.cost == Cost::Dsm && !read.iter().all(|&reg| self.registers.is_home(reg, p));
        self.asleep[p] = true;
        self.stopped = Stopped::Asleep;
        true
    }
}

/// What an access writes, if it does, and returns.
struct Change {
    written: u64,
    returned: u64,
}

impl Space for Machine {
    type Mem = Machine;

    fn register<T: Value>(&mut self, _: Name, home: Home, init: T) -> Reg<T> {
        Reg(self.registers.add(home, init.to_word()), PhantomData)
    }
}

impl Memory for Machine {
    type Halt = Halt;
    type Reg<T: Value> = Reg<T>;

    #[inline]
    fn read<T: Value>(&mut self, reg: &Reg<T>) -> Result<T, Halt> {
        self.access(reg.0, |_| Kind::Read, |word| Change { written: word, returned: word }).map(T::of_word)
    }

    #[inline]
    fn test<T: Value>(&mut self, reg: &Reg<T>, holds: impl FnOnce(T) -> bool) -> Result<bool, Halt> {
        let change = |word| Change { written: word, returned: u64::from(holds(T::of_word(word))) };
        self.access(reg.0, |_| Kind::Read, change).map(|word| word == 1)
    }

    #[inline]
    fn write<T: Value>(&mut self, reg: &Reg<T>, value: T) -> Result<(), Halt> {
        self.access(reg.0, |_| Kind::Write, |_| Change { written: value.to_word(), returned: 0 }).map(|_| ())
    }

    #[inline]
    fn fetch_add<T: Number>(&mut self, reg: &Reg<T>, by: T) -> Result<T, Halt> {
        let sum = |word: u64| T::of_word(word.wrapping_add(by.to_word())).to_word();
        self.access(reg.0, |_| Kind::Write, |word| Change { written: sum(word), returned: word }).map(T::of_word)
    }

    #[inline]
    fn swap<T: Value>(&mut self, reg: &Reg<T>, value: T) -> Result<T, Halt> {
        self.access(reg.0, |_| Kind::Write, |word| Change { written: value.to_word(), returned: word }).map(T::of_word)
    }

    #[inline]
    fn compare_swap<T: Value>(&mut self, reg: &Reg<T>, old: T, new: T) -> Result<bool, Halt> {
        let hits = |word| T::of_word(word) == old;
        let kind = |word| if hits(word) { Kind::Write } else { Kind::Miss };
        let change = |word| Change { written: new.to_word(), returned: u64::from(hits(word)) };
        self.access(reg.0, kind, change).map(|word| word == 1)
    }

    #[inline]
    fn update<T: Value>(&mut self, reg: &Reg<T>, action: impl Fn(T) -> T) -> Result<T, Halt> {
        let change = |word| Change { written: action(T::of_word(word)).to_word(), returned: word };
        self.access(reg.0, |_| Kind::Write, change).map(T::of_word)
    }

    fn fence(&mut self) -> Result<(), Halt> {
        Ok(())
    }

    fn barrier(&mut self) -> Result<(), Halt> {
        Ok(())
    }

    fn turns<S: Local, B: Local>(
        &mut self,
        mut state: S,
        body: impl Fn(&mut Self, S) -> Result<ControlFlow<B, S>, Halt>,
    ) -> Result<B, Halt> {
        let start = self.at;
        match self.tape.words.get(start) {
            Some(&ENDED) => {
                self.at += 1;
                return Ok(B::load(&mut Replay(self)));
            }
            Some(_) => {
                self.at += 1;
                state = S::load(&mut Replay(self));
            }
            None => {
                let header = self.header().word();
                self.tape.words.push(header);
                state.save(&mut Words(&mut self.tape.words));
                self.at = self.tape.words.len();
            }
        }
        loop {
            match body(self, state)? {
                Break(end) => {
                    let words = &mut self.tape.words;
                    words.truncate(start);
                    words.push(ENDED);
                    end.save(&mut Words(words));
                    self.at = words.len();
                    return Ok(end);
                }
                Continue(next) => {
                    let mut saved = mem::take(&mut self.scratch);
                    saved.clear();
                    next.save(&mut Words(&mut saved));
                    let header = Header::of_word(self.tape.words[start]);
                    // What is saved says itself where it ends, so a prefix is enough.
                    let is_same = self.tape.words[start + 1..].starts_with(&saved);
                    let is_spin = is_same && header.writes == self.tape.writes;
                    let sleeps = is_spin && self.falls_asleep(header.log as usize);
                    if is_spin {
                        // The next turn reads it all again.
                        self.tape.log.truncate(header.log as usize);
                        self.fresh_from = self.fresh_from.min(header.log as usize);
                    }
                    let header = self.header().word();
                    let words = &mut self.tape.words;
                    words.truncate(start);
                    words.push(header);
                    words.extend_from_slice(&saved);
                    self.at = words.len();
                    self.scratch = saved;
                    if sleeps {
                        return Err(Halt);
                    }
                    state = next;
                }
            }
        }
    }
}

struct Words<'a>(&'a mut Vec<u64>);

impl Sink for Words<'_> {
    #[inline]
    fn put<T: Value>(&mut self, value: T) {
        self.0.push(value.to_word());
    }
}

struct Replay<'a>(&'a mut Machine);

impl Source for Replay<'_> {
    #[inline]
    fn take<T: Value>(&mut self) -> T {
        let word = self.0.tape.words[self.0.at];
        self.0.at += 1;
        T::of_word(word)
    }
}

#[cfg(test)]
mod tests {
    use doorway_memory::{
        FailedCas,
        conformance::{self, Harness},
    };

    use super::*;

    /// Stops before every access, so that everything is told again as often as it can be.
    struct OneByOne;

    impl Harness for OneByOne {
        type Space = Machine;

        fn complete<A, R: Local>(
            &self,
            make: impl Fn(&mut Machine) -> A,
            body: impl Fn(&A, &mut Machine) -> Result<R, Halt>,
        ) -> R {
            let mut machine = Machine::new(Cost::Cc(FailedCas::Counts));
            let registers = make(&mut machine);
            machine.prepare(1, None);
            loop {
                machine.resume(0, Permit::One);
                machine.enter_section();
                if let Ok(result) = body(&registers, &mut machine) {
                    return result;
                }
            }
        }
    }

    #[test]
    fn the_machine_conforms() {
        conformance::all(&OneByOne);
    }

    /// Runs a body as process 0 until it stops for good, or `steps` accesses are made; how it stopped then.
    fn run(machine: &mut Machine, steps: usize, body: impl Fn(&mut Machine) -> Result<(), Halt>) -> Option<Stopped> {
        for _ in 0..steps {
            machine.resume(0, Permit::One);
            machine.enter_section();
            if body(machine).is_ok() {
                return None;
            }
            if machine.stopped() == Stopped::Asleep {
                break;
            }
        }
        Some(machine.stopped())
    }

    #[test]
    fn who_would_look_in_vain_sleeps_until_what_it_saw_is_written() {
        let mut machine = Machine::new(Cost::Cc(FailedCas::Counts));
        let flags = machine.array("flag", 3, false);
        machine.prepare(2, None);
        let wait = |m: &mut Machine| m.spin(|m| m.all(3, |m, i| m.test(&flags[i], |up| i < 2 || up)));
        assert_eq!(run(&mut machine, 100, wait), Some(Stopped::Asleep));
        assert_eq!((machine.accesses, machine.tape.remote), (3, 3));

        let mine = mem::take(&mut machine.tape);
        machine.resume(1, Permit::One);
        machine.enter_section();
        assert_eq!(machine.write(&flags[0], false), Ok(()));
        assert_eq!(machine.woken, [0], "it must pay for looking, even at what is as it was");

        machine.tape = mine;
        assert_eq!(run(&mut machine, 100, wait), Some(Stopped::Asleep));
        assert_eq!((machine.accesses, machine.tape.remote), (3 + 1 + 3, 3 + 1));
    }

    #[test]
    fn waiting_elsewhere_than_at_home_is_endless_without_caches() {
        for (home, endless) in [(Home::Of(0), false), (Home::Of(1), true), (Home::Nobody, true)] {
            let mut machine = Machine::new(Cost::Dsm);
            let flag = machine.register(Name::new("flag"), home, false);
            machine.prepare(2, None);
            let stopped = run(&mut machine, 100, |m| m.spin(|m| m.test(&flag, |up| up)));
            assert_eq!((stopped, machine.tape.endless), (Some(Stopped::Asleep), endless), "{home:?}");
        }
    }

    #[test]
    fn a_turn_that_writes_or_changes_what_it_carries_is_not_waiting() {
        let mut machine = Machine::new(Cost::Dsm);
        let (x, flag) = (machine.shared("x", 0_u64), machine.shared("flag", false));
        machine.prepare(1, None);
        let retry = |m: &mut Machine| m.spin(|m| Ok(m.fetch_add(&x, 1)? == 10 || m.test(&flag, |up| up)?));
        assert_eq!(run(&mut machine, 100, retry), None);
        machine.leave_section();
        let count = |m: &mut Machine| {
            m.turns(0_u64, |m, i| Ok(if m.test(&flag, |up| up)? || i == 10 { Break(()) } else { Continue(i + 1) }))
        };
        assert_eq!(run(&mut machine, 100, count), None);
    }

    #[test]
    fn what_costs_nothing_is_done_in_one_go_if_one_may() {
        let mut machine = Machine::new(Cost::Cc(FailedCas::Counts));
        let x = machine.shared("x", 0_u64);
        machine.prepare(1, None);
        machine.runs_on = true;
        let body = |m: &mut Machine| m.fold(5, (), |m, (), _| m.test(&x, |_| true).map(|_| ()));
        machine.resume(0, Permit::One);
        machine.enter_section();
        assert_eq!(body(&mut machine), Ok(()), "the first is remote, the others are not");
        assert_eq!(machine.tape.remote, 1);
    }
}
