//! The covering argument, run: J. Burns and N. Lynch's proof that a lock of reads and writes needs as many registers as it
//! has processes; as told by M. Herlihy, N. Shavit, V. Luchangco, M. Spear, *The Art of Multiprocessor Programming*, 2nd ed.,
//! section 2.9.
//!
//! In a *covering state* the registers hold what they may hold while everyone is in the remainder, and yet some processes are
//! about to write, each of them another register; everyone else is in the remainder. Let one of these run alone: it cannot
//! tell that anyone is there, so it gets inside. If it has written covered registers only, let them be overwritten. Now the
//! others cannot tell that it is inside, and one of them must get inside too. If none does, none would have without it either,
//! and the lock is not deadlock-free.
//!
//! All of that is on the graph: what is looked for is a covering state and a process which, alone, writes nothing that is not
//! covered. If there is none, the argument does not apply. The theorem says then that there are n registers or more.
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    ops::Range,
    time::Instant,
};

use doorway_memory::{Exclusion, Pid};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    Error, Model, Registers, Run, View,
    automaton::Action,
    components::{Steps, Subgraph},
    graph::{Graph, Id},
    incomplete,
    judge::{Judge, StateSet},
    program::{Lock, Section},
    real::realise,
    run::Path,
};

/// What the covering argument comes to.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Covering {
    /// How many processes there are, which is how many registers they need.
    pub n: usize,
    /// The registers that are ever written.
    pub registers: Vec<String>,
    /// Whether the argument refutes the lock.
    pub outcome: Outcome,
    /// What it constructs. If the lock is not refuted, that is up to where it fails; nothing if it could not be decided.
    pub construction: Option<Construction>,
    /// In so many states as many registers are covered as in the one constructed.
    pub covering_states: u64,
    /// States looked at.
    pub states: u64,
    /// Seconds it took.
    pub seconds: f64,
    /// Why this could not be decided, in words.
    pub incomplete: Option<String>,
}

/// Whether the covering argument refutes a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It does: two are inside.
    TwoInside,
    /// It does: some try for ever, and nobody gets inside.
    Deadlock,
    /// It does not: who runs alone always writes a register that nobody covers.
    Escapes,
    /// The search ended before it could tell.
    Unknown,
}

/// What the covering argument constructs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Construction {
    /// Who is about to write which register, in the covering state.
    pub covers: Vec<(Pid, String)>,
    /// Who runs alone.
    pub alone: Pid,
    /// What it writes.
    pub writes: Vec<String>,
    /// What of this nobody covers.
    pub uncovered: Vec<String>,
    /// All the steps: those that lead to the covering state; then what is in the ranges below; then those of the others.
    pub run: Run,
    /// The steps of the one who runs alone. None in a deadlock of the others: it is there without.
    pub solo: Range<usize>,
    /// The steps that overwrite what it wrote.
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
/// As [`check`](crate::check); and if the lock does anything else than read and write, or the model has anything but `n`, one
/// inside, and limits.
pub fn covering<A: Exclusion<View>>(model: &Model, make: impl FnOnce(&mut Registers) -> A) -> Result<Covering, Error> {
    let start = Instant::now();
    model.validate()?;
    if !model.is_plain() || model.k != 1 || model.n < 2 {
        let why = "the covering argument is about all runs of two processes or more, one inside, on atomic registers";
        return Err(Error::Model(why.to_string()));
    }
    let mut registers = Registers::default();
    let program = Lock::make(&mut registers, model.k, make);
    let model = Model { reads_and_writes: true, ..model.clone() };
    let graph = Graph::explore(&program, registers.list, &model, true)?;
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
        incomplete: incomplete(&graph, &model),
    };
    let judge = Judge::new(&graph, &model);
    let is_complete = graph.stop.is_none();
    let (constructed, covering_states) = Argument::new(&judge, &written).construct();
    found.covering_states = covering_states;
    if let Some(Constructed { outcome, covers, alone, writes, path, solo, overwriting }) = constructed
        && (is_complete || outcome == Outcome::TwoInside)
        && let Some(run) = realise(&program, &graph, &model, &path)?
    {
        let covered: Vec<u32> = covers.keys().copied().collect();
        let uncovered: Vec<u32> = writes.iter().copied().filter(|reg| !covered.contains(reg)).collect();
        found.outcome = outcome;
        found.construction = Some(Construction {
            covers: covers.into_iter().map(|(reg, p)| (p, names(&[reg]).remove(0))).collect(),
            alone,
            writes: names(&writes),
            uncovered: names(&uncovered),
            run,
            solo,
            overwriting,
        });
    } else {
        let why = "what was constructed takes tickets that may not occur";
        found.incomplete.get_or_insert(why.to_string());
    }
    found.seconds = start.elapsed().as_secs_f64();
    Ok(found)
}

