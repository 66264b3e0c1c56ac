//! The processes as automata, discovered while searching.
//!
//! The next step of a process depends on its local state and on the value of the one register that it accesses, and
//! there are few of either. So the algorithm's source is executed once for each such pair, and the result is
//! remembered; the search itself consists of table look-ups. Local states and register values are numbered as they are
//! met, which also makes states compact: a state is a tuple of small numbers, one *field* for each process and each
//! register.
//!
//! | | |
//! |---|---|
//! | `mod.rs` | the tables, and looking up in them |
//! | `learn.rs` | adding to them |
//! | `execute.rs` | executing one step of the source |
//! | `forgotten.rs` | the test that no step depends on forgotten tickets |
//! | `live.rs` | the registers whose values a process may still read |
//! | `merged.rs` | the states that stand for others which no step can tell apart |
//! | `needs.rs` | the tickets that are not forgotten, since a step depends on them |
//! | `parametricity.rs` | the test that tickets are only compared |
//! | `rotation.rs` | which cyclic number is called 0, and the test that no step depends on it |
//! | `replay.rs` | the test that processes are deterministic |
//! | `statistics.rs` | the primitives, fences and registers met, and the bytes used |
mod execute;
mod forgotten;
mod learn;
mod live;
mod merged;
mod needs;
mod parametricity;
mod replay;
mod rotation;
mod statistics;

use std::sync::Arc;

use doorway_memory::{Pid, Ticket, Value};
use rustc_hash::FxHashMap;

use crate::{
    access::Access,
    buffers::Buffers,
    error::Error,
    merge::Classes,
    model::{Model, Setting},
    program::{Program, Section},
    registers::Register,
    tickets::{FORGOTTEN, TicketSet},
    view::Word,
};
use execute::unfounded;
pub(crate) use execute::{Advanced, advance, broken, is_noticed, look, run};
pub(crate) use learn::Missing;
use live::Liveness;
pub(crate) use live::{Live, RegisterSet};
use merged::MergedStates;
use needs::Depends;
pub(crate) use needs::{Forgetting, Need};
pub(crate) use rotation::Rotation;
pub(crate) use statistics::growing;

/// Passages left, when there is no limit.
pub(crate) const UNLIMITED: u32 = u32::MAX;

/// A step that has not been executed yet.
const UNKNOWN: u64 = u64::MAX;

pub(crate) struct Automaton {
    pub(crate) registers: Vec<Register>,
    processes: Vec<Process>,
    values: Vec<Values>,
    /// For each process, if there are store buffers.
    buffers: Vec<Buffers>,
    setting: Setting,
    expiries: bool,
    deaths: bool,
    aborts: bool,
    /// Whether the search takes some steps before all others, which is sound only without barriers.
    reduces: bool,
    /// Whether a process has come to a barrier though `reduces`.
    met_barrier: bool,
    /// The steps of all local states: (next local state, value written), one entry for each value seen.
    steps: Vec<u64>,
    /// (field, id, its tickets' new numbers) -> id: the field after renumbering.
    renumbered: FxHashMap<(u32, u32, TicketSet), u32>,
    /// The registers that have held a ticket; and then the store buffers, as if they were the registers that follow.
    ticketed: Vec<u32>,
    has_tickets: bool,
    /// Whether tickets are renumbered: only if there is no limit to them.
    renumbers: bool,
    /// Which tickets are forgotten, if any are.
    forgetting: Option<Forgetting>,
    /// What local states need, each list once; the first is empty.
    needs: Vec<Vec<Need>>,
    /// On what forgotten ticket a step depends, if one does.
    depends: Option<Depends>,
    /// By how much the initial tickets are raised.
    raised: u64,
    /// The registers that are live, as far as is known; none if all registers keep their values.
    live: Option<Liveness>,
    /// The registers of which it matters whether a copy is cached, if that is known.
    useful_copies: Option<Live>,
    /// The states that stand for others, if states are merged.
    merged: Option<MergedStates>,
    /// How states are rotated, if they are.
    rotation: Option<Rotation>,
    /// Whether a step is not the same after a rotation.
    cannot_rotate: bool,
    /// The registers whose contents rotations change: those of rings, and those that have held a cyclic number.
    cyclic: Vec<u32>,
    /// (field, id, by how much) -> id: the content after a rotation, in the field that it is moved to.
    rotated: FxHashMap<(u32, u32, u32), u32>,
    /// Whether the last register counts passages.
    counts_passages: bool,
    /// Gaps between tickets of at least this width are not told apart.
    pub(crate) wide: u32,
    /// Whether processes are all alike, and sorted.
    symmetric: bool,
    safe_registers: bool,
    reads_and_writes: bool,
    /// (process, local state) -> local state: that of a process which has begun a write, if beginning it changes its
    /// section.
    begun: FxHashMap<(Pid, u32), u32>,
    /// Whether a state also has the cache of one process.
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
    infos: Vec<StepInfo>,
    tickets: Vec<TicketSet>,
    /// For each local state the number of what it needs, if tickets are forgotten.
    needs: Vec<u32>,
    /// For each local state its class, in which the same registers are live.
    live: Vec<u32>,
    /// For each local state the registers of which it matters whether a copy is cached, if that is known.
    useful_copies: Vec<RegisterSet>,
    /// For each local state, if the model has interruptions.
    interrupted: Vec<Interrupted>,
}

