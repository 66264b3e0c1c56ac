//! The memory, as the owner of one slot sees it.
use std::{
    fmt, hint, iter,
    marker::PhantomData,
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

use doorway_memory::{Home, Local, Memory, Name, Number, Pid, Space, Value};

use crate::{
    map::Words,
    region::{MOST_SLOTS, Region},
};

/// Whether the machine's memory is the one for which the algorithms' fences are checked: total store order.
const TSO: bool = cfg!(any(target_arch = "x86", target_arch = "x86_64"));

// ORDERING: as in `doorway_native`, for the same reasons: that other processes see the same memory changes nothing.
pub(crate) const READ: Ordering = if TSO { Acquire } else { SeqCst };
const WRITE: Ordering = if TSO { Release } else { SeqCst };

/// So many turns before one sleeps: some microseconds. A process inside for longer than that is likely to be so for long.
const TURNS: u32 = 40;

/// The nap of one who waits and whom nobody looks after.
const NAP: Duration = Duration::from_millis(5);

/// The registers an algorithm asks for, in order; where they come from, and how they begin.
///
/// ```
/// use doorway_memory::Space;
/// use doorway_shm::Plan;
///
/// let mut plan = Plan::new();
/// let flags = plan.per_process("flag", 4, true);
/// assert_eq!(plan.begin().collect::<Vec<_>>(), [1; 4]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// A value, and how many registers one after the other begin with it: thousands, as a rule.
    runs: Vec<(u64, usize)>,
    registers: usize,
}

impl Plan {
    /// No registers yet.
    ///
    /// See [`Plan`].
    #[must_use]
    pub fn new() -> Plan {
        Plan::default()
    }

    /// What each register holds in the beginning.
    ///
    /// See [`Plan`].
    pub fn begin(&self) -> impl Iterator<Item = u64> {
        self.runs.iter().flat_map(|&(value, times)| iter::repeat_n(value, times))
    }

    /// How many registers there are.
    ///
    /// See [`Plan`].
    #[must_use]
    pub fn registers(&self) -> usize {
        self.registers
    }
}

impl Space for Plan {
    type Mem = Shared;

    fn register<T: Value>(&mut self, _: Name, home: Home, init: T) -> Reg<T> {
        let value = init.to_word();
        match self.runs.last_mut() {
            Some((last, times)) if *last == value => *times += 1,
            _ => self.runs.push((value, 1)),
        }
        self.registers += 1;
        Reg::new(self.registers - 1, home)
    }
}

/// A register: which word of the file it is, and who is at home there.
///
/// Half a word, so that a table of them stays in the cache beside the registers themselves.
///
/// See [`Plan`].
pub struct Reg<T>(u32, PhantomData<fn() -> T>);

/// So many bits of a register's half word are for the index; the home has the rest.
const INDEX: u32 = 21;
const HOMES: usize = 1 << (u32::BITS - INDEX);

impl<T> Reg<T> {
    fn new(index: usize, home: Home) -> Reg<T> {
        let home = match home {
            Home::Of(slot) => slot,
            Home::Nobody => MOST_SLOTS,
        };
        assert!(index < 1 << INDEX && home <= MOST_SLOTS, "more registers or slots than a file may have");
        Reg((home << INDEX | index) as u32, PhantomData)
    }

    #[inline(always)]
    pub(crate) fn index(&self) -> usize {
        self.0 as usize & ((1 << INDEX) - 1)
    }

    /// Beyond all slots, if it is nobody's.
    #[inline(always)]
    fn home(&self) -> usize {
        self.0 as usize >> INDEX
    }
}

impl<T> fmt::Debug for Reg<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Reg").field(&self.index()).finish()
    }
}

/// Why an access did not happen.
///
/// ```
/// assert_ne!(doorway_shm::Halt::Late, doorway_shm::Halt::Damaged);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Halt {
    /// We do not want to wait any longer.
    Late,
    /// The register holds more than is [plausible](Shared::doubt_above).
    Damaged,
}

