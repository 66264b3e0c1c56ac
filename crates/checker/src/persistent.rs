//! What a partial-order reduction could gain.
//!
//! A set of processes is *persistent* in a state if no step of the others, now or later, as long as no process of the set takes
//! one, interferes with the next step of a process of the set: accesses the same register, and one of the two changes it.
//! Then it is enough to follow the steps of these processes. A real reduction has to find such sets by looking at the state
//! and at what is known of the processes; here they are read off the whole graph, so that no reduction by persistent sets can
//! know more. Conditions that a sound one needs besides (about cycles) are left out. Even so most states remain: processes
//! that compete for a lock access the same registers.
use doorway_algorithms::{
    kexclusion::{k_bakery::KBakery, k_bakery_fife::KBakeryFife, log_k::LogK},
    mutex::{bakery::Bakery, filter::Filter, one_bit::OneBit, yang_anderson::YangAnderson},
};
use doorway_memory::{Exclusion, Pid};

use crate::{
    Model, Registers, View,
    automaton::Action,
    graph::{Graph, Id},
    soundness::{explore, states},
};

/// The next step of a process: the register it accesses, if any; whether it changes that; whether it changes its section.
#[derive(Clone, Copy)]
struct Next {
    register: Option<u32>,
    changes: bool,
    is_visible: bool,
}

fn next(graph: &Graph, contents: &[u32], p: Pid) -> Next {
    let automaton = &graph.automaton;
    let info = automaton.step_info(p, contents[p]);
    if matches!(info.action, Action::None | Action::Silent) {
        return Next { register: None, changes: false, is_visible: true };
    }
    let value = contents[automaton.n() + info.reg as usize];
    let (local, written) = automaton.step(info, value).expect("the search has taken the step");
    Next {
        register: Some(info.reg),
        changes: info.action == Action::Write || written != value,
        is_visible: automaton.step_info(p, local).section != info.section,
    }
}

/// The number of states, and how many remain if in each state only the steps of a smallest persistent set are followed of
/// which no step changes a section.
fn states_and_persistent<A: Exclusion<View>>(model: &Model, make: impl Fn(&mut Registers) -> A) -> [usize; 2] {
    let (_, _, graph) = explore(model, make);
    let states: Vec<Id> = states(&graph).collect();
    let mut nexts = vec![Vec::new(); graph.ids()];
    let mut into: Vec<Vec<(Pid, Id)>> = vec![Vec::new(); graph.ids()];
    for &state in &states {
        let contents = graph.contents(state);
        nexts[state as usize] = model.processes().map(|p| next(&graph, &contents, p)).collect();
        graph.steps(state).for_each(|(actor, target)| into[target as usize].push((actor.pid(), state)));
    }
    let mut sets: Vec<u32> = (1..(1 << model.n) - 1).collect();
    sets.sort_by_key(|set| set.count_ones());
    let is_in = |set: u32, p: Pid| set >> p & 1 == 1;
    // For each set the states in which it is not persistent: a step of the others that interferes can be reached by theirs.
    let disturbed: Vec<Vec<bool>> = sets
        .iter()
        .map(|&set| {
            let interferes = |state: Id| {
                let nexts: &[Next] = &nexts[state as usize];
                let pairs = model.processes().flat_map(|p| model.processes().map(move |q| (p, q)));
                pairs.filter(|&(p, q)| is_in(set, p) && !is_in(set, q)).any(|(p, q)| {
                    let (mine, other) = (nexts[p], nexts[q]);
                    mine.register.is_some() && mine.register == other.register && (mine.changes || other.changes)
                })
            };
            let mut disturbed = vec![false; graph.ids()];
            let mut left: Vec<Id> = states.iter().copied().filter(|&state| interferes(state)).collect();
            left.iter().for_each(|&state| disturbed[state as usize] = true);
            while let Some(state) = left.pop() {
                for &(q, before) in &into[state as usize] {
                    if !is_in(set, q) && !std::mem::replace(&mut disturbed[before as usize], true) {
                        left.push(before);
                    }
                }
            }
            disturbed
        })
        .collect();
    let mut seen = vec![false; graph.ids()];
    seen[graph.initial as usize] = true;
    let (mut left, mut found) = (vec![graph.initial], 1);
    while let Some(state) = left.pop() {
        let moves = |set: u32| graph.steps(state).any(|(actor, target)| is_in(set, actor.pid()) && target != state);
        let is_hidden = |set: u32| model.processes().all(|p| !is_in(set, p) || !nexts[state as usize][p].is_visible);
        let will_do = |&(at, set): &(usize, u32)| !disturbed[at][state as usize] && is_hidden(set) && moves(set);
        let chosen = sets.iter().copied().enumerate().find(will_do).map_or(u32::MAX, |(_, set)| set);
        for (actor, target) in graph.steps(state) {
            if is_in(chosen, actor.pid()) && !std::mem::replace(&mut seen[target as usize], true) {
                found += 1;
                left.push(target);
            }
        }
    }
    [states.len(), found]
}

#[test]
fn even_ideal_persistent_sets_leave_most_states() {
    let bakery = states_and_persistent(&Model::new(3), |space| Bakery::new(space, 3));
    let k_bakery = states_and_persistent(&Model::new(2), |space| KBakery::new(space, 2, 1));
    let fife = states_and_persistent(&Model::new(2), |space| KBakeryFife::new(space, 2, 1));
    let filter = states_and_persistent(&Model::new(3), |space| Filter::new(space, 3));
    let one_bit = states_and_persistent(&Model::new(4), |space| OneBit::new(space, 4));
    let yang_anderson = states_and_persistent(&Model::new(2), |space| YangAnderson::new(space, 2));
    let log_k = states_and_persistent(&Model::new(2), |space| LogK::new(space, 2, 1));
    let all = [bakery, k_bakery, fife, filter, one_bit, yang_anderson, log_k];
    assert_eq!(
        all,
        [[12_173, 8_126], [852, 807], [2_189, 1_759], [2_090, 1_857], [2_828, 2_675], [672, 615], [533, 533]]
    );
}
