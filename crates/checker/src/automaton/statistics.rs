//! The primitives, fences and registers that the search met, and the bytes used.
use std::panic::Location;

use doorway_memory::Name;
use rustc_hash::FxHashSet;

use super::{Automaton, Local, MergedStates, StepInfo};
use crate::{
    access::{Access, Op},
    registers::Register,
    tickets::TicketSet,
    view::Word,
};

impl Automaton {
    /// The next accesses of all local states.
    fn accesses(&self) -> impl Iterator<Item = Access> {
        self.processes.iter().flat_map(|process| &process.locals).filter_map(|local| local.access)
    }

    /// The primitives used, in the order of [`Op`].
    pub(crate) fn primitives_met(&self) -> Vec<&'static str> {
        let is_linked = |op| matches!(op, Op::LoadLinked | Op::StoreConditional);
        let linked: FxHashSet<u32> = self.accesses().filter(|a| is_linked(a.op)).map(|access| access.reg).collect();
        // A write that makes store-conditionals fail is an update, and part of what they are.
        let is_part = |access: &Access| access.op == Op::Update && linked.contains(&access.reg);
        let mut ops: Vec<Op> = self.accesses().filter(|access| !is_part(access)).map(|access| access.op).collect();
        ops.sort_unstable();
        let mut primitives: Vec<&'static str> = ops.into_iter().map(Op::primitive).collect();
        primitives.dedup();
        primitives
    }

    /// The places of the fences that a process came to.
    pub(crate) fn fences_met(&self) -> Vec<&'static Location<'static>> {
        let fences = self.accesses().filter(|access| access.op.is_fence());
        let mut places: Vec<_> = fences.map(|access| access.place).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// The registers that are written in some execution.
    pub(crate) fn written(&self) -> Vec<u32> {
        let writes = self.accesses().filter(|access| access.op == Op::Write);
        let mut registers: Vec<u32> = writes.map(|access| access.reg).collect();
        registers.sort_unstable();
        registers.dedup();
        registers
    }

    /// The register that has held the most values, if they are more than 1,000: it may be a number that grows for ever.
    pub(crate) fn growing(&self) -> Option<(Name, usize)> {
        growing(&self.registers, self.values.iter().map(|values| values.words.len()))
    }

    /// The number of local states of all processes.
    pub(crate) fn locals(&self) -> usize {
        self.processes.iter().map(|process| process.locals.len()).sum()
    }

    /// The bytes held, approximately.
    pub(crate) fn bytes(&self) -> usize {
        // A local state, its step and its entry in the table by key; and for each word of its history the word itself
        // and its copy in the key.
        const LOCAL: usize = size_of::<Local>() + size_of::<StepInfo>() + size_of::<TicketSet>() + 48;
        const WORD: usize = size_of::<Word>() + 8;
        let locals = self.locals();
        let values: usize = self.values.iter().map(|values| values.words.len()).sum();
        let renumbered = self.renumbered.len() * 8 / 7 * 48;
        let merged = self.merged.as_ref().map_or(0, MergedStates::bytes);
        locals * LOCAL + self.history_words * WORD + values * 96 + self.steps.len() * 8 + renumbered + merged
    }
}

/// The register that has held the most values, if they are more than 1,000, given how many each has held.
pub(crate) fn growing(registers: &[Register], held: impl Iterator<Item = usize>) -> Option<(Name, usize)> {
    const MANY: usize = 1_000;
    let most = std::iter::zip(registers, held).max_by_key(|&(_, held)| held);
    most.map(|(register, held)| (register.name, held)).filter(|&(_, held)| held > MANY)
}
