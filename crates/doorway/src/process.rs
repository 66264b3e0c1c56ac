//! At most k processes at a time, first in, first enabled; whoever dies leaves its place to the next. On Linux only.
//!
//! ```
//! use doorway::process::Semaphore;
//!
//! # let path = std::env::temp_dir().join(format!("doorway-example-{}", std::process::id()));
//! # let gpu = &path;
//! # let _ = stringify!(
//! let gpu = "gpu";
//! # );
//! let gpus = Semaphore::open(gpu, 2)?; // every process that does so shares it
//! let permit = gpus.acquire()?; // waits in line until at most one other is inside
//! assert_eq!(gpus.holders()[0].pid, std::process::id());
//! drop(permit);
//! # drop(gpus);
//! # Semaphore::forget(gpu)?;
//! # Ok::<(), doorway::process::Error>(())
//! ```
//!
//! It is the algorithm `k-bakery-fife` of the catalogue, in a file that every process maps. All that a process does there is
//! in registers which only it writes, and the end of a passage may be run by anyone and any number of times. So if a process
//! dies, by `kill -9` too, whoever waits finds out and finishes its passage. Nothing is lost: neither its place nor anyone
//! else's in line.
//!
//! # Names
//! A name without `/` is a file in a directory of the user's: `$XDG_RUNTIME_DIR/doorway`, or `/tmp/doorway-UID`. What has a
//! `/` in it is a path as it is, and its file has the permissions that the umask leaves; so users may share it. It should be
//! on a local disk. The file is created by whoever comes first, keeps nothing worth keeping while nobody uses it, and is
//! never overwritten if it is something else.
//!
//! # Order
//! Those who wait are served in the order in which they came. Two things are outside of that order: taking a *slot*, of which
//! there are [64 unless said otherwise](Semaphore::open_with), and which matters only if more than so many are inside or in
//! line at once; and [`try_acquire`](Semaphore::try_acquire).
//!
//! # Waiting and dying
//! Who waits sleeps. Who leaves wakes those whose turn it is, and nobody else. The first two in line, when they have waited
//! for some milliseconds, have a thread that the kernel tells when one before them ends; besides, everyone who waits looks
//! some 20 times a second. A process is dead when the kernel has closed its files. A child that has [inherited the
//! descriptor](Permit::keep_in_child) keeps its place as long as it lives.
//!
//! # Forking
//! A forked child has neither the places nor the slots of its parent: there a semaphore opened before gives
//! [`Error::Forked`], and dropping a permit does nothing. But it has a copy of the descriptor. As long as it lives and
//! has not run another program, the place of a parent that *died* inside is kept.
//!
//! # What cannot be helped
//! - If the file is removed by other means than [`forget`](Semaphore::forget) while someone is inside, who comes next makes a
//!   new one and knows nothing of those inside. Whoever waits, or acquires a tenth of a second later, goes over to the new
//!   one.
//! - Who truncates the file while it is in use kills those who use it (SIGBUS); who writes to it other than by this crate may
//!   let too many in.
//! - A process that is stopped (SIGSTOP) is not dead. It keeps its place inside or in line.
use std::{
    cell::RefCell,
    env, fmt,
    os::fd::BorrowedFd,
    path::Path,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak,
        atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant, SystemTime},
};

use doorway_algorithms::kexclusion::k_bakery_fife::KBakeryFife;
use doorway_memory::{Exclusion, Pid, Ticket, Value};
pub use doorway_shm::{Error, names};
use doorway_shm::{
    File, Halt, Location, Look, Ours, Peek, PeekPlan, Phase, Plan, Record, Shared, Taken, Watch, Watchman, locate,
};

/// So many may be inside or in line at once, unless k is large.
const SLOTS: usize = 64;

/// A ticket above this is not one that was ever drawn.
const MOST: u64 = 1 << 62;

/// So often who waits looks whether those before it are alive, beginning some milliseconds after it came.
const NAP: Duration = Duration::from_millis(45);

/// So many, the first ones in line, are told by the kernel if someone before them ends.
const WATCHERS: usize = 2;

