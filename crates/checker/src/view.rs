//! A memory that re-runs a process from what it has seen.
//!
//! A stack frame can be neither copied nor hashed, but a process is deterministic: its local state is a function of what its
//! accesses returned. So the checker keeps that list, the *history*. To take a step it runs the section from its start,
//! answers the recorded accesses from the history, performs one new access, and stops the process at the next.
//!
//! A finished loop turn is replaced in the history by the loop's state, a finished loop by its result: a busy-wait comes
//! back to the very same history.
use std::{
    fmt,
    marker::PhantomData,
    ops::ControlFlow::{self, Break, Continue},
    panic::{AssertUnwindSafe, Location, catch_unwind},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use doorway_memory::{Home, Linked, Local, Memory, Name, Narrow, Number, Pid, Sink, Source, Space, Ticket, Value};

use crate::{error::Fault, model::Fences, program::Section};

/// More accesses than this in one section without a `turns` means the loop is not a `turns`.
const ACCESS_LIMIT: usize = 1_000;
/// More turns than this without an access means they never end.
const IDLE_LIMIT: usize = 1_000_000;
/// So do turns that have saved more words than this: their state grows.
const IDLE_WORDS_LIMIT: usize = 20_000_000;
/// A process that goes on this often after being told to stop will never stop.
const DEAF_LIMIT: usize = 10_000;

/// The registers of the algorithm under check, in the order they were made.
#[derive(Debug)]
pub struct Registers {
    pub(crate) list: Vec<Register>,
    /// Tells this space from all others.
    pub(crate) space: u64,
}

impl Default for Registers {
    fn default() -> Registers {
        static SPACES: AtomicU64 = AtomicU64::new(0);
        // ORDERING: a number nobody else gets; nothing is published with it.
        Registers { list: Vec::new(), space: SPACES.fetch_add(1, Relaxed) }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Register {
    pub(crate) name: Name,
    pub(crate) home: Home,
    pub(crate) init: u64,
    pub(crate) kind: Kind,
}

impl Register {
    /// A register of the checker's own.
    pub(crate) fn counter(name: &'static str) -> Register {
        Register { name: Name::new(name), home: Home::Nobody, init: 0, kind: Kind::of::<u64>() }
    }
}

/// What the checker needs to know of a value's type once the type itself is gone.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) renumber: fn(u64, &mut dyn FnMut(Ticket) -> Ticket) -> u64,
    pub(crate) show: fn(u64) -> String,
    pub(crate) domain: fn(&[Ticket]) -> Option<Vec<u64>>,
}

impl Kind {
    fn of<T: Value>() -> Kind {
        struct Show<T>(T);
        impl<T: Value> fmt::Display for Show<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.show(f)
            }
        }
        Kind {
            renumber: |word, f| T::of_word(word).map_tickets(f).to_word(),
            show: |word| Show(T::of_word(word)).to_string(),
            domain: |tickets| Some(T::domain(tickets)?.into_iter().map(T::to_word).collect()),
        }
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Kind")
    }
}

/// A register of the algorithm under check.
#[derive(Debug)]
pub struct Handle<T> {
    register: u32,
    space: u64,
    of: PhantomData<fn() -> T>,
}

impl Space for Registers {
    type Mem = View;
    fn register<T: Value>(&mut self, name: Name, home: Home, init: T) -> Handle<T> {
        self.list.push(Register { name, home, init: init.to_word(), kind: Kind::of::<T>() });
        Handle { register: self.list.len() as u32 - 1, space: self.space, of: PhantomData }
    }
}

/// One entry of a history.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word {
    pub(crate) bits: u64,
    pub(crate) what: What,
    pub(crate) kind: Kind,
}

