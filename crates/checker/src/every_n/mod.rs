//! Exclusion for every number of processes at once, by view abstraction.
//!
//! After P. A. Abdulla, F. Haziza, L. Holík, *All for the price of few*, 2013. A *view* of a state is what is left of it
//! if all but m processes are forgotten: the registers, and the local states of these m, with their tickets renumbered.
//! The search keeps a set of views and closes it under steps. Either a process of the view takes a step; or another
//! process does, of which the view does not tell. For that, every process that fits is added to the view: one with
//! which all views of these m + 1 processes are in the set.
//!
//! By induction, the views of every reachable state of any number of processes are in the set at the end. So if none of
//! them has more than k holders, no reachable state has: k + 1 holders would be in one of its views, as m > k. The
//! converse does not hold: a set may have views of no reachable state. Then nothing is decided.
//!
//! The argument needs that processes are all alike, that no register belongs to one process, and that neither
//! registers nor steps depend on the number of processes. What is not so is refused: see [`every_n`].
//!
//! `views.rs` has the views and their steps; docs/every-n.md has the argument at length, and what is said here of registers
//! whose values would grow with the number of processes.
mod views;

use std::fmt;

use doorway_memory::Queue;

use crate::{Error, Subject, error::Fault, model::Model, symmetry, tickets::WIDTHS};
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

/// The numbers of processes for which an algorithm is made, besides the smallest ones: what depends on them shows.
const SIZES: [usize; 2] = [64, 1000];

/// The most views that are searched.
const LIMIT: usize = 2_000_000;

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
    let mut found = with_views_of(k, k + 1, &make, observer)?;
    if matches!(found.undecided, Some(Undecided::Crowded(_))) && k + 3 <= symmetry::MOST {
        // More precise, and larger.
        found = with_views_of(k, k + 2, &make, observer)?;
    }
    Ok(found)
}

fn with_views_of(
    k: usize,
    m: usize,
    make: &impl Fn(usize) -> Option<Subject>,
    observer: &mut dyn FnMut(usize) -> bool,
) -> Result<EveryN, Error> {
    let does_not_apply =
        |why: &str| Ok(EveryN { k, m, views: 0, undecided: Some(Undecided::DoesNotApply(why.to_string())) });
    if m + 1 > symmetry::MOST {
        return does_not_apply("views of so many processes are not searched");
    }
    let Some(subject) = make(m + 1) else { return does_not_apply("it is not made for so few processes") };
    // A queue in a word has room for a few processes only; other memories have no such limit.
    let sizes = if has_queue(&subject) { [m + 2, Queue::MOST, Queue::MOST] } else { [m + 2, SIZES[0], SIZES[1]] };
    let Some(others) = sizes.into_iter().map(make).collect::<Option<Vec<Subject>>>() else {
        return does_not_apply("it is not made for every number of processes");
    };
    if subject.program.is_part() || !subject.program.is_symmetric() && !has_queue(&subject) {
        return does_not_apply("its processes are not all alike: they use their numbers");
    }
    if others.iter().any(|other| !same_registers(&subject, other)) {
        return does_not_apply("its registers depend on the number of processes");
    }
    let (views, undecided) = closed(&subject, k, m, observer)?;
    for other in &others {
        if !views.is_alike(other)? {
            return does_not_apply("its steps depend on the number of processes");
        }
    }
    Ok(EveryN { k, m, views: views.len(), undecided })
}

fn has_queue(subject: &Subject) -> bool {
    subject.registers.of(&Model::new(1)).iter().any(|register| (register.kind.queue)(register.init).is_some())
}

fn same_registers(a: &Subject, b: &Subject) -> bool {
    let shape = |subject: &Subject| -> Vec<(String, u64)> {
        let registers = subject.registers.of(&Model::new(1));
        registers.iter().map(|register| (register.name.to_string(), register.init)).collect()
    };
    shape(a) == shape(b)
}

/// The set of views, closed under steps.
fn closed<'a>(
    subject: &'a Subject,
    k: usize,
    m: usize,
    observer: &mut dyn FnMut(usize) -> bool,
) -> Result<(Views<'a>, Option<Undecided>), Error> {
    for wide in WIDTHS {
        match Views::new(subject, k, m, wide)
            .and_then(|mut views| views.close(LIMIT, observer).map(|undecided| (views, undecided)))
        {
            Err(Error::Broken { fault: Fault::TicketArithmetic, .. }) if wide < WIDTHS[WIDTHS.len() - 1] => {}
            Err(error) => return Err(error),
            Ok(closed) => return Ok(closed),
        }
    }
    unreachable!("the last width is the last attempt")
}

#[cfg(test)]
mod tests;
