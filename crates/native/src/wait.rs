//! How a thread waits: who is next spins for a moment; everyone else lets others run; and when nothing has moved for a while,
//! one sleeps.
//!
//! Whoever the next in line waits for is inside, for a short time as a rule and on another core: then spinning is best. Who is
//! further back has to wait for somebody who may need its processor: then giving way is best, soon, and far better than
//! sleeping, since being woken takes much longer than being inside. Only if the line does not move, whoever is inside is
//! not running: then one should sleep, the sooner if others sleep already.
//!
//! ARCHITECTURE.md has the figures.
use std::{
    hint,
    sync::atomic::{AtomicU64, Ordering::SeqCst},
    thread,
    time::{Duration, Instant},
};

use crate::lot;

/// So many looks before who is next gives way, some 4 us: as long as it takes another core to switch to whoever is before us,
/// and that one to be inside.
const SPINS_OF_THE_NEXT: u32 = 200;

/// So many looks before one further back gives way: enough to see that the line moves, and that one has become the next.
const SPINS_FURTHER_BACK: u32 = 5;

/// So many looks before one gives way whose place in line is not known.
const SPINS: u32 = 10;

/// For so long we give way while nothing moves, before we sleep: longer than the line stands still as a rule, even if whoever
/// is inside loses the processor to one of us.
const STANDING: Duration = Duration::from_micros(200);

/// The same, if others sleep: the line stands still, most likely, and we are behind them. Not nothing, since else a line that
/// has slept once would go on sleeping for ever.
const STANDING_BEHIND_SLEEPERS: Duration = Duration::from_micros(10);

/// So often we give way between two looks at the clock.
const TURNS: u32 = 4;

/// What a thread waits for.
pub(crate) struct Wanted<'a> {
    /// Whether a register that holds this word holds what is wanted.
    pub(crate) is_there: &'a (dyn Fn(u64) -> bool + Sync),
    /// Whether it will when it changes once more; `None` if that cannot be told.
    pub(crate) is_next: &'a dyn Fn(u64) -> Option<bool>,
}

/// Waits until the register holds what is wanted, or until the deadline; says whether it does.
#[cold]
#[inline(never)]
pub(crate) fn until(register: &AtomicU64, wanted: &Wanted<'_>, deadline: Option<Instant>) -> bool {
    let is_there = wanted.is_there;
    let spins = |word| match (wanted.is_next)(word) {
        Some(true) => SPINS_OF_THE_NEXT,
        Some(false) => SPINS_FURTHER_BACK,
        None => SPINS,
    };
    let mut word = register.load(SeqCst);
    // Since when nothing has moved, and how long we shall put up with that.
    let mut standing: Option<(Instant, Duration)> = None;
    for turn in 1_u32.. {
        let mut left = spins(word);
        while left > 0 {
            hint::spin_loop();
            let now = register.load(SeqCst);
            if is_there(now) {
                return true;
            }
            left -= 1;
            if now != word {
                (word, standing) = (now, None);
                left = left.max(spins(word));
            }
        }
        if turn.is_multiple_of(TURNS) {
            let now = Instant::now();
            if deadline.is_some_and(|deadline| now >= deadline) {
                return false;
            }
            let patience = || if lot::is_slept_in(register) { STANDING_BEHIND_SLEEPERS } else { STANDING };
            let (since, patience) = *standing.get_or_insert_with(|| (now, patience()));
            if now >= since + patience {
                break;
            }
        }
        thread::yield_now();
        let now = register.load(SeqCst);
        if is_there(now) {
            return true;
        }
        if now != word {
            (word, standing) = (now, None);
        }
    }
    lot::sleep_until(register, is_there, deadline)
}

/// How long a wait on several registers has lasted. Nobody knows whom to wake for those, so we give way again and again.
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
