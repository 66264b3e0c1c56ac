//! The memory from the point of view of the owner of one slot, and the slot's record.
use std::{
    fmt, hint,
    ops::ControlFlow::{self, Break, Continue},
    sync::{
        Arc,
        atomic::{
            self, AtomicU64,
            Ordering::{self, Acquire, Release, SeqCst},
        },
    },
    thread,
    time::{Duration, Instant},
};

use doorway_memory::{Local, Memory, Number, Pid, Value};

use crate::{NextCheck, Phase, Record, Reg, Watch, map::Words, plan::HOMES, region::Region};

/// Whether the machine has total store order, the memory model with which the algorithms' fences are checked.
const TSO: bool = cfg!(any(target_arch = "x86", target_arch = "x86_64"));

// ORDERING: as in `doorway_native`, for the same reasons: that the memory is shared between processes makes no
// difference.
pub(crate) const READ: Ordering = if TSO { Acquire } else { SeqCst };
const WRITE: Ordering = if TSO { Release } else { SeqCst };

/// How often a waiter spins before it parks: for a few microseconds. A holder that stays longer is likely to stay
/// much longer.
const SPINS_BEFORE_PARKING: u32 = 40;

/// How long a waiter parks at a time unless its [`Watch`] says otherwise.
const PARK_TIMEOUT: Duration = Duration::from_millis(5);

/// Why an algorithm was stopped.
///
/// See [`Peek`](crate::Peek) and [`Shared::with_max_value`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Halt {
    /// The wait is aborted: the deadline has passed, or the [`Watch`] says so. In a [`Peek`](crate::Peek): the
    /// process would have to wait.
    Abort,
    /// A register holds a value above the [maximum](Shared::with_max_value).
    Damaged,
}

/// The memory from the point of view of the owner of one slot.
///
/// Every access is one atomic instruction on memory shared with other processes; see `doorway_native` for the
/// orderings.
///
/// # Waiting
/// A process may wait on the registers that are at home at its slot. A write marks the slot at which its register is at
/// home, and [`flush`](Shared::flush) wakes the parked owners of marked slots. A waiter spins [a few
/// times](Shared::has_waited), then announces that it parks, evaluates its condition once more, and parks on its
/// doorbell.
///
/// ```
/// use doorway_memory::{Memory, Space};
/// use doorway_shm::{File, Location, Mapping, Plan};
///
/// let mut plan = Plan::new();
/// let x = plan.shared("x", 3_u64);
/// let path = std::env::temp_dir().join(format!("doorway-shared-{}", std::process::id()));
/// let mapping = Mapping::open_or_create(&Location::path(&path), 1, 2, || plan.registers())?;
/// let file = File::new(mapping, plan)?;
/// file.reset();
/// let mut m = file.memory(0);
/// assert_eq!(m.fetch_add(&x, 4), Ok(3));
/// assert_eq!(file.memory(1).read(&x), Ok(7));
/// # std::fs::remove_file(path).unwrap();
/// # Ok::<(), doorway_shm::Error>(())
/// ```
pub struct Shared {
    registers: Words,
    slot: Pid,
    /// For each home, whether a register at home there was written since the last flush.
    ///
    /// Bytes rather than bits: setting a byte is a store that depends on nothing, whereas a word of bits would have
    /// to be read first, so that every write waited for the one before.
    marks: [bool; HOMES],
    /// Why the algorithm is to be stopped, if it is.
    halt: Option<Halt>,
    /// The maximum value that a read accepts.
    max_value: u64,
    /// The number of spins in this passage.
    spins: u32,
    /// The doorbell's count when this process announced that it parks, if it has.
    announced: Option<u32>,
    /// How long to park at a time.
    park_timeout: Duration,
    deadline: Option<Instant>,
    /// Whether to yield and check after every spin instead of parking.
    never_parks: bool,
    watch: Option<Arc<dyn Watch>>,
    region: Arc<Region>,
}

