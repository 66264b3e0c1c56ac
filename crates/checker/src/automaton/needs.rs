//! Needs: the tickets that are not forgotten, since a step depends on them.
use doorway_memory::{Pid, Ticket, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Action, Automaton, Interrupted, forgotten::is_forgotten};
use crate::{program::Section, tickets::TicketSet, view::Word};

/// The tickets that a search may forget: all but the largest, unless a step is known to depend on them.
///
/// A process in certain local states *needs* tickets: of several that it knows, or that are in registers which it may read,
/// the largest must not be forgotten. So a process that looks for the largest ticket of all needs the largest of those that
/// it has found and those that it has yet to read.
#[derive(Clone, Default)]
pub(crate) struct Forgetting {
    needs: FxHashMap<(Pid, Shape), Vec<Need>>,
    /// Whether zero has a meaning of its own, so that the initial tickets are not raised.
    is_grounded: bool,
}

/// Tickets of which the largest is needed: those in some registers, and perhaps those that the process knows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Need(u128);

impl Need {
    const NOTHING: Need = Need(0);
    /// What the process knows.
    const LOCAL: Need = Need(1 << 127);
    /// Not only the largest ticket that the process knows is needed, but all of them.
    pub(crate) const ALL_LOCAL: Need = Need(1 << 126);
    /// The number of registers that a need can name.
    pub(crate) const REGISTERS: usize = 126;

    fn register(reg: usize) -> Need {
        Need(1 << reg)
    }

    fn or(self, other: Need) -> Need {
        Need(self.0 | other.0)
    }

    pub(crate) fn registers(self) -> impl Iterator<Item = usize> {
        let mut left = self.0 << (128 - Need::REGISTERS) >> (128 - Need::REGISTERS);
        std::iter::from_fn(move || {
            let reg = left.trailing_zeros() as usize;
            (left != 0).then(|| {
                left &= left - 1;
                reg
            })
        })
    }

    pub(crate) fn has_local(self) -> bool {
        self.0 & Need::LOCAL.0 != 0
    }

    /// Whether satisfying it also satisfies the other.
    fn implies(self, other: Need) -> bool {
        self.0 & other.0 == self.0
    }
}

/// A local state without the numbers of its tickets: only whether they are forgotten, or zero, or neither.
type Shape = Box<[u64]>;

/// A step that depends on forgotten tickets: its process and local state, and where these tickets are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Depends {
    p: Pid,
    local: u32,
    on: Need,
}

impl Forgetting {
    /// A search in which zero keeps its meaning.
    pub(crate) fn grounded() -> Forgetting {
        Forgetting { is_grounded: true, ..Forgetting::default() }
    }

    /// Whether the initial tickets are raised.
    pub(crate) fn raises(&self) -> bool {
        !self.is_grounded
    }

    /// What to try if no further need helps.
    pub(crate) fn otherwise(&self) -> Option<Forgetting> {
        self.raises().then(Forgetting::grounded)
    }

    /// What a process needs in a local state.
    fn needs(&self, p: Pid, shape: &Shape) -> &[Need] {
        self.needs.get(&(p, shape.clone())).map_or(&[], |needs| needs)
    }

    /// Adds a need, unless one that implies it is known. Returns whether it was added.
    fn add(&mut self, p: Pid, shape: Shape, need: Need) -> bool {
        let needs = self.needs.entry((p, shape)).or_default();
        if needs.iter().any(|known| known.implies(need)) {
            return false;
        }
        needs.retain(|known| !need.implies(*known));
        needs.push(need);
        true
    }
}

/// The shape of a local state of which some tickets are forgotten.
fn shape(section: Section, history: &[Word], is_forgotten: impl Fn(u64) -> bool) -> Shape {
    const KNOWN: u64 = 1;
    let blurred = |word: &Word| {
        (word.kind.renumber)(word.bits, &mut |ticket| {
            let number = ticket.to_word();
            Ticket::of_word(if number == 0 || is_forgotten(number) { 0 } else { KNOWN })
        })
    };
    std::iter::once(section as u64).chain(history.iter().map(blurred)).collect()
}

impl Automaton {
    /// What a process needs in a local state.
    #[inline]
    pub(crate) fn needs(&self, p: Pid, local: u32) -> &[Need] {
        &self.needs[self.number_of_needs(p, local) as usize]
    }

    /// The number of what a process needs in a local state: equal needs have equal numbers.
    #[inline]
    pub(crate) fn number_of_needs(&self, p: Pid, local: u32) -> u32 {
        self.processes[p].needs.get(local as usize).copied().unwrap_or(0)
    }

    /// As [`needs`](Self::needs), for a local state in which tickets are real numbers, and forgotten below the floor.
    pub(crate) fn needs_of_real(&self, p: Pid, section: Section, history: &[Word], floor: u64) -> &[Need] {
        self.needs_of_shape(p, &shape(section, history, |ticket| ticket < floor))
    }

    fn needs_of_shape(&self, p: Pid, shape: &Shape) -> &[Need] {
        self.forgetting.as_ref().map_or(&[], |forgetting| forgetting.needs(self.alike(p), shape))
    }

    /// The number of what a process needs in a new local state.
    pub(super) fn needs_of_new(&mut self, p: Pid, section: Section, history: &[Word]) -> u32 {
        let needs = self.needs_of_shape(p, &shape(section, history, is_forgotten)).to_vec();
        let known = self.needs.iter().position(|known| *known == needs);
        known.unwrap_or_else(|| {
            self.needs.push(needs);
            self.needs.len() - 1
        }) as u32
    }

