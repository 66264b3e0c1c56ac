//! What a remote memory reference is.

/// A cost model: which accesses are remote memory references.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cost {
    /// Distributed shared memory: accesses of registers whose home is not the process.
    Dsm,
    /// Coherent caches, write-through and write-invalidate: writes, and reads that miss the process' cache. A register is in
    /// a process' cache from the process' access until another process writes it.
    Cc(FailedCas),
}

/// Whether a failed compare-and-swap invalidates other caches. It is a remote memory reference in any case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FailedCas {
    /// It does, as a write does.
    Counts,
    /// It does not: "smart caches".
    Free,
}
