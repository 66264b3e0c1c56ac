//! Worst-case numbers of remote memory references, beyond those that are pinned in the algorithms' files.
use doorway_algorithms::{Finds, Size, registry};
use doorway_catalogue::{find, remote_references};
use doorway_checker::{Bound, Cost, Model};

/// The pinned worst case of a lock: n, k and the numbers of the CC and the DSM model.
fn pinned(name: &str) -> Vec<(u32, u32, Option<u32>, Option<u32>)> {
    let about = registry::find(name).expect("the algorithm is in the catalogue");
    let numbers = |pinned: &doorway_algorithms::Pinned| match pinned.finds {
        Finds::Remote(cc, dsm) => Some((pinned.n as u32, pinned.k.unwrap_or(1) as u32, cc, dsm)),
        _ => None,
    };
    about.pinned.iter().filter_map(numbers).collect()
}

/// Danek's Θ(N): four for each other process in the DSM model, five with the capturing of FIFE.
#[test]
fn the_k_bakery_makes_four_or_five_remote_references_for_each_other_process() {
    for (name, each) in [("k-bakery", 4), ("k-bakery-fife", 5)] {
        assert!(pinned(name).iter().all(|&(n, _, _, dsm)| dsm == Some(each * (n - 1))), "{name}");
    }
}

/// 2(n-k) + 1: two for the process's own changes, the rest for changes of others that it reads while it waits.
#[test]
fn one_shared_variable_costs_two_remote_references_for_each_process_above_k() {
    for name in ["fischer-queue", "colored-ticket"] {
        assert!(pinned(name).iter().all(|&(n, k, cc, _)| cc == Some(2 * (n - k) + 1)), "{name}");
    }
}

/// Two tournaments, a set, tickets and a heap, with any number of passages. In the CC model the search is too large.
#[test]
fn danek_golab_yang_anderson_makes_60_in_dsm() {
    let about = find("danek-golab-yang-anderson").unwrap();
    let found = remote_references(about, Size { n: 2, k: 1 }, &Model::new(2), Cost::Dsm).unwrap();
    assert!(found.is_exact());
    assert_eq!(found.worst(), Bound::AtMost(60));
}

#[test]
fn an_unbounded_passage_is_reported_with_a_lasso() {
    let about = find("peterson").unwrap();
    let found = remote_references(about, Size { n: 2, k: 1 }, &Model::new(2), Cost::Dsm).unwrap();
    let worst = &found.per_process[0];
    assert_eq!(worst.bound, Bound::Unbounded);
    assert_eq!(
        worst.execution.as_ref().unwrap().to_string(),
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
