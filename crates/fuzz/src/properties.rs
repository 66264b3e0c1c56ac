//! The properties, written from their definitions; `docs/glossary.md` has them in words.
//!
//! A process *starves* if there is a fair infinite execution, without deaths from some point on, in which it stays in
//! one section. *Fair* means that every process outside the remainder takes steps for ever unless it has crashed, and
//! that no write stays invisible for ever. The graph is finite, so such an execution exists exactly if a component of
//! the right part of the graph contains all these steps.
use std::collections::VecDeque;

use crate::{
    components::{NONE, components},
    explore::Graph,
    machine::{Act, Sec},
    setup::Setup,
};

/// The largest number of times that something can happen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Bound {
    /// This number.
    AtMost(u32),
    /// There is no bound.
    Unbounded,
}

/// The explorer's answers about a program: for each property, whether a violation was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answers {
    /// The length of the shortest execution with more than k holders.
    pub exclusion: Option<u32>,
    /// Whether there is a fair execution without progress.
    pub deadlock: bool,
    /// For each process, whether it can starve.
    pub starves: Vec<bool>,
    /// The length of the shortest overtaking.
    pub fcfs: Option<u32>,
    /// The length of the shortest overtaking of k at once.
    pub k_fcfs: Option<u32>,
    /// Whether an overtaken process can take steps in the waiting section for ever.
    pub fife: bool,
    /// The most entries of one process while another waits, in passages begun during that wait.
    pub late: Bound,
    /// The most entries of one process while another waits.
    pub in_all: Bound,
    /// Whether an exit, abort or reap can take unboundedly many steps.
    pub endless_exit: bool,
    /// Whether a doorway can.
    pub endless_doorway: bool,
    /// Whether a call of a part can.
    pub endless_call: bool,
    /// The length of the shortest execution that breaks the rule or the assignment of names.
    pub rule: Option<u32>,
    /// The length of the shortest execution in which a resource refuses a holder.
    pub fenced: Option<u32>,
}

/// The sections that a process must leave eventually.
const TRANSIENT: [Sec; 5] = [Sec::Doorway, Sec::Wait, Sec::Exit, Sec::Abort, Sec::Reap];

/// Answers for all properties.
pub fn answers(graph: &Graph, setup: &Setup) -> Answers {
    let judge = Judge { graph, setup };
    let n = graph.n;
    let processes: Vec<usize> = (0..n).collect();
    let pairs = || processes.iter().flat_map(|&p| (0..n).map(move |q| (p, q))).filter(|(p, q)| p != q);
    let endless = |sec: Sec| processes.iter().any(|&p| judge.endless(p, sec).contains(&true));
    let sets = |q: usize| (0..1_u32 << n).filter(move |set| set >> q & 1 == 0 && set.count_ones() as usize == setup.k);
    let bypass = |late: bool| pairs().map(|(p, q)| judge.bypass(p, q, late)).max().unwrap_or(Bound::AtMost(0));
    Answers {
        exclusion: judge.nearest(|state| judge.holders(state) > setup.k),
        deadlock: processes.iter().any(|&p| judge.keeps(p, true)),
        starves: processes.iter().map(|&p| judge.keeps(p, false)).collect(),
        fcfs: pairs().filter_map(|(p, q)| judge.overtaking(1 << p, q)).min(),
        k_fcfs: (0..n).flat_map(|q| sets(q).filter_map(move |set| judge.overtaking(set, q))).min(),
        fife: pairs().any(|(p, q)| judge.held_back(p, q)),
        late: bypass(true),
        in_all: bypass(false),
        endless_exit: [Sec::Exit, Sec::Abort, Sec::Reap].into_iter().any(endless),
        endless_doorway: endless(Sec::Doorway),
        endless_call: endless(Sec::Wait),
        rule: judge.nearest(|state| graph.breaks_rule[state]),
        fenced: judge.nearest(|state| graph.refused[state]),
    }
}

/// A graph in a setup, of which the properties are asked.
#[derive(Clone, Copy)]
struct Judge<'a> {
    graph: &'a Graph,
    setup: &'a Setup,
}

