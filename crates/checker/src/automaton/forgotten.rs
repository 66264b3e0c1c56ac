//! Forgotten tickets: the test that no step depends on them.
//!
//! A forgotten ticket was some number below all that are not forgotten. To execute a step, numbers are filled in for the
//! forgotten tickets that it sees, and the others are raised to make room for them. Afterwards numbers from that room are
//! forgotten again. The step must then be the same for all orders and gaps of the numbers filled in, up to the number
//! immediately below those that are not forgotten. If it is not, `needs.rs` says what is forgotten less.
use doorway_memory::{Pid, Ticket, Value, ticket_comparisons};

use super::{
    Action, Automaton,
    execute::{Ran, look, run, same},
};
use crate::{
    access::Access,
    program::{Program, Section},
    registers::Kind,
    tickets::{FORGOTTEN, WIDTHS},
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

impl Automaton {
    /// Whether tickets below the floor of a state are forgotten.
    #[inline]
    pub(crate) fn forgets(&self) -> bool {
        self.forgetting.is_some()
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
        let what = |(access, at): (Option<Access>, Section)| (access.map(|access| access.what()), at);
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