/// Looks after those before us while we wait.
///
/// See [`Shared::watched_by`].
pub trait Watch: Send + Sync {
    /// Called now and then while the owner of this slot waits.
    fn look(&self, slot: Pid) -> Look;

    /// Whether the owner of this slot, who sleeps, would go on if it was woken; called by one who has written where it is at
    /// home. If that is not known, it should be woken.
    fn would_go_on(&self, slot: Pid) -> bool;
}

/// What to do after a look.
///
/// See [`Watch`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Look {
    /// Wait, and look again after so long.
    Again(Duration),
    /// Wait no longer.
    GiveUp,
}

/// The memory, as the owner of one slot sees it.
///
/// Every access is one atomic instruction, in memory that other processes see; see `doorway_native` for their order.
///
/// # Waiting
/// A register at home with q is one on which q may wait. Who writes it marks q, and [`flush`](Shared::flush) rings for those
/// marked who sleep. Whoever waits turns a few times, then announces that it sleeps, turns once more, and sleeps at its bell.
///
/// ```
/// use doorway_memory::{Memory, Space};
/// use doorway_shm::{File, Location, Plan};
///
/// let mut plan = Plan::new();
/// let x = plan.shared("x", 3_u64);
/// let path = std::env::temp_dir().join(format!("doorway-shared-{}", std::process::id()));
/// let file = File::open_or_create(&Location::path(&path), 1, 2, |_| plan.clone())?;
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
    /// Who is at home where we have written since the last flush. Bytes, since to set one is a store that waits for nothing;
    /// bits of a word would have to be read first, and every write would wait for the one before. As many as there are homes.
    marks: [bool; HOMES],
    /// Why we go on no longer.
    over: Option<Halt>,
    /// What a register that is read may hold at most.
    most: u64,
    /// Turns of the present wait.
    turns: u32,
    /// The bell's count when we announced that we sleep, if we have.
    heard: Option<u32>,
    nap: Duration,
    deadline: Option<Instant>,
    /// Whether to look at once and after every turn, instead of sleeping.
    eager: bool,
    watch: Option<Arc<dyn Watch>>,
    region: Arc<Region>,
}

impl Shared {
    pub(crate) fn new(region: Arc<Region>, slot: Pid) -> Shared {
        Shared {
            registers: region.registers(),
            slot,
            marks: [false; HOMES],
            over: None,
            most: u64::MAX,
            turns: 0,
            heard: None,
            nap: NAP,
            deadline: None,
            eager: false,
            watch: None,
            region,
        }
    }

    /// The slot as whose owner we see the memory.
    #[must_use]
    #[inline(always)]
    pub fn slot(&self) -> Pid {
        self.slot
    }

    /// Who looks after those before us while we wait.
    #[must_use]
    pub fn watched_by(mut self, watch: Arc<dyn Watch>) -> Shared {
        self.watch = Some(watch);
        self
    }

    /// A register that is read and holds more than this was damaged.
    #[must_use]
    pub fn doubt_above(mut self, most: u64) -> Shared {
        self.most = most;
        self
    }

    /// A passage begins, in which we wait no longer than to the deadline.
    #[inline(always)]
    pub fn begin(&mut self, deadline: Option<Instant>) {
        (self.over, self.turns, self.nap, self.deadline, self.eager) = (None, 0, NAP, deadline, false);
    }

    /// A passage begins, in which we do not sleep: after each turn the watch says whether to go on.
    #[inline(always)]
    pub fn begin_eagerly(&mut self, deadline: Instant) {
        self.begin(Some(deadline));
        self.eager = true;
    }

    /// Whether this passage has waited for longer than some turns.
    #[must_use]
    #[inline(always)]
    pub fn has_waited(&self) -> bool {
        self.turns > TURNS
    }

    /// To be called when a section has ended: rings for those who sleep where we have written. Also ends a halt.
    #[inline(always)]
    pub fn flush(&mut self) {
        self.over = None;
        if self.heard.take().is_some() {
            self.region.rise(self.slot);
        }
        self.ring();
    }

