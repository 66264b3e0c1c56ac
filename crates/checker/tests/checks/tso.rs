//! Store buffers: what they can do, and the fences that keep them from doing it.

use std::{fs, panic::Location, path::Path};

use crate::common::{about, bounded, locks, report, try_report_k};
use doorway_algorithms::{About, Claim, Kind};
use doorway_checker::{Error, Model, Property, Report, Step, check_part};
use doorway_memory::{Memory, Part, Pid, Space};

/// What each of two processes, or four, does to `x` and `y`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Litmus {
    /// Each writes one and reads the other.
    StoreBuffering,
    /// The same with a fence in between.
    StoreBufferingFenced,
    /// The same, but writing in one step with a read.
    StoreBufferingSwapped,
    /// As the first one, and each reads what it has written before it reads the other.
    StoreBufferingSeen,
    /// One writes `x` and then `y`, the other reads them in the other order.
    MessagePassing,
    /// Each reads one and writes the other.
    LoadBuffering,
    /// Two write one each, two read both in different orders.
    IndependentReads,
}

struct Registers<M: Memory> {
    x: M::Reg<u64>,
    y: M::Reg<u64>,
    litmus: Litmus,
}

impl<M: Memory> Part<M> for Registers<M> {
    /// What was read, one digit each.
    type Outcome = u64;

    fn call(&self, m: &mut M, p: Pid) -> Result<u64, M::Halt> {
        let (mine, other) = if p.is_multiple_of(2) { (&self.x, &self.y) } else { (&self.y, &self.x) };
        match (self.litmus, p) {
            (Litmus::StoreBuffering, _) => {
                m.write(mine, 1)?;
                m.read(other)
            }
            (Litmus::StoreBufferingFenced, _) => {
                m.write(mine, 1)?;
                m.fence()?;
                m.read(other)
            }
            (Litmus::StoreBufferingSwapped, _) => {
                m.swap(mine, 1)?;
                m.read(other)
            }
            (Litmus::StoreBufferingSeen, _) => {
                m.write(mine, 1)?;
                Ok(10 * m.read(mine)? + m.read(other)?)
            }
            (Litmus::MessagePassing, 0) => {
                m.write(&self.x, 1)?;
                m.write(&self.y, 1)?;
                Ok(0)
            }
            (Litmus::MessagePassing, _) => Ok(10 * m.read(&self.y)? + m.read(&self.x)?),
            (Litmus::LoadBuffering, _) => {
                let seen = m.read(other)?;
                m.write(mine, 1)?;
                Ok(seen)
            }
            (Litmus::IndependentReads, 0 | 1) => {
                m.write(mine, 1)?;
                Ok(0)
            }
            (Litmus::IndependentReads, _) => Ok(10 * m.read(mine)? + m.read(other)?),
        }
    }

    /// Forbids the one outcome that no order of all accesses explains.
    fn rule(&self, latest: &[Option<u64>]) -> Result<(), String> {
        let odd: &[Option<u64>] = match self.litmus {
            Litmus::StoreBuffering | Litmus::StoreBufferingFenced | Litmus::StoreBufferingSwapped => {
                &[Some(0), Some(0)]
            }
            Litmus::StoreBufferingSeen => &[Some(10), Some(10)],
            Litmus::MessagePassing => &[Some(0), Some(10)],
            Litmus::LoadBuffering => &[Some(1), Some(1)],
            Litmus::IndependentReads => &[Some(0), Some(0), Some(10), Some(10)],
        };
        if latest == odd { Err("an outcome that no order of all accesses explains".to_string()) } else { Ok(()) }
    }
}

fn is_explained(litmus: Litmus, shape: impl FnOnce(Model) -> Model) -> bool {
    let n = if litmus == Litmus::IndependentReads { 4 } else { 2 };
    let report = check_part(&shape(Model::new(n)), |space| Registers {
        x: space.shared("x", 0),
        y: space.shared("y", 0),
        litmus,
    });
    let report = report.expect("it keeps the rules");
    assert_eq!(report.incomplete, None);
    report.holds(Property::Rule)
}

