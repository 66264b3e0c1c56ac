//! The covering argument as a construction: J. Burns and N. Lynch's proof that a lock of reads and writes needs as many
//! registers as it has processes; as told by M. Herlihy, N. Shavit, V. Luchangco, M. Spear, *The Art of Multiprocessor
//! Programming*, 2nd ed., section 2.9.
//!
//! In a *covering state* the registers hold what they may hold while all processes are in the remainder, and yet some
//! processes are about to write, each of them another register; all others are in the remainder. Let one of these
//! others run alone: it cannot tell that any process competes, so it enters. If it has written covered registers only,
//! let them be overwritten. Now the others cannot tell that it has entered, and one of them must enter too. If none
//! does, none would without it either, and the lock is not deadlock-free.
//!
//! The construction is made on the graph: it needs a covering state and a process that, alone, writes covered registers
//! only. If there are none, the argument does not apply. By the theorem there are then n registers or more.
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    ops::Range,
    time::Instant,
};

use doorway_memory::{Exclusion, Pid};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    Error, Execution, Model, Registers, View,
    actor::{Actor, ActorSet},
    automaton::Action,
    components::Subgraph,
    execution::Path,
    graph::{Graph, Id},
    incomplete,
    judge::{Judge, StateSet},
    program::{Lock, Program, Section},
    real::realise,
    validate,
};

/// The result of the covering argument.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Covering {
    /// The number of processes, and so of registers that they need.
    pub n: usize,
    /// The registers that are written in some execution.
    pub registers: Vec<String>,
    /// Whether the argument refutes the lock.
    pub outcome: Outcome,
    /// What it constructs; up to the point where it fails, if the lock is not refuted. None if it is not decided.
    pub construction: Option<Construction>,
    /// The number of states in which as many registers are covered as in the one constructed.
    pub covering_states: u64,
    /// The number of states explored.
    pub states: u64,
    /// The time taken, in seconds.
    pub seconds: f64,
    /// Why it is not decided, in words; none if it is.
    pub incomplete: Option<String>,
}

/// Whether the covering argument refutes a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It does: two processes are holders at once.
    TwoInside,
    /// It does: processes compete for ever, and none enters.
    Deadlock,
    /// It does not: a process that runs alone always writes a register that no process covers.
    Escapes,
    /// It is not decided.
    Unknown,
}

/// What the covering argument constructs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Construction {
    /// The processes that are about to write in the covering state, each with its register.
    pub covers: Vec<(Pid, String)>,
    /// The process that runs alone.
    pub alone: Pid,
    /// The registers that it writes.
    pub writes: Vec<String>,
    /// Those of them that no process covers.
    pub uncovered: Vec<String>,
    /// All steps: those to the covering state, those in the ranges below, and those of the other processes.
    pub execution: Execution,
    /// The steps of the process that runs alone. Empty in a deadlock of the others, which does not need them.
    pub solo: Range<usize>,
    /// The steps that overwrite what it has written.
    pub overwriting: Range<usize>,
}

/// Applies the covering argument to a lock of reads and writes.
///
/// ```
/// use doorway_algorithms::{broken::two_registers::TwoRegisters, mutex::bakery::Bakery};
/// use doorway_checker::{Model, Outcome, covering};
///
/// let two = covering(&Model::new(2), TwoRegisters::new)?;
/// assert_eq!(two.outcome, Outcome::Escapes);
/// let three = covering(&Model::new(3), TwoRegisters::new)?;
/// assert_eq!(three.outcome, Outcome::TwoInside);
/// let bakery = covering(&Model::new(3), |space| Bakery::new(space, 3))?;
/// assert_eq!((bakery.outcome, bakery.registers.len()), (Outcome::Escapes, 6));
/// # Ok::<(), doorway_checker::Error>(())
/// ```
///
/// # Errors
/// As [`check`](crate::check); and if the lock uses anything but reads and writes, or the model has more than `n`,
/// capacity 1 and limits of the search.
pub fn covering<A: Exclusion<View>>(model: &Model, make: impl FnOnce(&mut Registers) -> A) -> Result<Covering, Error> {
    let mut registers = Registers::default();
    let lock = Lock::make(&mut registers, make);
    of_program(&lock, &registers, model)
}

