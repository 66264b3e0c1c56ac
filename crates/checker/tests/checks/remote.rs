//! Exact worst-case remote references, beside what the papers say.
use doorway_algorithms::{
    About, LocalSpin, Size, Survey,
    registry::{self, Visitor},
};
use doorway_checker::{Bound, Cost, Error, FailedCas, Model, Registers, RemoteReferences, View, remote_references};
use doorway_memory::{Exclusion, Part};

struct Measuring(Cost);

impl Visitor for Measuring {
    type Space = Registers;
    type Output = Result<RemoteReferences, Error>;

    fn exclusion<A: Exclusion<View>>(
        self,
        _: &'static About,
        size: Size,
        make: impl Fn(&mut Registers) -> A,
    ) -> Self::Output {
        remote_references(&Model::new(size.n).k(size.k), self.0, make)
    }

    fn part<A: Part<View>>(self, _: &'static About, _: Size, _: impl Fn(&mut Registers) -> A) -> Self::Output {
        unreachable!("a part has no passages")
    }
}

/// What the catalogue says of local spinning is what is found; the larger ones have their tests below.
#[test]
fn local_spinning_is_as_said() {
    let is_small =
        |about: &&&About| about.survey == Survey::Whole && !matches!(about.name, "k-bakery" | "yang-anderson");
    for about in registry::all().iter().filter(is_small) {
        let Some(said) = about.local_spin else { continue };
        let size = about.size(None, None).unwrap();
        let bounded = |cost| worst(about.name, size.n, size.k, cost).is_some();
        assert_eq!(LocalSpin { cc: bounded(CC), dsm: bounded(Cost::Dsm) }, said, "{}", about.name);
    }
}

const CC: Cost = Cost::Cc(FailedCas::Counts);

/// The worst passage, every bound met by a real run.
fn worst(name: &str, n: usize, k: usize, cost: Cost) -> Option<u32> {
    let about = registry::find(name).expect("it is in the catalogue");
    let found = registry::visit(about, Size { n, k }, Measuring(cost)).expect("it keeps the rules");
    assert!(found.is_exact(), "{name} n={n} k={k}: a bound is not met by a run");
    found.worst().number()
}

#[test]
fn k_bakery_makes_4_remote_references_for_each_other_process_in_dsm() {
    assert_eq!(worst("k-bakery", 2, 1, Cost::Dsm), Some(4));
    assert_eq!(worst("k-bakery", 3, 1, Cost::Dsm), Some(4 * 2));
    assert_eq!(worst("k-bakery", 3, 2, Cost::Dsm), Some(4 * 2));
}

#[test]
fn k_bakery_fife_makes_5_remote_references_for_each_other_process_in_dsm() {
    assert_eq!(worst("k-bakery-fife", 2, 1, Cost::Dsm), Some(5));
}

#[test]
fn the_bakery_does_not_spin_locally_in_dsm() {
    assert_eq!(worst("bakery", 3, 1, Cost::Dsm), None);
    assert_eq!(worst("bakery", 2, 1, CC), Some(10));
    assert_eq!(worst("bakery", 3, 1, CC), Some(14));
}

#[test]
fn peterson_spins_locally_with_caches_only() {
    assert_eq!(worst("peterson", 2, 1, CC), Some(6));
    assert_eq!(worst("peterson", 2, 1, Cost::Dsm), None);
}

#[test]
fn yang_anderson_spins_locally_in_both() {
    assert_eq!(worst("yang-anderson", 2, 1, CC), Some(11));
    assert_eq!(worst("yang-anderson", 2, 1, Cost::Dsm), Some(10));
}

/// Two tournaments, a set, tickets and a heap.
#[test]
fn danek_golab_yang_anderson_makes_60_in_dsm() {
    assert_eq!(worst("danek-golab-yang-anderson", 2, 1, Cost::Dsm), Some(60));
}

#[test]
fn mcs_makes_as_many_for_three_as_for_two() {
    for n in [2, 3] {
        assert_eq!((worst("mcs", n, 1, CC), worst("mcs", n, 1, Cost::Dsm)), (Some(8), Some(4)), "n={n}");
    }
}

#[test]
fn anderson_array_spins_locally_with_caches_only() {
    assert_eq!(worst("anderson-array", 3, 1, CC), Some(6));
    assert_eq!(worst("anderson-array", 3, 1, Cost::Dsm), None);
}

/// 2(n-k) + 1: two for one's own changes, the rest for those of others that one sees while waiting.
#[test]
fn one_shared_variable_spins_locally_with_caches_only() {
    for name in ["fischer-queue", "colored-ticket"] {
        for (n, k, most) in [(2, 1, 3), (3, 1, 5), (3, 2, 3), (4, 2, 5)] {
            assert_eq!(worst(name, n, k, CC), Some(most), "{name} n={n} k={k}");
        }
        assert_eq!(worst(name, 3, 2, Cost::Dsm), None);
    }
}

