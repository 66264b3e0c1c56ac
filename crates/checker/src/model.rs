//! The model: the executions and properties to check, and the limits of the search.
use std::{fmt, panic::Location, sync::Arc, thread::available_parallelism};

use doorway_memory::{FailedCas, Pid, Property};

use crate::{limits, progress::Observer};

/// The largest number of processes that can be checked.
pub const MAX_PROCESSES: usize = 10;

/// The number of writes that fit into a store buffer. Few algorithms make more between two fences; of these, not every
/// execution is explored.
pub(crate) const BUFFER: usize = 16;

/// The executions and properties to check, and the limits of the search.
///
/// ```
/// use doorway_algorithms::mutex::bakery::Bakery;
/// use doorway_checker::{Model, Property, check};
///
/// let model = Model::new(3).threads(2).only([Property::Exclusion, Property::Fcfs]);
/// let report = check(&model, |space| Bakery::new(space, 3))?;
/// assert!(report.holds(Property::Exclusion) && report.holds(Property::Fcfs));
/// # Ok::<(), doorway_checker::Error>(())
/// ```
#[derive(Clone)]
pub struct Model {
    pub(crate) n: usize,
    pub(crate) k: usize,
    pub(crate) crashes: usize,
    pub(crate) deaths: bool,
    pub(crate) aborts: bool,
    pub(crate) expiries: bool,
    /// Whether a process also counts as starving if others die for ever; for comparison.
    pub(crate) endless_deaths: bool,
    pub(crate) passages: Option<u32>,
    pub(crate) passages_in_all: Option<u32>,
    pub(crate) ticket_cap: Option<u32>,
    pub(crate) sequential: bool,
    pub(crate) symmetric: bool,
    pub(crate) safe_registers: bool,
    /// Whether writes go through store buffers.
    pub(crate) store_buffers: bool,
    pub(crate) fences: Fences,
    /// Whether every order of steps is explored, even of steps that no other process can observe.
    pub(crate) every_order: bool,
    /// Whether values are forgotten that no step depends on.
    pub(crate) forgets: bool,
    /// Whether states are merged that no step can tell apart.
    pub(crate) merges: bool,
    /// Whether steps are computed again instead of being stored, however much memory there is.
    pub(crate) recomputes: bool,
    /// Whether accesses other than reads and writes are refused.
    pub(crate) reads_and_writes: bool,
    /// The cache that is part of the states, if there is one.
    pub(crate) cache: Option<Cache>,
    pub(crate) properties: Vec<Property>,
    pub(crate) threads: usize,
    pub(crate) max_states: Option<u64>,
    pub(crate) max_memory: Option<u64>,
    pub(crate) observer: Option<Arc<dyn Observer>>,
}

impl Model {
    /// A model of `n` processes with capacity 1 and no failures. All properties are checked, on all cores, within three
    /// quarters of the machine's memory.
    #[must_use]
    pub fn new(n: usize) -> Model {
        Model {
            n,
            k: 1,
            crashes: 0,
            deaths: false,
            aborts: false,
            expiries: false,
            endless_deaths: false,
            passages: None,
            ticket_cap: None,
            sequential: false,
            symmetric: false,
            safe_registers: false,
            store_buffers: false,
            fences: Fences::None,
            every_order: false,
            forgets: false,
            merges: false,
            recomputes: false,
            passages_in_all: None,
            reads_and_writes: false,
            cache: None,
            properties: Vec::new(),
            threads: available_parallelism().map_or(1, usize::from),
            max_states: None,
            max_memory: limits::default_memory(),
            observer: None,
        }
    }

    /// Sets the capacity: at most `k` holders at once.
    ///
    /// ```
    /// use doorway_algorithms::kexclusion::ticket_k::TicketK;
    /// use doorway_checker::{Model, Property, check};
    ///
    /// let two_holders = |k| check(&Model::new(3).k(k), |space| TicketK::new(space, 2));
    /// assert!(two_holders(2)?.holds(Property::Exclusion));
    /// assert!(two_holders(1)?.fails(Property::Exclusion));
    /// # Ok::<(), doorway_checker::Error>(())
    /// ```
    #[must_use]
    pub fn k(mut self, k: usize) -> Model {
        self.k = k;
        self
    }

