//! Renumbering the tickets of a successor.
use doorway_memory::Pid;

use super::{Expansion, Origin, State, Successors};
use crate::{
    actor::Actor,
    automaton::{Missing, Need},
    graph::{Graph, hash_state},
    tickets::{Closing, FORGOTTEN, TicketSet},
};

impl Expansion<'_> {
    /// The tickets of the state from which a step is taken.
    pub(super) fn tickets_of<const W: usize>(&self, origin: &mut Origin<W>) -> TicketSet {
        *origin.tickets.get_or_insert_with(|| self.tickets(&origin.state))
    }

    /// Whether another local state of process `p` has other tickets, or needs others.
    #[inline]
    pub(super) fn moves_tickets(&self, p: Pid, local: u32, next: u32) -> bool {
        let automaton = &self.graph.automaton;
        let needs = |local| automaton.number_of_needs(p, local);
        automaton.merges()
            || automaton.has_tickets()
                && (automaton.tickets(p, local) != automaton.tickets(p, next) || needs(local) != needs(next))
    }

    /// Adds a successor with its tickets renumbered: one state, or several if a new ticket may or may not have room
    /// above it.
    pub(super) fn arrive_renumbered<const W: usize>(
        &self,
        before: TicketSet,
        state: State<W>,
        actor: Actor,
        out: &mut Successors,
    ) {
        if self.graph.automaton.merges() {
            match self.merged(&state) {
                Some(merged) => self.arrive(merged, actor, out),
                None => out.lost_class = true,
            }
            return;
        }
        let tickets = self.tickets(&state);
        if self.model.has_real_tickets() {
            if self.model.ticket_cap.is_some_and(|cap| tickets.largest() > cap) {
                out.cut += 1;
            } else {
                self.arrive(state, actor, out);
            }
            return;
        }
        let Graph { automaton, .. } = self.graph;
        if automaton.forgets() {
            return self.arrive_forgetting(before, tickets, state, actor, out);
        }
        let wide = automaton.wide;
        for roomy in tickets.splits(before, wide).subsets() {
            if roomy.is_empty() && tickets.is_normal(wide) {
                self.arrive(state, actor, out);
            } else if let Some(renumbered) = self.renumber(&Closing::of(tickets, roomy, wide), state, out) {
                self.arrive(renumbered, actor, out);
            }
        }
    }

    /// The state that stands for a state, if it is in a class.
    fn merged<const W: usize>(&self, state: &State<W>) -> Option<State<W>> {
        let Graph { automaton, layout, .. } = self.graph;
        let member = automaton.merged(|field| layout.fields[field].get(&state.words))?;
        let mut words = [0; W];
        std::iter::zip(&layout.fields, member).for_each(|(field, &content)| field.set(&mut words, content));
        Some(State { hash: hash_state(automaton, layout, &words), words })
    }

    /// As above, in a search that forgets tickets.
    fn arrive_forgetting<const W: usize>(
        &self,
        before: TicketSet,
        tickets: TicketSet,
        state: State<W>,
        actor: Actor,
        out: &mut Successors,
    ) {
        let wide = self.graph.automaton.wide;
        let [tickets, before] = [tickets, before].map(|tickets| self.forgettable(tickets));
        let forgotten = tickets.to_forget(self.needed_tickets(&state), before, wide);
        let left = tickets.remembered().without(forgotten.unwrap_or_default());
        // The largest must not get the number of those forgotten.
        let Some(forgotten) = forgotten.filter(|_| (left.len() + 1) * wide < FORGOTTEN) else {
            out.lost_floor = true;
            return;
        };
        let has_floor = before.has_floor(wide) || !forgotten.is_empty();
        let is_normal = if has_floor { left.is_normal_above_floor(wide) } else { left.is_normal(wide) };
        for roomy in left.splits(before, wide).subsets() {
            if roomy.is_empty() && forgotten.is_empty() && is_normal {
                self.arrive(state, actor, out);
                continue;
            }
            let closing = if has_floor { Closing::above_floor } else { Closing::of };
            let renumbered = self.renumber(&closing(left, roomy, wide).forgetting(forgotten), state, out);
            if let Some(settled) = renumbered.and_then(|renumbered| self.forget(renumbered, out)) {
                self.arrive(settled, actor, out);
            }
        }
    }

    /// Forgets more tickets until that makes no difference: a process that has forgotten a ticket may need fewer others.
    fn forget<const W: usize>(&self, mut state: State<W>, out: &mut Successors) -> Option<State<W>> {
        let wide = self.graph.automaton.wide;
        loop {
            let tickets = self.forgettable(self.tickets(&state));
            let Some(forgotten) = tickets.to_forget(self.needed_tickets(&state), tickets, wide) else {
                out.lost_floor = true;
                return None;
            };
            if forgotten.is_empty() {
                return Some(state);
            }
            let left = tickets.remembered().without(forgotten);
            let closing = Closing::above_floor(left, TicketSet::EMPTY, wide).forgetting(forgotten);
            state = self.renumber(&closing, state, out)?;
        }
    }

    /// A state with its tickets renumbered; none if that takes something not known yet.
    pub(super) fn renumber<const W: usize>(
        &self,
        closing: &Closing,
        mut state: State<W>,
        out: &mut Successors,
    ) -> Option<State<W>> {
        let Graph { automaton, layout, .. } = self.graph;
        let mut known = true;
        for field in self.ticket_fields() {
            let id = layout.fields[field].get(&state.words);
            let tickets = automaton.tickets(field, id);
            let image = closing.image(tickets);
            if image == tickets {
                continue;
            }
            match automaton.renumbered(field as u32, id, image) {
                Some(renumbered) => layout.fields[field].set(&mut state.words, renumbered),
                None => {
                    out.missing.push(Missing::Renumbering { field: field as u32, id, image });
                    known = false;
                }
            }
        }
        known.then(|| State { hash: hash_state(automaton, layout, &state.words), ..state })
    }

    /// All tickets of a state.
    fn tickets<const W: usize>(&self, state: &State<W>) -> TicketSet {
        self.tickets_in(state, self.ticket_fields())
    }

    /// The tickets of a state that a process needs.
    fn needed_tickets<const W: usize>(&self, state: &State<W>) -> TicketSet {
        let automaton = &self.graph.automaton;
        let mut needed = TicketSet::EMPTY;
        for p in self.model.processes() {
            let local = self.graph.layout.fields[p].get(&state.words);
            let known = automaton.tickets(p, local);
            for &need in automaton.needs(p, local) {
                let mut tickets = self.tickets_in(state, need.registers().map(|reg| self.model.n + reg));
                if need.has_local() {
                    tickets = tickets.union(known);
                }
                let tickets = tickets.remembered();
                if need == Need::ALL_LOCAL {
                    needed = needed.union(known);
                } else if !tickets.is_empty() {
                    needed = needed.with(tickets.largest());
                }
            }
        }
        self.forgettable(needed)
    }

    /// Without zero, if that is a constant.
    fn forgettable(&self, tickets: TicketSet) -> TicketSet {
        if self.graph.automaton.raised() > 0 { tickets.without_zero() } else { tickets }
    }

    fn tickets_in<const W: usize>(&self, state: &State<W>, fields: impl Iterator<Item = usize>) -> TicketSet {
        let Graph { automaton, layout, .. } = self.graph;
        fields.fold(TicketSet::EMPTY, |set, field| {
            set.union(automaton.tickets(field, layout.fields[field].get(&state.words)))
        })
    }

    fn ticket_fields(&self) -> impl Iterator<Item = usize> + '_ {
        let n = self.model.n;
        (0..n).chain(self.graph.automaton.ticketed().iter().map(move |&reg| n + reg as usize))
    }
}