#[test]
fn a_read_can_overtake_a_write_of_another_register() {
    for litmus in [Litmus::StoreBuffering, Litmus::StoreBufferingSeen] {
        assert!(is_explained(litmus, |model| model), "{litmus:?}");
        assert!(!is_explained(litmus, Model::tso), "{litmus:?}");
        assert!(is_explained(litmus, Model::tso_with_fences_everywhere), "{litmus:?}");
    }
}

#[test]
fn not_past_a_fence_or_a_read_modify_write() {
    assert!(is_explained(Litmus::StoreBufferingFenced, Model::tso));
    assert!(!is_explained(Litmus::StoreBufferingFenced, Model::tso_without_fences));
    assert!(is_explained(Litmus::StoreBufferingSwapped, Model::tso_without_fences));
}

#[test]
fn nothing_else_is_seen_out_of_order() {
    for litmus in [Litmus::MessagePassing, Litmus::LoadBuffering, Litmus::IndependentReads] {
        assert!(is_explained(litmus, Model::tso_without_fences), "{litmus:?}");
    }
}

/// What is claimed, and not so.
fn broken_claims(about: &About, report: &Report) -> Vec<String> {
    let bypass = || report.finding(Property::Bypass).bypass;
    let is_broken = |claim: &&Claim| match **claim {
        Claim::Holds(property) => !report.holds(property),
        Claim::Fails(property) => !report.fails(property),
        Claim::Bypass(bound) => bypass().map(|bypass| bypass.late.number()) != Some(bound),
        Claim::Entries(bound) => bypass().map(|bypass| bypass.in_all.number()) != Some(bound),
        _ => false,
    };
    about.claims.iter().filter(is_broken).map(ToString::to_string).collect()
}

/// How much of an algorithm is looked at.
#[derive(Clone, Copy)]
struct Extent {
    name: &'static str,
    n: usize,
    k: Option<usize>,
    passages: Option<u32>,
    /// Passages of all together.
    in_all: Option<u32>,
}

impl Extent {
    const fn new(name: &'static str, n: usize) -> Extent {
        Extent { name, n, k: None, passages: None, in_all: None }
    }

    fn try_report(self, shape: impl FnOnce(Model) -> Model) -> Result<Report, Error> {
        try_report_k(self.name, self.n, self.k, |model| match (self.passages, self.in_all) {
            (Some(passages), _) => shape(model.passages(passages)),
            (_, Some(passages)) => shape(model.passages_in_all(passages)),
            _ => shape(bounded(about(self.name), model)),
        })
    }

    fn report(self, shape: impl FnOnce(Model) -> Model) -> Report {
        self.try_report(shape).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }
}

