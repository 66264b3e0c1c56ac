//! Execution of one step of the algorithm's source, guarded against panics and broken rules.
use std::panic::{AssertUnwindSafe, catch_unwind};

use doorway_memory::Pid;

use super::{Automaton, Local, UNLIMITED, Whereabouts, forgotten::Seen};
use crate::{
    access::{Access, Op},
    error::{Error, Fault},
    model::Setting,
    program::{Program, Section},
    view::{View, Word},
};

/// The result of executing one step of a process.
pub(crate) struct Ran {
    pub(crate) section: Section,
    pub(crate) passages: u32,
    pub(crate) history: Vec<Word>,
    pub(crate) access: Option<Access>,
    pub(crate) written: u64,
}

impl Ran {
    /// Whether two executions of a step had the same result.
    pub(super) fn is(&self, other: &Ran) -> bool {
        self.is_but_operands(other) && same(self.access.as_ref(), other.access.as_ref())
    }

    /// Whether two executions of a step had the same result, though the operands of their accesses may differ.
    pub(super) fn is_but_operands(&self, other: &Ran) -> bool {
        let same_history = std::iter::zip(&self.history, &other.history)
            .all(|(a, b)| (a.bits, a.what) == (b.bits, b.what))
            && self.history.len() == other.history.len();
        let same_access = self.access.map(|access| access.what()) == other.access.map(|access| access.what());
        same_history && same_access && (self.section, self.written) == (other.section, other.written)
    }
}

impl Automaton {
    /// What the next step from a local state sees, on a register that holds `word`.
    pub(super) fn seen(&self, p: Pid, local: u32, word: u64) -> Seen<'_> {
        let Local { section, passages, ref history, access, .. } = *self.local(p, local);
        let read = access.filter(|access| access.op != Op::Write).and_then(|access| access.register());
        let register = read.map(|reg| (self.registers[reg].kind, word));
        Seen { p, section, passages, history, register }
    }

    /// Executes the next step from a local state, on a register that holds `word`.
    pub(super) fn run_step(&self, program: &dyn Program, p: Pid, local: u32, word: u64) -> Result<Ran, Error> {
        let seen = self.seen(p, local, word);
        let (history, word) = self.filled(seen);
        let ran = run(program, p, seen.section, seen.passages, history, self.setting, word)?;
        Ok(self.forgotten(seen, ran))
    }
}

/// Executes the next step of process `p` from a section and history, on a register that holds `word`.
pub(crate) fn run(
    program: &dyn Program,
    p: Pid,
    section: Section,
    passages: u32,
    history: Vec<Word>,
    setting: Setting,
    word: u64,
) -> Result<Ran, Error> {
    let (next, view) = guarded(program, p, section, View::step(history, setting, word))?;
    let passages = if program.begins(section) && passages != UNLIMITED { passages - 1 } else { passages };
    Ok(Ran { section: next, passages, history: view.history, access: view.access, written: view.written })
}

/// The next access of process `p`, and its section.
pub(crate) fn look(
    program: &dyn Program,
    p: Pid,
    section: Section,
    history: Vec<Word>,
    setting: Setting,
) -> Result<(Option<Access>, Section), Error> {
    let (_, view) = guarded(program, p, section, View::look(history, setting))?;
    Ok((view.access, view.whereabouts().0))
}

/// How far a process has come, halted before its next access or at a new turn of a loop over all processes.
pub(crate) struct Advanced {
    pub(crate) section: Section,
    pub(crate) history: Vec<Word>,
    /// The access performed; if none was, the one before which the process was halted.
    pub(crate) access: Option<Access>,
    pub(crate) written: u64,
    /// Whether it was halted at a new turn.
    pub(crate) is_turn: bool,
}

/// Executes process `p`, one of `n`, to its next access or to a new turn of a loop over all processes. If there is a word, it
/// performs one access first, on a register that holds the word.
pub(crate) fn advance(
    program: &dyn Program,
    n: usize,
    p: Pid,
    section: Section,
    history: Vec<Word>,
    word: Option<u64>,
) -> Result<Advanced, Error> {
    let setting = Setting::PLAIN;
    let mut view =
        word.map_or_else(|| View::look(history.clone(), setting), |w| View::step(history.clone(), setting, w));
    view.pauses = Some(n);
    let (section, view) = guarded(program, p, section, view)?;
    let View { history, access, written, paused: is_turn, .. } = view;
    Ok(Advanced { section, history, access, written, is_turn })
}

fn guarded(program: &dyn Program, p: Pid, section: Section, mut view: View) -> Result<(Section, View), Error> {
    view.process = p;
    let outcome = catch_unwind(AssertUnwindSafe(|| program.run(&mut view, p, section)));
    let next = outcome.map_err(|payload| {
        let fault = match payload.downcast::<Fault>() {
            Ok(fault) => *fault,
            Err(payload) => Fault::Panicked(message(payload.as_ref())),
        };
        broken(p, view.whereabouts(), fault)
    })?;
    let at_rest = matches!(next, Section::Remainder | Section::Critical);
    let may_halt = view.told || view.whereabouts().0 == Section::Critical;
    if at_rest && view.halted() && !may_halt {
        view.fault.get_or_insert(Fault::SwallowedHalt);
    }
    match view.fault.take() {
        Some(fault) => Err(broken(p, view.whereabouts(), fault)),
        None => Ok((next, view)),
    }
}

fn message(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or(payload.downcast_ref::<&str>().copied()).unwrap_or("no message").to_string()
}

pub(super) fn same(a: Option<&Access>, b: Option<&Access>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.same_as(b),
        (a, b) => a.is_none() && b.is_none(),
    }
}

pub(crate) fn broken(process: Pid, (section, line): Whereabouts, fault: Fault) -> Error {
    Error::Broken { process, section, line, fault, execution: None }
}

/// A fault in the contents of registers, which is no process's.
pub(super) fn unfounded(fault: Fault) -> Error {
    broken(0, (Section::Remainder, String::new()), fault)
}

/// Whether the next step notices a death: it has to wait until the writes of the dead process are visible.
pub(crate) fn is_noticed(section: Section, history: &[Word]) -> bool {
    section == Section::Reap && history.is_empty()
}
