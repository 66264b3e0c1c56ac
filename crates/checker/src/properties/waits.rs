//! What can happen while a process is in its doorway, waiting, exit, abort or reap section: one pass for each process.
use doorway_memory::Pid;

use crate::{
    actor::{Actor, ActorSet},
    components::{Marks, Subgraph},
    graph::Id,
    judge::{Judge, StateSet},
    model::MAX_PROCESSES,
    program::Section,
};

/// What can happen for ever while one process stays in one section.
#[derive(Default)]
pub(crate) struct Waits {
    /// States on a fair cycle without deaths: the process can be kept there for ever though every process that has not
    /// crashed goes on.
    pub(crate) starving: StateSet,
    /// States on a cycle with a step of the process, for each section: the section takes unboundedly many steps.
    pub(crate) endless: [StateSet; Section::ALL.len()],
    /// States on a cycle in which another process enters…
    pub(crate) overtaken: StateSet,
    /// …and the processes that can, as bits.
    pub(crate) overtakers: u32,
}

impl Waits {
    pub(crate) fn of(judge: &Judge<'_>, p: Pid) -> Waits {
        /// In labels, the bits from here on are the processes that enter; the lower ones are an [`ActorSet`] without
        /// crashes.
        const ENTRIES: usize = 48;
        let everyone = (1_u32 << judge.model.n) - 1;
        let mut waits = Waits::default();
        let label = |from, actor: Actor, to| {
            let overtakes = judge.section(from, p) == Section::Wait && judge.enters(from, actor, to);
            ActorSet::of(actor).0 | u64::from(overtakes) << (ENTRIES + actor.pid())
        };
        let is_fair = |members: &[Id], stepping: ActorSet| {
            // A process without a step is in the same section in all of these states.
            stepping.contains(Actor::Process(p))
                && judge.may_crash(everyone & !(stepping.processes() | judge.resting(members[0])))
                && judge.memory_is_fair(members[0], stepping)
        };
        let is_in_model = |section: &Section| match section {
            Section::Abort => judge.model.aborts,
            Section::Reap => judge.model.deaths,
            _ => true,
        };
        for section in [Section::Doorway, Section::Wait].into_iter().chain(Section::LEAVING).filter(is_in_model) {
            let in_section = |state| judge.section(state, p) == section;
            let stays = Subgraph { graph: judge.graph, inside: in_section, keep: unless_reaped_anew(judge, p) };
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
                    waits.overtakers |= overtakers;
                    let bad = [
                        (is_fair(members, stepping), if judge.model.deaths { &mut fair } else { &mut waits.starving }),
                        (stepping.contains(Actor::Process(p)), &mut waits.endless[section as usize]),
                        (overtakers != 0, &mut waits.overtaken),
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
                continue;
            }
            // The cycles that are fair without deaths. Fewer steps are never fairer, so they are among the states just
            // found.
            let without = Subgraph {
                graph: judge.graph,
                inside: |state| fair.contains(state) && in_section(state),
                keep: with_few_deaths(judge, p),
            };
            without.components(
                || judge.model.cancelled(),
                |_, actor, _| ActorSet::of(actor).0,
                |members, stepping, _| {
                    if is_fair(members, ActorSet(stepping)) {
                        for &state in members {
                            waits.starving.insert(state);
                        }
                    }
                },
            );
        }
        waits
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
