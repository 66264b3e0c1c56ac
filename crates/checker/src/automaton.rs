//! The processes as automata, discovered while searching.
//!
//! A process' next step depends on its local state and on the value of the one register it accesses, and there are few of
//! either. So each (local state, value) pair is run through the algorithm's source once and remembered; the search itself
//! is table look-ups. Local states and register values are numbered as they are met, which also makes states compact: a
//! state is a tuple of small numbers, one *field* for each process and each register.
use std::panic::{AssertUnwindSafe, Location, catch_unwind};

use doorway_memory::{Name, Pid, Value, ticket_comparisons};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    buffers::{Buffers, Write},
    error::{Error, Fault},
    model::{Fences, Model},
    program::{Program, Section},
    tickets::{self, Numbering, TicketSet},
    view::{Access, Op, Register, View, Word},
};

/// Passages left, when there is no limit.
pub(crate) const UNLIMITED: u32 = u32::MAX;

/// A step that has not been run yet.
const UNKNOWN: u64 = u64::MAX;

pub(crate) struct Automaton {
    pub(crate) registers: Vec<Register>,
    processes: Vec<Process>,
    values: Vec<Values>,
    /// For each process, if there are store buffers.
    buffers: Vec<Buffers>,
    fences: Fences,
    deaths: bool,
    abandons: bool,
    /// Whether some steps are taken before others; that takes for granted that there are no barriers.
    reduces: bool,
    /// The steps of all local states: (next local state, value written), one entry for each value seen.
    steps: Vec<u64>,
    /// (field, id, its tickets' new numbers) -> id: what renumbering makes of a field.
    renumbered: FxHashMap<(u32, u32, TicketSet), u32>,
    /// The registers that have held a ticket; and then the store buffers, as if they were the registers that follow.
    ticketed: Vec<u32>,
    has_tickets: bool,
    /// Whether tickets are renumbered: only if there is no limit to them.
    renumbers: bool,
    /// Gaps between tickets from here on look alike.
    pub(crate) wide: u32,
    /// Whether processes are all alike, and sorted.
    symmetric: bool,
    safe_registers: bool,
    reads_and_writes: bool,
    /// (process, local state) -> local state: where a process is when it has begun a write, if that is not where it was.
    begun: FxHashMap<(Pid, u32), u32>,
    /// Whether a state also says which registers are in someone's cache.
    has_cache: bool,
    /// Whether the program is a part, whose passages are its calls.
    pub(crate) is_part: bool,
    /// Words in the histories of all local states.
    history_words: usize,
}

#[derive(Default)]
struct Process {
    locals: Vec<Local>,
    ids: FxHashMap<Box<[u64]>, u32>,
    hot: Vec<Hot>,
    tickets: Vec<TicketSet>,
    /// For each local state what an interruption makes of it, if there are any.
    interrupted: Vec<Interrupted>,
}

/// What interruptions make of a local state.
#[derive(Clone, Copy, Default)]
pub(crate) struct Interrupted {
    /// If it dies.
    pub(crate) dead: Option<u32>,
    /// If it gives up.
    pub(crate) gone: Option<u32>,
}

/// A local state: where the process is and what it has seen.
pub(crate) struct Local {
    pub(crate) section: Section,
    passages: u32,
    pub(crate) history: Box<[Word]>,
    /// The access it makes next…
    pub(crate) access: Option<Access>,
    /// …and the section that is in: a process in the remainder makes its next access in the doorway, or later.
    at: Section,
}

/// Where in its protocol a process is: the section, and the line of its next or latest access.
type Whereabouts = (Section, String);

/// What a search needs to know of a local state.
#[derive(Clone, Copy)]
pub(crate) struct Hot {
    pub(crate) hash: u64,
    row: u32,
    len: u32,
    pub(crate) reg: u32,
    pub(crate) action: Action,
    pub(crate) section: Section,
    /// Whether the step can be taken only if the process' store buffer is empty.
    pub(crate) drains: bool,
    /// Whether everyone's must be.
    pub(crate) drains_all: bool,
}

/// What kind of step a local state takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// None: the process is done.
    None,
    /// A step without a register: a fence, or no access at all.
    Silent,
    /// A write: what the register held does not matter.
    Blind,
    /// Any other access.
    Seeing,
}

