//! The memory from the point of view of the owner of one slot.
use std::{
    fmt, hint, mem,
    ops::ControlFlow::{self, Break, Continue},
    sync::{
        Arc,
        atomic::{
            self, AtomicBool, AtomicU64,
            Ordering::{self, Acquire, Release, SeqCst},
        },
    },
    thread,
    time::{Duration, Instant},
};

use doorway_memory::{Local, Memory, Number, Pid, Value};

use crate::{Record, Reg, Run, Watch, Why, plan::NOBODY, region::Region};

/// Whether the machine has total store order, the memory model with which the algorithms' fences are checked.
const TSO: bool = cfg!(any(target_arch = "x86", target_arch = "x86_64"));

// ORDERING: as in `doorway_native`, for the same reasons: that the memory is shared between processes makes no
// difference.
const READ: Ordering = if TSO { Acquire } else { SeqCst };
const WRITE: Ordering = if TSO { Release } else { SeqCst };

/// How often a waiter spins before it parks: for a few microseconds. A holder that stays longer is likely to stay
/// much longer.
const SPINS_BEFORE_PARKING: u32 = 40;

/// How long a waiter parks at first.
const FIRST_PARK: Duration = Duration::from_millis(5);

/// Why an algorithm was stopped.
///
/// See [`Shared`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Halt {
    /// The deadline of the wait has passed, or it was [interrupted](Shared::set_interrupt), or was a
    /// [brief](Shared::resume) one.
    Abort,
    /// A register is beyond the end of the file: its number was read from a damaged register.
    Damaged,
}

/// The memory from the point of view of the owner of one slot.
///
/// Every access is one atomic instruction on memory shared with other processes; see `doorway_native` for the
/// orderings.
///
/// # Waiting
/// A waiter spins [a few times](Shared::has_waited), then announces that it parks, evaluates its condition once more,
/// and parks on its doorbell. After its writes a process calls [`flush`](Shared::flush), which wakes the parked owners
/// that its [`Watch`] names, or all of them.
///
/// ```
/// use doorway_memory::{Memory, Space};
/// use doorway_shm::{File, Location, Mapping, Plan};
///
/// let mut plan = Plan::new();
/// let x = plan.shared("x", 3_u64);
/// let path = std::env::temp_dir().join(format!("doorway-shared-{}", std::process::id()));
/// let file = File::new(Mapping::open_or_create(&Location::path(&path)?, 1, 2, || plan.clone())?, plan)?;
/// let mut m = file.memory(0);
/// assert_eq!(m.fetch_add(&x, 4), Ok(3));
/// assert_eq!(file.memory(1).read(&x), Ok(7));
/// # std::fs::remove_file(path).unwrap();
/// # Ok::<(), doorway_shm::Error>(())
/// ```
pub struct Shared {
    slot: Pid,
    /// Whether a register was written since the last flush, and whether no read-modify-write followed.
    has_written: bool,
    needs_fence: bool,
    /// How many slots the file has room for, as far as is known here.
    room: usize,
    halt: Option<Halt>,
    /// The number of turns of busy-waits in this passage.
    spins: u32,
    /// The doorbell's count when this waiter announced that it parks.
    announced: Option<u32>,
    /// Whether this waiter was woken, and has not checked since.
    is_woken: bool,
    park_timeout: Duration,
    deadline: Option<Instant>,
    /// Ends the wait as the deadline does, once another thread has set it.
    interrupt: Option<Arc<AtomicBool>>,
    /// Whether the wait ends as at its deadline whenever it was parked and not woken: for a while, or until a signal.
    is_brief: bool,
    watch: Option<Arc<dyn Watch>>,
    region: Arc<Region>,
}

impl Shared {
    pub(crate) fn new(region: Arc<Region>, slot: Pid) -> Shared {
        Shared {
            slot,
            has_written: false,
            needs_fence: false,
            room: 0,
            halt: None,
            spins: 0,
            announced: None,
            is_woken: false,
            park_timeout: FIRST_PARK,
            deadline: None,
            interrupt: None,
            is_brief: false,
            watch: None,
            region,
        }
    }

    /// The slot whose owner accesses the memory.
    #[must_use]
    #[inline(always)]
    pub fn slot(&self) -> Pid {
        self.slot
    }

    /// Makes this the memory of another slot, for its next passage. The file has room for that slot.
    pub(crate) fn move_to(&mut self, slot: Pid) {
        self.slot = slot;
        self.room = self.room.max(slot + 1);
    }

