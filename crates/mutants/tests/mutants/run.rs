//! The outcome of a check, and when it refutes a mutant.
use std::time::Duration;

use doorway_mutants::{
    checks::Check,
    run::{Limits, Outcome, run},
};

fn outcome(text: &str) -> Outcome {
    text.parse().unwrap()
}

#[test]
fn an_outcome_can_be_written_and_parsed() {
    for text in ["decided 218 400 0.001 0 exclusion=holds bypass=0", "refused process 0 panicked", "hangs"] {
        assert_eq!(outcome(text).to_string(), text);
    }
    assert!("nonsense".parse::<Outcome>().is_err());
}

#[test]
fn only_a_worse_outcome_than_the_original_refutes() {
    let original = outcome("decided 9 9 0.1 0 exclusion=holds fcfs=fails bypass=1 rmr=5");
    let refuted = |text: &str| outcome(text).refutes(&original);
    assert_eq!(refuted("decided 9 9 0.1 0 exclusion=fails"), Some("exclusion fails".to_string()));
    assert_eq!(refuted("decided 9 9 0.1 0 fcfs=holds"), Some("fcfs holds".to_string()));
    assert_eq!(refuted("decided 9 9 0.1 1 fcfs=holds exclusion=unknown"), None);
    assert_eq!(refuted("decided 9 9 0.1 0 bypass=unbounded"), Some("bypass unbounded".to_string()));
    assert_eq!(refuted("decided 9 9 0.1 0 rmr=6 bypass=0"), Some("rmr 6".to_string()));
    assert_eq!(refuted("decided 9 9 0.1 0 rmr=4"), None);
    assert_eq!(refuted("hangs"), Some("hangs".to_string()));
    assert_eq!(refuted("decided 9 9 0.1 1 registers=unbounded"), Some("a register is unbounded".to_string()));
    let limited = outcome("decided 9 9 0.1 1 exclusion=unknown");
    assert_eq!(outcome("decided 9 9 0.1 1 exclusion=unknown").refutes(&limited), None);
    assert_eq!(outcome("decided 5 5 0.1 0 exclusion=fails").refutes(&limited), Some("exclusion fails".to_string()));
}

#[test]
fn the_bakery_is_as_claimed() {
    let limits = Limits { states: None, time: Duration::from_secs(60), threads: 1 };
    let found = run(&Check::new("bakery", 2), limits);
    let Outcome::Decided { states, cut, verdicts, .. } = found else { panic!("{found}") };
    assert_eq!((states, cut), (218, false));
    assert!(verdicts.iter().all(|(_, verdict)| verdict == "holds" || verdict == "0"), "{verdicts:?}");
}