/// The values a register has held. A value that is being written is another one than the same when it has been.
#[derive(Default)]
struct Values {
    words: Vec<u64>,
    /// Who is writing it, on safe registers.
    writers: Vec<Option<Pid>>,
    ids: FxHashMap<(u64, Option<Pid>), u32>,
    hash: Vec<u64>,
    tickets: Vec<TicketSet>,
}

/// A step or a renumbering the search needs and the automaton does not know yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Missing {
    Step {
        process: u32,
        local: u32,
        value: u32,
    },
    Renumbering {
        field: u32,
        id: u32,
        image: TicketSet,
    },
    /// One more write in a process' store buffer.
    Buffer {
        process: u32,
        buffer: u32,
        write: Write,
    },
    /// A value a register may be seen to hold.
    Value {
        reg: u32,
        word: u64,
    },
    /// Not something to learn: two processes write a register at once.
    Overlap {
        process: u32,
        local: u32,
        reg: u32,
    },
    /// Nor this: what a register may hold is not known.
    Domain {
        process: u32,
        local: u32,
        reg: u32,
    },
}

impl Missing {
    /// The process, its local state, and the value it sees, whose step this is about; none if it is about no step.
    pub(crate) fn step_of(self) -> Option<(Pid, u32, Option<u32>)> {
        match self {
            Missing::Step { process, local, value } => Some((process as usize, local, Some(value))),
            Missing::Overlap { process, local, .. } | Missing::Domain { process, local, .. } => {
                Some((process as usize, local, None))
            }
            Missing::Renumbering { .. } | Missing::Buffer { .. } | Missing::Value { .. } => None,
        }
    }
}

/// What running a process on one step gives.
pub(crate) struct Ran {
    pub(crate) section: Section,
    pub(crate) passages: u32,
    pub(crate) history: Vec<Word>,
    pub(crate) access: Option<Access>,
    pub(crate) written: u64,
}

impl Ran {
    /// Whether a second run came to the same.
    fn is(&self, other: &Ran) -> bool {
        let same_history = std::iter::zip(&self.history, &other.history)
            .all(|(a, b)| (a.bits, a.what) == (b.bits, b.what))
            && self.history.len() == other.history.len();
        let same_access = same(self.access.as_ref(), other.access.as_ref());
        same_history && same_access && (self.section, self.written) == (other.section, other.written)
    }
}

impl Automaton {
    pub(crate) fn new(
        program: &dyn Program,
        registers: Vec<Register>,
        model: &Model,
        wide: u32,
    ) -> Result<Automaton, Error> {
        let n = model.n;
        let mut automaton = Automaton {
            processes: (0..n).map(|_| Process::default()).collect(),
            values: registers.iter().map(|_| Values::default()).collect(),
            registers,
            buffers: Vec::new(),
            fences: model.fences,
            deaths: model.deaths,
            abandons: model.abandons,
            reduces: model.reduces(),
            steps: Vec::new(),
            renumbered: FxHashMap::default(),
            ticketed: Vec::new(),
            has_tickets: false,
            renumbers: !model.has_real_tickets(),
            wide,
            symmetric: model.symmetric,
            safe_registers: model.safe_registers,
            reads_and_writes: model.reads_and_writes,
            begun: FxHashMap::default(),
            has_cache: model.cache.is_some(),
            is_part: program.is_part(),
            history_words: 0,
        };
        for reg in 0..automaton.registers.len() {
            let init = automaton.registers[reg].init;
            automaton.value_id(reg, init, None).map_err(unfounded)?;
        }
        if let Some(passages) = model.passages_in_all {
            // One register more, which the search itself counts in.
            automaton.registers.push(Register::counter("passages"));
            automaton.values.push(Values::default());
            for begun in 0..=passages {
                automaton.value_id(automaton.registers.len() - 1, begun.into(), None).map_err(unfounded)?;
            }
        }
        if model.store_buffers {
            automaton.buffers = (0..n).map(|_| Buffers::default()).collect();
            (0..n).for_each(|p| _ = automaton.buffer_id(p, &[]));
            let first = automaton.registers.len() as u32;
            // After the registers that hold tickets from the start.
            automaton.ticketed.extend(first..first + n as u32);
        }
        for p in 0..n {
            automaton.local_id(program, p, Section::Remainder, model.passages.unwrap_or(UNLIMITED), Vec::new())?;
        }
        Ok(automaton)
    }

