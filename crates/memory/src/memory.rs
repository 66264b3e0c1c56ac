//! The operations of a shared memory.
use core::ops::ControlFlow::{self, Break, Continue};

use crate::{Claim, Linked, Local, Narrow, Number, Pid, Queue, Registers, Ticket, Value};

/// A shared memory, as one process sees it.
///
/// Three rules make an algorithm's source checkable.
///
/// 1. *Deterministic*: the next step of a process depends only on what its accesses returned. The checker executes every
///    step that it needs, and a sample of them (all, up to 16,384) a second time in another order; a step that differs is
///    reported. A process that differs in none of these executions goes unnoticed.
/// 2. *Loops are [`turns`](Memory::turns)*, or made of them: a turn passes on its `state` and nothing else, which the
///    compiler enforces. Another loop is reported after 1,000 accesses in one section, and `turns` without an access after a
///    million. A loop or a recursion that neither accesses the memory nor uses `turns` goes unnoticed: it hangs, or
///    overflows the stack.
/// 3. *A halt is passed on* with `?`, never swallowed. The checker reports one that is swallowed.
///
/// ```
/// use doorway_memory::{Memory, Solo, Space};
///
/// fn increment<M: Memory>(m: &mut M, x: &M::Reg<u64>) -> Result<u64, M::Halt> {
///     let seen = m.read(x)?;
///     m.write(x, seen + 1)?;
///     Ok(seen)
/// }
///
/// let mut solo = Solo::new();
/// let x = solo.shared("x", 41_u64);
/// assert_eq!(increment(&mut solo, &x), Ok(41));
/// assert_eq!(solo.read(&x), Ok(42));
/// ```
///
/// # Implementing a memory
///
/// | methods | a memory |
/// |---|---|
/// | `read`, `test`, `write`, `fetch_add`, `swap`, `compare_swap`, `fence`, `barrier`, `turns` | must implement them |
/// | `update`, `load_linked`, `store_conditional`, `validate`, `write_linked`, `read_linked` | must override them if it counts or interleaves steps: the defaults are loops of `compare_swap`, and a tag that grows |
/// | `join`, `until_among`, `leave`, `claim`, `unclaim` | overrides them if its queues and names are more than words |
/// | `until` | overrides it to park waiters: the default spins |
/// | `relax` | overrides it to pause or yield between two turns of a busy-wait |
/// | `at` | overrides it to show the lines of a paper |
/// | `fold` | may override it for speed; the meaning stays |
/// | `all`, `all_but`, `each_but`, `spin`, `call` | leaves them alone |
///
/// [`conformance`](crate::conformance) tests what can be tested with one process.
pub trait Memory: Sized + 'static {
    /// Why an access did not take place: never on real atomics, "stop here" under the checker, an I/O error elsewhere.
    type Halt;

    /// A register that holds a `T`, made by this memory's [`Space`](crate::Space).
    type Reg<T: Value>: Send + Sync;

    /// Several registers that hold a `T` each; a `Vec`, unless the memory keeps many of them in less space.
    type Registers<T: Value>: Registers<Self::Reg<T>> + FromIterator<Self::Reg<T>> + Send + Sync;

    /// Reads a register.
    #[track_caller]
    fn read<T: Value>(&mut self, reg: &Self::Reg<T>) -> Result<T, Self::Halt>;

    /// Reads a register and keeps only the answer of `holds`. The checker's states contain what processes have observed; to
    /// keep the state space small, observe as little as possible.
    ///
    /// ```
    /// # use doorway_memory::{Memory, Solo, Space};
    /// let mut m = Solo::new();
    /// let x = m.shared("x", 7_u64);
    /// assert_eq!(m.test(&x, |x| x > 5), Ok(true));
    /// ```
    #[track_caller]
    fn test<T: Value>(&mut self, reg: &Self::Reg<T>, holds: impl FnOnce(T) -> bool) -> Result<bool, Self::Halt>;

    /// Writes a register.
    #[track_caller]
    fn write<T: Value>(&mut self, reg: &Self::Reg<T>, value: T) -> Result<(), Self::Halt>;

    /// Adds to a register in one step and returns its previous value. Sums wrap.
    ///
    /// ```
    /// # use doorway_memory::{Memory, Solo, Space};
    /// let mut m = Solo::new();
    /// let x = m.shared("x", 1_i64);
    /// assert_eq!(m.fetch_add(&x, -3), Ok(1));
    /// assert_eq!(m.read(&x), Ok(-2));
    /// ```
    #[track_caller]
    fn fetch_add<T: Number>(&mut self, reg: &Self::Reg<T>, by: T) -> Result<T, Self::Halt>;

    /// Writes a register in one step and returns its previous value.
    ///
    /// ```
    /// # use doorway_memory::{Memory, Solo, Space};
    /// let mut m = Solo::new();
    /// let tail = m.shared("tail", None::<usize>);
    /// assert_eq!(m.swap(&tail, Some(3)), Ok(None));
    /// assert_eq!(m.read(&tail), Ok(Some(3)));
    /// ```
    #[track_caller]
    fn swap<T: Value>(&mut self, reg: &Self::Reg<T>, value: T) -> Result<T, Self::Halt>;

    /// Replaces `old` by `new` in one step if the register holds `old`; returns whether it did.
    ///
    /// ```
    /// # use doorway_memory::{Memory, Solo, Space};
    /// let mut m = Solo::new();
    /// let x = m.shared("x", 1_u64);
    /// assert_eq!(m.compare_swap(&x, 1, 2), Ok(true));
    /// assert_eq!(m.compare_swap(&x, 1, 3), Ok(false));
    /// assert_eq!(m.read(&x), Ok(2));
    /// ```
    #[track_caller]
    fn compare_swap<T: Value>(&mut self, reg: &Self::Reg<T>, old: T, new: T) -> Result<bool, Self::Halt>;

    /// Replaces a register's value `x` by `action(x)` in one step and returns `x`: the atomic action of papers that have a
    /// single shared variable. The action is a pure function; it may be called more than once.
    ///
    /// The default is a loop of compare-and-swaps, each of which fails only if another process' succeeds. A memory that
    /// counts or interleaves steps overrides it: there it must be one step.
    ///
    /// ```
    /// # use doorway_memory::{Memory, Solo, Space};
    /// let mut m = Solo::new();
    /// let x = m.shared("x", 6_u64);
    /// assert_eq!(m.update(&x, |x| if x % 2 == 0 { x / 2 } else { 3 * x + 1 }), Ok(6));
    /// assert_eq!(m.read(&x), Ok(3));
    /// ```
    #[inline(always)]
    #[track_caller]
    fn update<T: Value>(&mut self, reg: &Self::Reg<T>, action: impl Fn(T) -> T) -> Result<T, Self::Halt> {
        self.turns((), |m, ()| {
            let old = m.read(reg)?;
            Ok(if m.compare_swap(reg, old, action(old))? { Break(old) } else { Continue(()) })
        })
    }

    /// Reads a register for a later [`store_conditional`](Memory::store_conditional), which takes the result. See [`Linked`].
    #[inline(always)]
    #[track_caller]
    fn load_linked<T: Narrow>(&mut self, reg: &Self::Reg<Linked<T>>) -> Result<Linked<T>, Self::Halt> {
        self.read(reg)
    }

    /// Writes a register in one step if no process has written it since the caller's last
    /// [`load_linked`](Memory::load_linked), which returned `link`; returns whether it did. See [`Linked`].
    #[inline(always)]
    #[track_caller]
    fn store_conditional<T: Narrow>(
        &mut self,
        reg: &Self::Reg<Linked<T>>,
        link: Linked<T>,
        value: T,
    ) -> Result<bool, Self::Halt> {
        self.compare_swap(reg, link, link.followed_by(value))
    }

    /// Whether a store-conditional with this link would succeed: nothing has been written since. See [`Linked`].
    #[inline(always)]
    #[track_caller]
    fn validate<T: Narrow>(&mut self, reg: &Self::Reg<Linked<T>>, link: Linked<T>) -> Result<bool, Self::Halt> {
        self.test(reg, |now| now == link)
    }

    /// Writes a linked register unconditionally: pending store-conditionals of other processes fail. See [`Linked`].
    #[inline(always)]
    #[track_caller]
    fn write_linked<T: Narrow>(&mut self, reg: &Self::Reg<Linked<T>>, value: T) -> Result<(), Self::Halt> {
        self.update(reg, |old| old.followed_by(value))?;
        Ok(())
    }

    /// Reads a linked register without linking it. See [`Linked`].
    #[inline(always)]
    #[track_caller]
    fn read_linked<T: Narrow>(&mut self, reg: &Self::Reg<Linked<T>>) -> Result<T, Self::Halt> {
        Ok(self.read(reg)?.value())
    }

    /// Puts process `p` at the end of a queue, in one step. See [`Queue`].
    #[inline(always)]
    #[track_caller]
    fn join(&mut self, queue: &Self::Reg<Queue>, p: Pid) -> Result<(), Self::Halt> {
        self.update(queue, |queue| queue.with(p))?;
        Ok(())
    }

    /// Waits until process `p` is one of the first `k` of a queue. See [`Queue`].
    #[inline(always)]
    #[track_caller]
    fn until_among(&mut self, queue: &Self::Reg<Queue>, p: Pid, k: usize) -> Result<(), Self::Halt> {
        self.until(queue, move |queue| queue.is_among(p, k))
    }

    /// Takes process `p` out of a queue, wherever it is there, in one step. See [`Queue`].
    #[inline(always)]
    #[track_caller]
    fn leave(&mut self, queue: &Self::Reg<Queue>, p: Pid) -> Result<(), Self::Halt> {
        self.update(queue, |queue| queue.without(p))?;
        Ok(())
    }

    /// Claims a free one of some names for process `p`; returns its index and the token of the claim. See [`Claim`].
    ///
    /// Which one is up to the memory. By default it tries one name after the other, each in one step, and begins again
    /// after the last. Where at most as many processes as there are names claim one or have one, the first round finds a
    /// free name: of the names before the one that a process tries, as many were taken as other processes can have.
    #[inline(always)]
    #[track_caller]
    fn claim(&mut self, names: &[Self::Reg<Claim>], p: Pid) -> Result<(usize, Ticket), Self::Halt> {
        self.turns(0, |m, i: usize| {
            let before = m.update(&names[i], |name| name.claimed(p))?;
            Ok(match before.next_token() {
                Some(token) => Break((i, token)),
                None => Continue((i + 1) % names.len()),
            })
        })
    }

    /// Gives up a name, if process `p` has it, in one step. See [`Claim`].
    #[inline(always)]
    #[track_caller]
    fn unclaim(&mut self, name: &Self::Reg<Claim>, p: Pid) -> Result<(), Self::Halt> {
        self.update(name, |name| name.unclaimed(p))?;
        Ok(())
    }

    /// Makes the caller's earlier writes visible to all processes before its later reads.
    ///
    /// A sequentially consistent memory does nothing here. One with store buffers empties the caller's, as it does for a
    /// read-modify-write; between a write and a later read of *another* register it does so only if asked.
    ///
    /// ```
    /// # use doorway_memory::{Memory, Solo, Space};
    /// let mut m = Solo::new();
    /// let flag = m.array("flag", 2, false);
    /// m.write(&flag[0], true)?;
    /// m.fence()?; // without it, two processes that do this could both miss the other's flag
    /// assert_eq!(m.read(&flag[1]), Ok(false));
    /// # Ok::<(), core::convert::Infallible>(())
    /// ```
    #[track_caller]
    fn fence(&mut self) -> Result<(), Self::Halt>;

    /// A fence for all processes at once: every write before it is visible to every read after it, whichever processes they
    /// belong to.
    ///
    /// It makes a handshake cheap for one side: the fast path needs no fence, and the rare slow path pays for both sides.
    #[track_caller]
    fn barrier(&mut self) -> Result<(), Self::Halt>;

    /// A loop that carries only `state` from turn to turn: `Continue` starts the next turn with a new state, `Break` ends the
    /// loop.
    ///
    /// What a turn observed is forgotten when it ends, so a busy-wait is a cycle of the state graph and not an ever longer
    /// history. The body is `Fn`, so the compiler ensures that nothing else is carried along.
    ///
    /// ```
    /// # use doorway_memory::{Memory, Solo, Space};
    /// use std::ops::ControlFlow::{Break, Continue};
    ///
    /// let mut m = Solo::new();
    /// let x = m.shared("x", 0_u64);
    /// let laps = m.turns(0_u64, |m, laps| {
    ///     if m.fetch_add(&x, 1)? == 4 { Ok(Break(laps)) } else { Ok(Continue(laps + 1)) }
    /// });
    /// assert_eq!(laps, Ok(4));
    /// ```
    fn turns<S: Local, B: Local>(
        &mut self,
        state: S,
        body: impl Fn(&mut Self, S) -> Result<ControlFlow<B, S>, Self::Halt>,
    ) -> Result<B, Self::Halt>;

    /// Names the line of the paper to which the next access belongs; executions show it. Without a name they show the line
    /// of the source file.
    ///
    /// ```
    /// # use doorway_memory::{Memory, Solo, Space};
    /// let mut m = Solo::new();
    /// let flag = m.shared("flag", false);
    /// m.at("7").write(&flag, true)?;
    /// assert_eq!(m.read(&flag), Ok(true));
    /// # Ok::<(), core::convert::Infallible>(())
    /// ```
    #[inline(always)]
    fn at(&mut self, _line: &'static str) -> &mut Self {
        self
    }

    /// Called once for each unsuccessful turn of a [`spin`](Memory::spin), for the memory to pause, yield or park.
    #[inline(always)]
    fn relax(&mut self) {}

    /// Goes through `0..n`, passing a state along.
    ///
    /// ```
    /// # use doorway_memory::{Memory, Solo, Space};
    /// let mut m = Solo::new();
    /// let number = m.array("number", 3, 5_u64);
    /// let sum = m.fold(3, 0, |m, sum, i| Ok(sum + m.read(&number[i])?));
    /// assert_eq!(sum, Ok(15));
    /// ```
    #[inline(always)]
    fn fold<S: Local>(
        &mut self,
        n: usize,
        state: S,
        body: impl Fn(&mut Self, S, usize) -> Result<S, Self::Halt>,
    ) -> Result<S, Self::Halt> {
        // By value, and with `<`: then the compiler sees that `i` is in bounds.
        self.turns((0, state), move |m, (i, state)| {
            Ok(if i < n { Continue((i + 1, body(m, state, i)?)) } else { Break(state) })
        })
    }

    /// Whether `holds` is true for all of `0..n`; stops at the first for which it is not.
    ///
    /// ```
    /// # use doorway_memory::{Memory, Solo, Space};
    /// let mut m = Solo::new();
    /// let flag = m.array("flag", 3, false);
    /// assert_eq!(m.all(3, |m, i| m.test(&flag[i], |up| !up)), Ok(true));
    /// ```
    #[inline(always)]
    fn all(
        &mut self,
        n: usize,
        holds: impl Fn(&mut Self, usize) -> Result<bool, Self::Halt>,
    ) -> Result<bool, Self::Halt> {
        self.turns(0, move |m, i| {
            if i < n { Ok(if holds(m, i)? { Continue(i + 1) } else { Break(false) }) } else { Ok(Break(true)) }
        })
    }

    /// Whether `holds` is true for all of `0..n` except `p`: "for all j ≠ i".
    ///
    /// ```
    /// # use doorway_memory::{Memory, Solo, Space};
    /// let mut m = Solo::new();
    /// let flag = m.array("flag", 3, false);
    /// m.write(&flag[1], true)?;
    /// assert_eq!(m.all_but(1, 3, |m, i| m.test(&flag[i], |up| !up)), Ok(true));
    /// # Ok::<(), core::convert::Infallible>(())
    /// ```
    #[inline(always)]
    fn all_but(
        &mut self,
        p: Pid,
        n: usize,
        holds: impl Fn(&mut Self, Pid) -> Result<bool, Self::Halt>,
    ) -> Result<bool, Self::Halt> {
        self.all(n, move |m, i| if i == p { Ok(true) } else { holds(m, i) })
    }

    /// Goes through `0..n` except `p`: "for each j ≠ i".
    ///
    /// ```
    /// # use doorway_memory::{Memory, Solo, Space};
    /// let mut m = Solo::new();
    /// let flag = m.array("flag", 3, false);
    /// m.each_but(1, 3, |m, i| m.write(&flag[i], true))?;
    /// assert_eq!(m.read(&flag[1]), Ok(false));
    /// # Ok::<(), core::convert::Infallible>(())
    /// ```
    #[inline(always)]
    fn each_but(
        &mut self,
        p: Pid,
        n: usize,
        body: impl Fn(&mut Self, Pid) -> Result<(), Self::Halt>,
    ) -> Result<(), Self::Halt> {
        self.fold(n, (), move |m, (), i| if i == p { Ok(()) } else { body(m, i) })
    }

    /// Busy-waits until `done` returns true.
    ///
    /// ```
    /// # use doorway_memory::{Memory, Solo, Space};
    /// let mut m = Solo::new();
    /// let x = m.shared("x", 0_u64);
    /// m.spin(|m| Ok(m.fetch_add(&x, 1)? == 10))?;
    /// assert_eq!(m.read(&x), Ok(11));
    /// # Ok::<(), core::convert::Infallible>(())
    /// ```
    #[inline(always)]
    fn spin(&mut self, done: impl Fn(&mut Self) -> Result<bool, Self::Halt>) -> Result<(), Self::Halt> {
        self.turns((), |m, ()| {
            if done(m)? {
                return Ok(Break(()));
            }
            m.relax();
            Ok(Continue(()))
        })
    }

    /// Waits until `holds` is true of a register: the papers' `await`.
    ///
    /// Unlike a [`spin`](Memory::spin), it tells the memory the condition, so that a writer of the register can tell which
    /// waiters to wake. A closure should own what it needs (`move`): what it borrows has to be in memory, even in an
    /// uncontended passage.
    ///
    /// ```
    /// # use doorway_memory::{Memory, Solo, Space};
    /// let mut m = Solo::new();
    /// let head = m.shared("Head", true);
    /// assert_eq!(m.until(&head, |head| head), Ok(()));
    /// ```
    #[inline(always)]
    #[track_caller]
    fn until<T: Value>(&mut self, reg: &Self::Reg<T>, holds: impl Fn(T) -> bool + Sync) -> Result<(), Self::Halt> {
        self.spin(|m| m.test(reg, &holds))
    }

    /// Runs `body` and forgets what it observed: only its result stays in the process' history.
    ///
    /// ```
    /// # use doorway_memory::{Memory, Solo, Space};
    /// let mut m = Solo::new();
    /// let (x, y) = (m.shared("x", 3_u64), m.shared("y", 4_u64));
    /// let larger = m.call(|m| Ok(m.read(&x)?.max(m.read(&y)?)));
    /// assert_eq!(larger, Ok(4));
    /// ```
    #[inline(always)]
    fn call<B: Local>(&mut self, body: impl Fn(&mut Self) -> Result<B, Self::Halt>) -> Result<B, Self::Halt> {
        self.turns((), |m, ()| Ok(Break(body(m)?)))
    }
}
