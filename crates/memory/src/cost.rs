//! What a remote memory reference is.

/// Which accesses are remote.
///
/// ```
/// use doorway_memory::{Cost, FailedCas};
/// let (caches, homes) = (Cost::Cc(FailedCas::Counts), Cost::Dsm);
/// assert_ne!(caches, homes);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cost {
    /// Distributed shared memory: those of registers that are not at home with the process.
    Dsm,
    /// Coherent caches, write-through and write-invalidate: writes, and reads of what is not in one's cache. Whatever a
    /// process accesses is in its cache from then on, until another process writes it.
    Cc(FailedCas),
}

/// Whether a compare-and-swap that fails makes others fetch the register again. It is remote in any case.
///
/// ```
/// use doorway_memory::FailedCas;
/// assert_ne!(FailedCas::Counts, FailedCas::Free);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FailedCas {
    /// It does, as a write would.
    Counts,
    /// It does not: a "smart cache".
    Free,
}
