//! Processes that die and are reaped, and processes that give up.
use doorway_algorithms::{Claim, kexclusion::k_bakery::KBakery, mutex::yang_anderson::YangAnderson};
use doorway_checker::{Error, Model, Property, Report, Verdict, check};
use doorway_memory::{Exclusion, Memory, Pid, Space, Ticket};

use crate::common::{about, report_k, try_report_k};

/// What happens to processes.
type Fate = fn(Model) -> Model;

const DIE: Fate = Model::deaths;
const GIVE_UP: Fate = Model::abandons;
const DIE_OR_GIVE_UP: Fate = |model| model.deaths().abandons();

/// The number of states is pinned: a search that silently explores less must fail here.
macro_rules! kept {
    ($(
        $(#[$attribute:meta])*
        $test:ident: $name:literal, $n:literal, k $k:literal $(, passages $passages:literal)? => $fate:expr, $states:literal;
    )*) => {$(
        $(#[$attribute])*
        #[test]
        fn $test() {
            let passages: Option<u32> = [$($passages)?].first().copied();
            assert_eq!(kept($name, $n, $k, passages, $fate).states, $states);
        }
    )*};
}

kept! {
    k_bakery_survives_deaths_for_two: "k-bakery", 2, k 1 => DIE, 3_491;
    k_bakery_survives_abandons_for_two: "k-bakery", 2, k 1 => GIVE_UP, 2_967;
    k_bakery_survives_both_for_two: "k-bakery", 2, k 1 => DIE_OR_GIVE_UP, 5_061;
    k_bakery_fife_survives_deaths_for_two: "k-bakery-fife", 2, k 1 => DIE, 90_347;
    k_bakery_fife_survives_abandons_for_two: "k-bakery-fife", 2, k 1 => GIVE_UP, 76_397;
    k_bakery_fife_survives_both_for_two: "k-bakery-fife", 2, k 1 => DIE_OR_GIVE_UP, 125_829;
    yang_anderson_survives_abandons_for_two: "yang-anderson", 2, k 1 => GIVE_UP, 1_810;
    yang_anderson_survives_abandons_on_tso_for_two: "yang-anderson", 2, k 1 => |model| model.abandons().tso(), 9_892;
    #[ignore = "20 s"]
    yang_anderson_survives_abandons_for_three: "yang-anderson", 3, k 1 => GIVE_UP, 3_776_518;
    k_bakery_survives_both_for_three_and_one_passage_each: "k-bakery", 3, k 2, passages 1 => DIE_OR_GIVE_UP, 230_656;
    k_bakery_fife_survives_deaths_for_three_and_one_passage_each: "k-bakery-fife", 3, k 2, passages 1 => DIE, 756_799;
    #[ignore = "1 minute, 1 GB"]
    k_bakery_survives_deaths_for_three_and_one_inside: "k-bakery", 3, k 1 => DIE, 11_615_607;
    #[ignore = "1 minute, 1 GB"]
    k_bakery_survives_deaths_for_three_and_two_inside: "k-bakery", 3, k 2 => DIE, 11_281_187;
    #[ignore = "20 s"]
    k_bakery_survives_abandons_for_three_and_two_inside: "k-bakery", 3, k 2 => GIVE_UP, 6_366_400;
    #[ignore = "90 s, 2 GB"]
    k_bakery_survives_both_for_three_and_two_inside: "k-bakery", 3, k 2 => DIE_OR_GIVE_UP, 23_513_706;
    k_bakery_survives_deaths_on_tso_for_two: "k-bakery", 2, k 1 => |model| model.deaths().tso(), 52_349;
    k_bakery_survives_both_on_tso_for_two: "k-bakery", 2, k 1 => |model| model.deaths().abandons().tso(), 72_087;
    k_bakery_fife_survives_deaths_on_tso_for_two: "k-bakery-fife", 2, k 1 => |model| model.deaths().tso(), 1_207_441;
    #[ignore = "10 s"]
    k_bakery_fife_survives_both_on_tso_for_two: "k-bakery-fife", 2, k 1 => |model| model.deaths().abandons().tso(), 2_413_701;
}

/// Checks every property, and that all that is claimed is so still.
fn kept(name: &str, n: usize, k: usize, passages: Option<u32>, fate: Fate) -> Report {
    let report = report_k(name, n, Some(k), |model| match passages {
        Some(passages) => fate(model).passages(passages),
        None => fate(model),
    });
    assert_eq!(report.incomplete.is_some(), passages.is_some(), "{name} n={n}: {report}");
    assert!(about(name).claims.contains(&Claim::Abandons), "{name}: whoever is here can be given up at least");
    for claim in about(name).claims {
        let lost = matches!(*claim, Claim::Holds(property) if !report.holds(property));
        assert!(!lost, "{name} n={n} loses {claim}:\n{report}");
    }
    for finding in &report.findings {
        assert_ne!(finding.verdict, Verdict::Unknown, "{name} n={n}: {finding}");
    }
    report
}

/// After any deaths, and though one stays inside for ever, all others get in: the place of a dead one is free again. If two
/// may stay there is no place left.
#[test]
#[ignore = "2 minutes, 1 GB"]
fn no_place_is_lost_with_the_dead() {
    let starves = |crashes| {
        let shape = |model: Model| model.deaths().crashes(crashes).only([Property::StarvationFreedom]);
        report_k("k-bakery", 3, Some(2), shape).fails(Property::StarvationFreedom)
    };
    assert!(!starves(1) && starves(2));
}

/// Deaths and abandons need no fence: those the algorithm has are enough, and there are no others.
#[test]
fn a_reap_has_no_fence() {
    let fences = |fate: Fate| report_k("k-bakery", 2, Some(1), |model| fate(model).tso()).fences;
    assert_eq!(fences(DIE_OR_GIVE_UP), fences(|model| model));
}

/// The runs are pinned whole.
macro_rules! mistakes {
    ($($test:ident: $name:literal, $shape:expr, $property:ident => $run:literal;)*) => {$(
        #[test]
        fn $test() {
            let shape = |model: Model| ($shape as Fate)(model).only([Property::$property]);
            assert!(about($name).claims.contains(&Claim::FailsWithDeaths(Property::$property)));
            let report = report_k($name, 2, None, shape);
            let finding = report.finding(Property::$property);
            let run = finding.run.as_ref().expect("it fails");
            assert_eq!(format!("{finding}{run}"), $run);
        }
    )*};
}

mistakes! {
    bakery_hangs_if_one_dies_while_it_chooses: "bakery-reaped", DIE, DeadlockFreedom => "\
deadlock-freedom FAILS in 8 steps, and stays so
\x20  1  p0  3   choosing[0] := true
\x20  2  p0  4   number[0] = 0
\x20  3  p0  4   number[1] = 0
\x20  4  p0  4   number[0] := 1
\x20  5  p0  5   choosing[0] := false
\x20  6  p1  3   choosing[1] := true
\x20  7  p1      dies
\x20  8  p1  10  number[1] := 0 by another  -> reaped
\x20 then for ever
\x20  9  p0  7   choosing[1] = true
";
    half_a_reap_leaves_the_others_waiting: "k-bakery-half-reaped", DIE, DeadlockFreedom => "\
deadlock-freedom FAILS in 10 steps, and stays so
\x20  1  p0  14  Ticket[0] = 0
\x20  2  p0  14  Want[0][1] := 0
\x20  3  p1  14  Ticket[1] = 0
\x20  4  p1  14  Want[1][0] := 0
\x20  5  p1  15  Ticket[0] = 0
\x20  6  p1  15  Ticket[1] = 0
\x20  7  p1  15  Ticket[1] := 1
\x20  8  p1  16  Want[1][0] := 1
\x20  9  p0      dies
\x20 10  p0      (no access) by another  -> reaped
\x20 then for ever
\x20 11  p1  21  Want[0][1] = 0
";
    a_reap_that_resets_the_ticket_lets_old_captures_count: "k-bakery-fife-reset", |model| model.deaths().passages_in_all(5), Exclusion => "\
exclusion FAILS in 38 steps
\x20  1  p0  14  Ticket[0] = 0
\x20  2  p0  14  Want[0][1] := 0
\x20  3  p0  15  Ticket[0] = 0
\x20  4  p1  14  Ticket[1] = 0
\x20  5  p1  14  Want[1][0] := 0
\x20  6  p1  15  Ticket[0] = 0
\x20  7  p1  15  Ticket[1] = 0
\x20  8  p1  15  Ticket[1] := 1
\x20  9  p0  15  Ticket[1] = 1
\x20 10  p0  15  Ticket[0] := 2
\x20 11  p0  16  Want[0][1] := 2
\x20 12  p1      dies
\x20 13  p1  25  Want[1][0] := ∞ by another
\x20 14  p0  21  Want[1][0] = ∞
\x20 15  p0  22  Capture[1][0] = 0
\x20 16  p0  23  Capture[0][1] := 2          -> inside
\x20 17  p1  *   Ticket[1] := 0 by another   -> reaped
\x20 18  p1  14  Ticket[1] = 0
\x20 19  p1  14  Want[1][0] := 0
\x20 20  p0      dies
\x20 21  p0  25  Want[0][1] := ∞ by another
\x20 22  p0  *   Ticket[0] := 0 by another   -> reaped
\x20 23  p0  14  Ticket[0] = 0
\x20 24  p0  14  Want[0][1] := 0
\x20 25  p0  15  Ticket[0] = 0
\x20 26  p0  15  Ticket[1] = 0
\x20 27  p1  15  Ticket[0] = 0
\x20 28  p0  15  Ticket[0] := 1
\x20 29  p0  16  Want[0][1] := 1
\x20 30  p1  15  Ticket[1] = 0
\x20 31  p1  15  Ticket[1] := 1
\x20 32  p1  16  Want[1][0] := 1
\x20 33  p0  21  Want[1][0] = 1
\x20 34  p0  22  Capture[1][0] = 0
\x20 35  p1  21  Want[0][1] = 1
\x20 36  p1  22  Capture[0][1] = 2
\x20 37  p0  23  Capture[0][1] := 1          -> inside
\x20 38  p1  23  Capture[1][0] := 1          -> inside
";
}

/// With any number of tickets the shortest execution of the search has some that cannot be; the search among real executions
/// finds the one above, or another of its length.
#[test]
fn old_captures_count_with_any_number_of_tickets() {
    let report = report_k("k-bakery-fife-reset", 2, None, DIE);
    let execution = report.finding(Property::Exclusion).run.as_ref().expect("it fails");
    assert_eq!(execution.steps.len(), 38);
}

/// Process 1 waits while the other's flag is up. Process 0 waits for nothing, but takes a step of it, and can give up.
struct Modest<M: Memory> {
    flag: Vec<M::Reg<bool>>,
}

impl<M: Memory> Exclusion<M> for Modest<M> {
    type Place = ();
    fn doorway(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        m.at("1").write(&self.flag[p], true)
    }
    fn wait(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("2").until(&self.flag[1 - p], |up| p == 0 || !up)
    }
    fn exit(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("3").write(&self.flag[p], false)
    }
    const ABANDONABLE: bool = true;
    fn abandon(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.at("4").write(&self.flag[p], false)
    }
}

/// Giving up is no progress, and nobody may starve of it.
#[test]
fn others_who_give_up_for_ever_are_no_excuse() {
    let modest = |space: &mut doorway_checker::Registers| Modest { flag: space.per_process("flag", 2, false) };
    let model = Model::new(2).only([Property::DeadlockFreedom]);
    assert!(check(&model, modest).unwrap().holds(Property::DeadlockFreedom), "process 0 gets in");
    let report = check(&model.abandons(), modest).unwrap();
    let finding = report.finding(Property::DeadlockFreedom);
    assert_eq!(
        format!("{finding}{}", finding.run.as_ref().expect("it fails")),
        "\
deadlock-freedom FAILS in 1 step, and stays so
\x20  1  p1  1  flag[1] := true
\x20 then for ever
\x20  2  p0  1  flag[0] := true
\x20  3  p1  2  flag[0] = true
\x20  4  p0     gives up
\x20  5  p0  4  flag[0] := false  -> out
"
    );
}

/// The k-Bakery, but who reaps waits for what never comes, and who gives up does nothing.
struct Careless<M: Memory>(KBakery<M>, M::Reg<bool>);

impl<M: Memory> Exclusion<M> for Careless<M> {
    type Place = Ticket;
    fn doorway(&self, m: &mut M, p: Pid) -> Result<Ticket, M::Halt> {
        self.0.doorway(m, p)
    }
    fn wait(&self, m: &mut M, p: Pid, mine: &Ticket) -> Result<(), M::Halt> {
        self.0.wait(m, p, mine)
    }
    fn exit(&self, m: &mut M, p: Pid, mine: &Ticket) -> Result<(), M::Halt> {
        self.0.exit(m, p, mine)
    }
    const ABANDONABLE: bool = true;
    fn abandon(&self, _: &mut M, _: Pid, _: &Ticket) -> Result<(), M::Halt> {
        Ok(())
    }
    const REAPABLE: bool = true;
    fn reap(&self, m: &mut M, dead: Pid) -> Result<(), M::Halt> {
        m.until(&self.1, |never| never)?;
        self.0.reap(m, dead)
    }
}

#[test]
fn a_reap_has_to_end_and_an_abandon_to_do_something() {
    let careless =
        |space: &mut doorway_checker::Registers| Careless(KBakery::new(space, 2, 1), space.shared("never", false));
    let report = check(&Model::new(2).deaths(), careless).unwrap();
    assert_eq!(report.finding(Property::StarvationFreedom).note, "process 0 is dead, and never done with");
    assert_eq!(report.finding(Property::BoundedExit).note, "process 0 can be kept in `reap`");
    let report = check(&Model::new(2).abandons(), careless).unwrap();
    assert!(report.fails(Property::DeadlockFreedom), "{report}");
    assert!(report.holds(Property::BoundedExit) && report.holds(Property::Exclusion), "{report}");
    let report = check(&Model::new(2), careless).unwrap();
    assert_eq!((report.states, report.fails(Property::DeadlockFreedom)), (852, false), "nobody dies, nobody gives up");
}

/// Yang and Anderson's tournament, but who gives up unlocks what it has not won.
struct Hasty<M: Memory>(YangAnderson<M>);

impl<M: Memory> Exclusion<M> for Hasty<M> {
    type Place = ();
    fn doorway(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        self.0.doorway(m, p)
    }
    fn wait(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        self.0.wait(m, p, &())
    }
    fn exit(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        self.0.exit(m, p, &())
    }
    const ABANDONABLE: bool = true;
    fn abandon(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        self.exit(m, p, &())
    }
}

/// On line 8 process 0 waits for a word that process 1 does not stay to say.
#[test]
fn to_give_up_in_a_tournament_is_not_to_unlock() {
    let model = Model::new(2).abandons().passages(1).only([Property::DeadlockFreedom]);
    let report = check(&model, |space| Hasty(YangAnderson::new(space, 2))).unwrap();
    let finding = report.finding(Property::DeadlockFreedom);
    assert_eq!(
        format!("{finding}{}", finding.run.as_ref().expect("it fails")),
        "\
deadlock-freedom FAILS in 13 steps, and stays so
\x20  1  p0  1   C[1][0] := 0
\x20  2  p0  2   T[1] := 0
\x20  3  p0  3   P[1][0] := 0
\x20  4  p1  1   C[1][1] := 1
\x20  5  p0  4   C[1][1] = 1
\x20  6  p0  5   T[1] = 0
\x20  7  p0  6   P[1][1] = 0
\x20  8  p0  7   P[1][1] := 1
\x20  9  p1  2   T[1] := 1
\x20 10  p1  3   P[1][1] := 0
\x20 11  p1      gives up
\x20 12  p1  10  C[1][1] := ⊥
\x20 13  p1  11  T[1] = 1      -> out
\x20 then for ever
\x20 14  p0  8   P[1][0] = 0
"
    );
}

#[test]
fn what_cannot_be_checked_with_deaths_is_refused() {
    let refused = |name: &str, n: usize, shape: Fate| match try_report_k(name, n, None, shape) {
        Err(Error::Model(why)) => why,
        other => panic!("{name}: {other:?}"),
    };
    let cannot = "who dies in it cannot be reaped; check it without deaths";
    assert_eq!(refused("bakery", 2, DIE), cannot);
    assert_eq!(refused("bakery", 2, GIVE_UP), "who waits in it cannot give up; check it without abandons");
    assert_eq!(refused("bakery-reaped", 2, GIVE_UP), "who waits in it cannot give up; check it without abandons");
    assert_eq!(refused("bouncer", 3, DIE), "deaths are for locks; a part is checked without");
    assert_eq!(refused("k-bakery", 9, GIVE_UP), "with abandons up to 8 processes can be checked, not 9");
    assert_eq!(
        refused("k-bakery", 5, |model| model.deaths().tso()),
        "with deaths and store buffers up to 4 processes can be checked, not 5"
    );
    assert_eq!(
        refused("k-bakery", 2, |model| model.deaths().symmetric()),
        "with deaths processes cannot be counted as alike; check it without symmetry"
    );
    assert_eq!(
        refused("k-bakery", 2, |model| model.abandons().safe_registers()),
        "abandons are checked on atomic registers, not on safe ones"
    );
}
