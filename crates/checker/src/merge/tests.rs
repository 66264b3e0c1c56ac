//! Merging is exact: every real step is one of a class, and the classes are bisimilar to the states.
use std::collections::BTreeMap;

use doorway_algorithms::{
    Size,
    kexclusion::{k_bakery::KBakery, k_bakery_fife::KBakeryFife, ticket_k::TicketK},
    mutex::{
        bakery::Bakery, bakery_labels::BakeryLabels, filter::Filter, mcs, peterson::Peterson, ticket_async,
        ticket_sleeping::TicketSleeping,
    },
};
use doorway_memory::{Exclusion, Memory, Pid, Property, Space, Ticket, Value};

use crate::{
    Error, Fault, Model, Registers, View,
    actor::Actor,
    check,
    graph::Id,
    machine::Machine,
    scout::Random,
    soundness::{compare_graphs, explore, states},
};

/// Merging states neither adds nor removes an execution, for all that properties are about.
#[test]
fn a_search_that_merges_states_is_bisimilar_to_one_that_does_not() {
    fn merging<A: Exclusion<View>>(model: &Model, make: impl Fn(&mut Registers) -> A) -> [u64; 2] {
        let (fewer, states) = compare_graphs(&model.clone().merge(), model, make);
        assert!(fewer.automaton.merges());
        states
    }
    let size = |n, k| Size { n, k };
    let k_bakery = |model: &Model| merging(model, |space| KBakery::new(space, 2, 1));
    let tasks = |model: &Model| merging(model, |space| ticket_async::new(space, size(2, 1)));
    let found = [
        k_bakery(&Model::new(2)),
        k_bakery(&Model::new(2).deaths().aborts()),
        k_bakery(&Model::new(2).passages(2)),
        merging(&Model::new(2).deaths(), |space| KBakeryFife::new(space, 2, 1)),
        merging(&Model::new(4).k(2), |space| TicketK::new(space, 2)),
        merging(&Model::new(3), |space| BakeryLabels::new(space, 3)),
        merging(&Model::new(2), |space| Bakery::new(space, 2)),
        merging(&Model::new(2), |space| TicketSleeping::new(space, 2)),
        tasks(&Model::new(2)),
        tasks(&Model::new(2).aborts()),
        merging(&Model::new(3), |space| Filter::new(space, 3)),
        merging(&Model::new(3), |space| mcs::new(space, size(3, 1))),
    ];
    assert_eq!(
        found,
        [
            [190, 852],
            [639, 5_061],
            [381, 575],
            [747, 90_347],
            [506, 3_108],
            [5_045, 48_941],
            [84, 218],
            [398, 6_963],
            [1_126, 32_087],
            [3_714, 76_958],
            [1_142, 2_090],
            [536, 824]
        ]
    );
}

/// Random real executions stay among the classes, and each of their steps is one of the state that stands for the class.
#[test]
fn random_executions_follow_the_steps_of_merged_states() {
    fn follow<A: Exclusion<View>>(model: &Model, make: impl Fn(&mut Registers) -> A) {
        let which = std::any::type_name::<A>();
        let (program, registers, graph) = explore(&model.clone().merge(), make);
        assert!(graph.automaton.merges());
        let ids: BTreeMap<Vec<u32>, Id> = states(&graph).map(|state| (graph.contents(state), state)).collect();
        let mut random = Random(19);
        for execution in 0..50 {
            let mut machine = Machine::new(&program, &registers, model);
            let mut at = graph.initial;
            for _ in 0..2_000 {
                let p = random.below(model.n);
                for _ in 0..1 + random.below(8) {
                    let actor = match random.below(12) {
                        0 if model.deaths && machine.can_die(p) => {
                            machine.die(p);
                            Actor::Interruption(p)
                        }
                        1 if model.aborts && machine.abort(p).is_some() => Actor::Interruption(p),
                        _ => {
                            machine.step(p).expect("it keeps the rules");
                            Actor::Process(p)
                        }
                    };
                    let state = machine.counted_as(&graph, model).expect("it is in a class");
                    let is_step = |&(by, to): &(Actor, Id)| by == actor && graph.contents(to) == state;
                    assert!(graph.steps(at).any(|step| is_step(&step)), "{which}, {execution}: {actor:?}");
                    at = ids[&state];
                }
            }
        }
    }
    follow(&Model::new(3).k(2), |space| KBakery::new(space, 3, 2));
    follow(&Model::new(2).deaths().aborts(), |space| KBakeryFife::new(space, 2, 1));
    follow(&Model::new(4).k(2), |space| TicketK::new(space, 2));
    follow(&Model::new(3), |space| Bakery::new(space, 3));
    follow(&Model::new(3), |space| BakeryLabels::new(space, 3));
    follow(&Model::new(2), |space| TicketSleeping::new(space, 2));
    follow(&Model::new(2).aborts(), |space| ticket_async::new(space, Size { n: 2, k: 1 }));
}

