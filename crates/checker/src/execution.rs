//! Executions of the algorithm, as people read them.
use std::fmt;

use doorway_memory::Pid;

use crate::{
    actor::{Actor, ActorSet},
    choice::Choice,
    graph::Id,
    program::Section,
};

/// An execution from the initial state: a sequence of steps which, if it is a lasso, ends with a cycle that can be
/// repeated for ever.
///
/// Its `Display` is one line for each step: number, process, the paper's line, the access.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Execution {
    /// The steps, from the initial state.
    pub steps: Vec<Step>,
    /// The index of the step with which the cycle starts, if there is one. The cycle ends with the last step.
    pub cycle_at: Option<usize>,
}

/// One step of an execution.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct Step {
    /// What happened: with these choices a [`Stepper`](crate::Stepper) takes the execution again.
    pub choice: Choice,
    /// The process that takes the step; or that is dead, and for which another takes it; or whose write becomes
    /// visible.
    pub process: Pid,
    /// The line of the paper, or else of the source.
    pub line: String,
    /// The access: `flag[0] := true` is a write, `flag[1] = true` a read. With store buffers there are also `fence` and
    /// `flag[0] := true becomes visible`, which is no step of the process; with deaths and aborts `dies` and `aborts`,
    /// and `flag[0] := true by another` in the reap of a dead process.
    pub access: String,
    /// What the process arrives at with this step, if anything: `inside` (it enters the critical section), `out` (it is
    /// back in the remainder), `reaped`, or for a part `returned`.
    pub arrives: Option<&'static str>,
    /// The sections of the process before and after the step.
    pub sections: [Section; 2],
    /// The register that it accesses, by its index.
    pub register: Option<usize>,
    /// Whether it reads the register.
    pub reads: bool,
    /// Whether it writes the register, visibly for all: a write that goes into a store buffer does not.
    pub writes: bool,
    /// If it reads: the index of the step with the write that it saw. `None` for the initial value.
    pub from: Option<usize>,
    /// Whether the access is a remote memory reference. `None` where these are not counted: with store buffers, on safe
    /// registers, and if it accesses no register.
    pub remote: Option<Remote>,
}

/// Whether an access is a remote memory reference.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(clippy::exhaustive_structs, reason = "there are two cost models")]
pub struct Remote {
    /// In the CC model: everything but a read of a register of which the process has a valid copy.
    pub cc: bool,
    /// In the DSM model: an access to a register that is not at home at the process.
    pub dsm: bool,
}

impl fmt::Display for Execution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.show(f, &[])
    }
}

impl Execution {
    /// Prints the steps, with remarks before some of them.
    pub(crate) fn show(&self, f: &mut fmt::Formatter<'_>, remarks: &[(usize, String)]) -> fmt::Result {
        let width = self.steps.iter().map(|step| step.line.chars().count()).max().unwrap_or(0);
        let widest = self.steps.iter().map(|step| step.access.chars().count()).max().unwrap_or(0);
        for (i, Step { process, line, access, arrives, .. }) in self.steps.iter().enumerate() {
            for (_, remark) in remarks.iter().filter(|(at, _)| *at == i) {
                writeln!(f, "  {remark}")?;
            }
            if self.cycle_at == Some(i) {
                writeln!(f, "  then for ever")?;
            }
            write!(f, "{:>4}  p{process}  {line:<width$}  ", i + 1)?;
            match arrives {
                Some(arrives) => writeln!(f, "{access:<widest$}  -> {arrives}")?,
                None => writeln!(f, "{access}")?,
            }
        }
        Ok(())
    }
}

/// A path through the graph: the actors of its steps, and the states they lead to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Path {
    pub(crate) steps: Vec<(Actor, Id)>,
    pub(crate) cycle_at: Option<usize>,
}

impl Path {
    /// Adds the crash of a process in this state, which a crash does not change.
    pub(crate) fn crash(&mut self, p: Pid, state: Id) {
        self.steps.push((Actor::Crash(p), state));
    }

    /// The number of steps before the cycle, or in all.
    pub(crate) fn stem(&self) -> usize {
        self.cycle_at.unwrap_or(self.steps.len())
    }

    /// The path that goes on with this cycle.
    pub(crate) fn followed_by(mut self, cycle: Vec<(Actor, Id)>) -> Path {
        self.cycle_at = Some(self.steps.len());
        self.steps.extend(cycle);
        self
    }

    /// The actors of its steps.
    pub(crate) fn actors(&self) -> ActorSet {
        self.steps.iter().fold(ActorSet::default(), |set, &(actor, _)| set.with(actor))
    }
}