/// Of so many looks one is at everyone, not only at those who came before.
const LOOKS: u32 = 2;

/// As long as that, trying goes on while others try too.
const TRYING: Duration = Duration::from_millis(5);

/// So long one sleeps who finds the gate busy, or no slot free; longer each time, up to the longest.
const GATE_IS_BUSY: Duration = Duration::from_micros(50);
const NONE_IS_FREE: Duration = Duration::from_millis(1);
const LONGEST_NAP: Duration = Duration::from_millis(10);

/// After so long (in nanoseconds) one looks whether the path still leads to the file, even if one need not wait.
const STALE: u64 = 100_000_000;

/// At most k processes at a time, in order of arrival; threads of one process too.
///
/// See the [module](self).
pub struct Semaphore {
    location: Location,
    /// What the processes are told that we are about.
    what: String,
    /// Whether we have not been forked since.
    ours: Ours,
    current: Mutex<Current>,
}

/// The file that the path leads to, as far as we know.
struct Current {
    line: Arc<Line>,
    /// Slots that are ours and in which nobody is: then acquiring takes no system call.
    #[allow(clippy::vec_box, reason = "a seat is large, and moves from here to a permit and back")]
    idle: Vec<Box<Seat>>,
}

impl Semaphore {
    /// Opens a semaphore for `k` processes at a time, and creates it if it does not exist.
    ///
    /// # Errors
    /// If it is for another k, or the file is something else, or it cannot be created.
    ///
    /// ```
    /// use doorway::process::Semaphore;
    /// # let path = std::env::temp_dir().join(format!("doorway-open-{}", std::process::id()));
    /// let printers = Semaphore::open(&path, 3)?;
    /// assert_eq!(
    ///     Semaphore::open(&path, 4).unwrap_err().to_string(),
    ///     format!("`{}` lets 3 in at a time, not 4; ask for 3, or forget it when nobody uses it", path.display())
    /// );
    /// # Semaphore::forget(&path)?;
    /// # Ok::<(), doorway::process::Error>(())
    /// ```
    pub fn open(name: impl AsRef<Path>, k: usize) -> Result<Semaphore, Error> {
        Semaphore::open_with(name, k, SLOTS.max(2 * k))
    }

    /// The same, and if it is created it has so many slots. So many can be inside or in line at once; who comes then waits
    /// for a slot, and those who wait for a slot are in no order. With n slots it takes n² registers, and a passage takes
    /// time in proportion to n.
    ///
    /// # Errors
    /// As [`open`](Semaphore::open); and if there are not more slots than `k`, or more than 1024.
    ///
    /// ```
    /// use doorway::process::Semaphore;
    /// # let path = std::env::temp_dir().join(format!("doorway-open-with-{}", std::process::id()));
    /// assert_eq!(Semaphore::open_with(&path, 1, 8)?.slots(), 8);
    /// assert!(Semaphore::open_with(&path, 8, 8).is_err());
    /// # Semaphore::forget(&path)?;
    /// # Ok::<(), doorway::process::Error>(())
    /// ```
    pub fn open_with(name: impl AsRef<Path>, k: usize, slots: usize) -> Result<Semaphore, Error> {
        let location = locate(name.as_ref())?;
        let line = Line::open_or_create(&location, k, slots)?;
        Semaphore::of(location, line)
    }

    /// Opens a semaphore that exists, whatever its k: to look who is there, for example.
    ///
    /// # Errors
    /// If there is none, or the file is something else.
    ///
    /// ```
    /// use doorway::process::Semaphore;
    /// # let path = std::env::temp_dir().join(format!("doorway-existing-{}", std::process::id()));
    /// assert!(Semaphore::existing(&path).is_err());
    /// let printers = Semaphore::open(&path, 3)?;
    /// assert_eq!(Semaphore::existing(&path)?.k(), 3);
    /// # Semaphore::forget(&path)?;
    /// # Ok::<(), doorway::process::Error>(())
    /// ```
    pub fn existing(name: impl AsRef<Path>) -> Result<Semaphore, Error> {
        let location = locate(name.as_ref())?;
        let line = Line::open(&location)?;
        Semaphore::of(location, line)
    }

