//! The registers, and who has a copy of which.
use doorway_memory::{Cost, FailedCas, Home, Pid};

/// How an access is made, as far as its cost goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A read, or a test.
    Read,
    /// A write, a fetch-and-add, a swap or an update; a compare-and-swap that succeeds.
    Write,
    /// A compare-and-swap that fails.
    Miss,
}

const NOBODY: u16 = u16::MAX;
/// How many copies a register lists by name; more are kept as bits, elsewhere.
const FEW: usize = 2;

struct Register {
    word: u64,
    /// Its row in `crowds` plus 1, once more than [`FEW`] processes have had a copy at a time; 0 before.
    crowd: u32,
    home: u16,
    /// How many processes have a copy.
    copies: u16,
    /// Who, while there is no crowd.
    few: [u16; FEW],
}

/// All registers. A copy is what a process has accessed and no other has written since: what is in its cache, if there
/// are caches; and what it need not look at again, if it waits.
pub(crate) struct Registers {
    list: Vec<Register>,
    /// For registers of which many have copies: a bit for each process.
    crowds: Vec<Vec<u64>>,
}

impl Registers {
    pub(crate) fn new() -> Registers {
        Registers { list: Vec::new(), crowds: Vec::new() }
    }

    pub(crate) fn add(&mut self, home: Home, word: u64) -> u32 {
        let home = match home {
            Home::Of(p) => p as u16,
            Home::Nobody => NOBODY,
        };
        self.list.push(Register { word, crowd: 0, home, copies: 0, few: [NOBODY; FEW] });
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

    /// Whether an access costs process `p` a remote reference.
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
        match register.crowd {
            0 => register.few.contains(&(p as u16)),
            crowd => self.crowds[crowd as usize - 1].get(p / 64).is_some_and(|word| word >> (p % 64) & 1 == 1),
        }
    }

    /// How many others have a copy.
    pub(crate) fn copies_of_others(&self, reg: u32, p: Pid) -> usize {
        usize::from(self.list[reg as usize].copies) - usize::from(self.has_copy(reg, p))
    }

    /// What an access of process `p` does to the copies; `lost` is told who loses one.
    pub(crate) fn touch(&mut self, cost: Cost, reg: u32, kind: Kind, p: Pid, lost: impl FnMut(Pid)) {
        match (kind, cost) {
            (Kind::Write, _) | (Kind::Miss, Cost::Cc(FailedCas::Counts)) => self.take_from_others(reg, p, lost),
            _ => {}
        }
        self.give(reg, p);
    }

    #[inline]
    fn give(&mut self, reg: u32, p: Pid) {
        if self.has_copy(reg, p) {
            return;
        }
        let register = &mut self.list[reg as usize];
        if register.crowd == 0 {
            if let Some(free) = register.few.iter_mut().find(|one| **one == NOBODY) {
                *free = p as u16;
                register.copies += 1;
                return;
            }
            let few = register.few;
            self.crowds.push(Vec::new());
            register.crowd = self.crowds.len() as u32;
            few.iter().for_each(|&q| self.mark(reg, q.into()));
        }
        self.mark(reg, p);
        self.list[reg as usize].copies += 1;
    }

    fn mark(&mut self, reg: u32, p: Pid) {
        let crowd = &mut self.crowds[self.list[reg as usize].crowd as usize - 1];
        if crowd.len() <= p / 64 {
            crowd.resize(p / 64 + 1, 0);
        }
        crowd[p / 64] |= 1 << (p % 64);
    }

    fn take_from_others(&mut self, reg: u32, p: Pid, mut lost: impl FnMut(Pid)) {
        let register = &mut self.list[reg as usize];
        if register.copies == 0 {
            return;
        }
        register.copies = 0;
        if register.crowd == 0 {
            let few = std::mem::replace(&mut register.few, [NOBODY; FEW]);
            few.into_iter().filter(|&q| q != NOBODY && q != p as u16).for_each(|q| lost(q.into()));
            return;
        }
        for (index, word) in self.crowds[register.crowd as usize - 1].iter_mut().enumerate() {
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
        registers.touch(cost, 0, kind, p, |q| lost.push(q));
        lost
    }

    #[test]
    fn a_write_takes_the_copies_of_others_and_leaves_one_with_the_writer() {
        for readers in [1, 2, 3, 100] {
            let mut registers = Registers::new();
            registers.add(Home::Of(1), 0);
            (0..readers).for_each(|p| assert_eq!(lost(&mut registers, CC, Kind::Read, p), [0; 0]));
            assert!((0..readers).all(|p| !registers.is_remote(CC, 0, Kind::Read, p)));
            assert!(registers.is_remote(CC, 0, Kind::Write, 0), "a write is remote always");
            assert_eq!(registers.copies_of_others(0, 0), readers - 1);
            assert_eq!(lost(&mut registers, CC, Kind::Write, 0), (1..readers).collect::<Vec<_>>());
            assert!(!registers.is_remote(CC, 0, Kind::Read, 0), "a copy of what it wrote itself");
            assert!((1..readers).all(|p| registers.is_remote(CC, 0, Kind::Read, p)));
            assert_eq!(lost(&mut registers, CC, Kind::Write, 200), [0]);
        }
    }

    #[test]
    fn a_failed_compare_and_swap_counts_as_a_write_or_does_not() {
        let mut registers = Registers::new();
        registers.add(Home::Nobody, 0);
        let free = Cost::Cc(FailedCas::Free);
        assert_eq!(lost(&mut registers, free, Kind::Read, 3), [0; 0]);
        assert_eq!(lost(&mut registers, free, Kind::Miss, 4), [0; 0]);
        assert!(registers.is_remote(free, 0, Kind::Miss, 4), "it is remote in any case");
        assert_eq!(lost(&mut registers, CC, Kind::Miss, 4), [3]);
    }

    #[test]
    fn without_caches_the_home_decides() {
        let mut registers = Registers::new();
        registers.add(Home::Of(1), 0);
        assert!(!registers.is_remote(Cost::Dsm, 0, Kind::Write, 1));
        assert!(registers.is_remote(Cost::Dsm, 0, Kind::Read, 0));
    }
}
