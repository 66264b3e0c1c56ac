//! The traits of algorithms.
use alloc::string::String;

use crate::{Local, Memory, Pid, Ticket};

/// Mutual exclusion and k-exclusion: the trying protocol in three sections.
///
/// A process runs `doorway`, then `wait`; then it is in the critical section until it runs `exit`. The doorway is the
/// section that waits for nobody: a fair lock serves processes in the order in which they complete it. It returns the
/// `Place`, the position in the queue, which is all that is carried into `wait`; `wait` returns what is carried into
/// `exit`.
///
/// Locks that can do more implement [`Reap`], [`Abort`], [`Assign`] or [`Fence`], and say so in
/// [`recovery`](Self::recovery), [`aborting`](Self::aborting), [`names`](Self::names) and [`tokens`](Self::tokens) for
/// callers that know the lock only by its name.
///
/// See the [crate's example](crate).
///
/// ```
/// use doorway_memory::{Exclusion, Memory, Pid};
///
/// /// One whole passage.
/// fn passage<M: Memory, A: Exclusion<M>>(lock: &A, m: &mut M, p: Pid) -> Result<(), M::Halt> {
///     let place = lock.doorway(m, p)?;
///     let inside = lock.wait(m, p, &place)?;
///     // the critical section
///     lock.exit(m, p, &inside)
/// }
/// ```
pub trait Exclusion<M: Memory>: Send + Sync {
    /// The position in the queue.
    type Place: Local;

    /// What a holder knows that its exit section needs; `()` if that is nothing. To keep the state space small, it should
    /// be as little as possible.
    type Inside: Local;

    /// Whether processes are all alike: no method uses `p`. Then a checker may count states that differ only by a
    /// permutation of the processes as one. It tests that the claim is true.
    const SYMMETRIC: bool = false;

    /// Takes a position in the queue.
    fn doorway(&self, m: &mut M, p: Pid) -> Result<Self::Place, M::Halt>;

    /// Waits until the process may enter the critical section.
    fn wait(&self, m: &mut M, p: Pid, place: &Self::Place) -> Result<Self::Inside, M::Halt>;

    /// Leaves the critical section.
    fn exit(&self, m: &mut M, p: Pid, inside: &Self::Inside) -> Result<(), M::Halt>;

    /// Recovery from a process' death, if this lock has it.
    fn recovery(&self) -> Option<&dyn Reap<M>> {
        None
    }

    /// How a waiter aborts, if this lock is abortable.
    fn aborting(&self) -> Option<&dyn Abort<M, Self::Place>> {
        None
    }

    /// The holders' names, if this lock assigns them.
    fn names(&self) -> Option<&dyn Assign<Self::Inside>> {
        None
    }

    /// The holders' tokens, if this lock has them.
    fn tokens(&self) -> Option<&dyn Fence<Self::Inside>> {
        None
    }
}

/// A lock that recovers from the death of a process.
///
/// ```
/// use doorway_memory::{Exclusion, Memory, Pid, Reap};
///
/// /// A new process takes the number of a dead one.
/// fn inherit<M: Memory, A: Exclusion<M> + Reap<M>>(lock: &A, m: &mut M, dead: Pid) -> Result<A::Place, M::Halt> {
///     lock.reap(m, dead)?;
///     lock.doorway(m, dead)
/// }
/// ```
pub trait Reap<M: Memory> {
    /// Completes the passage of a process that has died, wherever that happened: in the doorway, in the waiting section, in
    /// the critical section, in the exit section, in no passage at all, or while it was being reaped by a process that
    /// has died too. There is no place to pass: it died with the process.
    ///
    /// Any process that knows of the death can do it, also during a passage of its own; but no two at once for the same
    /// dead process. Afterwards the dead process' number is free.
    fn reap(&self, m: &mut M, dead: Pid) -> Result<(), M::Halt>;
}

/// A lock whose waiters can abort.
///
/// ```
/// use doorway_memory::{Abort, Exclusion, Memory, Pid};
///
/// /// Joins the queue, and leaves it again.
/// fn in_and_out<M: Memory, A: Exclusion<M> + Abort<M, A::Place>>(lock: &A, m: &mut M, p: Pid) -> Result<(), M::Halt> {
///     let place = lock.doorway(m, p)?;
///     lock.abort(m, p, &place)
/// }
/// ```
pub trait Abort<M: Memory, Place> {
    /// Leaves the queue instead of entering the critical section: takes the place of the rest of `wait` and of `exit`.
    fn abort(&self, m: &mut M, p: Pid, place: &Place) -> Result<(), M::Halt>;
}

/// A lock whose holders have names: k-assignment.
///
/// ```
/// use doorway_memory::{Assign, Exclusion, Memory, Pid};
///
/// /// The printer of a holder.
/// fn printer<'a, M: Memory, A: Exclusion<M> + Assign<A::Inside>>(
///     lock: &A,
///     inside: &A::Inside,
///     printers: &'a [&str],
/// ) -> &'a str {
///     printers[lock.name(inside)]
/// }
/// ```
pub trait Assign<Inside> {
    /// The name of a holder: below k, and different from every other holder's. So it can be the index of one of k things.
    fn name(&self, inside: &Inside) -> usize;
}

/// A lock whose holders have names and, for each name, tokens: a resource that refuses smaller tokens than it has seen
/// is safe from a holder that has lost its name without knowing.
///
/// ```
/// use doorway_memory::{Exclusion, Fence, Memory, Ticket};
///
/// /// Whether the resource with the holder's name serves it; `seen` has the largest token that each has served.
/// fn serves<M: Memory, A: Exclusion<M> + Fence<A::Inside>>(lock: &A, inside: &A::Inside, seen: &mut [Ticket]) -> bool {
///     let (token, seen) = (lock.token(inside), &mut seen[lock.name(inside)]);
///     let is_served = token >= *seen;
///     *seen = token.max(*seen);
///     is_served
/// }
/// ```
pub trait Fence<Inside>: Assign<Inside> {
    /// The token of a holder: larger than that of every process that had the same name before.
    fn token(&self, inside: &Inside) -> Ticket;

    /// The number of names, and so of resources.
    fn resources(&self) -> usize;
}

/// A building block that papers share: an operation, and a rule about the results of the processes' calls.
///
/// ```
/// use doorway_memory::{Memory, Part, Pid, Space};
///
/// /// Test-and-set: exactly one process is told `true`.
/// struct First<M: Memory>(M::Reg<bool>);
///
/// impl<M: Memory> Part<M> for First<M> {
///     type Outcome = bool;
///     fn call(&self, m: &mut M, _: Pid) -> Result<bool, M::Halt> {
///         Ok(!m.swap(&self.0, true)?)
///     }
///     fn rule(&self, latest: &[Option<bool>]) -> Result<(), String> {
///         match latest.iter().filter(|&&first| first == Some(true)).count() {
///             0 | 1 => Ok(()),
///             many => Err(format!("{many} processes were first")),
///         }
///     }
/// }
/// ```
pub trait Part<M: Memory>: Send + Sync {
    /// The result of a call.
    type Outcome: Local;

    /// Whether a process may call more than once.
    const AGAIN: bool = false;

    /// The operation.
    fn call(&self, m: &mut M, p: Pid) -> Result<Self::Outcome, M::Halt>;

    /// Judges the results of the processes' latest calls; `None` for a process that has not completed one.
    ///
    /// # Errors
    /// What is wrong with them.
    fn rule(&self, latest: &[Option<Self::Outcome>]) -> Result<(), String>;
}
