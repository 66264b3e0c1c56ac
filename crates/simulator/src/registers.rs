//! The registers, and which processes have copies of them.
use doorway_memory::{Cost, FailedCas, Home, Pid};

/// The kind of an access, as far as its cost depends on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A read, or a test.
    Read,
    /// A write, a fetch-and-add, a swap or an update; a compare-and-swap that succeeds.
    Write,
    /// A compare-and-swap that fails.
    FailedCas,
}

const NOBODY: u16 = u16::MAX;
/// The number of copies that a register lists by process; more are kept in a bitset.
const MAX_LISTED: usize = 2;

struct Register {
    word: u64,
    /// Its index in `bitsets` plus 1, once more than [`MAX_LISTED`] processes have had a copy at the same time; 0
    /// before.
    bitset: u32,
    home: u16,
    /// The number of processes that have a copy.
    copies: u16,
    /// The processes that have a copy, while there is no bitset.
    listed: [u16; MAX_LISTED],
}

/// All registers.
///
/// A process has a copy of a register if it has accessed the register and no other process has written it since. In
/// the CC model a copy is a valid cache line; in both models a waiter need not read again what it has a copy of.
pub(crate) struct Registers {
    list: Vec<Register>,
    /// For registers that have had many copies: a bit for each process.
    bitsets: Vec<Vec<u64>>,
}

impl Registers {
    pub(crate) fn new() -> Registers {
        Registers { list: Vec::new(), bitsets: Vec::new() }
    }

    pub(crate) fn add(&mut self, home: Home, word: u64) -> u32 {
        let home = match home {
            Home::Of(p) => p as u16,
            Home::Nobody => NOBODY,
        };
        self.list.push(Register { word, bitset: 0, home, copies: 0, listed: [NOBODY; MAX_LISTED] });
        self.list.len() as u32 - 1
    }

    #[inline]
    pub(crate) fn word(&self, reg: u32) -> u64 {
        self.list[reg as usize].word
    }

    #[inline]
    pub(crate) fn set(&mut self, reg: u32, word: u64) {
        self.list[reg as usize].word = word;
    }

    #[inline]
    pub(crate) fn is_home(&self, reg: u32, p: Pid) -> bool {
        self.list[reg as usize].home == p as u16
    }

    /// Whether an access is a remote memory reference of process `p`.
    #[inline]
    pub(crate) fn is_remote(&self, cost: Cost, reg: u32, kind: Kind, p: Pid) -> bool {
        match cost {
            Cost::Dsm => !self.is_home(reg, p),
            Cost::Cc(_) => kind != Kind::Read || !self.has_copy(reg, p),
        }
    }

    #[inline]
    pub(crate) fn has_copy(&self, reg: u32, p: Pid) -> bool {
        let register = &self.list[reg as usize];
        match register.bitset {
            0 => register.listed.contains(&(p as u16)),
            bitset => self.bitsets[bitset as usize - 1].get(p / 64).is_some_and(|word| word >> (p % 64) & 1 == 1),
        }
    }

    /// The number of other processes that have a copy.
    pub(crate) fn copies_of_others(&self, reg: u32, p: Pid) -> usize {
        usize::from(self.list[reg as usize].copies) - usize::from(self.has_copy(reg, p))
    }

    /// Updates the copies for an access of process `p`; `lost` is called for each process that loses its copy.
    pub(crate) fn update_copies(&mut self, cost: Cost, reg: u32, kind: Kind, p: Pid, lost: impl FnMut(Pid)) {
        match (kind, cost) {
            (Kind::Write, _) | (Kind::FailedCas, Cost::Cc(FailedCas::Counts)) => self.invalidate_others(reg, p, lost),
            _ => {}
        }
        self.add_copy(reg, p);
    }

