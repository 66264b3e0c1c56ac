//! Rotating the cyclic numbers of a successor.
use super::{Expansion, State, Successors};
use crate::{
    automaton::Missing,
    graph::{Graph, hash_state},
};

impl Expansion<'_> {
    /// A state with its cyclic numbers rotated; none if that takes something not known yet.
    pub(super) fn rotate<const W: usize>(&self, state: &State<W>, by: u32, out: &mut Successors) -> Option<State<W>> {
        let Graph { automaton, layout, .. } = self.graph;
        let n = automaton.n();
        let mut rotated = *state;
        let mut known = true;
        let registers = automaton.rotated_registers().iter().map(|&reg| reg as usize);
        let moves = registers.map(|reg| (n + reg, n + automaton.rotated_register(reg, by)));
        for (from, to) in (0..n).map(|p| (p, p)).chain(moves) {
            let id = layout.fields[from].get(&state.words);
            match automaton.rotated(from as u32, id, by) {
                Some(id) => layout.fields[to].set(&mut rotated.words, id),
                None => {
                    out.missing.push(Missing::Rotation { field: from as u32, id, by });
                    known = false;
                }
            }
        }
        known.then(|| State { hash: hash_state(automaton, layout, &rotated.words), ..rotated })
    }
}
