//! What can happen while a process is in its doorway, waiting, exit, abort or reap section: one pass for each process.
use std::sync::{
    OnceLock,
    atomic::{AtomicU32, Ordering::Relaxed},
};

use doorway_memory::Pid;

use crate::{
    actor::{Actor, ActorSet},
    components::{Marks, Subgraph},
    graph::Id,
    judge::{Judge, Need, StateSet},
    model::MAX_PROCESSES,
    program::Section,
};

/// What can happen for ever while one process stays in one section.
pub(crate) struct Waits {
    p: Pid,
    /// In all sections but the waiting section.
    elsewhere: Cycles,
    /// In the waiting section, where most states are. It is computed only if a cycle near by does not answer a question.
    waiting: OnceLock<Cycles>,
    /// How many questions were answered without.
    answered: AtomicU32,
    /// Answers that are asked for often.
    overtakers: OnceLock<u32>,
    can_starve: OnceLock<bool>,
}

/// States on cycles within one section of a process.
#[derive(Default)]
struct Cycles {
    /// States on a fair cycle without deaths: the process can be kept there for ever though every process that has not
    /// crashed goes on.
    starving: StateSet,
    /// States on a cycle with a step of the process, for each section: the section takes unboundedly many steps.
    endless: [StateSet; Section::ALL.len()],
    /// States on a cycle in which another process enters…
    overtaken: StateSet,
    /// …and the processes that can, as bits.
    overtakers: u32,
}

/// How many states a search for a cycle near by visits at most, and how many questions it answers for each process: if there
/// are more, it is faster to find all cycles.
const MOST_VISITED: usize = 1_000;
const MOST_ANSWERED: u32 = 1_000;

impl Waits {
    pub(crate) fn of(judge: &Judge<'_>, p: Pid) -> Waits {
        let is_in_model = |section: &Section| match section {
            Section::Abort => judge.model.aborts,
            Section::Reap => judge.model.deaths,
            _ => true,
        };
        let mut elsewhere = Cycles::default();
        let sections: Vec<Section> =
            [Section::Doorway].into_iter().chain(Section::LEAVING).filter(is_in_model).collect();
        elsewhere.add(judge, p, &sections);
        Waits {
            p,
            elsewhere,
            waiting: OnceLock::new(),
            answered: AtomicU32::new(0),
            overtakers: OnceLock::new(),
            can_starve: OnceLock::new(),
        }
    }

    /// Finds all cycles of the waiting section, unless those near by tell already that the process can be kept there, and be
    /// overtaken by every other one.
    pub(crate) fn settle(&self, judge: &Judge<'_>) {
        self.can_starve(judge);
        self.overtakers(judge);
    }

    /// Whether the process can be kept for ever from this state on; see [`Cycles::starving`].
    pub(crate) fn is_starving(&self, judge: &Judge<'_>, state: Id) -> bool {
        match judge.section(state, self.p) {
            Section::Wait => self.near(judge, state, None) || self.waiting(judge).starving.contains(state),
            _ => self.elsewhere.starving.contains(state),
        }
    }

    /// False only if the process cannot be kept for ever from this state on; exact if all cycles are known.
    pub(crate) fn may_starve(&self, judge: &Judge<'_>, state: Id) -> bool {
        match judge.section(state, self.p) {
            Section::Wait => self.waiting.get().is_none_or(|waiting| waiting.starving.contains(state)),
            _ => self.elsewhere.starving.contains(state),
        }
    }

    /// Whether there is such a state.
    pub(crate) fn can_starve(&self, judge: &Judge<'_>) -> bool {
        let waiting = || self.first_near(judge, None) || !self.waiting(judge).starving.is_empty();
        *self.can_starve.get_or_init(|| !self.elsewhere.starving.is_empty() || waiting())
    }

    /// Whether the process can take steps in this section for ever from this state on.
    pub(crate) fn is_endless(&self, judge: &Judge<'_>, section: Section, state: Id) -> bool {
        if section != Section::Wait {
            return self.elsewhere.endless[section as usize].contains(state);
        }
        let waits = judge.section(state, self.p) == section;
        waits
            && (self.near(judge, state, Some(self.step()))
                || self.waiting(judge).endless[section as usize].contains(state))
    }

    /// Whether there is such a state.
    pub(crate) fn can_be_endless(&self, judge: &Judge<'_>, section: Section) -> bool {
        if section != Section::Wait {
            return !self.elsewhere.endless[section as usize].is_empty();
        }
        self.first_near(judge, Some(self.step())) || !self.waiting(judge).endless[section as usize].is_empty()
    }