    /// Lets up to `crashes` processes crash, in any section but the remainder.
    ///
    /// ```
    /// use doorway_algorithms::mutex::peterson::Peterson;
    /// use doorway_checker::{Model, Property, check};
    ///
    /// let report = check(&Model::new(2).crashes(1), Peterson::new)?;
    /// assert!(report.fails(Property::StarvationFreedom)); // a holder that crashes never releases
    /// # Ok::<(), doorway_checker::Error>(())
    /// ```
    #[must_use]
    pub fn crashes(mut self, crashes: usize) -> Model {
        self.crashes = crashes;
        self
    }

    /// Lets processes die any number of times and in any section, the remainder included. A dead process loses its
    /// local state; others [reap](doorway_memory::Reap::reap) it, and then its number is used again. For locks with
    /// [recovery](doorway_memory::Exclusion::recovery).
    ///
    /// A death is one step, which no process takes. It puts the process at the start of its `reap`, whose steps are
    /// then taken under its number, by any other process; afterwards it is in the remainder, as a new process. This
    /// covers every real execution, since
    /// - a reap knows nothing but the number of the dead process. The reaping process may be in a passage of its own,
    ///   and the reap changes nothing of that: to all others the reaping process seems slow, and another one seems to
    ///   take these steps. Executions in which the reaping process does nothing else meanwhile are among the
    ///   interleavings explored;
    /// - the time until the death is noticed is the time until the first of these steps. Fairness requires that it is
    ///   taken, for a dead process that is never reaped is a crash;
    /// - if the reaping process dies too, another one begins again: a process in its reap can die once more, which puts
    ///   it at the start of the reap. What happens to the passage of the reaping process is a death of its own;
    /// - no process knows in which section a dead process was, so it is reaped even if it was in the remainder.
    ///
    /// The model assumes that no live process is reaped, that no two processes reap the same one at once, and that a
    /// number is used again only after the reap. In practice a lock on the number, held by the operating system,
    /// ensures this.
    ///
    /// With [store buffers](Model::tso) the writes of a dead process become visible before its death is noticed: a
    /// processor that switches to another process has emptied its buffer. The writes of a reap go into the same buffer.
    /// In reality that is the buffer of the reaping process; but its own writes have their own order there, and the
    /// writes of the reap are visible before the number is used again, so the model makes them visible no earlier than
    /// reality. (A reap that reads what others write would, in reality, also see the writes in the buffer of the
    /// reaping process; in the model it does not. No lock of the catalogue has such a reap.)
    ///
    /// The properties then mean the following. Only live processes are holders. A dead process does not wait, so it is
    /// not overtaken and does not starve; but its reap must be completed, and is subject to `bounded-exit` like an
    /// exit. *Deadlock- and starvation-freedom are about executions with finitely many deaths*: however many processes
    /// have died, and wherever, the live ones enter once there are no more deaths. (R. Rivest and V. Pratt, FOCS 1976,
    /// ask for more: that no process waits for ever because another one dies and returns for ever. The k-Bakeries do
    /// not promise that: a process that dies in the doorway again and again can block every waiter each time it looks.)
    /// `fife`, `bypass`, `bounded-exit` and `wait-free-doorway` are about all executions, also those with infinitely
    /// many deaths.
    ///
    /// With [`crashes`](Model::crashes), up to that many processes may also crash and not be reaped. Starvation-freedom
    /// with k-1 crashes then says that deaths do not reduce the capacity: however many processes have died and been
    /// reaped, and though k-1 holders stay in the critical section for ever, all others enter.
    ///
    /// ```
    /// use doorway_algorithms::kexclusion::k_bakery::KBakery;
    /// use doorway_checker::{Model, Property, check};
    ///
    /// let report = check(&Model::new(2).deaths(), |space| KBakery::new(space, 2, 1))?;
    /// assert!(report.holds(Property::Exclusion) && report.holds(Property::StarvationFreedom));
    /// # Ok::<(), doorway_checker::Error>(())
    /// ```
    #[must_use]
    pub fn deaths(mut self) -> Model {
        self.deaths = true;
        self
    }

