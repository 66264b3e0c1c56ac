//! The black-white bakery. After G. Taubenfeld, *The black-white bakery algorithm and related bounded-space, adaptive,
//! local-spinning and FIFO algorithms*, DISC 2004, pp. 56-70.
//!
//! ```text
//!  1  choosing[i] := true
//!  2  mycolor := color
//!  3  number := 1 + max{ pair[j].number : pair[j].color = mycolor }
//!     pair[i] := (mycolor, number)
//!  4  choosing[i] := false                                   (doorway ends)
//!     for each j ≠ i:
//!  5      await not choosing[j]
//!  6      if pair[j].color = mycolor:
//!  7          await pair[j].number = 0 or (number, i) < (pair[j].number, j) or pair[j].color ≠ mycolor
//!  8      else await pair[j].number = 0 or pair[j].color = mycolor or color ≠ mycolor
//!     critical section
//!  9  color := the color other than mycolor
//! 10  pair[i] := (mycolor, 0)
//! ```
//!
//! The text of the paper was not available; this is the usual presentation, with line numbers of this project.
//!
//! Departures: a process' color and number are one register, written once both are known. Line 3 is n reads, one
//! after the other; line 8 reads the pair first, and `color` only if the pair does not decide. `color`, initially
//! arbitrary, is white.
//!
//! Guarantees: mutual exclusion, starvation-freedom, first-come-first-served, bounded exit; no number exceeds n.
//! Processes with the color that `color` does not have are served first.
//!
//! Numbers are `Ticket`s, as the algorithm only compares them and takes the next one; so exclusion and order can be
//! decided for every n. The checker renumbers tickets, so it does not see how large they become: that no number
//! exceeds n is checked with real tickets, for n = 2 and 3, by a test of the catalogue.
use alloc::vec::Vec;
use core::fmt;

use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space, Ticket, Value};

use crate::{
    About,
    Condition::Tso,
    LocalSpin, Size,
    claim::{bypass, holds},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "black-white-bakery",
    aliases: &["taubenfeld2004"],
    title: "the black-white bakery",
    source: "after Taubenfeld 2004",
    local_spin: Some(LocalSpin::CACHED),
    claims: &[
        holds(Exclusion),
        holds(DeadlockFreedom),
        holds(StarvationFreedom),
        holds(Fcfs),
        bypass(Some(0)),
        holds(BoundedExit),
        holds(WaitFreeDoorway),
    ],
    tolerates: &[Tso],
    remark: "a bakery with bounded numbers, at the cost of one more bit",
    pinned: &[
        at(2).finds(1_547),
        at(3).finds(193_496),
        at(2).under(&[Tso]).finds(4_374).fences(2),
        at(3).under(&[Tso]).finds(587_288).fences(2),
        at(2).needs_fences(),
        at(3).remote(Some(18), None),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = BlackWhiteBakery<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> BlackWhiteBakery<M> {
    BlackWhiteBakery::new(space, size.n)
}

/// The color of a ticket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Color {
    /// The initial color.
    White,
    /// The other color.
    Black,
}

impl Color {
    fn other(self) -> Color {
        match self {
            Color::White => Color::Black,
            Color::Black => Color::White,
        }
    }
}

impl Value for Color {
    #[inline(always)]
    fn to_word(self) -> u64 {
        self as u64
    }
    #[inline(always)]
    fn of_word(word: u64) -> Self {
        if word == Color::White as u64 { Color::White } else { Color::Black }
    }
    fn show(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Color::White => "white",
            Color::Black => "black",
        })
    }
}

/// A colored ticket. The number [`Ticket::ZERO`] means "no ticket".
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pair {
    color: Color,
    number: Ticket,
}

impl Value for Pair {
    #[inline(always)]
    fn to_word(self) -> u64 {
        self.number.to_word() << 1 | self.color.to_word()
    }
    #[inline(always)]
    fn of_word(word: u64) -> Self {
        Pair { color: Color::of_word(word & 1), number: Ticket::of_word(word >> 1) }
    }
    fn map_tickets(self, f: &mut dyn FnMut(Ticket) -> Ticket) -> Self {
        Pair { number: f(self.number), ..self }
    }
    fn show(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        self.color.show(f)?;
        write!(f, ", {:?})", self.number)
    }
}

/// The lock; see the [module](self).
pub struct BlackWhiteBakery<M: Memory> {
    choosing: Vec<M::Reg<bool>>,
    pair: Vec<M::Reg<Pair>>,
    color: M::Reg<Color>,
}

impl<M: Memory> BlackWhiteBakery<M> {
    /// A free lock for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        BlackWhiteBakery {
            choosing: space.per_process("choosing", n, false),
            pair: space.per_process("pair", n, Pair { color: Color::White, number: Ticket::ZERO }),
            color: space.shared("color", Color::White),
        }
    }

    /// Waits until `j` does not precede `i`, which has the ticket `mine`.
    fn wait_for(&self, m: &mut M, j: Pid, i: Pid, mine: Pair) -> Result<(), M::Halt> {
        m.at("5").until(&self.choosing[j], |choosing| !choosing)?;
        if m.at("6").test(&self.pair[j], |pair| pair.color == mine.color)? {
            m.at("7").until(&self.pair[j], move |pair| {
                pair.number == Ticket::ZERO || (mine.number, i) < (pair.number, j) || pair.color != mine.color
            })
        } else {
            m.spin(|m| {
                Ok(m.at("8").test(&self.pair[j], |pair| pair.number == Ticket::ZERO || pair.color == mine.color)?
                    || m.at("8").test(&self.color, |color| color != mine.color)?)
            })
        }
    }
}

impl<M: Memory> Exclusion<M> for BlackWhiteBakery<M> {
    type Place = Pair;
    type Inside = Pair;

    fn doorway(&self, m: &mut M, i: Pid) -> Result<Pair, M::Halt> {
        m.at("1").write(&self.choosing[i], true)?;
        m.at("1").fence()?; // without it, a process that misses `choosing` may also miss the new pair
        let color = m.at("2").read(&self.color)?;
        let max = m.fold(self.pair.len(), Ticket::ZERO, |m, max, j| {
            let pair = m.at("3").read(&self.pair[j])?;
            Ok(if pair.color == color { max.max(pair.number) } else { max })
        })?;
        let mine = Pair { color, number: max.next() };
        m.at("3").write(&self.pair[i], mine)?;
        m.at("4").write(&self.choosing[i], false)?;
        m.at("4").fence()?; // without it, two processes may both pass lines 6 to 8 before either pair is visible
        Ok(mine)
    }

    fn wait(&self, m: &mut M, i: Pid, &mine: &Pair) -> Result<Pair, M::Halt> {
        m.each_but(i, self.pair.len(), |m, j| self.wait_for(m, j, i, mine))?;
        Ok(mine)
    }

    fn exit(&self, m: &mut M, i: Pid, mine: &Pair) -> Result<(), M::Halt> {
        m.at("9").write(&self.color, mine.color.other())?;
        m.at("10").write(&self.pair[i], Pair { number: Ticket::ZERO, ..*mine })
    }
}
