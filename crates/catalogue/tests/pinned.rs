//! Every algorithm, by its pinned facts: one set of tests for each.
//!
//! | test | shows |
//! |---|---|
//! | `checks` | the pinned numbers of states, everything as claimed: without failures, with crashes, deaths, aborts, on safe registers, on total store order |
//! | `counterexamples` | each failure, by the execution that is printed |
//! | `remote` | the worst remote memory references, and that they are bounded where the catalogue says so |
//! | `fences` | a claim fails without any one of the fences |
//! | `long` | the checks that are too long for every test run: `scripts/test-long` |
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

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

/// Every fence of the file that the checks are about is met, and needed.
fn fences_are_needed(about: &'static About) {
    let fences = pinned::fences(about).unwrap();
    for (fence, is_needed) in &fences {
        assert!(is_needed, "{}: no claim fails without the fence at {fence}", about.name);
    }
    let written: usize = files_with_shown_fences(about).iter().map(|file| written_fences(file)).sum();
    assert_eq!(fences.len(), written, "{}: a fence of the source is not met", about.name);
}

/// The files whose fences the checks of an algorithm are about.
fn files_with_shown_fences(about: &About) -> BTreeSet<String> {
    let file = |pinned: &Pinned| match pinned.finds {
        Finds::FencesNeeded { file, .. } => Some(file.map_or(about.name.replace('-', "_"), str::to_string)),
        _ => None,
    };
    about.pinned.iter().filter_map(file).collect()
}

/// The sources of the algorithms.
fn sources() -> impl Iterator<Item = PathBuf> {
    let folders = ["mutex", "kexclusion", "parts", "broken", "blocks"];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../algorithms/src");
    folders
        .into_iter()
        .flat_map(move |folder| fs::read_dir(root.join(folder)).unwrap())
        .map(|file| file.unwrap().path())
}

/// The number of fences and barriers in the source file of this name.
fn written_fences(name: &str) -> usize {
    let path = sources().find(|path| path.file_stem().is_some_and(|stem| stem == name)).expect("the file exists");
    let source = fs::read_to_string(path).unwrap();
    source.matches(".fence()").count() + source.matches(".barrier()").count()
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

/// Locks whose searches with store buffers are too large; `LIMITS.md` says what stands for them.
const TOO_LARGE_FOR_STORE_BUFFERS: [&str; 3] = ["danek-golab", "danek-golab-adaptive", "afek-no-e"];

/// Each condition that an algorithm tolerates is checked, at least by a long test; crashes are checked by
/// `locks_survive_exactly_as_many_crashes_as_claimed`. A lock without a check on total store order could have a fence too
/// few.
#[test]
fn every_condition_that_is_tolerated_is_checked() {
    for about in registry::all() {
        assert!(about.kind == Kind::Part || about.tolerates(Condition::Tso), "{}", about.name);
        for &condition in about.tolerates.iter().filter(|&&condition| condition != Condition::Crashes) {
            let is_checked = about.pinned.iter().any(|pinned| pinned.under.contains(&condition));
            let is_too_large = condition == Condition::Tso && TOO_LARGE_FOR_STORE_BUFFERS.contains(&about.name);
            assert_eq!(is_checked, !is_too_large, "{} {condition}", about.name);
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

/// Every fence in the sources is in a file whose fences a check is about.
#[test]
fn every_fence_in_the_sources_is_shown_to_be_needed() {
    let shown: BTreeSet<String> = registry::all().iter().flat_map(|about| files_with_shown_fences(about)).collect();
    let names = sources().map(|path| path.file_stem().unwrap().to_str().unwrap().to_string());
    let fenced: BTreeSet<String> = names.filter(|name| written_fences(name) > 0).collect();
    assert_eq!(shown, fenced);
}
