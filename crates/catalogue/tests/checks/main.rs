//! The checker applied to the algorithms of the catalogue: a single program, so that they are compiled once.
mod common;

mod claims;
mod compare;
mod covering;
mod danek_golab;
mod deaths;
mod every_n;
mod expiries;
mod knobs;
mod limits;
mod linked;
mod names;
mod remote;
mod rules;
mod safe;
mod stepper;
mod symmetry;
mod trying;
mod tso;
mod verdicts;