/// Where in the program an entry was made: a replay that meets another access there is not deterministic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum What {
    /// A loop goes on; its state follows.
    Continued,
    /// A loop has ended; its result follows.
    Broken,
    /// A value of a saved state.
    Saved,
    /// The result of an access.
    Access(Op, u32),
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Op {
    Read,
    Test,
    Write,
    FetchAdd,
    Swap,
    CompareSwap,
    Update,
    /// A read, except that the register remembers who has loaded it.
    LoadLinked,
    StoreConditional,
    /// Accesses no register.
    Fence,
    Barrier,
}

/// In place of a register's number, where there is none.
const NO_REGISTER: u32 = u32::MAX;

/// An access, about to happen or done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) op: Op,
    pub(crate) reg: u32,
    pub(crate) operands: [u64; 2],
    pub(crate) line: Option<&'static str>,
    pub(crate) place: &'static Location<'static>,
    /// What the access returned, once it is done.
    pub(crate) result: u64,
    /// What the register held before, once it is done.
    pub(crate) before: u64,
    /// What it holds now, once it is done.
    pub(crate) after: u64,
}

impl Op {
    pub(crate) fn is_read(self) -> bool {
        matches!(self, Op::Read | Op::Test | Op::LoadLinked)
    }

    /// What it asks of a memory, as the catalogue says it.
    pub(crate) fn primitive(self) -> &'static str {
        match self {
            Op::Read | Op::Test => "read",
            Op::Write => "write",
            Op::FetchAdd => "fetch-and-add",
            Op::Swap => "swap",
            Op::CompareSwap => "compare-and-swap",
            Op::Update => "update",
            Op::LoadLinked | Op::StoreConditional => "LL/SC",
            Op::Fence => "fence",
            Op::Barrier => "barrier",
        }
    }

    /// Whether a safe register can do it.
    pub(crate) fn is_safe(self) -> bool {
        matches!(self, Op::Read | Op::Test | Op::Write)
    }

    pub(crate) fn is_fence(self) -> bool {
        matches!(self, Op::Fence | Op::Barrier)
    }

    /// Whether one's own earlier writes must be visible first.
    pub(crate) fn drains(self) -> bool {
        !matches!(self, Op::Read | Op::Test | Op::LoadLinked | Op::Write)
    }
}

impl Access {
    pub(crate) fn same_as(&self, other: &Access) -> bool {
        (self.op, self.reg, self.operands) == (other.op, other.reg, other.operands)
    }

    /// The register, if there is one: a fence has none.
    pub(crate) fn register(&self) -> Option<usize> {
        (!self.op.is_fence()).then_some(self.reg as usize)
    }

    /// Whether it fails if it does not find what it wants.
    pub(crate) fn can_fail(&self) -> bool {
        matches!(self.op, Op::CompareSwap | Op::StoreConditional)
    }

    /// Whether the register, holding `word`, is written: even with what it holds already.
    pub(crate) fn writes(&self, word: u64) -> bool {
        match self.op {
            Op::Read | Op::Test | Op::LoadLinked | Op::Fence | Op::Barrier => false,
            Op::Write | Op::FetchAdd | Op::Swap | Op::Update => true,
            Op::CompareSwap => word == self.operands[0],
            Op::StoreConditional => word & self.operands[1] != 0,
        }
    }

    /// The access as the papers write it: `flag[0] := true`, `flag[1] = false`.
    pub(crate) fn text(&self, registers: &[Register]) -> String {
        let Some(reg) = self.register() else {
            return if self.op == Op::Fence { "fence" } else { "barrier" }.to_string();
        };
        let Register { name, kind, .. } = &registers[reg];
        let show = |word| {
            let shown = catch_unwind(AssertUnwindSafe(|| (kind.show)(word)));
            shown.unwrap_or_else(|_| "(its Debug panics)".to_string())
        };
        let [first, second] = self.operands;
        match self.op {
            Op::Read | Op::Test => format!("{name} = {}", show(self.before)),
            Op::Write => format!("{name} := {}", show(first)),
            Op::FetchAdd => format!("fetch-and-add({name}, {}) = {}", show(first), show(self.before)),
            Op::Swap => format!("swap({name}, {}) = {}", show(first), show(self.before)),
            Op::CompareSwap => {
                format!("compare-and-swap({name}, {}, {}) = {}", show(first), show(second), self.result == 1)
            }
            Op::LoadLinked => format!("LL({name}) = {}", show(self.before)),
            Op::StoreConditional => format!("SC({name}, {}) = {}", show(first), self.result == 1),
            Op::Update => format!("{name} := {} (was {})", show(self.after), show(self.before)),
            Op::Fence | Op::Barrier => unreachable!("it has no register"),
        }
    }