/// One tree for each that may be inside.
#[test]
fn danek_lee_spins_locally_in_both() {
    assert_eq!(worst("danek-lee", 2, 1, CC), Some(11));
    assert_eq!(worst("danek-lee", 2, 1, Cost::Dsm), Some(10));
    assert_eq!(worst("danek-lee", 3, 1, Cost::Dsm), Some(20));
}

/// A tree of one node.
#[test]
fn jayanti_f_array_spins_locally_in_both() {
    assert_eq!((worst("jayanti-f-array", 2, 1, CC), worst("jayanti-f-array", 2, 1, Cost::Dsm)), (Some(24), Some(23)));
}

/// A spine of one node, and below it the tree of one node.
#[test]
fn jayanti_f_array_adaptive_spins_locally_in_both() {
    let worst = |cost| worst("jayanti-f-array-adaptive", 2, 1, cost);
    assert_eq!((worst(CC), worst(Cost::Dsm)), (Some(30), Some(35)));
}

/// One more for each that is let in, however many there are.
#[test]
fn decker_jayanti_makes_as_many_for_three_as_for_two_with_caches() {
    assert_eq!(worst("decker-jayanti", 2, 1, CC), Some(5));
    assert_eq!(worst("decker-jayanti", 3, 1, CC), Some(5));
    assert_eq!(worst("decker-jayanti", 3, 2, CC), Some(6));
    assert_eq!(worst("decker-jayanti", 3, 2, Cost::Dsm), None);
}

/// The token costs two. For three and one inside the tree of those who have none is as long as for four.
#[test]
fn anderson_moir_with_tokens_spins_locally_with_caches_only() {
    for (n, k, fast, adaptive) in [(2, 1, 8, 8), (3, 2, 8, 8), (3, 1, 19, 15)] {
        for (name, most) in [("anderson-moir-fast", fast), ("anderson-moir-adaptive", adaptive)] {
            assert_eq!(worst(name, n, k, CC), Some(most), "{name} n={n} k={k}");
            assert_eq!(worst(name, n, k, Cost::Dsm), None, "{name} n={n} k={k}");
        }
    }
}

/// One stage: eight to come through, three to leave, and two for a token.
#[test]
fn anderson_moir_at_home_spins_locally_in_both() {
    for (name, with_caches, at_home) in
        [("anderson-moir-dsm", 15, 11), ("anderson-moir-dsm-tree", 15, 11), ("anderson-moir-dsm-adaptive", 17, 13)]
    {
        assert_eq!((worst(name, 2, 1, CC), worst(name, 2, 1, Cost::Dsm)), (Some(with_caches), Some(at_home)), "{name}");
    }
}

/// A test-and-set for each name but one's own is one more, and so is giving it back.
#[test]
fn names_take_one_more_for_each_that_is_taken() {
    assert_eq!(worst("decker-jayanti-names", 2, 1, CC), Some(7));
    assert_eq!(worst("decker-jayanti-names", 3, 1, CC), Some(7));
    assert_eq!(worst("decker-jayanti-names", 3, 1, Cost::Dsm), None);
}

#[test]
#[ignore = "30 s"]
fn names_take_one_more_for_each_that_is_taken_by_two_inside() {
    assert_eq!(worst("decker-jayanti-names", 3, 2, CC), Some(9));
}

/// Danek's Table 1 has ∞ for these: with caches there is a bound.
#[test]
fn bakeries_for_k_spin_locally_with_caches_only() {
    for (name, with_caches) in [("afek", 12), ("burns-peterson", 9), ("dolev-gafni-shavit", 16)] {
        assert_eq!(worst(name, 2, 1, CC), Some(with_caches), "{name}");
        assert_eq!(worst(name, 2, 1, Cost::Dsm), None, "{name}");
    }
    assert_eq!(worst("burns-peterson", 3, 1, CC), Some(14));
    assert_eq!(worst("burns-peterson", 3, 2, CC), Some(14));
}

/// Everyone who spins on the semaphore pays for every other's try.
#[test]
fn gottlieb_is_unbounded_in_both() {
    assert_eq!(worst("gottlieb", 3, 2, CC), None);
    assert_eq!(worst("gottlieb", 3, 2, Cost::Dsm), None);
}

#[test]
fn an_unbounded_passage_comes_with_the_cycle_that_shows_it() {
    let about = registry::find("peterson").unwrap();
    let found = registry::visit(about, Size { n: 2, k: 1 }, Measuring(Cost::Dsm)).unwrap();
    let worst = &found.per_process[0];
    assert_eq!(worst.bound, Bound::Unbounded);
    assert_eq!(
        worst.run.as_ref().unwrap().to_string(),
        "\
\x20  1  p0  8   flag[0] := true
\x20  2  p0  9   victim := 0
\x20  3  p1  8   flag[1] := true
\x20 then for ever
\x20  4  p0  10  flag[1] = true
\x20  5  p0  10  victim = 0
"
    );
}
