//! Pinned facts: checks of an algorithm and what they find, which tests run again.
use doorway_memory::Property;

use crate::Condition;

/// A check of an algorithm and what it finds.
///
/// A pinned number of states makes a search fail its test if it silently explores less.
///
/// ```
/// use doorway_algorithms::{Condition::Tso, Finds, pinned::at};
/// let pinned = at(3).k(2).passages(1).under(&[Tso]).finds(4_814).takes("30 s");
/// assert_eq!((pinned.n, pinned.k, pinned.is_long()), (3, Some(2), true));
/// assert_eq!(pinned.finds, Finds::States(4_814));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pinned {
    /// The number of processes.
    pub n: usize,
    /// The capacity; `None` for the default.
    pub k: Option<usize>,
    /// The executions that are looked at.
    pub extent: Extent,
    /// The number of processes that may crash.
    pub crashes: usize,
    /// Whether states that differ by a permutation of processes are counted as one.
    pub symmetric: bool,
    /// The conditions besides crashes.
    pub under: &'static [Condition],
    /// What the check finds.
    pub finds: Finds,
    /// The time and memory of a check that is too long for every test run.
    pub takes: Option<&'static str>,
}

/// The executions that a check looks at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// Those that a [survey](crate::Survey) looks at.
    Surveyed,
    /// All.
    Whole,
    /// Those in which each process makes at most this number of passages.
    Passages(u32),
    /// Those in which all processes together make at most this number of passages.
    InAll(u32),
}

/// What a check finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Finds {
    /// This number of states, and everything as claimed.
    States(u64),
    /// The same with store buffers, in executions that meet this number of fences.
    Fenced(u64, usize),
    /// An execution that shows that a property fails: the finding and the execution as they are printed, or the first
    /// line only.
    Counterexample(Property, &'static str),
    /// The worst remote memory references of a passage, in the CC and the DSM model; `None` if there is no bound.
    Remote(Option<u32>, Option<u32>),
    /// That a claim fails without one or several of the fences; see [`Pinned::needs_fences`].
    FencesNeeded {
        /// The file of the fences, without its folder and ending; `None` for the algorithm's own.
        file: Option<&'static str>,
        /// The properties that are looked at; all that are claimed if there are none.
        lost: &'static [Property],
    },
}

/// A check for `n` processes, to be completed.
///
/// See the [example of `Pinned`](Pinned).
#[must_use]
pub const fn at(n: usize) -> Pinned {
    Pinned {
        n,
        k: None,
        extent: Extent::Surveyed,
        crashes: 0,
        symmetric: false,
        under: &[],
        finds: Finds::States(0),
        takes: None,
    }
}

impl Pinned {
    /// With capacity `k`.
    ///
    /// See the [type's example](Pinned).
    #[must_use]
    pub const fn k(self, k: usize) -> Pinned {
        Pinned { k: Some(k), ..self }
    }

    /// With at most this number of passages of each process.
    ///
    /// See the [type's example](Pinned).
    #[must_use]
    pub const fn passages(self, passages: u32) -> Pinned {
        Pinned { extent: Extent::Passages(passages), ..self }
    }

    /// With at most this number of passages of all processes together.
    ///
    /// ```
    /// use doorway_algorithms::{Extent, pinned::at};
    /// assert_eq!(at(2).passages_in_all(5).extent, Extent::InAll(5));
    /// ```
    #[must_use]
    pub const fn passages_in_all(self, passages: u32) -> Pinned {
        Pinned { extent: Extent::InAll(passages), ..self }
    }

    /// With any number of passages, also of an algorithm of which a survey looks at a few only.
    ///
    /// ```
    /// use doorway_algorithms::{Extent, pinned::at};
    /// assert_eq!(at(2).whole().extent, Extent::Whole);
    /// ```
    #[must_use]
    pub const fn whole(self) -> Pinned {
        Pinned { extent: Extent::Whole, ..self }
    }

    /// With at most this number of crashes.
    ///
    /// ```
    /// assert_eq!(doorway_algorithms::pinned::at(3).crashes(1).crashes, 1);
    /// ```
    #[must_use]
    pub const fn crashes(self, crashes: usize) -> Pinned {
        Pinned { crashes, ..self }
    }

    /// With states that differ by a permutation of processes counted as one.
    ///
    /// ```
    /// assert!(doorway_algorithms::pinned::at(4).symmetric().symmetric);
    /// ```
    #[must_use]
    pub const fn symmetric(self) -> Pinned {
        Pinned { symmetric: true, ..self }
    }