    /// Whether it is known that the file has room for the slot.
    #[inline(always)]
    pub(crate) fn has_room(&self) -> bool {
        self.slot < self.room
    }

    /// The record of the slot.
    #[must_use]
    #[inline(always)]
    pub fn record(&self) -> Record<'_> {
        self.region.record(self.slot)
    }

    /// Sets the watch, which is consulted while waiting and before waking others.
    #[must_use]
    pub fn with_watch(mut self, watch: Arc<dyn Watch>) -> Shared {
        self.watch = Some(watch);
        self
    }

    /// Begins a passage that waits until the deadline at most.
    #[inline(always)]
    pub fn begin(&mut self, deadline: Option<Instant>) {
        (self.halt, self.spins, self.is_woken) = (None, 0, false);
        (self.park_timeout, self.deadline, self.is_brief) = (FIRST_PARK, deadline, false);
    }

    /// Continues a wait that was halted, until another deadline. A brief wait is halted also whenever it was parked and not
    /// woken: after a signal, or for a while.
    pub fn resume(&mut self, deadline: Option<Instant>, is_brief: bool) {
        (self.halt, self.deadline, self.is_brief) = (None, deadline, is_brief);
    }

    /// Lets another thread halt a wait, as its deadline does: it sets the flag, and then [wakes](crate::File::wake) the
    /// slot. The wait clears the flag.
    pub fn set_interrupt(&mut self, flag: Option<Arc<AtomicBool>>) {
        self.interrupt = flag;
    }

    /// Whether this passage has waited for more than 40 spins, after which a waiter parks.
    #[must_use]
    #[inline(always)]
    pub fn has_waited(&self) -> bool {
        self.spins > SPINS_BEFORE_PARKING
    }

    /// Wakes parked waiters if registers were written, and clears a halt. To be called at the end of a section.
    #[inline(always)]
    pub fn flush(&mut self) {
        self.halt = None;
        if self.announced.take().is_some() {
            self.region.retract(self.slot);
        }
        self.wake();
    }

    #[inline(always)]
    fn wake(&mut self) {
        if !self.has_written {
            return;
        }
        if self.needs_fence {
            atomic::fence(SeqCst);
        }
        (self.has_written, self.needs_fence) = (false, false);
        if self.region.is_any_parked() {
            self.wake_parked();
        }
    }

    #[cold]
    #[inline(never)]
    fn wake_parked(&self) {
        let slots = match &self.watch {
            Some(watch) => watch.to_wake(),
            None => (0..self.region.layout().slots).collect(),
        };
        slots.into_iter().filter(|&slot| self.region.has_room(slot)).for_each(|slot| self.region.wake(slot));
    }

    /// The word of a register.
    #[inline(always)]
    fn word<T>(&mut self, reg: &Reg<T>) -> Result<&AtomicU64, Halt> {
        if reg.home == NOBODY {
            return Ok(self.region.shared_register(reg.index));
        }
        let slot = usize::from(reg.home);
        if slot >= self.room {
            self.look_for_room(slot)?;
        }
        Ok(self.region.register(slot, reg.index))
    }

    #[cold]
    fn look_for_room(&mut self, slot: Pid) -> Result<(), Halt> {
        if self.region.has_room(slot) {
            self.room = slot + 1;
            Ok(())
        } else {
            Err(Halt::Damaged)
        }
    }

    /// Notes a read-modify-write, which is a fence too.
    #[inline(always)]
    fn has_modified(&mut self) {
        (self.has_written, self.needs_fence) = (true, false);
    }

    /// One step of a wait that goes on after spinning: aborts, parks, or announces that it parks.
    ///
    /// Not inlined: an uncontended passage does not need it.
    #[cold]
    #[inline(never)]
    fn wait_longer(&mut self) {
        // After the announcement, so that a thread that sets the flag later finds it, and rings the doorbell.
        let is_interrupted = self.interrupt.as_ref().is_some_and(|flag| flag.swap(false, SeqCst));
        if is_interrupted || self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            self.halt = Some(Halt::Abort);
        } else if let Some(count) = self.announced {
            let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let timeout = left.map_or(self.park_timeout, |left| left.min(self.park_timeout));
            if self.region.park(self.slot, count, timeout) {
                // A wait of many short deadlines checks as rarely as a long one.
                match self.park_timeout.checked_sub(timeout) {
                    Some(left) if !left.is_zero() => self.park_timeout = left,
                    _ => self.check(Why::Timeout),
                }
                if self.is_brief {
                    self.halt = Some(Halt::Abort);
                }
            } else {
                (self.announced, self.is_woken) = (None, true);
            }
        } else {
            self.wake();
            // Only now: most waiters that are woken need not park again.
            if mem::take(&mut self.is_woken) {
                self.check(Why::Woken);
            }
            self.announced = Some(self.region.announce(self.slot));
        }
    }

    fn check(&mut self, why: Why) {
        if let Some(watch) = &self.watch {
            self.park_timeout = watch.check(self.slot, why);
        }
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("slot", &self.slot).finish_non_exhaustive()
    }
}