    /// Lets a waiter [abort](doorway_memory::Abort::abort) at any time; it then returns to the remainder. For locks
    /// that are [abortable](doorway_memory::Exclusion::aborting).
    ///
    /// An abort is no failure: other processes may abort for ever, and no waiter may starve because of that. It is no
    /// progress either: if a process waits for ever while all others only abort, that is a deadlock.
    ///
    /// ```
    /// use doorway_algorithms::kexclusion::k_bakery::KBakery;
    /// use doorway_checker::{Model, Property, check};
    ///
    /// let report = check(&Model::new(2).aborts(), |space| KBakery::new(space, 2, 1))?;
    /// assert!(report.holds(Property::StarvationFreedom));
    /// # Ok::<(), doorway_checker::Error>(())
    /// ```
    #[must_use]
    pub fn aborts(mut self) -> Model {
        self.aborts = true;
        self
    }

    /// Lets processes die, and lets live ones be taken for dead: another process reaps one that waits or holds, and it
    /// goes on for a while. This is what happens to a process whose lease expires. For locks with
    /// [recovery](doorway_memory::Exclusion::recovery).
    ///
    /// A process that is taken for dead takes no step until it has been reaped. From then on it can still read, and stay
    /// in the critical section; but it can change nothing: its next write, or anything else at any time, tells it, and it
    /// is in the remainder, as a new process. (Every change that is made under a lease fails once the lease has expired.
    /// In the other sections such a process could only read, so there an expiry is a death.)
    ///
    /// Such a process believes that it is a holder, so `exclusion` and `assignment` can fail. If holders have
    /// [tokens](doorway_memory::Exclusion::tokens), then each shows its token, once, to the resource of its name, which
    /// remembers the largest; and `fenced` says that no resource refuses a process that really is a holder.
    ///
    /// ```
    /// use doorway_algorithms::kexclusion::fischer_queue_names::FischerQueueNames;
    /// use doorway_checker::{Model, Property, check};
    ///
    /// let report = check(&Model::new(2).expiries(), |space| FischerQueueNames::new(space, 2, 1))?;
    /// assert!(report.fails(Property::Exclusion) && report.holds(Property::Fenced));
    /// # Ok::<(), doorway_checker::Error>(())
    /// ```
    #[must_use]
    pub fn expiries(mut self) -> Model {
        (self.deaths, self.expiries) = (true, true);
        self
    }

    /// Limits each process to `passages` passages or, of a part, calls. The answer is then about such executions only.
    ///
    /// ```
    /// use doorway_algorithms::mutex::peterson::Peterson;
    /// use doorway_checker::{Model, check};
    ///
    /// let report = check(&Model::new(2).passages(1), Peterson::new)?;
    /// assert_eq!(report.incomplete.as_deref(), Some("each process makes at most 1 passage"));
    /// # Ok::<(), doorway_checker::Error>(())
    /// ```
    #[must_use]
    pub fn passages(mut self, passages: u32) -> Model {
        self.passages = Some(passages);
        self
    }

    /// Limits all processes together to `passages` passages or, of a part, calls. The answer is then about such
    /// executions only.
    #[must_use]
    pub fn passages_in_all(mut self, passages: u32) -> Model {
        self.passages_in_all = Some(passages);
        self
    }

    /// Counts states that differ only in the numbers of processes as one, for algorithms whose processes are all
    /// [alike](doorway_memory::Exclusion::SYMMETRIC). There are up to n! times fewer states; but the order of processes
    /// is lost, so the properties about order are not checked.
    ///
    /// ```
    /// use doorway_algorithms::kexclusion::ticket_k::TicketK;
    /// use doorway_checker::{Model, check};
    ///
    /// let ticket_k = |model: Model| check(&model.k(2), |space| TicketK::new(space, 2));
    /// assert!(ticket_k(Model::new(4).symmetric())?.states < ticket_k(Model::new(4))?.states / 4);
    /// # Ok::<(), doorway_checker::Error>(())
    /// ```
    #[must_use]
    pub fn symmetric(mut self) -> Model {
        self.symmetric = true;
        self
    }

