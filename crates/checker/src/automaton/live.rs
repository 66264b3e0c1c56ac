//! Live registers: those whose values a process may still read.
//!
//! A register is *live* for a process in a local state if the process may access it otherwise than by a plain write before it
//! has written it itself. If a register is live for no process, then no step depends on what it holds, now or later, until a
//! process has written it. A search that forgets gives such a register its initial value again, so that states which differ
//! only in it are one. This is exact: the states are bisimilar.
//!
//! Which registers are live follows from all steps that the processes can take, which a search does not know before its end.
//! So it begins with those that random executions show to be live (`scout.rs`), and whenever a step is learnt, the registers
//! that it reads become live in all local states that lead to it. What was forgotten until then is right all the same, unless one
//! of these registers was forgotten while a process was in one of these local states. The search keeps a record of that, and
//! starts again if it happens.
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use doorway_memory::{Cyclic, Pid, Ticket, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Action, Automaton, Process, local_key};
use crate::{
    access::{Access, Op},
    program::Section,
    view::Word,
};

/// A set of registers. It has none beyond the first [`MOST`](Self::MOST), which are never forgotten.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct RegisterSet([u64; RegisterSet::WORDS]);

impl RegisterSet {
    const WORDS: usize = 4;
    pub(crate) const MOST: usize = RegisterSet::WORDS * u64::BITS as usize;
    pub(crate) const ALL: RegisterSet = RegisterSet([u64::MAX; RegisterSet::WORDS]);

    pub(crate) fn of(reg: usize) -> RegisterSet {
        let word = |i| if i == reg / 64 { 1 << (reg % 64) } else { 0 };
        RegisterSet(std::array::from_fn(word))
    }

    #[inline]
    pub(crate) fn union(self, other: RegisterSet) -> RegisterSet {
        RegisterSet(std::array::from_fn(|i| self.0[i] | other.0[i]))
    }

    #[inline]
    pub(crate) fn without(self, other: RegisterSet) -> RegisterSet {
        RegisterSet(std::array::from_fn(|i| self.0[i] & !other.0[i]))
    }

    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.0 == [0; RegisterSet::WORDS]
    }

    pub(crate) fn registers(self) -> impl Iterator<Item = usize> {
        self.0
            .into_iter()
            .enumerate()
            .flat_map(|(i, word)| (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| 64 * i + bit))
    }
}

/// The registers that are known to be live, for each process and kernel of its local states.
#[derive(Clone, Default)]
pub(crate) struct Live(FxHashMap<(Pid, Kernel), RegisterSet>);

/// The live registers of a search, as far as its steps are known. Local states of the same kernel are in one class.
#[derive(Default)]
pub(super) struct Liveness {
    /// What was known when the search began.
    assumed: Live,
    classes: FxHashMap<(Pid, Kernel), u32>,
    /// For each class the registers that are live.
    live: Vec<RegisterSet>,
    /// For each class the registers that were forgotten while a process was in it.
    forgotten: Vec<Forgotten>,
    /// For each class those from which a step leads there, with the register that the step writes.
    before: Vec<Vec<(u32, RegisterSet)>>,
    /// The steps in `before`.
    known: FxHashSet<(u32, u32, RegisterSet)>,
    /// Whether no register is forgotten any more.
    keeps_all: bool,
    /// Whether a register was forgotten that is live.
    is_contradicted: bool,
}

/// A set of registers to which threads add.
#[derive(Default)]
struct Forgotten([AtomicU64; RegisterSet::WORDS]);

impl Forgotten {
    fn add(&self, set: RegisterSet) {
        for (word, more) in std::iter::zip(&self.0, set.0) {
            // ORDERING: a reader has joined the threads that add to it.
            if word.load(Relaxed) & more != more {
                word.fetch_or(more, Relaxed);
            }
        }
    }

    fn set(&self) -> RegisterSet {
        RegisterSet(std::array::from_fn(|i| self.0[i].load(Relaxed))) // ORDERING: as above
    }
}

impl Liveness {
    pub(super) fn assuming(assumed: Live) -> Liveness {
        Liveness { assumed, ..Liveness::default() }
    }