    /// Whether this state is on a cycle on which the process waits and another one enters.
    pub(crate) fn is_overtaken(&self, judge: &Judge<'_>, state: Id) -> bool {
        let enters = vec![Need::EntryOfAnother(self.p)];
        let waits = judge.section(state, self.p) == Section::Wait;
        waits && (self.near(judge, state, Some(enters)) || self.waiting(judge).overtaken.contains(state))
    }

    /// Whether there is such a state.
    pub(crate) fn can_be_overtaken(&self, judge: &Judge<'_>) -> bool {
        self.overtakers(judge) != 0
    }

    /// The processes that can enter on such cycles, as bits.
    pub(crate) fn overtakers(&self, judge: &Judge<'_>) -> u32 {
        *self.overtakers.get_or_init(|| {
            let others = || judge.model.processes().filter(|&q| q != self.p);
            let all_near = others().all(|q| self.first_near(judge, Some(vec![Need::Entry(q)])));
            if all_near { others().fold(0, |set, q| set | 1 << q) } else { self.waiting(judge).overtakers }
        })
    }

    fn step(&self) -> Vec<Need> {
        vec![Need::Step(Actor::Process(self.p))]
    }

    fn waiting(&self, judge: &Judge<'_>) -> &Cycles {
        self.waiting.get_or_init(|| {
            let mut waiting = Cycles::default();
            waiting.add(judge, self.p, &[Section::Wait]);
            waiting
        })
    }

    /// Whether the first state in which the process waits, while no other one has taken a step, has a cycle near by.
    fn first_near(&self, judge: &Judge<'_>, needed: Option<Vec<Need>>) -> bool {
        let own = |_, actor, _| actor == Actor::Process(self.p);
        let waits = |_, _, to| judge.section(to, self.p) == Section::Wait;
        let first = judge.walk(judge.graph.initial, own, waits).and_then(|steps| steps.last().copied());
        first.is_some_and(|(_, first)| self.near(judge, first, needed))
    }

    /// Whether this state, in which the process waits, has a cycle near by that meets the needs; without any, a fair one. If
    /// not, it may have one that is longer.
    fn near(&self, judge: &Judge<'_>, state: Id, needed: Option<Vec<Need>>) -> bool {
        let is_plain = judge.model.crashes == 0 && !judge.model.store_buffers && !judge.model.has_interruptions();
        if !is_plain || self.waiting.get().is_some() || self.answered.fetch_add(1, Relaxed) >= MOST_ANSWERED {
            return false;
        }
        let needed = needed.unwrap_or_else(|| judge.all_steps(state));
        // The nearest step of the process may be one by which it goes on to enter, but not after another one has entered.
        let overtaken_first = [vec![Need::EntryOfAnother(self.p)], needed];
        let cycle = |actors: u32| {
            let keep =
                |_, actor: Actor, to| actors >> actor.pid() & 1 == 1 && judge.section(to, self.p) == Section::Wait;
            let round = |stages: &[Vec<Need>]| judge.round(state, keep, stages, MOST_VISITED);
            round(&overtaken_first[1..]).or_else(|| round(&overtaken_first)).is_some()
        };
        // Mostly one or two other processes are enough, and the steps of few do not lead to many states.
        let others = judge.model.processes().filter(|&q| q != self.p);
        let mut few: Vec<u32> = others.clone().flat_map(|q| others.clone().map(move |r| 1 << q | 1 << r)).collect();
        few.sort_by_key(|set| (set.count_ones(), *set));
        few.dedup();
        few.into_iter().any(|set| cycle(set | 1 << self.p)) || cycle(u32::MAX)
    }
}

