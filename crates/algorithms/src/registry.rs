//! The registry: the list of all algorithms.
use alloc::{borrow::ToOwned, string::String, vec::Vec};
use core::{error, fmt};

use doorway_memory::{Exclusion, Part, Space};

use crate::{About, Size};

/// An operation on an algorithm of any type; see [`visit`].
///
/// ```
/// use doorway_algorithms::{About, Size, registry::{self, Visitor}};
/// use doorway_memory::{Exclusion, Part, Solo};
///
/// /// Makes one uncontended passage as process 0.
/// struct Passage;
/// impl Visitor for Passage {
///     type Space = Solo;
///     type Output = &'static str;
///     fn lock<A: Exclusion<Solo>>(
///         self,
///         about: &'static About,
///         _: Size,
///         make: impl Fn(&mut Solo) -> A,
///     ) -> &'static str {
///         let mut solo = Solo::new();
///         let lock = make(&mut solo);
///         let Ok(place) = lock.doorway(&mut solo, 0);
///         let Ok(inside) = lock.wait(&mut solo, 0, &place);
///         let Ok(()) = lock.exit(&mut solo, 0, &inside);
///         about.title
///     }
///     fn part<A: Part<Solo>>(self, about: &'static About, _: Size, _: impl Fn(&mut Solo) -> A) -> &'static str {
///         about.title
///     }
/// }
///
/// let about = registry::find("bakery")?;
/// assert_eq!(registry::visit(about, about.size(None, None)?, Passage), "Lamport's bakery");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Visitor {
    /// The space in which the algorithm's registers are allocated.
    ///
    /// See the [trait's example](Visitor).
    type Space: Space;

    /// The result of the visit.
    ///
    /// See the [trait's example](Visitor).
    type Output;

    /// Visits a lock, for mutual exclusion or k-exclusion; `make` builds it for `size`.
    ///
    /// See the [trait's example](Visitor).
    fn lock<A: Exclusion<<Self::Space as Space>::Mem> + 'static>(
        self,
        about: &'static About,
        size: Size,
        make: impl Fn(&mut Self::Space) -> A,
    ) -> Self::Output;

    /// Visits a part; `make` builds it for `size`.
    ///
    /// See the [trait's example](Visitor).
    fn part<A: Part<<Self::Space as Space>::Mem> + 'static>(
        self,
        about: &'static About,
        size: Size,
        make: impl Fn(&mut Self::Space) -> A,
    ) -> Self::Output;
}

macro_rules! registry {
    ($($(#[$_:meta])* $folder:ident { $($kind:ident $file:ident $name:ident;)* })*) => {
        /// Every algorithm, in the order in which tables show them.
        ///
        /// ```
        /// use doorway_algorithms::registry;
        /// assert!(registry::all().iter().any(|about| about.name == "bakery"));
        /// ```
        #[must_use]
        pub fn all() -> &'static [&'static About] {
            &[$($(&crate::$folder::$file::ABOUT),*),*]
        }

        /// Calls the visitor with an algorithm.
        ///
        /// # Panics
        /// If `about` is not one of [`all`].
        ///
        /// See the [example of `Visitor`](Visitor).
        pub fn visit<V: Visitor>(about: &'static About, size: Size, visitor: V) -> V::Output {
            $($(
                if about.name == crate::$folder::$file::ABOUT.name {
                    return visitor.$kind(about, size, move |space| crate::$folder::$file::new(space, size));
                }
            )*)*
            panic!("`{}` is not in the catalogue", about.name)
        }

        /// The file of an algorithm: the source's pseudocode in its first comment, claims and code.
        ///
        /// ```
        /// use doorway_algorithms::{mutex::peterson, registry};
        /// assert!(registry::file(&peterson::ABOUT).starts_with("//! Peterson's lock."));
        /// ```
        ///
        /// # Panics
        /// If `about` is not one of [`all`].
        #[must_use]
        pub fn file(about: &About) -> &'static str {
            $($(
                if about.name == crate::$folder::$file::ABOUT.name {
                    return include_str!(concat!(stringify!($folder), "/", stringify!($file), ".rs"));
                }
            )*)*
            panic!("`{}` is not in the catalogue", about.name)
        }

        #[cfg(test)]
        const FILES: &[(&str, &str)] = &[$($((stringify!($folder), stringify!($file))),*),*];
    };
}

