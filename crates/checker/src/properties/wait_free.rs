//! `wait-free`: a call of a part takes a bounded number of the process's own steps, whatever others do.
use super::{Evidence, Violation, bounded_section};
use crate::{program::Section, real::Finder};

pub(super) fn check(evidence: &Evidence<'_>, find: &impl Finder) -> Option<Violation> {
    bounded_section::unbounded(evidence, find, Section::Wait)
}
