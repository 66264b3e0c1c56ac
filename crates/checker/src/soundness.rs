//! The renumbering of tickets is compared with real numbers: every real state must be among those searched. A search that
//! forgets tickets is compared with one that does not: they must be bisimilar.
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use doorway_algorithms::{
    Size,
    kexclusion::{
        anderson_moir_dsm_tree, fischer_queue_names::FischerQueueNames, k_bakery::KBakery, k_bakery_fife::KBakeryFife,
        ticket_k::TicketK,
    },
    mutex::{
        bakery::Bakery, bakery_labels::BakeryLabels, black_white_bakery::BlackWhiteBakery, danek_golab_simple,
        filter::Filter, kim_anderson, mcs, ticket_async, ticket_sleeping::TicketSleeping,
    },
};
use doorway_memory::{Exclusion, Home, Memory, Name, Pid, Property, Space, Ticket};

use crate::{
    Model, Registers, View,
    actor::Actor,
    check,
    graph::{Graph, Id},
    machine::Machine,
    program::{Lock, Program},
    registers::Register,
    scout::Random,
    tickets::{self, Numbering},
    view::Word,
};

/// A state with its tickets renumbered, comparable between graphs.
type Image = Vec<u64>;

pub(crate) fn explore<A: Exclusion<View>>(
    model: &Model,
    make: impl Fn(&mut Registers) -> A,
) -> (Lock<A>, Vec<Register>, Graph) {
    let mut registers = Registers::default();
    let program = Lock::make(&mut registers, make);
    let graph = Graph::explore(&program, registers.of(model).to_vec(), model, true).expect("it keeps the rules");
    (program, registers.of(model).to_vec(), graph)
}

pub(crate) fn states(graph: &Graph) -> impl Iterator<Item = Id> + '_ {
    (0..graph.ids() as Id).filter(|&state| graph.exists(state))
}

fn image(graph: &Graph, state: Id) -> Image {
    let contents = graph.contents(state);
    let (locals, values) = contents.split_at(graph.automaton.n());
    let locals: Vec<_> = locals.iter().enumerate().map(|(p, &local)| graph.automaton.local(p, local)).collect();
    let words: Vec<(u64, _)> = std::iter::zip(&graph.automaton.registers, values)
        .enumerate()
        .map(|(reg, (register, &value))| (graph.automaton.word(reg, value), register.kind))
        .collect();
    let histories = || locals.iter().flat_map(|local| &local.history);
    let mut real = Vec::new();
    histories().for_each(|Word { bits, kind, .. }| tickets::collect(*kind, *bits, &mut real));
    words.iter().for_each(|&(word, kind)| tickets::collect(kind, word, &mut real));
    let numbering = Numbering::closing_real(&real, 0, graph.automaton.wide);
    let sections = locals.iter().flat_map(|local| [local.section as u64, local.history.len() as u64]);
    let histories = histories().map(|word| numbering.apply(word));
    let words = words.iter().map(|&(word, kind)| numbering.apply_to(kind, word));
    sections.chain(histories).chain(words).collect()
}

/// The states reached if gaps were closed without splitting: by the first successor of each process only.
fn without_splitting(graph: &Graph) -> BTreeSet<Image> {
    let mut seen = BTreeSet::from([graph.initial]);
    let mut queue = VecDeque::from([graph.initial]);
    while let Some(state) = queue.pop_front() {
        let mut last = None;
        for (actor, target) in graph.steps(state) {
            if last.replace(actor) != Some(actor) && seen.insert(target) {
                queue.push_back(target);
            }
        }
    }
    seen.into_iter().map(|state| image(graph, state)).collect()
}

/// The real states with tickets up to `cap`, the states searched, and those searched if gaps were closed without
/// splitting.
fn compare<A: Exclusion<View>>(n: usize, cap: u32, make: impl Fn(&mut Registers) -> A) -> [BTreeSet<Image>; 3] {
    compare_in(&Model::new(n), cap, make)
}

fn compare_in<A: Exclusion<View>>(model: &Model, cap: u32, make: impl Fn(&mut Registers) -> A) -> [BTreeSet<Image>; 3] {
    let (_, _, real) = explore(&model.clone().ticket_cap(cap), &make);
    let (_, _, searched) = explore(model, &make);
    let images = |graph: &Graph| states(graph).map(|state| image(graph, state)).collect();
    [images(&real), images(&searched), without_splitting(&searched)]
}