    pub(crate) fn n(&self) -> usize {
        self.processes.len()
    }

    /// How many fields a state has: the processes', the registers', the store buffers', and for each register whether it is
    /// cached.
    pub(crate) fn fields(&self) -> usize {
        self.fields_but_caches() + if self.has_cache { self.registers.len() } else { 0 }
    }

    pub(crate) fn fields_but_caches(&self) -> usize {
        self.processes.len() + self.registers.len() + self.buffers.len()
    }

    /// The field of process `p`'s store buffer, if there are any.
    #[inline]
    pub(crate) fn buffer_field(&self, p: Pid) -> Option<usize> {
        (!self.buffers.is_empty()).then(|| self.processes.len() + self.registers.len() + p)
    }

    #[inline]
    pub(crate) fn buffers(&self, p: Pid) -> &Buffers {
        &self.buffers[p]
    }

    pub(crate) fn has_buffers(&self) -> bool {
        !self.buffers.is_empty()
    }

    /// How many different contents a field has had so far.
    pub(crate) fn contents(&self, field: usize) -> usize {
        match field.checked_sub(self.n()) {
            None => self.processes[field].locals.len(),
            Some(reg) if reg < self.values.len() => self.values[reg].words.len(),
            Some(more) => self.buffers.get(more - self.values.len()).map_or(2, Buffers::len),
        }
    }

    #[inline]
    pub(crate) fn hot(&self, p: Pid, local: u32) -> &Hot {
        &self.processes[p].hot[local as usize]
    }

    /// What interruptions make of a local state; only if there are any in the model.
    #[inline]
    pub(crate) fn interrupted(&self, p: Pid, local: u32) -> Interrupted {
        self.processes[p].interrupted[local as usize]
    }

    pub(crate) fn local(&self, p: Pid, local: u32) -> &Local {
        &self.processes[p].locals[local as usize]
    }

    pub(crate) fn word(&self, reg: usize, value: u32) -> u64 {
        self.values[reg].words[value as usize]
    }

    #[inline]
    pub(crate) fn value_hash(&self, reg: usize, value: u32) -> u64 {
        self.values[reg].hash[value as usize]
    }

    /// Where a process is when it has begun the write it is about to do.
    pub(crate) fn begun(&self, p: Pid, local: u32) -> u32 {
        self.begun.get(&(p, local)).copied().unwrap_or(local)
    }

    /// Who is writing a value, on safe registers.
    #[inline]
    pub(crate) fn writer(&self, reg: usize, value: u32) -> Option<Pid> {
        self.values[reg].writers[value as usize]
    }

    #[inline]
    pub(crate) fn cache_hash(&self, reg: usize, cached: u32) -> u64 {
        hash_of(self.processes.len() + self.registers.len() + reg, cached)
    }

    /// The next local state and the value written, if this step has been run before.
    #[inline]
    pub(crate) fn step(&self, hot: &Hot, value: u32) -> Option<(u32, u32)> {
        let column = if hot.action == Action::Seeing { value } else { 0 };
        if column >= hot.len {
            return None;
        }
        match self.steps[(hot.row + column) as usize] {
            UNKNOWN => None,
            step => Some(((step >> 32) as u32, step as u32)),
        }
    }

    pub(crate) fn has_tickets(&self) -> bool {
        self.has_tickets
    }

    /// The registers, and store buffers as if they were registers too, that may hold a ticket.
    pub(crate) fn ticketed(&self) -> &[u32] {
        &self.ticketed
    }

    #[inline]
    pub(crate) fn tickets(&self, field: usize, id: u32) -> TicketSet {
        match field.checked_sub(self.processes.len()) {
            None => self.processes[field].tickets[id as usize],
            Some(reg) => match self.values.get(reg) {
                Some(values) => values.tickets[id as usize],
                None => self.buffers[reg - self.values.len()].tickets(id),
            },
        }
    }

    /// What renumbering makes of a field, if it has been done before.
    #[inline]
    pub(crate) fn renumbered(&self, field: u32, id: u32, image: TicketSet) -> Option<u32> {
        self.renumbered.get(&(field, id, image)).copied()
    }

