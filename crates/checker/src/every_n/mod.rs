//! Safety properties for every number of processes at once, by view abstraction.
//!
//! After P. A. Abdulla, F. Haziza, L. Holík, *All for the price of few*, 2013. A *view* of a state is what is left of it
//! if all but m processes, its *members*, are forgotten: the shared registers, and the members' local states and own
//! registers, with their tickets renumbered. The search keeps a set of views and closes it under steps. Either a member takes
//! a step; or another process does, of which the view does not tell. For that, every process that fits is added to the view:
//! one with which all views of these m + 1 processes are in the set.
//!
//! By induction, the views of every reachable state of any number of processes are in the set at the end. So if none of
//! them has more than k holders, no reachable state has: k + 1 holders would be in one of its views, as m > k. The
//! converse does not hold: a set may have views of no reachable state. Then nothing is decided.
//!
//! The argument needs that processes differ in nothing but the order of their numbers, and that steps do not depend on the
//! number of processes, except that a loop goes through all of them. What is not so is refused: see [`every_n`].
//! docs/every-n.md has the argument at length.
//!
//! | | |
//! |---|---|
//! | `registers.rs` | which registers are shared, and which are one of each process |
//! | `process.rs` | the steps of one process, whatever its number |
//! | `execution.rs` | executing the source, and the tests that steps depend on nothing else |
//! | `dead.rs` | what processes have observed and do not need |
//! | `tables.rs` | local states and values, numbered |
//! | `config.rs` | what a view has; adding and forgetting a process |
//! | `steps.rs` | the steps of a member of a view |
//! | `extension.rs` | the steps of other processes, as the members see them |
//! | `order.rs` | the order in which processes arrive and enter |
//! | `renumber.rs` | tickets, and what is forgotten |
//! | `views.rs` | the set of views |
//! | `kept.rs` | which registers views have |
mod config;
mod dead;
mod execution;
mod extension;
mod kept;
mod order;
mod process;
mod registers;
mod renumber;
mod steps;
mod tables;
mod views;

use std::fmt;

use doorway_memory::{Property, Queue};

use crate::{Error, Subject, error::Fault, model::Model, symmetry, tickets::WIDTHS};
use kept::Kept;
use process::Processes;
use views::Views;

/// What was found for every number of processes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EveryN {
    /// The capacity.
    pub k: usize,
    /// How many processes a view has.
    pub m: usize,
    /// How many views there are.
    pub views: usize,
    /// Why nothing is decided; none if exclusion holds for every number of processes.
    pub undecided: Option<Undecided>,
    /// What was found about the order of processes. It is looked for only if exclusion holds.
    pub order: Option<InOrder>,
}

/// What was found about the order in which processes enter, for every number of processes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InOrder {
    /// How many views there are, with the order of arrivals.
    pub views: usize,
    /// The properties that hold.
    pub holds: Vec<Property>,
    /// Those that are not decided.
    pub open: Vec<Property>,
    /// Why none is decided, if that has the same reason for all of them.
    pub undecided: Option<Undecided>,
}

/// Why nothing is decided.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Undecided {
    /// The argument does not apply to this algorithm.
    DoesNotApply(String),
    /// There are more views than the limit.
    TooManyViews(usize),
    /// It was interrupted.
    Interrupted,
    /// A view has more than k holders. The steps that lead to it may be those of no real execution.
    Crowded(Vec<String>),
}

/// Why the search ends before the set is closed.
#[derive(Debug)]
enum Stop {
    /// The argument does not apply.
    Refused(String),
    /// Something has become known of the tally or the queue, so that the set has to be made again.
    Stale,
    Error(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Error(error)
    }
}

impl EveryN {
    /// Whether exclusion holds for every number of processes.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.undecided.is_none()
    }
}

