//! The one list of algorithms.
use alloc::{borrow::ToOwned, string::String, vec::Vec};
use core::{error, fmt};

use doorway_memory::{Exclusion, Part, Space};

use crate::{About, Size};

/// Something to do with any algorithm, whatever its type.
///
/// ```
/// use doorway_algorithms::{About, Size, registry::{self, Visitor}};
/// use doorway_memory::{Exclusion, Part, Solo};
///
/// /// Goes through a lock once, alone, as process 0.
/// struct Passage;
/// impl Visitor for Passage {
///     type Space = Solo;
///     type Output = &'static str;
///     fn exclusion<A: Exclusion<Solo>>(
///         self,
///         about: &'static About,
///         _: Size,
///         make: impl Fn(&mut Solo) -> A,
///     ) -> &'static str {
///         let mut solo = Solo::new();
///         let lock = make(&mut solo);
///         let Ok(place) = lock.doorway(&mut solo, 0);
///         let Ok(place) = lock.enter(&mut solo, 0, &place);
///         let Ok(()) = lock.exit(&mut solo, 0, &place);
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
    /// Where the algorithm's registers come from.
    ///
    /// ```
    /// # use doorway_algorithms::registry::Visitor;
    /// # use doorway_memory::Space;
    /// fn flag<V: Visitor>(space: &mut V::Space) { space.shared("flag", false); }
    /// ```
    type Space: Space;

    /// What comes of the visit.
    ///
    /// ```
    /// # use doorway_algorithms::registry::Visitor;
    /// fn first<V: Visitor>(outputs: Vec<V::Output>) -> Option<V::Output> { outputs.into_iter().next() }
    /// ```
    type Output;

    /// Called for mutual exclusion and k-exclusion; `make` makes the algorithm for `size`.
    ///
    /// See the [trait's example](Visitor).
    fn exclusion<A: Exclusion<<Self::Space as Space>::Mem>>(
        self,
        about: &'static About,
        size: Size,
        make: impl Fn(&mut Self::Space) -> A,
    ) -> Self::Output;

    /// Called for a part.
    ///
    /// See the [trait's example](Visitor).
    fn part<A: Part<<Self::Space as Space>::Mem>>(
        self,
        about: &'static About,
        size: Size,
        make: impl Fn(&mut Self::Space) -> A,
    ) -> Self::Output;
}

macro_rules! catalogue {
    ($($kind:ident $folder:ident::$file:ident |$space:ident, $size:ident| $make:expr;)*) => {
        /// Every algorithm, in the order tables show them.
        ///
        /// ```
        /// use doorway_algorithms::registry;
        /// assert!(registry::all().iter().any(|about| about.name == "bakery"));
        /// ```
        #[must_use]
        pub fn all() -> &'static [&'static About] {
            &[$(&crate::$folder::$file::ABOUT),*]
        }

        /// Takes a visitor to an algorithm.
        ///
        /// # Panics
        /// When `about` is not one of [`all`].
        ///
        /// See the [example of `Visitor`](Visitor).
        pub fn visit<V: Visitor>(about: &'static About, size: Size, visitor: V) -> V::Output {
            $(
                if about.name == crate::$folder::$file::ABOUT.name {
                    use crate::$folder::$file::*;
                    let $size = size;
                    return visitor.$kind(about, $size, move |$space: &mut V::Space| $make);
                }
            )*
            panic!("`{}` is not in the catalogue", about.name)
        }

        #[cfg(test)]
        const FILES: &[&str] = &[$(stringify!($file)),*];
    };
}