impl Cycles {
    /// Adds the cycles within one of these sections of process `p`.
    fn add(&mut self, judge: &Judge<'_>, p: Pid, sections: &[Section]) {
        /// In labels, the bits from here on are the processes that enter; the lower ones are an [`ActorSet`] without
        /// crashes.
        const ENTRIES: usize = 48;
        let everyone = (1_u32 << judge.model.n) - 1;
        let label = |from, actor: Actor, to| {
            let overtakes = sections == [Section::Wait] && judge.enters(from, actor, to);
            ActorSet::of(actor).0 | u64::from(overtakes) << (ENTRIES + actor.pid())
        };
        let is_fair = |members: &[Id], stepping: ActorSet| {
            // A process without a step is in the same section in all of these states.
            stepping.contains(Actor::Process(p))
                && judge.may_crash(everyone & !(stepping.processes() | judge.resting(members[0])))
                && judge.memory_is_fair(members[0], stepping)
        };
        let chosen = sections.iter().fold(0_u32, |chosen, &section| chosen | 1 << section as u32);
        let in_section = |state| chosen >> judge.section(state, p) as u32 & 1 == 1;
        let is_same = |from, to| sections.len() == 1 || judge.section(from, p) == judge.section(to, p);
        let lives_on = unless_reaped_anew(judge, p);
        let keep = |from, actor, to| is_same(from, to) && lives_on(from, actor, to);
        let stays = Subgraph { graph: judge.graph, inside: in_section, keep };
        let mut fair = StateSet::default();
        stays.components(
            || judge.model.cancelled(),
            label,
            |members, labels, _| {
                if labels == 0 {
                    return;
                }
                let stepping = ActorSet(labels & ((1 << ENTRIES) - 1));
                let overtakers = (labels >> ENTRIES) as u32;
                self.overtakers |= overtakers;
                let bad = [
                    (is_fair(members, stepping), if judge.model.deaths { &mut fair } else { &mut self.starving }),
                    (stepping.contains(Actor::Process(p)), &mut self.endless[judge.section(members[0], p) as usize]),
                    (overtakers != 0, &mut self.overtaken),
                ];
                for (is_bad, set) in bad {
                    if is_bad {
                        for &state in members {
                            set.insert(state);
                        }
                    }
                }
            },
        );
        if fair.is_empty() {
            return;
        }
        // The cycles that are fair without deaths. Fewer steps are never fairer, so they are among the states just
        // found.
        let few_die = with_few_deaths(judge, p);
        let without = Subgraph {
            graph: judge.graph,
            inside: |state| fair.contains(state) && in_section(state),
            keep: |from, actor, to| is_same(from, to) && few_die(from, actor, to),
        };
        without.components(
            || judge.model.cancelled(),
            |_, actor, _| ActorSet::of(actor).0,
            |members, stepping, _| {
                if is_fair(members, ActorSet(stepping)) {
                    for &state in members {
                        self.starving.insert(state);
                    }
                }
            },
        );
    }
}

/// The largest number of times that each other process can enter while one waits, where there is a bound.
pub(crate) struct Entries {
    /// In any passage…
    pub(crate) in_all: Vec<u32>,
    /// …and in passages started after the waiter had completed the doorway.
    pub(crate) late: Vec<u32>,
}

impl Entries {
    pub(crate) fn during_waits_of(judge: &Judge<'_>, p: Pid) -> Entries {
        // Nearly all bounds are small, and one byte for each state and process is a quarter of the memory.
        Self::counted_in::<u8>(judge, p)
            .or_else(|| Self::counted_in::<u32>(judge, p))
            .expect("a path without a cycle has fewer than 2^32 steps")
    }

    /// None if a count does not fit `C`.
    fn counted_in<C: Counter>(judge: &Judge<'_>, p: Pid) -> Option<Entries> {
        let n = judge.model.n;
        let mut entries = Entries { in_all: vec![0; n], late: vec![0; n] };
        // The most entries of each other process, from each state on.
        let mut ahead = vec![C::default(); judge.graph.ids() * n];
        let mut fits = true;
        let waiting = |state| judge.section(state, p) == Section::Wait;
        let waits = Subgraph { graph: judge.graph, inside: waiting, keep: any };
        waits.components(
            || judge.model.cancelled(),
            |_, _, _| 0,
            |members, _, marks| {
                let most = most_from(judge, p, members, marks, &ahead);
                for &state in members {
                    for q in judge.model.processes() {
                        match C::try_from(most[q]) {
                            Ok(count) => ahead[state as usize * n + q] = count,
                            Err(_) => fits = false,
                        }
                        entries.in_all[q] = entries.in_all[q].max(most[q]);
                        // If q is in its doorway or waits now, it may have started before p had completed the doorway.
                        if !matches!(judge.section(state, q), Section::Doorway | Section::Wait) {
                            entries.late[q] = entries.late[q].max(most[q]);
                        }
                    }
                }
            },
        );
        fits.then_some(entries)
    }
}

/// A number of entries.
trait Counter: Copy + Default + Into<u32> + TryFrom<u32> {}
impl<C: Copy + Default + Into<u32> + TryFrom<u32>> Counter for C {}