pub(crate) fn of_program(program: &dyn Program, registers: &Registers, model: &Model) -> Result<Covering, Error> {
    let start = Instant::now();
    validate::model(model)?;
    if !model.is_plain() || model.k != 1 || model.n < 2 {
        let why =
            "the covering argument is about all executions of at least two processes with k = 1, on atomic registers";
        return Err(Error::Model(why.to_string()));
    }
    let model = Model { reads_and_writes: true, forgets: false, merges: false, ..model.clone() };
    let graph = Graph::explore(program, registers.of(&model).to_vec(), &model, true)?;
    let names = |registers: &[u32]| -> Vec<String> {
        registers.iter().map(|&reg| graph.automaton.registers[reg as usize].name.to_string()).collect()
    };
    let written = graph.automaton.written();
    let mut found = Covering {
        n: model.n,
        registers: names(&written),
        outcome: Outcome::Unknown,
        construction: None,
        covering_states: 0,
        states: graph.states(),
        seconds: 0.0,
        incomplete: incomplete(&graph, &model, &[]),
    };
    let judge = Judge::new(&graph, &model);
    let is_complete = graph.stop.is_none();
    let (constructed, covering_states) = Argument::new(&judge, &written).construct();
    found.covering_states = covering_states;
    if let Some(Constructed { outcome, covers, alone, writes, path, solo, overwriting }) = constructed
        && (is_complete || outcome == Outcome::TwoInside)
        && let Some(execution) = realise(program, &graph, &model, &path)?
    {
        let covered: Vec<u32> = covers.keys().copied().collect();
        let uncovered: Vec<u32> = writes.iter().copied().filter(|reg| !covered.contains(reg)).collect();
        found.outcome = outcome;
        found.construction = Some(Construction {
            covers: covers.into_iter().map(|(reg, p)| (p, names(&[reg]).remove(0))).collect(),
            alone,
            writes: names(&writes),
            uncovered: names(&uncovered),
            execution,
            solo,
            overwriting,
        });
    } else {
        let why = "no execution with real ticket numbers takes the steps constructed";
        found.incomplete.get_or_insert(why.to_string());
    }
    found.seconds = start.elapsed().as_secs_f64();
    Ok(found)
}

/// The covered registers, each with the process that covers it.
type Covers = BTreeMap<u32, Pid>;

/// A covering state, and a process in the remainder that could run alone.
struct Cover<'a> {
    covers: Covers,
    alone: Pid,
    /// The registers that it writes before it enters, when it runs alone.
    writes: &'a [u32],
}

/// How much of the argument a covering state allows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    /// This number of registers is covered, and not all that the process running alone writes.
    Part(usize),
    /// All registers that the process running alone writes are covered.
    Enough,
    /// All registers that are ever written are covered: this is what the book calls a covering state.
    Whole,
}

/// A construction as a path.
struct Constructed {
    outcome: Outcome,
    covers: Covers,
    alone: Pid,
    writes: Vec<u32>,
    path: Path,
    solo: Range<usize>,
    overwriting: Range<usize>,
}

/// A state in which all processes are in the remainder; and for each process the registers that it writes before it
/// enters, if it runs alone from this state. None if it never enters.
struct Idle {
    state: Id,
    writes: Vec<Option<Vec<u32>>>,
}

/// The covering argument on a graph.
struct Argument<'a> {
    judge: &'a Judge<'a>,
    /// By the contents of the registers.
    idle: FxHashMap<Vec<u32>, Idle>,
    /// The registers that are written in some execution.
    written: &'a [u32],
}

