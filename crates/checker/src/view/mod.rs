//! A memory that replays a process from its history.
//!
//! A stack frame can be neither copied nor hashed, but a process is deterministic: its local state is a function of
//! what its accesses returned. So the checker keeps that list, the *history*. To take a step it executes the section
//! from its start, answers the recorded accesses from the history, performs one more, and halts the process at the
//! next.
//!
//! A finished loop turn is replaced in the history by the loop's state, a finished loop by its result: a busy-wait
//! returns to the same history.
//!
//! `memory.rs` has the accesses.
mod memory;

use std::panic::Location;

use doorway_memory::{Pid, Sink, Source, Value};

use crate::{
    access::{Access, Op, line_of},
    error::Fault,
    model::Setting,
    program::Section,
    registers::{Handle, Kind},
};

/// With more accesses than this in one section, a loop is not written with `turns`.
const ACCESS_LIMIT: usize = 1_000;
/// With more turns than this without an access, a loop does not end.
const IDLE_LIMIT: usize = 1_000_000;
/// With more words than this saved in turns without an access, the state of a loop grows for ever.
const IDLE_WORDS_LIMIT: usize = 20_000_000;
/// With more accesses than this after a halt, a process ignores halts for ever.
const DEAF_LIMIT: usize = 10_000;

/// One entry of a history.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word {
    pub(crate) bits: u64,
    pub(crate) what: What,
    pub(crate) kind: Kind,
}

impl Word {
    /// An entry of a saved state.
    pub(crate) fn saved<T: Value>(value: T) -> Word {
        Word { bits: value.to_word(), what: What::Saved, kind: Kind::of::<T>() }
    }
}

/// The origin of an entry: a replay that comes to another access there is not deterministic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum What {
    /// A loop continues; its state follows.
    Continued,
    /// A loop has ended; its result follows.
    Broken,
    /// A value of a saved state.
    Saved,
    /// The result of an access.
    Access(Op, u32),
}

/// How far a process is executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    /// Up to the next access, without performing it.
    Look,
    /// Performs one access on a register holding this word, then up to the next.
    Step(u64),
    /// The access of this step has been performed.
    Stepped,
}

/// The memory as the process under check sees it: a replay of its history, and one more access.
#[derive(Debug)]
pub struct View {
    pub(crate) history: Vec<Word>,
    pub(crate) at: usize,
    mode: Mode,
    pub(crate) setting: Setting,
    halted: bool,
    line: Option<&'static str>,
    /// The access before which the process was halted (looking), or which it performed (stepping).
    pub(crate) access: Option<Access>,
    /// What the accessed register holds after the step.
    pub(crate) written: u64,
    pub(crate) fault: Option<Fault>,
    /// The number of the process: a linked register remembers which processes have loaded it.
    pub(crate) process: Pid,
    /// The section of the process, for messages.
    pub(crate) section: Section,
    /// The section in which it was halted.
    halted_in: Option<Section>,
    /// The line of the latest access it came to before the halt.
    latest: Option<(Option<&'static str>, &'static Location<'static>)>,
    /// The space of its registers, if known.
    pub(crate) space: Option<u64>,
    /// Whether the process has been reaped while it lives: it can still read, but its next write tells it.
    pub(crate) expired: bool,
    /// Whether it has been told.
    pub(crate) told: bool,
    /// Halts the process at each new turn of a loop over this many.
    pub(crate) pauses: Option<usize>,
    /// Whether it was halted at a new turn.
    pub(crate) paused: bool,
    /// Whether the history is not the given one any more.
    is_changed: bool,
    idle: usize,
    idle_words: usize,
    deaf: usize,
}

/// The error with which the checker halts a process.
#[derive(Debug)]
pub struct Halt(());

impl View {
    /// A view for the next access, without performing it.
    pub(crate) fn look(history: Vec<Word>, setting: Setting) -> View {
        View::new(history, Mode::Look, setting)
    }

    /// A view that performs the next access on a register that holds `value`.
    pub(crate) fn step(history: Vec<Word>, setting: Setting, value: u64) -> View {
        View::new(history, Mode::Step(value), setting)
    }

