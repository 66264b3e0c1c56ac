//! Renumbering the tickets of a successor.
use super::{Expansion, Origin, State, Successors};
use crate::{
    actor::Actor,
    automaton::Missing,
    graph::{Graph, hash_state},
    tickets::{Closing, TicketSet},
};

impl Expansion<'_> {
    /// The tickets of the state from which a step is taken.
    pub(super) fn tickets_of<const W: usize>(&self, origin: &mut Origin<W>) -> TicketSet {
        *origin.tickets.get_or_insert_with(|| self.tickets(&origin.state))
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
        let tickets = self.tickets(&state);
        if self.model.has_real_tickets() {
            if self.model.ticket_cap.is_some_and(|cap| tickets.largest() > cap) {
                out.cut += 1;
            } else {
                self.arrive(state, actor, out);
            }
            return;
        }
        let wide = self.graph.automaton.wide;
        for roomy in tickets.splits(before, wide).subsets() {
            if roomy.is_empty() && tickets.is_normal(wide) {
                self.arrive(state, actor, out);
            } else {
                let closing = Closing::of(tickets, roomy, wide);
                if let Some(renumbered) = self.renumber(&closing, state, out) {
                    self.arrive(renumbered, actor, out);
                }
            }
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

    fn tickets<const W: usize>(&self, state: &State<W>) -> TicketSet {
        let Graph { automaton, layout, .. } = self.graph;
        self.ticket_fields().fold(TicketSet::EMPTY.with_zero(), |set, field| {
            set.union(automaton.tickets(field, layout.fields[field].get(&state.words)))
        })
    }

    fn ticket_fields(&self) -> impl Iterator<Item = usize> + '_ {
        let n = self.model.n;
        (0..n).chain(self.graph.automaton.ticketed().iter().map(move |&reg| n + reg as usize))
    }
}
