//! How a thread waits: it spins for a moment, then lets others run, and when that has lasted long enough it sleeps.
//!
//! Whoever we wait for is inside for a short time, as a rule, and on another core: then spinning is best. If there are more
//! threads than cores it may need ours: then giving way is best, and far better than sleeping, since being woken takes much
//! longer than being inside. Only who waits for one that is not even running should sleep.
use std::{
    hint,
    sync::atomic::{AtomicU64, Ordering::SeqCst},
    thread,
    time::{Duration, Instant},
};

use crate::lot;

/// So many looks before we give way for the first time: a few, since whoever we wait for may need the processor.
const SPINS: u32 = 10;

/// For so long we give way before we sleep: much longer than it takes to be woken, so that sleeping costs little more.
const GIVING_WAY: Duration = Duration::from_micros(500);

/// So often we give way between two looks at the clock.
const LOOKS: u32 = 16;

/// Waits until the register holds what is wanted, or until the deadline; says whether it does.
#[cold]
#[inline(never)]
pub(crate) fn until(register: &AtomicU64, wanted: &(dyn Fn(u64) -> bool + Sync), deadline: Option<Instant>) -> bool {
    for _ in 0..SPINS {
        hint::spin_loop();
        if wanted(register.load(SeqCst)) {
            return true;
        }
    }
    let tired = Instant::now() + GIVING_WAY;
    loop {
        for _ in 0..LOOKS {
            thread::yield_now();
            if wanted(register.load(SeqCst)) {
                return true;
            }
        }
        let now = Instant::now();
        if deadline.is_some_and(|deadline| now >= deadline) {
            return false;
        }
        if now >= tired {
            return lot::sleep_until(register, wanted, deadline);
        }
    }
}

/// How long a wait on several registers has lasted: nobody knows whom to wake for those, so in the end we sleep for a while.
#[derive(Debug)]
pub(crate) struct Patience {
    turns: u32,
}

impl Patience {
    pub(crate) const fn new() -> Patience {
        Patience { turns: 0 }
    }

    #[inline(always)]
    pub(crate) fn relax(&mut self) {
        self.turns = self.turns.wrapping_add(1);
        if self.turns.is_multiple_of(SPINS) {
            give_way();
        } else {
            hint::spin_loop();
        }
    }
}

/// Out of line and out of the way: a call in the middle of a wait would cost registers even where nobody waits.
#[cold]
#[inline(never)]
fn give_way() {
    thread::yield_now();
}
