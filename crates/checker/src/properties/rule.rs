//! `rule`: the latest outcomes of a part's calls obey the rule that the part states.
use super::{Evidence, Violation, outcomes};
use crate::real::Finder;

pub(super) fn check(evidence: &Evidence<'_>, find: &impl Finder) -> Option<Violation> {
    outcomes::breach(evidence, find)
}