    /// Runs the algorithm's source for what was missing.
    pub(crate) fn learn(&mut self, program: &dyn Program, missing: Missing) -> Result<(), Error> {
        match missing {
            Missing::Step { local, value, .. } if self.symmetric => {
                // Everyone learns everything, so a local state has the same number for all.
                let mut learnt = Vec::new();
                for p in 0..self.n() {
                    self.learn_step(program, p, local, value)?;
                    learnt.push((self.step(self.hot(p, local), value), self.hot(p, local).reg));
                }
                match learnt.iter().position(|step| *step != learnt[0]) {
                    Some(p) => Err(broken(p, self.whereabouts(p, local), Fault::NotAlike)),
                    None => Ok(()),
                }
            }
            Missing::Renumbering { field, id, image } if self.symmetric && (field as usize) < self.n() => {
                (0..self.n() as u32).try_for_each(|field| self.learn_renumbering(program, field, id, image))
            }
            Missing::Buffer { process, buffer, write } => {
                let p = process as usize;
                let writes: Vec<Write> = self.buffers[p].writes(buffer).iter().copied().chain([write]).collect();
                let longer = self.buffer_id(p, &writes);
                self.buffers[p].learn(buffer, write, longer);
                Ok(())
            }
            Missing::Value { reg, word } => {
                let known = self.value_id(reg as usize, word, None);
                known.map(|_| ()).map_err(unfounded)
            }
            Missing::Overlap { process, local, reg } => {
                let p = process as usize;
                Err(broken(p, self.whereabouts(p, local), Fault::OverlappingWrites(self.name(reg))))
            }
            Missing::Domain { process, local, reg } => {
                let p = process as usize;
                Err(broken(p, self.whereabouts(p, local), Fault::UnknownDomain(self.name(reg))))
            }
            Missing::Step { process, local, value } => self.learn_step(program, process as usize, local, value),
            Missing::Renumbering { field, id, image } => self.learn_renumbering(program, field, id, image),
        }
    }

    /// Where a process is that is about to make its next access.
    pub(crate) fn whereabouts(&self, p: Pid, local: u32) -> Whereabouts {
        let Local { at, access, .. } = self.local(p, local);
        (*at, access.map_or(String::new(), |access| access.line()))
    }

    fn name(&self, reg: u32) -> String {
        self.registers[reg as usize].name.to_string()
    }

    fn learn_step(&mut self, program: &dyn Program, p: Pid, local: u32, value: u32) -> Result<(), Error> {
        let hot = *self.hot(p, local);
        if self.step(&hot, value).is_some() {
            return Ok(());
        }
        let from = self.local(p, local);
        let section = from.section;
        let register = from.access.and_then(|access| access.register());
        let word = register.map_or(0, |reg| self.word(reg, value));
        let ran = self.run_step(program, p, local, word)?;
        let here = self.whereabouts(p, local);
        if !same(ran.access.as_ref(), from.access.as_ref()) {
            return Err(broken(p, here, Fault::Nondeterminism));
        }
        if self.renumbers {
            self.check_ticket_parametricity(program, p, local, word, &ran)?;
        }
        let next = self.local_id(program, p, ran.section, ran.passages, ran.history)?;
        let written = match ran.access.filter(|access| access.register().is_some()) {
            Some(access) => {
                let reg = access.reg as usize;
                if self.safe_registers && access.op == Op::Write {
                    self.value_id(reg, ran.written, Some(p)).map_err(|fault| broken(p, here.clone(), fault))?;
                    if section.begun() != section {
                        let history = self.local(p, local).history.to_vec();
                        let begun = self.local_id(program, p, section.begun(), ran.passages, history)?;
                        self.begun.insert((p, local), begun);
                    }
                }
                self.value_id(reg, ran.written, None).map_err(|fault| broken(p, here, fault))?
            }
            None => 0,
        };
        self.store_step(p, local, value, next, written);
        Ok(())
    }

    fn store_step(&mut self, p: Pid, local: u32, value: u32, next: u32, written: u32) {
        let hot = &mut self.processes[p].hot[local as usize];
        let column = if hot.action == Action::Seeing { value } else { 0 };
        if column >= hot.len {
            // The row moves to the end of the table, with room for more values.
            let row = self.steps.len();
            let len = (column + 1).next_power_of_two();
            self.steps.extend_from_within(hot.row as usize..(hot.row + hot.len) as usize);
            self.steps.resize(row + len as usize, UNKNOWN);
            (hot.row, hot.len) = (u32::try_from(row).expect("fewer than 2^32 steps are ever known"), len);
        }
        self.steps[(hot.row + column) as usize] = u64::from(next) << 32 | u64::from(written);
    }

