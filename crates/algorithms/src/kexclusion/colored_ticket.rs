//! Colored tickets. After M. J. Fischer, N. A. Lynch, J. E. Burns, A. Borodin, *Distributed FIFO allocation of
//! identical resources using small shared space*, ACM TOPLAS 11(1), 1989.
//!
//! ```text
//!     one shared variable with the following parts; lines 1-3 and 5-8 are one step each
//!     Issue = (0, 0)      the last ticket that was taken: its number, 0 to N, and its color, 0 to k
//!     Valid = (k, 0)      the last ticket that may enter
//!     Quant = [k, 0 … 0]  for each color, the number of valid tickets that have not been returned
//!
//!  1  if Issue.number < N: Issue.number := Issue.number + 1
//!  2  else: Issue := (1, if Valid.color ≠ Issue.color: Valid.color, else a new color)
//!  3  t := Issue                                             (doorway ends)
//!  4  await t.color = Valid.color and t.number <= Valid.number
//!        or t.color ≠ Valid.color and Quant[t.color] > 0
//!     critical section
//!  5  Quant[t.color] := Quant[t.color] - 1
//!  6  if Valid.number < N: Valid.number := Valid.number + 1
//!  7  else: Valid := (1, if Issue.color ≠ Valid.color: Issue.color, else a new color)
//!  8  Quant[Valid.color] := Quant[Valid.color] + 1
//!
//!     a new color is the least c, other than the current one, with Quant[c] = 0
//! ```
//!
//! Tickets are numbered from 1 to N in one color, then in another. Returning a ticket makes the next one valid,
//! whether or not it has been taken. So at any time k valid tickets have not been returned; and of a color other than
//! that of Valid, either all tickets are valid or none is. When a new color is needed, the k tickets have at most k
//! colors, so one of k+1 is free: `colored-ticket-k-colours` has one color less, and fails.
//!
//! The text of the paper was not available: the names are the paper's, the lines are this project's.
//!
//! Departures: for at most 12 processes, so that the variable fits in a word.
//!
//! Guarantees: those of [`super::fischer_queue`], which it simulates step by step: k-exclusion, starvation-freedom
//! even if k-1 processes crash, first-in-first-enabled, bounded exit. For a given k the variable has O(N²) values.
//! All waiters spin on the one variable that every process changes.
use core::fmt;

use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space, Value};

use super::fischer_queue;
use crate::{
    About,
    Condition::{Crashes, Tso},
    Processes, Size,
    claim::holds,
    pinned::at,
};

/// The largest number of processes: for more, the colors do not fit in a word.
const MAX_N: usize = 12;

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "colored-ticket",
    aliases: &["fischer1989"],
    title: "colored tickets in one shared variable",
    source: "after Fischer et al. 1989",
    processes: Processes::Between(2, MAX_N),
    claims: &[
        holds(Exclusion),
        holds(DeadlockFreedom),
        holds(StarvationFreedom),
        holds(KFcfs),
        holds(Fife),
        holds(BoundedExit),
        holds(WaitFreeDoorway),
    ],
    tolerates: &[Tso, Crashes],
    pinned: &[
        at(2).k(1).finds(37),
        at(3).k(1).finds(187),
        at(3).k(2).finds(2_362),
        at(4).k(2).finds(18_538),
        at(4).k(3).finds(229_237),
        at(5).k(2).finds(148_849),
        at(3).k(2).crashes(1).finds(2_362),
        at(4).k(2).crashes(1).finds(18_538),
        at(4).k(3).crashes(2).finds(229_237),
        at(3).under(&[Tso]).finds(2_362).fences(0),
        at(2).k(1).remote(Some(3), None),
        at(3).k(1).remote(Some(5), None),
        at(3).k(2).remote(Some(3), None),
        at(4).k(2).remote(Some(5), None),
    ],
    ..fischer_queue::ABOUT
};

/// The lock's type.
pub type Lock<M> = ColoredTicket<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> ColoredTicket<M> {
    ColoredTicket::new(space, size.n, size.k)
}

/// The lock; see the [module](self).
pub struct ColoredTicket<M: Memory> {
    /// The number of tickets of each color.
    n: u8,
    colors: u8,
    v: M::Reg<Tickets>,
}

