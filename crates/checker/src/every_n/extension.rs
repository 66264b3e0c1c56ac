//! The steps of processes that a view does not have.
//!
//! A process is added to a view if it fits: if all views of these m + 1 processes are in the set. Only a process whose step the
//! members can see has to be added. It is found by what is known of it: the set has a view of it with any m - 1 members.
use std::hash::BuildHasher;

use rustc_hash::{FxBuildHasher, FxHashSet};

use super::{
    Stop,
    config::{Config, Member, NOWHERE, Relation, position, position_without},
    process::Target,
    renumber::Among,
    steps::side,
    views::{Step, Views},
};
use crate::program::Section;

/// A process as it is alone, and how it is related to the other members of a view: where it is in their order, where its loop
/// and theirs are, and where its tickets are among theirs and those of shared registers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Writer {
    alone: Member,
    gap: usize,
    loops: Box<[u8]>,
    among: Box<[Among]>,
}

/// The processes whose next step others can see, and that are with certain m - 1 members in a view.
#[derive(Default)]
pub(super) struct Writers {
    known: Vec<Writer>,
    /// The views that were extended by them.
    users: Vec<u32>,
}

impl Views {
    /// The steps of processes that the view does not have, as its members see them.
    ///
    /// Such a process is in a view with all but one of the members. That one is chosen for which there are the fewest.
    pub(super) fn steps_of_others(&mut self, view: &Config, number: usize) -> Result<(), Stop> {
        let mut fewest: Option<(usize, Config, usize)> = None;
        for left_out in 0..self.m {
            let smaller = self.normal(view.without(left_out))?;
            let writers = self.writers.get(&smaller).map_or(0, |writers| writers.known.len());
            if fewest.as_ref().is_none_or(|&(.., fewest)| writers < fewest) {
                fewest = Some((left_out, smaller, writers));
            }
        }
        let Some((left_out, smaller, _)) = fewest else { return Ok(()) };
        let writers = self.writers.entry(smaller).or_default();
        writers.users.push(number as u32);
        let writers = writers.known.clone();
        let others = self.tickets(&view.without(left_out));
        for Writer { alone, gap: known_gap, loops, among } in writers {
            for (around, image) in self.placements(view, self.tickets_of(&alone), Some((others, &among)))? {
                let writer = self.with_tickets(alone, image)?;
                let gaps = if self.has_own_registers() { 0..=self.m } else { self.m..=self.m };
                let mut larger_views = Vec::new();
                for gap in gaps {
                    // Without the member that was left out, it is the view that is known; the order of processes that are all
                    // alike does not matter.
                    let other = left_out + usize::from(left_out >= gap);
                    let is_known = |p: usize, at: u8| loops[p - usize::from(other < p)] == position_without(at, other);
                    if !self.has_own_registers() {
                        larger_views.extend(self.extended(&around, gap, writer, |_, _| true));
                    } else if gap - usize::from(other < gap) == known_gap {
                        larger_views.extend(self.extended(&around, gap, writer, |p, at| p == other || is_known(p, at)));
                    }
                }
                for (gap, larger) in larger_views {
                    let other = left_out + usize::from(left_out >= gap);
                    if !self.fits(&larger, gap, other, number)? {
                        continue;
                    }
                    let Member { local, at, .. } = larger.members[gap];
                    let read = self.read_of_the_unknown(&larger, gap)?;
                    if read.is_some() {
                        self.readers.insert(number as u32);
                    }
                    for after in self.steps(&larger, gap)? {
                        let step = Step { mover: "another process", local, side: side(at, gap), read };
                        self.add_step(after.without(gap), number, step)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// A process that the view does not have asks where it is in the queue, which also bounds how many are before members that
    /// are before it. All smaller bounds are tried.
    pub(super) fn questions_of_others(&mut self, view: &Config, number: usize) -> Result<(), Stop> {
        let asked = self.processes.questions.asked as u8;
        for p in view.in_queue() {
            let Member { local, at, rank, bound, .. } = view.members[p];
            for smaller in rank.unwrap_or(0)..bound.min(asked) {
                let mut bounded = view.clone();
                bounded.members[p].bound = smaller;
                let step = Step { mover: "another process", local, side: side(at, p), read: None };
                self.add_step(bounded, number, step)?;
            }
        }
        Ok(())
    }

    /// The view with one more process in a gap, in every way: where its loop is, where in the queue it is, and in which order it
    /// and the others have arrived. `is_possible` tells of a member and a position whether its loop can be there.
    fn extended(
        &self,
        view: &Config,
        gap: usize,
        new: Member,
        is_possible: impl Fn(usize, u8) -> bool,
    ) -> Vec<(usize, Config)> {
        let places: Vec<u8> = match new.at {
            NOWHERE => vec![NOWHERE],
            0 => (0..position(gap)).collect(),
            1 => vec![position(gap)],
            _ => (position(gap) + 1..=2 * self.m as u8 + 2).collect(),
        };
        let places: Vec<u8> = places.into_iter().filter(|&at| is_possible(gap, at)).collect();
        let queued = view.in_queue().len() as u8;
        let ranks: Vec<Option<u8>> = if new.rank.is_some() { (0..=queued).map(Some).collect() } else { vec![None] };
        let mut found = Vec::new();
        for (&at, &rank) in places.iter().flat_map(|at| ranks.iter().map(move |rank| (at, rank))) {
            let others = |p: usize, at: u8| is_possible(p + usize::from(p >= gap), at);
            for mut larger in view.with(gap, Member { at, ..new }, others) {
                if let Some(rank) = rank {
                    let others = larger.members.iter_mut().enumerate().filter(|&(p, _)| p != gap);
                    for other in others.filter_map(|(_, other)| other.rank.as_mut()) {
                        *other += u8::from(*other >= rank);
                    }
                    larger.members[gap].rank = Some(rank);
                }
                found.push(larger);
            }
        }
        if self.observes {
            found = found.into_iter().flat_map(|larger| self.related(larger, gap)).collect();
        }
        found.into_iter().map(|larger| (gap, larger)).collect()
    }

    /// All relations between a new member and the others that two members of some view have.
    fn related(&self, larger: Config, new: usize) -> Vec<Config> {
        // Only a process that waits has others that are late or ahead.
        let waits: Vec<bool> =
            larger.members.iter().map(|member| self.processes.section(member.local) == Section::Wait).collect();
        let others = (0..larger.members.len()).filter(|&p| p != new);
        let mut found = vec![larger];
        for p in others {
            let is_possible = |relation: &&Relation| {
                std::iter::zip([p, new], **relation).all(|(p, seen)| waits[p] || seen == [false; 2])
            };
            let with = |config: &Config, relation: Relation| {
                let mut config = config.clone();
                config.relate(p, new, relation);
                config
            };
            found = found
                .iter()
                .flat_map(|config| {
                    self.relations
                        .iter()
                        .filter(is_possible)
                        .map(|&relation| with(config, relation))
                        .collect::<Vec<_>>()
                })
                .collect();
        }
        found
    }

    /// Whether the views of a state of m + 1 processes that have this member are in the set; the one without it is. The one without
    /// `last` probably is, and is looked for last. If one of them is not, it is noted that the view waits for it.
    fn fits(&mut self, larger: &Config, new: usize, last: usize, number: usize) -> Result<bool, Stop> {
        for left_out in (0..=self.m).filter(|&p| p != new && p != last).chain([last]) {
            let smaller = self.normal(larger.without(left_out))?;
            if !self.contains(&smaller) {
                self.missing.push((FxBuildHasher.hash_one(&smaller), number as u32));
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The views that have to be looked at again, because of a process that may fit into them now: `added` are the views that
    /// are new since the last time.
    pub(super) fn take_views_to_extend(&mut self, added: usize) -> FxHashSet<u32> {
        let added: FxHashSet<u64> = self.list[added..].iter().map(|view| FxBuildHasher.hash_one(view)).collect();
        let mut again: FxHashSet<u32> = std::mem::take(&mut self.with_more_writers);
        again.extend(self.missing.iter().filter(|(hash, _)| added.contains(hash)).map(|&(_, number)| number));
        // They will wait again, if need be.
        self.missing.retain(|(_, number)| !again.contains(number));
        again
    }

    /// Remembers a member if others can see its next step: it changes a shared register, or a register of another process, that is
    /// kept.
    /// What it adds to the tally is its own, and how it joins or leaves the queue does not change the order of the others.
    pub(super) fn note_writer(&mut self, view: &Config, member: usize) -> Result<(), Stop> {
        let Member { local, at, .. } = view.members[member];
        let look = self.processes.look(local, side(at, member))?;
        let is_seen = match look.target {
            Target::Shared(slot) => !self.is_special(slot),
            Target::Other(_) => true,
            Target::Nothing | Target::Own(_) => false,
        };
        let is_kept = look.target.slot().is_some_and(|slot| self.kept[slot]);
        if !is_seen || !is_kept || look.op.is_none_or(|op| op.is_read()) {
            return Ok(());
        }
        let smaller = view.without(member);
        let others = self.tickets(&smaller);
        let mine = self.tickets_of(&view.members[member]).without_zero();
        let among = mine.numbers().map(|ticket| Among::of(ticket, others)).collect();
        let loops = view.members.iter().map(|member| member.at).collect();
        let writer = Writer { alone: self.alone(view, member)?, gap: member, loops, among };
        let smaller = self.normal(smaller)?;
        let writers = self.writers.entry(smaller).or_default();
        if !writers.known.contains(&writer) {
            writers.known.push(writer);
            self.with_more_writers.extend(writers.users.drain(..));
        }
        Ok(())
    }
}