    /// Removes the file of a semaphore that nobody uses.
    ///
    /// # Errors
    /// If somebody does, or there is none.
    ///
    /// ```
    /// use doorway::process::{Error, Semaphore};
    /// # let path = std::env::temp_dir().join(format!("doorway-forget-{}", std::process::id()));
    /// let printers = Semaphore::open(&path, 3)?;
    /// let permit = printers.acquire()?;
    /// assert!(matches!(Semaphore::forget(&path), Err(Error::InUse { .. })));
    /// drop(permit);
    /// drop(printers);
    /// Semaphore::forget(&path)?;
    /// assert!(!path.exists());
    /// # Ok::<(), doorway::process::Error>(())
    /// ```
    pub fn forget(name: impl AsRef<Path>) -> Result<(), Error> {
        File::forget(&locate(name.as_ref())?, &|k, slots| plan(k, slots).1)
    }

    fn of(location: Location, line: Arc<Line>) -> Result<Semaphore, Error> {
        let ours = Ours::new().map_err(|source| Error::Io {
            path: location.as_path().to_owned(),
            doing: "have memory for",
            source,
        })?;
        let arguments: Vec<String> = env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
        let current = Mutex::new(Current { line, idle: Vec::new() });
        Ok(Semaphore { location, what: arguments.join(" "), ours, current })
    }

    /// Says what we are about, for those who ask for [`holders`](Semaphore::holders); unless it is said, that is our command
    /// line. Some 200 bytes are kept.
    ///
    /// ```
    /// use doorway::process::Semaphore;
    /// # let path = std::env::temp_dir().join(format!("doorway-describe-{}", std::process::id()));
    /// let printers = Semaphore::open(&path, 1)?.describe("letters");
    /// let permit = printers.acquire()?;
    /// assert_eq!(printers.holders()[0].what, "letters");
    /// # drop(permit);
    /// # drop(printers);
    /// # Semaphore::forget(&path)?;
    /// # Ok::<(), doorway::process::Error>(())
    /// ```
    #[must_use]
    pub fn describe(mut self, what: impl Into<String>) -> Semaphore {
        self.what = what.into();
        let what = &self.what;
        let current = self.current.get_mut().unwrap_or_else(PoisonError::into_inner);
        current.idle.iter().for_each(|seat| seat.line.file.describe(seat.slot(), what));
        self
    }

    /// How many may be inside.
    ///
    /// See [`existing`](Semaphore::existing).
    #[must_use]
    pub fn k(&self) -> usize {
        self.line().file.k()
    }

    /// How many may be inside or in line.
    ///
    /// See [`open_with`](Semaphore::open_with).
    #[must_use]
    pub fn slots(&self) -> usize {
        self.line().file.slots()
    }

    /// The file's path.
    ///
    /// ```
    /// # let path = std::env::temp_dir().join(format!("doorway-path-{}", std::process::id()));
    /// assert_eq!(doorway::process::Semaphore::open(&path, 1)?.path(), path);
    /// # doorway::process::Semaphore::forget(&path)?;
    /// # Ok::<(), doorway::process::Error>(())
    /// ```
    #[must_use]
    pub fn path(&self) -> &Path {
        self.location.as_path()
    }