/// Which registers are covered, and by whom.
type Covers = BTreeMap<u32, Pid>;

/// A covering state, as one of those sees it who are in the remainder.
struct Cover<'a> {
    covers: Covers,
    alone: Pid,
    /// What it writes until it is inside, when it runs alone.
    writes: &'a [u32],
}

/// How far the argument gets with a covering state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    /// So many registers are covered, and not all that are written by the one who runs alone.
    Part(usize),
    /// All these are.
    Enough,
    /// All that are ever written are: this is what the book calls a covering state.
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

/// A state in which everyone is in the remainder, and for each process what it writes until it is inside, if it comes then
/// and alone; nothing if it never is.
struct Idle {
    state: Id,
    writes: Vec<Option<Vec<u32>>>,
}

struct Argument<'a> {
    judge: &'a Judge<'a>,
    /// By what the registers hold.
    idle: FxHashMap<Vec<u32>, Idle>,
    /// The registers that are ever written.
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

    /// The construction that gets furthest, and how many states it could have started from.
    fn construct(&self) -> (Option<Constructed>, u64) {
        let mut hanging = StateSet::default();
        for idle in self.idle.values().filter(|idle| idle.writes.contains(&None)) {
            hanging.insert(idle.state);
        }
        if !hanging.is_empty() {
            return (self.hang(&hanging), 0); // without anyone who covers anything
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

    /// What the registers hold.
    fn contents(&self, state: Id) -> Vec<u32> {
        self.judge.graph.contents(state).split_off(self.judge.model.n)
    }

    /// The steps of process `p` alone until it is inside; none if it never is.
    fn alone(&self, state: Id, p: Pid) -> Option<Vec<(Pid, Id)>> {
        self.judge.walk(state, |_, q, _| q == p, |from, q, to| self.judge.enters(from, q, to))
    }

    /// What is written on a way.
    fn writes(&self, mut at: Id, way: &[(Pid, Id)]) -> Vec<u32> {
        let mut written = BTreeSet::new();
        for &(p, to) in way {
            written.extend(self.about_to_write(at, p));
            at = to;
        }
        written.into_iter().collect()
    }

    /// The register a process is about to write, if it is.
    fn about_to_write(&self, state: Id, p: Pid) -> Option<u32> {
        let graph = self.judge.graph;
        let hot = graph.automaton.hot(p, graph.layout.fields[p].get(graph.state(state)));
        (hot.action == Action::Blind).then_some(hot.reg)
    }

    /// The ways to see this as a covering state: one for each process that could run alone. None if it is not one.
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

    /// From a covering state: the run of one alone; and if what it writes is covered, the rest.
    fn run_on(&self, path: Path) -> Option<Constructed> {
        let state = self.judge.end(&path);
        // Of those who could run alone the last, as in the book.
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
        let others = |_, p, _| p != alone;
        let overwriting = self.overwrite(&mut with, &covers)?;
        let enters = |from, p, to| self.judge.enters(from, p, to);
        if let Some(way) = self.judge.walk(self.judge.end(&with), others, enters) {
            with.steps.extend(way);
            return constructed(Outcome::TwoInside, covers, with, solo, overwriting);
        }
        // Nor would anyone if the one who ran alone had not come.
        let mut without = path;
        let overwriting = self.overwrite(&mut without, &covers)?;
        let without = self.stuck(without, others)?;
        constructed(Outcome::Deadlock, covers, without, at..at, overwriting)
    }

    /// Everyone who covers a register writes it.
    fn overwrite(&self, path: &mut Path, covers: &Covers) -> Option<Range<usize>> {
        let start = path.steps.len();
        for &p in covers.values() {
            let step = self.judge.graph.steps(self.judge.end(path)).find(|&(q, _)| q == p)?;
            path.steps.push(step);
        }
        Some(start..path.steps.len())
    }

    /// One who comes when nobody is there, and does not get in.
    fn hang(&self, hanging: &StateSet) -> Option<Constructed> {
        let path = self.judge.shortest_to(hanging)?;
        let (state, start) = (self.judge.end(&path), path.steps.len());
        let alone = self.judge.model.processes().find(|&p| self.alone(state, p).is_none())?;
        let path = self.stuck(path, |_, p, _| p == alone)?;
        let end = path.steps.len();
        let writes = self.writes(state, &path.steps[start..]);
        let (covers, solo, overwriting) = (Covers::new(), start..end, end..end);
        Some(Constructed { outcome: Outcome::Deadlock, covers, alone, writes, path, solo, overwriting })
    }

    /// On from where nobody gets inside by such steps: to a cycle of them in which everyone steps who is not in the remainder.
    fn stuck(&self, mut path: Path, keep: impl Fn(Id, Pid, Id) -> bool + Copy) -> Option<Path> {
        let judge = self.judge;
        let start = judge.end(&path);
        let mut reached = FxHashSet::from_iter([start]);
        let mut left = vec![start];
        while let Some(from) = left.pop() {
            let targets = judge.graph.steps(from).filter(|&(p, to)| keep(from, p, to)).map(|(_, to)| to);
            left.extend(targets.filter(|&to| reached.insert(to)));
        }
        let inside = |state| reached.contains(&state);
        let everyone = (1_u32 << judge.model.n) - 1;
        let mut fair = StateSet::default();
        Subgraph { graph: judge.graph, inside, keep }.components(
            || judge.model.cancelled(),
            |_, p, _| 1 << p,
            |members, stepping, _| {
                if stepping != 0 && stepping | judge.resting(members[0]) == everyone {
                    members.iter().for_each(|&state| _ = fair.insert(state));
                }
            },
        );
        if !fair.contains(start) {
            path.steps.extend(judge.walk(start, keep, |_, _, to| fair.contains(to))?);
        }
        judge.lasso(path, inside, keep, None)
    }
}

/// The first line is complete alone; then the run, stage by stage.
impl fmt::Display for Covering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = match self.outcome {
            Outcome::TwoInside => "two inside, by the covering argument",
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
        construction.run.show(f, &construction.stages(self.outcome))?;
        if self.outcome == Outcome::Escapes {
            let states = match self.covering_states {
                1 => "1 state".to_string(),
                many => format!("{many} states"),
            };
            let covered = match construction.covers.len() {
                1 => "1 register is".to_string(),
                many => format!("{many} registers are"),
            };
            writeln!(f, "  so it is wherever {covered} covered ({states}), and more cannot be")?;
        }
        Ok(())
    }
}

