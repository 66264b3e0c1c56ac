//! Random executions, by which a search that forgets registers learns what processes do.
//!
//! Such a search has to start again whenever it learns of a step by which more registers are live. Most steps occur in random
//! executions, which take no memory: first in some that begin in the initial state, and then, when the search has to start
//! again, in some that begin where it came to that step.
use doorway_memory::Pid;

use crate::{
    actor::Actor,
    automaton::Live,
    expand::{Expansion, SELF, Successors},
    graph::{Graph, Id},
    layout::Layout,
    program::Program,
};

/// The most steps of one execution: of short ones, since some steps occur only near their beginning, and of long ones.
const LENGTHS: [usize; 3] = [100, 500, 4_000];
/// A process takes this number of steps in a row, on the average, by turns: passages that are hardly disturbed would be rare
/// otherwise.
const BURSTS: [usize; 4] = [1, 4, 16, 64];
/// There are no further executions once this number of steps has led to no new local state…
const IN_VAIN: usize = 50_000;
/// …or there were this many steps.
const MOST: usize = 2_000_000;

/// Pseudorandom numbers: Marsaglia's xorshift.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % bound
    }
}

/// The fields of a state, not packed.
type Fields = Vec<u32>;

impl Graph {
    /// The registers that are live as far as is known after random executions, which begin on a path of the graph. The graph
    /// is of no use afterwards.
    pub(crate) fn scout(&mut self, program: &dyn Program, path: &[(Actor, Id)]) -> Live {
        let path: Vec<(Actor, Fields)> = path.iter().map(|&(actor, target)| (actor, self.contents(target))).collect();
        // The more there is to search again, the more it is worth to look for further steps first.
        let effort = self.states() as usize;
        self.automaton.forget_no_register();
        let mut starts = vec![vec![0; self.automaton.fields()]];
        for (actor, target) in &path {
            let n = self.model.n;
            let is_it = |(other, state): &(Actor, Fields)| other == actor && state[..n] == target[..n];
            let moves = self.moves(program, &starts[starts.len() - 1]);
            match moves.and_then(|moves| moves.into_iter().find(is_it)) {
                Some((_, next)) => starts.push(next),
                None => break,
            }
        }
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let (mut known, mut steps, mut in_vain) = (self.automaton.locals(), 0, 0);
        for (length, burst) in std::iter::zip(LENGTHS.into_iter().cycle(), BURSTS.into_iter().cycle()) {
            // At the end of the path, or somewhere on it.
            let back = random.below(2) * random.below(starts.len());
            let start = starts[starts.len() - 1 - back].clone();
            let Some(walked) = self.walk(program, &mut random, start, length, burst) else { break };
            let locals = self.automaton.locals();
            in_vain = if locals > known { 0 } else { in_vain + walked.max(1) };
            (known, steps) = (locals, steps + walked);
            if in_vain > IN_VAIN + effort || steps > MOST + 10 * effort || self.model.cancelled() {
                break;
            }
        }
        self.automaton.known_live()
    }

    /// A random execution, in which a process takes `burst` steps in a row on the average. Returns the number of steps; none if
    /// the source is at fault: the search comes there too, and says how.
    fn walk(
        &mut self,
        program: &dyn Program,
        random: &mut Random,
        start: Fields,
        length: usize,
        burst: usize,
    ) -> Option<usize> {
        let mut state = start;
        let mut process: Pid = 0;
        for step in 0..length {
            let mut moves = self.moves(program, &state)?;
            if random.below(burst) == 0 {
                process = random.below(self.model.n);
            }
            let own: Vec<usize> = (0..moves.len()).filter(|&to| moves[to].0.pid() == process).collect();
            let to = match (own.len(), moves.len()) {
                (0, 0) => return Some(step),
                (0, all) => random.below(all),
                (all, _) => own[random.below(all)],
            };
            state = moves.swap_remove(to).1;
        }
        Some(length)
    }

    /// The steps that lead from a state to others; no list if the source is at fault, and an empty one if a step depends on a
    /// forgotten ticket.
    fn moves(&mut self, program: &dyn Program, state: &Fields) -> Option<Vec<(Actor, Fields)>> {
        let mut out = Successors::in_one_list();
        loop {
            if !self.layout.holds(&self.automaton) {
                self.layout = Layout::of(&self.automaton);
            }
            out.clear();
            Expansion::of(self).expand(&self.layout.pack(state), &mut out);
            if out.missing.is_empty() {
                break;
            }
            for missing in out.missing.drain(..) {
                self.automaton.learn(program, missing).ok()?;
                if self.automaton.depended_on_forgotten() {
                    return Some(Vec::new());
                }
            }
        }
        let moves = out.edges.iter().filter(|(_, shard)| *shard != SELF);
        let actors = moves.map(|(actor, _)| self.packing.unpack((*actor).into()));
        let arrivals = out.to[0].chunks_exact(self.layout.words + 1);
        let unpack = |arrival: &[u64]| self.layout.fields.iter().map(|field| field.get(&arrival[1..])).collect();
        Some(std::iter::zip(actors, arrivals.map(unpack)).collect())
    }
}