    fn new(history: Vec<Word>, mode: Mode, setting: Setting) -> View {
        View {
            history,
            at: 0,
            mode,
            setting,
            halted: false,
            line: None,
            access: None,
            written: 0,
            fault: None,
            process: 0,
            section: Section::Remainder,
            halted_in: None,
            latest: None,
            space: None,
            expired: false,
            told: false,
            pauses: None,
            paused: false,
            is_changed: false,
            idle: 0,
            idle_words: 0,
            deaf: 0,
        }
    }

    /// Whether the process was halted.
    pub(crate) fn halted(&self) -> bool {
        self.halted
    }

    /// The section and line of the latest access; of a halted process, those where it was halted.
    pub(crate) fn whereabouts(&self) -> (Section, String) {
        let line = self.latest.map_or(String::new(), |(line, place)| line_of(line, place));
        (self.halted_in.unwrap_or(self.section), line)
    }

    /// Forgets the history after the first `len` entries.
    pub(crate) fn forget_after(&mut self, len: usize) {
        self.history.truncate(len);
        self.at = len;
        self.is_changed = true;
    }

    fn fault(&mut self, fault: Fault) -> Halt {
        self.fault.get_or_insert(fault);
        self.halt()
    }

    fn halt(&mut self) -> Halt {
        if self.halted {
            self.deaf += 1;
            self.fault.get_or_insert(Fault::SwallowedHalt);
            if self.deaf > DEAF_LIMIT {
                // Only unwinding ends a process that ignores halts.
                std::panic::resume_unwind(Box::new(Fault::SwallowedHalt));
            }
        }
        self.halted_in.get_or_insert(self.section);
        self.halted = true;
        Halt(())
    }

    fn push(&mut self, what: What, bits: u64, kind: Kind) {
        self.history.push(Word { bits, what, kind });
        self.at = self.history.len();
        self.idle_words += 1;
        self.is_changed = true;
    }

    fn mark(&mut self, what: What) {
        self.push(what, u64::from(what == What::Broken), Kind::of::<bool>());
    }

    /// A turn of a loop over `n` begins. If it is a new one, and the view pauses there, the process is halted. A turn with
    /// which the given history ends is not new.
    fn begin_turn(&mut self, n: usize) -> Result<(), Halt> {
        if self.pauses != Some(n) || self.halted || !self.is_changed || self.at < self.history.len() {
            return Ok(());
        }
        self.paused = true;
        Err(self.halt())
    }

    /// The word of a value that is stored; it is a fault if the word is that of another value.
    fn word_of<T: Value>(&mut self, value: T) -> u64 {
        let word = value.to_word();
        if T::of_word(word) != value {
            self.fault.get_or_insert(Fault::NotAWord(format!("`{value:?}`")));
        }
        word
    }

    #[track_caller]
    fn access<T: Value, R: Value>(
        &mut self,
        op: Op,
        reg: &Handle<T>,
        operands: [u64; 2],
        effect: impl FnOnce(u64) -> (u64, R),
    ) -> Result<R, Halt> {
        self.own(reg)?;
        self.perform(op, reg.register, operands, effect)
    }

    /// Refuses a register of another space.
    fn own<T>(&mut self, reg: &Handle<T>) -> Result<(), Halt> {
        match self.space {
            Some(space) if space != reg.space => Err(self.fault(Fault::ForeignRegister)),
            _ => Ok(()),
        }
    }

    #[track_caller]
    fn perform<R: Value>(
        &mut self,
        op: Op,
        reg: u32,
        operands: [u64; 2],
        effect: impl FnOnce(u64) -> (u64, R),
    ) -> Result<R, Halt> {
        let line = self.line.take();
        self.access_at(Location::caller(), line, op, reg, operands, effect)
    }