    /// The paper's line, or the line of the source.
    pub(crate) fn line(&self) -> String {
        line_of(self.line, self.place)
    }
}

fn line_of(line: Option<&str>, place: &Location<'_>) -> String {
    match line {
        Some(line) => line.to_string(),
        None => {
            let file = place.file();
            let file = file.rsplit(['/', '\\']).next().unwrap_or(file);
            format!("{file}:{}", place.line())
        }
    }
}

/// How far a run goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    /// Up to the next access, without performing it.
    Look,
    /// Performs one access on a register holding this word, then up to the next.
    Step(u64),
    /// The access of this run has been performed.
    Stepped,
}

/// The memory as the process under check sees it: a replay of its history, and one access more.
#[derive(Debug)]
pub struct View {
    pub(crate) history: Vec<Word>,
    pub(crate) at: usize,
    mode: Mode,
    fences: Fences,
    halted: bool,
    line: Option<&'static str>,
    /// The access the process stopped before (looking), or has performed (stepping).
    pub(crate) access: Option<Access>,
    /// What the accessed register holds now.
    pub(crate) written: u64,
    pub(crate) fault: Option<Fault>,
    /// Who the process is: a register remembers who has loaded it.
    pub(crate) process: Pid,
    /// Where the process is, for messages.
    pub(crate) section: Section,
    /// Where it was when it was told to stop.
    stopped_in: Option<Section>,
    /// The line of the latest access it came to before that.
    latest: Option<(Option<&'static str>, &'static Location<'static>)>,
    /// The space its registers are from, if that is known.
    pub(crate) space: Option<u64>,
    idle: usize,
    idle_words: usize,
    deaf: usize,
}

/// The process stops here; only the checker sees it.
#[derive(Debug)]
pub struct Halt(());

impl View {
    pub(crate) fn look(history: Vec<Word>, fences: Fences) -> View {
        View::new(history, Mode::Look, fences)
    }

    /// Performs the next access on a register that holds `value`.
    pub(crate) fn step(history: Vec<Word>, fences: Fences, value: u64) -> View {
        View::new(history, Mode::Step(value), fences)
    }

    fn new(history: Vec<Word>, mode: Mode, fences: Fences) -> View {
        View {
            history,
            at: 0,
            mode,
            fences,
            halted: false,
            line: None,
            access: None,
            written: 0,
            fault: None,
            process: 0,
            section: Section::Remainder,
            stopped_in: None,
            latest: None,
            space: None,
            idle: 0,
            idle_words: 0,
            deaf: 0,
        }
    }

    /// Whether the process was told to stop.
    pub(crate) fn halted(&self) -> bool {
        self.halted
    }

    /// The section and the line of what the process did last; for one that was told to stop, where it was told so.
    pub(crate) fn whereabouts(&self) -> (Section, String) {
        let line = self.latest.map_or(String::new(), |(line, place)| line_of(line, place));
        (self.stopped_in.unwrap_or(self.section), line)
    }

    /// Forgets the history after the first `len` entries.
    pub(crate) fn forget_after(&mut self, len: usize) {
        self.history.truncate(len);
        self.at = len;
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
                // There is no other way out of a process that does not listen.
                std::panic::resume_unwind(Box::new(Fault::SwallowedHalt));
            }
        }
        self.stopped_in.get_or_insert(self.section);
        self.halted = true;
        Halt(())
    }

    fn push(&mut self, what: What, bits: u64, kind: Kind) {
        self.history.push(Word { bits, what, kind });
        self.at = self.history.len();
        self.idle_words += 1;
    }

    fn mark(&mut self, what: What) {
        self.push(what, u64::from(what == What::Broken), Kind::of::<bool>());
    }

    /// The word of a value that is stored; a value must come out as it went in.
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

