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
//! The semaphore is the algorithm `k-bakery-fife` of the catalogue, in a file that every process maps. Only the
//! process itself writes the registers that hold its state, and its exit section may be executed by any process, any
//! number of times. So when a process dies, even by `kill -9`, a waiter detects the death and completes the passage.
//! The capacity is restored, and the other waiters keep their positions in the queue.
//!
//! # Names
//! A name without `/` is a file in the user's own directory: `$XDG_RUNTIME_DIR/doorway`, or `/tmp/doorway-UID`. A
//! name with a `/` is used as a path. Its file has the permissions that the umask leaves, so that users can share it,
//! and should be on a local disk. The first process creates the file. While no process uses it, the file holds
//! nothing worth keeping. A file that is not a semaphore is never overwritten.
//!
//! # Order
//! Waiters are served in the order of their arrival, with two exceptions. Slots are taken in no particular order,
//! which matters only if there are more holders and waiters than slots ([64 by default](Semaphore::open_with)). And
//! [`try_acquire`](Semaphore::try_acquire) does not wait in the queue.
//!
//! # Waiting and death
//! Waiters sleep. A process that leaves wakes only the waiters that can now enter. A waiter detects a death by
//! checking about 20 times a second. In addition, each of the first two waiters, after it has waited for a few
//! milliseconds, has a thread that the kernel notifies when a process ahead ends. A process counts as dead when the
//! kernel has closed its files. A child that has [inherited the descriptor](Permit::keep_in_child) keeps its parent's
//! permits for as long as the child lives.
//!
//! # Forking
//! A forked child has neither the permits nor the slots of its parent: in the child, a semaphore opened before the
//! fork returns [`Error::Forked`], and dropping a permit does nothing. But the child has a copy of the descriptor. If
//! the parent *dies* as a holder, its permit is kept until the child ends or executes another program.
//!
//! # Limits
//! - If the file is removed other than by [`forget`](Semaphore::forget) while there are holders, the next caller
//!   creates a new file, which knows nothing of those holders. Waiters move to the new file, and so does a process
//!   that acquires more than 0.1 s later.
//! - Truncating the file while it is in use kills its users (SIGBUS); any other write to it can break exclusion.
//! - A stopped process (SIGSTOP) is not dead. It keeps its permit or its position in the queue.
mod participant;
mod permit;
mod queue;
mod semaphore;
mod slot;

pub use doorway_shm::{Error, names};
pub use participant::Participant;
pub use permit::Permit;
pub use semaphore::Semaphore;