impl<'a> Argument<'a> {
    fn new(judge: &'a Judge<'a>, written: &'a [u32]) -> Argument<'a> {
        let mut argument = Argument { judge, idle: FxHashMap::default(), written };
        let is_idle = |state: &Id| judge.model.processes().all(|p| judge.section(*state, p) == Section::Remainder);
        for state in argument.states().filter(is_idle) {
            let contents = argument.contents(state);
            if !argument.idle.contains_key(&contents) {
                let writes = |p| Some(argument.writes(state, &argument.alone(state, p)?));
                let writes = judge.model.processes().map(writes).collect();
                argument.idle.insert(contents, Idle { state, writes });
            }
        }
        argument
    }

    /// The construction from a covering state that allows most, and the number of such states.
    fn construct(&self) -> (Option<Constructed>, u64) {
        let mut hanging = StateSet::default();
        for idle in self.idle.values().filter(|idle| idle.writes.contains(&None)) {
            hanging.insert(idle.state);
        }
        if !hanging.is_empty() {
            return (self.hang(&hanging), 0); // no covering is needed
        }
        let (mut furthest, mut there, mut states) = (Reach::Part(0), StateSet::default(), 0);
        for state in self.states() {
            let Some(reach) = self.coverings(state).map(|cover| self.reach(&cover)).max() else { continue };
            if reach > furthest {
                (furthest, there, states) = (reach, StateSet::default(), 0);
            }
            if reach == furthest {
                states += u64::from(there.insert(state));
            }
        }
        (self.judge.shortest_to(&there).and_then(|path| self.run_on(path)), states)
    }

    fn states(&self) -> impl Iterator<Item = Id> + use<'a> {
        let graph = self.judge.graph;
        (0..graph.ids() as Id).filter(|&state| graph.exists(state))
    }

    /// The contents of the registers.
    fn contents(&self, state: Id) -> Vec<u32> {
        self.judge.graph.contents(state).split_off(self.judge.model.n)
    }

    /// The steps of process `p` alone until it enters; none if it never does.
    fn alone(&self, state: Id, p: Pid) -> Option<Vec<(Actor, Id)>> {
        let is_p = |_, actor, _| actor == Actor::Process(p);
        self.judge.walk(state, is_p, |from, actor, to| self.judge.enters(from, actor, to))
    }

    /// The registers that are written by these steps.
    fn writes(&self, mut at: Id, steps: &[(Actor, Id)]) -> Vec<u32> {
        let mut written = BTreeSet::new();
        for &(actor, to) in steps {
            written.extend(self.about_to_write(at, actor.pid()));
            at = to;
        }
        written.into_iter().collect()
    }

    /// The register that a process is about to write, if it is.
    fn about_to_write(&self, state: Id, p: Pid) -> Option<u32> {
        let graph = self.judge.graph;
        let info = graph.automaton.step_info(p, graph.layout.fields[p].get(&graph.state(state)));
        (info.action == Action::Write).then_some(info.reg)
    }

