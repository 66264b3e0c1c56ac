//! Mutants that no check refutes: those that no check can refute, with the reason, and those that a larger check might.
mod equivalent;
mod surviving;

pub use equivalent::EQUIVALENT;
pub use surviving::SURVIVING;

/// What is known of some mutants.
#[derive(Clone, Copy, Debug)]
pub struct Judgement {
    /// Why the mutants keep every claim, or what is known of them if they survive.
    pub reason: &'static str,
    /// The keys of the mutants: file, function and change, as a campaign prints them.
    pub keys: &'static [&'static str],
}

/// Whether there is a reason why no check can refute this mutant.
#[must_use]
pub fn is_equivalent(key: &str) -> bool {
    EQUIVALENT.iter().any(|judgement| judgement.keys.contains(&key))
}