crate::for_each_algorithm!(registry);

/// Finds an algorithm by name or alias, ignoring case and treating an underscore as a dash.
///
/// # Errors
/// If there is no such algorithm; the error knows the nearest name, if one is near.
///
/// ```
/// use doorway_algorithms::registry::find;
/// assert_eq!(find("peterson")?.name, "peterson");
/// assert_eq!(find("Lamport1974")?.name, "bakery");
/// let unknown = find("petersen").unwrap_err();
/// assert_eq!((unknown.to_string(), unknown.near()), ("no algorithm is called `petersen`".to_string(), Some("peterson")));
/// # Ok::<(), doorway_algorithms::registry::Unknown>(())
/// ```
pub fn find(name: &str) -> Result<&'static About, Unknown> {
    let wanted = name.to_lowercase().replace('_', "-");
    let known = || all().iter().flat_map(|about| names(about).map(|name| (name, *about)));
    if let Some((_, about)) = known().find(|&(name, _)| name == wanted) {
        return Ok(about);
    }
    let near = known()
        .map(|(name, _)| (distance(name, &wanted), name))
        .filter(|&(distance, name)| distance <= name.len() / 3)
        .min_by_key(|&(distance, _)| distance);
    Err(Unknown { name: name.to_owned(), near: near.map(|(_, name)| name) })
}

/// The error for a name that no algorithm has.
///
/// ```
/// let unknown = doorway_algorithms::registry::find("sieve").unwrap_err();
/// assert_eq!((unknown.to_string(), unknown.near()), ("no algorithm is called `sieve`".to_string(), None));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Unknown {
    name: String,
    near: Option<&'static str>,
}

impl Unknown {
    /// The nearest name, if one is near.
    ///
    /// See the [example of `find`](find).
    #[must_use]
    pub fn near(&self) -> Option<&'static str> {
        self.near
    }
}

impl error::Error for Unknown {}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no algorithm is called `{}`", self.name)
    }
}