/// With its fences a lock is what it is claimed to be; the number of states is pinned, and so is that of fences.
macro_rules! fenced {
    ($(
        $(#[$attribute:meta])*
        $test:ident: $name:literal, $n:literal $(, k $k:literal)? $(, passages $passages:literal)?
            => $states:literal states, $fences:literal fences;
    )*) => {$(
        $(#[$attribute])*
        #[test]
        fn $test() {
            let k: Option<usize> = [$($k)?].first().copied();
            let passages: Option<u32> = [$($passages)?].first().copied();
            let report = Extent { k, passages, ..Extent::new($name, $n) }.report(Model::tso);
            assert_eq!(broken_claims(about($name), &report), [""; 0], "{}:\n{report}", $name);
            assert_eq!((report.states, report.fences.len()), ($states, $fences));
        }
    )*};
}

fenced! {
    bouncer_for_three_is_as_claimed_with_its_fences: "bouncer", 3 => 1_241 states, 2 fences;
    renaming_for_three_is_as_claimed_with_its_fences: "renaming", 3 => 41_573 states, 2 fences;
    timestamps_for_three_are_as_claimed_with_their_fence: "timestamps", 3 => 3_436 states, 1 fences;
    special_set_for_three_is_as_claimed_and_needs_no_fences: "special-set", 3 => 513_212 states, 0 fences;
    lock_one_for_two_is_as_claimed_with_its_fences: "lock-one", 2 => 40 states, 1 fences;
    lock_two_for_two_is_as_claimed_and_needs_no_fences: "lock-two", 2 => 12 states, 0 fences;
    peterson_for_two_is_as_claimed_with_its_fences: "peterson", 2 => 126 states, 1 fences;
    peterson_polite_for_two_is_as_claimed_with_its_fences: "peterson-polite", 2 => 174 states, 1 fences;
    livelock_for_two_is_as_claimed_with_its_fences: "livelock", 2 => 160 states, 2 fences;
    filter_for_three_is_as_claimed_with_its_fences: "filter", 3 => 8_127 states, 1 fences;
    bakery_labels_for_three_is_as_claimed_with_its_fences: "bakery-labels", 3 => 162_662 states, 2 fences;
    bakery_for_three_is_as_claimed_with_its_fences: "bakery", 3 => 45_278 states, 2 fences;
    flaky_for_three_is_as_claimed_with_its_fences: "flaky", 3 => 10_104 states, 3 fences;
    peterson_tree_for_four_is_as_claimed_with_its_fences: "peterson-tree", 4 => 93_528 states, 1 fences;
    tournament_for_four_is_as_claimed_with_its_fences: "tournament", 4 => 56_376 states, 1 fences;
    fast_path_for_two_is_as_claimed_with_its_fences: "fast-path", 2 => 76_328 states, 1 fences;
    one_bit_for_four_is_as_claimed_with_its_fences: "one-bit", 4 => 26_421 states, 2 fences;
    one_register_for_two_is_as_claimed_and_needs_no_fences: "one-register", 2 => 7_728 states, 0 fences;
    two_registers_for_three_are_as_claimed_and_need_no_fences: "two-registers", 3 => 364_921 states, 0 fences;
    dijkstra_for_three_is_as_claimed_with_its_fences: "dijkstra", 3 => 30_756 states, 1 fences;
    lamport_fast_for_three_is_as_claimed_with_its_fences: "lamport-fast", 3 => 152_056 states, 2 fences;
    black_white_bakery_for_two_is_as_claimed_with_its_fences: "black-white-bakery", 2 => 4_006 states, 2 fences;
    black_white_bakery_for_three_is_as_claimed_with_its_fences: "black-white-bakery", 3 => 510_974 states, 2 fences;
    yang_anderson_for_two_is_as_claimed_with_its_fences: "yang-anderson", 2 => 2_094 states, 2 fences;
    kim_anderson_for_two_is_as_claimed_with_its_fences: "kim-anderson", 2 => 95_134 states, 6 fences;
    danek_golab_simple_for_two_is_as_claimed_with_its_fences: "danek-golab-simple", 2 => 272_721 states, 2 fences;
    danek_golab_yang_anderson_for_two_is_as_claimed_with_its_fences: "danek-golab-yang-anderson", 2 => 37_052 states, 4 fences;
    danek_golab_no_dummy_for_two_is_as_claimed_with_its_fences: "danek-golab-no-dummy", 2 => 6_236 states, 2 fences;
    jayanti_f_array_for_two_is_as_claimed_with_its_fence: "jayanti-f-array", 2 => 57_165 states, 1 fences;
    jayanti_f_array_adaptive_for_two_is_as_claimed_with_its_fence: "jayanti-f-array-adaptive", 2 => 208_677 states, 1 fences;
    jayanti_f_array_single_refresh_for_two_is_as_claimed_with_its_fence: "jayanti-f-array-single-refresh", 2 => 46_937 states, 1 fences;
    mcs_for_three_is_as_claimed_and_needs_no_fences: "mcs", 3 => 3_843 states, 0 fences;
    anderson_array_for_three_is_as_claimed_and_needs_no_fences: "anderson-array", 3 => 396 states, 0 fences;
    k_bakery_for_two_is_as_claimed_with_its_fences: "k-bakery", 2 => 4_122 states, 2 fences;
    k_bakery_for_three_and_two_inside_and_one_passage_each_is_as_claimed_with_its_fences: "k-bakery", 3, k 2, passages 1 => 134_343 states, 2 fences;
    k_bakery_fife_for_two_is_as_claimed_with_its_fences: "k-bakery-fife", 2 => 7_807 states, 3 fences;
    k_bakery_fife_for_three_and_two_inside_and_one_passage_each_is_as_claimed_with_its_fences: "k-bakery-fife", 3, k 2, passages 1 => 583_143 states, 3 fences;
    k_bakery_safe_for_two_is_as_claimed_with_its_fences: "k-bakery-safe", 2 => 66_975 states, 3 fences;
    k_bakery_no_announce_for_two_is_as_claimed_with_its_fences: "k-bakery-no-announce", 2 => 8_917 states, 1 fences;
    log_k_for_three_is_as_claimed_and_needs_no_fences: "log-k", 3 => 114_069 states, 0 fences;
    log_k_wide_for_three_is_as_claimed_and_needs_no_fences: "log-k-wide", 3 => 114_069 states, 0 fences;
    log_k_printed_for_three_is_as_claimed_and_needs_no_fences: "log-k-printed", 3 => 28_344 states, 0 fences;
    log_k_first_repair_for_three_is_as_claimed_and_needs_no_fences: "log-k-first-repair", 3 => 114_069 states, 0 fences;
    filter_k_for_three_is_as_claimed_with_its_fences: "filter-k", 3 => 3_998 states, 1 fences;
    gottlieb_for_three_is_as_claimed_and_needs_no_fences: "gottlieb", 3 => 120 states, 0 fences;
    fischer_queue_for_three_is_as_claimed_and_needs_no_fences: "fischer-queue", 3 => 55 states, 0 fences;
    colored_ticket_for_three_is_as_claimed_and_needs_no_fences: "colored-ticket", 3 => 2_362 states, 0 fences;
    colored_ticket_k_colours_for_three_is_as_claimed_and_needs_no_fences: "colored-ticket-k-colours", 3 => 1_267 states, 0 fences;
    ticket_k_for_three_is_as_claimed_and_needs_no_fences: "ticket-k", 3 => 856 states, 0 fences;
    danek_lee_for_two_is_as_claimed_with_its_fences: "danek-lee", 2 => 2_094 states, 2 fences;
    decker_jayanti_for_three_is_as_claimed_and_needs_no_fences: "decker-jayanti", 3 => 74_178 states, 0 fences;
    decker_jayanti_names_for_three_is_as_claimed_and_needs_no_fences: "decker-jayanti-names", 3 => 589_611 states, 0 fences;
    decker_jayanti_names_read_for_three_is_as_claimed_and_needs_no_fences: "decker-jayanti-names-read", 3 => 4_130 states, 0 fences;
    decker_jayanti_descending_for_four_is_as_claimed_and_needs_no_fences: "decker-jayanti-descending", 4 => 5_448 states, 0 fences;
    afek_for_three_is_as_claimed_with_its_fences: "afek", 3 => 41_166 states, 3 fences;
    burns_peterson_for_two_is_as_claimed_with_its_fences: "burns-peterson", 2 => 1_678 states, 2 fences;
    burns_peterson_for_three_and_one_passage_each_is_as_claimed_with_its_fences: "burns-peterson", 3, k 2, passages 1 => 9_690 states, 2 fences;
    dolev_gafni_shavit_for_two_is_as_claimed_with_its_fences: "dolev-gafni-shavit", 2 => 48_359 states, 2 fences;
    dolev_gafni_shavit_single_for_two_is_as_claimed_with_its_fences: "dolev-gafni-shavit-single", 2 => 21_271 states, 2 fences;
    anderson_moir_for_three_is_as_claimed_with_its_fences: "anderson-moir", 3 => 1_608 states, 1 fences;
    anderson_moir_tree_for_three_is_as_claimed_with_its_fences: "anderson-moir-tree", 3 => 13_245 states, 1 fences;
    anderson_moir_fast_for_three_is_as_claimed_with_its_fences: "anderson-moir-fast", 3 => 6_330 states, 1 fences;
    anderson_moir_adaptive_for_three_is_as_claimed_with_its_fences: "anderson-moir-adaptive", 3 => 6_330 states, 1 fences;
    anderson_moir_dsm_for_three_is_as_claimed_and_needs_no_fences: "anderson-moir-dsm", 3 => 942_821 states, 0 fences;
    anderson_moir_dsm_tree_for_three_is_as_claimed_and_needs_no_fences: "anderson-moir-dsm-tree", 3 => 10_308 states, 0 fences;
    anderson_moir_dsm_adaptive_for_three_is_as_claimed_and_needs_no_fences: "anderson-moir-dsm-adaptive", 3 => 10_598 states, 0 fences;
    anderson_moir_dsm_late_for_three_is_as_claimed_and_needs_no_fences: "anderson-moir-dsm-late", 3 => 1_055_254 states, 0 fences;
    yang_anderson_for_three_is_as_claimed_with_its_fences: "yang-anderson", 3 => 2_013_456 states, 2 fences;
}

/// Where it is seen that a fence is needed: mostly with two processes, and sometimes only after some passages.
#[rustfmt::skip]
const EXTENTS: &[Extent] = &[
    Extent::new("lock-one", 2), Extent::new("peterson", 2), Extent::new("livelock", 2), Extent::new("flaky", 3),
    Extent::new("filter", 2), Extent::new("tournament", 2), Extent::new("bakery", 2), Extent::new("bakery-labels", 2),
    Extent::new("black-white-bakery", 2), Extent::new("one-bit", 3), Extent::new("dijkstra", 2),
    Extent::new("lamport-fast", 3), Extent::new("yang-anderson", 2), Extent::new("jayanti-f-array", 2),
    Extent::new("filter-k", 3),
    Extent::new("anderson-moir", 3), Extent::new("k-bakery", 2), Extent::new("k-bakery-safe", 2),
    Extent { k: Some(2), passages: Some(1), ..Extent::new("k-bakery-fife", 3) },
    Extent { k: Some(2), passages: Some(1), ..Extent::new("k-bakery-safe", 3) },
    Extent::new("afek", 3), Extent { passages: Some(1), ..Extent::new("burns-peterson", 2) },
    Extent { passages: Some(1), ..Extent::new("dolev-gafni-shavit", 2) },
    Extent::new("bouncer", 3), Extent::new("timestamps", 3),
    Extent { in_all: Some(3), ..Extent::new("kim-anderson", 2) },
    Extent { in_all: Some(9), ..Extent::new("danek-golab-simple", 2) },
];

/// Whether something claimed is not so without the fence at this place.
fn is_needed(extent: Extent, fence: &'static Location<'static>) -> bool {
    let is_part = about(extent.name).kind == Kind::Part;
    let most = if is_part { 300_000 } else { 3_000_000 };
    let without = |properties: &[Property]| {
        extent.try_report(|model| model.tso_without_fence(fence).only(properties.iter().copied()).max_states(most))
    };
    let claimed = Property::OF_LOCKS.into_iter().filter(|&property| about(extent.name).holds(property));
    // One after the other: for exclusion the search ends as soon as it fails.
    let by_cost = if is_part { vec![vec![Property::Rule]] } else { vec![vec![Property::Exclusion], claimed.collect()] };
    by_cost.iter().any(|properties| match without(properties) {
        Ok(report) => properties.iter().any(|&property| report.fails(property)),
        Err(error) => error.to_string().contains("panicked"), // what it reads makes no sense any more
    })
}

#[test]
fn every_fence_of_the_catalogue_is_needed() {
    let mut all: Vec<&'static Location<'static>> = Vec::new();
    let mut needed: Vec<&'static Location<'static>> = Vec::new();
    for &extent in EXTENTS {
        let is_part = about(extent.name).kind == Kind::Part;
        let cheapest = if is_part { Property::Rule } else { Property::Exclusion };
        let fences = extent.report(|model| model.tso().only([cheapest])).fences;
        all.extend(&fences);
        for fence in fences {
            if !needed.contains(&fence) && is_needed(extent, fence) {
                needed.push(fence);
            }
        }
    }
    // It takes four processes: `afek_needs_its_last_fence_for_four`, which takes long.
    needed.push(last_fence_of_afek());
    all.sort_unstable();
    all.dedup();
    needed.sort_unstable();
    assert_eq!(all, needed);
    // And these are all there are.
    let algorithms = Path::new(env!("CARGO_MANIFEST_DIR")).join("../algorithms/src");
    let folders = ["mutex", "kexclusion", "parts", "broken"].map(|folder| algorithms.join(folder));
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let sources = files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
    let written: usize = sources.map(|source| source.matches(".fence()").count()).sum();
    assert_eq!(all.len(), written);
}

fn last_fence_of_afek() -> &'static Location<'static> {
    let fences = Extent::new("afek", 2).report(|model| model.tso().only([Property::Exclusion])).fences;
    fences.into_iter().max_by_key(|fence| fence.line()).expect("it has three")
}

/// Who is inside must have said so: else one who came earlier waits for two who have not chosen, as in `afek-no-e`.
#[test]
#[ignore = "1 minute, 4 GB"]
fn afek_needs_its_last_fence_for_four() {
    let extent = Extent { passages: Some(1), ..Extent::new("afek", 4) };
    let report = extent.report(|model| model.tso_without_fence(last_fence_of_afek()).only([Property::Fife]));
    assert!(report.fails(Property::Fife), "{report}");
}

/// Without any fence: the first of its claims that a lock loses, and those that lose none.
#[test]
fn with_plain_stores_only_locks_of_read_modify_writes_are_what_they_are_claimed_to_be() {
    let mut keeping = Vec::new();
    let mut without_exclusion = Vec::new();
    for about in locks().filter(|about| about.holds(Property::Exclusion)) {
        let extent = Extent::new(about.name, about.default_n);
        match extent.try_report(|model| model.tso_without_fences().only([Property::Exclusion]).max_states(500_000)) {
            Err(error) => assert!(error.to_string().contains("panicked"), "{}: {error}", about.name),
            Ok(report) if report.fails(Property::Exclusion) => without_exclusion.push(about.name),
            Ok(report) => {
                let few = if report.stopped { Extent { passages: Some(2), ..extent } } else { extent };
                if broken_claims(about, &few.report(Model::tso_without_fences)).is_empty() {
                    keeping.push(about.name);
                }
            }
        }
    }
    let rmw = [
        "log-k",
        "log-k-wide",
        "log-k-printed",
        "log-k-first-repair",
        "fischer-queue",
        "colored-ticket",
        "gottlieb",
        "ticket-k",
        "anderson-moir-dsm",
        "anderson-moir-dsm-tree",
        "anderson-moir-dsm-adaptive",
        "anderson-moir-dsm-late",
        "decker-jayanti",
        "decker-jayanti-descending",
        "decker-jayanti-names",
        "decker-jayanti-names-read",
    ];
    let others =
        ["lock-two", "danek-golab-no-dummy", "jayanti-f-array-single-refresh", "mcs", "ticket", "anderson-array"];
    assert_eq!(keeping, [&others[..], &rmw].concat());
    assert_eq!(without_exclusion.len(), 32, "{without_exclusion:?}");
}

/// Two who do not see each other's flags: the classic.
#[test]
fn peterson_with_plain_stores_lets_both_in() {
    let report = report("peterson", 2, Model::tso_without_fences);
    let run = report.finding(Property::Exclusion).run.as_ref().expect("it fails");
    assert_eq!(
        run.to_string(),
        "\
\x20  1  p0  8   flag[0] := true
\x20  2  p0  9   victim := 0
\x20  3  p0  10  flag[1] = false  -> inside
\x20  4  p1  8   flag[1] := true
\x20  5  p1  9   victim := 1
\x20  6  p1  10  flag[0] = false  -> inside
"
    );
}

/// Whoever waits for a write that is in a buffer does not wait for ever: buffers empty themselves, even those of who has
/// stopped.
#[test]
fn a_write_becomes_visible_at_last_even_of_one_who_has_crashed() {
    for (name, k) in [("anderson-moir", 2), ("k-bakery-fife", 2)] {
        let extent = Extent { k: Some(k), passages: Some(1), ..Extent::new(name, 3) };
        let progress = [Property::Exclusion, Property::DeadlockFreedom, Property::StarvationFreedom];
        let report = extent.report(|model| model.tso().crashes(1).only(progress));
        assert!(progress.iter().all(|&property| report.holds(property)), "{name}: {report}");
    }
    let report = report("peterson", 2, |model| model.tso().crashes(1).only([Property::StarvationFreedom]));
    let run = report.finding(Property::StarvationFreedom).run.as_ref().expect("who is inside may stop");
    let (_, cycle) = run.steps.split_at(run.cycle_at.expect("it is for ever"));
    assert!(cycle.iter().all(|step| !step.access.ends_with("becomes visible")), "{run}");
}

/// A cycle that shows a deadlock or starvation leaves no write in a buffer.
#[test]
fn every_cycle_with_store_buffers_is_fair_to_the_memory() {
    for about in locks().filter(|about| about.default_n <= 3 && about.fails(Property::StarvationFreedom)) {
        let wanted = [Property::DeadlockFreedom, Property::StarvationFreedom];
        let report = Extent::new(about.name, about.default_n).report(|model| model.tso().only(wanted));
        for run in report.findings.iter().filter_map(|finding| finding.run.as_ref()) {
            let (prefix, cycle) = run.steps.split_at(run.cycle_at.expect("a liveness property fails in a cycle"));
            for p in 0..about.default_n {
                let visible = |step: &&Step| step.process == p && step.access.ends_with("becomes visible");
                let writes = |step: &&Step| step.process == p && step.access.contains(":=") && !visible(step);
                let left = |steps: &[Step]| steps.iter().filter(writes).count() - steps.iter().filter(visible).count();
                assert_eq!(left(cycle), 0, "{}: {run}", about.name);
                assert!(left(prefix) == 0 || cycle.iter().any(|step| visible(&step)), "{}: {run}", about.name);
            }
        }
    }
}

#[test]
fn what_does_not_go_together_with_store_buffers_is_said() {
    let why = |name, shape: fn(Model) -> Model| try_report_k(name, 2, None, shape).unwrap_err().to_string();
    assert_eq!(
        why("bakery", |model| model.tso().safe_registers()),
        "a safe register has no store buffer before it; check one without the other"
    );
    assert_eq!(
        why("ticket-k", |model| model.tso().symmetric()),
        "with store buffers processes cannot be counted as alike; check it without symmetry"
    );
    let nine = try_report_k("filter", 9, None, Model::tso).unwrap_err();
    assert_eq!(nine.to_string(), "with store buffers up to 8 processes can be checked, not 9");
}

/// An algorithm that writes on and on without a fence is looked at as far as a buffer goes, and no further.
#[test]
fn a_full_store_buffer_is_said() {
    let report = report("lock-one", 2, Model::tso_without_fences);
    assert_eq!(
        report.incomplete.as_deref(),
        Some("store buffers of 16 writes were full, and longer ones were not looked at")
    );
}

/// How threads sleep: no wake-up is lost, and it is the barrier that sees to it.
#[test]
fn no_wake_up_is_lost_and_the_barrier_is_needed_for_it() {
    for shape in [|model: Model| model, Model::tso] {
        let report = report("ticket-sleeping", 2, shape);
        for claim in about("ticket-sleeping").claims {
            let holds = !matches!(*claim, Claim::Holds(property) if !report.holds(property));
            assert!(holds, "{claim}:\n{report}");
        }
    }
    let with = report("ticket-sleeping", 2, Model::tso);
    let [barrier] = with.fences[..] else { panic!("there is one: {:?}", with.fences) };
    let without = report("ticket-sleeping", 2, |model| model.tso_without_fence(barrier));
    assert!(without.holds(Property::Exclusion) && without.fails(Property::DeadlockFreedom), "{without}");
}