    /// Counts states as one that differ only in values on which no step depends any more: those of registers that are
    /// written before they are read again, and old tickets.
    ///
    /// This is exact. Which registers a process may still read follows from the steps it can take; and every step that
    /// sees old tickets is executed for all orders and gaps that they can have. If a step turns out to depend on a value that
    /// was forgotten, the search starts again and forgets less. The verdicts are the same. Locks that spin on registers of
    /// their own, or leave tickets in registers, have several times fewer states, others as many as without. For a small search
    /// it is not worth the time.
    ///
    /// ```
    /// use doorway_algorithms::kexclusion::k_bakery::KBakery;
    /// use doorway_checker::{Model, check};
    ///
    /// let states = |model: Model| check(&model.k(2), |space| KBakery::new(space, 3, 2)).unwrap().states;
    /// assert!(states(Model::new(3).forget()) < states(Model::new(3)) / 2);
    /// ```
    #[must_use]
    pub fn forget(mut self) -> Model {
        self.forgets = true;
        self
    }

    /// Counts states as one that no later step can tell apart, which are found by asking what steps look at, backwards.
    ///
    /// This is exact: the classes of states are a bisimulation. Locks that leave tickets in registers mostly have by far the
    /// fewest states so: `k-bakery-fife` for three processes with k = 2 and deaths has 532,776
    /// classes, and over 442 million states.
    /// But a class takes as long as a hundred states, and as much memory, so it is not worth it for other locks. Not for
    /// parts, and not with [`forget`](Self::forget), safe registers, store buffers, symmetry, expiries, or limits on tickets or
    /// on passages in all.
    ///
    /// ```
    /// use doorway_algorithms::kexclusion::k_bakery_fife::KBakeryFife;
    /// use doorway_checker::{Model, check};
    ///
    /// let states = |model: Model| check(&model.deaths(), |space| KBakeryFife::new(space, 2, 1)).unwrap().states;
    /// assert!(states(Model::new(2).merge()) < states(Model::new(2)) / 100);
    /// ```
    #[must_use]
    pub fn merge(mut self) -> Model {
        self.merges = true;
        self
    }

    /// Makes registers only *safe*: a write begins and ends, and a read in between returns any value that the register
    /// may hold.
    ///
    /// ```
    /// use doorway_algorithms::{mutex::bakery::Bakery, mutex::peterson::Peterson};
    /// use doorway_checker::{Error, Fault, Model, Property, check};
    ///
    /// let model = Model::new(2).safe_registers();
    /// assert!(check(&model, |space| Bakery::new(space, 2))?.holds(Property::Exclusion));
    /// let error = check(&model, Peterson::new).unwrap_err(); // both processes write `turn`
    /// assert!(matches!(error, Error::Broken { fault: Fault::OverlappingWrites(_), .. }));
    /// # Ok::<(), doorway_checker::Error>(())
    /// ```
    #[must_use]
    pub fn safe_registers(mut self) -> Model {
        self.safe_registers = true;
        self
    }

    /// Gives every process a store buffer, as x86 processors have (*total store order*). Writes go into the buffer and
    /// arrive in memory at any later time, in order. A process's own reads look into its buffer first; its
    /// read-modify-writes and fences wait until the buffer is empty. Every write becomes visible eventually, even if
    /// its process has crashed.
    #[must_use]
    pub fn tso(mut self) -> Model {
        (self.store_buffers, self.fences) = (true, Fences::All);
        self
    }

    /// As [`tso`](Model::tso), but every [`fence`](doorway_memory::Memory::fence) is ignored.
    ///
    /// ```
    /// use doorway_algorithms::mutex::peterson::Peterson;
    /// use doorway_checker::{Model, Property, check};
    ///
    /// assert!(check(&Model::new(2).tso(), Peterson::new)?.holds(Property::Exclusion));
    /// assert!(check(&Model::new(2).tso_without_fences(), Peterson::new)?.fails(Property::Exclusion));
    /// # Ok::<(), doorway_checker::Error>(())
    /// ```
    #[must_use]
    pub fn tso_without_fences(mut self) -> Model {
        (self.store_buffers, self.fences) = (true, Fences::None);
        self
    }