impl Shared {
    pub(crate) fn new(region: Arc<Region>, slot: Pid) -> Shared {
        Shared {
            registers: region.registers(),
            slot,
            marks: [false; HOMES],
            halt: None,
            max_value: u64::MAX,
            spins: 0,
            announced: None,
            park_timeout: PARK_TIMEOUT,
            deadline: None,
            never_parks: false,
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

    /// Sets the maximum value of a register: a read that finds a larger one ends with [`Halt::Damaged`].
    #[must_use]
    pub fn with_max_value(mut self, max_value: u64) -> Shared {
        self.max_value = max_value;
        self
    }

    /// Begins a passage that waits until the deadline at most.
    #[inline(always)]
    pub fn begin(&mut self, deadline: Option<Instant>) {
        (self.halt, self.spins, self.park_timeout, self.deadline, self.never_parks) =
            (None, 0, PARK_TIMEOUT, deadline, false);
    }

    /// Begins a passage that never parks: after each spin the watch says whether to go on waiting.
    #[inline(always)]
    pub fn begin_without_parking(&mut self, deadline: Instant) {
        self.begin(Some(deadline));
        self.never_parks = true;
    }

    /// Whether this passage has waited for more than 40 spins, after which a waiter parks.
    #[must_use]
    #[inline(always)]
    pub fn has_waited(&self) -> bool {
        self.spins > SPINS_BEFORE_PARKING
    }

    /// Wakes the parked waiters for which registers were written, and clears a halt. To be called at the end of a
    /// section.
    #[inline(always)]
    pub fn flush(&mut self) {
        self.halt = None;
        if self.announced.take().is_some() {
            self.region.retract(self.slot);
        }
        self.wake_marked();
    }

    /// Wakes the parked owners of marked slots, and clears the marks.
    #[inline(always)]
    fn wake_marked(&mut self) {
        atomic::fence(SeqCst);
        let marks = &mut self.marks[..self.region.layout().slots];
        self.region.wake_marked(marks, self.watch.as_deref());
        marks.fill(false);
    }

    #[inline(always)]
    fn word<T>(&self, reg: &Reg<T>) -> &AtomicU64 {
        self.registers.get(reg.index())
    }

    /// Marks the register's home. Called after each write.
    #[inline(always)]
    fn mark<T>(&mut self, reg: &Reg<T>) {
        self.marks[reg.home()] = true;
    }

    /// One step of a wait that goes on after spinning: aborts, yields, parks, or announces that it parks.
    ///
    /// Not inlined: an uncontended passage does not need it.
    #[cold]
    #[inline(never)]
    fn wait_longer(&mut self) {
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            self.halt = Some(Halt::Abort);
        } else if self.never_parks {
            self.wake_marked();
            self.check();
            thread::yield_now();
        } else if let Some(count) = self.announced {
            let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let timeout = left.map_or(self.park_timeout, |left| left.min(self.park_timeout));
            if self.region.park(self.slot, count, timeout) {
                self.check();
            } else {
                self.announced = None;
            }
        } else {
            self.wake_marked();
            self.announced = Some(self.region.announce(self.slot));
        }
    }

    fn check(&mut self) {
        match self.watch.as_ref().map(|watch| watch.check(self.slot)) {
            None => {}
            Some(NextCheck::After(timeout)) => self.park_timeout = timeout,
            Some(NextCheck::Abort) => self.halt = Some(Halt::Abort),
        }
    }
}

/// Updates of the slot's record, by its owner.
impl Shared {
    /// Records that the owner begins a passage at time `now`.
    #[inline(always)]
    pub fn set_arriving(&self, now: u64) {
        let record = self.record();
        record.set_ticket(0);
        record.set_since(now);
        record.set_phase(Phase::Arriving);
    }

    /// Records that the owner has drawn a ticket, and waits or tries with it.
    #[inline(always)]
    pub fn set_ticket(&self, ticket: u64, phase: Phase) {
        let record = self.record();
        record.set_ticket(ticket);
        record.set_phase(phase);
    }

    /// Records that the owner is a holder.
    #[inline(always)]
    pub fn set_inside(&self) {
        self.record().set_phase(Phase::Inside);
    }

    /// Records that the owner has become a holder at time `now`, after waiting.
    pub fn set_inside_since(&self, now: u64) {
        self.record().set_since(now);
        self.set_inside();
    }

    /// Records that the owner begins its exit section.
    #[inline(always)]
    pub fn set_leaving(&self) {
        self.record().set_phase(Phase::Leaving);
    }

    /// Records that the owner has completed its passage.
    #[inline(always)]
    pub fn set_free(&self) {
        self.record().set_phase(Phase::Free);
    }

    /// Sets the owner's description of itself.
    pub fn describe(&self, description: &str) {
        self.record().set_description(description);
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
    type Registers<T: Value> = Vec<Reg<T>>;

    #[inline(always)]
    fn read<T: Value>(&mut self, reg: &Reg<T>) -> Result<T, Halt> {
        let word = self.word(reg).load(READ);
        if word > self.max_value { Err(Halt::Damaged) } else { Ok(T::of_word(word)) }
    }

    #[inline(always)]
    fn test<T: Value>(&mut self, reg: &Reg<T>, holds: impl FnOnce(T) -> bool) -> Result<bool, Halt> {
        Ok(holds(T::of_word(self.word(reg).load(READ))))
    }

    #[inline(always)]
    fn write<T: Value>(&mut self, reg: &Reg<T>, value: T) -> Result<(), Halt> {
        self.word(reg).store(value.to_word(), WRITE);
        self.mark(reg);
        Ok(())
    }

    #[inline(always)]
    fn fetch_add<T: Number>(&mut self, reg: &Reg<T>, by: T) -> Result<T, Halt> {
        let old = T::of_word(self.word(reg).fetch_add(by.to_word(), SeqCst));
        self.mark(reg);
        Ok(old)
    }

    #[inline(always)]
    fn swap<T: Value>(&mut self, reg: &Reg<T>, value: T) -> Result<T, Halt> {
        let old = T::of_word(self.word(reg).swap(value.to_word(), SeqCst));
        self.mark(reg);
        Ok(old)
    }

    #[inline(always)]
    fn compare_swap<T: Value>(&mut self, reg: &Reg<T>, old: T, new: T) -> Result<bool, Halt> {
        let mut word = old.to_word();
        loop {
            match self.word(reg).compare_exchange(word, new.to_word(), SeqCst, SeqCst) {
                Ok(_) => {
                    self.mark(reg);
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
        if self.spins > SPINS_BEFORE_PARKING || self.never_parks {
            self.wait_longer();
        } else {
            hint::spin_loop();
        }
    }
}
