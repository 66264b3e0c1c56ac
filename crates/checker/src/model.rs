//! What to check, and how far to go.
use std::{fmt, panic::Location, sync::Arc, thread::available_parallelism};

use doorway_memory::{FailedCas, Name, Pid, Property};

use crate::{error::Error, limits, symmetry};

/// The most processes a state can hold.
pub const MAX_PROCESSES: usize = 10;

/// The most processes, with store buffers: an edge of the graph has four bits to say whose step it is, or whose buffer's.
const MAX_BUFFERED: usize = 8;

/// The most processes, with deaths or abandons: an edge has to say who dies or gives up too…
const MAX_INTERRUPTED: usize = 8;

/// …and so with store buffers there are fewer.
const MAX_INTERRUPTED_BUFFERED: usize = 4;

/// So many writes fit into a store buffer. Between two fences few algorithms write so often; of the others not every run is seen.
pub(crate) const BUFFER: usize = 16;

/// What to check, and how far to go.
///
/// ```
/// use doorway_checker::{Model, Property};
/// let model = Model::new(3).threads(2).only([Property::Exclusion]);
/// ```
#[derive(Clone)]
pub struct Model {
    pub(crate) n: usize,
    pub(crate) k: usize,
    pub(crate) crashes: usize,
    pub(crate) deaths: bool,
    pub(crate) abandons: bool,
    /// Whether someone may starve because others die for ever; for comparison.
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
    /// Whether every order of steps is looked at, even of those that do not concern each other.
    pub(crate) every_order: bool,
    /// Whether anything else than a read or a write is refused.
    pub(crate) reads_and_writes: bool,
    /// Whose cache is kept in the states.
    pub(crate) cache: Option<Cache>,
    pub(crate) properties: Vec<Property>,
    pub(crate) threads: usize,
    pub(crate) max_states: Option<u64>,
    pub(crate) max_memory: Option<u64>,
    pub(crate) observer: Option<Arc<dyn Observer>>,
}

