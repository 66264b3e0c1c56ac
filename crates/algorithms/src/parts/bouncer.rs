//! The bouncer. M. Herlihy, N. Shavit, V. Luchangco, M. Spear, *The Art of Multiprocessor Programming*, 2nd ed., Figure
//! 2.19 and Exercise 2.9; elsewhere it is called a splitter.
//!
//! ```text
//!  9  last := i
//! 10  if goRight:
//! 11      return RIGHT
//! 12  goRight := true
//! 13  if last = i:
//! 14      return STOP
//! 16  return DOWN
//! ```
//!
//! Departures: none; the -1 of `last` is ⊥.
//!
//! Guarantees: of n visitors at most one is told to stop, at most n-1 to go down and at most n-1 to go right; each
//! visit is at most four accesses.
use alloc::{format, string::String};

use doorway_memory::{Memory, Part, Pid, Property::*, Space, Value};

use crate::{About, Condition::Tso, Size, claim::holds, pinned::at};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "bouncer",
    aliases: &["splitter"],
    title: "the bouncer",
    source: "Herlihy & Shavit, Fig. 2.19",
    claims: &[holds(Rule), holds(WaitFree)],
    tolerates: &[Tso],
    pinned: &[at(3).finds(523), at(4).finds(4_633), at(3).under(&[Tso]).finds(1_241).fences(2), at(3).needs_fences()],
    ..About::PART
};

/// Creates the part for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, _: Size) -> Bouncer<M> {
    Bouncer::new(space)
}

/// The direction a bouncer sends a visitor in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// To the next bouncer in the column.
    Down,
    /// To the next bouncer in the row.
    Right,
    /// Nowhere: the visitor stays at this bouncer.
    Stop,
}

impl Value for Direction {
    #[inline(always)]
    fn to_word(self) -> u64 {
        self as u64
    }
    #[inline(always)]
    fn of_word(word: u64) -> Self {
        match word {
            0 => Direction::Down,
            1 => Direction::Right,
            _ => Direction::Stop,
        }
    }
}

/// The bouncer; see the [module](self).
pub struct Bouncer<M: Memory> {
    last: M::Reg<Option<usize>>,
    go_right: M::Reg<bool>,
}

impl<M: Memory> Bouncer<M> {
    /// A bouncer without visitors, for any number of processes.
    pub fn new(space: &mut impl Space<Mem = M>) -> Self {
        Bouncer { last: space.shared("last", None), go_right: space.shared("goRight", false) }
    }
}

impl<M: Memory> Part<M> for Bouncer<M> {
    type Outcome = Direction;

    fn call(&self, m: &mut M, p: Pid) -> Result<Direction, M::Halt> {
        visit(m, p, &self.last, &self.go_right)
    }

    fn rule(&self, latest: &[Option<Direction>]) -> Result<(), String> {
        let told = |direction| latest.iter().filter(|&&outcome| outcome == Some(direction)).count();
        let n = latest.len();
        match (told(Direction::Stop), told(Direction::Down), told(Direction::Right)) {
            (stop, _, _) if stop > 1 => Err(format!("{stop} processes were told to stop")),
            (_, down, _) if down >= n => Err(format!("all {n} processes were told to go down")),
            (_, _, right) if right >= n => Err(format!("all {n} processes were told to go right")),
            _ => Ok(()),
        }
    }
}

/// Visits the bouncer made of these two registers.
pub(crate) fn visit<M: Memory>(
    m: &mut M,
    p: Pid,
    last: &M::Reg<Option<usize>>,
    go_right: &M::Reg<bool>,
) -> Result<Direction, M::Halt> {
    m.at("9").write(last, Some(p))?;
    m.at("9").fence()?; // without it, two visitors may find `goRight` down and both miss the other in `last`
    if m.at("10").test(go_right, |right| right)? {
        return Ok(Direction::Right);
    }
    m.at("12").write(go_right, true)?;
    m.at("12").fence()?; // without it, a later visitor may find `goRight` down while this one misses it in `last`
    Ok(if m.at("13").test(last, |last| last == Some(p))? { Direction::Stop } else { Direction::Down })
}

#[cfg(test)]
mod tests {
    use doorway_memory::Solo;

    use super::*;

    #[test]
    fn rule_allows_one_stop_and_not_all_down_or_all_right() {
        let bouncer = Bouncer::new(&mut Solo::new());
        let rule = |told: [Direction; 2]| bouncer.rule(&told.map(Some));
        assert!(rule([Direction::Stop, Direction::Right]).is_ok());
        assert!(rule([Direction::Down, Direction::Right]).is_ok());
        assert_eq!(rule([Direction::Stop, Direction::Stop]).unwrap_err(), "2 processes were told to stop");
        assert_eq!(rule([Direction::Down, Direction::Down]).unwrap_err(), "all 2 processes were told to go down");
        assert_eq!(rule([Direction::Right, Direction::Right]).unwrap_err(), "all 2 processes were told to go right");
    }

    #[test]
    fn lone_visitor_stops() {
        let mut solo = Solo::new();
        let bouncer = Bouncer::new(&mut solo);
        assert_eq!(bouncer.call(&mut solo, 1), Ok(Direction::Stop));
    }
}
