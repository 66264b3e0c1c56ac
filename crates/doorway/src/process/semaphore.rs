//! The semaphore: its file at a path, and the slots that this process keeps.
use std::{
    env, fmt,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use doorway_shm::{Error, File, ForkDetector, Location, MAX_SLOTS, Taken, locate};

use super::{
    Participant, Permit, Place, Waiter,
    place::State,
    queue::FileQueue,
    slot::{Mode, Slot},
};

/// The first pause when another process removes the file, and when no slot is free. Pauses grow up to the last of these.
const PAUSE_WHEN_BUSY: Duration = Duration::from_micros(50);
const PAUSE_WHEN_NO_SLOT_IS_FREE: Duration = Duration::from_millis(1);
const MAX_PAUSE: Duration = Duration::from_millis(10);

/// How long `try_acquire` waits for a slot, which another process that looks whether the file is unused may deny it for a
/// moment.
const MAX_TRY: Duration = Duration::from_millis(5);

/// A semaphore with at most k holders, in order of arrival, for processes and their threads.
///
/// See the [module](super).
pub struct Semaphore {
    location: Location,
    /// The description of this process, which other processes can read, and how often it has changed.
    what: String,
    version: u64,
    fork_detector: ForkDetector,
    current: Mutex<Current>,
}

/// The file that the path led to when last checked.
struct Current {
    queue: Arc<FileQueue>,
    /// Slots of earlier passages, which this process does not own now.
    idle: Vec<Slot>,
}

impl Semaphore {
    /// Opens the semaphore of this name with capacity `k`, and creates it if it does not exist.
    ///
    /// # Errors
    /// If it exists with another capacity, if the file is not a semaphore, or if it cannot be created.
    ///
    /// ```
    /// use doorway::process::Semaphore;
    /// # let path = std::env::temp_dir().join(format!("doorway-open-{}", std::process::id()));
    /// let printers = Semaphore::open(&path, 3)?;
    /// assert_eq!(
    ///     Semaphore::open(&path, 4).unwrap_err().to_string(),
    ///     format!("`{}` has capacity 3, not 4; ask for 3, or change it with `resize`", path.display())
    /// );
    /// # Semaphore::forget(&path)?;
    /// # Ok::<(), doorway::process::Error>(())
    /// ```
    pub fn open(name: impl AsRef<Path>, k: usize) -> Result<Semaphore, Error> {
        let location = locate(name.as_ref())?;
        let queue = FileQueue::open_or_create(&location, k)?;
        let semaphore = Semaphore::of(location, queue)?;
        match semaphore.k() {
            found if found == k => Ok(semaphore),
            file => Err(Error::OtherK { path: semaphore.path().to_owned(), file, asked: k }),
        }
    }

    /// Opens an existing semaphore, whatever its capacity: to list its holders, for example.
    ///
    /// # Errors
    /// If there is no such semaphore, or the file is not a semaphore.
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
        let queue = FileQueue::open(&location)?;
        Semaphore::of(location, queue)
    }

    /// As [`existing`](Semaphore::existing), but only to look at it, which takes no permission to write to the file.
    ///
    /// # Errors
    /// As [`existing`](Semaphore::existing). And what would write to the file fails: acquiring, and resizing.
    ///
    /// ```
    /// use doorway::process::Semaphore;
    /// # let path = std::env::temp_dir().join(format!("doorway-look-{}", std::process::id()));
    /// let printers = Semaphore::open(&path, 3)?;
    /// assert!(Semaphore::look(&path)?.holders().is_empty());
    /// assert!(Semaphore::look(&path)?.acquire().is_err());
    /// # Semaphore::forget(&path)?;
    /// # Ok::<(), doorway::process::Error>(())
    /// ```
    pub fn look(name: impl AsRef<Path>) -> Result<Semaphore, Error> {
        let location = locate(name.as_ref())?;
        let queue = FileQueue::open_to_read(&location)?;
        Semaphore::of(location, queue)
    }

    /// Removes the file of an unused semaphore.
    ///
    /// # Errors
    /// If a process uses the semaphore, or there is none.
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
        FileQueue::forget(&locate(name.as_ref())?)
    }

    fn of(location: Location, queue: Arc<FileQueue>) -> Result<Semaphore, Error> {
        let fork_detector = ForkDetector::new().map_err(|source| Error::Io {
            path: location.as_path().to_owned(),
            doing: "allocate memory for",
            source,
        })?;
        let arguments: Vec<String> = env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
        let current = Mutex::new(Current { queue, idle: Vec::new() });
        Ok(Semaphore { location, what: arguments.join(" "), version: 0, fork_detector, current })
    }

    /// Sets the description of this process. The default is its command line. About 200 bytes are kept.
    ///
    /// [`holders`](Semaphore::holders) and [`waiters`](Semaphore::waiters) show it.
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
        self.version += 1;
        self
    }

    /// The capacity k: how many holders there may be at once.
    ///
    /// See [`existing`](Semaphore::existing).
    #[must_use]
    pub fn k(&self) -> usize {
        self.queue().k()
    }

    /// Changes the capacity, also while there are holders and waiters. Returns the number of holders.
    ///
    /// If it grows, waiters enter at once. If it shrinks, holders stay, and the next waiter enters when there are fewer
    /// holders than the new capacity.
    ///
    /// # Errors
    /// If `k` is out of range, and as [`acquire`](Semaphore::acquire).
    ///
    /// ```
    /// # let path = std::env::temp_dir().join(format!("doorway-resize-{}", std::process::id()));
    /// let printers = doorway::process::Semaphore::open(&path, 2)?;
    /// let (first, second) = (printers.acquire()?, printers.acquire()?);
    /// assert_eq!(printers.resize(1)?, 2); // and both stay
    /// drop(first);
    /// assert!(printers.try_acquire()?.is_none());
    /// drop(second);
    /// assert!(printers.try_acquire()?.is_some());
    /// # drop(printers);
    /// # doorway::process::Semaphore::forget(&path)?;
    /// # Ok::<(), doorway::process::Error>(())
    /// ```
    pub fn resize(&self, k: usize) -> Result<usize, Error> {
        if !(1..MAX_SLOTS).contains(&k) {
            return Err(Error::Size { k, max: MAX_SLOTS - 1 });
        }
        let mut slot = self.take_slot(None)?.expect("a wait without a deadline does not abort");
        let holders = slot.resize(k)?;
        self.return_slot(slot);
        Ok(holders)
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

    /// Acquires a permit, waiting in the queue until the caller may enter.
    ///
    /// Uncontended, and with a slot from an earlier passage of this process, this takes no system call.
    ///
    /// # Errors
    /// If the file has become unusable: replaced by another file, or damaged while in use. And in a forked child.
    ///
    /// See the [module's example](super).
    pub fn acquire(&self) -> Result<Permit<'_>, Error> {
        let entered = self.enter(Mode::Wait(None))?;
        Ok(entered.expect("a wait without a deadline does not abort"))
    }

    /// Acquires a permit, waiting for at most `time`. On timeout, aborts and returns `None`.
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
        self.enter(Mode::Wait(Instant::now().checked_add(time))) // no deadline, if it is beyond the range of the clock
    }

    /// Acquires a permit, waiting until `deadline` at most. After it, aborts and returns `None`.
    ///
    /// # Errors
    /// As [`acquire`](Semaphore::acquire).
    ///
    /// See [`acquire_timeout`](Semaphore::acquire_timeout).
    pub fn acquire_deadline(&self, deadline: Instant) -> Result<Option<Permit<'_>>, Error> {
        self.enter(Mode::Wait(Some(deadline)))
    }

    /// Acquires a permit if there are fewer than k holders and waiters.
    ///
    /// It decides in one step: of several concurrent calls, as many succeed as the capacity allows.
    ///
    /// # Errors
    /// As [`acquire`](Semaphore::acquire).
    ///
    /// ```
    /// # let path = std::env::temp_dir().join(format!("doorway-try-{}", std::process::id()));
    /// let printers = doorway::process::Semaphore::open(&path, 1)?;
    /// let permit = printers.try_acquire()?.expect("the semaphore is free");
    /// assert!(printers.try_acquire()?.is_none());
    /// # drop(permit);
    /// # drop(printers);
    /// # doorway::process::Semaphore::forget(&path)?;
    /// # Ok::<(), doorway::process::Error>(())
    /// ```
    pub fn try_acquire(&self) -> Result<Option<Permit<'_>>, Error> {
        self.enter(Mode::Try)
    }

    /// Joins the queue without waiting. Callers that arrive later become holders later.
    ///
    /// If no slot is free, the place joins the queue when it is waited for.
    ///
    /// # Errors
    /// As [`acquire`](Semaphore::acquire).
    ///
    /// ```
    /// # let path = std::env::temp_dir().join(format!("doorway-arrive-{}", std::process::id()));
    /// let printers = doorway::process::Semaphore::open(&path, 1)?;
    /// let permit = printers.acquire()?;
    /// let (first, second) = (printers.arrive()?, printers.arrive()?);
    /// assert_eq!((first.ahead()?, second.ahead()?), (1, 2));
    /// drop(permit);
    /// drop(first); // aborts
    /// let permit = second.wait()?;
    /// # drop(permit);
    /// # drop(printers);
    /// # doorway::process::Semaphore::forget(&path)?;
    /// # Ok::<(), doorway::process::Error>(())
    /// ```
    pub fn arrive(&self) -> Result<Place<'_>, Error> {
        self.check_process()?;
        Ok(Place { semaphore: self, state: self.join()? })
    }

    /// As [`acquire`](Semaphore::acquire), for asynchronous callers. Tasks, threads and processes wait in one queue.
    ///
    /// It depends on no runtime, and takes no thread for each waiter. The future joins the queue when it is first polled;
    /// [`arrive`](Semaphore::arrive) joins it at once, and the [`Place`] can be awaited later. Its errors are those of
    /// [`acquire`](Semaphore::acquire), and that of a thread that cannot be started.
    ///
    /// # Cancel safety
    /// Dropping the future is an abort: no permit is lost, and later arrivals move up. If it had become a holder already,
    /// the next waiter does so instead.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), doorway::process::Error> {
    /// # let path = std::env::temp_dir().join(format!("doorway-async-{}", std::process::id()));
    /// let printers = doorway::process::Semaphore::open(&path, 1)?;
    /// let permit = printers.acquire_async().await?;
    /// assert!(tokio::time::timeout(Duration::from_millis(1), printers.acquire_async()).await.is_err());
    /// drop(permit);
    /// assert!(printers.try_acquire()?.is_some());
    /// # drop(printers);
    /// # doorway::process::Semaphore::forget(&path)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn acquire_async(&self) -> Place<'_> {
        Place { semaphore: self, state: State::Slotless }
    }

    /// Joins the queue, as a thread that waits in parts: see [`Waiter`].
    ///
    /// # Errors
    /// As [`acquire`](Semaphore::acquire).
    pub fn line_up(&self) -> Result<Waiter<'_>, Error> {
        self.lined_up().map(|slot| Waiter::new(self, slot))
    }

    /// The current holders, in order of arrival.
    ///
    /// See the [module's example](super).
    #[must_use]
    pub fn holders(&self) -> Vec<Participant> {
        self.participants().0
    }

    /// The current waiters, in the order of the queue.
    ///
    /// ```
    /// # let path = std::env::temp_dir().join(format!("doorway-waiters-{}", std::process::id()));
    /// let printers = doorway::process::Semaphore::open(&path, 1)?;
    /// let permit = printers.acquire()?;
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| printers.acquire().map(drop));
    ///     while printers.waiters().is_empty() {
    ///         std::thread::yield_now();
    ///     }
    ///     assert_eq!(printers.waiters()[0].pid, std::process::id());
    ///     drop(permit);
    /// });
    /// # drop(printers);
    /// # doorway::process::Semaphore::forget(&path)?;
    /// # Ok::<(), doorway::process::Error>(())
    /// ```
    #[must_use]
    pub fn waiters(&self) -> Vec<Participant> {
        self.participants().1
    }

    /// The holders and the waiters at one moment, each in order of arrival.
    ///
    /// See [`holders`](Semaphore::holders).
    #[must_use]
    pub fn participants(&self) -> (Vec<Participant>, Vec<Participant>) {
        let queue = self.queue();
        let Ok(snapshot) = queue.snapshot() else { return Default::default() };
        let (inside, waiting) = snapshot.entries().split_at(snapshot.named());
        let shown = |entries: &[_]| entries.iter().filter_map(|entry| queue.participant(entry)).collect();
        (shown(inside), shown(waiting))
    }

    /// Whether this process is the one that opened the semaphore, and not a forked child.
    #[inline(always)]
    pub(super) fn is_original_process(&self) -> bool {
        self.fork_detector.is_original_process()
    }

    /// Takes a slot and enters the critical section in it; `None` if the caller aborts.
    #[inline(always)]
    fn enter(&self, mode: Mode) -> Result<Option<Permit<'_>>, Error> {
        let deadline = match mode {
            Mode::Wait(deadline) => deadline,
            Mode::Try => Some(Instant::now() + MAX_TRY),
        };
        loop {
            let Some(mut slot) = self.take_slot(deadline)? else { return Ok(None) };
            let now = File::now();
            if slot.queue.is_path_check_due(now) && !slot.queue.file.is_current()? {
                slot.release();
                self.move_to_new_file(slot)?;
                continue;
            }
            slot.queue.file.describe(&slot.memory, self.version, &self.what);
            if !slot.enter(mode, now)? {
                self.return_slot(slot);
                return Ok(None);
            }
            // If the path leads to another file by now, later callers compete there.
            if slot.memory.has_waited() && !slot.queue.file.is_current()? {
                slot.leave();
                self.move_to_new_file(slot)?;
                continue;
            }
            return Ok(Some(Permit { semaphore: self, slot: Some(slot) }));
        }
    }

    /// As `acquire_deadline`.
    pub(super) fn enter_until(&self, deadline: Option<Instant>) -> Result<Option<Permit<'_>>, Error> {
        self.enter(Mode::Wait(deadline))
    }

    /// The permit of a holder that had to wait. If the path leads to another file by now, it waits there again.
    pub(super) fn entered(&self, mut slot: Slot, deadline: Option<Instant>) -> Result<Option<Permit<'_>>, Error> {
        if slot.queue.file.is_current()? {
            return Ok(Some(Permit { semaphore: self, slot: Some(slot) }));
        }
        slot.leave();
        self.move_to_new_file(slot)?;
        self.enter_until(deadline)
    }

    /// Describes the owner of a slot, if the path leads to its file, and returns the time; otherwise releases it.
    fn describe_on_the_path(&self, slot: &mut Slot) -> Result<Option<u64>, Error> {
        let now = File::now();
        if slot.queue.is_path_check_due(now) && !slot.queue.file.is_current()? {
            slot.release();
            return Ok(None);
        }
        slot.queue.file.describe(&slot.memory, self.version, &self.what);
        Ok(Some(now))
    }

    /// Joins the queue if a slot is free.
    pub(super) fn join(&self) -> Result<State, Error> {
        loop {
            let Some(mut slot) = self.take_slot(Some(Instant::now()))? else { return Ok(State::Slotless) };
            let Some(now) = self.describe_on_the_path(&mut slot)? else {
                self.move_to_new_file(slot)?;
                continue;
            };
            if slot.arrive(now)? {
                return Ok(State::Entered(slot));
            }
            // From now on the attendant looks after the processes ahead, also if the place is not awaited yet.
            if slot.queue.attend(slot.number(), None)? {
                slot.note_entry()?;
                return Ok(State::Entered(slot));
            }
            return Ok(State::Waiting(slot));
        }
    }

    /// Takes a slot, waiting until one is free, and joins the queue in it.
    pub(super) fn lined_up(&self) -> Result<Slot, Error> {
        loop {
            let mut slot = self.take_slot(None)?.expect("a wait without a deadline does not abort");
            if let Some(now) = self.describe_on_the_path(&mut slot)? {
                slot.arrive(now)?;
                return Ok(slot);
            }
            self.move_to_new_file(slot)?;
        }
    }

    /// The error of a forked child. To be called before any lock is locked: in a forked child the thread that holds the
    /// lock may not exist.
    #[inline(always)]
    pub(super) fn check_process(&self) -> Result<(), Error> {
        if self.is_original_process() { Ok(()) } else { Err(Error::Forked { path: self.path().to_owned() }) }
    }

    /// Takes a slot, waiting until one is free; `None` after the deadline.
    #[inline(always)]
    fn take_slot(&self, deadline: Option<Instant>) -> Result<Option<Slot>, Error> {
        self.check_process()?;
        let idle = self.lock().idle.pop();
        if let Some(mut slot) = idle
            && slot.take()? == Taken::Free
        {
            return Ok(Some(slot));
        }
        self.new_slot(deadline)
    }

    #[cold]
    fn new_slot(&self, deadline: Option<Instant>) -> Result<Option<Slot>, Error> {
        for tries in 1.. {
            let mut slot = Slot::new(self.queue());
            let pause = match slot.take()? {
                Taken::Free | Taken::FromTheDead if slot.prepare()? => return Ok(Some(slot)),
                Taken::Free | Taken::FromTheDead => continue,
                Taken::FileIsGone => {
                    self.move_to_new_file(slot)?;
                    continue;
                }
                Taken::Busy => PAUSE_WHEN_BUSY,
                Taken::NoneIsFree => PAUSE_WHEN_NO_SLOT_IS_FREE,
            };
            let pause = pause.saturating_mul(tries).min(MAX_PAUSE);
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(None);
            }
            thread::sleep(left.map_or(pause, |left| left.min(pause)));
        }
        Ok(None) // not reached: it would take a year
    }

    /// Keeps a slot for the next passage of this process.
    #[inline(always)]
    pub(super) fn return_slot(&self, slot: Slot) {
        let mut current = self.lock();
        if Arc::ptr_eq(&current.queue, &slot.queue) {
            current.idle.push(slot);
        } // else the file has been replaced, and the slot is useless
    }

    /// Opens the file that the path leads to now, which is not the slot's.
    pub(super) fn move_to_new_file(&self, slot: Slot) -> Result<(), Error> {
        let queue = slot.queue.clone();
        drop(slot);
        self.renew(&queue)
    }

    /// Opens the file that the path leads to now, unless another thread has already replaced `old`.
    fn renew(&self, old: &Arc<FileQueue>) -> Result<(), Error> {
        let mut current = self.lock();
        if Arc::ptr_eq(&current.queue, old) {
            let queue = FileQueue::open_or_create(&self.location, old.k())?;
            *current = Current { queue, idle: Vec::new() };
        }
        Ok(())
    }

    pub(super) fn queue(&self) -> Arc<FileQueue> {
        self.lock().queue.clone()
    }

    #[inline(always)]
    fn lock(&self) -> MutexGuard<'_, Current> {
        // No panic while it is locked leaves it half changed.
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Semaphore {
    fn drop(&mut self) {
        // Every place and permit is gone. The file is to be closed now, and not when the attendant is done with it.
        if self.is_original_process() {
            let queue = self.queue();
            queue.attendant.let_go(&queue);
        }
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Semaphore").field("path", &self.path()).field("what", &self.what).finish_non_exhaustive()
    }
}