impl fmt::Display for EveryN {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let EveryN { m, views, .. } = self;
        match &self.undecided {
            None => write!(f, "exclusion holds for every n (m = {m}, {views} views)"),
            Some(Undecided::DoesNotApply(why)) => write!(f, "not decided for every n: {why}"),
            Some(Undecided::TooManyViews(limit)) => {
                write!(f, "not decided for every n: more than {limit} views of {m} processes")
            }
            Some(Undecided::Interrupted) => write!(f, "not decided for every n: interrupted at {views} views"),
            Some(Undecided::Crowded(_)) => {
                write!(f, "not decided for every n: among {views} views of {m} processes, one has too many holders")
            }
        }
    }
}

impl fmt::Display for InOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let listed =
            |properties: &[Property]| properties.iter().map(Property::to_string).collect::<Vec<_>>().join(", ");
        let all = [&self.holds[..], &self.open[..]].concat();
        match &self.undecided {
            Some(Undecided::DoesNotApply(why)) => {
                return write!(f, "{} not decided for every n: {why}", listed(&all));
            }
            Some(_) => return write!(f, "{} not decided for every n: too many views", listed(&all)),
            None if self.holds.is_empty() => return write!(f, "{} not decided for every n", listed(&self.open)),
            None => {}
        }
        let hold = if self.holds.len() == 1 { "holds" } else { "hold" };
        write!(f, "{} {hold} for every n ({} views with the order of arrivals)", listed(&self.holds), self.views)?;
        if self.open.is_empty() { Ok(()) } else { write!(f, "; {} not decided", listed(&self.open)) }
    }
}

/// The largest number of processes for which an algorithm is made: what depends on it shows.
const LARGEST: usize = 200;

/// The most views that are searched.
const LIMIT: usize = 2_000_000;

/// The most views of a single process that are searched for dead words.
const MOST_ALONE: usize = 20_000;

/// Decides whether at most `k` processes are holders at once, for every number of processes. `make` makes the lock for a
/// number of processes, or returns `None` if it cannot.
///
/// ```
/// use doorway_algorithms::{Size, mutex::ticket};
/// use doorway_checker::{Subject, every_n};
///
/// let found = every_n(1, |n| Some(Subject::lock(move |space| ticket::new(space, Size { n, k: 1 }))))?;
/// assert_eq!(found.to_string(), "exclusion holds for every n (m = 2, 54 views)");
/// # Ok::<(), doorway_checker::Error>(())
/// ```
///
/// # Errors
/// If the algorithm breaks a rule of the interface.
pub fn every_n(k: usize, make: impl Fn(usize) -> Option<Subject>) -> Result<EveryN, Error> {
    every_n_observed(k, make, &mut |_| true)
}

/// The same. `observer` is told the number of views now and then, and returns whether to go on.
///
/// # Errors
/// As [`every_n`].
pub fn every_n_observed(
    k: usize,
    make: impl Fn(usize) -> Option<Subject>,
    observer: &mut dyn FnMut(usize) -> bool,
) -> Result<EveryN, Error> {
    let mut precision = Precision { m: k + 1, is_forgetful: true, kept: Kept::NONE };
    let mut found = closed(&make, k, precision, false, observer)?;
    while let Some(Undecided::Crowded(_)) = found.undecided {
        let Some(next) = precision.next(k, &found) else { break };
        precision = next;
        found = closed(&make, k, precision, false, observer)?;
    }
    let mut every_n = EveryN { k, m: precision.m, views: found.views(), undecided: found.undecided, order: None };
    if every_n.holds() {
        every_n.order = Some(in_order(k, precision, &make, observer)?);
    }
    Ok(every_n)
}

/// How much views have: the more, the more can be decided, and the more views there are.
#[derive(Clone, Copy)]
struct Precision {
    m: usize,
    is_forgetful: bool,
    kept: Kept,
}

impl Precision {
    /// The next one to try, after this one has led to too many holders.
    fn next(self, k: usize, found: &Closed) -> Option<Precision> {
        if self.is_forgetful {
            let kept = found.views.as_ref().and_then(|views| views.kept_next(self.kept));
            let kept = kept.map(|kept| Precision { kept, ..self });
            return Some(kept.unwrap_or(Precision { is_forgetful: false, kept: Kept::ALL, ..self }));
        }
        (self.m == k + 1 && k + 2 < symmetry::MOST).then_some(Precision { m: k + 2, ..self })
    }
}

