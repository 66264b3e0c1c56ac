//! Every algorithm, by its pinned facts: one set of tests for each.
//!
//! | test | shows |
//! |---|---|
//! | `checks` | the pinned numbers of states, everything as claimed: without failures, with crashes, deaths, aborts, on safe registers, on total store order |
//! | `counterexamples` | each failure, by the execution that is printed |
//! | `remote` | the worst remote memory references, and that they are bounded where the catalogue says so |
//! | `fences` | a claim fails without any one of the fences |
//! | `long` | the checks that are too long for every test run: `scripts/test-long` |
use std::{collections::BTreeSet, fs, path::Path};

use doorway_algorithms::{About, Condition, Finds, Kind, LocalSpin, Pinned, Survey, for_each_algorithm, registry};
use doorway_catalogue::pinned;

/// Runs the checks that are wanted again.
fn recheck(about: &'static About, wanted: impl Fn(&Pinned) -> bool) {
    for pinned in about.pinned.iter().filter(|pinned| wanted(pinned)) {
        pinned::recheck(about, pinned).unwrap_or_else(|difference| panic!("{difference}"));
    }
}

fn is_check(pinned: &Pinned) -> bool {
    matches!(pinned.finds, Finds::States(_) | Finds::Fenced(..))
}

fn is_counterexample(pinned: &Pinned) -> bool {
    matches!(pinned.finds, Finds::Counterexample(..))
}

fn is_remote(pinned: &Pinned) -> bool {
    matches!(pinned.finds, Finds::Remote(..))
}

fn fences_are_needed(about: &'static About) {
    for (fence, is_needed) in pinned::fences(about).unwrap() {
        assert!(is_needed, "{}: no claim fails without the fence at {fence}", about.name);
    }
}

macro_rules! tests {
    ($($(#[$_:meta])* $folder:ident { $($kind:ident $file:ident $name:ident;)* })*) => {$($(
        mod $file {
            use doorway_algorithms::$folder::$file::ABOUT;

            use super::*;

            #[test]
            fn checks() {
                recheck(&ABOUT, |pinned| is_check(pinned) && !pinned.is_long());
            }

            #[test]
            fn counterexamples() {
                recheck(&ABOUT, |pinned| is_counterexample(pinned) && !pinned.is_long());
            }

            #[test]
            fn remote() {
                recheck(&ABOUT, |pinned| is_remote(pinned) && !pinned.is_long());
            }

            #[test]
            fn fences() {
                fences_are_needed(&ABOUT);
            }

            #[test]
            #[ignore = "the time stands beside each pinned check"]
            fn long() {
                recheck(&ABOUT, Pinned::is_long);
            }
        }
    )*)*};
}

for_each_algorithm!(tests);

/// A lock without a check on total store order could have a fence too few.
#[test]
fn every_lock_is_checked_with_store_buffers() {
    // Their searches with store buffers are too large.
    let too_large = ["danek-golab", "danek-golab-adaptive", "afek-no-e"];
    for about in registry::all().iter().filter(|about| about.kind != Kind::Part) {
        let is_checked = about.pinned.iter().any(|pinned| pinned.under.contains(&Condition::Tso));
        assert_eq!(is_checked, !too_large.contains(&about.name), "{}", about.name);
    }
}

/// Each condition that an algorithm tolerates is checked, at least by a long test.
#[test]
fn every_condition_that_is_tolerated_is_checked() {
    for about in registry::all() {
        for condition in about.tolerates.iter().filter(|&&condition| condition != Condition::Crashes) {
            let is_checked = about.pinned.iter().any(|pinned| pinned.under.contains(condition));
            let too_large = ["danek-golab", "danek-golab-adaptive", "afek-no-e"].contains(&about.name);
            assert!(is_checked || too_large, "{} {condition}", about.name);
        }
    }
}

/// What the catalogue says about local spinning is pinned with numbers.
#[test]
fn every_lock_that_says_whether_it_spins_locally_has_pinned_numbers() {
    for about in registry::all().iter().filter(|about| about.survey != Survey::LeftOut) {
        let Some(said) = about.local_spin else { continue };
        let bounded = |pinned: &Pinned| match pinned.finds {
            Finds::Remote(cc, dsm) => Some(LocalSpin { cc: cc.is_some(), dsm: dsm.is_some() }),
            _ => None,
        };
        let found: Vec<LocalSpin> = about.pinned.iter().filter_map(bounded).collect();
        assert!(!found.is_empty() && found.iter().all(|&spin| spin == said), "{}: {found:?}", about.name);
    }
}

/// Every fence in the sources is one that a check is about.
#[test]
fn every_fence_in_the_sources_is_shown_to_be_needed() {
    let mut shown = BTreeSet::new();
    for about in registry::all() {
        for pinned in about.pinned {
            if let Finds::FencesNeeded { file, .. } = pinned.finds {
                shown.insert(file.map_or(about.name.replace('-', "_"), str::to_string));
            }
        }
    }
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../algorithms/src");
    let folders = ["mutex", "kexclusion", "parts", "broken", "blocks"].map(|folder| sources.join(folder));
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap()).map(|file| file.unwrap().path());
    let has_fence = |file: &std::path::PathBuf| fs::read_to_string(file).unwrap().contains(".fence()");
    let fenced: BTreeSet<String> =
        files.filter(has_fence).map(|file| file.file_stem().unwrap().to_str().unwrap().to_string()).collect();
    assert_eq!(shown, fenced);
}