impl Construction {
    /// What is to be said before some of the steps.
    fn stages(&self, outcome: Outcome) -> Vec<(usize, String)> {
        let Construction { alone, uncovered, solo, overwriting, .. } = self;
        let covers: Vec<String> = self.covers.iter().map(|(p, register)| format!("p{p} covers {register}")).collect();
        let covering: Vec<String> = self.covers.iter().map(|(p, _)| format!("p{p}")).collect();
        let (covers, covering) = (list(&covers), list(&covering));
        let nobody = "and it looks as if nobody were there";
        let mut stages = Vec::new();
        let mut say = |at: usize, what: String| stages.push((at, what));
        if !self.covers.is_empty() {
            say(solo.start, format!("{covers}, {nobody}"));
        }
        match outcome {
            Outcome::Escapes => {
                let uncovered = list(uncovered);
                say(solo.start, format!("p{alone} runs alone, gets in, and writes {uncovered}, which nobody covers"));
            }
            Outcome::TwoInside if self.covers.is_empty() => {
                say(solo.start, format!("p{alone} runs alone, gets in, and writes nothing"));
                say(solo.end, format!("nobody can tell that p{alone} is inside"));
            }
            Outcome::TwoInside => {
                say(solo.start, format!("p{alone} runs alone, and gets in"));
                say(overwriting.start, format!("all that p{alone} wrote is overwritten by {covering}"));
                say(overwriting.end, format!("nobody can tell that p{alone} is inside"));
            }
            Outcome::Deadlock if self.covers.is_empty() => {
                say(solo.start, format!("p{alone} runs alone, and does not get in"));
            }
            Outcome::Deadlock => {
                say(
                    overwriting.start,
                    format!("all that p{alone} would write on its way in is overwritten by {covering}"),
                );
                say(
                    overwriting.end,
                    format!("nobody could tell that p{alone} is inside: nobody gets in, and so nobody does without it"),
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