    /// Waits in line until we may go in. If nobody else is there, and we have been inside before, that takes no system call.
    ///
    /// # Errors
    /// If the file has become unusable: replaced by something else, or damaged while in use.
    ///
    /// See the [module's example](self).
    pub fn acquire(&self) -> Result<Permit<'_>, Error> {
        let entered = self.enter(How::Wait(None))?;
        Ok(entered.expect("without a deadline nobody gives up"))
    }

    /// Waits in line for at most so long.
    ///
    /// # Errors
    /// As [`acquire`](Semaphore::acquire).
    ///
    /// ```
    /// use std::time::Duration;
    /// # let path = std::env::temp_dir().join(format!("doorway-timeout-{}", std::process::id()));
    /// let printers = doorway::process::Semaphore::open(&path, 1)?;
    /// let permit = printers.acquire()?;
    /// assert!(printers.acquire_timeout(Duration::from_millis(1))?.is_none());
    /// # drop(permit);
    /// # drop(printers);
    /// # doorway::process::Semaphore::forget(&path)?;
    /// # Ok::<(), doorway::process::Error>(())
    /// ```
    pub fn acquire_timeout(&self, time: Duration) -> Result<Option<Permit<'_>>, Error> {
        self.enter(How::Wait(Instant::now().checked_add(time))) // without end, if clocks do not go that far
    }

    /// Waits in line, no longer than to the deadline.
    ///
    /// # Errors
    /// As [`acquire`](Semaphore::acquire).
    ///
    /// See [`acquire_timeout`](Semaphore::acquire_timeout).
    pub fn acquire_deadline(&self, deadline: Instant) -> Result<Option<Permit<'_>>, Error> {
        self.enter(How::Wait(Some(deadline)))
    }

    /// Goes in if there is room for us beside those inside and those who wait in line. Of several who try at once as many
    /// succeed as there is room for: one waits until the others have succeeded or given up, for some milliseconds at most.
    ///
    /// # Errors
    /// As [`acquire`](Semaphore::acquire).
    ///
    /// ```
    /// # let path = std::env::temp_dir().join(format!("doorway-try-{}", std::process::id()));
    /// let printers = doorway::process::Semaphore::open(&path, 1)?;
    /// let permit = printers.try_acquire()?.expect("nobody is there");
    /// assert!(printers.try_acquire()?.is_none());
    /// # drop(permit);
    /// # drop(printers);
    /// # doorway::process::Semaphore::forget(&path)?;
    /// # Ok::<(), doorway::process::Error>(())
    /// ```
    pub fn try_acquire(&self) -> Result<Option<Permit<'_>>, Error> {
        self.enter(How::Try(Instant::now() + TRYING))
    }

    /// Who is inside, in order of arrival.
    ///
    /// See the [module's example](self).
    #[must_use]
    pub fn holders(&self) -> Vec<Person> {
        self.line().people(Phase::Inside)
    }

    /// Who waits in line, the first one first.
    ///
    /// ```
    /// # let path = std::env::temp_dir().join(format!("doorway-waiters-{}", std::process::id()));
    /// let printers = doorway::process::Semaphore::open(&path, 1)?;
    /// assert!(printers.waiters().is_empty());
    /// # drop(printers);
    /// # doorway::process::Semaphore::forget(&path)?;
    /// # Ok::<(), doorway::process::Error>(())
    /// ```
    #[must_use]
    pub fn waiters(&self) -> Vec<Person> {
        self.line().people(Phase::Waiting)
    }

    fn enter(&self, how: How) -> Result<Option<Permit<'_>>, Error> {
        // Before anything is locked: the thread that had it locked may not exist in a forked child.
        if !self.ours.is_true() {
            return Err(Error::Forked { path: self.path().to_owned() });
        }
        loop {
            let Some(mut seat) = self.seat(how.deadline())? else { return Ok(None) };
            let now = File::now();
            if seat.line.is_stale(now) && !seat.line.file.is_current()? {
                self.leave_to_others(seat)?;
                continue;
            }
            if !seat.enter(how, now)? {
                self.give_back(seat);
                return Ok(None);
            }
            if seat.memory.has_waited() {
                seat.line.file.is_inside_since(seat.slot(), File::now());
                // Those who come now may be told of another file, and wait there.
                if !seat.line.file.is_current()? {
                    seat.leave();
                    self.leave_to_others(seat)?;
                    continue;
                }
            }
            return Ok(Some(Permit { semaphore: self, seat: Some(seat) }));
        }
    }

    /// A slot, one we have had before if possible; none if it gets late.
    #[inline(always)]
    fn seat(&self, deadline: Option<Instant>) -> Result<Option<Box<Seat>>, Error> {
        let idle = self.lock().idle.pop();
        if idle.is_some() { Ok(idle) } else { self.new_seat(deadline) }
    }

    #[cold]
    fn new_seat(&self, deadline: Option<Instant>) -> Result<Option<Box<Seat>>, Error> {
        for tries in 1.. {
            let line = self.line();
            let nap = match line.file.take(&|memory| line.reap(memory))? {
                Taken::Slot(slot) => {
                    line.file.describe(slot, &self.what);
                    return Ok(Some(Box::new(Seat::new(line, slot))));
                }
                Taken::FileIsGone => {
                    self.renew(&line)?;
                    continue;
                }
                Taken::GateIsBusy => GATE_IS_BUSY,
                Taken::NoneIsFree => NONE_IS_FREE,
            };
            let nap = nap.saturating_mul(tries).min(LONGEST_NAP);
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(None);
            }
            thread::sleep(left.map_or(nap, |left| left.min(nap)));
            if let Some(seat) = self.lock().idle.pop() {
                return Ok(Some(seat)); // another of our threads was inside
            }
        }
        Ok(None) // not reached: it would take a year
    }

    #[inline(always)]
    fn give_back(&self, seat: Box<Seat>) {
        let mut current = self.lock();
        if Arc::ptr_eq(&current.line, &seat.line) {
            current.idle.push(seat);
        } // else the file has been replaced, and the slot is of no use
    }

    /// The path leads to another file than the seat's: go there.
    fn leave_to_others(&self, seat: Box<Seat>) -> Result<(), Error> {
        let line = seat.line.clone();
        drop(seat);
        self.renew(&line)
    }

    /// Opens the file that the path leads to now, unless someone has done so since.
    fn renew(&self, old: &Arc<Line>) -> Result<(), Error> {
        let mut current = self.lock();
        if Arc::ptr_eq(&current.line, old) {
            let line = Line::open_or_create(&self.location, old.file.k(), old.file.slots())?;
            *current = Current { line, idle: Vec::new() };
        }
        Ok(())
    }

    fn line(&self) -> Arc<Line> {
        self.lock().line.clone()
    }

    #[inline(always)]
    fn lock(&self) -> MutexGuard<'_, Current> {
        // Nothing panics with it locked that would leave it half changed.
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Semaphore").field("path", &self.path()).field("what", &self.what).finish_non_exhaustive()
    }
}