#[test]
fn every_real_state_of_bakery_is_searched() {
    let [real, searched, _] = compare(2, 12, |space| Bakery::new(space, 2));
    assert_eq!(real, searched);
    let [real, searched, _] = compare(3, 10, |space| Bakery::new(space, 3));
    assert!(real.is_subset(&searched));
    // The search has some states that are not real, and misses none. (Caps up to 20 add no further real ones.)
    assert_eq!((real.len(), searched.len()), (12_155, 12_173));
}

#[test]
fn every_real_state_of_bakery_labels_is_searched() {
    for (n, cap) in [(2, 12), (3, 7)] {
        let [real, searched, _] = compare(n, cap, |space| BakeryLabels::new(space, n));
        assert_eq!(real, searched, "n={n}");
    }
}

/// A cap of n cuts nothing, so these are all real states; the search also has states with numbers that no process takes.
#[test]
fn every_real_state_of_the_black_white_bakery_is_searched() {
    for (n, found) in [(2, (1_407, 1_547)), (3, (166_166, 193_496))] {
        let [real, searched, _] = compare(n, n as u32, |space| BlackWhiteBakery::new(space, n));
        assert!(real.is_subset(&searched), "n={n}");
        assert_eq!((real.len(), searched.len()), found, "n={n}");
    }
}

#[test]
fn every_real_state_of_k_bakery_with_deaths_and_aborts_is_searched() {
    let [real, searched, _] = compare_in(&Model::new(2).deaths().aborts(), 12, |space| KBakery::new(space, 2, 1));
    assert_eq!(real, searched);
}

/// Why the search splits: closing gaps to 2 without it misses states that occur.
#[test]
fn closing_gaps_without_splitting_would_miss_real_states_of_bakery() {
    for (n, missed) in [(2, 10), (3, 2_254)] {
        let [real, _, closed] = compare(n, 10, |space| Bakery::new(space, n));
        assert_eq!(real.difference(&closed).count(), missed, "n={n}");
    }
}

/// As above, with unlimited numbers.
#[test]
fn random_executions_stay_among_the_states_searched() {
    let model = Model::new(3);
    let (program, registers, graph) = explore(&model, |space| Bakery::new(space, 3));
    let program: &dyn Program = &program;
    let searched: BTreeSet<Vec<u32>> = states(&graph).map(|state| graph.contents(state)).collect();
    let mut random = Random(1);
    for execution in 0..20 {
        let mut machine = Machine::new(program, &registers, &model);
        for step in 0..2_000 {
            // Bursts, so that the tickets of one process can grow far beyond those of the others.
            let p = random.below(3);
            for _ in 0..1 + random.below(8) {
                machine.step(p).expect("it keeps the rules");
                let state = machine.counted_as(&graph, &model).expect("every part of it is known");
                assert!(searched.contains(&state), "execution {execution}, step {step}");
            }
        }
    }
}

/// As above, on safe registers, where a ticket can be any number.
#[test]
fn random_executions_on_safe_registers_stay_among_the_states_searched() {
    let model = Model::new(2).safe_registers();
    let (program, registers, graph) = explore(&model, |space| KBakery::new(space, 2, 1));
    let searched: BTreeSet<Vec<u32>> = states(&graph).map(|state| graph.contents(state)).collect();
    let mut random = Random(7);
    for execution in 0..200 {
        let mut machine = Machine::new(&program, &registers, &model);
        for step in 0..1_000 {
            let p = random.below(2);
            for _ in 0..1 + random.below(6) {
                let among = machine.values_seen(p).expect("it keeps the rules").map_or(1, |values| values.len());
                machine.step_seeing_value(p, random.below(among)).expect("it keeps the rules");
                let state = machine.counted_as(&graph, &model).expect("every part of it is known");
                assert!(searched.contains(&state), "execution {execution}, step {step}");
            }
        }
    }
}

/// As above, with store buffers, whose contents are part of a state.
#[test]
fn random_executions_with_store_buffers_stay_among_the_states_searched() {
    let model = Model { every_order: true, ..Model::new(2).tso() };
    let (program, registers, graph) = explore(&model, |space| Bakery::new(space, 2));
    let searched: BTreeSet<Vec<u32>> = states(&graph).map(|state| graph.contents(state)).collect();
    let mut random = Random(3);
    for execution in 0..50 {
        let mut machine = Machine::new(&program, &registers, &model);
        for step in 0..2_000 {
            let p = random.below(2);
            for _ in 0..1 + random.below(8) {
                if random.below(3) == 0 || !machine.can_step(p).expect("it keeps the rules") {
                    machine.become_visible(random.below(2));
                } else {
                    machine.step(p).expect("it keeps the rules");
                }
                let state = machine.counted_as(&graph, &model).expect("every part of it is known");
                assert!(searched.contains(&state), "execution {execution}, step {step}");
            }
        }
    }
}