    /// As [`tso`](Model::tso), but the fence at this place in the source is ignored.
    /// [`Report::fences`](crate::Report::fences) lists the places.
    ///
    /// ```
    /// use doorway_algorithms::mutex::peterson::Peterson;
    /// use doorway_checker::{Model, Property, check};
    ///
    /// let report = check(&Model::new(2).tso(), Peterson::new)?;
    /// assert!(report.holds(Property::Exclusion) && report.fences.len() == 1);
    /// let report = check(&Model::new(2).tso_without_fence(report.fences[0]), Peterson::new)?;
    /// assert!(report.fails(Property::Exclusion));
    /// # Ok::<(), doorway_checker::Error>(())
    /// ```
    #[must_use]
    pub fn tso_without_fence(mut self, place: &'static Location<'static>) -> Model {
        (self.store_buffers, self.fences) = (true, Fences::AllBut(place));
        self
    }

    /// As [`tso`](Model::tso), with a fence after every write. For comparison: the verdicts are those without store
    /// buffers.
    #[must_use]
    pub fn tso_with_fences_everywhere(mut self) -> Model {
        (self.store_buffers, self.fences) = (true, Fences::Everywhere);
        self
    }

    /// Makes tickets plain numbers up to `cap`, and cuts executions that exceed it. The answer is then about the others
    /// only. For comparison: without a cap the search is complete.
    #[must_use]
    pub fn ticket_cap(mut self, cap: u32) -> Model {
        self.ticket_cap = Some(cap);
        self
    }

    /// Explores every order of steps, also of those that no other process can observe.
    ///
    /// For comparison: the verdicts are the same, and the search is larger.
    ///
    /// ```
    /// use doorway_algorithms::mutex::peterson::Peterson;
    /// use doorway_checker::{Model, check};
    ///
    /// let states = |model: Model| check(&model, Peterson::new).unwrap().states;
    /// assert!(states(Model::new(2).tso()) < states(Model::new(2).tso().every_order()));
    /// ```
    #[must_use]
    pub fn every_order(mut self) -> Model {
        self.every_order = true;
        self
    }

    /// Computes steps again whenever they are needed instead of storing them, as it is done when memory is short.
    ///
    /// For comparison: the report is the same, and takes longer.
    ///
    /// ```
    /// use doorway_algorithms::mutex::peterson::Peterson;
    /// use doorway_checker::{Model, check};
    ///
    /// let report = check(&Model::new(2).without_edges(), Peterson::new)?;
    /// assert_eq!(report.to_string(), check(&Model::new(2), Peterson::new)?.to_string());
    /// # Ok::<(), doorway_checker::Error>(())
    /// ```
    #[must_use]
    pub fn without_edges(mut self) -> Model {
        self.recomputes = true;
        self
    }

    /// Explores only executions in which the calls of a part do not overlap.
    #[must_use]
    pub fn sequential(mut self) -> Model {
        self.sequential = true;
        self
    }

    /// Checks these properties only. A check of exclusion alone takes less memory, and ends at the first violation.
    #[must_use]
    pub fn only(mut self, properties: impl IntoIterator<Item = Property>) -> Model {
        self.properties = properties.into_iter().collect();
        self
    }

