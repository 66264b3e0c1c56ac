//! What an algorithm implements.
use alloc::string::String;

use crate::{Local, Memory, Pid};

/// Mutual exclusion and k-exclusion: the trying protocol in three parts.
///
/// A process runs `doorway`, then `wait`; then it is inside, until it runs `exit`. The doorway is the part that must not
/// wait for anyone: who is through it first is served first, if the algorithm is fair. What it returns, the `Place`, is the
/// place in line; it is all that is carried into `wait` and `exit`. Who does not know the algorithm waits with `enter`.
///
/// See the [crate's example](crate).
///
/// ```
/// use doorway_memory::{Exclusion, Memory, Pid};
///
/// /// One whole passage.
/// fn passage<M: Memory, A: Exclusion<M>>(lock: &A, m: &mut M, p: Pid) -> Result<(), M::Halt> {
///     let place = lock.doorway(m, p)?;
///     let place = lock.enter(m, p, &place)?;
///     // inside
///     lock.exit(m, p, &place)
/// }
/// ```
pub trait Exclusion<M: Memory> {
    /// The place in line.
    ///
    /// ```
    /// # use doorway_memory::{Exclusion, Memory};
    /// fn copy<M: Memory, A: Exclusion<M>>(place: &A::Place) -> A::Place { place.clone() }
    /// ```
    type Place: Local;

    /// Whether processes are all alike: no method looks at `p`. Then states that differ only in who is who can be counted
    /// as one. A checker that does so tests that it is true.
    ///
    /// ```
    /// # use doorway_memory::{Exclusion, Memory};
    /// fn alike<M: Memory, A: Exclusion<M>>() -> bool { A::SYMMETRIC }
    /// ```
    const SYMMETRIC: bool = false;

    /// Whether the passage of a process that has died can be finished by others: whether there is a [`reap`](Self::reap).
    ///
    /// ```
    /// # use doorway_memory::{Exclusion, Memory};
    /// fn survives<M: Memory, A: Exclusion<M>>() -> bool { A::REAPABLE }
    /// ```
    const REAPABLE: bool = false;

    /// Whether a process can give up while it waits: whether there is an [`abandon`](Self::abandon).
    ///
    /// ```
    /// # use doorway_memory::{Exclusion, Memory};
    /// fn has_deadlines<M: Memory, A: Exclusion<M>>() -> bool { A::ABANDONABLE }
    /// ```
    const ABANDONABLE: bool = false;

    /// Whether everyone inside has a name of its own: whether there is a [`name`](Self::name).
    ///
    /// ```
    /// # use doorway_memory::{Exclusion, Memory};
    /// fn has_names<M: Memory, A: Exclusion<M>>() -> bool { A::ASSIGNS }
    /// ```
    const ASSIGNS: bool = false;

    /// Takes a place in line.
    ///
    /// ```
    /// # use doorway_memory::{Exclusion, Memory};
    /// # fn f<M: Memory, A: Exclusion<M>>(lock: &A, m: &mut M) -> Result<(), M::Halt> {
    /// let place = lock.doorway(m, 0)?;
    /// # Ok(()) }
    /// ```
    fn doorway(&self, m: &mut M, p: Pid) -> Result<Self::Place, M::Halt>;

    /// Waits until it is our turn.
    ///
    /// ```
    /// # use doorway_memory::{Exclusion, Memory};
    /// # fn f<M: Memory, A: Exclusion<M>>(lock: &A, m: &mut M, place: &A::Place) -> Result<(), M::Halt> {
    /// lock.wait(m, 0, place)?;
    /// # Ok(()) }
    /// ```
    fn wait(&self, m: &mut M, p: Pid, place: &Self::Place) -> Result<(), M::Halt>;

    /// What of the place is still needed inside and in the exit. All of it, unless an algorithm says otherwise: a place
    /// that is forgotten leaves a checker with fewer states to tell apart.
    ///
    /// ```
    /// # use doorway_memory::{Exclusion, Memory};
    /// # fn f<M: Memory, A: Exclusion<M>>(lock: &A, m: &mut M, place: &A::Place) -> Result<(), M::Halt> {
    /// lock.wait(m, 0, place)?;
    /// let place = lock.inside(place);
    /// lock.exit(m, 0, &place)?;
    /// # Ok(()) }
    /// ```
    fn inside(&self, place: &Self::Place) -> Self::Place {
        place.clone()
    }

    /// Waits until it is our turn, and returns the place [`inside`](Self::inside): the one to leave with.
    ///
    /// An algorithm that finds out only while it waits what its exit has to know says so here, and its `wait` is this,
    /// forgetting the place.
    ///
    /// ```
    /// # use doorway_memory::{Exclusion, Memory};
    /// # fn f<M: Memory, A: Exclusion<M>>(lock: &A, m: &mut M, place: &A::Place) -> Result<(), M::Halt> {
    /// let place = lock.enter(m, 0, place)?;
    /// lock.exit(m, 0, &place)?;
    /// # Ok(()) }
    /// ```
    #[inline(always)]
    fn enter(&self, m: &mut M, p: Pid, place: &Self::Place) -> Result<Self::Place, M::Halt> {
        self.wait(m, p, place)?;
        Ok(self.inside(place))
    }

