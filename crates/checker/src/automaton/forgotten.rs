//! Forgotten tickets: the test that no step depends on them.
//!
//! A forgotten ticket was some number below all that are not forgotten. To execute a step, numbers are filled in for the
//! forgotten tickets that it sees, and the others are raised to make room for them. Afterwards numbers from that room are
//! forgotten again. The step must then be the same for all orders and gaps of the numbers filled in, up to the number
//! immediately below those that are not forgotten. If it is not, `needs.rs` says what is forgotten less.
//!
//! Initial tickets are small, often zero, but to most algorithms tickets like any other. So a search first takes them for larger
//! ones, which can be forgotten too; only a zero that the source writes as a constant stays zero. For that to be exact, steps are
//! also executed with the floor at zero and immediately above. If a step depends on that, the search begins with the initial
//! tickets as they are, and forgets those below a floor once there is one that is far from zero.
use doorway_memory::{Pid, Ticket, Value, ticket_comparisons};

use super::{
    Action, Automaton, Forgetting,
    execute::{Ran, look, run, same},
};
use crate::{
    access::Access,
    program::{Program, Section},
    registers::{Kind, Register},
    tickets::{self, FORGOTTEN, WIDTHS},
    view::Word,
};

/// The most forgotten tickets that one step may see, if it compares them.
const MOST: u64 = 3;
/// The numbers that can be filled in for forgotten tickets: 0 to this one.
const ROOM: u64 = 40;
/// A distance that no few `next`s bridge.
const APART: u64 = 5;
const _: () = assert!(2 * MOST * WIDTHS[WIDTHS.len() - 1] as u64 <= ROOM && APART > WIDTHS[WIDTHS.len() - 1] as u64);

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

/// Numbers for the tickets of a step.
struct Filling {
    /// For those that are forgotten.
    forgotten: Vec<u64>,
    /// For the floor. Those above it are raised or lowered with it.
    floor: u64,
    /// The number of the floor in the states of the search.
    searched_floor: u64,
}

impl Filling {
    fn fill(&self, seen: Seen<'_>) -> (Vec<Word>, u64) {
        let mut forgotten = self.forgotten.iter();
        let mut fill = |kind: Kind, word: u64| {
            (kind.renumber)(word, &mut |ticket| {
                Ticket::of_word(match ticket.to_word() {
                    number if is_forgotten(number) => {
                        *forgotten.next().expect("there is one for each forgotten ticket")
                    }
                    0 => 0,
                    number => self.above_floor(number),
                })
            })
        };
        let history = seen.history.iter().map(|word| Word { bits: fill(word.kind, word.bits), ..*word }).collect();
        (history, seen.register.map_or(0, |(kind, word)| fill(kind, word)))
    }

    /// Whether there are values with these tickets: a [`Count`](doorway_memory::Count) has none that is zero.
    fn is_possible(&self, seen: Seen<'_>) -> bool {
        let (history, word) = self.fill(seen);
        let filled = Seen { history: &history, register: seen.register.map(|(kind, _)| (kind, word)), ..seen };
        let mut forgotten = self.forgotten.iter().copied();
        std::iter::zip(seen.tickets(), filled.tickets()).all(|(number, filled)| {
            let meant = match number {
                number if is_forgotten(number) => forgotten.next(),
                0 => Some(0),
                number => Some(self.above_floor(number)),
            };
            meant == Some(filled)
        })
    }

    /// The number for a ticket that is not forgotten.
    fn above_floor(&self, number: u64) -> u64 {
        number + self.floor - self.searched_floor
    }
}

pub(super) fn is_forgotten(number: u64) -> bool {
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

impl Seen<'_> {
    /// The numbers of all tickets.
    fn tickets(self) -> Vec<u64> {
        let mut all = Vec::new();
        let words = self.history.iter().map(|word| (word.kind, word.bits)).chain(self.register);
        words.for_each(|(kind, word)| tickets::collect(kind, word, &mut all));
        all
    }

    /// The numbers of the tickets that are not forgotten.
    fn remembered(self) -> impl Iterator<Item = u64> {
        self.tickets().into_iter().filter(|&number| number != 0 && !is_forgotten(number))
    }
}

