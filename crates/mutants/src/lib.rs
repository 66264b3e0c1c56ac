//! Mutation testing of the catalogue of algorithms: every small change of an algorithm must be refuted by a check, or
//! be argued to change nothing that is claimed.
//!
//! | | |
//! |---|---|
//! | [`rewrite`] | finds the mutants of a source |
//! | [`workspace`] | builds a copy of the catalogue with all mutants in it |
//! | [`checks`] | the table of checks |
//! | [`run`] | runs one check |
//! | [`campaign`] | runs the checks on the mutants |
//! | [`judgements`] | what is known of mutants that no check refutes |
//! | [`table`] | the results as a document |
pub mod campaign;
pub mod checks;
pub mod judgements;
pub mod rewrite;
pub mod run;
pub mod table;
mod table_of_checks;
pub mod workspace;
