//! Strongly connected components.
//!
//! D. J. Pearce, *A space-efficient algorithm for finding strongly connected components*, Information Processing Letters
//! 116(1), 2016: one number for each state is both its index in the depth-first search and, later, its component.
use doorway_memory::Pid;

use crate::{
    model::Model,
    search::{Graph, Id, split},
};

/// Which component each finished state is in.
pub(crate) struct Marks(Vec<u32>);

impl Marks {
    pub(crate) fn same(&self, a: Id, b: Id) -> bool {
        self.0[a as usize] == self.0[b as usize]
    }
}

/// Calls `found` with the states of each component of the graph of steps that `keep` keeps, as far as it can be reached from
/// `roots`, and with the labels of the steps inside it, or-ed together. A component comes after those it leads to. False if
/// it was cancelled.
pub(crate) fn components(
    graph: &Graph,
    model: &Model,
    roots: impl IntoIterator<Item = Id>,
    keep: impl Fn(Id, Pid, Id) -> bool,
    label: impl Fn(Id, Pid, Id) -> u32,
    mut found: impl FnMut(&[Id], u32, &Marks),
) -> bool {
    let mut marks = Marks(vec![0; graph.ids()]);
    let mut next_index = 1;
    let mut next_component = u32::MAX;
    let mut path: Vec<Visit> = Vec::new();
    let mut open: Vec<Id> = Vec::new();
    let mut visited = 0_u32;
    for root in roots {
        if marks.0[root as usize] != 0 {
            continue;
        }
        marks.0[root as usize] = next_index;
        next_index += 1;
        path.push(Visit::new(root));
        while let Some(visit) = path.last_mut() {
            let state = visit.state;
            if let Some(&edge) = graph.raw_steps(state).get(usize::from(visit.followed)) {
                visit.followed += 1;
                let (process, target) = split(edge);
                if !keep(state, process, target) {
                    continue;
                }
                let mark = marks.0[target as usize];
                if mark == 0 {
                    visited += 1;
                    if visited.is_multiple_of(1 << 16) && model.cancelled() {
                        return false;
                    }
                    marks.0[target as usize] = next_index;
                    next_index += 1;
                    path.push(Visit::new(target));
                } else if mark <= next_component {
                    // The target is not in a component yet, so it will be in this one.
                    visit.labels |= label(state, process, target);
                    if mark < marks.0[state as usize] {
                        marks.0[state as usize] = mark;
                        visit.first = false;
                    }
                }
                continue;
            }
            let Visit { first, labels, .. } = *visit;
            path.pop();
            let mark = marks.0[state as usize];
            if first {
                let start = open.iter().rposition(|&other| marks.0[other as usize] < mark).map_or(0, |at| at + 1);
                open.push(state);
                next_index -= (open.len() - start) as u32;
                for &member in &open[start..] {
                    marks.0[member as usize] = next_component;
                }
                next_component -= 1;
                found(&open[start..], labels, &marks);
                open.truncate(start);
            } else {
                open.push(state);
                let parent = path.last_mut().expect("the first state of a component is met before the others");
                let (process, _) = split(graph.raw_steps(parent.state)[usize::from(parent.followed) - 1]);
                parent.labels |= labels | label(parent.state, process, state);
                if mark < marks.0[parent.state as usize] {
                    marks.0[parent.state as usize] = mark;
                    parent.first = false;
                }
            }
        }
    }
    true
}

/// A state on the path of the search.
struct Visit {
    state: Id,
    /// The labels of the steps found inside its component so far.
    labels: u32,
    /// How many of its steps have been followed.
    followed: u16,
    /// Whether it may be the first state of its component that was met.
    first: bool,
}

impl Visit {
    fn new(state: Id) -> Visit {
        Visit { state, labels: 0, followed: 0, first: true }
    }
}

/// The component a state is in.
pub(crate) fn component_of(graph: &Graph, model: &Model, state: Id, keep: impl Fn(Id, Pid, Id) -> bool) -> Vec<Id> {
    let mut component = Vec::new();
    components(
        graph,
        model,
        [state],
        keep,
        |_, _, _| 0,
        |members, _, _| {
            if members.contains(&state) {
                component = members.to_vec();
            }
        },
    );
    component
}
