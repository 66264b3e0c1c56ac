//! Szymanski's algorithm. After B. K. Szymanski, *A simple solution to Lamport's concurrent programming problem with
//! linear wait*, ICS 1988.
//!
//! ```text
//!  1  flag[i] := 1                                           (doorway, the first write)
//!  2  await for each j: flag[j] is 0, 1 or 2
//!  3  flag[i] := 3
//!  4  if flag[j] = 1 for some j:
//!  5      flag[i] := 2
//!  6      await flag[j] = 4 for some j
//!  7  flag[i] := 4
//!  8  await for each j < i: flag[j] is 0 or 1
//!     critical section
//!  9  await for each j > i: flag[j] is 0, 1 or 4
//! 10  flag[i] := 0
//! ```
//!
//! The text of the paper was not available; this is the usual presentation, a waiting room with an entry and an exit
//! door, with line numbers of this project.
//!
//! Departures: lines 2, 4, 6, 8 and 9 read the flags one at a time, in the order of the processes; on line 9 the order
//! matters to no property.
//!
//! Guarantees: mutual exclusion, starvation-freedom: every process in the waiting room enters before the entry door
//! opens again, and is overtaken at most once. The exit is not bounded: on line 9 a process waits for those that are about to close the door.
use alloc::vec::Vec;

use doorway_memory::{Exclusion, Memory, Pid, Property::*, Space};

use crate::{
    About,
    Condition::Tso,
    LocalSpin, Size,
    claim::{bypass, holds, lacks},
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "szymanski",
    aliases: &["szymanski1988"],
    title: "Szymanski's waiting room",
    source: "after Szymanski 1988",
    local_spin: Some(LocalSpin::CACHED),
    claims: &[
        holds(Exclusion),
        holds(DeadlockFreedom),
        holds(StarvationFreedom),
        lacks(Fcfs),
        bypass(Some(1)),
        lacks(BoundedExit),
    ],
    tolerates: &[Tso],
    remark: "five values for each process, and a waiter is overtaken at most once",
    pinned: &[
        at(2).finds(70),
        at(3).finds(1_440),
        at(4).finds(36_607),
        at(3).under(&[Tso]).finds(5_853).fences(2),
        at(4).under(&[Tso]).finds(203_853).fences(2),
        at(2).needs_fences(),
        at(3).remote(Some(20), None),
    ],
    ..About::LOCK
};

/// The lock's type.
pub type Lock<M> = Szymanski<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> Szymanski<M> {
    Szymanski::new(space, size.n)
}

/// The lock; see the [module](self).
pub struct Szymanski<M: Memory> {
    /// 0: in the remainder, 1: before the entry door, 2: in the waiting room, waiting for others, 3: in the doorway of the
    /// room, 4: the door is closed, and the process enters in the order of numbers.
    flag: Vec<M::Reg<u8>>,
}

impl<M: Memory> Szymanski<M> {
    /// A free lock for `n` processes.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        Szymanski { flag: space.per_process("flag", n, 0) }
    }
}

impl<M: Memory> Exclusion<M> for Szymanski<M> {
    type Place = ();
    type Inside = ();

    fn doorway(&self, m: &mut M, i: Pid) -> Result<(), M::Halt> {
        m.at("1").write(&self.flag[i], 1)?;
        m.at("1").fence() // without it, a process on line 4 may not see that this one is before the door
    }

    fn wait(&self, m: &mut M, i: Pid, (): &()) -> Result<(), M::Halt> {
        let n = self.flag.len();
        m.each_but(i, n, |m, j| m.at("2").until(&self.flag[j], |flag| flag <= 2))?;
        m.at("3").write(&self.flag[i], 3)?;
        m.at("3").fence()?; // without it, two processes may both see nobody before the door, each with its flag at 1
        let nobody_before_the_door = m.all_but(i, n, |m, j| m.at("4").test(&self.flag[j], |flag| flag != 1))?;
        if !nobody_before_the_door {
            m.at("5").write(&self.flag[i], 2)?;
            m.spin(|m| Ok(!m.all_but(i, n, |m, j| m.at("6").test(&self.flag[j], |flag| flag != 4))?))?;
        }
        m.at("7").write(&self.flag[i], 4)?;
        m.fold(i, (), |m, (), j| m.at("8").until(&self.flag[j], |flag| flag <= 1))
    }

    fn exit(&self, m: &mut M, i: Pid, (): &()) -> Result<(), M::Halt> {
        let higher = i + 1;
        m.fold(self.flag.len() - higher, (), |m, (), j| {
            m.at("9").until(&self.flag[higher + j], |flag| flag <= 1 || flag == 4)
        })?;
        m.at("10").write(&self.flag[i], 0)
    }
}
