//! Colored tickets. After M. J. Fischer, N. A. Lynch, J. E. Burns, A. Borodin, *Distributed FIFO allocation of identical
//! resources using small shared space*, ACM TOPLAS 11(1), 1989.
//!
//! ```text
//!     one shared variable, with these parts; lines 1-3 and 5-8 are one step each
//!     Issue = (0, 0)      the last ticket that was taken: its number, 0 to N, and its color, 0 to k
//!     Valid = (k, 0)      the last ticket that may be inside
//!     Quant = [k, 0 … 0]  for each color, how many valid tickets are not given back
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
//!     a new color is the least c, other than the present one, with Quant[c] = 0
//! ```
//!
//! Tickets are numbered from 1 to N in one color, then in another. Who gives a ticket back makes the next one valid, taken
//! or not. So k valid tickets are not given back at any time; and a color other than that of Valid is all valid, or else
//! not in use. When a new color is needed the k tickets have at most k colors, so one of k+1 is free:
//! `colored-ticket-k-colours` has one color less, and fails.
//!
//! We did not have the text of the paper: the names are its own, the lines are ours.
//!
//! Departures: for at most 12 processes, for which everything fits in a word.
//!
//! Guarantees: those of [`super::fischer_queue`], which it follows step by step: k-exclusion,
//! starvation-freedom even if k-1 processes stop for ever, first-in-first-enabled, bounded exit. For a given k the variable
//! has O(N²) values. Everyone waits on the one variable that everyone changes.
use core::fmt;

use doorway_memory::{Exclusion, Memory, Pid, Space, Value};

use super::fischer_queue;
use crate::{About, Processes};

/// For more processes there are more colors than fit in a word.
const MOST: usize = 12;

/// What is known of it.
pub const ABOUT: About = About {
    name: "colored-ticket",
    aliases: &["fischer1989"],
    title: "colored tickets in one shared variable",
    source: "after Fischer et al. 1989",
    processes: Processes::Between(2, MOST),
    ..fischer_queue::ABOUT
};

/// The lock; see the [module](self).
pub struct ColoredTicket<M: Memory> {
    /// Tickets of a color.
    n: u8,
    colors: u8,
    v: M::Reg<Tickets>,
}

impl<M: Memory> ColoredTicket<M> {
    /// A free lock for `n` processes, of which `k` < `n` may be inside.
    ///
    /// # Panics
    /// For more than 12 processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        ColoredTicket::with_colors(space, n, k, k + 1)
    }

    /// The same with so many colors, enough or not.
    ///
    /// # Panics
    /// For more than 12 processes, or colors.
    pub fn with_colors(space: &mut impl Space<Mem = M>, n: usize, k: usize, colors: usize) -> Self {
        assert!(n <= MOST, "a word holds the tickets of at most {MOST} processes, not {n}");
        assert!((1..=MOST).contains(&colors), "a word holds from 1 to {MOST} colors, not {colors}");
        let mut quant = [0; MOST];
        quant[0] = k as u8;
        let free = Tickets { issue: Ticket::default(), valid: Ticket { number: k as u8, color: 0 }, quant };
        ColoredTicket { n: n as u8, colors: colors as u8, v: space.shared("V", free) }
    }

    /// What comes after a ticket, if `other` is the color in use besides its own.
    fn next(&self, v: &Tickets, ticket: Ticket, other: u8) -> Ticket {
        if ticket.number < self.n {
            Ticket { number: ticket.number + 1, ..ticket }
        } else {
            let color = if other != ticket.color { other } else { self.new_color(v, ticket.color) };
            Ticket { number: 1, color }
        }
    }

    /// A color that is free; if there are too few of them for that, the next.
    fn new_color(&self, v: &Tickets, present: u8) -> u8 {
        let free = (0..self.colors).find(|&color| color != present && v.quant[color as usize] == 0);
        free.unwrap_or((present + 1) % self.colors)
    }

    /// Lines 1-3.
    fn issued(&self, v: Tickets) -> Tickets {
        Tickets { issue: self.next(&v, v.issue, v.valid.color), ..v }
    }

    /// Lines 5-8.
    fn given_back(&self, mut v: Tickets, color: u8) -> Tickets {
        // Four bits each, which are enough; they wrap only where there are too few colors, and then it does not matter.
        let given_back = &mut v.quant[color as usize];
        *given_back = given_back.wrapping_sub(1) & 15;
        v.valid = self.next(&v, v.valid, v.issue.color);
        let made_valid = &mut v.quant[v.valid.color as usize];
        *made_valid = (*made_valid + 1) & 15;
        v
    }
}

impl<M: Memory> Exclusion<M> for ColoredTicket<M> {
    type Place = Ticket;
    const SYMMETRIC: bool = true;

    fn doorway(&self, m: &mut M, _: Pid) -> Result<Ticket, M::Halt> {
        let before = m.at("1-3").update(&self.v, |v| self.issued(v))?;
        Ok(self.issued(before).issue)
    }

    fn wait(&self, m: &mut M, _: Pid, &t: &Ticket) -> Result<(), M::Halt> {
        m.at("4").until(&self.v, move |v| {
            if t.color == v.valid.color { t.number <= v.valid.number } else { v.quant[t.color as usize] > 0 }
        })
    }

    /// Only the color is given back.
    fn inside(&self, t: &Ticket) -> Ticket {
        Ticket { number: 0, ..*t }
    }

    fn exit(&self, m: &mut M, _: Pid, t: &Ticket) -> Result<(), M::Halt> {
        m.at("5-8").update(&self.v, |v| self.given_back(v, t.color))?;
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

/// All of the shared variable: four bits for each number, 8 + 8 + 4 x 12 in all.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Tickets {
    issue: Ticket,
    valid: Ticket,
    quant: [u8; MOST],
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
        // Colors that are not in use need not be shown.
        let used = MOST - self.quant.iter().rev().take_while(|&&count| count == 0).count();
        write!(f, "Issue {:?} Valid {:?} Quant {:?}", self.issue, self.valid, &self.quant[..used])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_lock_fits_in_a_word() {
        let most = MOST as u8;
        let last = Ticket { number: most, color: most - 1 };
        let tickets = Tickets { issue: last, valid: Ticket { number: 1, color: 0 }, quant: [most - 1; MOST] };
        assert_eq!(Tickets::of_word(tickets.to_word()), tickets);
    }
}
