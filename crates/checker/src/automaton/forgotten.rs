//! Forgotten tickets: the test that no step depends on them.
//!
//! A forgotten ticket was some number below all that are not forgotten. To execute a step, numbers are filled in for the
//! forgotten tickets that it sees, and the others are raised to make room for them. Afterwards numbers from that room are
//! forgotten again. The step must then be the same for all orders and gaps of the numbers filled in, up to the number
//! immediately below those that are not forgotten.
use doorway_memory::{Pid, Ticket, Value, ticket_comparisons};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Action, Automaton, Interrupted,
    execute::{Ran, look, run, same},
};
use crate::{
    access::Access,
    program::{Program, Section},
    registers::Kind,
    tickets::{FORGOTTEN, TicketSet, WIDTHS},
    view::Word,
};

/// The most forgotten tickets that one step may see, if it compares them.
const MOST: u64 = 3;
/// The numbers that can be filled in for forgotten tickets: 0 to this one.
const ROOM: u64 = 40;
/// A distance that no few `next`s bridge.
const APART: u64 = 5;
const _: () = assert!(2 * MOST * WIDTHS[WIDTHS.len() - 1] as u64 <= ROOM && APART > WIDTHS[WIDTHS.len() - 1] as u64);

/// The tickets that a search may forget: all but the largest, unless a step is known to depend on them.
///
/// A process in certain local states *needs* tickets: of several that it knows, or that are in registers which it may read,
/// the largest must not be forgotten. So a process that looks for the largest ticket of all needs the largest of those that
/// it has found and those that it has yet to read.
#[derive(Clone, Default)]
pub(crate) struct Forgetting {
    needs: FxHashMap<(Pid, Shape), Vec<Need>>,
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

/// A local state and the register that the process accesses.
#[derive(Clone, Copy)]
pub(super) struct Seen<'a> {
    pub(super) p: Pid,
    pub(super) section: Section,
    pub(super) passages: u32,
    pub(super) history: &'a [Word],
    /// The kind of the register, and what it holds.
    pub(super) register: Option<(Kind, u64)>,
}

/// Numbers for the forgotten tickets of a step.
struct Filling {
    numbers: Vec<u64>,
    /// By how much the other tickets are raised: the floor, `wide + 1`, comes to lie immediately above the room.
    raise: u64,
}

impl Filling {
    fn fill(&self, seen: Seen<'_>) -> (Vec<Word>, u64) {
        let mut numbers = self.numbers.iter();
        let mut fill = |kind: Kind, word: u64| {
            (kind.renumber)(word, &mut |ticket| {
                Ticket::of_word(match ticket.to_word() {
                    number if is_forgotten(number) => *numbers.next().expect("there is one for each forgotten ticket"),
                    0 => 0,
                    number => number + self.raise,
                })
            })
        };
        let history = seen.history.iter().map(|word| Word { bits: fill(word.kind, word.bits), ..*word }).collect();
        (history, seen.register.map_or(0, |(kind, word)| fill(kind, word)))
    }
}

fn is_forgotten(number: u64) -> bool {
    number == u64::from(FORGOTTEN)
}

/// How many forgotten tickets there are in a word.
fn forgotten_in(kind: Kind, word: u64) -> usize {
    let mut forgotten = 0;
    (kind.renumber)(word, &mut |ticket| {
        forgotten += usize::from(is_forgotten(ticket.to_word()));
        ticket
    });
    forgotten
}

impl Seen<'_> {
    fn forgotten(self) -> usize {
        let local: usize = self.history.iter().map(|word| forgotten_in(word.kind, word.bits)).sum();
        local + self.register.map_or(0, |(kind, word)| forgotten_in(kind, word))
    }
}

impl Automaton {
    /// Whether tickets below the floor of a state are forgotten.
    #[inline]
    pub(crate) fn forgets(&self) -> bool {
        self.forgetting.is_some()
    }

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
    fn alike(&self, p: Pid) -> Pid {
        if self.symmetric { 0 } else { p }
    }

