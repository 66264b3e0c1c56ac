//! `bounded-exit`: the exit section takes a bounded number of the process's own steps, whatever others do. So do an
//! abort and a reap, in models that have them.
use super::{Evidence, Violation, bounded_section};
use crate::{program::Section, real::Finder};

pub(super) fn check(evidence: &Evidence<'_>, find: &impl Finder) -> Option<Violation> {
    Section::LEAVING.into_iter().find_map(|section| bounded_section::unbounded(evidence, find, section))
}