/// Which properties about order hold.
fn in_order(
    k: usize,
    precision: Precision,
    make: &impl Fn(usize) -> Option<Subject>,
    observer: &mut dyn FnMut(usize) -> bool,
) -> Result<InOrder, Error> {
    let all = [Property::Fcfs, Property::KFcfs, Property::Fife];
    let Closed { views, undecided } = closed(make, k, precision, true, observer)?;
    let lacks = |property: &Property| views.as_ref().is_none_or(|views| views.order.lacks(*property, k));
    let (open, holds) = all.into_iter().partition(|property| undecided.is_some() || lacks(property));
    Ok(InOrder { views: views.map_or(0, |views| views.len()), holds, open, undecided })
}

fn has_queue(subject: &Subject) -> bool {
    subject.registers.of(&Model::new(1)).iter().any(|register| (register.kind.queue)(register.init).is_some())
}

/// The algorithm, made for several numbers of processes; or why that is not possible.
fn made(make: &impl Fn(usize) -> Option<Subject>, k: usize, m: usize) -> Result<Vec<(usize, Subject)>, String> {
    if m + 1 > symmetry::MOST {
        return Err("views of so many processes are not searched".to_string());
    }
    let few = make(m + 1).ok_or_else(|| format!("it is not made for {} processes", m + 1))?;
    if few.program.is_part() {
        return Err("it is not a lock".to_string());
    }
    // A queue in a word has room for a few processes only; other memories have no such limit.
    let sizes = if has_queue(&few) { vec![Queue::MOST, k + 1, m + 2] } else { vec![k + 6, k + 1, 64, LARGEST] };
    let made = sizes.into_iter().map(|n| Some((n, make(n)?))).collect::<Option<Vec<_>>>();
    made.ok_or_else(|| "it is not made for every number of processes".to_string())
}

/// The processes, with what is known of their dead words.
fn with_dead_words(processes: Processes, k: usize) -> Result<Processes, Stop> {
    let mut alone = Views::new(processes, k, 1)?;
    alone.keep(Kept::NONE);
    let undecided = alone.close(MOST_ALONE, &mut |_| true)?;
    let mut processes = alone.processes;
    if undecided.is_none() {
        processes.find_dead_words()?;
    }
    Ok(processes)
}

/// A set of views, closed under steps; or why it is not.
struct Closed {
    views: Option<Views>,
    undecided: Option<Undecided>,
}

impl Closed {
    fn refused(why: String) -> Closed {
        Closed { views: None, undecided: Some(Undecided::DoesNotApply(why)) }
    }

    fn views(&self) -> usize {
        self.views.as_ref().map_or(0, Views::len)
    }
}

fn closed(
    make: &impl Fn(usize) -> Option<Subject>,
    k: usize,
    Precision { m, is_forgetful, kept }: Precision,
    observes: bool,
    observer: &mut dyn FnMut(usize) -> bool,
) -> Result<Closed, Error> {
    for wide in WIDTHS {
        let subjects = match made(make, k, m) {
            Ok(subjects) => subjects,
            Err(why) => return Ok(Closed::refused(why)),
        };
        let processes = Processes::new(subjects, wide).and_then(|processes| with_dead_words(processes, k));
        let views = processes.and_then(|processes| Views::new(processes, k, m));
        let closed = views.and_then(|mut views| {
            (views.observes, views.is_forgetful) = (observes, is_forgetful);
            views.keep(kept);
            views.close(LIMIT, observer).map(|undecided| Closed { views: Some(views), undecided })
        });
        match closed {
            Err(Stop::Error(Error::Broken { fault: Fault::TicketArithmetic, .. }))
                if wide < WIDTHS[WIDTHS.len() - 1] => {}
            Err(Stop::Error(error)) => return Err(error),
            Err(Stop::Refused(why)) => return Ok(Closed::refused(why)),
            Err(Stop::Stale) => unreachable!("the search begins again then"),
            Ok(closed) => return Ok(closed),
        }
    }
    unreachable!("the last width is the last attempt")
}

#[cfg(test)]
mod tests;
