//! Safe registers: a read that overlaps a write may return any value.
use doorway_memory::{Pid, Ticket, Value};

use super::{Expansion, Origin, Refusal, State, Successors};
use crate::{
    actor::Actor,
    automaton::{Action, Missing},
    error::Fault,
    graph::{Graph, hash_state},
    layout::Field,
    tickets::{Closing, TicketSet},
};

impl Expansion<'_> {
    /// Takes the step of process `p` if it begins a write or overlaps one; returns whether it does.
    pub(super) fn step_on_safe_register<const W: usize>(
        &self,
        origin: &mut Origin<W>,
        p: Pid,
        local: u32,
        out: &mut Successors,
    ) -> bool {
        let Graph { automaton, layout, .. } = self.graph;
        let info = automaton.step_info(p, local);
        if info.action == Action::Silent {
            return false;
        }
        let (state, before) = (origin.state, self.tickets_of(origin));
        let register = layout.fields[automaton.n() + info.reg as usize];
        match (info.action, automaton.writer(info.reg as usize, register.get(&state.words))) {
            (Action::Write, None) => self.begin_to_write(before, state, p, register, out),
            (Action::Write, Some(writer)) if writer != p => {
                let fault = Fault::OverlappingWrites(automaton.name(info.reg));
                out.refused.push(Refusal { process: p, local, fault });
            }
            (Action::ReadsValue, Some(_)) => self.read_any_value(before, state, p, out),
            _ => return false,
        }
        true
    }

    /// Process `p` begins to write a safe register, whose old value is lost.
    fn begin_to_write<const W: usize>(
        &self,
        before: TicketSet,
        mut state: State<W>,
        p: Pid,
        register: Field,
        out: &mut Successors,
    ) {
        let Graph { automaton, layout, .. } = self.graph;
        let local = layout.fields[p].get(&state.words);
        let info = automaton.step_info(p, local);
        let Some((_, written)) = automaton.step(info, 0) else {
            out.missing.push(Missing::Step { process: p as u32, local, value: 0 });
            return;
        };
        let reg = info.reg as usize;
        let writing = automaton.known_value(reg, automaton.word(reg, written), Some(p));
        register.set(&mut state.words, writing.expect("it was learnt with the step"));
        layout.fields[p].set(&mut state.words, automaton.begun(p, local));
        state.hash = hash_state(automaton, layout, &state.words);
        self.arrive_renumbered(before, state, Actor::Process(p), out);
    }

    /// Process `p` reads a safe register that is being written.
    fn read_any_value<const W: usize>(&self, before: TicketSet, state: State<W>, p: Pid, out: &mut Successors) {
        let Graph { automaton, layout, .. } = self.graph;
        let local = layout.fields[p].get(&state.words);
        let reg = automaton.step_info(p, local).reg;
        let domain = automaton.registers[reg as usize].kind.domain;
        let Some(without_tickets) = domain(&[]) else {
            out.refused.push(Refusal { process: p, local, fault: Fault::UnknownDomain(automaton.name(reg)) });
            return;
        };
        for word in without_tickets {
            self.read_word(before, state, p, word, out);
        }
        let forgets = automaton.forgets();
        let remembered = if forgets { before.remembered() } else { before };
        for (opening, number) in Closing::around_any(remembered, automaton.wide) {
            let opening = if forgets { opening.forgetting(TicketSet::EMPTY) } else { opening };
            // Below the floor tickets are like zero, which is among the others.
            let floor = opening.image(remembered).without_zero().smallest();
            if forgets && before.has_floor(automaton.wide) && number != 0 && floor.is_none_or(|floor| number < floor) {
                continue;
            }
            let ticket = Ticket::of_word(u64::from(number));
            let words = domain(&[ticket]).unwrap_or_default();
            for word in words.into_iter().filter(|word| !domain(&[]).is_some_and(|others| others.contains(word))) {
                if let Some(opened) = self.renumber(&opening, state, out) {
                    self.read_word(opening.image(before).with(number), opened, p, word, out);
                }
            }
        }
    }

    /// A read that returns `word`, whatever the register holds.
    fn read_word<const W: usize>(
        &self,
        before: TicketSet,
        mut state: State<W>,
        p: Pid,
        word: u64,
        out: &mut Successors,
    ) {
        let Graph { automaton, layout, .. } = self.graph;
        let local = layout.fields[p].get(&state.words);
        let info = automaton.step_info(p, local);
        let Some(value) = automaton.known_value(info.reg as usize, word, None) else {
            out.missing.push(Missing::Value { reg: info.reg, word });
            return;
        };
        let Some((next, _)) = automaton.step(info, value) else {
            out.missing.push(Missing::Step { process: p as u32, local, value });
            return;
        };
        layout.fields[p].set(&mut state.words, next);
        state.hash = hash_state(automaton, layout, &state.words);
        self.arrive_renumbered(before, state, Actor::Process(p), out);
    }
}