impl Model {
    /// `n` processes, one in the critical section at a time, every property, all cores, and three quarters of the memory there is.
    ///
    /// ```
    /// let model = doorway_checker::Model::new(2);
    /// ```
    #[must_use]
    pub fn new(n: usize) -> Model {
        Model {
            n,
            k: 1,
            crashes: 0,
            deaths: false,
            abandons: false,
            endless_deaths: false,
            passages: None,
            ticket_cap: None,
            sequential: false,
            symmetric: false,
            safe_registers: false,
            store_buffers: false,
            fences: Fences::None,
            every_order: false,
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

    /// At most `k` inside at a time.
    ///
    /// ```
    /// let model = doorway_checker::Model::new(4).k(2);
    /// ```
    #[must_use]
    pub fn k(mut self, k: usize) -> Model {
        self.k = k;
        self
    }

    /// Up to `crashes` processes may stop for ever, anywhere outside the remainder section.
    ///
    /// ```
    /// let model = doorway_checker::Model::new(3).k(2).crashes(1);
    /// ```
    #[must_use]
    pub fn crashes(mut self, crashes: usize) -> Model {
        self.crashes = crashes;
        self
    }

    /// Processes may die, as often and wherever they like, in the remainder too, and lose what they knew; others
    /// [reap](doorway_memory::Exclusion::reap) them, and then their numbers are used again. For algorithms that are
    /// [`REAPABLE`](doorway_memory::Exclusion::REAPABLE).
    ///
    /// To die is one step, which is nobody's. It puts the process at the start of its `reap`, whose steps then are taken under
    /// its number, by whoever; when they are done it is in the remainder, as another process. That is the real thing, since
    /// - a reap knows nothing but the dead one's number. Who runs it may be in the midst of a passage of its own, and nothing
    ///   of that is changed by it: to everyone else it looks as if that process were slow and someone else took these steps.
    ///   Runs in which the one who reaps does nothing else meanwhile are among all the interleavings looked at;
    /// - how long it takes until someone notices is how long the first of these steps takes to come; that it comes is part of
    ///   fairness, for a dead process that is never reaped is a crash;
    /// - if the one who reaps dies too, another begins again: during a reap a process can die once more, which puts it at the
    ///   start of it. Where the one who reaped was itself is a death of its own;
    /// - nobody knows where in its passage a dead one was, so it is reaped even if it was in none.
    ///
    /// It is taken for granted that nobody reaps the living, that no two reap the same one at once, and that its number is
    /// used again only afterwards: these are for a lock on the number to see to, which is the system's.
    ///
    /// With [store buffers](Model::tso) what a dead process has written becomes visible before anyone notices: a processor that
    /// leaves a process has emptied its buffer. What is then written for it goes into the same buffer. In truth that is the
    /// buffer of the one who reaps; but its own writes have their own order there, and what is written for the dead is visible
    /// before the number is used again, so here it is later than it can be, if anything. (A reap that reads what others write
    /// would see what the one who reaps has in its own buffer; here it does not. None reads so far.)
    ///
    /// What the properties mean then: inside are the living only. Who dies does not wait any more, so it cannot be
    /// overtaken, and does not starve; but a reap is to be done at last, and to end as an exit does. *Deadlock- and
    /// starvation-freedom are about runs with finitely many deaths*: however many have died, and wherever, those alive get in
    /// once there are no more deaths. (R. Rivest and V. Pratt, FOCS 1976, ask for more: that nobody is kept waiting by one who
    /// dies and comes back for ever. The k-Bakeries do not promise that: who dies in the doorway again and again can be in
    /// everyone's way each time they look.) `fife`, `bypass`, `bounded-exit` and `wait-free-doorway` are about all runs, with
    /// deaths for ever too.
    ///
    /// With [`crashes`](Model::crashes) so many may stop for ever and not be reaped. That no place is lost is
    /// starvation-freedom with k-1 crashes: however many have died and been reaped, and though k-1 stay inside for ever,
    /// all others get in.
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

    /// A process that waits may [give up](doorway_memory::Exclusion::abandon), whenever it likes; then it is in the remainder.
    /// For algorithms that are [`ABANDONABLE`](doorway_memory::Exclusion::ABANDONABLE).
    ///
    /// Others may do so for ever and nobody may starve of it: giving up is no fault. It is not progress either: if someone
    /// waits for ever while the others only give up, that is a deadlock.
    ///
    /// ```
    /// let model = doorway_checker::Model::new(3).k(2).abandons();
    /// ```
    #[must_use]
    pub fn abandons(mut self) -> Model {
        self.abandons = true;
        self
    }

    /// Each process makes at most this many passages or, of a part, calls. The answer is then about such executions only.
    ///
    /// ```
    /// let model = doorway_checker::Model::new(4).passages(1);
    /// ```
    #[must_use]
    pub fn passages(mut self, passages: u32) -> Model {
        self.passages = Some(passages);
        self
    }

    /// The processes together make at most this many passages or, of a part, calls. The answer is then about such executions only.
    ///
    /// ```
    /// let model = doorway_checker::Model::new(4).passages_in_all(10);
    /// ```
    #[must_use]
    pub fn passages_in_all(mut self, passages: u32) -> Model {
        self.passages_in_all = Some(passages);
        self
    }

    /// Counts states that differ only in who is who as one, for algorithms that say their processes are all
    /// [alike](doorway_memory::Exclusion::SYMMETRIC). Up to n! times fewer states; but who came before whom is not told apart
    /// then, so the properties about order stay undecided.
    ///
    /// ```
    /// let model = doorway_checker::Model::new(4).symmetric();
    /// ```
    #[must_use]
    pub fn symmetric(mut self) -> Model {
        self.symmetric = true;
        self
    }

    /// Registers are *safe*, no more: a write has a beginning and an end, and a read in between returns anything the register
    /// may hold.
    ///
    /// ```
    /// let model = doorway_checker::Model::new(2).safe_registers();
    /// ```
    #[must_use]
    pub fn safe_registers(mut self) -> Model {
        self.safe_registers = true;
        self
    }

    /// The memory is that of x86 processors, *total store order*: each process has a buffer, first in first out, through which
    /// its writes reach the memory when they please. Its own reads look there first; its read-modify-writes and fences wait
    /// until it is empty. Every write becomes visible at last, even if its process has crashed.
    ///
    /// ```
    /// let model = doorway_checker::Model::new(2).tso();
    /// ```
    #[must_use]
    pub fn tso(mut self) -> Model {
        (self.store_buffers, self.fences) = (true, Fences::All);
        self
    }

    /// As [`tso`](Model::tso), with every [`fence`](doorway_memory::Memory::fence) ignored: plain stores.
    ///
    /// ```
    /// let model = doorway_checker::Model::new(2).tso_without_fences();
    /// ```
    #[must_use]
    pub fn tso_without_fences(mut self) -> Model {
        (self.store_buffers, self.fences) = (true, Fences::None);
        self
    }

    /// As [`tso`](Model::tso), with the one fence at this place in the source ignored. [`Report::fences`](crate::Report::fences)
    /// says where there are any.
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

    /// As [`tso`](Model::tso), with a fence after every write. For comparison: all is as if there were no buffers.
    ///
    /// ```
    /// let model = doorway_checker::Model::new(2).tso_with_fences_everywhere();
    /// ```
    #[must_use]
    pub fn tso_with_fences_everywhere(mut self) -> Model {
        (self.store_buffers, self.fences) = (true, Fences::Everywhere);
        self
    }

    /// Tickets are plain numbers up to `cap`; runs that go beyond are cut. The answer is then about the others only. For
    /// comparison: without a cap the search is complete.
    ///
    /// ```
    /// let model = doorway_checker::Model::new(2).ticket_cap(8);
    /// ```
    #[must_use]
    pub fn ticket_cap(mut self, cap: u32) -> Model {
        self.ticket_cap = Some(cap);
        self
    }

    /// The calls of a part do not overlap.
    ///
    /// ```
    /// let model = doorway_checker::Model::new(3).sequential();
    /// ```
    #[must_use]
    pub fn sequential(mut self) -> Model {
        self.sequential = true;
        self
    }

    /// Only these properties.
    ///
    /// ```
    /// use doorway_checker::{Model, Property};
    /// let model = Model::new(2).only([Property::Exclusion, Property::Fcfs]);
    /// ```
    #[must_use]
    pub fn only(mut self, properties: impl IntoIterator<Item = Property>) -> Model {
        self.properties = properties.into_iter().collect();
        self
    }

    /// On so many threads.
    ///
    /// ```
    /// let model = doorway_checker::Model::new(2).threads(1);
    /// ```
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Model {
        self.threads = threads.max(1);
        self
    }

    /// Stops when so many states have been found, with what is known then.
    ///
    /// ```
    /// let model = doorway_checker::Model::new(2).max_states(1_000_000);
    /// ```
    #[must_use]
    pub fn max_states(mut self, states: u64) -> Model {
        self.max_states = Some(states);
        self
    }

    /// Stops before using more than so many bytes, with what is known then. Without, that is three quarters of the machine's memory,
    /// or of the control group's if that is less.
    ///
    /// ```
    /// let model = doorway_checker::Model::new(2).max_memory(1 << 30);
    /// ```
    #[must_use]
    pub fn max_memory(mut self, bytes: u64) -> Model {
        self.max_memory = Some(bytes);
        self
    }

    /// Reports progress to `observer`, and asks it whether to go on.
    ///
    /// ```
    /// struct Quiet;
    /// impl doorway_checker::Observer for Quiet {}
    /// let model = doorway_checker::Model::new(2).observer(std::sync::Arc::new(Quiet));
    /// ```
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Model {
        self.observer = Some(observer);
        self
    }

    pub(crate) fn validate(&self) -> Result<(), Error> {
        if self.n == 0 || self.n > MAX_PROCESSES {
            let n = self.n;
            return Err(Error::Model(format!("from 1 to {MAX_PROCESSES} processes can be checked, not {n}")));
        }
        if self.symmetric && self.n > symmetry::MOST {
            let (n, most) = (self.n, symmetry::MOST);
            return Err(Error::Model(format!("up to {most} processes can be counted as alike, not {n}")));
        }
        if self.safe_registers && self.has_real_tickets() {
            return Err(Error::Model(
                "on safe registers a ticket can be any number, so tickets cannot be limited".to_string(),
            ));
        }
        if self.store_buffers && self.n > MAX_BUFFERED {
            let n = self.n;
            return Err(Error::Model(format!(
                "with store buffers up to {MAX_BUFFERED} processes can be checked, not {n}"
            )));
        }
        if self.has_interruptions() {
            self.validate_interruptions()?;
        }
        if self.store_buffers && self.safe_registers {
            return Err(Error::Model(
                "a safe register has no store buffer before it; check one without the other".to_string(),
            ));
        }
        if self.store_buffers && self.symmetric {
            return Err(Error::Model(
                "with store buffers processes cannot be counted as alike; check it without symmetry".to_string(),
            ));
        }
        if self.k == 0 {
            return Err(Error::Model("k is at least 1, not 0".to_string()));
        }
        if self.k > self.n {
            let (n, k) = (self.n, self.k);
            return Err(Error::Model(format!("k is at most the number of processes, {n}, not {k}")));
        }
        if self.passages == Some(0) || self.passages_in_all == Some(0) {
            return Err(Error::Model(
                "without a passage there is nothing to check; let there be at least 1".to_string(),
            ));
        }
        if self.crashes > self.n {
            let (n, crashes) = (self.n, self.crashes);
            return Err(Error::Model(format!("at most {n} of {n} processes can crash, not {crashes}")));
        }
        if self.passages_in_all.is_some_and(|passages| passages > 100) {
            return Err(Error::Model(
                "at most 100 passages in all can be counted; leave it out to have no limit".to_string(),
            ));
        }
        if self.ticket_cap.is_some_and(|cap| cap > 100) {
            return Err(Error::Model("the ticket cap is at most 100; leave it out for a complete search".to_string()));
        }
        Ok(())
    }

    /// What goes together with deaths and abandons.
    fn validate_interruptions(&self) -> Result<(), Error> {
        let what = if self.deaths { "deaths" } else { "abandons" };
        let (n, most) = (self.n, self.first_interruption());
        let refused = match () {
            () if n > most => {
                let buffers = if self.store_buffers { " and store buffers" } else { "" };
                format!("with {what}{buffers} up to {most} processes can be checked, not {n}")
            }
            () if self.symmetric => {
                format!("with {what} processes cannot be counted as alike; check it without symmetry")
            }
            () if self.safe_registers => format!("{what} are checked on atomic registers, not on safe ones"),
            () => return Ok(()),
        };
        Err(Error::Model(refused))
    }

    /// Whether tickets are plain numbers, as there are only so many: then there is nothing to renumber.
    pub(crate) fn has_real_tickets(&self) -> bool {
        self.ticket_cap.is_some() || self.passages_in_all.is_some()
    }

    /// Whether it is about every run of processes that neither stop nor die, on atomic registers.
    pub(crate) fn is_plain(&self) -> bool {
        let limited = self.passages.is_some() || self.has_real_tickets();
        let other_memory = self.safe_registers || self.store_buffers;
        !(limited || other_memory || self.symmetric || self.has_interruptions() || self.crashes > 0)
    }

    pub(crate) fn wants(&self, property: Property) -> bool {
        self.properties.is_empty() || self.properties.contains(&property)
    }

    /// Whether a step that concerns nobody else may be taken before all others. Not if its process may stop before it, or die
    /// or give up: then there are runs without it.
    pub(crate) fn reduces(&self) -> bool {
        self.store_buffers && self.crashes == 0 && !self.has_interruptions() && !self.every_order
    }

    /// Who a step is said to be taken by when a write of process `p` becomes visible.
    pub(crate) fn memory_of(p: Pid) -> Pid {
        MAX_BUFFERED + p
    }

    /// Whose write becomes visible in a step, if it is not a step of a process.
    pub(crate) fn becomes_visible(&self, stepping: Pid) -> Option<Pid> {
        stepping.checked_sub(MAX_BUFFERED).filter(|_| self.store_buffers)
    }

    /// Whether processes may be interrupted in what they do: die, or give up.
    pub(crate) fn has_interruptions(&self) -> bool {
        self.deaths || self.abandons
    }

    fn first_interruption(&self) -> Pid {
        if self.store_buffers { MAX_INTERRUPTED_BUFFERED } else { MAX_INTERRUPTED }
    }

    /// Who a step is said to be taken by when process `p` dies or gives up. Where it is then tells which.
    pub(crate) fn interruption_of(&self, p: Pid) -> Pid {
        self.first_interruption() + p
    }

    /// Who dies or gives up in a step, if it is not a step of a process.
    pub(crate) fn interrupted(&self, stepping: Pid) -> Option<Pid> {
        stepping.checked_sub(self.first_interruption()).filter(|&p| p < self.n && self.has_interruptions())
    }

    pub(crate) fn processes(&self) -> std::ops::Range<Pid> {
        0..self.n
    }

    pub(crate) fn cancelled(&self) -> bool {
        self.observer.as_ref().is_some_and(|observer| observer.cancelled())
    }
}

/// Which fences count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fences {
    /// None: they are ignored, or there is nothing to wait for.
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

/// The cache of one process: which registers it has a valid copy of. Other processes' caches do not change what it pays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Cache {
    pub(crate) of: Pid,
    pub(crate) failed_cas: FailedCas,
}

/// Watches a search, and can end it.
///
/// ```
/// use doorway_checker::{Observer, Progress};
/// struct Counter;
/// impl Observer for Counter {
///     fn progress(&self, progress: &Progress) { eprintln!("{} states", progress.states); }
/// }
/// ```
pub trait Observer: Send + Sync {
    /// Called now and then.
    fn progress(&self, _: &Progress) {}

    /// Whether to stop; asked now and then, from any thread. Once it has said yes it must go on saying so.
    fn cancelled(&self) -> bool {
        false
    }
}

/// How far a search is.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Progress {
    /// What is being done.
    pub phase: Phase,
    /// States found so far.
    pub states: u64,
    /// The length of the runs being extended.
    pub depth: u32,
    /// Bytes in use.
    pub bytes: u64,
    /// A register that has held very many values, and how many: if it is a number that grows for ever, the search has no end.
    pub growing: Option<(Name, usize)>,
}

/// What a check is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Finding states.
    Searching,
    /// Reading the properties off the graph.
    Judging,
}