/// The local states that interruptions of one local state lead to.
#[derive(Clone, Copy, Default)]
pub(crate) struct Interrupted {
    /// After a death.
    pub(crate) dead: Option<u32>,
    /// After an abort.
    pub(crate) aborted: Option<u32>,
    /// After it is taken for dead or, if it was, after it has found out.
    pub(crate) expired: Option<u32>,
}

/// A local state of a process: its section and its history.
pub(crate) struct Local {
    pub(crate) section: Section,
    passages: u32,
    pub(crate) history: Box<[Word]>,
    /// The access it makes next…
    pub(crate) access: Option<Access>,
    /// …and the section of that access: a process in the remainder makes its next access in the doorway, or later.
    at: Section,
}

/// The section of a process, and the line of its next or latest access.
type Whereabouts = (Section, String);

/// What the search needs to know of the next step from a local state.
#[derive(Clone, Copy)]
pub(crate) struct StepInfo {
    pub(crate) hash: u64,
    row: u32,
    len: u32,
    pub(crate) reg: u32,
    pub(crate) action: Action,
    pub(crate) section: Section,
    /// Whether the step can be taken only if the process's store buffer is empty.
    pub(crate) drains: bool,
    /// Whether it can be taken only if all store buffers are empty.
    pub(crate) drains_all: bool,
}

/// The kind of a step.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// The process takes no further step.
    None,
    /// A fence, or no access at all.
    Silent,
    /// A write: the step does not depend on the register's value.
    Write,
    /// Any other access: the step depends on the register's value.
    ReadsValue,
}

/// The values a register has held. On safe registers a value counts as another one while it is being written.
#[derive(Default)]
struct Values {
    words: Vec<u64>,
    /// The process that is writing it, on safe registers.
    writers: Vec<Option<Pid>>,
    ids: FxHashMap<(u64, Option<Pid>), u32>,
    hash: Vec<u64>,
    tickets: Vec<TicketSet>,
    /// The one that the register has while it is forgotten.
    cleared: u32,
    /// Whether they are that one, but for tickets that are forgotten.
    is_clear: Vec<bool>,
}

/// What a search assumes until it is shown to be wrong.
#[derive(Clone)]
pub(crate) struct Assumed {
    /// Gaps between tickets of at least this width need not be told apart.
    pub(crate) wide: u32,
    /// The tickets that can be forgotten; none if no ticket can.
    pub(crate) forgetting: Option<Forgetting>,
    /// The registers that are live; none if all are.
    pub(crate) live: Option<Live>,
    /// The registers of which it matters whether a copy is cached; none if it matters of all.
    pub(crate) copies: Option<Live>,
    /// Whether no step depends on which cyclic number is called 0.
    pub(crate) rotates: bool,
    /// The classes of states that no step can tell apart; none if states are not merged.
    pub(crate) classes: Option<Arc<Classes>>,
}

