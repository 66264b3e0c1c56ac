//! The states that a program can reach, with real tickets up to a cap.
use rustc_hash::FxHashMap;

use crate::{
    lang::Ty,
    machine::{Act, Blocked, MOST, Machine, Sec, State},
    setup::Mem,
};

/// One step of the graph.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The kind of the step.
    pub act: Act,
    /// The state it leads to.
    pub to: u32,
    /// Whether it is a remote memory reference.
    pub remote: bool,
}

/// The reachable states, in order of distance from the first, which is state 0.
pub struct Graph {
    /// The number of processes.
    pub n: usize,
    /// The section of each process, in each state.
    pub secs: Vec<[Sec; MOST]>,
    /// The length of the shortest execution to each state.
    pub depth: Vec<u32>,
    /// The processes with a store buffer that is not empty, as bits, in each state.
    pub buffered: Vec<u8>,
    /// Whether names or outcomes break the rule, in each state.
    pub breaks_rule: Vec<bool>,
    /// Whether a resource has refused a holder, in each state.
    pub refused: Vec<bool>,
    /// The steps from each state.
    pub edges: Vec<Vec<Edge>>,
    /// Whether steps were left out because of the cap or the limit on states.
    pub cut: bool,
    /// Whether two processes wrote a safe register at once.
    pub overlaps: bool,
}

/// The limits of the exploration.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Tickets beyond this are cut.
    pub ticket_cap: i64,
    /// States beyond this are not expanded.
    pub max_states: usize,
}

/// Explores a machine.
pub fn explore(machine: &Machine<'_>, limits: Limits) -> Graph {
    let n = machine.setup.n;
    let mut graph = Graph {
        n,
        secs: Vec::new(),
        depth: Vec::new(),
        buffered: Vec::new(),
        breaks_rule: Vec::new(),
        refused: Vec::new(),
        edges: Vec::new(),
        cut: false,
        overlaps: false,
    };
    let mut ids: FxHashMap<State, u32> = FxHashMap::default();
    let mut states: Vec<State> = Vec::new();
    let mut add = |state: State, depth: u32, graph: &mut Graph, states: &mut Vec<State>| -> u32 {
        if let Some(&id) = ids.get(&state) {
            return id;
        }
        let id = states.len() as u32;
        graph.secs.push(std::array::from_fn(|p| state.procs[p].sec));
        graph.depth.push(depth);
        graph.buffered.push(machine.buffered(&state));
        graph.breaks_rule.push(machine.breaks_rule(&state));
        graph.refused.push(machine.is_refused(&state));
        ids.insert(state.clone(), id);
        states.push(state);
        id
    };
    add(machine.initial(), 0, &mut graph, &mut states);
    let mut acts: Vec<Act> = (0..n).map(Act::Step).collect();
    if machine.setup.mem.is_tso() {
        acts.extend((0..n).map(Act::Drain));
    }
    if machine.setup.deaths {
        acts.extend((0..n).map(Act::Die));
    }
    if machine.setup.aborts {
        acts.extend((0..n).map(Act::Abort));
    }
    if machine.setup.expiries {
        acts.extend((0..n).flat_map(|p| [Act::Expire(p), Act::FindOut(p)]));
    }
    let mut at = 0;
    while at < states.len() {
        if states.len() > limits.max_states {
            graph.cut = true;
            break;
        }
        let state = states[at].clone();
        let mut edges = Vec::new();
        for &act in &acts {
            let choices: Vec<Option<i64>> = match act {
                Act::Step(p) if machine.setup.mem == Mem::Safe => match machine.flickers(&state, p) {
                    None => vec![None],
                    Some(Ty::Bool) => vec![Some(0), Some(1)],
                    Some(Ty::Ticket) => (0..=limits.ticket_cap).map(Some).collect(),
                    Some(Ty::MaybeTicket) => (-1..=limits.ticket_cap).map(Some).collect(),
                    Some(_) => vec![None],
                },
                _ => vec![None],
            };
            // A ticket that is read while it is written can be any number, so not all of them are tried.
            graph.cut |= choices.len() > 2;
            for seen in choices {
                match machine.take(&state, act, seen) {
                    Ok(taken) => {
                        if machine.largest_ticket(&taken.state) > limits.ticket_cap {
                            graph.cut = true;
                            continue;
                        }
                        let to = add(taken.state, graph.depth[at] + 1, &mut graph, &mut states);
                        edges.push(Edge { act, to, remote: taken.remote });
                    }
                    Err(Blocked::Disabled) => {}
                    Err(Blocked::Full) => graph.cut = true,
                    Err(Blocked::Overlap | Blocked::Unknown) => graph.overlaps = true,
                }
            }
        }
        graph.edges.push(edges);
        at += 1;
    }
    graph.edges.resize(states.len(), Vec::new());
    graph
}