/// The most entries of each other process from a component on, given those for the states it leads to.
fn most_from<C: Counter>(
    judge: &Judge<'_>,
    p: Pid,
    members: &[Id],
    marks: &Marks,
    ahead: &[C],
) -> [u32; MAX_PROCESSES] {
    let n = judge.model.n;
    let mut most = [0; MAX_PROCESSES];
    for &state in members {
        for (actor, target) in judge.graph.steps(state) {
            if judge.section(target, p) != Section::Wait || marks.same(state, target) {
                continue;
            }
            let enters = judge.enters(state, actor, target);
            for (r, (most, &later)) in std::iter::zip(&mut most, &ahead[target as usize * n..][..n]).enumerate() {
                *most = (*most).max(later.into() + u32::from(enters && r == actor.pid()));
            }
        }
    }
    most
}

/// Keeps every step but the deaths of process `p` itself, which end its stay in any section and begin its reap anew.
pub(crate) fn unless_reaped_anew<'a>(judge: &'a Judge<'a>, p: Pid) -> impl Fn(Id, Actor, Id) -> bool + use<'a> {
    move |_, actor, _| !(judge.model.deaths && actor == Actor::Interruption(p))
}

/// Keeps the steps that can go on for ever while process `p` starves: all but deaths.
pub(crate) fn with_few_deaths<'a>(judge: &'a Judge<'a>, p: Pid) -> impl Fn(Id, Actor, Id) -> bool + use<'a> {
    let others_die = judge.model.endless_deaths;
    move |_, actor, to| !judge.dies(actor, to) || (others_die && actor != Actor::Interruption(p))
}

/// Keeps every step.
pub(crate) fn any(_: Id, _: Actor, _: Id) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use doorway_algorithms::{
        kexclusion::{k_bakery::KBakery, ticket_k::TicketK},
        mutex::{bakery::Bakery, filter::Filter, one_bit::OneBit, peterson::Peterson, szymanski::Szymanski},
    };
    use doorway_memory::Exclusion;

    use super::*;
    use crate::{Model, Registers, soundness::explore, view::View};

    /// How many questions cycles near by have answered, of how many that all cycles answer in the same way.
    fn answered_near<A: Exclusion<View>>(model: &Model, make: impl Fn(&mut Registers) -> A) -> [u32; 2] {
        let (_, _, graph) = explore(model, make);
        let judge = Judge::new(&graph, model);
        let [mut near, mut all] = [0, 0];
        for p in model.processes() {
            let known = Waits::of(&judge, p);
            known.waiting(&judge);
            let mut same = |answer: fn(&Waits, &Judge<'_>, Id) -> u32, state| {
                let waits = Waits::of(&judge, p);
                assert_eq!(answer(&waits, &judge, state), answer(&known, &judge, state), "process {p}, state {state}");
                near += u32::from(waits.waiting.get().is_none() && answer(&known, &judge, state) > 0);
                all += u32::from(answer(&known, &judge, state) > 0);
            };
            for state in (0..graph.ids() as Id).filter(|&state| graph.exists(state)).step_by(3) {
                same(|waits, judge, state| waits.is_starving(judge, state).into(), state);
                same(|waits, judge, state| waits.is_endless(judge, Section::Wait, state).into(), state);
                same(|waits, judge, state| waits.is_overtaken(judge, state).into(), state);
                assert!(known.may_starve(&judge, state) || !known.is_starving(&judge, state));
            }
            same(|waits, judge, _| waits.can_starve(judge).into(), 0);
            same(|waits, judge, _| waits.can_be_endless(judge, Section::Wait).into(), 0);
            same(|waits, judge, _| waits.overtakers(judge), 0);
        }
        [near, all]
    }

    #[test]
    fn cycles_near_by_give_the_same_answers_as_all_cycles() {
        let model = Model::new(3);
        for ([near, all], name) in [
            (answered_near(&model, |space| OneBit::new(space, 3)), "one-bit"),
            (answered_near(&model, |space| Filter::new(space, 3)), "filter"),
            (answered_near(&model, |space| Szymanski::new(space, 3)), "szymanski"),
            (answered_near(&Model::new(2), Peterson::new), "peterson"),
            (answered_near(&Model::new(2), |space| Bakery::new(space, 2)), "bakery"),
            (answered_near(&Model::new(3).k(2), |space| TicketK::new(space, 2)), "ticket-k"),
        ] {
            assert!(2 * near > all, "{name}: {near} of {all}");
        }
        for model in [Model::new(2).crashes(1), Model::new(2).deaths(), Model::new(2).aborts(), Model::new(2).tso()] {
            let [near, all] = answered_near(&model, |space| KBakery::new(space, 2, 1));
            assert!(near == 0 && all > 0, "processes may stop there for other reasons");
        }
    }
}
