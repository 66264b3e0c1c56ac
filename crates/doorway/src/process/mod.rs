//! A semaphore for processes: at most k holders, first in, first enabled, and robust against deaths. On Linux only.
//!
//! ```
//! use doorway::process::Semaphore;
//!
//! # let path = std::env::temp_dir().join(format!("doorway-example-{}", std::process::id()));
//! # let gpu = &path;
//! # let _ = stringify!(
//! let gpu = "gpu";
//! # );
//! let gpus = Semaphore::open(gpu, 2)?; // shared by every process that opens this name
//! let permit = gpus.acquire()?; // waits in the queue until there is at most one other holder
//! assert_eq!(gpus.holders()[0].pid, std::process::id());
//! drop(permit);
//! # drop(gpus);
//! # Semaphore::forget(gpu)?;
//! # Ok::<(), doorway::process::Error>(())
//! ```
//!
//! The semaphore is the algorithm `fischer-queue-copied` of the catalogue, in a file that every process maps: a queue of
//! which every change is a copy that is published in one step. So a process that dies, even by `kill -9`, leaves nothing
//! half done. A waiter detects the death and removes the dead process from the queue; the capacity is restored, and the
//! other waiters keep their positions.
//!
//! # Names
//! A name without `/` is a file in the user's own directory: `/tmp/doorway-UID`, or the one that the environment variable
//! `DOORWAY_DIR` names. A name with a `/` is a path. Its file has the permissions that the umask leaves, so that users
//! can share it, and should be on a local disk. The first process creates the file. While no process uses it, the file
//! holds nothing worth keeping but the capacity. A file that is not a semaphore is never overwritten.
//!
//! # Order
//! Waiters are served in the order of their arrival, up to 2048 holders and waiters at a time; further callers wait for a
//! free slot in no particular order. [`try_acquire`](Semaphore::try_acquire) does not wait in the queue.
//!
//! # Waiting and death
//! Waiters sleep. A process that leaves wakes only the waiters that can now enter. Each of the first two waiters, after it
//! has waited for a few milliseconds, has a thread that the kernel notifies when a process ahead ends, and checks about 20
//! times a second besides. The waiters behind them sleep the longer, the farther back they are. A process counts as dead
//! when the kernel has closed its files. A child that has [inherited the descriptor](Permit::keep_in_child) keeps its
//! parent's permits for as long as the child lives.
//!
//! # Tasks
//! [`acquire_async`](Semaphore::acquire_async) and a [`Place`] are futures, without a runtime. They are in the same queue
//! as threads, in one order, and each takes a slot. One thread for each file waits for all tasks of a process; it starts
//! with the first task that has to wait, and ends a second after the last. Dropping a future is an abort, which takes
//! effect before `drop` returns.
//!
//! # Forking
//! A forked child has none of the permits of its parent: in the child, a semaphore opened before the fork returns
//! [`Error::Forked`], and dropping a permit does nothing. But the child has a copy of the descriptor. If the parent *dies*
//! as a holder, its permit is kept until the child ends or executes another program.
//!
//! # Limits
//! - If the file is removed other than by [`forget`](Semaphore::forget) while there are holders, the next caller
//!   creates a new file, which knows nothing of those holders. Waiters move to the new file, and so does a process
//!   that acquires more than 0.1 s later.
//! - Truncating the file while it is in use kills its users (SIGBUS); any other write to it can break exclusion.
//! - A stopped process (SIGSTOP) is not dead. It keeps its permit or its position in the queue, and costs no more than
//!   that, wherever it was stopped.
mod attendant;
mod participant;
mod permit;
mod place;
mod queue;
mod semaphore;
mod slot;
mod waiter;

pub use doorway_shm::{Error, Process, names};
pub use participant::Participant;
pub use permit::Permit;
pub use place::Place;
pub use semaphore::Semaphore;
pub use waiter::{Interrupter, Waiter};