    fn learn_renumbering(&mut self, program: &dyn Program, field: u32, id: u32, image: TicketSet) -> Result<(), Error> {
        if self.renumbered(field, id, image).is_some() {
            return Ok(());
        }
        let numbering = Numbering::between(self.tickets(field as usize, id), image);
        let renumbered = match (field as usize).checked_sub(self.n()) {
            None => {
                let p = field as usize;
                let Local { section, passages, ref history, .. } = *self.local(p, id);
                let history = history.iter().map(|word| Word { bits: numbering.apply(word), ..*word }).collect();
                self.local_id(program, p, section, passages, history)?
            }
            Some(more) if more >= self.values.len() => {
                let p = more - self.values.len();
                let mut writes = self.buffers[p].writes(id).to_vec();
                for (reg, value) in &mut writes {
                    let at = *reg as usize;
                    let word = numbering.apply_to(self.registers[at].kind, self.word(at, *value));
                    *value = self.value_id(at, word, None).map_err(unfounded)?;
                }
                self.buffer_id(p, &writes)
            }
            Some(reg) => {
                let word = numbering.apply_to(self.registers[reg].kind, self.word(reg, id));
                let writer = self.values[reg].writers[id as usize];
                self.value_id(reg, word, None).map_err(unfounded)?;
                self.value_id(reg, word, writer).map_err(unfounded)?
            }
        };
        self.renumbered.insert((field, id, image), renumbered);
        Ok(())
    }

    /// The id of a local state, a new one if need be.
    fn local_id(
        &mut self,
        program: &dyn Program,
        p: Pid,
        section: Section,
        passages: u32,
        history: Vec<Word>,
    ) -> Result<u32, Error> {
        let key: Box<[u64]> = local_key(section, passages, &history);
        if let Some(&id) = self.processes[p].ids.get(&key) {
            return Ok(id);
        }
        let tickets = history
            .iter()
            .try_fold(TicketSet::EMPTY, |set, word| Ok(set.union(tickets::of(word.kind, word.bits)?)))
            .map_err(|fault| broken(p, (section, String::new()), fault))?;
        self.has_tickets |= !tickets.is_empty();
        let id = self.processes[p].locals.len() as u32;

        let done = !program.goes_on(section) || (program.begins(section) && passages == 0);
        let (access, at) =
            if done { (None, section) } else { look(program, p, section, history.clone(), self.fences)? };
        if let Some(fault) = access.and_then(|access| self.refuses(access)) {
            return Err(broken(p, (at, access.map_or(String::new(), |access| access.line())), fault));
        }
        let action = match access {
            _ if done => Action::None,
            None | Some(Access { op: Op::Fence | Op::Barrier, .. }) => Action::Silent,
            Some(Access { op: Op::Write, .. }) => Action::Blind,
            Some(_) => Action::Seeing,
        };
        let hot = Hot {
            hash: hash_of(p, id),
            row: 0,
            len: 0,
            reg: access.map_or(0, |access| access.reg),
            action,
            section,
            drains: self.has_buffers()
                && (access.is_some_and(|access| access.op.drains()) || is_noticed(section, &history)),
            drains_all: self.has_buffers() && access.is_some_and(|access| access.op == Op::Barrier),
        };
        let process = &mut self.processes[p];
        let place = (self.abandons && section == Section::Wait).then(|| program.place(&history));
        self.history_words += history.len();
        process.locals.push(Local { section, passages, history: history.into(), access, at });
        process.ids.insert(key, id);
        process.hot.push(hot);
        process.tickets.push(tickets);
        if self.deaths || self.abandons {
            process.interrupted.push(Interrupted::default());
            // The start of a reap leads nowhere else: it is there already.
            let dead =
                if self.deaths { Some(self.local_id(program, p, Section::Reap, passages, Vec::new())?) } else { None };
            let gone = place.map(|place| self.local_id(program, p, Section::Abandon, passages, place)).transpose()?;
            self.processes[p].interrupted[id as usize] = Interrupted { dead: dead.filter(|&dead| dead != id), gone };
        }
        Ok(id)
    }

