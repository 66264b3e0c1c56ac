//! Rules of parts.
use alloc::string::String;

use doorway_memory::Pid;

/// The rule of a part whose calls are judged one by one: `complaint` says what is wrong with an outcome, if anything is.
pub(crate) fn of_each_call<T: Copy>(
    latest: &[Option<T>],
    complaint: impl Fn(Pid, T) -> Option<String>,
) -> Result<(), String> {
    match latest.iter().enumerate().find_map(|(p, outcome)| complaint(p, (*outcome)?)) {
        None => Ok(()),
        Some(complaint) => Err(complaint),
    }
}