/// As above, with deaths and aborts.
#[test]
fn random_executions_with_deaths_and_aborts_stay_among_the_states_searched() {
    let model = Model::new(2).deaths().aborts();
    let (program, registers, graph) = explore(&model, |space| KBakeryFife::new(space, 2, 1));
    let searched: BTreeSet<Vec<u32>> = states(&graph).map(|state| graph.contents(state)).collect();
    let mut random = Random(5);
    for execution in 0..100 {
        let mut machine = Machine::new(&program, &registers, &model);
        for step in 0..2_000 {
            let p = random.below(2);
            for _ in 0..1 + random.below(8) {
                match random.below(12) {
                    0 => drop(machine.die(p)),
                    1 => drop(machine.abort(p)),
                    _ => drop(machine.step(p).expect("it keeps the rules")),
                }
                let state = machine.counted_as(&graph, &model).expect("every part of it is known");
                assert!(searched.contains(&state), "execution {execution}, step {step}");
            }
        }
    }
}

/// As above, with expiries, and tokens that grow for ever.
#[test]
fn random_executions_with_expiries_stay_among_the_states_searched() {
    let model = Model::new(3).expiries().aborts();
    let (program, registers, graph) = explore(&model, |space| FischerQueueNames::new(space, 3, 1));
    let searched: BTreeSet<Vec<u32>> = states(&graph).map(|state| graph.contents(state)).collect();
    let mut random = Random(13);
    for execution in 0..100 {
        let mut machine = Machine::new(&program, &registers, &model);
        for step in 0..2_000 {
            let p = random.below(3);
            for _ in 0..1 + random.below(8) {
                match random.below(12) {
                    0 if machine.can_die(p) => drop(machine.die(p)),
                    1 => drop(machine.abort(p)),
                    2 => drop(machine.expire(p)),
                    _ => drop(machine.step(p).expect("it keeps the rules")),
                }
                let state = machine.counted_as(&graph, &model).expect("every part of it is known");
                assert!(searched.contains(&state), "execution {execution}, step {step}");
            }
        }
    }
}

/// As above, with store buffers too.
#[test]
fn random_executions_with_deaths_and_store_buffers_stay_among_the_states_searched() {
    let model = Model::new(2).deaths().aborts().tso();
    let (program, registers, graph) = explore(&model, |space| KBakery::new(space, 2, 1));
    let searched: BTreeSet<Vec<u32>> = states(&graph).map(|state| graph.contents(state)).collect();
    let mut random = Random(11);
    for execution in 0..50 {
        let mut machine = Machine::new(&program, &registers, &model);
        for step in 0..2_000 {
            let p = random.below(2);
            for _ in 0..1 + random.below(8) {
                match random.below(16) {
                    0 => drop(machine.die(p)),
                    1 => drop(machine.abort(p)),
                    2..5 => drop(machine.become_visible(random.below(2))),
                    _ if machine.can_step(p).expect("it keeps the rules") => {
                        drop(machine.step(p).expect("it keeps the rules"))
                    }
                    _ => drop(machine.become_visible(p)),
                }
                let state = machine.counted_as(&graph, &model).expect("every part of it is known");
                assert!(searched.contains(&state), "execution {execution}, step {step}");
            }
        }
    }
}

/// As above, where the search forgets tickets.
#[test]
fn random_executions_stay_among_the_states_searched_if_tickets_are_forgotten() {
    fn stay<A: Exclusion<View>>(model: &Model, make: impl Fn(&mut Registers) -> A) {
        let (program, _, graph) = explore(&model.clone().forget(), make);
        assert!(graph.automaton.forgets());
        let searched: BTreeSet<Vec<u32>> = states(&graph).map(|state| graph.contents(state)).collect();
        let mut random = Random(17);
        for execution in 0..50 {
            let mut machine = Machine::new(&program, &graph.automaton.registers, model);
            for step in 0..2_000 {
                let p = random.below(model.n);
                for _ in 0..1 + random.below(8) {
                    machine.step(p).expect("it keeps the rules");
                    let which = std::any::type_name::<A>();
                    let state = machine.counted_as(&graph, model);
                    assert!(state.is_some_and(|state| searched.contains(&state)), "{which}, {execution}, {step}");
                }
            }
        }
    }
    stay(&Model::new(3).k(2), |space| KBakery::new(space, 3, 2));
    stay(&Model::new(2), |space| KBakeryFife::new(space, 2, 1));
    stay(&Model::new(4).k(2), |space| TicketK::new(space, 2));
    stay(&Model::new(3), |space| BakeryLabels::new(space, 3));
    stay(&Model::new(3), |space| TicketSleeping::new(space, 3));
    stay(&Model::new(2), |space| ticket_async::new(space, Size { n: 2, k: 1 }));
    stay(&Model::new(2), |space| anderson_moir_dsm_tree::new(space, Size { n: 2, k: 1 }));
}

