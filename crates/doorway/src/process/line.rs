//! The line behind a semaphore of processes: the algorithm in its file, slots of ours, and looking after those before us.
use std::{
    cell::RefCell,
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use doorway_algorithms::kexclusion::k_bakery_fife::KBakeryFife;
use doorway_memory::{Exclusion, Pid, Ticket, Value};
use doorway_shm::{Error, File, Halt, Location, Look, Peek, PeekPlan, Phase, Plan, Record, Shared, Watch, Watchman};

use super::Person;

/// A ticket above this is not one that was ever drawn.
const MOST: u64 = 1 << 62;

/// So often who waits looks whether those before it are alive, beginning some milliseconds after it came.
const NAP: Duration = Duration::from_millis(45);

/// So many, the first ones in line, are told by the kernel if someone before them ends.
const WATCHERS: usize = 2;

/// Of so many looks one is at everyone, not only at those who came before.
const LOOKS: u32 = 2;

/// After so long (in nanoseconds) one looks whether the path still leads to the file, even if one need not wait.
const STALE: u64 = 100_000_000;

#[derive(Clone, Copy)]
pub(super) enum How {
    Wait(Option<Instant>),
    /// No longer than to then, and only while others try.
    Try(Instant),
}

impl How {
    pub(super) fn deadline(self) -> Option<Instant> {
        match self {
            How::Wait(deadline) => deadline,
            How::Try(deadline) => Some(deadline),
        }
    }
}

/// A file, and the algorithm in it.
pub(super) struct Line {
    pub(super) file: File,
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

pub(super) fn plan(k: usize, slots: usize) -> (KBakeryFife<Shared>, Plan) {
    let mut plan = Plan::new();
    let algorithm = KBakeryFife::new(&mut plan, slots, k);
    (algorithm, plan)
}

impl Line {
    pub(super) fn open_or_create(location: &Location, k: usize, slots: usize) -> Result<Arc<Line>, Error> {
        Line::of(|plan| File::open_or_create(location, k, slots, |slots| plan(k, slots)))
    }

    pub(super) fn open(location: &Location) -> Result<Arc<Line>, Error> {
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
    pub(super) fn is_stale(&self, now: u64) -> bool {
        let is_stale = now.abs_diff(self.checked.load(Relaxed)) > STALE;
        if is_stale {
            self.checked.store(now, Relaxed);
        }
        is_stale
    }

    /// Finishes the passage of one who has died, wherever it was.
    pub(super) fn reap(&self, memory: &mut Shared) {
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

    pub(super) fn people(&self, phase: Phase) -> Vec<Person> {
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
pub(super) struct Seat {
    pub(super) memory: Shared,
    pub(super) line: Arc<Line>,
}

impl Seat {
    pub(super) fn new(line: Arc<Line>, slot: Pid) -> Seat {
        let memory = line.file.memory(slot).doubt_above(MOST).watched_by(line.clone());
        Seat { memory, line }
    }

    #[inline(always)]
    pub(super) fn slot(&self) -> Pid {
        self.memory.slot()
    }

    /// Goes in; or gives up when it gets late, or when there is no room for one who tries.
    #[inline(always)]
    pub(super) fn enter(&mut self, how: How, now: u64) -> Result<bool, Error> {
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
    pub(super) fn leave(&mut self) {
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
