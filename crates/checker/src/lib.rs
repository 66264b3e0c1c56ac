//! Checks an algorithm completely: every interleaving of its shared accesses, every property, and the shortest run that
//! breaks one.
//!
//! What is checked is the source itself, running on a memory of the checker's: there is no second description that could be
//! wrong. [`check`] is the one call.
//!
//! ```
//! use doorway_checker::{check, Model, Property};
//! use doorway_memory::{Exclusion, Memory, Pid, Space};
//!
//! /// Both can see the other's flag down, and then raise their own.
//! struct Hasty<M: Memory> {
//!     flag: Vec<M::Reg<bool>>,
//! }
//!
//! impl<M: Memory> Exclusion<M> for Hasty<M> {
//!     type Place = ();
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
//!     report.finding(Property::Exclusion).run.as_ref().unwrap().to_string(),
//!     "\
//! \x20  1  p0  1  flag[1] = false
//! \x20  2  p1  1  flag[0] = false
//! \x20  3  p0  2  flag[0] := true  -> inside
//! \x20  4  p1  2  flag[1] := true  -> inside
//! "
//! );
//! # Ok::<(), doorway_checker::Error>(())
//! ```
mod automaton;
mod buffers;
mod components;
mod covering;
mod error;
mod expand;
mod graph;
mod judge;
mod layout;
mod limits;
mod model;
mod parallel;
mod program;
mod properties;
mod real;
mod remote;
mod report;
mod run;
mod search;
#[cfg(test)]
mod soundness;
mod symmetry;
mod tickets;
mod view;

use std::time::Instant;

pub use doorway_memory::{Cost, FailedCas, Property};
use doorway_memory::{Exclusion, Part};

pub use covering::{Construction, Covering, Outcome, covering};
pub use error::{Error, Fault};
use graph::Graph;
use judge::Judge;
use model::BUFFER;
pub use model::{MAX_PROCESSES, Model, Observer, Phase, Progress};
pub use program::Section;
use program::{Lock, Piece, Program};
pub use remote::{RemoteReferences, Worst, remote_references};
pub use report::{Bound, Bypass, Finding, Report, Verdict};
pub use run::{Run, Step};
use search::Stop;
pub use view::{Halt, Handle, Registers, View};

/// Checks a lock: makes it with `make`, and looks at every run of it.
///
/// See the [crate's example](crate).
///
/// # Errors
/// If the algorithm breaks a rule of the interface, or the model cannot be searched. A property that fails is not an error:
/// it is in the report.
pub fn check<A: Exclusion<View>>(model: &Model, make: impl FnOnce(&mut Registers) -> A) -> Result<Report, Error> {
    let mut registers = Registers::default();
    let lock = Lock::make(&mut registers, model.k, make);
    check_program(&lock, registers, model)
}

/// Checks a part: makes it with `make`, and looks at every run of calls to it.
///
/// ```
/// use doorway_checker::{check_part, Model, Property};
/// use doorway_memory::{Memory, Part, Pid, Space};
///
/// /// Everyone is told a different number, or so it should be.
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
///             [Some(a), Some(b)] if a == b => Err(format!("both were told {a}")),
///             _ => Ok(()),
///         }
///     }
/// }
///
/// let report = check_part(&Model::new(2), |space| Counter(space.shared("count", 0)))?;
/// assert_eq!(report.finding(Property::Rule).note, "both were told 0");
/// assert!(report.holds(Property::WaitFree));
/// # Ok::<(), doorway_checker::Error>(())
/// ```
///
/// # Errors
/// As [`check`].
pub fn check_part<A: Part<View>>(model: &Model, make: impl FnOnce(&mut Registers) -> A) -> Result<Report, Error> {
    let mut registers = Registers::default();
    let part = Piece::make(&mut registers, make);
    check_program(&part, registers, model)
}

