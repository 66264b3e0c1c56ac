//! Checks an algorithm completely: every interleaving of its shared accesses, every property, and a shortest
//! counterexample to each property that fails.
//!
//! The terms are those of the [glossary](doorway_memory::glossary).
//!
//! The source itself is checked, executed on a memory of the checker: there is no second description that could be
//! wrong. [`check`] is the one call.
//!
//! ```
//! use doorway_checker::{check, Model, Property};
//! use doorway_memory::{Exclusion, Memory, Pid, Space};
//!
//! /// Both processes can find the other's flag down, and then raise their own.
//! struct Hasty<M: Memory> {
//!     flag: Vec<M::Reg<bool>>,
//! }
//!
//! impl<M: Memory> Exclusion<M> for Hasty<M> {
//!     type Place = ();
//!     type Inside = ();
//!     fn doorway(&self, _: &mut M, _: Pid) -> Result<(), M::Halt> {
//!         Ok(())
//!     }
//!     fn wait(&self, m: &mut M, p: Pid, _: &()) -> Result<(), M::Halt> {
//!         m.spin(|m| m.at("1").test(&self.flag[1 - p], |up| !up))?;
//!         m.at("2").write(&self.flag[p], true)
//!     }
//!     fn exit(&self, m: &mut M, p: Pid, _: &()) -> Result<(), M::Halt> {
//!         m.at("3").write(&self.flag[p], false)
//!     }
//! }
//!
//! let report = check(&Model::new(2), |space| Hasty { flag: space.per_process("flag", 2, false) })?;
//! assert!(report.fails(Property::Exclusion));
//! assert_eq!(
//!     report.finding(Property::Exclusion).execution.as_ref().unwrap().to_string(),
//!     "\
//! \x20  1  p0  1  flag[1] = false
//! \x20  2  p1  1  flag[0] = false
//! \x20  3  p0  2  flag[0] := true  -> inside
//! \x20  4  p1  2  flag[1] := true  -> inside
//! "
//! );
//! # Ok::<(), doorway_checker::Error>(())
//! ```
mod access;
mod actor;
mod assumptions;
mod automaton;
mod buffers;
mod choice;
mod components;
mod covering;
mod edges;
mod error;
mod every_n;
mod execution;
mod expand;
mod graph;
mod judge;
mod layout;
mod limits;
mod machine;
mod merge;
mod model;
mod order;
mod parallel;
#[cfg(test)]
mod persistent;
mod picture;
mod program;
mod progress;
mod properties;
mod real;
mod registers;
mod remote;
mod report;
mod scout;
mod search;
#[cfg(test)]
mod soundness;
mod stepper;
mod subject;
mod symmetry;
mod table;
mod tickets;
mod validate;
mod view;

use std::time::Instant;

pub use doorway_memory::{Cost, FailedCas, Property};
use doorway_memory::{Exclusion, Part};

pub use assumptions::Assumptions;
pub use choice::Choice;
pub use covering::{Construction, Covering, Outcome, covering};
pub use error::{Error, Fault};
pub use every_n::{EveryN, InOrder, Undecided, every_n, every_n_observed};
pub use execution::{Execution, Remote, Step};
use graph::Graph;
use judge::Judge;
use model::BUFFER;
pub use model::{MAX_PROCESSES, Model};
pub use picture::picture;
pub use program::Section;
use program::{Lock, Piece, Program};
pub use progress::{Observer, Phase, Progress};
pub use registers::{Handle, Registers};
pub use remote::{RemoteReferences, Worst, remote_references};
pub use report::{Bound, Bypass, Finding, Report, Verdict};
use search::Stop;
pub use stepper::{Process, State, Stepper, Violated};
pub use subject::Subject;
pub use view::{Halt, View};

/// Checks every execution of a lock, which `make` makes.
///
/// See the [crate's example](crate).
///
/// # Errors
/// If the algorithm breaks a rule of the interface, or the model cannot be searched. A property that fails is not an
/// error: it is in the report.
pub fn check<A: Exclusion<View>>(model: &Model, make: impl FnOnce(&mut Registers) -> A) -> Result<Report, Error> {
    let mut registers = Registers::default();
    let lock = Lock::make(&mut registers, make);
    check_program(&lock, &registers, model)
}