    /// The class of a local state, in which these registers are live at least.
    fn class(&mut self, p: Pid, kernel: Kernel, read: RegisterSet) -> u32 {
        let key = (p, kernel);
        let class = match self.classes.get(&key) {
            Some(&class) => class,
            None => {
                let class = self.live.len() as u32;
                self.live.push(self.assumed.0.get(&key).copied().unwrap_or_default());
                self.forgotten.push(Forgotten::default());
                self.before.push(Vec::new());
                self.classes.insert(key, class);
                class
            }
        };
        self.add(class, read);
        class
    }

    /// A step leads from one class to another, after it has written these registers.
    fn lead(&mut self, from: u32, to: u32, written: RegisterSet) {
        if self.known.insert((from, to, written)) {
            self.before[to as usize].push((from, written));
            self.add(from, self.live[to as usize].without(written));
        }
    }

    /// More registers are live in a class, and so in those that lead there.
    fn add(&mut self, class: u32, more: RegisterSet) {
        let mut work = vec![(class, more)];
        while let Some((class, more)) = work.pop() {
            let class = class as usize;
            let new = more.without(self.live[class]);
            if !new.is_empty() {
                self.is_contradicted |= new.without(self.forgotten[class].set()) != new;
                self.live[class] = self.live[class].union(new);
                work.extend(self.before[class].iter().map(|&(before, written)| (before, new.without(written))));
            }
        }
    }
}

/// What is left of a local state without its tickets and cyclic numbers.
type Kernel = Box<[u64]>;

fn kernel(section: Section, passages: u32, history: &[Word]) -> Kernel {
    let blank = |word: &Word| {
        let without_tickets = (word.kind.renumber)(word.bits, &mut |_| Ticket::of_word(0));
        Word { bits: (word.kind.rotate)(without_tickets, &mut |number| Cyclic::new(0, number.of())), ..*word }
    };
    local_key(section, passages, &history.iter().map(blank).collect::<Vec<Word>>())
}

impl Automaton {
    /// Whether registers that no process may read are given their initial values.
    #[inline]
    pub(crate) fn forgets_registers(&self) -> bool {
        self.live.as_ref().is_some_and(|live| !live.keeps_all)
    }

    /// The registers that are live for a process in a local state.
    #[inline]
    pub(crate) fn live(&self, p: Pid, local: u32) -> RegisterSet {
        self.live.as_ref().map_or(RegisterSet::ALL, |live| live.live[self.processes[p].live[local as usize] as usize])
    }

    /// As [`live`](Self::live), in a local state whose tickets and cyclic numbers may be any numbers.
    pub(crate) fn live_in(&self, p: Pid, section: Section, passages: u32, history: &[Word]) -> RegisterSet {
        let Some(live) = &self.live else { return RegisterSet::ALL };
        let class = live.classes.get(&(self.alike(p), kernel(section, passages, history)));
        class.map_or(RegisterSet::default(), |&class| live.live[class as usize])
    }

    /// Takes note that registers were forgotten while a process was in a local state.
    pub(crate) fn note_forgotten(&self, p: Pid, local: u32, forgotten: RegisterSet) {
        if let Some(live) = &self.live {
            live.forgotten[self.processes[p].live[local as usize] as usize].add(forgotten);
        }
    }

    /// Whether a register can be forgotten: not if its value then has a ticket that is not forgotten, whose position among the
    /// others would depend on the state; not in a ring, whose registers have different initial values; and not the register in
    /// which the search itself counts.
    #[inline]
    pub(crate) fn can_be_cleared(&self, reg: usize) -> bool {
        reg < RegisterSet::MOST
            && self.values[reg].tickets[self.cleared(reg) as usize].without_zero().remembered().is_empty()
            && (self.rotation().is_none() || self.registers[reg].ring.is_none())
            && !(self.counts_passages && reg + 1 == self.registers.len())
    }

    /// The value of a register that is forgotten: the initial one, or if its tickets are raised, that with forgotten ones.
    #[inline]
    pub(crate) fn cleared(&self, reg: usize) -> u32 {
        self.values[reg].cleared
    }

    /// Whether a value is the initial one, but for tickets that are forgotten.
    #[inline]
    pub(crate) fn is_clear(&self, reg: usize, value: u32) -> bool {
        value == self.cleared(reg) || self.values[reg].is_clear[value as usize]
    }