fn check_program(program: &dyn Program, registers: Registers, model: &Model) -> Result<Report, Error> {
    let start = Instant::now();
    model.validate()?;
    if program.is_part() && model.crashes > 0 {
        return Err(Error::Model("crashes are for locks; a part is checked without".to_string()));
    }
    if program.is_part() && model.has_interruptions() {
        let what = if model.deaths { "deaths" } else { "abandons" };
        return Err(Error::Model(format!("{what} are for locks; a part is checked without")));
    }
    if model.deaths && !program.is_reapable() {
        return Err(Error::Model("who dies in it cannot be reaped; check it without deaths".to_string()));
    }
    if model.abandons && !program.is_abandonable() {
        return Err(Error::Model("who waits in it cannot give up; check it without abandons".to_string()));
    }
    if program.is_part() && model.safe_registers {
        return Err(Error::Model("safe registers are for locks; a part is checked on atomic ones".to_string()));
    }
    if model.safe_registers && model.symmetric {
        return Err(Error::Model("a safe register has one writer, so processes are not all alike".to_string()));
    }
    if model.symmetric {
        if !program.is_symmetric() {
            let why = "its processes look at their numbers, so they are not all alike; check it without symmetry";
            return Err(Error::Model(why.to_string()));
        }
        if let Some(order) = model.properties.iter().find(|&&property| properties::is_about_order(property)) {
            let why = format!("`{order}` is about who comes first; check it without symmetry");
            return Err(Error::Model(why));
        }
    }
    let all = properties::of(program);
    if let Some(other) = model.properties.iter().find(|property| !all.contains(property)) {
        let kind = if program.is_part() { "part" } else { "lock" };
        let all: Vec<&str> = all.iter().map(|property| property.name()).collect();
        return Err(Error::Model(format!("`{other}` is not a property of this {kind}; it has {}", all.join(", "))));
    }
    let wanted = properties::wanted(program, model);
    let states_only = wanted.iter().all(|&property| properties::is_about_states(property));
    let mut graph = Graph::explore(program, registers.list.clone(), model, !states_only)?;
    if graph.stop == Some(Stop::Found) {
        // Now the way there is wanted too. The search is the same, so it comes to the same state again.
        let up_to_there = model.clone().max_states(graph.states() + 1);
        graph = Graph::explore(program, registers.list, &up_to_there, true)?;
        if graph.stop != Some(Stop::Memory) {
            graph.stop = Some(Stop::Found);
        }
    }
    if let Some(observer) = &model.observer {
        observer.progress(&Progress {
            phase: Phase::Judging,
            states: graph.states(),
            depth: graph.depth(),
            bytes: graph.bytes() as u64,
            growing: None,
        });
    }
    let findings = properties::judge(program, Judge::new(&graph, model))?;
    let unjudged = !states_only && graph.stop.is_none() && model.cancelled();
    let incomplete = if unjudged {
        Some("all states were found, but judging them was interrupted".to_string())
    } else {
        incomplete(&graph, model)
    };
    Ok(Report {
        states: graph.states(),
        transitions: graph.transitions(),
        depth: graph.depth(),
        seconds: start.elapsed().as_secs_f64(),
        bytes_per_state: graph.state_bytes as f64 / graph.states() as f64,
        incomplete,
        stopped: graph.stop.is_some() || unjudged,
        growing: graph.growing().map(|(register, _)| register.to_string()),
        findings,
        primitives: graph.automaton.primitives_met(),
        fences: graph.automaton.fences_met(),
    })
}

/// Why a graph is not all there is, in words.
fn incomplete(graph: &Graph, model: &Model) -> Option<String> {
    let mut reasons = Vec::new();
    let used = format!("{:.1} GB used", graph.most_bytes as f64 / 1e9);
    let states = graph.states();
    let (or_lower, lower) = if model.n > 1 { (" or lower -n", "; lower -n") } else { ("", "") };
    match graph.stop {
        None => {}
        Some(Stop::Found) => reasons.push("the search ended with the first violation".to_string()),
        Some(Stop::States) => {
            reasons.push(format!("stopped at {states} states with {used}; raise --max-states{or_lower}"));
        }
        Some(Stop::Memory) => {
            let judging = "and room left to judge them";
            reasons.push(format!("stopped at {states} states with {used} {judging}; raise --max-memory{or_lower}"));
        }
        Some(Stop::Ids) => reasons.push(format!("stopped at {states} states, as many as can be numbered{lower}")),
        Some(Stop::Cancelled) => reasons.push(format!("interrupted at {states} states")),
    }
    if let Some((register, values)) = graph.growing() {
        reasons.push(format!(
            "`{register}` has held {values} values: a number that grows for ever makes a search without end, unless it is a `Ticket`"
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
        reasons.push(format!("store buffers of {BUFFER} writes were full, and longer ones were not looked at"));
    }
    if let Some(cap) = model.ticket_cap
        && graph.cut > 0
    {
        reasons.push(format!("tickets above {cap} were cut {} times", graph.cut));
    }
    (!reasons.is_empty()).then(|| reasons.join("; "))
}
