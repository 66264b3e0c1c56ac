//! One pass for each process over the states in which it is on its way in or out.
use doorway_memory::Pid;

use crate::{
    components::{Marks, Steps, Subgraph},
    graph::Id,
    judge::{Judge, StateSet},
    model::MAX_PROCESSES,
    program::Section,
};

/// What can happen for ever while one process stays in one section.
#[derive(Default)]
pub(crate) struct Waits {
    /// States on a fair cycle: the process can be kept there for ever though everyone goes on who has not crashed, and nobody
    /// dies any more.
    pub(crate) starving: StateSet,
    /// States on a cycle with a step of the process, for each section: the section takes unboundedly many steps.
    pub(crate) endless: [StateSet; Section::ALL.len()],
    /// States on a cycle in which another gets inside again and again…
    pub(crate) overtaken: StateSet,
    /// …and who that can be, as bits.
    pub(crate) overtakers: u32,
}

impl Waits {
    pub(crate) fn of(judge: &Judge<'_>, p: Pid) -> Waits {
        /// Bits from here on say who gets inside; the lower ones, who steps, and whose writes become visible.
        const ENTRIES: usize = 16;
        let everyone = (1_u32 << judge.model.n) - 1;
        let mut waits = Waits::default();
        let label = |from, q: Pid, to| {
            let overtakes = judge.section(from, p) == Section::Wait && judge.enters(from, q, to);
            1 << q | u32::from(overtakes) << (ENTRIES + q)
        };
        let is_fair = |members: &[Id], stepping: u32| {
            // Who does not step is in the same section in all of these states.
            stepping >> p & 1 == 1
                && judge.may_crash(everyone & !(stepping | judge.resting(members[0])))
                && judge.memory_is_fair(members[0], stepping)
        };
        let is_there = |section: &Section| match section {
            Section::Abandon => judge.model.abandons,
            Section::Reap => judge.model.deaths,
            _ => true,
        };
        for section in [Section::Doorway, Section::Wait].into_iter().chain(Section::WAYS_OUT).filter(is_there) {
            let inside = |state| judge.section(state, p) == section;
            let there = Subgraph { graph: judge.graph, inside, keep: unless_reaped_anew(judge, p) };
            let mut fair = StateSet::default();
            there.components(
                || judge.model.cancelled(),
                label,
                |members, labels, _| {
                    if labels == 0 {
                        return;
                    }
                    let stepping = labels & ((1 << ENTRIES) - 1);
                    let overtakers = labels >> ENTRIES;
                    waits.overtakers |= overtakers;
                    let bad = [
                        (is_fair(members, stepping), if judge.model.deaths { &mut fair } else { &mut waits.starving }),
                        (stepping >> p & 1 == 1, &mut waits.endless[section as usize]),
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
            // Of what is fair with deaths, what is without. A step less is never fairer, so all of it is among these states.
            let without = Subgraph {
                graph: judge.graph,
                inside: |state| fair.contains(state) && inside(state),
                keep: with_few_deaths(judge, p),
            };
            without.components(
                || judge.model.cancelled(),
                |_, q, _| 1 << q,
                |members, stepping, _| {
                    if is_fair(members, stepping) {
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

/// How often each other process can enter while one waits, when it is not unboundedly often.
pub(crate) struct Entries {
    /// In any passage…
    pub(crate) in_all: Vec<u32>,
    /// …and in those it started only after this one had completed the doorway.
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
        // How often each other can enter, from each state on.
        let mut ahead = vec![C::default(); judge.graph.ids() * n];
        let mut fits = true;
        let waiting = |state| judge.section(state, p) == Section::Wait;
        let there = Subgraph { graph: judge.graph, inside: waiting, keep: any };
        there.components(
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

/// A number of entries, in as few bytes as will do.
trait Counter: Copy + Default + Into<u32> + TryFrom<u32> {}
impl<C: Copy + Default + Into<u32> + TryFrom<u32>> Counter for C {}

/// How often each other can enter from a component on, given that for the states it leads to.
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
        for (q, target) in judge.graph.steps(state) {
            if judge.section(target, p) != Section::Wait || marks.same(state, target) {
                continue;
            }
            let enters = judge.enters(state, q, target);
            for (r, (most, &later)) in std::iter::zip(&mut most, &ahead[target as usize * n..][..n]).enumerate() {
                *most = (*most).max(later.into() + u32::from(enters && r == q));
            }
        }
    }
    most
}

/// Keeps every step but the deaths of process `p` itself: these end its stay in any section, and begin its reap anew.
pub(crate) fn unless_reaped_anew<'a>(judge: &'a Judge<'a>, p: Pid) -> impl Fn(Id, Pid, Id) -> bool + use<'a> {
    move |_, stepping, _| !(judge.model.deaths && stepping == judge.model.interruption_of(p))
}

/// Keeps what can go on for ever while process `p` starves: anything but deaths.
pub(crate) fn with_few_deaths<'a>(judge: &'a Judge<'a>, p: Pid) -> impl Fn(Id, Pid, Id) -> bool + use<'a> {
    let others_die = judge.model.endless_deaths;
    move |_, stepping, to| !judge.dies(stepping, to) || (others_die && stepping != judge.model.interruption_of(p))
}

/// Keeps every step.
pub(crate) fn any(_: Id, _: Pid, _: Id) -> bool {
    true
}
