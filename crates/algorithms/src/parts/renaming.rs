//! Renaming by a triangle of bouncers. M. Herlihy, N. Shavit, V. Luchangco, M. Spear, *The Art of Multiprocessor
//! Programming*, 2nd ed., Figure 2.20 and Exercise 2.10; after M. Moir and J. H. Anderson, 1995.
//!
//! ```text
//!     0  1  3  6       visit bouncer 0, by lines 9-16 of Figure 2.19;
//!     2  4  7          RIGHT: visit the next one in the row,
//!     5  8             DOWN:  visit the next one in the column,
//!     9                STOP:  its number is the name
//! ```
//!
//! Departures: a call that leaves the triangle returns ⊥, so that the rule can state that none does.
//!
//! Guarantees: n processes obtain different names below n(n+1)/2, each after at most n visits.
use alloc::{format, string::String, vec::Vec};
use core::ops::ControlFlow::{Break, Continue};

use doorway_memory::{Memory, Part, Pid, Property::*, Space};

use super::bouncer::{Direction, visit};
use crate::{About, Condition::Tso, Size, claim::holds, pinned::at};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "renaming",
    aliases: &["moir-anderson"],
    title: "renaming by a triangle of bouncers",
    source: "Herlihy & Shavit, Fig. 2.20",
    claims: &[holds(Rule), holds(WaitFree)],
    tolerates: &[Tso],
    pinned: &[at(3).finds(14_887), at(4).finds(2_884_713).takes("5 s"), at(3).under(&[Tso]).finds(41_573).fences(2)],
    ..About::PART
};

/// Creates the part for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> Renaming<M> {
    Renaming::new(space, size.n)
}

/// The triangle; see the [module](self).
pub struct Renaming<M: Memory> {
    n: usize,
    last: Vec<M::Reg<Option<usize>>>,
    go_right: Vec<M::Reg<bool>>,
}

impl<M: Memory> Renaming<M> {
    /// A triangle with `n` bouncers to a side, for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        let bouncers = n * (n + 1) / 2;
        Renaming { n, last: space.array("last", bouncers, None), go_right: space.array("goRight", bouncers, false) }
    }
}

impl<M: Memory> Part<M> for Renaming<M> {
    type Outcome = Option<usize>;

    fn call(&self, m: &mut M, p: Pid) -> Result<Option<usize>, M::Halt> {
        m.turns((0, 0), |m, (row, column)| {
            if row + column == self.n {
                return Ok(Break(None));
            }
            let name = name(row, column);
            Ok(match visit(m, p, &self.last[name], &self.go_right[name])? {
                Direction::Down => Continue((row + 1, column)),
                Direction::Right => Continue((row, column + 1)),
                Direction::Stop => Break(Some(name)),
            })
        })
    }

    fn rule(&self, latest: &[Option<Option<usize>>]) -> Result<(), String> {
        for (p, outcome) in latest.iter().enumerate() {
            match outcome {
                Some(None) => return Err(format!("p{p} left the triangle without a name")),
                Some(Some(name)) if latest[..p].contains(outcome) => {
                    return Err(format!("p{p} got the name {name}, which is taken"));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// The number of a bouncer: counted diagonal by diagonal, each from the top.
fn name(row: usize, column: usize) -> usize {
    let diagonal = row + column;
    diagonal * (diagonal + 1) / 2 + row
}

#[cfg(test)]
mod tests {
    use doorway_memory::Solo;

    use super::*;

    #[test]
    fn bouncers_are_numbered_as_in_the_figure() {
        assert_eq!([name(0, 0), name(0, 1), name(1, 0), name(0, 2), name(1, 1), name(2, 0)], [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn sequential_callers_get_different_names() {
        let mut solo = Solo::new();
        let renaming = Renaming::new(&mut solo, 3);
        let names = [0, 1, 2].map(|p| renaming.call(&mut solo, p));
        assert_eq!(names, [Ok(Some(0)), Ok(Some(1)), Ok(Some(3))]);
    }

    #[test]
    fn rule_forbids_duplicate_and_missing_names() {
        let renaming = Renaming::new(&mut Solo::new(), 2);
        assert!(renaming.rule(&[Some(Some(0)), Some(Some(2))]).is_ok());
        assert_eq!(renaming.rule(&[Some(Some(1)), Some(Some(1))]).unwrap_err(), "p1 got the name 1, which is taken");
        assert_eq!(renaming.rule(&[Some(None), None]).unwrap_err(), "p0 left the triangle without a name");
    }
}
