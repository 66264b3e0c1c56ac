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

use crate::{About, Claim::Holds, Kind};

/// What is known of it.
pub const ABOUT: About = About {
    name: "bouncer",
    aliases: &["splitter"],
    title: "the bouncer",
    source: "Herlihy & Shavit, Fig. 2.19",
    kind: Kind::Part,
    claims: &[Holds(Rule), Holds(WaitFree)],
    ..About::LOCK
};

/// Where a visitor is told to go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// To the next bouncer in the column.
    Down,
    /// To the next bouncer on the row.
    Right,
    /// Nowhere: this one is ours.
    Stop,
}

impl Value for Way {
    #[inline(always)]
    fn to_word(self) -> u64 {
        self as u64
    }
    #[inline(always)]
    fn of_word(word: u64) -> Self {
        match word {
            0 => Way::Down,
            1 => Way::Right,
            _ => Way::Stop,
        }
    }
}

/// The bouncer; see the [module](self).
pub struct Bouncer<M: Memory> {
    last: M::Reg<Option<usize>>,
    go_right: M::Reg<bool>,
}

impl<M: Memory> Bouncer<M> {
    /// A bouncer that nobody has visited, for any number of processes.
    pub fn new(space: &mut impl Space<Mem = M>) -> Self {
        Bouncer { last: space.shared("last", None), go_right: space.shared("goRight", false) }
    }
}

impl<M: Memory> Part<M> for Bouncer<M> {
    type Outcome = Way;

    fn call(&self, m: &mut M, p: Pid) -> Result<Way, M::Halt> {
        visit(m, p, &self.last, &self.go_right)
    }

    fn rule(&self, latest: &[Option<Way>]) -> Result<(), String> {
        let told = |way| latest.iter().filter(|&&one| one == Some(way)).count();
        let n = latest.len();
        match (told(Way::Stop), told(Way::Down), told(Way::Right)) {
            (stop, _, _) if stop > 1 => Err(format!("{stop} processes were told to stop")),
            (_, down, _) if down >= n => Err(format!("all {n} processes were told to go down")),
            (_, _, right) if right >= n => Err(format!("all {n} processes were told to go right")),
            _ => Ok(()),
        }
    }
}

/// A visit to the bouncer made of these two registers.
pub(crate) fn visit<M: Memory>(
    m: &mut M,
    p: Pid,
    last: &M::Reg<Option<usize>>,
    go_right: &M::Reg<bool>,
) -> Result<Way, M::Halt> {
    m.at("9").write(last, Some(p))?;
    m.at("9").fence()?; // or two find the way free, and neither sees the other in `last`
    if m.at("10").test(go_right, |right| right)? {
        return Ok(Way::Right);
    }
    m.at("12").write(go_right, true)?;
    m.at("12").fence()?; // or one who comes later finds the way free, and we do not see it in `last`
    Ok(if m.at("13").test(last, |last| last == Some(p))? { Way::Stop } else { Way::Down })
}

#[cfg(test)]
mod tests {
    use doorway_memory::Solo;

    use super::*;

    #[test]
    fn the_rule_allows_one_stop_and_neither_everyone_down_nor_everyone_right() {
        let bouncer = Bouncer::new(&mut Solo::new());
        let rule = |told: [Way; 2]| bouncer.rule(&told.map(Some));
        assert!(rule([Way::Stop, Way::Right]).is_ok());
        assert!(rule([Way::Down, Way::Right]).is_ok());
        assert_eq!(rule([Way::Stop, Way::Stop]).unwrap_err(), "2 processes were told to stop");
        assert_eq!(rule([Way::Down, Way::Down]).unwrap_err(), "all 2 processes were told to go down");
        assert_eq!(rule([Way::Right, Way::Right]).unwrap_err(), "all 2 processes were told to go right");
    }

    #[test]
    fn one_alone_is_told_to_stop() {
        let mut solo = Solo::new();
        let bouncer = Bouncer::new(&mut solo);
        assert_eq!(bouncer.call(&mut solo, 1), Ok(Way::Stop));
    }
}