/// We are inside; dropping it makes room for the next one.
///
/// See [`Semaphore::acquire`].
#[must_use = "dropping it makes room for the next one"]
pub struct Permit<'a> {
    semaphore: &'a Semaphore,
    /// Taken out when it is dropped.
    seat: Option<Box<Seat>>,
}

impl Permit<'_> {
    fn inside(&self) -> &Seat {
        self.seat.as_ref().expect("it is taken out only by dropping the permit")
    }

    /// The descriptor to which our places belong: those of all permits of the same [`Semaphore`]. As long as anyone has it
    /// open, they are kept.
    ///
    /// See [`keep_in_child`](Permit::keep_in_child).
    #[must_use]
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.inside().line.file.descriptor()
    }

    /// Lets programs that we run from now on inherit the [descriptor](Permit::descriptor): if we die before the permit is
    /// dropped, our place is kept until they have ended too. If we drop it, it is free at once.
    ///
    /// # Errors
    /// If the system says no.
    ///
    /// ```
    /// # let path = std::env::temp_dir().join(format!("doorway-keep-{}", std::process::id()));
    /// let printers = doorway::process::Semaphore::open(&path, 1)?;
    /// let permit = printers.acquire()?;
    /// permit.keep_in_child()?;
    /// std::process::Command::new("true").status().unwrap();
    /// # drop(permit);
    /// # drop(printers);
    /// # doorway::process::Semaphore::forget(&path)?;
    /// # Ok::<(), doorway::process::Error>(())
    /// ```
    pub fn keep_in_child(&self) -> Result<(), Error> {
        self.inside().line.file.keep_in_children()
    }

    /// Says what this permit is for, as [`Semaphore::describe`] does for all.
    pub fn describe(&self, what: &str) {
        let seat = self.inside();
        if seat.line.file.is_ours() {
            seat.line.file.describe(seat.slot(), what);
        }
    }
}

