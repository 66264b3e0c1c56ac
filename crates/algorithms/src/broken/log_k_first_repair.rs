//! k-exclusion with O(log k) RMRs, half repaired. M. J. Choi, *A solution to k-exclusion with O(log k) RMR complexity*,
//! Dartmouth 2011, section 2, with every waiter watching its own cell too.
//!
//! ```text
//! 8      if a < e and Exit <= u + 2k:
//!    else as `log-k`
//! ```
//!
//! Departures: the first of the two repairs of `log-k`.
//!
//! Guarantees: k-exclusion, bounded exit. Fails, for k < n <= 2k: starvation-freedom after k-1 crashes. Two processes
//! that began an update of the cell a round ago and are not yet stale can make both compare-and-swaps of a releasing
//! process fail, so that its partner is never enabled. The shortest such execution has four processes, k = 3 and 17
//! passages.
use doorway_memory::{Memory, Property::*, Space};

use crate::{
    About,
    Condition::{Crashes, Tso},
    Size,
    broken::log_k_printed,
    claim::{fails, holds},
    pinned::at,
};

pub use super::log_k_printed::LogKPrinted;

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "log-k-first-repair",
    aliases: &[],
    title: "k-exclusion with O(log k) RMRs, half repaired",
    source: "Choi 2011, half repaired",
    claims: &[
        holds(Exclusion),
        holds(BoundedExit),
        holds(WaitFreeDoorway),
        fails(StarvationFreedom).under(&[Crashes]).from(4, 3),
    ],
    tolerates: &[Tso],
    defect: "with n = 4 and k = 3 a process can starve after two crashes",
    remark: "the shortest such execution has 17 passages",
    departures: "",
    pinned: &[
        at(3).k(2).finds(114_069),
        at(3).under(&[Tso]).finds(114_069).fences(0),
        at(4)
            .k(3)
            .passages_in_all(17)
            .crashes(2)
            .symmetric()
            .refutes(StarvationFreedom, "starvation-freedom FAILS in 152 steps")
            .takes("4 minutes, 4 GB"),
        at(3).k(2).remote(Some(13), None).takes("5 s"),
    ],
    ..log_k_printed::ABOUT
};

/// The lock's type.
pub type Lock<M> = LogKPrinted<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> LogKPrinted<M> {
    LogKPrinted::with_first_repair(space, size.n, size.k)
}