impl Memory for View {
    type Halt = Halt;
    type Reg<T: Value> = Handle<T>;

    fn read<T: Value>(&mut self, reg: &Handle<T>) -> Result<T, Halt> {
        self.access(Op::Read, reg, [0; 2], |word| (word, T::of_word(word)))
    }
    fn test<T: Value>(&mut self, reg: &Handle<T>, holds: impl FnOnce(T) -> bool) -> Result<bool, Halt> {
        self.access(Op::Test, reg, [0; 2], |word| (word, holds(T::of_word(word))))
    }
    fn write<T: Value>(&mut self, reg: &Handle<T>, value: T) -> Result<(), Halt> {
        let word = self.word_of(value);
        self.access(Op::Write, reg, [word, 0], |_| (word, ()))?;
        if self.fences == Fences::Everywhere { self.fence() } else { Ok(()) }
    }
    fn fetch_add<T: Number>(&mut self, reg: &Handle<T>, by: T) -> Result<T, Halt> {
        self.access(Op::FetchAdd, reg, [by.to_word(), 0], |word| {
            (T::of_word(word.wrapping_add(by.to_word())).to_word(), T::of_word(word))
        })
    }
    fn swap<T: Value>(&mut self, reg: &Handle<T>, value: T) -> Result<T, Halt> {
        let new = self.word_of(value);
        self.access(Op::Swap, reg, [new, 0], |word| (new, T::of_word(word)))
    }
    fn compare_swap<T: Value>(&mut self, reg: &Handle<T>, old: T, new: T) -> Result<bool, Halt> {
        let (expected, wanted) = (self.word_of(old), self.word_of(new));
        self.access(Op::CompareSwap, reg, [expected, wanted], |word| {
            // Of values, not of words: tickets are seen to be compared.
            if T::of_word(word) == old { (wanted, true) } else { (word, false) }
        })
    }
    fn update<T: Value>(&mut self, reg: &Handle<T>, action: impl Fn(T) -> T) -> Result<T, Halt> {
        let mut lost = None;
        let old = self.access(Op::Update, reg, [0; 2], |word| {
            let new = action(T::of_word(word));
            lost = Some(new).filter(|&new| T::of_word(new.to_word()) != new);
            (new.to_word(), T::of_word(word))
        })?;
        match lost {
            Some(value) => Err(self.fault(Fault::NotAWord(format!("`{value:?}`")))),
            None => Ok(old),
        }
    }

    // A linked register's tag is the set of processes that have loaded it since it was last written: versions would grow for
    // ever. What a process keeps of a load is the value only, so that equal states are equal.
    fn load_linked<T: Narrow>(&mut self, reg: &Handle<Linked<T>>) -> Result<Linked<T>, Halt> {
        let me = 1 << self.process;
        self.access(Op::LoadLinked, reg, [0; 2], |word| {
            let linked = Linked::<T>::of_word(word);
            (linked.with_tag(linked.tag() | me).to_word(), Linked::new(linked.value()))
        })
    }
    fn store_conditional<T: Narrow>(&mut self, reg: &Handle<Linked<T>>, _: Linked<T>, value: T) -> Result<bool, Halt> {
        let me = 1 << self.process << T::BITS;
        let new = Linked::new(value).to_word();
        self.access(
            Op::StoreConditional,
            reg,
            [new, me],
            |word| {
                if word & me != 0 { (new, true) } else { (word, false) }
            },
        )
    }
    fn write_linked<T: Narrow>(&mut self, reg: &Handle<Linked<T>>, value: T) -> Result<(), Halt> {
        self.access(Op::Update, reg, [0; 2], |_| (Linked::new(value).to_word(), ()))
    }
    fn read_linked<T: Narrow>(&mut self, reg: &Handle<Linked<T>>) -> Result<T, Halt> {
        self.access(Op::Read, reg, [0; 2], |word| (word, Linked::<T>::of_word(word).value()))
    }

