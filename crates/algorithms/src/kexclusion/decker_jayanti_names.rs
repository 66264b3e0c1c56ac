//! k-assignment with O(k) remote references. After C. Decker, P. Jayanti, *A solution to k-assignment in O(k) RMR complexity*,
//! Dartmouth 2010.
//!
//! ```text
//!      lines 1 to 4 are those of `decker-jayanti`; Bit[0..k-1] = false
//!
//! 1-2  get in
//! 5    name := 0
//! 6    while test-and-set(Bit[name]) was true: name := name + 1
//!      critical section
//! 7    Bit[name] := false
//! 3-4  let others in
//! ```
//!
//! Nobody has to look twice. Of those between lines 5 and 7 at most k-i have a name from i on or look there: to go on from i to
//! i+1 is to have seen who has the name i. So whoever comes to the last bit finds it free. That is why the bit is cleared
//! before the release; `decker-jayanti-names-read` is why it is tested and set in one step.
//!
//! We did not have the text of the paper; the lines, and their numbers, are ours.
//!
//! Departures: those of `decker-jayanti`.
//!
//! Guarantees: those of `decker-jayanti`, and k-assignment: who is inside has a name below k that nobody else inside has.
use alloc::vec::Vec;
use core::ops::ControlFlow::{Break, Continue};

use doorway_memory::{Count, Exclusion, Memory, Pid, Property::*, Space};

use super::decker_jayanti::{self, DeckerJayanti};
use crate::{
    About,
    Claim::{Crashes, Holds},
};

/// What is known of it.
pub const ABOUT: About = About {
    name: "decker-jayanti-names",
    aliases: &["k-assignment"],
    title: "k-assignment with O(k) remote references",
    primitives: &["read", "write", "fetch-and-add", "swap", "compare-and-swap"],
    claims: &[
        Holds(Exclusion),
        Holds(DeadlockFreedom),
        Holds(StarvationFreedom),
        Holds(KFcfs),
        Holds(Fife),
        Holds(BoundedExit),
        Holds(WaitFreeDoorway),
        Holds(Assignment),
        Crashes,
    ],
    remark: "who is inside has a name, from 0 to k-1, that nobody else inside has",
    ..decker_jayanti::ABOUT
};

/// The lock; see the [module](self).
pub struct DeckerJayantiNames<M: Memory> {
    lock: DeckerJayanti<M>,
    bits: Vec<M::Reg<bool>>,
    taking: Taking,
}

/// How a bit is tested and set.
#[derive(Clone, Copy)]
pub(crate) enum Taking {
    InOneStep,
    InTwo,
}

impl<M: Memory> DeckerJayantiNames<M> {
    /// A free lock for `n` processes, of which `k` < `n` may be inside.
    pub fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        DeckerJayantiNames::of(space, n, k, Taking::InOneStep)
    }

    pub(crate) fn of(space: &mut impl Space<Mem = M>, n: usize, k: usize, taking: Taking) -> Self {
        DeckerJayantiNames { lock: DeckerJayanti::new(space, n, k), bits: space.array("Bit", k, false), taking }
    }

    /// Test-and-set: whether the bit was set before.
    fn was_taken(&self, m: &mut M, name: usize) -> Result<bool, M::Halt> {
        let bit = &self.bits[name];
        match self.taking {
            Taking::InOneStep => m.at("6").swap(bit, true),
            Taking::InTwo => {
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
    /// The place of `decker-jayanti`, and inside the name.
    type Place = (Count, Option<usize>);
    const SYMMETRIC: bool = true;

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Self::Place, M::Halt> {
        Ok((self.lock.doorway(m, p)?, None))
    }

    fn wait(&self, m: &mut M, p: Pid, place: &Self::Place) -> Result<(), M::Halt> {
        self.enter(m, p, place).map(|_| ())
    }

    fn enter(&self, m: &mut M, p: Pid, (ticket, _): &Self::Place) -> Result<Self::Place, M::Halt> {
        let place = self.lock.enter(m, p, ticket)?;
        let name = m.turns(0, |m, name| Ok(if self.was_taken(m, name)? { Continue(name + 1) } else { Break(name) }))?;
        Ok((place, Some(name)))
    }

    fn exit(&self, m: &mut M, p: Pid, place: &Self::Place) -> Result<(), M::Halt> {
        m.at("7").write(&self.bits[self.name(place)], false)?;
        self.lock.exit(m, p, &place.0)
    }

    const ASSIGNS: bool = true;

    fn name(&self, (_, name): &Self::Place) -> usize {
        name.expect("who is inside has a name")
    }
}