/// The classes of the coarsest bisimulation of two graphs, the states of the second after those of the first. States in
/// one class have the same sections, and the same actors lead from them to the same classes.
fn bisimilar(graphs: [&Graph; 2]) -> Vec<u32> {
    let offsets = [0, graphs[0].ids()];
    let mut class = vec![0; graphs[0].ids() + graphs[1].ids()];
    let mut classes = 0;
    loop {
        let mut numbers = BTreeMap::new();
        let mut refined = class.clone();
        for (graph, offset) in std::iter::zip(graphs, offsets) {
            for state in states(graph) {
                let leads = graph.steps(state).map(|(actor, target)| {
                    (matches!(actor, Actor::Process(_)), actor.pid(), class[offset + target as usize])
                });
                let leads: BTreeSet<(bool, usize, u32)> = leads.collect();
                let next = numbers.len() as u32;
                let at = offset + state as usize;
                refined[at] = *numbers.entry((class[at], graph.sections(state), leads)).or_insert(next);
            }
        }
        class = refined;
        if numbers.len() == classes {
            return class;
        }
        classes = numbers.len();
    }
}

/// The numbers of states with and without forgetting tickets.
fn forgetting_is_exact<A: Exclusion<View>>(model: &Model, make: impl Fn(&mut Registers) -> A) -> [u64; 2] {
    let (fewer, states) = compare_forgetting(model, make);
    assert!(fewer.automaton.forgets());
    states
}

/// The graph that forgets what it may, and the numbers of its states and of those without forgetting. The two are bisimilar.
pub(crate) fn compare_forgetting<A: Exclusion<View>>(
    model: &Model,
    make: impl Fn(&mut Registers) -> A,
) -> (Graph, [u64; 2]) {
    compare_graphs(&model.clone().forget(), model, make)
}

/// The graph of a model with fewer states, and their numbers. The two are bisimilar.
pub(crate) fn compare_graphs<A: Exclusion<View>>(
    with_fewer: &Model,
    with_all: &Model,
    make: impl Fn(&mut Registers) -> A,
) -> (Graph, [u64; 2]) {
    let (_, _, fewer) = explore(with_fewer, &make);
    let (_, _, all) = explore(with_all, &make);
    assert!(!all.automaton.forgets() && !all.automaton.merges());
    let class = bisimilar([&fewer, &all]);
    assert_eq!(class[fewer.initial as usize], class[fewer.ids() + all.initial as usize]);
    let states = [fewer.states(), all.states()];
    (fewer, states)
}

/// Forgetting tickets neither adds nor removes an execution, for all that properties are about.
#[test]
fn a_search_that_forgets_tickets_is_bisimilar_to_one_that_does_not() {
    let k_bakery = |model: &Model| forgetting_is_exact(model, |space| KBakery::new(space, 2, 1));
    let mut found = vec![
        k_bakery(&Model::new(2)),
        k_bakery(&Model::new(2).deaths().aborts()),
        k_bakery(&Model::new(2).tso().every_order()),
        forgetting_is_exact(&Model::new(2).deaths(), |space| KBakeryFife::new(space, 2, 1)),
        forgetting_is_exact(&Model::new(4).k(2), |space| TicketK::new(space, 2)),
        forgetting_is_exact(&Model::new(3), |space| BakeryLabels::new(space, 3)),
        forgetting_is_exact(&Model::new(2).passages(2), |space| KBakery::new(space, 2, 1)),
    ];
    let sleeping = |model: &Model| forgetting_is_exact(model, |space| TicketSleeping::new(space, 2));
    found.extend([sleeping(&Model::new(2)), sleeping(&Model::new(2).tso().every_order())]);
    let tasks = |model: &Model| forgetting_is_exact(model, |space| ticket_async::new(space, Size { n: 2, k: 1 }));
    found.extend([tasks(&Model::new(2)), tasks(&Model::new(2).aborts())]);
    assert_eq!(
        found,
        [
            [149, 852],
            [697, 5_061],
            [665, 4_637],
            [1_413, 90_347],
            [1_058, 3_108],
            [10_336, 48_941],
            [447, 575],
            [481, 6_963],
            [1_531, 17_187],
            [1_425, 32_087],
            [4_517, 76_958],
        ]
    );
}

