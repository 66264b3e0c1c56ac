//! k-assignment with O(k) RMRs. After C. Decker, P. Jayanti, *A solution to k-assignment in O(k) RMR complexity*,
//! Dartmouth 2010.
//!
//! ```text
//!      lines 1 to 4 are those of `decker-jayanti`; Bit[0..k-1] = false
//!
//! 1-2  enter
//! 5    name := 0
//! 6    while test-and-set(Bit[name]) was true: name := name + 1
//!      critical section
//! 7    Bit[name] := false
//! 3-4  enable other tickets
//! ```
//!
//! No process scans the bits twice. Of the processes between lines 5 and 7 at most k-i hold or try a name from i on:
//! a process proceeds from i to i+1 only after it has seen another process hold i. So a process that reaches the last
//! bit finds it free. That is why the bit is cleared before the release; `decker-jayanti-names-read` shows why it
//! must be tested and set in one step.
//!
//! The text of the paper was not available; the lines and their numbers are this project's.
//!
//! Departures: those of `decker-jayanti`.
//!
//! Guarantees: those of `decker-jayanti`, and k-assignment: a holder has a name below k that no other holder has.
use alloc::vec::Vec;
use core::ops::ControlFlow::{Break, Continue};

use doorway_memory::{Assign, Count, Exclusion, Memory, Pid, Property::*, Space};

use super::decker_jayanti::{self, DeckerJayanti};
use crate::{
    About,
    Condition::{Crashes, Tso},
    Size,
    claim::holds,
    pinned::at,
};

/// The registry entry: name, source and claims.
pub const ABOUT: About = About {
    name: "decker-jayanti-names",
    aliases: &["k-assignment"],
    title: "k-assignment with O(k) RMRs",
    primitives: &["read", "write", "fetch-and-add", "swap", "compare-and-swap"],
    claims: &[
        holds(Exclusion),
        holds(DeadlockFreedom),
        holds(StarvationFreedom),
        holds(KFcfs),
        holds(Fife),
        holds(BoundedExit),
        holds(WaitFreeDoorway),
        holds(Assignment),
    ],
    tolerates: &[Tso, Crashes],
    remark: "a holder has a name, from 0 to k-1, that no other holder has",
    pinned: &[
        at(2).k(1).finds(88),
        at(3).k(1).finds(486),
        at(3).k(2).finds(331_002),
        at(3).under(&[Tso]).finds(420_771).fences(0),
        at(2).k(1).remote(Some(7), None),
        at(3).k(1).remote(Some(7), None),
    ],
    ..decker_jayanti::ABOUT
};

/// The lock's type.
pub type Lock<M> = DeckerJayantiNames<M>;

/// Creates the lock for `size`.
pub fn new<M: Memory>(space: &mut impl Space<Mem = M>, size: Size) -> DeckerJayantiNames<M> {
    DeckerJayantiNames::new(space, size.n, size.k)
}

/// The lock; see the [module](self).
pub struct DeckerJayantiNames<M: Memory> {
    lock: DeckerJayanti<M>,
    bits: Vec<M::Reg<bool>>,
    atomicity: Atomicity,
}

/// Whether a bit is tested and set in one step or in two.
#[derive(Clone, Copy)]
pub(crate) enum Atomicity {
    OneStep,
    TwoSteps,
}

impl<M: Memory> DeckerJayantiNames<M> {
    /// A free lock for `n` processes with capacity `k` < `n`.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        DeckerJayantiNames::of(space, n, k, Atomicity::OneStep)
    }

    pub(crate) fn of(space: &mut impl Space<Mem = M>, n: usize, k: usize, atomicity: Atomicity) -> Self {
        DeckerJayantiNames { lock: DeckerJayanti::new(space, n, k), bits: space.array("Bit", k, false), atomicity }
    }

    /// Test-and-set: sets the bit and returns whether it was set before.
    fn was_taken(&self, m: &mut M, name: usize) -> Result<bool, M::Halt> {
        let bit = &self.bits[name];
        match self.atomicity {
            Atomicity::OneStep => m.at("6").swap(bit, true),
            Atomicity::TwoSteps => {
                let taken = m.at("6").read(bit)?;
                if !taken {
                    m.at("6").write(bit, true)?;
                }
                Ok(taken)
            }
        }
    }
}

impl<M: Memory> Exclusion<M> for DeckerJayantiNames<M> {
    type Place = Count;
    /// The name.
    type Inside = usize;
    const SYMMETRIC: bool = true;

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Count, M::Halt> {
        self.lock.doorway(m, p)
    }

    fn wait(&self, m: &mut M, p: Pid, ticket: &Count) -> Result<usize, M::Halt> {
        self.lock.wait(m, p, ticket)?;
        m.turns(0, |m, name| Ok(if self.was_taken(m, name)? { Continue(name + 1) } else { Break(name) }))
    }

    fn exit(&self, m: &mut M, p: Pid, &name: &usize) -> Result<(), M::Halt> {
        m.at("7").write(&self.bits[name], false)?;
        self.lock.exit(m, p, &())
    }

    fn names(&self) -> Option<&dyn Assign<usize>> {
        Some(self)
    }
}

impl<M: Memory> Assign<usize> for DeckerJayantiNames<M> {
    fn name(&self, &name: &usize) -> usize {
        name
    }
}