/// Checks every execution of calls to a part, which `make` makes.
///
/// ```
/// use doorway_checker::{check_part, Model, Property};
/// use doorway_memory::{Memory, Part, Pid, Space};
///
/// /// Returns a different number to each caller, or so it should.
/// struct Counter<M: Memory>(M::Reg<u64>);
///
/// impl<M: Memory> Part<M> for Counter<M> {
///     type Outcome = u64;
///     fn call(&self, m: &mut M, _: Pid) -> Result<u64, M::Halt> {
///         let number = m.read(&self.0)?;
///         m.write(&self.0, number + 1)?;
///         Ok(number)
///     }
///     fn rule(&self, latest: &[Option<u64>]) -> Result<(), String> {
///         match latest {
///             [Some(a), Some(b)] if a == b => Err(format!("both calls returned {a}")),
///             _ => Ok(()),
///         }
///     }
/// }
///
/// let report = check_part(&Model::new(2), |space| Counter(space.shared("count", 0)))?;
/// assert_eq!(report.finding(Property::Rule).note, "both calls returned 0");
/// assert!(report.holds(Property::WaitFree));
/// # Ok::<(), doorway_checker::Error>(())
/// ```
///
/// # Errors
/// As [`check`].
pub fn check_part<A: Part<View>>(model: &Model, make: impl FnOnce(&mut Registers) -> A) -> Result<Report, Error> {
    let mut registers = Registers::default();
    let part = Piece::make(&mut registers, make);
    check_program(&part, &registers, model)
}

fn check_program(program: &dyn Program, registers: &Registers, model: &Model) -> Result<Report, Error> {
    let start = Instant::now();
    validate::model(model)?;
    validate::program(model, program)?;
    let wanted = properties::wanted(program, model);
    let states_only = wanted.iter().all(|&property| properties::is_about_states(property));
    let graph = Graph::explore(program, registers.of(model).to_vec(), model, !states_only)?;
    if let Some(observer) = &model.observer {
        observer.progress(&Progress {
            phase: Phase::Judging,
            states: graph.states(),
            depth: graph.depth(),
            bytes: graph.bytes() as u64,
            growing: None,
        });
    }
    let judge = if states_only { Judge::of_few_states(&graph, model) } else { Judge::new(&graph, model) };
    let findings = properties::judge(program, judge)?;
    let is_open = |finding: &Finding| finding.verdict == Verdict::Unknown;
    if model.drops_differences() && graph.stop.is_none() && !model.cancelled() && findings.iter().any(is_open) {
        // A path that no execution takes may be one on account of what was forgotten or merged.
        return check_program(program, registers, &Model { forgets: false, merges: false, ..model.clone() });
    }
    let unjudged = !states_only && graph.stop.is_none() && model.cancelled();
    let incomplete = if unjudged {
        Some("all states were found, but checking the properties was interrupted".to_string())
    } else {
        let options: &[Fewer] = if graph.automaton.is_part { &[Fewer::Forget] } else { &[Fewer::Forget, Fewer::Merge] };
        incomplete(&graph, model, options)
    };
    Ok(Report {
        states: graph.found(),
        transitions: graph.transitions,
        depth: graph.depth(),
        seconds: start.elapsed().as_secs_f64(),
        bytes_per_state: graph.searched_bytes as f64 / graph.states() as f64,
        incomplete,
        stopped: graph.stop.is_some() || unjudged,
        growing: graph.growing().map(|(register, _)| register.to_string()),
        findings,
        primitives: graph.automaton.primitives_met(),
        fences: graph.automaton.fences_met(),
    })
}

/// An option by which states count as one.
#[derive(Clone, Copy)]
enum Fewer {
    Forget,
    Merge,
}

