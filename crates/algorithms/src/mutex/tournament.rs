//! Peterson's tournament. MIT 6.852, *Distributed Algorithms*, Fall 2009, class 13; after G. L. Peterson and
//! M. J. Fischer, STOC 1977.
//!
//! ```text
//!     for each level k from 1 to h; x is i's competition there and b its role in x, 0 or 1:
//!  1      flag(i) := k
//!  2      turn(x) := b                                       (doorway ends, for the first competition)
//!  3      wait until turn(x) ≠ b,
//!  4          or flag(j) < k for all potential opponents j in x
//!     critical section
//!  5  flag(i) := 0
//! ```
//!
//! The text has no line numbers; these are this project's.
//!
//! Departures: the text assumes n = 2^h; here it is any n. Competition x has the children 2x and 2x+1, the root is 1
//! and process i is the leaf n+i: so every competition has opponents for any n. A competition's level is counted from
//! the root, which is on level h; a process whose leaf is one level higher than others skips level 1. Line 4 examines
//! one opponent after the other and returns to line 3 at the first whose flag is too high. The text defines no
//! doorway; here it is the two writes for the first competition.
//!
//! Guarantees: mutual exclusion, starvation-freedom, bounded exit. Not first-come-first-served: from three processes
//! on, a process that is slow in the lower competitions can be overtaken any number of times.
use alloc::vec::Vec;
use core::ops::ControlFlow::{Break, Continue};

use doorway_memory::{Exclusion, Home, Memory, Name, Pid, Property::*, Space};

use crate::{
    About,
    Condition::Tso,
    LocalSpin, Size,
    claim::{bypass, holds, lacks},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "tournament",
    aliases: &["peterson-fischer"],
    title: "Peterson's tournament",
    source: "MIT 6.852, class 13",
    default_n: 4,
    local_spin: Some(LocalSpin::CACHED),
    claims: &[
        holds(Exclusion),
        holds(DeadlockFreedom),
        holds(StarvationFreedom),
        lacks(Fcfs),
        bypass(None),
        holds(BoundedExit),
    ],
    tolerates: &[Tso],
    remark: "for two processes it is `peterson`, and equally fair",
    pinned: &[
        at(3).finds(492),
        at(4).finds(7_040),
        at(5).finds(101_680),
        at(4).under(&[Tso]).finds(56_376).fences(1),
        at(2).needs_fences(),
        at(4).remote(Some(14), None),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = Tournament<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> Tournament<M> {
    Tournament::new(space, size.n)
}

/// The lock; see the [module](self).
pub struct Tournament<M: Memory> {
    flag: Vec<M::Reg<usize>>,
    /// Competition x is at index x-1.
    turn: Vec<M::Reg<usize>>,
}

impl<M: Memory> Tournament<M> {
    /// A free lock for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        Tournament {
            flag: space.per_process("flag", n, 0),
            turn: (1..n).map(|x| space.register(Name::new("turn").index(x), Home::Nobody, 0)).collect(),
        }
    }

    fn leaf(&self, i: Pid) -> usize {
        self.flag.len() + i
    }

    /// The level of the competition above position `x`.
    fn level(&self, x: usize) -> usize {
        let height = self.turn.len().ilog2() + 1;
        (height - (x / 2).ilog2()) as usize
    }

    /// Competes for the node above position `x`: lines 1 and 2.
    #[inline(always)]
    fn compete(&self, m: &mut M, i: Pid, x: usize) -> Result<(), M::Halt> {
        m.at("1").write(&self.flag[i], self.level(x))?;
        m.at("2").write(&self.turn[x / 2 - 1], x % 2)?;
        m.at("2").fence() // without it, two processes may both pass lines 3 and 4 before either is visible
    }

    /// Whether the competition above position `x` is won: lines 3 and 4.
    fn won(&self, m: &mut M, x: usize) -> Result<bool, M::Halt> {
        let is_opponent = |j| is_below(self.leaf(j), x ^ 1);
        Ok(m.at("3").test(&self.turn[x / 2 - 1], |turn| turn != x % 2)?
            || m.all(self.flag.len(), |m, j| {
                Ok(!is_opponent(j) || m.at("4").test(&self.flag[j], |flag| flag < self.level(x))?)
            })?)
    }
}

impl<M: Memory> Exclusion<M> for Tournament<M> {
    type Place = ();
    type Inside = ();

    fn doorway(&self, m: &mut M, i: Pid) -> Result<(), M::Halt> {
        self.compete(m, i, self.leaf(i))
    }

    fn wait(&self, m: &mut M, i: Pid, (): &()) -> Result<(), M::Halt> {
        m.turns(self.leaf(i), |m, x| {
            m.spin(|m| self.won(m, x))?;
            let up = x / 2;
            if up == 1 {
                return Ok(Break(()));
            }
            self.compete(m, i, up)?;
            Ok(Continue(up))
        })
    }

    fn exit(&self, m: &mut M, i: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("5").write(&self.flag[i], 0)
    }
}

/// Whether position `x` is `top` or below it.
fn is_below(x: usize, top: usize) -> bool {
    x >= top && x >> (x.ilog2() - top.ilog2()) == top
}

#[cfg(test)]
mod tests {
    use doorway_memory::Solo;

    use super::*;

    #[test]
    fn each_pair_meets_in_one_competition_from_opposite_sides() {
        for n in 2..=10 {
            let lock = Tournament::new(&mut Solo::new(), n);
            let path = |i| core::iter::successors(Some(lock.leaf(i)), |x| Some(x / 2)).take_while(|&x| x > 1);
            for (i, j) in (0..n).flat_map(|i| (0..i).map(move |j| (i, j))) {
                let meetings: Vec<_> = path(i).filter(|x| is_below(lock.leaf(j), x ^ 1)).collect();
                assert_eq!(meetings.len(), 1, "n={n}, {i} and {j}");
                assert!(path(j).any(|y| y == meetings[0] ^ 1), "n={n}, {i} and {j}");
            }
        }
    }

    #[test]
    fn levels_increase_by_one_up_to_the_height_of_the_tree() {
        for n in 2..=10_usize {
            let lock = Tournament::new(&mut Solo::new(), n);
            for i in 0..n {
                let mut x = lock.leaf(i);
                while x / 2 > 1 {
                    assert_eq!(lock.level(x) + 1, lock.level(x / 2));
                    x /= 2;
                }
                assert_eq!(lock.level(x), n.next_power_of_two().ilog2() as usize);
                assert!((1..=2).contains(&lock.level(lock.leaf(i))));
            }
        }
    }
}