catalogue! {
    exclusion broken::lock_one           |space, size| LockOne::new(space);
    exclusion broken::lock_two           |space, size| LockTwo::new(space);
    exclusion mutex::peterson            |space, size| Peterson::new(space);
    exclusion broken::peterson_polite    |space, size| PetersonPolite::new(space);
    exclusion broken::livelock           |space, size| Livelock::new(space);
    exclusion mutex::filter              |space, size| Filter::new(space, size.n);
    exclusion mutex::bakery_labels       |space, size| BakeryLabels::new(space, size.n);
    exclusion mutex::bakery              |space, size| Bakery::new(space, size.n);
    exclusion broken::bakery_reaped      |space, size| BakeryReaped::new(space, size.n);
    exclusion broken::flaky              |space, size| Flaky::new(space);
    exclusion mutex::peterson_tree       |space, size| PetersonTree::new(space, size.n);
    exclusion mutex::tournament          |space, size| Tournament::new(space, size.n);
    exclusion broken::fast_path          |space, size| FastPath::new(space);
    exclusion mutex::one_bit             |space, size| OneBit::new(space, size.n);
    exclusion broken::one_register       |space, size| OneRegister::new(space);
    exclusion broken::two_registers      |space, size| TwoRegisters::new(space);
    exclusion mutex::dijkstra            |space, size| Dijkstra::new(space, size.n);
    exclusion mutex::lamport_fast        |space, size| LamportFast::new(space, size.n);
    exclusion mutex::black_white_bakery  |space, size| BlackWhiteBakery::new(space, size.n);
    exclusion mutex::yang_anderson       |space, size| YangAnderson::new(space, size.n);
    exclusion mutex::kim_anderson        |space, size| KimAnderson::new(space, size.n);
    exclusion mutex::danek_golab         |space, size| danek_golab(space, size.n);
    exclusion mutex::danek_golab_adaptive |space, size| danek_golab(space, size.n);
    exclusion mutex::danek_golab_simple  |space, size| danek_golab(space, size.n);
    exclusion mutex::danek_golab_yang_anderson |space, size| danek_golab(space, size.n);
    exclusion broken::danek_golab_no_dummy |space, size| danek_golab(space, size.n);
    exclusion mutex::jayanti_f_array     |space, size| JayantiFArray::new(space, size.n);
    exclusion mutex::jayanti_f_array_adaptive |space, size| jayanti_f_array(space, size.n);
    exclusion broken::jayanti_f_array_single_refresh |space, size| jayanti_f_array(space, size.n);
    exclusion mutex::mcs                 |space, size| Mcs::new(space, size.n);
    exclusion mutex::ticket              |space, size| Ticket::new(space);
    exclusion mutex::ticket_sleeping     |space, size| TicketSleeping::new(space, size.n);
    exclusion mutex::anderson_array      |space, size| AndersonArray::new(space, size.n);
    exclusion kexclusion::k_bakery       |space, size| KBakery::new(space, size.n, size.k);
    exclusion kexclusion::k_bakery_fife  |space, size| KBakeryFife::new(space, size.n, size.k);
    exclusion kexclusion::k_bakery_safe  |space, size| KBakerySafe::new(space, size.n, size.k);
    exclusion broken::k_bakery_no_announce |space, size| KBakeryNoAnnounce::new(space, size.n, size.k);
    exclusion broken::k_bakery_half_reaped |space, size| KBakeryHalfReaped::new(space, size.n, size.k);
    exclusion broken::k_bakery_fife_reset |space, size| KBakeryFifeReset::new(space, size.n, size.k);
    exclusion kexclusion::log_k          |space, size| LogK::new(space, size.n, size.k);
    exclusion kexclusion::log_k_wide     |space, size| LogK::wide(space, size.n, size.k);
    exclusion broken::log_k_printed      |space, size| LogKPrinted::new(space, size.n, size.k);
    exclusion broken::log_k_first_repair |space, size| LogKPrinted::with_first_repair(space, size.n, size.k);
    exclusion kexclusion::filter_k       |space, size| FilterK::new(space, size.n, size.k);
    exclusion kexclusion::fischer_queue  |space, size| FischerQueue::new(space, size.n, size.k);
    exclusion kexclusion::colored_ticket |space, size| ColoredTicket::new(space, size.n, size.k);
    exclusion broken::colored_ticket_k_colours |space, size| colored_ticket(space, size.n, size.k);
    exclusion kexclusion::gottlieb       |space, size| Gottlieb::new(space, size.k);
    exclusion kexclusion::ticket_k       |space, size| TicketK::new(space, size.k);
    exclusion kexclusion::anderson_moir  |space, size| AndersonMoir::new(space, size.n, size.k);
    exclusion kexclusion::anderson_moir_tree |space, size| AndersonMoirTree::new(space, size.n, size.k);
    exclusion kexclusion::anderson_moir_fast |space, size| AndersonMoirFast::new(space, size.n, size.k);
    exclusion kexclusion::anderson_moir_adaptive |space, size| AndersonMoirAdaptive::new(space, size.n, size.k);
    exclusion kexclusion::anderson_moir_dsm |space, size| AndersonMoirDsm::new(space, size.n, size.k);
    exclusion kexclusion::anderson_moir_dsm_tree |space, size| AndersonMoirDsmTree::new(space, size.n, size.k);
    exclusion kexclusion::anderson_moir_dsm_adaptive |space, size| AndersonMoirDsmAdaptive::new(space, size.n, size.k);
    exclusion broken::anderson_moir_dsm_late |space, size| AndersonMoirDsmLate::new(space, size.n, size.k);
    exclusion kexclusion::danek_lee      |space, size| DanekLee::new(space, size.n, size.k);
    exclusion kexclusion::decker_jayanti |space, size| DeckerJayanti::new(space, size.n, size.k);
    exclusion broken::decker_jayanti_descending |space, size| DeckerJayantiDescending::new(space, size.n, size.k);
    exclusion kexclusion::decker_jayanti_names |space, size| DeckerJayantiNames::new(space, size.n, size.k);
    exclusion broken::decker_jayanti_names_read |space, size| decker_jayanti_names(space, size.n, size.k);
    exclusion kexclusion::afek           |space, size| Afek::new(space, size.n, size.k);
    exclusion broken::afek_no_e          |space, size| AfekNoE::new(space, size.n, size.k);
    exclusion kexclusion::burns_peterson |space, size| BurnsPeterson::new(space, size.n, size.k);
    exclusion kexclusion::dolev_gafni_shavit |space, size| DolevGafniShavit::new(space, size.n, size.k);
    exclusion broken::dolev_gafni_shavit_single |space, size| DolevGafniShavitSingle::new(space, size.n, size.k);
    part parts::bouncer                  |space, size| Bouncer::new(space);
    part parts::renaming                 |space, size| Renaming::new(space, size.n);
    part parts::renaming_tree            |space, size| renaming_tree(space, size.n);
    part parts::timestamps               |space, size| InSequence::new(space, size.n);
    part broken::timestamps_concurrent   |space, size| Timestamps::new(space, size.n);
    part parts::special_set              |space, size| special_set(space, size.n);
    part parts::special_set_adaptive     |space, size| special_set(space, size.n);
    part parts::ticket_dispenser         |space, size| ticket_dispenser(space, size.n);
    part broken::special_set_verbatim    |space, size| special_set(space, size.n);
    part broken::special_set_not_self    |space, size| special_set(space, size.n);
}