    fn access_at<R: Value>(
        &mut self,
        place: &'static Location<'static>,
        line: Option<&'static str>,
        op: Op,
        reg: u32,
        operands: [u64; 2],
        effect: impl FnOnce(u64) -> (u64, R),
    ) -> Result<R, Halt> {
        if self.halted {
            return Err(self.halt());
        }
        self.latest = Some((line, place));
        (self.idle, self.idle_words) = (0, 0);
        if let Some(word) = self.history.get(self.at) {
            if word.what != What::Access(op, reg) {
                return Err(self.fault(Fault::Nondeterminism));
            }
            self.at += 1;
            return Ok(R::of_word(word.bits));
        }
        if self.expired && !op.is_read() && self.mode != Mode::Stepped {
            self.told = true;
            return Err(self.halt());
        }
        let mut access = Access { op, reg, operands, line, place, result: 0, before: 0, after: 0 };
        match self.mode {
            Mode::Look => {
                self.access = Some(access);
                Err(self.halt())
            }
            Mode::Stepped => Err(self.halt()),
            Mode::Step(value) => {
                let (written, result) = effect(value);
                access.before = value;
                access.after = written;
                access.result = result.to_word();
                self.access = Some(access);
                self.written = written;
                self.mode = Mode::Stepped;
                self.push(What::Access(op, reg), result.to_word(), Kind::of::<R>());
                if self.history.iter().filter(|word| matches!(word.what, What::Access(..))).count() > ACCESS_LIMIT {
                    return Err(self.fault(Fault::EndlessAccesses(ACCESS_LIMIT)));
                }
                Ok(result)
            }
        }
    }
}

impl Sink for View {
    fn put<T: Value>(&mut self, value: T) {
        let word = self.word_of(value);
        self.push(What::Saved, word, Kind::of::<T>());
    }
}

impl Source for View {
    fn take<T: Value>(&mut self) -> T {
        match self.history.get(self.at) {
            Some(word) if word.what == What::Saved => {
                self.at += 1;
                T::of_word(word.bits)
            }
            _ => {
                let _ = self.fault(Fault::Nondeterminism);
                T::of_word(0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use doorway_memory::conformance::{self, Harness};
    use doorway_memory::{Local, Memory, Space};

    use super::*;
    use crate::registers::Registers;

    /// Executes a body access by access, each time from the start.
    struct Replaying;

    impl Harness for Replaying {
        type Space = Registers;

        fn complete<A, R: Local>(
            &self,
            make: impl Fn(&mut Registers) -> A,
            body: impl Fn(&A, &mut View) -> Result<R, Halt>,
        ) -> R {
            let mut registers = Registers::default();
            let made = make(&mut registers);
            let mut words: Vec<u64> = registers.list.iter().map(|register| register.init).collect();
            let mut history = Vec::new();
            loop {
                let mut looking = View::look(history.clone(), Setting::PLAIN);
                if let Ok(result) = body(&made, &mut looking) {
                    return result;
                }
                let reg = looking.access.expect("it stopped before an access").reg as usize;
                let mut stepping = View::step(history, Setting::PLAIN, words[reg]);
                let result = body(&made, &mut stepping);
                words[reg] = stepping.written;
                assert_eq!(stepping.fault, None);
                if let Ok(result) = result {
                    return result;
                }
                history = stepping.history;
            }
        }
    }

    #[test]
    fn conforms_to_the_interface_of_memory() {
        conformance::all(&Replaying);
    }

    #[test]
    fn accesses_are_printed_as_in_papers() {
        let mut registers = Registers::default();
        let tail = registers.shared("tail", None::<usize>);
        let text = |access: &dyn Fn(&mut View)| {
            let mut view = View::step(Vec::new(), Setting::PLAIN, 0);
            access(&mut view);
            view.access.unwrap().text(&registers.list)
        };
        assert_eq!(text(&|m| drop(m.read(&tail))), "tail = ⊥");
        assert_eq!(text(&|m| drop(m.write(&tail, Some(2)))), "tail := 2");
        assert_eq!(text(&|m| drop(m.swap(&tail, Some(2)))), "swap(tail, 2) = ⊥");
        assert_eq!(text(&|m| drop(m.compare_swap(&tail, None, Some(1)))), "compare-and-swap(tail, ⊥, 1) = true");
    }
}
