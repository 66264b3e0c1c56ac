//! Queues of processes, and names for the first of them.
use core::fmt;

use crate::{Pid, Ticket, Value, observed};

/// A queue of processes: the content of the register that [`Space::queue`](crate::Space::queue) makes, on which
/// [`join`](crate::Memory::join), [`until_among`](crate::Memory::until_among) and [`leave`](crate::Memory::leave) work.
///
/// In a word it has room for [`Queue::MOST`] processes: four bits for each, the first one lowest; process p is encoded
/// as p + 1, and the end as 0. A memory whose queues are not words has no such limit.
///
/// ```
/// use doorway_memory::{Memory, Solo, Space};
///
/// let mut m = Solo::new();
/// let queue = m.queue("Q", 3);
/// for p in [2, 0, 1] {
///     m.join(&queue, p)?;
/// }
/// m.leave(&queue, 2)?;
/// m.until_among(&queue, 0, 1)?;
/// assert_eq!(format!("{:?}", m.read(&queue)?), "[0, 1]");
/// # Ok::<(), core::convert::Infallible>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Queue(u64);

impl Queue {
    /// The queue without processes.
    pub const EMPTY: Queue = Queue(0);

    /// The largest number of processes whose queue fits in a word.
    pub const MOST: usize = 15;

    /// The processes, the first one first.
    ///
    /// ```
    /// use doorway_memory::Queue;
    /// assert!(Queue::EMPTY.with(4).with(2).processes().eq([4, 2]));
    /// ```
    pub fn processes(self) -> impl Iterator<Item = Pid> {
        (0..Self::MOST).map_while(move |i| (self.0 >> (4 * i) & 15).checked_sub(1)).map(|p| p as Pid)
    }

    /// The number of processes before `p`, if `p` is in the queue.
    fn before(self, p: Pid) -> Option<usize> {
        self.processes().position(|q| q == p)
    }

    /// Whether `p` is one of the first `k`.
    ///
    /// ```
    /// use doorway_memory::Queue;
    /// let queue = Queue::EMPTY.with(4).with(2);
    /// assert!(queue.is_among(4, 1) && !queue.is_among(2, 1) && queue.is_among(2, 2));
    /// assert!(!queue.is_among(0, 3));
    /// ```
    #[must_use]
    pub fn is_among(self, p: Pid, k: usize) -> bool {
        observed::asked(p, k);
        self.processes().take(k).any(|q| q == p)
    }

    /// The queue with `p` at its end, or as it is if `p` is in it.
    ///
    /// See the [example of `is_among`](Queue::is_among).
    #[must_use]
    pub fn with(self, p: Pid) -> Queue {
        match self.before(p) {
            Some(_) => self,
            None => Queue(self.0 | (p as u64 + 1) << (4 * self.processes().count())),
        }
    }

    /// The queue without `p`.
    ///
    /// ```
    /// use doorway_memory::Queue;
    /// let queue = Queue::EMPTY.with(4).with(2);
    /// assert_eq!(queue.without(4), Queue::EMPTY.with(2));
    /// assert_eq!(queue.without(0), queue);
    /// ```
    #[must_use]
    pub fn without(self, p: Pid) -> Queue {
        let Some(at) = self.before(p) else { return self };
        let before = (1 << (4 * at)) - 1;
        Queue(self.0 & before | self.0 >> 4 & !before)
    }
}

impl Value for Queue {
    fn to_word(self) -> u64 {
        self.0
    }
    fn of_word(word: u64) -> Self {
        Queue(word)
    }
    fn queue(self) -> Option<Queue> {
        Some(self)
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.processes()).finish()
    }
}

/// A name that processes claim: which process has it, and the token of the latest claim.
///
/// Every claim has a larger token than the claims of this name before it. [`claim`](crate::Memory::claim) and
/// [`unclaim`](crate::Memory::unclaim) work on registers that hold this.
///
/// ```
/// use doorway_memory::{Claim, Memory, Solo, Space};
///
/// let mut m = Solo::new();
/// let names = m.array("Name", 2, Claim::FREE);
/// let (first, token) = m.claim(&names, 0)?;
/// let (second, _) = m.claim(&names, 1)?;
/// m.unclaim(&names[first], 0)?;
/// let (third, later) = m.claim(&names, 2)?;
/// assert_eq!([first, second, third], [0, 1, 0]);
/// assert!(later > token);
/// # Ok::<(), core::convert::Infallible>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Claim {
    by: Option<Pid>,
    token: Ticket,
}

impl Claim {
    /// The name that no process has claimed yet.
    pub const FREE: Claim = Claim { by: None, token: Ticket::ZERO };

    /// The token that a claim would get now: none if a process has the name.
    ///
    /// ```
    /// use doorway_memory::{Claim, Ticket};
    /// assert_eq!(Claim::FREE.next_token(), Some(Ticket::ZERO.next()));
    /// assert_eq!(Claim::FREE.claimed(3).next_token(), None);
    /// ```
    #[must_use]
    pub fn next_token(self) -> Option<Ticket> {
        self.by.is_none().then(|| self.token.next())
    }

    /// The name after `p` has tried to claim it.
    ///
    /// See the [example of `next_token`](Claim::next_token).
    #[must_use]
    pub fn claimed(self, p: Pid) -> Claim {
        self.next_token().map_or(self, |token| Claim { by: Some(p), token })
    }

    /// The name after `p` has given it up, if it had it.
    #[must_use]
    pub(crate) fn unclaimed(self, p: Pid) -> Claim {
        Claim { by: self.by.filter(|&q| q != p), ..self }
    }
}

/// The low byte has the process, as p + 1.
impl Value for Claim {
    fn to_word(self) -> u64 {
        self.token.to_word() << 8 | self.by.to_word()
    }
    fn of_word(word: u64) -> Self {
        Claim { by: Option::of_word(word & 255), token: Ticket::of_word(word >> 8) }
    }
    fn map_tickets(self, f: &mut dyn FnMut(Ticket) -> Ticket) -> Self {
        Claim { token: f(self.token), ..self }
    }
    fn show(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.by.show(f)?;
        f.write_str(", ")?;
        self.token.show(f)
    }
}

#[cfg(test)]
mod tests {
    use alloc::{vec, vec::Vec};

    use super::*;

    #[test]
    fn queue_agrees_with_a_list_even_when_full() {
        let mut list: Vec<Pid> = vec![];
        let mut queue = Queue::EMPTY;
        for p in (0..Queue::MOST).rev() {
            list.push(p);
            queue = queue.with(p);
        }
        for p in [7, 14, 0, 3, 8, 7] {
            assert_eq!(queue.processes().collect::<Vec<_>>(), list);
            assert_eq!(queue.before(p), list.iter().position(|&q| q == p));
            for k in 0..=Queue::MOST {
                assert_eq!(queue.is_among(p, k), list.iter().take(k).any(|&q| q == p));
            }
            list.retain(|&q| q != p);
            queue = queue.without(p);
        }
        assert_eq!(queue.processes().collect::<Vec<_>>(), list);
        assert_eq!(queue.with(list[1]), queue);
    }

    #[test]
    fn a_claim_survives_its_word() {
        for claim in [Claim::FREE, Claim::FREE.claimed(14), Claim::FREE.claimed(0).unclaimed(0).claimed(3)] {
            assert_eq!(Claim::of_word(claim.to_word()), claim);
        }
    }
}