/// The algorithm of that name, or alias. Upper case counts as lower, and an underscore as a dash.
///
/// # Errors
/// When there is none, with the nearest name if one is near.
///
/// ```
/// use doorway_algorithms::registry::find;
/// assert_eq!(find("peterson")?.name, "peterson");
/// assert_eq!(find("Lamport1974")?.name, "bakery");
/// let unknown = find("petersen").unwrap_err();
/// assert_eq!(unknown.to_string(), "no algorithm is called `petersen`; did you mean `peterson`?");
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

/// A name that no algorithm has.
///
/// ```
/// let unknown = doorway_algorithms::registry::find("sieve").unwrap_err();
/// assert_eq!(unknown.to_string(), "no algorithm is called `sieve`; `doorway list` shows them all");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Unknown {
    name: String,
    near: Option<&'static str>,
}

impl error::Error for Unknown {}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no algorithm is called `{}`; ", self.name)?;
        match self.near {
            Some(near) => write!(f, "did you mean `{near}`?"),
            None => f.write_str("`doorway list` shows them all"),
        }
    }
}

fn names(about: &'static About) -> impl Iterator<Item = &'static str> {
    core::iter::once(about.name).chain(about.aliases.iter().copied())
}

/// How many characters must be inserted, deleted or replaced to make one text of the other (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    // row[j] is the distance from what we have seen of `a` to the first j characters of `b`.
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
    use crate::{Claim, Kind, Processes};

    #[test]
    fn no_name_or_alias_is_used_twice() {
        let mut seen = BTreeSet::new();
        for name in all().iter().flat_map(|about| names(about)) {
            assert!(seen.insert(name), "{name} is used twice");
            assert_eq!(name, name.to_lowercase().replace('_', "-"), "{name} cannot be found");
        }
    }

    #[test]
    fn an_algorithm_is_named_like_its_file() {
        let files: Vec<_> = FILES.iter().map(|file| file.replace('_', "-")).collect();
        let names: Vec<_> = all().iter().map(|about| about.name).collect();
        assert_eq!(names, files);
    }

    #[test]
    fn every_about_is_complete() {
        for about in all() {
            let name = about.name;
            assert!(!about.title.is_empty() && !about.source.is_empty(), "{name} has no title or source");
            assert!(!about.primitives.is_empty(), "{name} names no primitives");
            assert!(about.size(None, None).is_ok(), "{name} is not for its default n");
            match about.processes {
                Processes::Exactly(n) => assert_eq!(about.default_n, n, "{name}"),
                Processes::AtLeast(n) => assert!(about.default_n >= n, "{name}"),
                Processes::Between(least, most) => assert!((least..=most).contains(&about.default_n), "{name}"),
            }
            let essential = if about.kind == Kind::Part { Property::Rule } else { Property::Exclusion };
            assert_ne!(about.holds(essential), about.fails(essential), "{name} must claim {essential} or its failure");
            assert!(!about.sequential || about.kind == Kind::Part, "{name} is a lock and cannot be sequential");
        }
    }

    #[test]
    fn claims_are_about_what_they_can_be_and_do_not_contradict_one_another() {
        for about in all() {
            let properties: &[Property] =
                if about.kind == Kind::Part { &Property::OF_PARTS } else { &Property::OF_ASSIGNING_LOCKS };
            let mut seen = BTreeSet::new();
            for claim in about.claims {
                let property = match *claim {
                    Claim::Holds(property) | Claim::Fails(property) => property,
                    Claim::Bypass(_) | Claim::Entries(_) => Property::Bypass,
                    Claim::Crashes | Claim::SafeRegisters | Claim::Deaths | Claim::Abandons => continue,
                    Claim::FailsWithDeaths(property) => {
                        assert!(!about.claims.contains(&Claim::Deaths), "{} contradicts itself", about.name);
                        assert!(properties.contains(&property), "{} claims {claim}", about.name);
                        continue;
                    }
                };
                assert!(properties.contains(&property), "{} claims {claim}", about.name);
                assert!(seen.insert(property), "{} says two things about {property}", about.name);
            }
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
    fn a_near_miss_is_answered_with_a_name_and_a_far_one_with_the_list() {
        let message = |name: &str| find(name).unwrap_err().to_string();
        assert_eq!(message("petersen"), "no algorithm is called `petersen`; did you mean `peterson`?");
        assert_eq!(message("Bakry"), "no algorithm is called `Bakry`; did you mean `bakery`?");
        assert_eq!(message("semaphore"), "no algorithm is called `semaphore`; `doorway list` shows them all");
        assert_eq!(message(""), "no algorithm is called ``; `doorway list` shows them all");
    }

    #[test]
    fn distances_are_the_least_number_of_edits() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("filter", "filter"), 0);
    }
}