fn names(about: &'static About) -> impl Iterator<Item = &'static str> {
    core::iter::once(about.name).chain(about.aliases.iter().copied())
}

/// The Levenshtein distance: the least number of insertions, deletions and replacements that turn `a` into `b`.
fn distance(a: &str, b: &str) -> usize {
    // row[j] is the distance from the processed prefix of `a` to the first j characters of `b`.
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = core::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.chars().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[row.len() - 1]
}

#[cfg(test)]
mod tests {
    use alloc::{collections::BTreeSet, string::ToString};

    use doorway_memory::Property;

    use super::*;
    use crate::{Claim, Finds, Kind, Pinned, Processes, Status};

    #[test]
    fn names_and_aliases_are_unique() {
        let mut seen = BTreeSet::new();
        for name in all().iter().flat_map(|about| names(about)) {
            assert!(seen.insert(name), "{name} is used twice");
            assert_eq!(name, name.to_lowercase().replace('_', "-"), "{name} cannot be found");
        }
    }

    #[test]
    fn algorithms_are_named_after_their_files() {
        let files: Vec<_> = FILES.iter().map(|(_, file)| file.replace('_', "-")).collect();
        let names: Vec<_> = all().iter().map(|about| about.name).collect();
        assert_eq!(names, files);
    }

    #[test]
    fn algorithms_are_in_the_folder_of_their_kind() {
        for (about, (folder, _)) in all().iter().zip(FILES) {
            let expected = match (about.status(), about.kind) {
                (Status::Broken(_), _) => "broken",
                (_, Kind::Mutex) => "mutex",
                (_, Kind::KExclusion) => "kexclusion",
                (_, Kind::Part) => "parts",
            };
            assert_eq!(*folder, expected, "{}", about.name);
        }
    }

    #[test]
    fn every_entry_is_complete() {
        for about in all() {
            let name = about.name;
            assert!(!about.title.is_empty() && !about.source.is_empty(), "{name} has no title or source");
            assert!(!about.primitives.is_empty(), "{name} lists no primitives");
            assert!(about.size(None, None).is_ok(), "{name} does not support its default n");
            match about.processes {
                Processes::Exactly(n) => assert_eq!(about.default_n, n, "{name}"),
                Processes::AtLeast(n) | Processes::Queued(n) => assert!(about.default_n >= n, "{name}"),
                Processes::Between(least, most) => assert!((least..=most).contains(&about.default_n), "{name}"),
            }
            let essential = if about.kind == Kind::Part { Property::Rule } else { Property::Exclusion };
            assert_ne!(about.holds(essential), about.lacks(essential), "{name} must claim {essential} or its failure");
            assert!(!about.sequential || about.kind == Kind::Part, "{name} is a lock and cannot be sequential");
            assert_eq!(about.defect.is_empty(), about.status() == Status::Correct, "{name} must say why it is broken");
        }
    }

    #[test]
    fn claims_are_applicable_and_consistent() {
        for about in all() {
            let properties: &[Property] =
                if about.kind == Kind::Part { &Property::OF_PARTS } else { &Property::OF_FENCED_LOCKS };
            let mut seen = BTreeSet::new();
            for claim in about.claims {
                assert!(properties.contains(&claim.property), "{} claims {claim}", about.name);
                assert!(
                    seen.insert((claim.property, claim.under)),
                    "{} has two claims about {}",
                    about.name,
                    claim.property
                );
                // A claim about conditions that are tolerated is an exception to one without conditions.
                let is_same = |other: &Claim| {
                    other.under.is_empty() && (other.property, other.claimed) == (claim.property, claim.claimed)
                };
                let is_exception = claim.under.is_empty() || !about.claims.iter().any(is_same);
                assert!(is_exception, "{} claims twice: {claim}", about.name);
            }
        }
    }

    /// What the tests of `doorway-catalogue` check at least, of every algorithm.
    #[test]
    fn the_default_size_is_pinned() {
        for about in all() {
            let at_default = |pinned: &&Pinned| pinned.n == about.default_n;
            let mut checks = about.pinned.iter().filter(at_default);
            assert!(checks.any(|pinned| matches!(pinned.finds, Finds::States(_))), "{}", about.name);
            let refutes = |pinned: &&Pinned| matches!(pinned.finds, Finds::Counterexample(..));
            let is_shown = about.pinned.iter().any(|pinned| refutes(&pinned));
            assert!(about.status() == Status::Correct || is_shown, "{} has no counterexample", about.name);
        }
    }

    #[test]
    fn algorithms_are_found_by_name_and_alias() {
        for about in all() {
            for name in names(about) {
                assert_eq!(find(name).unwrap().name, about.name);
                assert_eq!(find(&name.to_uppercase().replace('-', "_")).unwrap().name, about.name);
            }
        }
    }

    #[test]
    fn unknown_names_know_the_nearest_name() {
        let near = |name: &str| find(name).unwrap_err().near();
        assert_eq!(near("petersen"), Some("peterson"));
        assert_eq!(near("Bakry"), Some("bakery"));
        assert_eq!((near("semaphore"), near("")), (None, None));
        assert_eq!(find("Bakry").unwrap_err().to_string(), "no algorithm is called `Bakry`");
    }

    #[test]
    fn distance_is_the_least_number_of_edits() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("filter", "filter"), 0);
    }
}