    /// The process whose local states stand for those of `p`.
    pub(super) fn alike(&self, p: Pid) -> Pid {
        if self.symmetric { 0 } else { p }
    }

    /// Whether a step depends on a forgotten ticket: then the search has to start again.
    pub(crate) fn depends_on_forgotten(&self) -> bool {
        self.depends.is_some()
    }

    /// As [`depends_on_forgotten`](Self::depends_on_forgotten), and takes no more note of it.
    pub(crate) fn depended_on_forgotten(&mut self) -> bool {
        self.depends.take().is_some()
    }

    /// What may be forgotten instead, if the tickets cannot be ordered that were.
    pub(crate) fn otherwise(&self) -> Option<Forgetting> {
        self.forgetting.as_ref()?.otherwise()
    }

    /// What may be forgotten instead, after it was found that a step depends on a forgotten ticket; none if nothing is known
    /// that would help.
    ///
    /// First that the largest ticket that the step sees is not forgotten; then that none is of those that the process knows, of
    /// those in registers, and of both.
    pub(crate) fn remember_more(&self) -> Option<Forgetting> {
        let Depends { p, local, on } = self.depends?;
        let registers: Vec<Need> = on.registers().map(Need::register).collect();
        let known: Vec<Need> = on.has_local().then_some(Need::LOCAL).into_iter().collect();
        let each = [known.clone(), registers.clone()].concat();
        let all = [vec![Need::ALL_LOCAL], registers.clone()].concat();
        let attempts = [vec![on], known, registers, each, vec![Need::ALL_LOCAL], all];
        let less = attempts.into_iter().find_map(|needs| self.forgetting_less(p, local, &needs));
        less.or_else(|| self.forgetting.as_ref()?.otherwise())
    }

    /// Adds needs of a local state, and what processes needed that could come to it: the same but, if they read a forgotten
    /// ticket, or one that they then knew, that ticket would have been enough. None if all of that is known.
    fn forgetting_less(&self, p: Pid, local: u32, needs: &[Need]) -> Option<Forgetting> {
        let mut forgetting = self.forgetting.clone()?;
        let process = &self.processes[p];
        let shapes: Vec<Shape> =
            process.locals.iter().map(|local| shape(local.section, &local.history, is_forgotten)).collect();
        // For each shape those before it, with the register that was read: whether a forgotten ticket or any was there.
        let mut before: FxHashMap<&Shape, FxHashSet<(&Shape, Need, Need)>> = FxHashMap::default();
        for (at, info) in process.infos.iter().enumerate() {
            let mut leads = |to: u32, forgotten: Need, any: Need| {
                before.entry(&shapes[to as usize]).or_default().insert((&shapes[at], forgotten, any));
            };
            for (value, (next, _)) in (0..info.len).filter_map(|value| Some((value, self.step(info, value)?))) {
                let reg = info.reg as usize;
                let tickets = match info.action {
                    Action::ReadsValue => self.values[reg].tickets[value as usize],
                    _ => TicketSet::EMPTY,
                };
                let read = |is_there: bool| if is_there { Need::register(reg) } else { Need::NOTHING };
                leads(next, read(tickets.has_forgotten() || tickets.has_zero()), read(!tickets.is_empty()));
            }
            let begun = self.begun.get(&(p, at as u32)).copied();
            let Interrupted { dead, aborted, expired } = process.interrupted.get(at).copied().unwrap_or_default();
            let others = [begun, dead, aborted, expired].into_iter().flatten();
            others.for_each(|next| leads(next, Need::NOTHING, Need::NOTHING));
        }
        for (&(_, at, _), &renumbered) in self.renumbered.iter().filter(|((field, ..), _)| *field as usize == p) {
            let earlier = (&shapes[at as usize], Need::NOTHING, Need::NOTHING);
            before.entry(&shapes[renumbered as usize]).or_default().insert(earlier);
        }
        let known =
            shapes.iter().flat_map(|at| forgetting.needs(self.alike(p), at).iter().map(move |&need| (at, need)));
        let mut left: Vec<(&Shape, Need)> = known.collect();
        let mut is_new = false;
        for &need in needs {
            if forgetting.add(self.alike(p), shapes[local as usize].clone(), need) {
                is_new = true;
                left.push((&shapes[local as usize], need));
            }
        }
        while let Some((at, need)) = left.pop() {
            for &(earlier, forgotten, any) in before.get(at).into_iter().flatten() {
                let enough = if need.has_local() { any } else { forgotten };
                let need = need.or(enough);
                if forgetting.add(self.alike(p), earlier.clone(), need) {
                    is_new = true;
                    left.push((earlier, need));
                }
            }
        }
        is_new.then_some(forgetting)
    }

    /// Takes note that a step, or what a process does before its next, depends on forgotten tickets.
    pub(super) fn note_dependence(&mut self, p: Pid, local: u32, value: Option<u32>) {
        let reg = self.step_info(p, local).reg as usize;
        let in_register = self.step_info(p, local).action == Action::ReadsValue
            && value.is_some_and(|value| self.values[reg].tickets[value as usize].has_forgotten());
        let in_local = self.processes[p].tickets[local as usize].has_forgotten() || !in_register;
        let on_register = if in_register { Need::register(reg) } else { Need::NOTHING };
        let on_local = if in_local { Need::LOCAL } else { Need::NOTHING };
        self.depends = Some(Depends { p, local, on: on_register.or(on_local) });
    }
}
