//! Rules of parts.
use alloc::string::String;

use doorway_memory::Pid;

/// Applies a rule that judges each call by itself: `complaint` describes what is wrong with an outcome, if anything is.
pub(crate) fn of_each_call<T: Copy>(
    latest: &[Option<T>],
    complaint: impl Fn(Pid, T) -> Option<String>,
) -> Result<(), String> {
    match latest.iter().enumerate().find_map(|(p, outcome)| complaint(p, (*outcome)?)) {
        None => Ok(()),
        Some(complaint) => Err(complaint),
    }
}
