//! The checker on the algorithms of the catalogue: one program, so that they are compiled once.
mod common;

mod broken;
mod claims;
mod covering;
mod danek_golab;
mod deaths;
mod limits;
mod linked;
mod remote;
mod rules;
mod safe;
mod symmetry;
mod trying;
mod tso;
mod verdicts;