/// Why a graph does not stand for every execution, in words, with those of these options that the model allows; none if it does.
fn incomplete(graph: &Graph, model: &Model, options: &[Fewer]) -> Option<String> {
    let mut reasons = Vec::new();
    let used = format!("{} used", size(graph.most_bytes));
    let states = graph.found();
    let ways_out = |limit: Option<&str>| {
        let raise = limit.map(|limit| format!("raise the limit on {limit}"));
        let ways: Vec<String> = raise.into_iter().chain(with_fewer_states(model, options)).collect();
        match ways.split_last() {
            None => String::new(),
            Some((only, [])) => format!("; {only}"),
            Some((last, ways)) => format!("; {}, or {last}", ways.join(", ")),
        }
    };
    match graph.stop {
        None => {}
        Some(Stop::Found) => reasons.push("the search ended with the first violation".to_string()),
        Some(Stop::States) => {
            let ways_out = ways_out(Some("states"));
            reasons.push(format!("stopped at {states} states with {used}{ways_out}"));
        }
        Some(Stop::Memory) => {
            let ways_out = ways_out(Some("memory"));
            let room = "and room left to check their properties";
            reasons.push(format!("stopped at {states} states with {used} {room}{ways_out}"));
        }
        Some(Stop::Ids) => {
            reasons.push(format!("stopped at {states} states, as many as can be numbered{}", ways_out(None)));
        }
        Some(Stop::Cancelled) => reasons.push(format!("interrupted at {states} states{}", ways_out(None))),
    }
    if let Some((register, values)) = graph.growing() {
        reasons.push(format!(
            "`{register}` has held {values} values: with a number that grows for ever a search does not end, \
             unless it is a `Ticket`"
        ));
    }
    let at_most = |limit: u32| {
        let passage = if graph.automaton.is_part { "call" } else { "passage" };
        format!("at most {limit} {passage}{}", if limit == 1 { "" } else { "s" })
    };
    if let Some(passages) = model.passages {
        reasons.push(format!("each process makes {}", at_most(passages)));
    }
    if let Some(passages) = model.passages_in_all
        && graph.cut > 0
    {
        reasons.push(format!("all processes together make {}", at_most(passages)));
    }
    if graph.full {
        reasons.push(format!(
            "store buffers of {BUFFER} writes were full, and executions that need longer ones were not explored"
        ));
    }
    if let Some(cap) = model.ticket_cap
        && graph.cut > 0
    {
        reasons.push(format!("tickets above {cap} were cut {} times", graph.cut));
    }
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

/// What may have fewer states: those of these options that the model allows, and fewer processes.
fn with_fewer_states(model: &Model, options: &[Fewer]) -> Vec<String> {
    let plain = Model { forgets: false, merges: false, ..model.clone() };
    let allowed = |option: &Fewer| match option {
        Fewer::Forget => (!model.forgets && validate::model(&plain.clone().forget()).is_ok()).then_some("`forget`"),
        Fewer::Merge => (!model.merges && validate::model(&plain.clone().merge()).is_ok()).then_some("`merge`"),
    };
    let allowed: Vec<&str> = options.iter().filter_map(allowed).collect();
    let instead = if model.drops_differences() { " instead" } else { "" };
    let as_one = (!allowed.is_empty()).then(|| format!("count states as one{instead} ({})", allowed.join(", ")));
    as_one.into_iter().chain((model.n > 1).then(|| "check it with fewer processes".to_string())).collect()
}

/// A number of bytes, in megabytes below a gigabyte.
fn size(bytes: usize) -> String {
    let bytes = bytes as f64;
    if bytes < 1e9 { format!("{:.1} MB", bytes / 1e6) } else { format!("{:.1} GB", bytes / 1e9) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_below_a_gigabyte_are_in_megabytes() {
        assert_eq!([0, 40_000, 999_900_000, 1_000_000_000].map(size), ["0.0 MB", "0.0 MB", "999.9 MB", "1.0 GB"]);
    }

    #[test]
    fn a_search_that_ends_early_names_only_options_that_the_model_allows() {
        let fewer = "check it with fewer processes";
        let ways = |model: Model| with_fewer_states(&model, &[Fewer::Forget, Fewer::Merge]);
        assert_eq!(ways(Model::new(3)), ["count states as one (`forget`, `merge`)", fewer]);
        assert_eq!(with_fewer_states(&Model::new(3), &[Fewer::Forget]), ["count states as one (`forget`)", fewer]);
        assert_eq!(ways(Model::new(3).safe_registers()), ["count states as one (`forget`)", fewer]);
        assert_eq!(ways(Model::new(3).merge()), ["count states as one instead (`forget`)", fewer]);
        assert_eq!(ways(Model::new(3).deaths().expiries()), [fewer]);
        assert!(with_fewer_states(&Model::new(1).forget(), &[Fewer::Forget]).is_empty());
    }
}