    /// Lets the next one in.
    ///
    /// ```
    /// # use doorway_memory::{Exclusion, Memory};
    /// # fn f<M: Memory, A: Exclusion<M>>(lock: &A, m: &mut M, place: &A::Place) -> Result<(), M::Halt> {
    /// lock.exit(m, 0, place)?;
    /// # Ok(()) }
    /// ```
    fn exit(&self, m: &mut M, p: Pid, place: &Self::Place) -> Result<(), M::Halt>;

    /// The name one has inside: below k, and nobody else inside has it. So k-exclusion becomes k-assignment, and a name can be
    /// the number of one of k things to use there.
    ///
    /// ```
    /// # use doorway_memory::{Exclusion, Memory};
    /// # fn f<M: Memory, A: Exclusion<M>>(lock: &A, m: &mut M, place: &A::Place, printers: &[&str]) -> Result<(), M::Halt> {
    /// let place = lock.enter(m, 0, place)?;
    /// let printer = printers[lock.name(&place)];
    /// # Ok(()) }
    /// ```
    ///
    /// # Panics
    /// If it does not [assign](Self::ASSIGNS) names, or if this is not a place inside.
    fn name(&self, _: &Self::Place) -> usize {
        unreachable!("only what `ASSIGNS` has names")
    }

    /// Gives up, while waiting. Takes the place of the rest of `wait`, and of `exit`: afterwards the process is not in line
    /// any more, and can come again.
    ///
    /// ```
    /// # use doorway_memory::{Exclusion, Memory, Pid};
    /// /// Gets in line, and out of it again.
    /// fn change_of_mind<M: Memory, A: Exclusion<M>>(lock: &A, m: &mut M, p: Pid) -> Result<(), M::Halt> {
    ///     assert!(A::ABANDONABLE);
    ///     let place = lock.doorway(m, p)?;
    ///     lock.abandon(m, p, &place)
    /// }
    /// ```
    ///
    /// # Panics
    /// If it is not [`ABANDONABLE`](Self::ABANDONABLE).
    fn abandon(&self, _: &mut M, _: Pid, _: &Self::Place) -> Result<(), M::Halt> {
        unreachable!("only what is `ABANDONABLE` is abandoned")
    }

    /// Finishes the passage of a process that has died, wherever it was: in the doorway, waiting, inside, on the way out, in
    /// no passage at all, or being reaped by someone who has died too. It gets no place, for that died with the process.
    ///
    /// Anyone who knows that the process is dead can do it, in the midst of a passage of their own too; but not two at a time
    /// for the same process. When it is done, the process' number is free for another.
    ///
    /// ```
    /// # use doorway_memory::{Exclusion, Memory, Pid};
    /// /// A new process takes the number of a dead one.
    /// fn inherit<M: Memory, A: Exclusion<M>>(lock: &A, m: &mut M, dead: Pid) -> Result<A::Place, M::Halt> {
    ///     assert!(A::REAPABLE);
    ///     lock.reap(m, dead)?;
    ///     lock.doorway(m, dead)
    /// }
    /// ```
    ///
    /// # Panics
    /// If it is not [`REAPABLE`](Self::REAPABLE).
    fn reap(&self, _: &mut M, _dead: Pid) -> Result<(), M::Halt> {
        unreachable!("only what is `REAPABLE` is reaped")
    }
}

/// A piece that papers share: an operation, and a rule about what the processes' calls return.
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
pub trait Part<M: Memory> {
    /// What a call returns.
    ///
    /// ```
    /// # use doorway_memory::{Memory, Part};
    /// fn copy<M: Memory, A: Part<M>>(outcome: &A::Outcome) -> A::Outcome { outcome.clone() }
    /// ```
    type Outcome: Local;

    /// Whether a process calls again and again, or once.
    ///
    /// ```
    /// # use doorway_memory::{Memory, Part};
    /// fn once<M: Memory, A: Part<M>>() -> bool { !A::AGAIN }
    /// ```
    const AGAIN: bool = false;

    /// The operation.
    ///
    /// ```
    /// # use doorway_memory::{Memory, Part};
    /// # fn f<M: Memory, A: Part<M>>(part: &A, m: &mut M) -> Result<(), M::Halt> {
    /// let outcome = part.call(m, 0)?;
    /// # Ok(()) }
    /// ```
    fn call(&self, m: &mut M, p: Pid) -> Result<Self::Outcome, M::Halt>;

    /// Whether what the processes' latest calls returned is allowed (`None`: not called yet), and if not, why.
    ///
    /// # Errors
    /// What is wrong, in words.
    ///
    /// ```
    /// # use doorway_memory::{Memory, Part};
    /// # fn f<M: Memory, A: Part<M>>(part: &A, mine: A::Outcome) {
    /// assert!(part.rule(&[Some(mine), None]).is_ok());
    /// # }
    /// ```
    fn rule(&self, latest: &[Option<Self::Outcome>]) -> Result<(), String>;
}