    #[inline]
    fn add_copy(&mut self, reg: u32, p: Pid) {
        if self.has_copy(reg, p) {
            return;
        }
        let register = &mut self.list[reg as usize];
        if register.bitset == 0 {
            if let Some(free) = register.listed.iter_mut().find(|one| **one == NOBODY) {
                *free = p as u16;
                register.copies += 1;
                return;
            }
            let listed = register.listed;
            self.bitsets.push(Vec::new());
            register.bitset = self.bitsets.len() as u32;
            listed.iter().for_each(|&q| self.set_bit(reg, q.into()));
        }
        self.set_bit(reg, p);
        self.list[reg as usize].copies += 1;
    }

    fn set_bit(&mut self, reg: u32, p: Pid) {
        let bitset = &mut self.bitsets[self.list[reg as usize].bitset as usize - 1];
        if bitset.len() <= p / 64 {
            bitset.resize(p / 64 + 1, 0);
        }
        bitset[p / 64] |= 1 << (p % 64);
    }

    fn invalidate_others(&mut self, reg: u32, p: Pid, mut lost: impl FnMut(Pid)) {
        let register = &mut self.list[reg as usize];
        if register.copies == 0 {
            return;
        }
        register.copies = 0;
        if register.bitset == 0 {
            let listed = std::mem::replace(&mut register.listed, [NOBODY; MAX_LISTED]);
            listed.into_iter().filter(|&q| q != NOBODY && q != p as u16).for_each(|q| lost(q.into()));
            return;
        }
        for (index, word) in self.bitsets[register.bitset as usize - 1].iter_mut().enumerate() {
            let mut bits = std::mem::take(word);
            while bits != 0 {
                let q = 64 * index + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if q != p {
                    lost(q);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CC: Cost = Cost::Cc(FailedCas::Counts);

    fn lost(registers: &mut Registers, cost: Cost, kind: Kind, p: Pid) -> Vec<Pid> {
        let mut lost = Vec::new();
        registers.update_copies(cost, 0, kind, p, |q| lost.push(q));
        lost
    }

    #[test]
    fn a_write_invalidates_the_copies_of_others_and_leaves_one_with_the_writer() {
        for readers in [1, 2, 3, 100] {
            let mut registers = Registers::new();
            registers.add(Home::Of(1), 0);
            (0..readers).for_each(|p| assert_eq!(lost(&mut registers, CC, Kind::Read, p), [0; 0]));
            assert!((0..readers).all(|p| !registers.is_remote(CC, 0, Kind::Read, p)));
            assert!(registers.is_remote(CC, 0, Kind::Write, 0), "a write is always remote");
            assert_eq!(registers.copies_of_others(0, 0), readers - 1);
            assert_eq!(lost(&mut registers, CC, Kind::Write, 0), (1..readers).collect::<Vec<_>>());
            assert!(!registers.is_remote(CC, 0, Kind::Read, 0), "the writer has a copy");
            assert!((1..readers).all(|p| registers.is_remote(CC, 0, Kind::Read, p)));
            assert_eq!(lost(&mut registers, CC, Kind::Write, 200), [0]);
        }
    }

    #[test]
    fn a_failed_compare_and_swap_invalidates_copies_only_if_it_counts_as_a_write() {
        let mut registers = Registers::new();
        registers.add(Home::Nobody, 0);
        let free = Cost::Cc(FailedCas::Free);
        assert_eq!(lost(&mut registers, free, Kind::Read, 3), [0; 0]);
        assert_eq!(lost(&mut registers, free, Kind::FailedCas, 4), [0; 0]);
        assert!(registers.is_remote(free, 0, Kind::FailedCas, 4), "it is remote either way");
        assert_eq!(lost(&mut registers, CC, Kind::FailedCas, 4), [3]);
    }

    #[test]
    fn without_caches_the_home_decides() {
        let mut registers = Registers::new();
        registers.add(Home::Of(1), 0);
        assert!(!registers.is_remote(Cost::Dsm, 0, Kind::Write, 1));
        assert!(registers.is_remote(Cost::Dsm, 0, Kind::Read, 0));
    }
}
