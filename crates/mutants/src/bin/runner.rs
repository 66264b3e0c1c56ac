//! Runs one check of one mutant: `runner MAX_STATES SECONDS THREADS CHECK`; 0 states are no limit.
//!
//! It is built with the mutants in place of the originals. An environment variable selects the mutant. A mutant that
//! hangs or aborts affects only its own process.
use std::{env, process::ExitCode, time::Duration};

use doorway_mutants::{
    checks::checks,
    run::{Limits, run},
};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [states, seconds, threads, wanted] = arguments.as_slice() else {
        eprintln!("usage: runner MAX_STATES SECONDS THREADS CHECK");
        return ExitCode::from(2);
    };
    let (Ok(states), Ok(seconds), Ok(threads)) = (states.parse::<u64>(), seconds.parse::<f64>(), threads.parse())
    else {
        eprintln!("limits are numbers");
        return ExitCode::from(2);
    };
    let Some(check) = checks().iter().find(|check| check.to_string() == *wanted) else {
        eprintln!("`{wanted}` is not in the table of checks");
        return ExitCode::from(2);
    };
    let limits = Limits { states: (states > 0).then_some(states), time: Duration::from_secs_f64(seconds), threads };
    println!("{}", run(check, limits));
    ExitCode::SUCCESS
}
