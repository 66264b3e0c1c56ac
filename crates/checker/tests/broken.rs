//! The mistakes, each with the shortest run that shows it, as it is printed.
mod common;

use common::report;
use doorway_checker::Property;

/// The runs are pinned whole: a shorter one would have to be a better one, and a longer one is a defect.
macro_rules! mistakes {
    ($($test:ident: $name:literal, $n:literal, $property:ident => $run:literal;)*) => {$(
        #[test]
        fn $test() {
            let report = report($name, $n, |model| model.only([Property::$property]));
            let finding = report.finding(Property::$property);
            let run = finding.run.as_ref().expect("it fails");
            assert_eq!(format!("{finding}{run}"), $run);
        }
    )*};
}

mistakes! {
    lock_one_deadlocks_when_both_raise_their_flag_first: "lock-one", 2, DeadlockFreedom => "\
deadlock-freedom FAILS in 2 steps, and stays so
\x20  1  p0  7  flag[0] := true
\x20  2  p1  7  flag[1] := true
\x20 then for ever
\x20  3  p0  8  flag[1] = true
\x20  4  p1  8  flag[0] = true
";
    lock_two_hangs_one_who_is_alone: "lock-two", 2, DeadlockFreedom => "\
deadlock-freedom FAILS in 1 step, and stays so
\x20  1  p0  5  victim := 0
\x20 then for ever
\x20  2  p0  6  victim = 0
";
    livelock_lets_both_step_back_for_ever: "livelock", 2, DeadlockFreedom => "\
deadlock-freedom FAILS in 2 steps, and stays so
\x20  1  p0  7   flag[0] := true
\x20  2  p1  7   flag[1] := true
\x20 then for ever
\x20  3  p0  8   flag[1] = true
\x20  4  p1  8   flag[0] = true
\x20  5  p0  9   flag[0] := false
\x20  6  p1  9   flag[1] := false
\x20  7  p0  10  flag[1] = false
\x20  8  p1  10  flag[0] = false
\x20  9  p0  11  flag[0] := true
\x20 10  p1  11  flag[1] := true
";
    flaky_can_leave_busy_set_with_nobody_inside: "flaky", 2, DeadlockFreedom => "\
deadlock-freedom FAILS in 6 steps, and stays so
\x20  1  p0  8   turn := 0
\x20  2  p0  9   busy = false
\x20  3  p0  10  busy := true
\x20  4  p1  8   turn := 1
\x20  5  p0  11  turn = 1
\x20  6  p0  8   turn := 0
\x20 then for ever
\x20  7  p0  9   busy = true
\x20  8  p1  9   busy = true
\x20  9  p1  8   turn := 1
\x20 10  p0  8   turn := 0
";
    fast_path_lets_one_in_fast_and_one_in_slowly: "fast-path", 2, Exclusion => "\
exclusion FAILS in 11 steps
\x20  1  p0  6   x := 0
\x20  2  p0  7   y = ⊥
\x20  3  p1  6   x := 1
\x20  4  p1  7   y = ⊥
\x20  5  p0  8   y := 0
\x20  6  p0  9   x = 1
\x20  7  p0  8   flag[0] := true
\x20  8  p0  9   victim := 0
\x20  9  p0  10  flag[1] = false  -> inside
\x20 10  p1  8   y := 1
\x20 11  p1  9   x = 1            -> inside
";
    peterson_polite_starves_one_on_the_way_out: "peterson-polite", 2, StarvationFreedom => "\
starvation-freedom FAILS in 6 steps, and stays so (for process 0, 1): process 0 never gets out of its exit
\x20  1  p0  8   flag[0] := true
\x20  2  p0  9   victim := 0
\x20  3  p0  10  flag[1] = false   -> inside
\x20  4  p0  3   flag[0] := false
\x20  5  p1  8   flag[1] := true
\x20  6  p1  9   victim := 1
\x20 then for ever
\x20  7  p0  5   flag[1] = true
\x20  8  p1  10  flag[0] = false   -> inside
\x20  9  p1  3   flag[1] := false
\x20 10  p1  5   flag[0] = false   -> out
\x20 11  p1  8   flag[1] := true
\x20 12  p1  9   victim := 1
";
    peterson_polite_waits_in_its_exit: "peterson-polite", 2, BoundedExit => "\
bounded-exit FAILS in 5 steps, and stays so: process 0 can be kept in `exit`
\x20  1  p0  8   flag[0] := true
\x20  2  p0  9   victim := 0
\x20  3  p0  10  flag[1] = false   -> inside
\x20  4  p0  3   flag[0] := false
\x20  5  p1  8   flag[1] := true
\x20 then for ever
\x20  6  p0  5   flag[1] = true
";
    one_bit_starves_process_1: "one-bit", 2, StarvationFreedom => "\
starvation-freedom FAILS in 1 step, and stays so (for process 1): process 1 never gets inside
\x20  1  p1  9   flag[1] := true
\x20 then for ever
\x20  2  p0  9   flag[0] := true
\x20  3  p1  11  flag[0] = true
\x20  4  p1  12  flag[1] := false
\x20  5  p0  19  flag[1] = false   -> inside
\x20  6  p0  23  flag[0] := false  -> out
\x20  7  p1  13  flag[0] = false
\x20  8  p1  9   flag[1] := true
";
    dijkstra_starves_who_never_gets_the_turn: "dijkstra", 2, StarvationFreedom => "\
starvation-freedom FAILS in 1 step, and stays so (for process 0, 1): process 1 never gets inside
\x20  1  p1  1  flag[1] := 1
\x20 then for ever
\x20  2  p1  2  turn = 0
\x20  3  p0  1  flag[0] := 1
\x20  4  p0  2  turn = 0
\x20  5  p0  5  flag[0] := 2
\x20  6  p0  6  flag[1] = 1   -> inside
\x20  7  p1  3  flag[0] = 2
\x20  8  p0  7  flag[0] := 0  -> out
";
    filter_lets_latecomers_pass: "filter", 3, Fcfs => "\
fcfs FAILS in 13 steps: process 2 starts after process 1 is through the doorway, and enters first
\x20  1  p1  14  level[1] := 1
\x20  2  p1  15  victim[1] := 1
\x20  3  p2  14  level[2] := 1
\x20  4  p2  15  victim[1] := 2
\x20  5  p2  17  level[0] = 0
\x20  6  p0  14  level[0] := 1
\x20  7  p0  15  victim[1] := 0
\x20  8  p2  17  level[1] = 1
\x20  9  p2  17  victim[1] = 0
\x20 10  p2  14  level[2] := 2
\x20 11  p2  15  victim[2] := 2
\x20 12  p2  17  level[0] = 1
\x20 13  p2  17  level[1] = 1    -> inside
";
    timestamps_taken_at_the_same_time_go_in_a_circle: "timestamps-concurrent", 3, Rule => "\
rule FAILS in 9 steps: p0's 10 is later than p1's 12, that than p2's 11, and that than p0's
\x20  1  p0  1  label[1] = 00
\x20  2  p0  1  label[2] = 00
\x20  3  p1  1  label[0] = 00
\x20  4  p0  3  label[0] := 10  -> returned
\x20  5  p2  1  label[0] = 10
\x20  6  p2  1  label[1] = 00
\x20  7  p2  3  label[2] := 11  -> returned
\x20  8  p1  1  label[2] = 11
\x20  9  p1  3  label[1] := 12  -> returned
";
    k_bakery_without_its_first_announcement_lets_a_second_one_in: "k-bakery-no-announce", 2, Exclusion => "\
exclusion FAILS in 10 steps
\x20  1  p0  15  Ticket[0] = 0
\x20  2  p0  15  Ticket[1] = 0
\x20  3  p0  15  Ticket[0] := 1
\x20  4  p1  15  Ticket[0] = 1
\x20  5  p1  15  Ticket[1] = 0
\x20  6  p1  15  Ticket[1] := 2
\x20  7  p1  16  Want[1][0] := 2
\x20  8  p1  21  Want[0][1] = ∞   -> inside
\x20  9  p0  16  Want[0][1] := 1
\x20 10  p0  21  Want[1][0] = 2   -> inside
";
}