impl Drop for Permit<'_> {
    #[inline]
    fn drop(&mut self) {
        let Some(mut seat) = self.seat.take() else { return };
        // In a forked child it is the parent who is inside.
        if self.semaphore.ours.is_true() {
            seat.leave();
            self.semaphore.give_back(seat);
        }
    }
}

impl fmt::Debug for Permit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").field("path", &self.semaphore.path()).field("slot", &self.inside().slot()).finish()
    }
}

/// One who is inside or in line.
///
/// See [`Semaphore::holders`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Person {
    /// Its process.
    pub pid: u32,
    /// When that process began, in clock ticks since the machine did, as in `/proc/PID/stat`: pids are used again.
    pub started: u64,
    /// Since when it is inside or waits, to a few milliseconds.
    pub since: SystemTime,
    /// What for: what it said, or its command line.
    pub what: String,
    /// Its ticket: who has the smaller one came first.
    pub ticket: u64,
    /// Whether its place is kept: it lives, or a child that has inherited it does. If not, the next who waits takes the place.
    pub alive: bool,
}

#[derive(Clone, Copy)]
enum How {
    Wait(Option<Instant>),
    /// No longer than to then, and only while others try.
    Try(Instant),
}

impl How {
    fn deadline(self) -> Option<Instant> {
        match self {
            How::Wait(deadline) => deadline,
            How::Try(deadline) => Some(deadline),
        }
    }
}

/// A file, and the algorithm in it.
struct Line {
    file: File,
    algorithm: KBakeryFife<Shared>,
    /// The same, for looking; made when it is first needed.
    peeked: OnceLock<KBakeryFife<Peek>>,
    /// When we last looked whether the path leads to this file.
    checked: AtomicU64,
    /// How often a waiter of ours has looked at those before it.
    looks: AtomicU32,
    /// Watches those before ours who wait long; none if none has yet, or the system has no such thing.
    watchman: OnceLock<Option<Watchman>>,
    /// Ourselves, for the watchman.
    this: Weak<Line>,
}

fn plan(k: usize, slots: usize) -> (KBakeryFife<Shared>, Plan) {
    let mut plan = Plan::new();
    let algorithm = KBakeryFife::new(&mut plan, slots, k);
    (algorithm, plan)
}

impl Line {
    fn open_or_create(location: &Location, k: usize, slots: usize) -> Result<Arc<Line>, Error> {
        Line::of(|plan| File::open_or_create(location, k, slots, |slots| plan(k, slots)))
    }

    fn open(location: &Location) -> Result<Arc<Line>, Error> {
        Line::of(|plan| File::open(location, plan))
    }

    fn of(open: impl FnOnce(&dyn Fn(usize, usize) -> Plan) -> Result<File, Error>) -> Result<Arc<Line>, Error> {
        // Whoever opens the file has to know the registers; the algorithm they are for is made with them, and only once.
        let algorithm = RefCell::new(None);
        let file = open(&|k, slots| {
            let (made, plan) = plan(k, slots);
            algorithm.replace(Some(made));
            plan
        })?;
        let algorithm = algorithm.into_inner().expect("the last plan was for the file that was opened");
        Ok(Arc::new_cyclic(|this| Line {
            file,
            algorithm,
            peeked: OnceLock::new(),
            checked: AtomicU64::new(File::now()),
            looks: AtomicU32::new(0),
            watchman: OnceLock::new(),
            this: this.clone(),
        }))
    }

    /// Whether it is time to look if the path still leads here.
    #[inline(always)]
    fn is_stale(&self, now: u64) -> bool {
        let is_stale = now.abs_diff(self.checked.load(Relaxed)) > STALE;
        if is_stale {
            self.checked.store(now, Relaxed);
        }
        is_stale
    }

    /// Finishes the passage of one who has died, wherever it was.
    fn reap(&self, memory: &mut Shared) {
        let slot = memory.slot();
        let finished = self.algorithm.reap(memory, slot);
        debug_assert_eq!(finished, Ok(()), "leaving waits for nothing");
    }