    /// Sets the number of threads. The result does not depend on it.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Model {
        self.threads = threads.max(1);
        self
    }

    /// Ends the search soon after it has found this number of states. Properties without a counterexample until then
    /// are not decided.
    ///
    /// ```
    /// use doorway_algorithms::mutex::peterson::Peterson;
    /// use doorway_checker::{Model, Property, Verdict, check};
    ///
    /// let report = check(&Model::new(2).max_states(10), Peterson::new)?;
    /// assert!(report.stopped);
    /// assert_eq!(report.finding(Property::Exclusion).verdict, Verdict::Unknown);
    /// # Ok::<(), doorway_checker::Error>(())
    /// ```
    #[must_use]
    pub fn max_states(mut self, states: u64) -> Model {
        self.max_states = Some(states);
        self
    }

    /// Ends the search before it uses more than this number of bytes. The default is three quarters of the machine's
    /// memory, or of the control group's if that is less.
    #[must_use]
    pub fn max_memory(mut self, bytes: u64) -> Model {
        self.max_memory = Some(bytes);
        self
    }

    /// For one of several checks at once: each has an equal share of the threads, at least one, and of the memory.
    ///
    /// ```
    /// use doorway_algorithms::mutex::peterson::Peterson;
    /// use doorway_checker::{Model, Property, check};
    ///
    /// let report = check(&Model::new(2).max_memory(4_000_000_000).one_of(2), Peterson::new)?;
    /// assert!(report.holds(Property::Exclusion));
    /// # Ok::<(), doorway_checker::Error>(())
    /// ```
    #[must_use]
    pub fn one_of(mut self, checks: usize) -> Model {
        let checks = checks.max(1);
        self.threads = (self.threads / checks).max(1);
        self.max_memory = self.max_memory.map(|bytes| bytes / checks as u64);
        self
    }

    /// Reports progress to `observer`, and lets it cancel the check. See the example of [`Observer`].
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Model {
        self.observer = Some(observer);
        self
    }

    /// Whether tickets are plain numbers, because a limit bounds them: they are not renumbered then.
    pub(crate) fn has_real_tickets(&self) -> bool {
        self.ticket_cap.is_some() || self.passages_in_all.is_some()
    }

    /// Whether tickets are forgotten: only if they are not plain numbers.
    pub(crate) fn forgets_tickets(&self) -> bool {
        self.forgets && !self.has_real_tickets()
    }

    /// Whether registers are forgotten: not safe ones, of which a value counts as another one while it is being written.
    pub(crate) fn forgets_registers(&self) -> bool {
        self.forgets && !self.safe_registers
    }

    /// Whether different states may count as one, because of what was forgotten or merged.
    pub(crate) fn drops_differences(&self) -> bool {
        self.forgets || self.merges
    }

    /// Whether it is about every execution without failures, on atomic registers.
    pub(crate) fn is_plain(&self) -> bool {
        let limited = self.passages.is_some() || self.has_real_tickets();
        let other_memory = self.safe_registers || self.store_buffers;
        !(limited || other_memory || self.symmetric || self.has_interruptions() || self.crashes > 0)
    }

    pub(crate) fn setting(&self) -> Setting {
        Setting { fences: self.fences, expiries: self.expiries }
    }

    pub(crate) fn wants(&self, property: Property) -> bool {
        self.properties.is_empty() || self.properties.contains(&property)
    }

    /// Whether a step that no other process can observe may be taken before all others. Not if its process may crash,
    /// die or abort before it: then there are executions without the step.
    pub(crate) fn reduces(&self) -> bool {
        self.store_buffers && self.crashes == 0 && !self.has_interruptions() && !self.every_order
    }

    /// Whether processes may die or abort.
    pub(crate) fn has_interruptions(&self) -> bool {
        self.deaths || self.aborts
    }

    pub(crate) fn processes(&self) -> std::ops::Range<Pid> {
        0..self.n
    }

    pub(crate) fn cancelled(&self) -> bool {
        self.observer.as_ref().is_some_and(|observer| observer.cancelled())
    }
}

/// What the execution of a process depends on besides its history.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Setting {
    pub(crate) fences: Fences,
    /// Whether holders show their tokens.
    pub(crate) expiries: bool,
}

impl Setting {
    /// Without fences and expiries.
    pub(crate) const PLAIN: Setting = Setting { fences: Fences::None, expiries: false };
}

/// The fences that are not ignored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fences {
    /// No fence.
    None,
    All,
    AllBut(&'static Location<'static>),
    /// All, and there is one after every write.
    Everywhere,
}

impl Fences {
    pub(crate) fn count(self, place: &Location<'_>) -> bool {
        match self {
            Fences::None => false,
            Fences::All | Fences::Everywhere => true,
            Fences::AllBut(other) => place != other,
        }
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Model {{ n: {}, k: {}, .. }}", self.n, self.k)
    }
}

/// The cache of one process: the registers of which it has a valid copy. The caches of others do not change its costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Cache {
    pub(crate) of: Pid,
    pub(crate) failed_cas: FailedCas,
}
