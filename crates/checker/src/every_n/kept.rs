//! The choice of the registers that views have: as few as decide the question.
//!
//! A process that reads a register which is not kept may find any value that was ever in it. So every choice is sound; the fewer
//! registers are kept, the fewer views there are, and the more of them are of no reachable state. The search begins with none.
//! If it comes to a view with too many holders, some process on the way to it read registers that are not kept: one of them is
//! kept from then on, and the search begins again.
use super::views::Views;

/// A set of slots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Kept(u64);

impl Kept {
    pub(super) const NONE: Kept = Kept(0);
    pub(super) const ALL: Kept = Kept(u64::MAX);
    /// The most slots of which some are kept and others not; of more, all are kept.
    const MOST: usize = 64;

    pub(super) fn has(self, slot: usize) -> bool {
        slot >= Kept::MOST || self.0 >> slot & 1 == 1
    }

    pub(super) fn with(self, slot: usize) -> Kept {
        Kept(self.0 | 1 << slot)
    }
}

impl Views {
    /// Keeps these slots. A queue is always kept, as the order of the members in it.
    pub(super) fn keep(&mut self, kept: Kept) {
        let slots = self.processes.slots.len();
        let is_kept = |slot| slots > Kept::MOST || self.queue == Some(slot) || kept.has(slot);
        self.kept = (0..slots).map(is_kept).collect();
        self.keeps_tally = self.tally.is_none_or(|slot| self.kept[slot]);
    }

    /// What to keep instead of `kept`, after that has led to too many holders; none if everything is kept.
    ///
    /// Of the slots that were read on the way, one with tickets is most likely to matter, and a tally least. If none was read, the
    /// way depends on other views.
    pub(super) fn kept_next(&self, kept: Kept) -> Option<Kept> {
        let preference = |slot: &usize| match self.tally {
            Some(tally) if tally == *slot => 2,
            _ if !self.processes.tables.value_tickets(*slot, 0).is_empty() => 0,
            _ => 1,
        };
        let missing = || (0..self.kept.len()).filter(|&slot| !self.kept[slot]);
        let read = self.read_on_the_way();
        let next = missing().filter(|slot| read.contains(slot)).min_by_key(preference);
        next.or_else(|| missing().min_by_key(preference)).map(|slot| kept.with(slot))
    }
}