    fn fence(&mut self) -> Result<(), Halt> {
        if self.fences.count(Location::caller()) {
            return self.perform(Op::Fence, NO_REGISTER, [0; 2], |_| (0, ()));
        }
        self.line = None; // it was the fence's
        Ok(())
    }

    fn barrier(&mut self) -> Result<(), Halt> {
        if self.fences.count(Location::caller()) {
            return self.perform(Op::Barrier, NO_REGISTER, [0; 2], |_| (0, ()));
        }
        self.line = None; // it was the barrier's
        Ok(())
    }

    fn turns<S: Local, B: Local>(
        &mut self,
        state: S,
        body: impl Fn(&mut Self, S) -> Result<ControlFlow<B, S>, Halt>,
    ) -> Result<B, Halt> {
        if self.halted {
            return Err(self.halt());
        }
        let start = self.at;
        let mut state = match self.history.get(start).map(|word| word.what) {
            None => {
                self.mark(What::Continued);
                state.save(self);
                state
            }
            Some(What::Continued) => {
                self.at += 1;
                S::load(self)
            }
            Some(What::Broken) => {
                self.at += 1;
                return Ok(B::load(self));
            }
            Some(_) => return Err(self.fault(Fault::Nondeterminism)),
        };
        loop {
            self.idle += 1;
            if self.idle > IDLE_LIMIT || self.idle_words > IDLE_WORDS_LIMIT {
                return Err(self.fault(Fault::EndlessTurns(self.idle - 1)));
            }
            let turn = body(self, state)?;
            if self.halted {
                return Err(self.halt());
            }
            self.forget_after(start);
            match turn {
                Break(result) => {
                    self.mark(What::Broken);
                    result.save(self);
                    return Ok(result);
                }
                Continue(next) => {
                    self.mark(What::Continued);
                    next.save(self);
                    state = next;
                }
            }
        }
    }

    fn until<T: Value>(&mut self, reg: &Handle<T>, holds: impl Fn(T) -> bool + Sync) -> Result<(), Halt> {
        // Every turn is of the same line, in the paper and in the source.
        let (line, place) = (self.line.take(), Location::caller());
        self.spin(|m| {
            m.own(reg)?;
            m.access_at(place, line, Op::Test, reg.register, [0; 2], |word| (word, holds(T::of_word(word))))
        })
    }

    fn at(&mut self, line: &'static str) -> &mut Self {
        self.line = Some(line);
        self
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

    use super::*;

    /// Runs a body access by access, each time from the start.
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
                let mut looking = View::look(history.clone(), Fences::None);
                if let Ok(result) = body(&made, &mut looking) {
                    return result;
                }
                let reg = looking.access.expect("it stopped before an access").reg as usize;
                let mut stepping = View::step(history, Fences::None, words[reg]);
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
    fn conforms() {
        conformance::all(&Replaying);
    }

    #[test]
    fn accesses_read_like_the_papers() {
        let mut registers = Registers::default();
        let tail = registers.shared("tail", None::<usize>);
        let text = |access: &dyn Fn(&mut View)| {
            let mut view = View::step(Vec::new(), Fences::None, 0);
            access(&mut view);
            view.access.unwrap().text(&registers.list)
        };
        assert_eq!(text(&|m| drop(m.read(&tail))), "tail = ⊥");
        assert_eq!(text(&|m| drop(m.write(&tail, Some(2)))), "tail := 2");
        assert_eq!(text(&|m| drop(m.swap(&tail, Some(2)))), "swap(tail, 2) = ⊥");
        assert_eq!(text(&|m| drop(m.compare_swap(&tail, None, Some(1)))), "compare-and-swap(tail, ⊥, 1) = true");
    }
}