    #[inline(always)]
    fn ring(&mut self) {
        atomic::fence(SeqCst);
        let marks = &mut self.marks[..self.region.layout().slots];
        self.region.ring(marks, self.watch.as_deref());
        marks.fill(false);
    }

    #[inline(always)]
    fn word<T>(&self, reg: &Reg<T>) -> &AtomicU64 {
        self.registers.get(reg.index())
    }

    /// Called after each write.
    #[inline(always)]
    fn written<T>(&mut self, reg: &Reg<T>) {
        self.marks[reg.home()] = true;
    }

    /// Out of the way: it is not needed where nobody waits.
    #[cold]
    #[inline(never)]
    fn rest(&mut self) {
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            self.over = Some(Halt::Late);
        } else if self.eager {
            self.ring();
            self.look();
            thread::yield_now();
        } else if let Some(heard) = self.heard {
            let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let nap = left.map_or(self.nap, |left| left.min(self.nap));
            if self.region.sleep(self.slot, heard, nap) {
                self.look();
            } else {
                self.heard = None;
            }
        } else {
            self.ring();
            self.heard = Some(self.region.announce(self.slot));
        }
    }

    fn look(&mut self) {
        match self.watch.as_ref().map(|watch| watch.look(self.slot)) {
            None => {}
            Some(Look::Again(nap)) => self.nap = nap,
            Some(Look::GiveUp) => self.over = Some(Halt::Late),
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

    #[inline(always)]
    fn read<T: Value>(&mut self, reg: &Reg<T>) -> Result<T, Halt> {
        let word = self.word(reg).load(READ);
        if word > self.most { Err(Halt::Damaged) } else { Ok(T::of_word(word)) }
    }

    #[inline(always)]
    fn test<T: Value>(&mut self, reg: &Reg<T>, holds: impl FnOnce(T) -> bool) -> Result<bool, Halt> {
        Ok(holds(T::of_word(self.word(reg).load(READ))))
    }

    #[inline(always)]
    fn write<T: Value>(&mut self, reg: &Reg<T>, value: T) -> Result<(), Halt> {
        self.word(reg).store(value.to_word(), WRITE);
        self.written(reg);
        Ok(())
    }

    #[inline(always)]
    fn fetch_add<T: Number>(&mut self, reg: &Reg<T>, by: T) -> Result<T, Halt> {
        let old = T::of_word(self.word(reg).fetch_add(by.to_word(), SeqCst));
        self.written(reg);
        Ok(old)
    }

    #[inline(always)]
    fn swap<T: Value>(&mut self, reg: &Reg<T>, value: T) -> Result<T, Halt> {
        let old = T::of_word(self.word(reg).swap(value.to_word(), SeqCst));
        self.written(reg);
        Ok(old)
    }

    #[inline(always)]
    fn compare_swap<T: Value>(&mut self, reg: &Reg<T>, old: T, new: T) -> Result<bool, Halt> {
        let mut word = old.to_word();
        loop {
            match self.word(reg).compare_exchange(word, new.to_word(), SeqCst, SeqCst) {
                Ok(_) => {
                    self.written(reg);
                    return Ok(true);
                }
                // A sum that overflowed a narrow type has another word than the value it stands for.
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

    /// Takes milliseconds: the kernel waits until every processor has passed a fence, whatever it runs.
    fn barrier(&mut self) -> Result<(), Halt> {
        use rustix::thread::{MembarrierCommand, membarrier};
        /// Much longer than a write can stay unseen, where the system has no such barrier.
        const LONG: Duration = Duration::from_millis(1);
        atomic::fence(SeqCst);
        if membarrier(MembarrierCommand::Global).is_err() {
            thread::sleep(LONG);
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
            // Here, and not at every access: whoever waits turns.
            if let Some(halt) = self.over {
                return Err(halt);
            }
            match body(self, state)? {
                Break(end) => return Ok(end),
                Continue(next) => state = next,
            }
        }
    }

    /// A plain loop: it ends by itself, so it need not ask whether to go on.
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
        self.turns = self.turns.saturating_add(1);
        if self.turns > TURNS || self.eager {
            self.rest();
        } else {
            hint::spin_loop();
        }
    }
}
