//! Tests of the mutation engine; unit tests in the library would compile the whole catalogue twice.
mod checks;
mod judgements;
mod originals;
mod rewrite;
mod run;