    /// The state as a covering state, once for each process that could run alone; empty if it is not one.
    fn coverings(&self, state: Id) -> impl Iterator<Item = Cover<'_>> {
        let judge = self.judge;
        let rests = move |p| judge.section(state, p) == Section::Remainder;
        let covers = |p| judge.section(state, p) != Section::Critical && self.about_to_write(state, p).is_some();
        let may_be = judge.model.processes().all(|p| rests(p) || covers(p));
        let idle = if may_be { self.idle.get(&self.contents(state)) } else { None };
        judge.model.processes().filter(move |&p| rests(p)).filter_map(move |alone| {
            let others = judge.model.processes().filter(|&p| p != alone);
            let covers = others.filter_map(|p| Some((self.about_to_write(state, p)?, p))).collect();
            Some(Cover { covers, alone, writes: idle?.writes[alone].as_deref()? })
        })
    }

    fn reach(&self, Cover { covers, writes, .. }: &Cover<'_>) -> Reach {
        let all_of = |registers: &[u32]| registers.iter().all(|reg| covers.contains_key(reg));
        match () {
            () if all_of(self.written) => Reach::Whole,
            () if all_of(writes) => Reach::Enough,
            () => Reach::Part(covers.len()),
        }
    }

    /// Continues from a covering state: a process runs alone and, if all that it writes is covered, the rest of the
    /// argument.
    fn run_on(&self, path: Path) -> Option<Constructed> {
        let state = self.judge.end(&path);
        // Of the processes that could run alone the last one, as in the book.
        let cover = self.coverings(state).max_by_key(|cover| (self.reach(cover), cover.alone))?;
        let is_covered = self.reach(&cover) >= Reach::Enough;
        let Cover { mut covers, alone, writes } = cover;
        let at = path.steps.len();
        let mut with = Path { steps: [path.steps.clone(), self.alone(state, alone)?].concat(), cycle_at: None };
        let solo = at..with.steps.len();
        let constructed = |outcome, covers, path, solo, overwriting| {
            Some(Constructed { outcome, covers, alone, writes: writes.to_vec(), path, solo, overwriting })
        };
        if !is_covered {
            let end = solo.end;
            return constructed(Outcome::Escapes, covers, with, solo, end..end);
        }
        covers.retain(|reg, _| writes.contains(reg));
        let others = |_, actor, _| actor != Actor::Process(alone);
        let overwriting = self.overwrite(&mut with, &covers)?;
        let enters = |from, actor, to| self.judge.enters(from, actor, to);
        if let Some(entry) = self.judge.walk(self.judge.end(&with), others, enters) {
            with.steps.extend(entry);
            return constructed(Outcome::TwoInside, covers, with, solo, overwriting);
        }
        // None enters, nor would any if the process that ran alone had stayed in the remainder.
        let mut without = path;
        let overwriting = self.overwrite(&mut without, &covers)?;
        let without = self.stuck(without, others)?;
        constructed(Outcome::Deadlock, covers, without, at..at, overwriting)
    }

    /// Every process that covers a register writes it.
    fn overwrite(&self, path: &mut Path, covers: &Covers) -> Option<Range<usize>> {
        let start = path.steps.len();
        for &p in covers.values() {
            let step = self.judge.graph.steps(self.judge.end(path)).find(|&(actor, _)| actor == Actor::Process(p))?;
            path.steps.push(step);
        }
        Some(start..path.steps.len())
    }

    /// A process that competes alone and does not enter.
    fn hang(&self, hanging: &StateSet) -> Option<Constructed> {
        let path = self.judge.shortest_to(hanging)?;
        let (state, start) = (self.judge.end(&path), path.steps.len());
        let alone = self.judge.model.processes().find(|&p| self.alone(state, p).is_none())?;
        let path = self.stuck(path, |_, actor, _| actor == Actor::Process(alone))?;
        let end = path.steps.len();
        let writes = self.writes(state, &path.steps[start..]);
        let (covers, solo, overwriting) = (Covers::new(), start..end, end..end);
        Some(Constructed { outcome: Outcome::Deadlock, covers, alone, writes, path, solo, overwriting })
    }

    /// Extends a path, from whose end these steps let no process enter, to a cycle of them on which every process
    /// outside the remainder takes a step.
    fn stuck(&self, mut path: Path, keep: impl Fn(Id, Actor, Id) -> bool + Copy) -> Option<Path> {
        let judge = self.judge;
        let start = judge.end(&path);
        let mut reached = FxHashSet::from_iter([start]);
        let mut left = vec![start];
        while let Some(from) = left.pop() {
            let targets = judge.graph.steps(from).filter(|&(actor, to)| keep(from, actor, to)).map(|(_, to)| to);
            left.extend(targets.filter(|&to| reached.insert(to)));
        }
        let is_reached = |state| reached.contains(&state);
        let everyone = (1_u32 << judge.model.n) - 1;
        let mut fair = StateSet::default();
        Subgraph { graph: judge.graph, inside: is_reached, keep }.components(
            || judge.model.cancelled(),
            |_, actor, _| ActorSet::of(actor).0,
            |members, stepping, _| {
                let stepping = ActorSet(stepping).processes();
                if stepping != 0 && stepping | judge.resting(members[0]) == everyone {
                    members.iter().for_each(|&state| _ = fair.insert(state));
                }
            },
        );
        if !fair.contains(start) {
            path.steps.extend(judge.walk(start, keep, |_, _, to| fair.contains(to))?);
        }
        judge.lasso(path, is_reached, keep, None)
    }
}

