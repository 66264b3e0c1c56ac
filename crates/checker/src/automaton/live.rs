//! Live registers: those whose values a process may still read.
//!
//! A register is *live* for a process in a local state if the process may access it otherwise than by a plain write before it
//! has written it itself. If a register is live for no process, then no step depends on what it holds, now or later, until a
//! process has written it. A search that forgets gives such a register its initial value again, so that states which differ
//! only in it are one. This is exact: the states are bisimilar.
//!
//! Which registers are live follows from all steps that the processes can take, which a search does not know before its end.
//! So it begins with those that random executions show to be live (`scout.rs`). If a step is learnt that makes more of them
//! live, the search starts again with these.
use doorway_memory::{Cyclic, Pid, Ticket, Value};
use rustc_hash::FxHashMap;

use super::{Action, Automaton, Interrupted, local_key};
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
        self.live.is_some()
    }

    /// The registers that are live for a process in a local state.
    #[inline]
    pub(crate) fn live(&self, p: Pid, local: u32) -> RegisterSet {
        self.live_sets[self.processes[p].live[local as usize] as usize]
    }

    /// As [`live`](Self::live), in a local state whose tickets may be any numbers.
    pub(crate) fn live_in(&self, p: Pid, section: Section, passages: u32, history: &[Word]) -> RegisterSet {
        let live = self.live.as_ref().and_then(|live| live.0.get(&(self.alike(p), kernel(section, passages, history))));
        live.copied().unwrap_or_default()
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

    /// Whether a step was learnt that makes more registers live than the search has assumed: it has to start again.
    pub(crate) fn has_more_live(&self) -> bool {
        self.has_more_live
    }

    /// The number of the set of registers that are live in a new local state, in which the next access is `next`.
    pub(super) fn live_in_new(
        &mut self,
        p: Pid,
        section: Section,
        passages: u32,
        history: &[Word],
        next: Option<&Access>,
    ) -> u32 {
        if !self.forgets_registers() {
            return 0;
        }
        let known = self.live_in(p, section, passages, history);
        let live = known.union(next.map_or(RegisterSet::default(), read_by));
        self.has_more_live |= live != known;
        let number = self.live_sets.iter().position(|set| *set == live);
        number.unwrap_or_else(|| {
            self.live_sets.push(live);
            self.live_sets.len() - 1
        }) as u32
    }

    /// Takes note that a process can come from one local state to another, after it has written these registers.
    pub(super) fn note_live(&mut self, p: Pid, from: u32, to: u32, written: RegisterSet) {
        if self.forgets_registers() {
            let missing = self.live(p, to).without(written).without(self.live(p, from));
            self.has_more_live |= !missing.is_empty();
        }
    }

    /// The register that the next step of a process writes, whatever it holds.
    pub(super) fn written_by(&self, p: Pid, local: u32) -> RegisterSet {
        let info = self.step_info(p, local);
        if info.action == Action::Write { RegisterSet::of(info.reg as usize) } else { RegisterSet::default() }
    }

    /// All registers keep their values from now on. Returns what was known of those that are live.
    pub(crate) fn forget_no_register(&mut self) -> Live {
        self.live.take().unwrap_or_default()
    }

    /// Adds all registers that are live as far as the steps are known.
    pub(crate) fn add_live(&self, live: &mut Live) {
        for (p, process) in self.processes.iter().enumerate() {
            let locals = process.locals.iter();
            let kernels: Vec<_> =
                locals.map(|local| (self.alike(p), kernel(local.section, local.passages, &local.history))).collect();
            let mut is_new = true;
            while is_new {
                is_new = false;
                // The latest first: steps mostly lead to later ones.
                for (at, info) in process.infos.iter().enumerate().rev() {
                    let known = |next: u32| live.0.get(&kernels[next as usize]).copied().unwrap_or_default();
                    let all = |nexts: &mut dyn Iterator<Item = u32>| {
                        nexts.map(known).fold(RegisterSet::default(), RegisterSet::union)
                    };
                    let steps = (0..info.len).filter_map(|value| self.step(info, value));
                    let later = all(&mut steps.map(|(next, _)| next)).without(self.written_by(p, at as u32));
                    let Interrupted { dead, aborted, expired } =
                        process.interrupted.get(at).copied().unwrap_or_default();
                    let interrupted = all(&mut [dead, aborted, expired].into_iter().flatten());
                    let read = process.locals[at].access.as_ref().map_or(RegisterSet::default(), read_by);
                    let set = later.union(interrupted).union(read);
                    let known = live.0.entry(kernels[at].clone()).or_default();
                    is_new |= !set.without(*known).is_empty();
                    *known = known.union(set);
                }
            }
        }
    }
}

/// The register on whose value the outcome of an access depends.
fn read_by(access: &Access) -> RegisterSet {
    match access.op {
        Op::Write | Op::Fence | Op::Barrier => RegisterSet::default(),
        _ => RegisterSet::of(access.reg as usize),
    }
}
