//! The table of checks.
use std::collections::BTreeSet;

use doorway_algorithms::registry;
use doorway_mutants::checks::checks;

#[test]
fn every_check_is_listed_once_and_has_a_supported_size() {
    let mut seen = BTreeSet::new();
    for check in checks() {
        assert!(seen.insert(check.to_string()), "`{check}` is listed twice");
        let about = registry::find(check.algorithm).unwrap();
        let k = (about.kind == doorway_algorithms::Kind::KExclusion).then_some(check.k);
        assert!(about.size(Some(check.n), k).is_ok(), "`{check}`");
    }
}
