//! The set of processes that can take a step.
use doorway_memory::Pid;

/// A set of processes, from which one can be picked at random or in round-robin order.
pub(crate) struct Ready {
    /// The members, in no particular order.
    list: Vec<u16>,
    /// The position of each process in the list.
    at: Vec<u16>,
    /// The same set as bits, to find the next member.
    bits: Vec<u64>,
}

const ABSENT: u16 = u16::MAX;

impl Ready {
    pub(crate) fn new(n: usize) -> Ready {
        Ready { list: Vec::with_capacity(n), at: vec![ABSENT; n], bits: vec![0; n.div_ceil(64)] }
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn contains(&self, p: Pid) -> bool {
        self.at[p] != ABSENT
    }

    /// The member at `index`, in no particular order.
    pub(crate) fn get(&self, index: usize) -> Pid {
        self.list[index].into()
    }

    pub(crate) fn insert(&mut self, p: Pid) {
        if self.at[p] == ABSENT {
            self.at[p] = self.list.len() as u16;
            self.list.push(p as u16);
            self.bits[p / 64] |= 1 << (p % 64);
        }
    }

    pub(crate) fn remove(&mut self, p: Pid) {
        let at = std::mem::replace(&mut self.at[p], ABSENT);
        if at != ABSENT {
            self.list.swap_remove(at.into());
            if let Some(&moved) = self.list.get(usize::from(at)) {
                self.at[usize::from(moved)] = at;
            }
            self.bits[p / 64] &= !(1 << (p % 64));
        }
    }

    /// The first member from `p` on, or else from 0 on.
    pub(crate) fn next(&self, p: Pid) -> Option<Pid> {
        let from = |word: usize, mask: u64| {
            let first = self.bits.get(word).map_or(0, |bits| bits & mask);
            (first != 0).then(|| 64 * word + first.trailing_zeros() as usize)
        };
        from(p / 64, u64::MAX << (p % 64))
            .or_else(|| (p / 64 + 1..self.bits.len()).find_map(|word| from(word, u64::MAX)))
            .or_else(|| (0..self.bits.len()).find_map(|word| from(word, u64::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_goes_round_the_members() {
        let mut ready = Ready::new(200);
        [3, 64, 199, 70].into_iter().for_each(|p| ready.insert(p));
        ready.remove(70);
        ready.remove(70);
        ready.insert(3);
        assert_eq!((ready.len(), ready.contains(70), ready.contains(199)), (3, false, true));
        assert_eq!([0, 3, 4, 65, 199].map(|p| ready.next(p)), [3, 3, 64, 199, 199].map(Some));
        assert_eq!(ready.next(200), Some(3));
        let mut members: Vec<Pid> = (0..3).map(|index| ready.get(index)).collect();
        members.sort_unstable();
        assert_eq!(members, [3, 64, 199]);
        members.into_iter().for_each(|p| ready.remove(p));
        assert_eq!(ready.next(0), None);
    }
}