/// The first line has the outcome; then comes the execution, stage by stage.
impl fmt::Display for Covering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = match self.outcome {
            Outcome::TwoInside => "two holders, by the covering argument",
            Outcome::Deadlock => "not deadlock-free, by the covering argument",
            Outcome::Escapes => "not refuted by the covering argument",
            Outcome::Unknown => "not decided by the covering argument",
        };
        let (n, written, states) = (self.n, self.registers.len(), self.states);
        writeln!(f, "{outcome}; {n} processes need {n} registers, and it writes {written} ({states} states)")?;
        if let Some(why) = &self.incomplete {
            writeln!(f, "  {why}")?;
        }
        let Some(construction) = &self.construction else { return Ok(()) };
        construction.execution.show(f, &construction.stages(self.outcome))?;
        if self.outcome == Outcome::Escapes {
            let states = match self.covering_states {
                1 => "1 state".to_string(),
                many => format!("{many} states"),
            };
            let covered = match construction.covers.len() {
                1 => "1 register is".to_string(),
                many => format!("{many} registers are"),
            };
            writeln!(f, "  the same is true wherever {covered} covered ({states}), and in no state are more")?;
        }
        Ok(())
    }
}

impl Construction {
    /// The remarks before some of the steps.
    fn stages(&self, outcome: Outcome) -> Vec<(usize, String)> {
        let Construction { alone, uncovered, solo, overwriting, .. } = self;
        let covers: Vec<String> = self.covers.iter().map(|(p, register)| format!("p{p} covers {register}")).collect();
        let covering: Vec<String> = self.covers.iter().map(|(p, _)| format!("p{p}")).collect();
        let (covers, covering) = (list(&covers), list(&covering));
        let as_if = "and the registers look as if all processes were in the remainder";
        let mut stages = Vec::new();
        let mut say = |at: usize, remark: String| stages.push((at, remark));
        if !self.covers.is_empty() {
            say(solo.start, format!("{covers}, {as_if}"));
        }
        match outcome {
            Outcome::Escapes => {
                let uncovered = list(uncovered);
                say(
                    solo.start,
                    format!("p{alone} runs alone, enters, and writes {uncovered}, which no process covers"),
                );
            }
            Outcome::TwoInside if self.covers.is_empty() => {
                say(solo.start, format!("p{alone} runs alone, enters, and writes nothing"));
                say(solo.end, format!("no other process can tell that p{alone} has entered"));
            }
            Outcome::TwoInside => {
                say(solo.start, format!("p{alone} runs alone, and enters"));
                say(overwriting.start, format!("all that p{alone} wrote is overwritten by {covering}"));
                say(overwriting.end, format!("no other process can tell that p{alone} has entered"));
            }
            Outcome::Deadlock if self.covers.is_empty() => {
                say(solo.start, format!("p{alone} runs alone, and does not enter"));
            }
            Outcome::Deadlock => {
                say(
                    overwriting.start,
                    format!("all that p{alone} would write before it enters is overwritten by {covering}"),
                );
                say(
                    overwriting.end,
                    format!(
                        "no process could tell that p{alone} has entered, and none enters: \
                         so none does without p{alone} either"
                    ),
                );
            }
            Outcome::Unknown => {}
        }
        stages
    }
}

/// `a`, `a and b`, `a, b and c`.
fn list(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