    /// Under conditions; crashes are told by their [number](Pinned::crashes).
    ///
    /// See the [type's example](Pinned).
    #[must_use]
    pub const fn under(self, under: &'static [Condition]) -> Pinned {
        Pinned { under, ..self }
    }

    /// Finds this number of states, and everything as claimed.
    ///
    /// See the [type's example](Pinned).
    #[must_use]
    pub const fn finds(self, states: u64) -> Pinned {
        Pinned { finds: Finds::States(states), ..self }
    }

    /// Meets this number of fences, besides what it [finds](Pinned::finds).
    ///
    /// ```
    /// use doorway_algorithms::{Condition::Tso, Finds, pinned::at};
    /// assert_eq!(at(2).under(&[Tso]).finds(81).fences(1).finds, Finds::Fenced(81, 1));
    /// ```
    #[must_use]
    pub const fn fences(self, fences: usize) -> Pinned {
        let states = match self.finds {
            Finds::States(states) => states,
            _ => panic!("fences are counted in a check that finds states"),
        };
        Pinned { finds: Finds::Fenced(states, fences), ..self }
    }

    /// Finds a counterexample to a property: the finding and the execution, as they are printed.
    ///
    /// ```
    /// use doorway_algorithms::{Finds, broken::lock_two};
    /// let shown = lock_two::ABOUT.pinned.iter().filter(|pinned| matches!(pinned.finds, Finds::Counterexample(..)));
    /// assert_eq!(shown.count(), 1);
    /// ```
    #[must_use]
    pub const fn refutes(self, property: Property, execution: &'static str) -> Pinned {
        Pinned { finds: Finds::Counterexample(property, execution), ..self }
    }

    /// Finds the worst remote memory references of a passage, in the CC and the DSM model.
    ///
    /// ```
    /// use doorway_algorithms::{Finds, pinned::at};
    /// assert_eq!(at(2).remote(Some(6), None).finds, Finds::Remote(Some(6), None));
    /// ```
    #[must_use]
    pub const fn remote(self, cc: Option<u32>, dsm: Option<u32>) -> Pinned {
        Pinned { finds: Finds::Remote(cc, dsm), ..self }
    }

    /// Finds that fences of the algorithm's file are needed: with store buffers, a claim fails without them.
    ///
    /// All such checks of an algorithm together show this for every fence of the file.
    ///
    /// ```
    /// use doorway_algorithms::{Finds, pinned::at};
    /// assert_eq!(at(2).needs_fences().finds, Finds::FencesNeeded { file: None, lost: &[] });
    /// ```
    #[must_use]
    pub const fn needs_fences(self) -> Pinned {
        Pinned { finds: Finds::FencesNeeded { file: None, lost: &[] }, ..self }
    }

    /// Finds the same of the fences of another file, which the algorithm is built of.
    ///
    /// ```
    /// use doorway_algorithms::{Finds, pinned::at};
    /// assert_eq!(at(2).needs_fences_of("two_process").finds, Finds::FencesNeeded { file: Some("two_process"), lost: &[] });
    /// ```
    #[must_use]
    pub const fn needs_fences_of(self, file: &'static str) -> Pinned {
        Pinned { finds: Finds::FencesNeeded { file: Some(file), lost: &[] }, ..self }
    }

    /// Finds the same of the fences of the algorithm's file, without which one of these properties is lost.
    ///
    /// ```
    /// use doorway_algorithms::{Finds, pinned::at};
    /// use doorway_memory::Property::Fife;
    /// assert_eq!(at(4).needs_fences_for(&[Fife]).finds, Finds::FencesNeeded { file: None, lost: &[Fife] });
    /// ```
    #[must_use]
    pub const fn needs_fences_for(self, lost: &'static [Property]) -> Pinned {
        Pinned { finds: Finds::FencesNeeded { file: None, lost }, ..self }
    }

    /// Takes this time and memory, so that only the long tests run it.
    ///
    /// See the [type's example](Pinned).
    #[must_use]
    pub const fn takes(self, takes: &'static str) -> Pinned {
        Pinned { takes: Some(takes), ..self }
    }

    /// Whether only the long tests run it.
    ///
    /// See the [type's example](Pinned).
    #[must_use]
    pub const fn is_long(&self) -> bool {
        self.takes.is_some()
    }
}