impl Automaton {
    /// Whether tickets below the floor of a state are forgotten.
    #[inline]
    pub(crate) fn forgets(&self) -> bool {
        self.forgetting.is_some()
    }

    /// By how much the initial tickets are raised: zero is the floor of the initial state then, a ticket like any other.
    pub(crate) fn raised(&self) -> u64 {
        self.raised
    }

    /// Raises the initial tickets, if that is to be tried, so that the smallest is the floor.
    pub(super) fn raise(&mut self) {
        if !self.forgetting.as_ref().is_some_and(Forgetting::raises) {
            return;
        }
        let mut tickets = Vec::new();
        self.registers.iter().for_each(|register| tickets::collect(register.kind, register.init, &mut tickets));
        self.raised = (u64::from(self.wide) + 1).saturating_sub(tickets.into_iter().min().unwrap_or(0));
        for Register { init, kind, .. } in &mut self.registers {
            *init = (kind.renumber)(*init, &mut |ticket| Ticket::of_word(ticket.to_word() + self.raised));
        }
    }

    /// The registers, with the initial tickets as they are.
    pub(crate) fn registers_not_raised(&self) -> Vec<Register> {
        let lower = |register: &Register| {
            let lowered = |ticket: Ticket| Ticket::of_word(ticket.to_word() - self.raised());
            Register {
                init: (register.kind.renumber)(register.init, &mut |ticket| lowered(ticket)),
                ..register.clone()
            }
        };
        self.registers.iter().map(lower).collect()
    }

    /// What a step sees once numbers are filled in for forgotten tickets.
    pub(super) fn filled(&self, seen: Seen<'_>) -> (Vec<Word>, u64) {
        match if self.forgets() { seen.forgotten() } else { 0 } {
            0 => (seen.history.to_vec(), seen.register.map_or(0, |(_, word)| word)),
            forgotten => self.filling(vec![ROOM; forgotten], ROOM + 1).fill(seen),
        }
    }

    fn filling(&self, forgotten: Vec<u64>, floor: u64) -> Filling {
        Filling { forgotten, floor, searched_floor: u64::from(self.wide) + 1 }
    }

