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
mod line;

use std::{
    env, fmt,
    os::fd::BorrowedFd,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant, SystemTime},
};

pub use doorway_shm::{Error, names};
use doorway_shm::{File, Location, Ours, Phase, Taken, locate};

use line::{How, Line, Seat, plan};

/// So many may be inside or in line at once, unless k is large.
const SLOTS: usize = 64;

/// As long as that, trying goes on while others try too.
const TRYING: Duration = Duration::from_millis(5);

/// So long one sleeps who finds the gate busy, or no slot free; longer each time, up to the longest.
const GATE_IS_BUSY: Duration = Duration::from_micros(50);
const NONE_IS_FREE: Duration = Duration::from_millis(1);
const LONGEST_NAP: Duration = Duration::from_millis(10);

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
