//! The most remote memory references of one passage, by the explorer.
use crate::{
    components::components,
    explore::Graph,
    machine::{Act, Sec},
    properties::Bound,
};

/// The most remote memory references of process `p` in one passage.
pub fn worst(graph: &Graph, p: usize) -> Bound {
    let states = graph.secs.len();
    let inside = |state: usize| graph.secs[state][p] != Sec::Remainder;
    let cost = |act: Act, remote: bool| u32::from(act == Act::Step(p) && remote);
    let found = components(states, inside, |state, to| to.extend(graph.edges[state].iter().map(|e| e.to as usize)));
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); found.count];
    for state in (0..states).filter(|&state| inside(state)) {
        members[found.of[state] as usize].push(state);
    }
    let mut rest = vec![0_u32; found.count];
    for component in 0..found.count {
        for &state in &members[component] {
            for edge in &graph.edges[state] {
                let (to, cost) = (edge.to as usize, cost(edge.act, edge.remote));
                if inside(to) && found.of[to] as usize == component {
                    if cost > 0 {
                        return Bound::Unbounded;
                    }
                } else {
                    let later = if inside(to) { rest[found.of[to] as usize] } else { 0 };
                    rest[component] = rest[component].max(cost + later);
                }
            }
        }
    }
    let mut most = 0;
    for state in (0..states).filter(|&state| !inside(state)) {
        for edge in graph.edges[state].iter().filter(|edge| edge.act == Act::Step(p)) {
            let to = edge.to as usize;
            let later = if inside(to) { rest[found.of[to] as usize] } else { 0 };
            most = most.max(cost(edge.act, edge.remote) + later);
        }
    }
    Bound::AtMost(most)
}