    /// The result of a step with the numbers forgotten that were filled in.
    pub(super) fn forgotten(&self, seen: Seen<'_>, mut ran: Ran) -> Ran {
        let raise = ROOM - u64::from(self.wide);
        let forget = |kind: Kind, word: u64| {
            (kind.renumber)(word, &mut |ticket| {
                let number = ticket.to_word();
                Ticket::of_word(match number {
                    0 if self.raised() > 0 => 0,
                    0..=ROOM => FORGOTTEN.into(),
                    _ => number - raise,
                })
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

    /// Whether a step with numbers filled in had the result that is known of it: tickets that are forgotten then are below the
    /// floor, and the others are raised with it.
    fn agrees(&self, ran: &Ran, known: &Ran, filling: &Filling) -> bool {
        let agree = |kind: Kind, word: u64, known: u64| {
            let [mut numbers, mut known_numbers] = [Vec::new(), Vec::new()];
            tickets::collect(kind, word, &mut numbers);
            tickets::collect(kind, known, &mut known_numbers);
            let without = |word| (kind.renumber)(word, &mut |_| Ticket::ZERO);
            without(word) == without(known)
                && numbers.len() == known_numbers.len()
                && std::iter::zip(numbers, known_numbers).all(|(number, known)| match known {
                    known if is_forgotten(known) => number < filling.floor,
                    0 => number == 0,
                    known => number == filling.above_floor(known),
                })
        };
        let what = |ran: &Ran| ran.access.map(|access| access.what());
        let register = ran.access.and_then(|access| access.register());
        ran.section == known.section
            && what(ran) == what(known)
            && ran.history.len() == known.history.len()
            && std::iter::zip(&ran.history, &known.history)
                .all(|(word, known)| word.what == known.what && agree(word.kind, word.bits, known.bits))
            && register.is_none_or(|reg| agree(self.registers[reg].kind, ran.written, known.written))
    }

    /// Whether the access of a step is the one that the process was halted before. If numbers were filled in, the operands
    /// differ in these.
    pub(super) fn is_expected(&self, seen: Seen<'_>, access: Option<&Access>, expected: Option<&Access>) -> bool {
        if self.forgets() && seen.forgotten() > 0 {
            access.map(Access::what) == expected.map(Access::what)
        } else {
            same(access, expected)
        }
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
        let is_alike = self.is_alike(seen, |automaton, filling| {
            let (history, word) = filling.fill(seen);
            let again = run(program, seen.p, seen.section, seen.passages, history, setting, word);
            again.is_ok_and(|again| automaton.agrees(&again, ran, filling))
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

    /// Whether the next access of a process depends on forgotten tickets. `next` is what it was with some numbers for these, if
    /// it came to one.
    pub(super) fn next_access_depends(
        &self,
        program: &dyn Program,
        seen: Seen<'_>,
        next: Option<(Option<Access>, Section)>,
    ) -> bool {
        let setting = self.setting;
        let what = |(access, at): (Option<Access>, Section)| (access.map(|access| access.what()), at);
        !self.is_alike(seen, |_, filling| {
            let again = look(program, seen.p, seen.section, filling.fill(seen).0, setting).ok();
            again.is_some() && again.map(what) == next.map(what)
        })
    }

    /// Whether something is the same for all numbers that the tickets can have had: any below the floor if they are forgotten
    /// and, if the initial tickets are raised, any for the floor.
    fn is_alike(&self, seen: Seen<'_>, is_same: impl Fn(&Automaton, &Filling) -> bool) -> bool {
        let raises = self.raised() > 0;
        let forgotten = if self.forgets() { seen.forgotten() as u64 } else { 0 };
        let has_floor = seen.remembered().all(|number| number > u64::from(self.wide));
        let is_grounded = raises && has_floor && seen.remembered().next().is_some();
        if forgotten == 0 && !is_grounded {
            return true;
        }
        let is_same_with = |forgotten: Vec<u64>, floor: u64| {
            let filling = self.filling(forgotten, floor);
            !filling.is_possible(seen) || is_same(self, &filling)
        };
        // All combinations of numbers from a range.
        let all_alike = |from: u64, span: u64, floor: u64| {
            (0..span.pow(forgotten as u32)).all(|code| {
                is_same_with((0..forgotten as u32).map(|i| from + code / span.pow(i) % span).collect(), floor)
            })
        };
        // Far apart, and far below the others; what they are compared with was executed with all of them next to the others.
        let apart: Vec<u64> = (1..=forgotten).map(|i| i * APART).collect();
        if (forgotten + 1) * APART > ROOM {
            return false;
        }
        let floor = ROOM + 1;
        let (same, compared) = ticket_comparisons(|| is_same_with(apart.clone(), floor));
        if !same {
            return false;
        }
        let compared: Vec<[u64; 2]> = compared.iter().map(|(a, b)| [a.to_word(), b.to_word()]).collect();
        // If they are only compared, and not their next ones, with tickets that are not forgotten, their numbers do not matter.
        let matters = |&[a, b]: &[u64; 2]| a.max(b) <= ROOM || a.min(b) <= ROOM && !apart.contains(&a.min(b));
        let forgotten_matter = forgotten > 0 && compared.iter().any(matters);
        // A number that is none of theirs is a constant, such as zero: then it matters what the floor is.
        let constant_matters = is_grounded && compared.iter().any(|[a, b]| a.min(b) < &APART);
        if !forgotten_matter && !constant_matters {
            return true;
        }
        if forgotten > MOST {
            return false;
        }
        // Gaps from 0 to `wide`, below the first and between all of them, which end far below the others or immediately below.
        let span = u64::from(self.wide) * forgotten;
        let lowest = u64::from(self.wide) + 1;
        (!forgotten_matter || [0, ROOM - span].into_iter().all(|from| all_alike(from, span + 1, floor)))
            && (!raises || (0..=lowest).all(|floor| all_alike(0, floor, floor)))
    }
}