    /// Whether the search has forgotten a register that turned out to be live: it has to start again.
    pub(crate) fn forgot_too_much(&self) -> bool {
        self.live.as_ref().is_some_and(|live| live.is_contradicted)
    }

    /// The number of the class of a new local state, in which the next access is `next`.
    pub(super) fn class_of_new(
        &mut self,
        p: Pid,
        section: Section,
        passages: u32,
        history: &[Word],
        next: Option<&Access>,
    ) -> u32 {
        let p = self.alike(p);
        let read = next.map_or(RegisterSet::default(), read_by);
        self.live.as_mut().map_or(0, |live| live.class(p, kernel(section, passages, history), read))
    }

    /// Takes note that a process can come from one local state to another, after it has written these registers.
    pub(super) fn note_live(&mut self, p: Pid, from: u32, to: u32, written: RegisterSet) {
        let [from, to] = [from, to].map(|local| self.processes[p].live[local as usize]);
        if let Some(live) = &mut self.live {
            live.lead(from, to, written);
        }
    }

    /// The register that the next step of a process writes, whatever it holds.
    pub(super) fn written_by(&self, p: Pid, local: u32) -> RegisterSet {
        let info = self.step_info(p, local);
        if info.action == Action::Write { RegisterSet::of(info.reg as usize) } else { RegisterSet::default() }
    }

    /// All registers keep their values from now on.
    pub(crate) fn forget_no_register(&mut self) {
        self.live.iter_mut().for_each(|live| live.keeps_all = true);
    }

    /// All registers that are live as far as the steps are known.
    pub(crate) fn known_live(&self) -> Live {
        let Some(Liveness { assumed, classes, live, .. }) = &self.live else { return Live::default() };
        let mut known = assumed.clone();
        known.0.extend(classes.iter().map(|(key, &class)| (key.clone(), live[class as usize])));
        known
    }
}

/// Copies in the cache of a process, by which remote memory references are counted.
impl Automaton {
    /// The registers that a process may read before it accesses them in another way, for each of its local states. Whether it
    /// has a copy of others makes no difference. All steps of the process have to be known.
    pub(crate) fn useful_copies(&self, p: Pid) -> Live {
        let Process { locals, infos, .. } = &self.processes[p];
        let mut useful = vec![RegisterSet::default(); locals.len()];
        let mut is_new = true;
        while is_new {
            is_new = false;
            // The latest first: steps mostly lead to later ones.
            for (at, (local, info)) in std::iter::zip(locals, infos).enumerate().rev() {
                let steps = (0..info.len).filter_map(|value| self.step(info, value));
                let later = steps.fold(RegisterSet::default(), |set, (next, _)| set.union(useful[next as usize]));
                let now = match local.access.filter(|access| access.register().is_some()) {
                    Some(access) if access.op.is_read() => later.union(RegisterSet::of(access.reg as usize)),
                    Some(access) => later.without(RegisterSet::of(access.reg as usize)),
                    None => later,
                };
                is_new |= now != useful[at];
                useful[at] = now;
            }
        }
        let mut all = Live::default();
        for (local, set) in std::iter::zip(locals, useful) {
            let known = all.0.entry((p, kernel(local.section, local.passages, &local.history))).or_default();
            *known = known.union(set);
        }
        all
    }

    /// As [`useful_copies`](Self::useful_copies), in a local state of this search; all, if that is not known.
    #[inline]
    pub(crate) fn has_use_for_copies(&self, p: Pid, local: u32) -> RegisterSet {
        self.processes[p].useful_copies.get(local as usize).copied().unwrap_or(RegisterSet::ALL)
    }

    /// The same for a new local state.
    pub(super) fn useful_copies_in_new(
        &self,
        p: Pid,
        section: Section,
        passages: u32,
        history: &[Word],
    ) -> Option<RegisterSet> {
        let useful = self.useful_copies.as_ref()?;
        Some(useful.0.get(&(p, kernel(section, passages, history))).copied().unwrap_or(RegisterSet::ALL))
    }
}

/// The register on whose value the outcome of an access depends.
fn read_by(access: &Access) -> RegisterSet {
    match access.op {
        Op::Write | Op::Fence | Op::Barrier => RegisterSet::default(),
        _ => RegisterSet::of(access.reg as usize),
    }
}
