//! A lock in one register: test-and-set. Folklore.
//!
//! ```text
//!  L  await test-and-set(lock) was false
//!     critical section
//!  U  lock := false
//! ```
//!
//! It stands for "any lock": where a paper requires mutual exclusion and does not say how, this is the lock with the
//! fewest states.
//!
//! Guarantees: mutual exclusion, deadlock-freedom. Not starvation-freedom.
use doorway_memory::{Exclusion, Memory, Pid, Space};

/// The lock; see the [module](self).
pub struct TestAndSet<M: Memory> {
    lock: M::Reg<bool>,
}

impl<M: Memory> TestAndSet<M> {
    /// A free lock for any number of processes.
    pub fn new(space: &mut impl Space<Mem = M>) -> Self {
        TestAndSet { lock: space.shared("lock", false) }
    }

    /// The lock on this register, which holds false.
    pub const fn of(lock: M::Reg<bool>) -> Self {
        TestAndSet { lock }
    }

    /// The register: whether there is a holder.
    pub const fn register(&self) -> &M::Reg<bool> {
        &self.lock
    }

    /// Acquires the lock if it is free, and returns whether it was.
    pub fn try_lock(&self, m: &mut M) -> Result<bool, M::Halt> {
        Ok(!m.at("L").swap(&self.lock, true)?)
    }

    /// Releases the lock.
    pub fn unlock(&self, m: &mut M) -> Result<(), M::Halt> {
        m.at("U").write(&self.lock, false)
    }
}

impl<M: Memory> Exclusion<M> for TestAndSet<M> {
    type Place = ();
    type Inside = ();
    const SYMMETRIC: bool = true;

    fn doorway(&self, _: &mut M, _: Pid) -> Result<(), M::Halt> {
        Ok(())
    }

    fn wait(&self, m: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
        m.spin(|m| self.try_lock(m))
    }

    fn exit(&self, m: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
        self.unlock(m)
    }
}
