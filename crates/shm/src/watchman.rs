//! A thread that the kernel notifies when a process ends.
use std::{
    io,
    os::fd::OwnedFd,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
};

use rustix::{
    event::{EventfdFlags, PollFd, PollFlags, eventfd, poll},
    io::{Errno, read, write},
    process::{Pid, PidfdFlags, pidfd_open},
};

/// A thread that waits until one of a set of processes has ended, and then calls a function.
///
/// It sleeps until then. With it, a waiter learns of a death at once and need not check often whether processes are
/// alive.
///
/// ```
/// use std::{process::Command, sync::mpsc};
///
/// use doorway_shm::Watchman;
///
/// let (died, deaths) = mpsc::channel();
/// let watchman = Watchman::start(move || died.send(()).unwrap())?;
/// let mut child = Command::new("sleep").arg("600").spawn()?;
/// watchman.watch(vec![child.id()]);
/// child.kill()?;
/// assert_eq!(deaths.recv(), Ok(()));
/// # child.wait()?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Watchman {
    shared: Arc<Orders>,
}

/// What the thread is to do.
#[derive(Debug)]
struct Orders {
    /// An eventfd that is written when the orders change.
    bell: OwnedFd,
    /// The processes to watch.
    pids: Mutex<Vec<u32>>,
    is_over: AtomicBool,
}

impl Watchman {
    /// Starts the thread, which calls `on_death` whenever a watched process ends, or has ended already.
    ///
    /// # Errors
    /// If the system has no more threads or descriptors.
    ///
    /// See [`Watchman`].
    pub fn start(on_death: impl Fn() + Send + 'static) -> io::Result<Watchman> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let shared = Arc::new(Orders { bell, pids: Mutex::default(), is_over: AtomicBool::new(false) });
        let orders = shared.clone();
        thread::Builder::new().name("doorway-watchman".into()).spawn(move || orders.follow(&on_death))?;
        Ok(Watchman { shared })
    }

    /// Watches these processes from now on, instead of the previous ones.
    ///
    /// See [`Watchman`].
    pub fn watch(&self, pids: Vec<u32>) {
        let mut watched = self.shared.pids.lock().unwrap_or_else(PoisonError::into_inner);
        if *watched != pids {
            *watched = pids;
            drop(watched);
            self.shared.ring();
        }
    }
}

impl Drop for Watchman {
    fn drop(&mut self) {
        self.shared.is_over.store(true, SeqCst);
        self.shared.ring();
    }
}

impl Orders {
    fn ring(&self) {
        // A write fails only after some 2^64 writes that were not read.
        let _ = write(&self.bell, &1_u64.to_ne_bytes());
    }

    /// The body of the thread. It ends when the watchman is dropped, or when `poll` fails.
    fn follow(&self, on_death: &dyn Fn()) {
        let mut watched: Vec<OwnedFd> = Vec::new();
        loop {
            let mut fds: Vec<PollFd<'_>> = vec![PollFd::new(&self.bell, PollFlags::IN)];
            fds.extend(watched.iter().map(|process| PollFd::new(process, PollFlags::IN)));
            match poll(&mut fds, None) {
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(_) => return,
            }
            let has_happened: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
            if self.is_over.load(SeqCst) {
                return;
            }
            let mut has_died = has_happened[1..].contains(&true);
            let mut has_ended = has_happened[1..].iter();
            watched.retain(|_| !has_ended.next().expect("there is one value for each process"));
            if has_happened[0] {
                let _ = read(&self.bell, &mut [0_u8; 8]);
                let pids = self.pids.lock().unwrap_or_else(PoisonError::into_inner).clone();
                watched.clear();
                for pid in pids.into_iter().filter_map(|pid| Pid::from_raw(pid as i32)) {
                    match pidfd_open(pid, PidfdFlags::empty()) {
                        Ok(process) => watched.push(process),
                        Err(error) => has_died |= error == Errno::SRCH,
                    }
                }
            }
            if has_died {
                on_death();
            }
        }
    }
}
