//! How a thread waits: it spins for a moment, and then it sleeps.
//!
//! Whoever the next in line waits for is inside, for a short time as a rule and on another core: then spinning is best, for
//! about as long as it would take to sleep and be woken. Who is further back spins as long as it sees the line move. If the line
//! does not move, whoever is inside has lost the processor, or sleeps: then one should sleep too, and leave it the processor.
//!
//! A line in which threads sleep is slow, since each has to be woken before the next can go in; and in order of arrival it
//! stays slow for as long as who has left stands at its end again before it is empty. So who leaves while others sleep lets
//! these run first ([`Native::after_you`](crate::Native::after_you)), and who arrives behind sleepers does too: soon the line
//! is gone.
//!
//! Two who do little else than go in and out wait for each other at nearly every step, and each step of an algorithm of reads
//! and writes moves a cache line from one to the other. If who had to wait stays away for a moment after it has left, the other
//! one goes in and out alone, some times over, and they are less often there together.
//!
//! ARCHITECTURE.md has the figures.
use std::{
    hint,
    num::NonZeroUsize,
    time::{Duration, Instant},
};

use crate::{
    READ, lot,
    sync::{atomic::AtomicU64, thread},
};

/// So many looks at a line that does not move before who is next sleeps: some 10 us.
const LOOKS_OF_THE_NEXT: u32 = looks(500);

/// The same for one further back: enough to see that the line moves.
const LOOKS_FURTHER_BACK: u32 = looks(30);

/// The same for one whose place in line is not known. Many: where there is no order, what it sees is often the same though
/// others come and go, and the barrier before sleeping disturbs them.
const LOOKS: u32 = looks(2000);

/// Where the orders of steps are tried out, one look is as good as many.
const fn looks(looks: u32) -> u32 {
    if cfg!(shuttle) { 1 } else { looks }
}

/// Waits until the register holds what is wanted, or until the deadline; says whether it does. `is_there` says whether a word
/// is what is wanted, `is_next` whether the next one will be; `None` if that cannot be told.
#[inline(always)]
pub(crate) fn until(
    register: &AtomicU64,
    is_there: impl Fn(u64) -> bool + Sync,
    is_next: impl Fn(u64) -> Option<bool>,
    deadline: Option<Instant>,
) -> bool {
    let looks = |word| match is_next(word) {
        Some(true) => LOOKS_OF_THE_NEXT,
        Some(false) => LOOKS_FURTHER_BACK,
        None => LOOKS,
    };
    let look = || register.load(READ);
    if lot::sleepers_on(lot::address(register)) > 0 {
        // Those before us need a processor before we do.
        thread::yield_now();
        if is_there(look()) {
            return true;
        }
    }
    let mut word = look();
    let mut left = looks(word);
    while left > 0 {
        hint::spin_loop();
        let now = look();
        if is_there(now) {
            return true;
        }
        left -= 1;
        if now != word {
            word = now;
            left = left.max(looks(word));
        }
    }
    lot::sleep_until(register, &is_there, deadline)
}

/// The same where nobody sleeps.
#[inline(always)]
pub(crate) fn spinning(register: &AtomicU64, is_there: impl Fn(u64) -> bool, deadline: Option<Instant>) -> bool {
    while !is_there(register.load(READ)) {
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return is_there(register.load(READ));
        }
        hint::spin_loop();
    }
    true
}

/// Instead of an address, where no register is: for whom we waited, awake.
pub(crate) const SOMEBODY: NonZeroUsize = NonZeroUsize::MIN;

/// So many pauses who had to wait stays away after it has left: about as long as it takes to go in and out.
const PAUSES_OF_THE_LEAVER: u32 = 4;

/// So often in a row who has left gives way to a line that does not get shorter, and so often in all.
const WAYS_FOR_NOTHING: u32 = 4;
const WAYS_OF_THE_LEAVER: u32 = 64;

/// After having left a lock: stays away for a moment, if we met somebody who was awake. Those who slept on the register at this
/// address run, until nobody sleeps there any more or the line stands still; then whoever is inside sleeps too, and nobody is
/// helped.
#[cold]
#[inline(never)]
pub(crate) fn after_you(whom: NonZeroUsize) {
    if whom == SOMEBODY {
        return (0..PAUSES_OF_THE_LEAVER).for_each(|_| hint::spin_loop());
    }
    let (mut before, mut for_nothing) = (u32::MAX, 0);
    for _ in 0..WAYS_OF_THE_LEAVER {
        thread::yield_now();
        let now = lot::sleepers_on(whom.get());
        for_nothing = if now < before { 0 } else { for_nothing + 1 };
        if now == 0 || for_nothing == WAYS_FOR_NOTHING {
            return;
        }
        before = now;
    }
}

/// How long a wait on several registers has lasted. Nobody knows whom to wake for those, so we give way, and when that has
/// not helped, nap.
#[derive(Debug)]
pub(crate) struct Patience {
    turns: u32,
}

/// So many turns before a wait on several registers gives way for the first time: as long as a thread on another core needs to
/// go in and out, and more.
const FIRST_TURNS: u32 = 50;

/// So many before it does again.
const TURNS: u32 = 10;

/// So often it gives way before it naps.
const WAYS: u32 = 100;

/// The first nap; each is longer than the one before, up to the longest.
const NAP: Duration = Duration::from_micros(20);
const LONGEST_NAP: Duration = Duration::from_millis(1);

impl Patience {
    pub(crate) const fn new() -> Patience {
        Patience { turns: 0 }
    }

    #[inline(always)]
    pub(crate) fn relax(&mut self) {
        self.turns = self.turns.saturating_add(1);
        if self.turns >= FIRST_TURNS && self.turns.is_multiple_of(TURNS) {
            give_way((self.turns - FIRST_TURNS) / TURNS);
        } else {
            hint::spin_loop();
        }
    }
}

/// Out of line and out of the way: a call in the middle of a wait would cost registers even where nobody waits.
#[cold]
#[inline(never)]
fn give_way(times: u32) {
    match times.saturating_sub(WAYS) {
        0 => thread::yield_now(),
        naps => thread::sleep((NAP * naps).min(LONGEST_NAP)),
    }
}