    /// Ends a passage of ours before we are inside.
    fn abandon(&self, memory: &mut Shared) {
        let slot = memory.slot();
        let ended = self.algorithm.abandon(memory, slot, &Ticket::ZERO);
        debug_assert_eq!(ended, Ok(()), "leaving waits for nothing");
    }

    /// Finishes the passages of the dead among those whom it may concern.
    fn reap_dead(&self, concerns: &dyn Fn(Record<'_>) -> bool) -> usize {
        self.file.reap(concerns, &|memory| self.reap(memory))
    }

    fn records(&self) -> impl Iterator<Item = (Pid, Record<'_>)> {
        (0..self.file.slots()).map(|slot| (slot, self.file.record(slot)))
    }

    fn people(&self, phase: Phase) -> Vec<Person> {
        /// So often we look again if someone has come or gone meanwhile.
        const TIMES: usize = 10;
        let there = || -> Vec<(u64, Pid)> {
            let those = self.records().filter(|(_, record)| record.phase() == phase);
            those.map(|(slot, record)| (record.ticket(), slot)).collect()
        };
        let mut slots = there();
        for _ in 0..TIMES {
            let again = there();
            if again == slots {
                break; // so they were all there at once
            }
            slots = again;
        }
        slots.sort_unstable();
        let person = |&(ticket, slot): &(u64, Pid)| {
            let (record, alive) = (self.file.record(slot), self.file.is_alive(slot));
            let (pid, started, since) = (record.pid(), record.started(), record.since());
            Person { pid, started, since, what: record.what(), ticket, alive }
        };
        slots.iter().map(person).collect()
    }

    /// Whether there is no room for one who only tries, whose ticket this is: k others are inside, or in line before it.
    fn is_full(&self, mine: u64) -> bool {
        loop {
            let claims = |(slot, record): (Pid, Record<'_>)| {
                let claim = match record.phase() {
                    Phase::Inside => true,
                    Phase::Waiting => record.ticket() < mine,
                    _ => false,
                };
                claim.then(|| (slot, record.ticket()))
            };
            let first: Vec<(Pid, u64)> = self.records().filter_map(claims).collect();
            // Those who were there both times were there at once.
            let both = self.records().filter_map(claims).filter(|claim| first.contains(claim)).count();
            if both < self.file.k() {
                return false;
            }
            if self.reap_dead(&|record| record.phase() != Phase::Free) == 0 {
                return true;
            }
        }
    }

    /// One of ours waits: is everyone alive before it?
    fn look_before(&self, slot: Pid) {
        let mine = self.file.record(slot).ticket();
        let is_thorough = self.looks.fetch_add(1, Relaxed).is_multiple_of(LOOKS);
        self.reap_dead(&|record| match record.phase() {
            Phase::Free => false,
            Phase::Inside | Phase::Arriving | Phase::Leaving => true,
            // One who died just after its ticket was drawn may have told us an older one.
            Phase::Waiting | Phase::Trying => is_thorough || record.ticket() <= mine,
        });
        self.watch_before(slot);
    }

    /// If one of ours is among the first in line, lets the watchman watch those before it.
    fn watch_before(&self, slot: Pid) {
        let mine = self.file.record(slot).ticket();
        let before =
            |phase| self.records().filter(move |(_, record)| record.phase() == phase && record.ticket() < mine);
        if before(Phase::Waiting).count() >= WATCHERS {
            return;
        }
        let watchman = self.watchman.get_or_init(|| {
            let line = self.this.clone();
            // A child that has inherited the place may be dying too, a moment later.
            let reap = move || {
                for pause in [0, 1, 2, 4, 8, 16].map(Duration::from_millis) {
                    thread::sleep(pause);
                    let Some(line) = line.upgrade() else { return };
                    if line.reap_dead(&|record| record.phase() != Phase::Free) > 0 {
                        return;
                    }
                }
            };
            Watchman::start(reap).ok()
        });
        if let Some(watchman) = watchman {
            let inside = self.records().filter(|(_, record)| record.phase() == Phase::Inside);
            let mut pids: Vec<u32> = inside.chain(before(Phase::Waiting)).map(|(_, record)| record.pid()).collect();
            pids.sort_unstable();
            pids.dedup();
            pids.retain(|&pid| pid != std::process::id());
            watchman.watch(pids);
        }
    }
}

impl Watch for Line {
    fn look(&self, slot: Pid) -> Look {
        let record = self.file.record(slot);
        match record.phase() {
            Phase::Trying if self.is_full(record.ticket()) => Look::GiveUp,
            Phase::Trying => Look::Again(Duration::ZERO),
            _ => {
                self.look_before(slot);
                Look::Again(NAP)
            }
        }
    }