    /// Why an access cannot be part of this search, if it cannot.
    fn refuses(&self, access: Access) -> Option<Fault> {
        match access.op {
            Op::Barrier if self.reduces => Some(Fault::Barrier),
            op if op.is_safe() || op.is_fence() => None,
            _ if self.safe_registers => Some(Fault::NotSafe(self.name(access.reg))),
            _ if self.reads_and_writes => Some(Fault::NotReadOrWritten(self.name(access.reg))),
            Op::LoadLinked | Op::StoreConditional if self.symmetric => {
                Some(Fault::LinkedAndSymmetric(self.name(access.reg)))
            }
            _ => None,
        }
    }

    /// The id of a register's value, a new one if need be.
    fn value_id(&mut self, reg: usize, word: u64, writer: Option<Pid>) -> Result<u32, Fault> {
        let field = self.n() + reg;
        let values = &mut self.values[reg];
        if let Some(&id) = values.ids.get(&(word, writer)) {
            return Ok(id);
        }
        let tickets = tickets::of(self.registers[reg].kind, word)?;
        let id = values.words.len() as u32;
        values.words.push(word);
        values.writers.push(writer);
        values.ids.insert((word, writer), id);
        values.hash.push(hash_of(field, id));
        values.tickets.push(tickets);
        if !tickets.is_empty() {
            self.has_tickets = true;
            if let Err(at) = self.ticketed.binary_search(&(reg as u32)) {
                self.ticketed.insert(at, reg as u32);
            }
        }
        Ok(id)
    }

    /// The id of what is in a process' store buffer, a new one if need be.
    fn buffer_id(&mut self, p: Pid, writes: &[Write]) -> u32 {
        let field = self.processes.len() + self.registers.len() + p;
        let values = &self.values;
        let tickets = |(reg, value): Write| values[reg as usize].tickets[value as usize];
        self.buffers[p].id(writes, &|id| hash_of(field, id), &tickets)
    }

    /// Every access that was met.
    fn accesses(&self) -> impl Iterator<Item = Access> {
        self.processes.iter().flat_map(|process| &process.locals).filter_map(|local| local.access)
    }

