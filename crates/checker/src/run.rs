//! Runs of the algorithm, as people read them.
use std::fmt;

use doorway_memory::Pid;

use crate::{
    automaton::{self, UNLIMITED},
    error::Error,
    graph::{Graph, Id},
    model::Model,
    program::{Program, Section},
    tickets::{self, Numbering},
    view::{Register, View, Word},
};

/// A run that shows something: a sequence of steps and, if it shows that something never happens, a cycle at its end that
/// is fair and can be repeated for ever.
///
/// Its `Display` is one line for each step: number, process, the paper's line, the access.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Run {
    /// The steps, from the initial state.
    pub steps: Vec<Step>,
    /// Where the cycle starts, if there is one: it goes from here to the end, and round again.
    pub cycle_at: Option<usize>,
}

/// One step of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Step {
    /// Who takes it.
    pub process: Pid,
    /// The paper's line, or that of the source.
    pub line: String,
    /// What is accessed: `flag[0] := true` writes, `flag[1] = true` reads.
    pub access: String,
    /// What the process has got to by it, if anything: `inside`, `out`, or for a part `returned`.
    pub arrives: Option<&'static str>,
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.steps.iter().map(|step| step.line.chars().count()).max().unwrap_or(0);
        let widest = self.steps.iter().map(|step| step.access.chars().count()).max().unwrap_or(0);
        for (i, Step { process, line, access, arrives }) in self.steps.iter().enumerate() {
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

/// A way through the graph: who steps, and where to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Path {
    pub(crate) steps: Vec<(Pid, Id)>,
    pub(crate) cycle_at: Option<usize>,
}

/// Added to a process that crashes.
const CRASH: Pid = 16;

impl Path {
    /// A process stops for ever, in this state, which stays as it is.
    pub(crate) fn crash(&mut self, p: Pid, state: Id) {
        self.steps.push((CRASH + p, state));
    }

    /// Who has crashed, as bits.
    pub(crate) fn crashed(&self) -> u32 {
        self.steps.iter().filter_map(|&(p, _)| p.checked_sub(CRASH)).fold(0, |set, p| set | 1 << p)
    }
}

/// The algorithm itself, run step by step with real numbers.
pub(crate) struct Machine<'a> {
    program: &'a dyn Program,
    registers: &'a [Register],
    words: Vec<u64>,
    processes: Vec<(Section, u32, Vec<Word>)>,
    counts_passages: bool,
}

impl<'a> Machine<'a> {
    pub(crate) fn new(program: &'a dyn Program, registers: &'a [Register], model: &Model) -> Machine<'a> {
        let start = (Section::Remainder, model.passages.unwrap_or(UNLIMITED), Vec::new());
        Machine {
            program,
            registers,
            words: registers.iter().map(|register| register.init).collect(),
            processes: vec![start; model.n],
            counts_passages: model.passages_in_all.is_some(),
        }
    }

    pub(crate) fn step(&mut self, p: Pid) -> Result<Step, Error> {
        let (section, passages, history) = self.processes[p].clone();
        // Looking first tells which register the step is about.
        let mut looking = View::look(history.clone());
        self.program.run(&mut looking, p, section);
        let word = looking.access.map_or(0, |access| self.words[access.reg as usize]);
        let ran = automaton::run(self.program, p, section, passages, history, word)?;
        if self.counts_passages && section == Section::Remainder {
            *self.words.last_mut().expect("there is a register to count them") += 1;
        }
        if let Some(access) = ran.access {
            self.words[access.reg as usize] = ran.written;
        }
        let step = Step {
            process: p,
            line: looking.access.map_or(String::new(), |access| access.line()),
            access: ran.access.map_or("(no access)".to_string(), |access| access.text(self.registers)),
            arrives: match ran.section {
                Section::Critical if self.program.is_part() => Some("returned"),
                Section::Critical => Some("inside"),
                Section::Remainder => Some("out"),
                _ => None,
            },
        };
        self.processes[p] = (ran.section, ran.passages, ran.history);
        Ok(step)
    }

    /// The state, field by field, that this one is counted as; none if some of it never occurs in the graph.
    pub(crate) fn counted_as(&self, graph: &Graph, model: &Model) -> Option<Vec<u32>> {
        let mut real = Vec::new();
        let histories = self.processes.iter().flat_map(|(_, _, history)| history);
        histories.for_each(|word| tickets::collect(word.kind, word.bits, &mut real));
        std::iter::zip(self.registers, &self.words).for_each(|(register, &word)| {
            tickets::collect(register.kind, word, &mut real);
        });
        let numbering = if model.has_real_tickets() {
            Numbering::between(Default::default(), Default::default())
        } else {
            Numbering::closing_real(&real, graph.automaton.wide)
        };
        let locals = self.processes.iter().enumerate().map(|(p, (section, passages, history))| {
            let history: Vec<Word> = history.iter().map(|word| Word { bits: numbering.apply(word), ..*word }).collect();
            graph.automaton.known_local(p, *section, *passages, &history)
        });
        let mut locals: Vec<Option<u32>> = locals.collect();
        if model.symmetric {
            locals.sort_unstable();
        }
        let values = std::iter::zip(self.registers, &self.words)
            .enumerate()
            .map(|(reg, (register, &word))| graph.automaton.known_value(reg, numbering.apply_to(register.kind, word)));
        locals.into_iter().chain(values).collect()
    }
}

/// Runs a path of the graph with real numbers. `None` if no real run goes that way: the graph stands for a few runs too many
/// when tickets are renumbered.
pub(crate) fn realise(program: &dyn Program, graph: &Graph, model: &Model, path: &Path) -> Result<Option<Run>, Error> {
    let mut machine = Machine::new(program, &graph.automaton.registers, model);
    let mut steps = Vec::with_capacity(path.steps.len());
    for &(process, target) in &path.steps {
        steps.push(match process.checked_sub(CRASH) {
            Some(process) => Step { process, line: String::new(), access: "crashes".to_string(), arrives: None },
            None => machine.step(process)?,
        });
        if machine.counted_as(graph, model) != Some(graph.contents(target)) {
            return Ok(None);
        }
    }
    if let Some(at) = path.cycle_at
        && graph.automaton.has_tickets()
    {
        const MORE_ROUNDS: usize = 3;
        for &(process, target) in path.steps[at..].iter().cycle().take(MORE_ROUNDS * (path.steps.len() - at)) {
            machine.step(process)?;
            if machine.counted_as(graph, model) != Some(graph.contents(target)) {
                return Ok(None);
            }
        }
    }
    Ok(Some(Run { steps, cycle_at: path.cycle_at }))
}
