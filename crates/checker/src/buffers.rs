//! Store buffers: the writes of a process that are not visible to others yet.
//!
//! The contents of a buffer are numbered as they are met, like local states; number 0 is the empty buffer. A state has
//! one field for the buffer of each process.
use rustc_hash::FxHashMap;

use crate::{model::BUFFER, tickets::TicketSet};

/// A write: the register, and the number of the value.
pub(crate) type Write = (u32, u32);

/// The contents that the buffer of one process has had.
#[derive(Default)]
pub(crate) struct Buffers {
    contents: Vec<Box<[Write]>>,
    ids: FxHashMap<Box<[Write]>, u32>,
    /// The content without its oldest write.
    rest: Vec<u32>,
    /// (content, write) -> content: with that write added.
    longer: FxHashMap<(u32, Write), u32>,
    hash: Vec<u64>,
    tickets: Vec<TicketSet>,
}

impl Buffers {
    pub(crate) fn len(&self) -> usize {
        self.contents.len()
    }

    pub(crate) fn writes(&self, id: u32) -> &[Write] {
        &self.contents[id as usize]
    }

    #[inline]
    pub(crate) fn is_full(&self, id: u32) -> bool {
        self.contents[id as usize].len() >= BUFFER
    }

    #[inline]
    pub(crate) fn hash(&self, id: u32) -> u64 {
        self.hash[id as usize]
    }

    #[inline]
    pub(crate) fn tickets(&self, id: u32) -> TicketSet {
        self.tickets[id as usize]
    }

    pub(crate) fn known(&self, writes: &[Write]) -> Option<u32> {
        self.ids.get(writes).copied()
    }

    /// The value of the newest write to a register, which its own process reads.
    #[inline]
    pub(crate) fn newest(&self, id: u32, reg: u32) -> Option<u32> {
        self.contents[id as usize].iter().rev().find(|&&(written, _)| written == reg).map(|&(_, value)| value)
    }

    /// The write that becomes visible next, and the content without it.
    #[inline]
    pub(crate) fn oldest(&self, id: u32) -> Option<(Write, u32)> {
        let write = self.contents[id as usize].first()?;
        Some((*write, self.rest[id as usize]))
    }

    /// The content with one more write, if it is known.
    #[inline]
    pub(crate) fn with(&self, id: u32, write: Write) -> Option<u32> {
        self.longer.get(&(id, write)).copied()
    }

    pub(crate) fn learn(&mut self, id: u32, write: Write, longer: u32) {
        self.longer.insert((id, write), longer);
    }

    /// The number of a content, a new one if need be.
    pub(crate) fn id(
        &mut self,
        writes: &[Write],
        hash: &impl Fn(u32) -> u64,
        tickets: &impl Fn(Write) -> TicketSet,
    ) -> u32 {
        if let Some(&id) = self.ids.get(writes) {
            return id;
        }
        // The contents that are left as its writes become visible are met later, and numbered now.
        let rest = writes.get(1..).map_or(0, |rest| self.id(rest, hash, tickets));
        let id = self.contents.len() as u32;
        self.contents.push(writes.into());
        self.ids.insert(writes.into(), id);
        self.rest.push(rest);
        self.hash.push(hash(id));
        self.tickets.push(writes.iter().fold(TicketSet::EMPTY, |set, &write| set.union(tickets(write))));
        id
    }
}
