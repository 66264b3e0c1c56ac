//! What is known of mutants that no check refutes.
use std::{collections::BTreeSet, path::Path};

use doorway_mutants::{
    judgements::{EQUIVALENT, SURVIVING},
    workspace,
};

fn mutants() -> Vec<workspace::Numbered> {
    workspace::mutants(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
}

#[test]
fn every_judgement_is_about_a_mutant_of_the_sources() {
    let mutants: BTreeSet<String> = mutants().iter().map(workspace::Numbered::key).collect();
    let mut seen = BTreeSet::new();
    for key in EQUIVALENT.iter().chain(SURVIVING).flat_map(|judgement| judgement.keys) {
        assert!(mutants.contains(*key), "there is no mutant `{key}`");
        assert!(seen.insert(key), "`{key}` is judged twice");
    }
}

#[test]
fn entries_and_constructors_have_no_mutants() {
    let mutants = mutants();
    assert!(mutants.len() > 1_000, "{}", mutants.len());
    let constructors: Vec<_> = mutants.iter().filter(|mutant| mutant.function.ends_with("new")).collect();
    assert!(constructors.is_empty(), "{constructors:?}");
}