    /// Whether a step depends on a forgotten ticket: then the search has to start again.
    pub(crate) fn depends_on_forgotten(&self) -> bool {
        self.depends.is_some()
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
        attempts.into_iter().find_map(|needs| self.forgetting_less(p, local, &needs))
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

    /// What a step sees once numbers are filled in for forgotten tickets.
    pub(super) fn filled(&self, seen: Seen<'_>) -> (Vec<Word>, u64) {
        match if self.forgets() { seen.forgotten() } else { 0 } {
            0 => (seen.history.to_vec(), seen.register.map_or(0, |(_, word)| word)),
            forgotten => self.filling(vec![ROOM; forgotten]).fill(seen),
        }
    }

    fn filling(&self, numbers: Vec<u64>) -> Filling {
        Filling { numbers, raise: ROOM - u64::from(self.wide) }
    }

    /// The result of a step with the numbers forgotten that were filled in.
    pub(super) fn forgotten(&self, seen: Seen<'_>, mut ran: Ran) -> Ran {
        let raise = self.filling(Vec::new()).raise;
        let forget = |kind: Kind, word: u64| {
            (kind.renumber)(word, &mut |ticket| {
                let number = ticket.to_word();
                Ticket::of_word(if number <= ROOM { FORGOTTEN.into() } else { number - raise })
            })
        };
        if self.forgets() && seen.forgotten() > 0 {
            ran.history.iter_mut().for_each(|word| word.bits = forget(word.kind, word.bits));
            if let Some(reg) = ran.access.and_then(|access| access.register()) {
                ran.written = forget(self.registers[reg].kind, ran.written);
            }
        }
        ran
    }

    /// Whether the access of a step is the one that the process was halted before. If numbers were filled in, the operands
    /// differ in these.
    pub(super) fn is_expected(&self, seen: Seen<'_>, access: Option<&Access>, expected: Option<&Access>) -> bool {
        let what = |access: Option<&Access>| access.map(|access| (access.op, access.reg));
        if self.forgets() && seen.forgotten() > 0 { what(access) == what(expected) } else { same(access, expected) }
    }

    /// Tests that a step has the same result whatever the forgotten tickets were.
    pub(super) fn check_step_despite_forgotten(
        &mut self,
        program: &dyn Program,
        (local, value): (u32, u32),
        seen: Seen<'_>,
        ran: &Ran,
    ) {
        let setting = self.setting;
        let is_alike = self.is_alike(seen, |automaton, history, word| {
            let again = run(program, seen.p, seen.section, seen.passages, history, setting, word);
            let again = again.map(|ran| automaton.forgotten(seen, ran));
            again.is_ok_and(|again| again.is_but_operands(ran))
        });
        // A number that is too large looks as if it was forgotten.
        let made = |kind, word| seen.forgotten() == 0 && forgotten_in(kind, word) > 0;
        let written = ran.access.and_then(|access| access.register());
        let overflows = ran.history.iter().any(|word| made(word.kind, word.bits))
            || written.is_some_and(|reg| made(self.registers[reg].kind, ran.written));
        if !is_alike || overflows {
            self.note_dependence(seen.p, local, Some(value));
        }
    }

    /// Whether the step from a local state, on a register that holds `value`, sees forgotten tickets.
    pub(super) fn sees_forgotten(&self, p: Pid, local: u32, value: u32) -> bool {
        let reg = self.step_info(p, local).reg as usize;
        let reads = self.step_info(p, local).action == Action::ReadsValue;
        self.forgets()
            && (self.processes[p].tickets[local as usize].has_forgotten()
                || reads && self.values[reg].tickets[value as usize].has_forgotten())
    }

    /// Takes note that a step, or what a process does before its next, depends on forgotten tickets.
    pub(super) fn note_dependence(&mut self, p: Pid, local: u32, value: Option<u32>) {
        let reg = self.step_info(p, local).reg as usize;
        let in_register = self.step_info(p, local).action == Action::ReadsValue
            && value.is_some_and(|value| self.values[reg].tickets[value as usize].has_forgotten());
        let in_local = self.processes[p].tickets[local as usize].has_forgotten() || !in_register;
        let [on_register, on_local] = [(in_register, Need::register(reg % Need::REGISTERS)), (in_local, Need::LOCAL)]
            .map(|(is_there, need)| if is_there { need } else { Need::NOTHING });
        self.depends = Some(Depends { p, local, on: on_register.or(on_local) });
    }

    /// Whether the next access of a process depends on forgotten tickets. `next` is what it was with some numbers for these, if
    /// it came to one.
    pub(super) fn next_access_depends(
        &self,
        program: &dyn Program,
        seen: Seen<'_>,
        next: Option<(Option<Access>, Section)>,
    ) -> bool {
        if !self.forgets() || seen.forgotten() == 0 {
            return false;
        }
        let setting = self.setting;
        let what = |(access, at): (Option<Access>, Section)| (access.map(|access| (access.op, access.reg)), at);
        !self.is_alike(seen, |_, history, _| {
            let again = look(program, seen.p, seen.section, history, setting).ok();
            again.is_some() && again.map(what) == next.map(what)
        })
    }

    /// Whether something is the same for all numbers that the forgotten tickets can have had.
    fn is_alike(&self, seen: Seen<'_>, is_same: impl Fn(&Automaton, Vec<Word>, u64) -> bool) -> bool {
        let forgotten = if self.forgets() { seen.forgotten() as u64 } else { 0 };
        if forgotten == 0 {
            return true;
        }
        let is_same_with = |numbers: Vec<u64>| {
            let (history, word) = self.filling(numbers).fill(seen);
            is_same(self, history, word)
        };
        // Far apart, and far below the others; what they are compared with was executed with all of them next to the others.
        let apart: Vec<u64> = (1..=forgotten).map(|i| i * APART).collect();
        if apart[apart.len() - 1] + APART > ROOM {
            return false;
        }
        let (same, compared) = ticket_comparisons(|| is_same_with(apart.clone()));
        if !same {
            return false;
        }
        // If they are only compared, and not their next ones, with tickets that are not forgotten, their numbers do not matter.
        let mut numbers = compared.iter().map(|(a, b)| [a.to_word(), b.to_word()]);
        let matters = |[a, b]: [u64; 2]| a.max(b) <= ROOM || a.min(b) <= ROOM && !apart.contains(&a.min(b));
        if !numbers.any(matters) {
            return true;
        }
        if forgotten > MOST {
            return false;
        }
        // Gaps from 0 to `wide`, below the first and between all of them, which end far below the others or immediately below.
        let span = u64::from(self.wide) * forgotten;
        let all = (span + 1).pow(forgotten as u32);
        [0, ROOM - span].into_iter().all(|from| {
            (0..all).all(|code| {
                let digit = |i| code / (span + 1).pow(i) % (span + 1);
                is_same_with((0..forgotten as u32).map(|i| from + digit(i)).collect())
            })
        })
    }
}
