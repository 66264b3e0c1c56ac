//! The choice of the registers that views have: as few as decide the question.
//!
//! A process that reads a register which is not kept may find any value that was ever in it. So every choice is sound; the fewer
//! registers are kept, the fewer views there are, and the more of them are of no reachable state. The search begins with none.
//! If it comes to a view with too many holders, some process on the way to it read registers that are not kept: at least one of
//! them is kept from then on. Of the sets that have one for each such way, the search tries a smallest one.

/// A set of slots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Kept(u64);

impl Kept {
    pub(super) const NONE: Kept = Kept(0);
    pub(super) const ALL: Kept = Kept(u64::MAX);

    pub(super) fn of(slots: impl IntoIterator<Item = usize>) -> Kept {
        Kept(slots.into_iter().fold(0, |set, slot| set | 1 << slot))
    }

    pub(super) fn has(self, slot: usize) -> bool {
        self == Kept::ALL || slot < 64 && self.0 >> slot & 1 == 1
    }

    fn without(self, other: Kept) -> Kept {
        Kept(self.0 & !other.0)
    }

    fn meets(self, other: Kept) -> bool {
        self.0 & other.0 != 0
    }
}

/// What is known of the sets that could be kept.
#[derive(Default)]
pub(super) struct Choice {
    /// Of each of these sets a slot has to be kept.
    needs: Vec<Kept>,
}

impl Choice {
    /// The most registers from which some are chosen; of more, all are kept.
    pub(super) const MOST: usize = 12;

    /// The next set to try, after `kept` has led to too many holders, by a way on which slots of `read` were read that are not
    /// kept. `all` are the slots to choose from. None if they were all kept.
    pub(super) fn next(&mut self, kept: Kept, read: Kept, all: Kept) -> Option<Kept> {
        let missing = all.without(kept);
        // The way may depend on other views, which have ways of their own.
        let need = if read.meets(missing) { read } else { missing };
        self.needs.push(need);
        let sets = (0..=all.0).map(Kept).filter(|set| set.without(all) == Kept::NONE);
        let enough = sets.filter(|set| self.needs.iter().all(|need| need.meets(*set)));
        enough.min_by_key(|set| set.0.count_ones())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_smallest_set_with_a_slot_of_each_need_is_next() {
        let all = Kept::of([0, 2, 3, 4]);
        let mut choice = Choice::default();
        let first = choice.next(Kept::NONE, Kept::of([2, 3]), all);
        assert_eq!(first, Some(Kept::of([2])));
        let second = choice.next(Kept::of([2]), Kept::of([3, 4]), all);
        assert_eq!(second, Some(Kept::of([3])));
        // Nothing was read: any other slot may be missing.
        assert_eq!(choice.next(Kept::of([3]), Kept::NONE, all), Some(Kept::of([0, 3])));
    }

    #[test]
    fn nothing_is_left_to_try_if_all_were_kept() {
        let all = Kept::of([0, 1]);
        assert_eq!(Choice::default().next(all, Kept::NONE, all), None);
    }
}
