//! Tests of the mutants, apart from the library: with them in it, the whole catalogue would be compiled twice.
mod checks;
mod originals;
mod rewrite;
mod run;