impl Memory for Shared {
    type Halt = Halt;
    type Reg<T: Value> = Reg<T>;
    type Registers<T: Value> = Run<T>;

    #[inline(always)]
    fn read<T: Value>(&mut self, reg: &Reg<T>) -> Result<T, Halt> {
        Ok(T::of_word(self.word(reg)?.load(READ)))
    }

    #[inline(always)]
    fn test<T: Value>(&mut self, reg: &Reg<T>, holds: impl FnOnce(T) -> bool) -> Result<bool, Halt> {
        self.read(reg).map(holds)
    }

    #[inline(always)]
    fn write<T: Value>(&mut self, reg: &Reg<T>, value: T) -> Result<(), Halt> {
        self.word(reg)?.store(value.to_word(), WRITE);
        (self.has_written, self.needs_fence) = (true, true);
        Ok(())
    }

    #[inline(always)]
    fn fetch_add<T: Number>(&mut self, reg: &Reg<T>, by: T) -> Result<T, Halt> {
        let old = T::of_word(self.word(reg)?.fetch_add(by.to_word(), SeqCst));
        self.has_modified();
        Ok(old)
    }

    #[inline(always)]
    fn swap<T: Value>(&mut self, reg: &Reg<T>, value: T) -> Result<T, Halt> {
        let old = T::of_word(self.word(reg)?.swap(value.to_word(), SeqCst));
        self.has_modified();
        Ok(old)
    }

    #[inline(always)]
    fn compare_swap<T: Value>(&mut self, reg: &Reg<T>, old: T, new: T) -> Result<bool, Halt> {
        let mut word = old.to_word();
        loop {
            match self.word(reg)?.compare_exchange(word, new.to_word(), SeqCst, SeqCst) {
                Ok(_) => {
                    self.has_modified();
                    return Ok(true);
                }
                // After a sum has overflowed a narrow type, the word differs from the one that encodes the value.
                Err(found) if T::of_word(found) == old => word = found,
                Err(_) => return Ok(false),
            }
        }
    }

    #[inline(always)]
    fn fence(&mut self) -> Result<(), Halt> {
        if TSO {
            atomic::fence(SeqCst);
        }
        Ok(())
    }

    /// Takes milliseconds: the kernel waits until every processor, whatever it executes, has passed a fence.
    fn barrier(&mut self) -> Result<(), Halt> {
        use rustix::thread::{MembarrierCommand, membarrier};
        /// Much longer than a write stays in a store buffer; for systems without `membarrier`.
        const FALLBACK: Duration = Duration::from_millis(1);
        atomic::fence(SeqCst);
        if membarrier(MembarrierCommand::Global).is_err() {
            thread::sleep(FALLBACK);
        }
        Ok(())
    }

    #[inline(always)]
    fn turns<S: Local, B: Local>(
        &mut self,
        mut state: S,
        body: impl Fn(&mut Self, S) -> Result<ControlFlow<B, S>, Halt>,
    ) -> Result<B, Halt> {
        loop {
            // It is enough to test this here rather than at every access: every wait is a loop.
            if let Some(halt) = self.halt {
                return Err(halt);
            }
            match body(self, state)? {
                Break(end) => return Ok(end),
                Continue(next) => state = next,
            }
        }
    }

    /// A plain loop: it is bounded, so it need not test whether the wait is aborted.
    #[inline(always)]
    fn fold<S: Local>(
        &mut self,
        n: usize,
        mut state: S,
        body: impl Fn(&mut Self, S, usize) -> Result<S, Halt>,
    ) -> Result<S, Halt> {
        for i in 0..n {
            state = body(self, state, i)?;
        }
        Ok(state)
    }

    #[inline(always)]
    fn relax(&mut self) {
        self.spins = self.spins.saturating_add(1);
        if self.spins > SPINS_BEFORE_PARKING {
            self.wait_longer();
        } else {
            hint::spin_loop();
        }
    }
}
