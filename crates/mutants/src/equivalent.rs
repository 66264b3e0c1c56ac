//! Mutants that no check can refute, with the reason.

/// A mutant that keeps everything that is claimed.
#[derive(Clone, Copy, Debug)]
pub struct Equivalent {
    /// The mutant: file, function and change, as a campaign prints them.
    pub key: &'static str,
    /// Why nothing that is claimed is lost.
    pub reason: &'static str,
}

/// Every one of them, by file.
pub const EQUIVALENT: &[Equivalent] = &[];