    /// What was met, in the order of [`Op`].
    pub(crate) fn primitives_met(&self) -> Vec<&'static str> {
        let is_linked = |op| matches!(op, Op::LoadLinked | Op::StoreConditional);
        let linked: FxHashSet<u32> = self.accesses().filter(|a| is_linked(a.op)).map(|access| access.reg).collect();
        // A write that makes store-conditionals fail is an update, and part of what they are.
        let is_part = |access: &Access| access.op == Op::Update && linked.contains(&access.reg);
        let mut ops: Vec<Op> = self.accesses().filter(|access| !is_part(access)).map(|access| access.op).collect();
        ops.sort_unstable();
        let mut primitives: Vec<&'static str> = ops.into_iter().map(Op::primitive).collect();
        primitives.dedup();
        primitives
    }

    /// Where the fences are that were met.
    pub(crate) fn fences_met(&self) -> Vec<&'static Location<'static>> {
        let fences = self.accesses().filter(|access| access.op.is_fence());
        let mut places: Vec<_> = fences.map(|access| access.place).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// The registers that are written in some run.
    pub(crate) fn written(&self) -> Vec<u32> {
        let writes = self.accesses().filter(|access| access.op == Op::Write);
        let mut registers: Vec<u32> = writes.map(|access| access.reg).collect();
        registers.sort_unstable();
        registers.dedup();
        registers
    }

    /// The id of a known local state or value, for looking states up.
    pub(crate) fn known_local(&self, p: Pid, section: Section, passages: u32, history: &[Word]) -> Option<u32> {
        self.processes[p].ids.get(&local_key(section, passages, history)).copied()
    }

    pub(crate) fn known_value(&self, reg: usize, word: u64, writer: Option<Pid>) -> Option<u32> {
        self.values[reg].ids.get(&(word, writer)).copied()
    }

    /// Renumbering is right only if the process depends on nothing but the order of its tickets, and on whether one is the next
    /// of another. That is checked here on every step that is ever run: with wider gaps, it must do the same, and no comparison
    /// it makes may depend on how wide they are.
    fn check_ticket_parametricity(
        &self,
        program: &dyn Program,
        p: Pid,
        local: u32,
        word_read: u64,
        ran: &Ran,
    ) -> Result<(), Error> {
        /// A little, so that remainders change; and a lot, so that differences do.
        const WIDER_BY: [u64; 2] = [1, 1 << 20];
        let from = self.local(p, local);
        let kind = |access: Access| self.registers[access.reg as usize].kind;
        let [accesses, did_access] = [from.access, ran.access].map(|access| access.filter(|a| a.register().is_some()));
        let read = match accesses {
            Some(access) => {
                tickets::of(kind(access), word_read).map_err(|fault| broken(p, self.whereabouts(p, local), fault))?
            }
            None => TicketSet::EMPTY,
        };
        let seen = self.processes[p].tickets[local as usize].union(read);
        let mut made = Vec::new();
        ran.history.iter().for_each(|word| tickets::collect(word.kind, word.bits, &mut made));
        did_access.iter().for_each(|access| tickets::collect(kind(*access), ran.written, &mut made));
        if seen.is_empty() && made.is_empty() {
            return Ok(());
        }
        for by in WIDER_BY {
            let widened = Numbering::widening(seen, self.wide, by);
            let word = accesses.map_or(word_read, |access| widened.apply_to(kind(access), word_read));
            let history = from.history.iter().map(|word| Word { bits: widened.apply(word), ..*word }).collect();
            let (wide, compared) =
                ticket_comparisons(|| run(program, p, from.section, from.passages, history, self.fences, word));
            let wide = wide?;

            let same_access = match (&wide.access, &ran.access) {
                (Some(wide), Some(ran)) => (wide.op, wide.reg) == (ran.op, ran.reg),
                (wide, ran) => wide.is_none() && ran.is_none(),
            };
            let same_written = did_access
                .is_none_or(|access| widened.apply_with_next(kind(access), ran.written) == Some(wide.written));
            let same_history = wide.history.len() == ran.history.len()
                && std::iter::zip(&wide.history, &ran.history).all(|(wide, ran)| {
                    wide.what == ran.what && widened.apply_with_next(ran.kind, ran.bits) == Some(wide.bits)
                });
            let same = same_access && wide.section == ran.section && same_written && same_history;
            let alike = by == 1 || compared.iter().all(|(a, b)| widened.compares_alike(a.to_word(), b.to_word()));
            if !(same && alike) {
                let again = self.run_step(program, p, local, word_read)?;
                let fault = if again.is(ran) { Fault::TicketArithmetic } else { Fault::Nondeterminism };
                return Err(broken(p, self.whereabouts(p, local), fault));
            }
        }
        Ok(())
    }

    /// Runs steps that are known a second time, the latest first: a process that is not deterministic would do something else now.
    /// If there are very many, a sample of them; if there are few, several times.
    pub(crate) fn replay(&self, program: &dyn Program) -> Result<(), Error> {
        const MOST: usize = 1 << 14;
        const LEAST: usize = 1 << 8;
        let known = self.steps.iter().filter(|&&step| step != UNKNOWN).count();
        (0..LEAST.div_ceil(known.max(1))).try_for_each(|_| self.replay_some(program, known, MOST))
    }

    /// Runs so many of the known steps again.
    fn replay_some(&self, program: &dyn Program, known: usize, most: usize) -> Result<(), Error> {
        let mut skipped = 0;
        for (p, process) in self.processes.iter().enumerate().rev() {
            for (local, hot) in process.hot.iter().enumerate().rev() {
                for (value, (next, written)) in
                    (0..hot.len).rev().filter_map(|value| Some((value, self.step(hot, value)?)))
                {
                    skipped += most;
                    if skipped < known {
                        continue;
                    }
                    skipped -= known;
                    self.replay_step(program, p, local as u32, value, next, written)?;
                }
            }
        }
        Ok(())
    }

    fn replay_step(
        &self,
        program: &dyn Program,
        p: Pid,
        local: u32,
        value: u32,
        next: u32,
        written: u32,
    ) -> Result<(), Error> {
        let register = self.local(p, local).access.and_then(|access| access.register());
        let ran = self.run_step(program, p, local, register.map_or(0, |reg| self.word(reg, value)))?;
        let wrote_the_same = register.is_none_or(|reg| self.word(reg, written) == ran.written);
        if self.known_local(p, ran.section, ran.passages, &ran.history) == Some(next) && wrote_the_same {
            return Ok(());
        }
        Err(broken(p, self.whereabouts(p, local), Fault::Nondeterminism))
    }

    /// Runs a process one step from a local state, on a register that holds `word`.
    fn run_step(&self, program: &dyn Program, p: Pid, local: u32, word: u64) -> Result<Ran, Error> {
        let Local { section, passages, history, .. } = self.local(p, local);
        run(program, p, *section, *passages, history.to_vec(), self.fences, word)
    }

    /// A register that has held so many values that it may be a number that grows for ever.
    pub(crate) fn growing(&self) -> Option<(Name, usize)> {
        const MANY: usize = 1_000;
        let most = self.values.iter().enumerate().max_by_key(|(_, values)| values.words.len());
        most.map(|(reg, values)| (self.registers[reg].name, values.words.len())).filter(|&(_, values)| values > MANY)
    }

    /// Bytes held, near enough.
    pub(crate) fn bytes(&self) -> usize {
        /// A local state, what is known of it, and its place in the table by key; and for each word of its history the word
        /// itself and the one in the key.
        const LOCAL: usize = size_of::<Local>() + size_of::<Hot>() + size_of::<TicketSet>() + 48;
        const WORD: usize = size_of::<Word>() + 8;
        let locals: usize = self.processes.iter().map(|process| process.locals.len()).sum();
        let values: usize = self.values.iter().map(|values| values.words.len()).sum();
        let renumbered = self.renumbered.len() * 8 / 7 * 48;
        locals * LOCAL + self.history_words * WORD + values * 96 + self.steps.len() * 8 + renumbered
    }
}