/// The same for registers that no process may read any more.
#[test]
fn a_search_that_forgets_registers_is_bisimilar_to_one_that_does_not() {
    let size = |n, k| Size { n, k };
    let found = [
        compare_forgetting(&Model::new(3), |space| Filter::new(space, 3)).1,
        compare_forgetting(&Model::new(3), |space| mcs::new(space, size(3, 1))).1,
        compare_forgetting(&Model::new(3).tso().passages(1), |space| mcs::new(space, size(3, 1))).1,
        compare_forgetting(&Model::new(2), |space| anderson_moir_dsm_tree::new(space, size(2, 1))).1,
        compare_forgetting(&Model::new(2).tso(), |space| anderson_moir_dsm_tree::new(space, size(2, 1))).1,
        compare_forgetting(&Model::new(2), |space| danek_golab_simple::new(space, size(2, 1))).1,
        compare_forgetting(&Model::new(2).passages(1), |space| kim_anderson::new(space, size(2, 1))).1,
    ];
    assert_eq!(
        found,
        [[1_142, 2_090], [536, 824], [904, 1_102], [2_592, 4_200], [4_960, 8_424], [1_783, 39_575], [16_791, 29_841]]
    );
}

/// Process 2 enters if the old tickets of the others are in the right order, or if one was the ticket before the newest: nothing
/// may be forgotten of that.
struct OldTickets<M: Memory> {
    asks_for_order: bool,
    newest: M::Reg<Ticket>,
    old: Vec<M::Reg<Ticket>>,
    turn: M::Reg<usize>,
}

impl<M: Memory> Exclusion<M> for OldTickets<M> {
    type Place = ();
    type Inside = ();

    fn doorway(&self, _: &mut M, _: Pid) -> Result<(), M::Halt> {
        Ok(())
    }

    fn wait(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        if p < 2 {
            let mine = m.update(&self.newest, Ticket::next)?;
            m.write(&self.old[p], mine)?;
            return m.spin(|m| m.test(&self.turn, |turn| turn == p));
        }
        let enters = if self.asks_for_order {
            let first = m.read(&self.old[0])?;
            let second = m.read(&self.old[1])?;
            first > second && second != Ticket::ZERO
        } else {
            let newest = m.read(&self.newest)?;
            m.test(&self.old[0], |old| old.next() == newest)?
        };
        if enters { Ok(()) } else { m.spin(|m| m.test(&self.turn, |turn| turn == p)) }
    }

    fn exit(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.write(&self.turn, (p + 1) % 3)
    }
}

#[test]
fn tickets_that_a_step_depends_on_are_neither_forgotten_nor_merged() {
    for asks_for_order in [true, false] {
        let make = |space: &mut Registers| OldTickets {
            asks_for_order,
            newest: space.shared("newest", Ticket::ZERO.next()),
            old: (0..2).map(|i| space.register(Name::new("old").index(i), Home::Nobody, Ticket::ZERO)).collect(),
            turn: space.shared("turn", 0),
        };
        for fewer in [Model::new(3).forget(), Model::new(3).merge()] {
            compare_graphs(&fewer, &Model::new(3), make);
            let report = check(&fewer, make).expect("it keeps the rules");
            assert!(report.fails(Property::Exclusion), "{report}");
        }
    }
}

/// States are identified exactly if they differ only in the numbers of processes.
#[test]
fn symmetric_search_finds_the_sorted_states() {
    let sorted = |graph: &Graph| -> BTreeSet<Image> {
        let image = |state| {
            let contents = graph.contents(state);
            let (locals, values) = contents.split_at(graph.automaton.n());
            let local = |(p, &local): (usize, &u32)| {
                let local = graph.automaton.local(p, local);
                let history = local.history.iter().map(|word| word.bits);
                std::iter::once(local.section as u64).chain(history).collect::<Vec<_>>()
            };
            let mut locals: Vec<Vec<u64>> = locals.iter().enumerate().map(local).collect();
            locals.sort_unstable();
            let words = values.iter().enumerate().map(|(reg, &value)| graph.automaton.word(reg, value));
            let locals = locals.into_iter().flat_map(|local| [local, vec![u64::MAX]]).flatten();
            locals.chain(words).collect()
        };
        states(graph).map(image).collect()
    };
    for (n, k) in [(2, 1), (3, 2), (4, 2)] {
        let [each, alike] = [Model::new(n), Model::new(n).symmetric()].map(|model| {
            let (_, _, graph) = explore(&model.k(k), |space| TicketK::new(space, k));
            graph
        });
        assert_eq!(sorted(&each), sorted(&alike), "n={n}");
        assert_eq!(sorted(&alike).len() as u64, alike.states(), "n={n}");
    }
}