impl Judge<'_> {
    fn sec(&self, state: usize, p: usize) -> Sec {
        self.graph.secs[state][p]
    }

    fn holders(&self, state: usize) -> usize {
        (0..self.graph.n).filter(|&p| self.sec(state, p).is_critical()).count()
    }

    fn nearest(&self, bad: impl Fn(usize) -> bool) -> Option<u32> {
        (0..self.graph.secs.len()).filter(|&state| bad(state)).map(|state| self.graph.depth[state]).min()
    }

    /// The process that enters the critical section in a step, if one does.
    fn enters(&self, from: usize, act: Act, to: usize) -> Option<usize> {
        let Act::Step(p) = act else { return None };
        (self.sec(from, p) != Sec::Critical && self.sec(to, p) == Sec::Critical).then_some(p)
    }

    /// Whether process `p` stays in one section for ever in a fair execution without deaths; and without progress, if
    /// that is asked for.
    fn keeps(&self, p: usize, without_progress: bool) -> bool {
        let graph = self.graph;
        let keep = |from: usize, act: Act, to: usize| {
            let Act::Step(q) = act else { return !matches!(act, Act::Die(_) | Act::Expire(_)) };
            let leaves = self.sec(from, q) == Sec::Exit && self.sec(to, q) == Sec::Remainder;
            !(without_progress && (leaves || self.enters(from, act, to).is_some()))
        };
        TRANSIENT.into_iter().any(|sec| {
            let inside = |state: usize| self.sec(state, p) == sec;
            let found = components(graph.secs.len(), inside, |state, to| {
                let kept = graph.edges[state].iter().filter(|edge| keep(state, edge.act, edge.to as usize));
                to.extend(kept.map(|edge| edge.to as usize));
            });
            // For each component: the processes that step and the buffers that are emptied, as bits, and a state of it.
            let mut steps = vec![(0_u32, 0_u32, usize::MAX); found.count];
            for state in (0..graph.secs.len()).filter(|&state| inside(state)) {
                let component = found.of[state];
                let (stepping, draining, member) = &mut steps[component as usize];
                *member = state;
                for edge in &graph.edges[state] {
                    let to = edge.to as usize;
                    if found.of[to] == component && keep(state, edge.act, to) {
                        match edge.act {
                            Act::Step(q) => *stepping |= 1 << q,
                            Act::Drain(q) => *draining |= 1 << q,
                            Act::Die(_) | Act::Abort(_) | Act::Expire(_) | Act::FindOut(_) => {}
                        }
                    }
                }
            }
            steps.into_iter().any(|(stepping, draining, member)| {
                let stands = |q: &usize| stepping >> q & 1 == 0 && self.sec(member, *q) != Sec::Remainder;
                let stuck = u32::from(graph.buffered[member]) & !draining;
                stepping >> p & 1 == 1 && (0..graph.n).filter(stands).count() <= self.setup.crashes && stuck == 0
            })
        })
    }

    /// The states from which process `p` can take steps in a section for ever, in a fair execution or not, without
    /// dying.
    fn endless(&self, p: usize, sec: Sec) -> Vec<bool> {
        let graph = self.graph;
        let inside = |state: usize| self.sec(state, p) == sec;
        let keep = |act: Act| act != Act::Die(p);
        let found = components(graph.secs.len(), inside, |state, to| {
            to.extend(graph.edges[state].iter().filter(|edge| keep(edge.act)).map(|edge| edge.to as usize));
        });
        let mut on_cycle = vec![false; found.count];
        for state in (0..graph.secs.len()).filter(|&state| inside(state)) {
            let own = graph.edges[state].iter().filter(|edge| edge.act == Act::Step(p));
            if own.clone().any(|edge| found.of[edge.to as usize] == found.of[state]) {
                on_cycle[found.of[state] as usize] = true;
            }
        }
        found.of.iter().map(|&component| component != NONE && on_cycle[component as usize]).collect()
    }

    /// Watches whether `q` starts the doorway while all of a set wait, and enters while they still do: 0 before it
    /// starts, 1 after, 2 once it has entered.
    fn watch(&self, set: u32, q: usize, watched: usize, from: usize, act: Act, to: usize) -> usize {
        let all_wait = |state: usize| (0..self.graph.n).all(|p| set >> p & 1 == 0 || self.sec(state, p) == Sec::Wait);
        if !all_wait(from) {
            return 0;
        }
        let late = watched == 1 || (act == Act::Step(q) && self.sec(from, q) == Sec::Remainder);
        match () {
            () if watched == 2 => {
                if all_wait(to) {
                    2
                } else {
                    0
                }
            }
            () if late && self.enters(from, act, to) == Some(q) => 2,
            () if late && all_wait(to) => 1,
            () => 0,
        }
    }

    /// The length of the shortest execution in which `q` overtakes all of a set.
    fn overtaking(&self, set: u32, q: usize) -> Option<u32> {
        self.walk(|watched, from, act, to| self.watch(set, q, watched, from, act, to), |watched, _| watched == 2)
    }

    /// Whether `q` can overtake `p`, and `p` then take steps in the waiting section for ever.
    fn held_back(&self, p: usize, q: usize) -> bool {
        let endless = self.endless(p, Sec::Wait);
        if !endless.contains(&true) {
            return false;
        }
        let watch = |watched, from, act, to| self.watch(1 << p, q, watched, from, act, to);
        self.walk(watch, |watched, state| watched == 2 && endless[state]).is_some()
    }

    /// The length of the shortest execution to a goal, followed by a watch with values below 3.
    fn walk(
        &self,
        watch: impl Fn(usize, usize, Act, usize) -> usize,
        goal: impl Fn(usize, usize) -> bool,
    ) -> Option<u32> {
        let mut distance = vec![u32::MAX; self.graph.secs.len() * 3];
        distance[0] = 0;
        let mut queue = VecDeque::from([(0, 0)]);
        while let Some((state, watched)) = queue.pop_front() {
            let here = distance[state * 3 + watched];
            for edge in &self.graph.edges[state] {
                let to = edge.to as usize;
                let next = watch(watched, state, edge.act, to);
                if distance[to * 3 + next] != u32::MAX {
                    continue;
                }
                distance[to * 3 + next] = here + 1;
                if goal(next, to) {
                    return Some(here + 1);
                }
                queue.push_back((to, next));
            }
        }
        None
    }

    /// The most entries of `q` while `p` waits: only in passages that it begins during that wait, or in any.
    fn bypass(&self, p: usize, q: usize, late_only: bool) -> Bound {
        let graph = self.graph;
        // A node is a state and whether the passage of `q` counts.
        let follow = |node: usize, edge: &crate::explore::Edge| {
            let (from, to) = (node / 2, edge.to as usize);
            let begins = edge.act == Act::Step(q) && self.sec(from, q) == Sec::Remainder;
            let counts = node % 2 == 1 || begins || !late_only;
            let enters = self.enters(from, edge.act, to) == Some(q);
            (to * 2 + usize::from(counts), u32::from(enters && counts))
        };
        let inside = |node: usize| self.sec(node / 2, p) == Sec::Wait;
        let found = components(graph.secs.len() * 2, inside, |node, to| {
            to.extend(graph.edges[node / 2].iter().map(|edge| follow(node, edge).0));
        });
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); found.count];
        for node in (0..graph.secs.len() * 2).filter(|&node| inside(node)) {
            members[found.of[node] as usize].push(node);
        }
        // A component comes after those it leads to.
        let mut most = vec![0_u32; found.count];
        for component in 0..found.count {
            for &node in &members[component] {
                for edge in &graph.edges[node / 2] {
                    let (to, entered) = follow(node, edge);
                    if !inside(to) {
                        continue;
                    }
                    if found.of[to] as usize == component {
                        if entered > 0 {
                            return Bound::Unbounded;
                        }
                    } else {
                        most[component] = most[component].max(entered + most[found.of[to] as usize]);
                    }
                }
            }
        }
        // When `p` begins to wait, no passage of `q` has begun during that wait.
        let starts = (0..graph.secs.len()).map(|state| state * 2).filter(|&node| inside(node));
        Bound::AtMost(starts.map(|node| most[found.of[node] as usize]).max().unwrap_or(0))
    }
}