impl<M: Memory> ColoredTicket<M> {
    /// A free lock for `n` processes with capacity `k` < `n`.
    ///
    /// # Panics
    /// For more than 12 processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        ColoredTicket::with_colors(space, n, k, k + 1)
    }

    /// A lock with `colors` colors: k+1 are enough, fewer are not.
    ///
    /// # Panics
    /// For more than 12 processes, or colors.
    pub fn with_colors(space: &mut impl Space<Mem = M>, n: usize, k: usize, colors: usize) -> Self {
        assert!(n <= MAX_N, "a word holds the tickets of at most {MAX_N} processes, not {n}");
        assert!((1..=MAX_N).contains(&colors), "a word holds from 1 to {MAX_N} colors, not {colors}");
        let mut quant = [0; MAX_N];
        quant[0] = k as u8;
        let free = Tickets { issue: Ticket::default(), valid: Ticket { number: k as u8, color: 0 }, quant };
        ColoredTicket { n: n as u8, colors: colors as u8, v: space.shared("V", free) }
    }

    /// The ticket after `ticket`, if `other` is the other color in use.
    fn next(&self, v: &Tickets, ticket: Ticket, other: u8) -> Ticket {
        if ticket.number < self.n {
            Ticket { number: ticket.number + 1, ..ticket }
        } else {
            let color = if other != ticket.color { other } else { self.new_color(v, ticket.color) };
            Ticket { number: 1, color }
        }
    }

    /// A free color, or the next one if none is free because there are too few.
    fn new_color(&self, v: &Tickets, current: u8) -> u8 {
        let free = (0..self.colors).find(|&color| color != current && v.quant[color as usize] == 0);
        free.unwrap_or((current + 1) % self.colors)
    }

    /// Lines 1-3.
    fn issued(&self, v: Tickets) -> Tickets {
        Tickets { issue: self.next(&v, v.issue, v.valid.color), ..v }
    }

    /// Lines 5-8.
    fn returned(&self, mut v: Tickets, color: u8) -> Tickets {
        // Counts have four bits, which is enough. They wrap only if there are too few colors, and then the lock is
        // broken.
        let returned = &mut v.quant[color as usize];
        *returned = returned.wrapping_sub(1) & 15;
        v.valid = self.next(&v, v.valid, v.issue.color);
        let made_valid = &mut v.quant[v.valid.color as usize];
        *made_valid = (*made_valid + 1) & 15;
        v
    }
}

impl<M: Memory> Exclusion<M> for ColoredTicket<M> {
    type Place = Ticket;
    /// The color of the ticket, which is all that the exit needs.
    type Inside = u8;
    const SYMMETRIC: bool = true;

    fn doorway(&self, m: &mut M, _: Pid) -> Result<Ticket, M::Halt> {
        let before = m.at("1-3").update(&self.v, |v| self.issued(v))?;
        Ok(self.issued(before).issue)
    }

    fn wait(&self, m: &mut M, _: Pid, &t: &Ticket) -> Result<u8, M::Halt> {
        m.at("4").until(&self.v, move |v| {
            if t.color == v.valid.color { t.number <= v.valid.number } else { v.quant[t.color as usize] > 0 }
        })?;
        Ok(t.color)
    }

    fn exit(&self, m: &mut M, _: Pid, &color: &u8) -> Result<(), M::Halt> {
        m.at("5-8").update(&self.v, |v| self.returned(v, color))?;
        Ok(())
    }
}

/// A number and a color.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Ticket {
    number: u8,
    color: u8,
}

impl Value for Ticket {
    fn to_word(self) -> u64 {
        u64::from(self.number) << 4 | u64::from(self.color)
    }
    fn of_word(word: u64) -> Self {
        Ticket { number: (word >> 4 & 15) as u8, color: (word & 15) as u8 }
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.number, self.color)
    }
}

/// The whole shared variable: four bits for each number, 8 + 8 + 4 x 12 in all.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Tickets {
    issue: Ticket,
    valid: Ticket,
    quant: [u8; MAX_N],
}

impl Value for Tickets {
    fn to_word(self) -> u64 {
        let quant = self.quant.iter().rev().fold(0, |word, &count| word << 4 | u64::from(count));
        quant << 16 | self.valid.to_word() << 8 | self.issue.to_word()
    }
    fn of_word(word: u64) -> Self {
        Tickets {
            issue: Ticket::of_word(word),
            valid: Ticket::of_word(word >> 8),
            quant: core::array::from_fn(|color| (word >> (16 + 4 * color) & 15) as u8),
        }
    }
}

impl fmt::Debug for Tickets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Omits the colors that are not in use at the end.
        let used = MAX_N - self.quant.iter().rev().take_while(|&&count| count == 0).count();
        write!(f, "Issue {:?} Valid {:?} Quant {:?}", self.issue, self.valid, &self.quant[..used])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn largest_lock_fits_in_a_word() {
        let most = MAX_N as u8;
        let last = Ticket { number: most, color: most - 1 };
        let tickets = Tickets { issue: last, valid: Ticket { number: 1, color: 0 }, quant: [most - 1; MAX_N] };
        assert_eq!(Tickets::of_word(tickets.to_word()), tickets);
    }
}