/// Whether a process enters at once depends on whether the ticket is a multiple of three.
struct Multiples<M: Memory>(M::Reg<Ticket>);

impl<M: Memory> Exclusion<M> for Multiples<M> {
    type Place = ();
    type Inside = ();

    fn doorway(&self, m: &mut M, _: Pid) -> Result<(), M::Halt> {
        m.update(&self.0, Ticket::next)?;
        Ok(())
    }

    fn wait(&self, m: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
        let is_multiple = m.test(&self.0, |ticket| ticket.to_word().is_multiple_of(3))?;
        if is_multiple { Ok(()) } else { m.test(&self.0, |_| true).map(|_| ()) }
    }

    fn exit(&self, _: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
        Ok(())
    }
}

#[test]
fn a_lock_that_calculates_with_tickets_is_refused_as_without_merging() {
    for model in [Model::new(2), Model::new(2).merge()] {
        let refused = check(&model, |space| Multiples(space.shared("ticket", Ticket::ZERO)));
        assert!(matches!(refused, Err(Error::Broken { fault: Fault::TicketArithmetic, .. })), "{refused:?}");
    }
}

#[test]
fn limits_end_the_merging_and_nothing_is_decided() {
    let model = Model::new(3).k(2).merge();
    for (model, limit) in [(model.clone().max_states(10_000), "states"), (model.max_memory(2_000_000), "memory")] {
        let report = check(&model, |space| KBakery::new(space, 3, 2)).expect("it keeps the rules");
        let why = report.incomplete.as_ref().expect("it was ended");
        assert!(why.contains(&format!("raise the limit on {limit}")), "{why}");
        assert!(report.states >= 1_000 && !report.holds(Property::Exclusion), "{report}");
    }
}

/// A plain number that grows for ever has merging end at a limit only, as the search would.
#[test]
fn a_number_that_grows_for_ever_is_named() {
    let counter = |space: &mut Registers| Counter(space.shared("count", 0));
    let report = check(&Model::new(2).merge().max_states(20_000), counter).expect("it keeps the rules");
    let why = report.incomplete.expect("it was ended");
    assert!(why.contains("`count` has held"), "{why}");
}

/// A lock of which every passage counts.
struct Counter<M: Memory>(M::Reg<usize>);

impl<M: Memory> Exclusion<M> for Counter<M> {
    type Place = ();
    type Inside = ();

    fn doorway(&self, m: &mut M, _: Pid) -> Result<(), M::Halt> {
        m.update(&self.0, |count| count + 1)?;
        Ok(())
    }

    fn wait(&self, m: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
        m.test(&self.0, |count| count == 7).map(|_| ())
    }

    fn exit(&self, _: &mut M, _: Pid, (): &()) -> Result<(), M::Halt> {
        Ok(())
    }
}

#[test]
fn what_cannot_be_merged_is_refused_by_name() {
    let refused = |model: Model| check(&model.merge(), Peterson::new).expect_err("it is refused").to_string();
    let why = |other: &str| format!("states are not merged with {other}; check one without the other");
    assert_eq!(refused(Model::new(2).tso()), why("store buffers"));
    assert_eq!(refused(Model::new(2).forget()), why("forgetting"));
    assert_eq!(refused(Model::new(2).passages_in_all(3)), why("a limit on passages in all"));
}
