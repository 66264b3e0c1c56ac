//! `assignment`: every holder has a name below k, and no two holders have the same.
use super::{Evidence, Violation, outcomes};
use crate::real::Finder;

pub(super) fn check(evidence: &Evidence<'_>, find: &impl Finder) -> Option<Violation> {
    outcomes::breach(evidence, find)
}