/// Runs process `p` one step: from a section and history, on a register that holds `word`.
pub(crate) fn run(
    program: &dyn Program,
    p: Pid,
    section: Section,
    passages: u32,
    history: Vec<Word>,
    fences: Fences,
    word: u64,
) -> Result<Ran, Error> {
    let (next, view) = guarded(program, p, section, View::step(history, fences, word))?;
    let passages = if program.begins(section) && passages != UNLIMITED { passages - 1 } else { passages };
    Ok(Ran { section: next, passages, history: view.history, access: view.access, written: view.written })
}

/// The access process `p` makes next, and the section that is in.
pub(crate) fn look(
    program: &dyn Program,
    p: Pid,
    section: Section,
    history: Vec<Word>,
    fences: Fences,
) -> Result<(Option<Access>, Section), Error> {
    let (_, view) = guarded(program, p, section, View::look(history, fences))?;
    Ok((view.access, view.whereabouts().0))
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
    if at_rest && view.halted() {
        view.fault.get_or_insert(Fault::SwallowedHalt);
    }
    match view.fault.take() {
        Some(fault) => Err(broken(p, view.whereabouts(), fault)),
        None => Ok((next, view)),
    }
}

/// Whether a death is about to be noticed: nobody can before what the dead process has written is visible.
pub(crate) fn is_noticed(section: Section, history: &[Word]) -> bool {
    section == Section::Reap && history.is_empty()
}

fn message(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or(payload.downcast_ref::<&str>().copied()).unwrap_or("no message").to_string()
}

fn same(a: Option<&Access>, b: Option<&Access>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.same_as(b),
        (a, b) => a.is_none() && b.is_none(),
    }
}

pub(crate) fn broken(process: Pid, (section, line): Whereabouts, fault: Fault) -> Error {
    Error::Broken { process, section, line, fault, execution: None }
}

/// A fault in what registers hold, before any process has done anything.
fn unfounded(fault: Fault) -> Error {
    broken(0, (Section::Remainder, String::new()), fault)
}

fn local_key(section: Section, passages: u32, history: &[Word]) -> Box<[u64]> {
    let head = u64::from(passages) << 8 | section as u64;
    std::iter::once(head).chain(history.iter().map(|word| word.bits)).collect()
}

/// A state's hash is the exclusive or of its fields' hashes, so a step changes it in two places, and it does not depend on
/// how states are packed.
fn hash_of(field: usize, id: u32) -> u64 {
    // The finaliser of splitmix64: every bit of the input reaches every bit of the output.
    let mut z = ((field as u64) << 32 | u64::from(id)).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