    /// Runs its waiting up to where it would wait.
    ///
    /// It has passed over some who came before and are gone, even if they come again; we have not, and see them as long as
    /// they are in the doorway. When they leave the doorway they ask the same.
    fn would_go_on(&self, slot: Pid) -> bool {
        let record = self.file.record(slot);
        let ticket = Ticket::of_word(record.ticket());
        let peeked =
            || self.peeked.get_or_init(|| KBakeryFife::new(&mut PeekPlan::new(), self.file.slots(), self.file.k()));
        record.phase() != Phase::Waiting || peeked().wait(&mut self.file.peek(), slot, &ticket).is_ok()
    }
}

/// A slot that is ours.
struct Seat {
    memory: Shared,
    line: Arc<Line>,
}

impl Seat {
    fn new(line: Arc<Line>, slot: Pid) -> Seat {
        let memory = line.file.memory(slot).doubt_above(MOST).watched_by(line.clone());
        Seat { memory, line }
    }

    #[inline(always)]
    fn slot(&self) -> Pid {
        self.memory.slot()
    }

    /// Goes in; or gives up when it gets late, or when there is no room for one who tries.
    #[inline(always)]
    fn enter(&mut self, how: How, now: u64) -> Result<bool, Error> {
        let (line, slot) = (&self.line, self.memory.slot());
        let phase = match how {
            How::Wait(deadline) => {
                self.memory.begin(deadline);
                Phase::Waiting
            }
            // Without disturbing anyone, if there is no room.
            How::Try(_) if line.is_full(u64::MAX) => return Ok(false),
            How::Try(deadline) => {
                self.memory.begin_eagerly(deadline);
                Phase::Trying
            }
        };
        line.file.arrives(slot, now);
        let entered = line.algorithm.doorway(&mut self.memory, slot).and_then(|ticket| {
            line.file.has_ticket(slot, ticket.to_word(), phase);
            line.algorithm.wait(&mut self.memory, slot, &ticket)
        });
        match entered {
            Ok(()) => {
                line.file.is_inside(slot);
                self.memory.flush();
                Ok(true)
            }
            Err(halt) => self.give_up(halt),
        }
    }

    #[cold]
    fn give_up(&mut self, halt: Halt) -> Result<bool, Error> {
        self.memory.flush();
        let line = self.line.clone();
        line.abandon(&mut self.memory);
        self.end();
        match halt {
            Halt::Late => Ok(false),
            Halt::Damaged => Err(Error::Damaged { path: line.file.location().as_path().to_owned() }),
        }
    }

    /// Makes room for the next one.
    #[inline(always)]
    fn leave(&mut self) {
        let slot = self.memory.slot();
        self.line.file.leaves(slot);
        let left = self.line.algorithm.exit(&mut self.memory, slot, &Ticket::ZERO);
        debug_assert_eq!(left, Ok(()), "leaving waits for nothing");
        self.end();
    }

    #[inline(always)]
    fn end(&mut self) {
        self.line.file.has_left(self.memory.slot());
        self.memory.flush();
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        // It is given up with an error when we are inside, or something has panicked.
        if self.line.file.is_ours() && self.line.file.record(self.memory.slot()).phase() != Phase::Free {
            self.leave();
        }
        self.line.file.release(self.memory.slot());
    }
}