impl Automaton {
    pub(crate) fn new(
        program: &dyn Program,
        registers: Vec<Register>,
        model: &Model,
        Assumed { wide, forgetting, live, copies, rotates, classes }: Assumed,
    ) -> Result<Automaton, Error> {
        let n = model.n;
        let mut automaton = Automaton {
            merged: classes.map(|classes| MergedStates::of(classes, n + registers.len())),
            processes: (0..n).map(|_| Process::default()).collect(),
            values: registers.iter().map(|_| Values::default()).collect(),
            registers,
            buffers: Vec::new(),
            setting: model.setting(),
            expiries: model.expiries,
            deaths: model.deaths,
            aborts: model.aborts,
            reduces: model.reduces(),
            met_barrier: false,
            steps: Vec::new(),
            renumbered: FxHashMap::default(),
            ticketed: Vec::new(),
            has_tickets: false,
            renumbers: !model.has_real_tickets(),
            forgetting,
            needs: vec![Vec::new()],
            depends: None,
            raised: 0,
            live: live.map(Liveness::assuming),
            useful_copies: copies,
            rotation: None,
            cannot_rotate: false,
            cyclic: Vec::new(),
            rotated: FxHashMap::default(),
            counts_passages: model.passages_in_all.is_some(),
            wide,
            symmetric: model.symmetric,
            safe_registers: model.safe_registers,
            reads_and_writes: model.reads_and_writes,
            begun: FxHashMap::default(),
            has_cache: model.cache.is_some(),
            is_part: program.is_part(),
            history_words: 0,
        };
        automaton.rotation = Rotation::of(program, &automaton.registers, model).filter(|_| rotates);
        automaton.raise();
        for reg in 0..automaton.registers.len() {
            let Register { init, kind, .. } = automaton.registers[reg];
            let cleared = (kind.renumber)(init, &mut |_| Ticket::of_word(FORGOTTEN.into()));
            automaton.value_id(reg, init, None).map_err(unfounded)?;
            if automaton.raised > 0 {
                let cleared = automaton.value_id(reg, cleared, None).map_err(unfounded)?;
                automaton.values[reg].cleared = cleared;
            }
        }
        if let Some(passages) = model.passages_in_all {
            // One more register, in which the search itself counts.
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
        automaton.learn_merged(program)?;
        Ok(automaton)
    }

    pub(crate) fn n(&self) -> usize {
        self.processes.len()
    }

    /// How many fields a state has: the processes', the registers', the store buffers', and for each register whether
    /// it is cached.
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
    pub(crate) fn step_info(&self, p: Pid, local: u32) -> &StepInfo {
        &self.processes[p].infos[local as usize]
    }

    /// The local states that interruptions lead to; only in models that have any.
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

    /// The local state of a process after it has begun the write that it is about to make.
    pub(crate) fn begun(&self, p: Pid, local: u32) -> u32 {
        self.begun.get(&(p, local)).copied().unwrap_or(local)
    }

    /// The process that is writing a value, on safe registers.
    #[inline]
    pub(crate) fn writer(&self, reg: usize, value: u32) -> Option<Pid> {
        self.values[reg].writers[value as usize]
    }

    #[inline]
    pub(crate) fn cache_hash(&self, reg: usize, cached: u32) -> u64 {
        hash_of(self.processes.len() + self.registers.len() + reg, cached)
    }

    /// The next local state and the value written, if this step has been executed before.
    #[inline]
    pub(crate) fn step(&self, info: &StepInfo, value: u32) -> Option<(u32, u32)> {
        let column = if info.action == Action::ReadsValue { value } else { 0 };
        if column >= info.len {
            return None;
        }
        match self.steps[(info.row + column) as usize] {
            UNKNOWN => None,
            step => Some(((step >> 32) as u32, step as u32)),
        }
    }

    /// For each local state of a process, whether the process may come from it to `local` without leaving the section. All may,
    /// where local states change by more than the process's own steps.
    pub(crate) fn may_come_to(&self, p: Pid, local: u32) -> Vec<bool> {
        let Process { locals, infos, .. } = &self.processes[p];
        if self.has_tickets || self.forgets() || !self.begun.is_empty() || !self.processes[p].interrupted.is_empty() {
            return vec![true; locals.len()];
        }
        let section = locals[local as usize].section;
        let mut from: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (at, info) in (0..).zip(infos).filter(|&(at, _): &(u32, _)| locals[at as usize].section == section) {
            let next = (0..info.len).filter_map(|value| self.step(info, value)).map(|(next, _)| next);
            next.filter(|&next| locals[next as usize].section == section)
                .for_each(|next| from.entry(next).or_default().push(at));
        }
        let mut may = vec![false; locals.len()];
        let mut left = vec![local];
        while let Some(at) = left.pop() {
            if !std::mem::replace(&mut may[at as usize], true) {
                left.extend(from.get(&at).into_iter().flatten());
            }
        }
        may
    }

    /// Whether a process has come to a barrier in a search that is sound only without.
    pub(crate) fn met_barrier(&self) -> bool {
        self.met_barrier
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

    /// The id of a field after renumbering, if it has been computed before.
    #[inline]
    pub(crate) fn renumbered(&self, field: u32, id: u32, image: TicketSet) -> Option<u32> {
        self.renumbered.get(&(field, id, image)).copied()
    }

    /// The section and line of the next access of a process.
    pub(crate) fn whereabouts(&self, p: Pid, local: u32) -> Whereabouts {
        let Local { at, access, .. } = self.local(p, local);
        (*at, access.map_or(String::new(), |access| access.line()))
    }

    pub(crate) fn name(&self, reg: u32) -> String {
        self.registers[reg as usize].name.to_string()
    }

    /// The id of a local state, if it is known.
    pub(crate) fn known_local(&self, p: Pid, section: Section, passages: u32, history: &[Word]) -> Option<u32> {
        self.processes[p].ids.get(&local_key(section, passages, history)).copied()
    }

    /// The id of a value, if it is known.
    pub(crate) fn known_value(&self, reg: usize, word: u64, writer: Option<Pid>) -> Option<u32> {
        self.values[reg].ids.get(&(word, writer)).copied()
    }
}

/// The key of a local state: its section, the passages left and the bits of its history.
///
/// The bits alone identify the history, although a word also records what it is (a value read, a choice, the state of a
/// loop). A process is deterministic, so its section and the bits before a word determine which access or loop the word
/// comes from, and with that its type: by induction, two histories with the same bits are the same. A process for which
/// that is not true is not deterministic, which `replay.rs` tests.
fn local_key(section: Section, passages: u32, history: &[Word]) -> Box<[u64]> {
    let head = u64::from(passages) << 8 | section as u64;
    std::iter::once(head).chain(history.iter().map(|word| word.bits)).collect()
}

/// A state's hash is the exclusive or of its fields' hashes, so a step changes it in two places, and it does not depend
/// on how states are packed.
fn hash_of(field: usize, id: u32) -> u64 {
    // The finaliser of splitmix64: every bit of the input reaches every bit of the output.
    let mut z = ((field as u64) << 32 | u64::from(id)).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
