//! A differential fuzzer for the checker.
//!
//! A small [language](lang) of locks is executed twice: as an ordinary lock over the checker's memory ([`lock`]), and
//! by an explorer that shares no code with the checker ([`machine`], [`explore`]) and has its own definitions of every
//! property ([`properties`], [`remote`]). Every verdict, bound and counterexample is then [compared](compare).
//!
//! `scripts/fuzz [MINUTES]` runs all [campaigns] from a fresh seed; `cargo run --release -p doorway-fuzz -- --help`
//! lists the options. A campaign and a seed always give the same case. A program on which the answers differ is
//! [shrunk](shrink) and printed as pseudo-code with both answers.
//!
//! Tickets are plain numbers for the explorer, cut at a cap. If nothing was cut the answers must be the same; otherwise
//! a property that holds for the checker must have no violation below the cap, and the checker's bounds must not be
//! smaller.
//!
//! A new campaign takes a name in [`campaigns::NAMES`] and, in `draw`, the programs it starts from, their setup and
//! what mutations may use. `defects/` has defects to plant in the checker; `scripts/fuzz-defects` shows which campaigns
//! find them.
pub mod campaigns;
pub mod catalogue;
pub mod code;
pub mod compare;
pub mod components;
mod eval;
pub mod explore;
pub mod games;
pub mod lang;
pub mod lock;
pub mod machine;
pub mod make;
pub mod mutate;
pub mod parts;
pub mod properties;
pub mod random;
pub mod remote;
pub mod replay;
pub mod setup;
pub mod shrink;
pub mod state;
