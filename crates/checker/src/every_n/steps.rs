//! The steps of a member of a view.
use doorway_memory::{Queue, Tally, Value};
use rustc_hash::FxHashSet;

use super::{
    Stop,
    config::{Config, Member, NOWHERE, UNBOUNDED, UNKNOWN, member_at, position},
    process::{Done, Look, Side, Target, Turn},
    views::Views,
};
use crate::{
    access::Op,
    tickets::{Closing, TicketSet},
};

/// The most that a process may have added to the tally, or taken from it; if it goes on, the tally is not kept.
const MOST_ADDED: i64 = 2;

impl Views {
    /// The states after a step of a member, with each member at its place and the tickets renumbered: one state, or several if
    /// that depends on processes that are not known of, or on how wide a gap between tickets is.
    pub(super) fn steps(&mut self, config: &Config, mover: usize) -> Result<Vec<Config>, Stop> {
        let Member { local, at, .. } = config.members[mover];
        let side = side(at, mover);
        let look = self.processes.look(local, side)?;
        match look.target {
            Target::Shared(slot) if self.tally == Some(slot) && (self.keeps_tally || !self.is_exact) => {
                return self.steps_on_the_tally(config, mover, &look);
            }
            Target::Shared(slot) if self.queue == Some(slot) => return self.steps_on_the_queue(config, mover, slot),
            _ => {}
        }
        let value = self.value(config, mover, look.target);
        let value = match (value, look.target) {
            (UNKNOWN, _) if look.op == Some(Op::Write) => 0,
            (UNKNOWN, Target::Shared(slot) | Target::Own(slot) | Target::Other(slot)) => {
                return self.steps_on_the_unknown(config, mover, &look, slot);
            }
            (known, _) => known,
        };
        let done = self.processes.step(local, side, look.target, value)?;
        let mut after = config.clone();
        self.put(&mut after, mover, look.target, done.written)?;
        self.arrived(config, TicketSet::EMPTY, after, mover, done)
    }

    /// The value of the register that a member accesses.
    fn value(&self, config: &Config, mover: usize, target: Target) -> u32 {
        let Member { at, own, .. } = config.members[mover];
        match target {
            Target::Nothing => 0,
            Target::Shared(slot) => config.shared[slot],
            Target::Own(slot) => own[self.family(slot)],
            Target::Other(slot) => member_at(at).map_or(UNKNOWN, |other| config.members[other].own[self.family(slot)]),
        }
    }

    /// The member of which a member's next step writes a register, and the family of that.
    #[cfg(test)]
    pub(super) fn written(&mut self, config: &Config, mover: usize) -> Result<Option<(usize, usize)>, Stop> {
        let Member { local, at, .. } = config.members[mover];
        let look = self.processes.look(local, side(at, mover))?;
        if look.op.is_none_or(|op| op.is_read()) {
            return Ok(None);
        }
        Ok(match look.target {
            Target::Own(slot) => Some((mover, self.family(slot))),
            Target::Other(slot) => member_at(at).map(|owner| (owner, self.family(slot))),
            _ => None,
        })
    }

    /// Sets the register that a member accesses to a value, unless that is a stranger's.
    fn put(&mut self, config: &mut Config, mover: usize, target: Target, value: u32) -> Result<(), Stop> {
        let (slot, owner) = match target {
            Target::Nothing => return Ok(()),
            Target::Shared(slot) => {
                config.shared[slot] = value;
                return self.note_value(slot, value);
            }
            Target::Own(slot) => (slot, Some(mover)),
            Target::Other(slot) => (slot, member_at(config.members[mover].at)),
        };
        if let Some(owner) = owner {
            config.members[owner].own[self.family(slot)] = value;
        }
        self.note_value(slot, value)
    }

    /// The slot of which a member reads a register whose value is not known.
    pub(super) fn read_of_the_unknown(&mut self, config: &Config, mover: usize) -> Result<Option<usize>, Stop> {
        let Member { local, at, .. } = config.members[mover];
        let Look { op, target, .. } = self.processes.look(local, side(at, mover))?;
        let is_unknown = op != Some(Op::Write) && self.value(config, mover, target) == UNKNOWN;
        Ok(target.slot().filter(|_| is_unknown))
    }

    /// A process accesses a register whose value is not known: that of a stranger, or one that was forgotten or is not kept. It
    /// finds any value that such a register has held, with any ticket.
    fn steps_on_the_unknown(
        &mut self,
        config: &Config,
        mover: usize,
        look: &Look,
        slot: usize,
    ) -> Result<Vec<Config>, Stop> {
        let at = config.members[mover].at;
        let mut successors = Vec::new();
        for value in self.values[slot].clone() {
            let tickets = self.processes.tables.value_tickets(slot, value);
            for (around, image) in self.placements(config, tickets, None)? {
                let value = self.processes.tables.renumbered_value(slot, value, image)?;
                let (local, side) = (around.members[mover].local, side(at, mover));
                let done = self.processes.step(local, side, look.target, value)?;
                let mut after = around.clone();
                if look.op.is_some_and(|op| !op.is_read()) {
                    self.put(&mut after, mover, look.target, done.written)?;
                }
                successors.extend(self.arrived(&around, image, after, mover, done)?);
            }
        }
        Ok(successors)
    }

    fn steps_on_the_tally(&mut self, config: &Config, mover: usize, look: &Look) -> Result<Vec<Config>, Stop> {
        let Member { local, at, added, .. } = config.members[mover];
        if !matches!(look.op, Some(Op::Read | Op::Test | Op::FetchAdd)) {
            return Err(Stop::Refused("a tally is written, and not only added to".to_string()));
        }
        let Target::Shared(slot) = look.target else { return Ok(Vec::new()) };
        let mut successors = Vec::new();
        for number in self.seen_in_the_tally(config, slot) {
            let value = self.processes.tables.value_id(slot, Tally::new(number).to_word())?;
            let done = self.processes.step(local, side(at, mover), look.target, value)?;
            let by = self.processes.tables.word(slot, done.written).cast_signed() - number;
            let mut after = config.clone();
            if self.keeps_tally {
                let sum = i64::from(added) + by;
                if sum.abs() > MOST_ADDED {
                    self.keeps_tally = false;
                    return Err(Stop::Stale);
                }
                after.members[mover].added = sum as i8;
            }
            successors.extend(self.arrived(config, TicketSet::EMPTY, after, mover, done)?);
        }
        Ok(successors)
    }

    /// What a process may find in the tally: the initial number, and what the members have added. The others may have added
    /// or taken any amount of a sign that occurs. Numbers beyond the constants are as good as the next one beyond them.
    fn seen_in_the_tally(&self, config: &Config, slot: usize) -> std::ops::RangeInclusive<i64> {
        let initially = self.processes.tables.word(slot, 0).cast_signed();
        let sum = initially + config.members.iter().map(|member| i64::from(member.added)).sum::<i64>();
        let constants = self.processes.questions.constants;
        let (least, most) = constants.map_or((sum, sum), |(least, most)| (least - 1, most + 1));
        if !self.keeps_tally {
            return least..=most;
        }
        let clamped = sum.clamp(least, most);
        let [falls, rises] = self.signs.map(|occurs| occurs && !self.is_exact);
        (if falls { least } else { clamped })..=(if rises { most } else { clamped })
    }

    /// The process is executed as process 0. Others that are not known of may be in the queue; what matters is how many of
    /// them are before it, up to the largest number that it asks for.
    fn steps_on_the_queue(&mut self, config: &Config, mover: usize, slot: usize) -> Result<Vec<Config>, Stop> {
        let asked = self.processes.questions.asked;
        if asked + config.members.len() + 1 > Queue::MOST {
            return Err(Stop::Refused("a word has no room for such a queue".to_string()));
        }
        let Member { local, at, .. } = config.members[mover];
        let order = config.in_queue();
        let number = |p: usize| if p == mover { 0 } else { 1 + order.iter().position(|&q| q == p).unwrap_or(0) };
        let mut successors = Vec::new();
        for before in 0..=(if self.is_exact { 0 } else { asked }) {
            let Member { rank, bound, .. } = config.members[mover];
            if rank.is_some_and(|rank| bound != UNBOUNDED && before + usize::from(rank) > usize::from(bound)) {
                continue;
            }
            let unknown = (Queue::MOST - before..Queue::MOST).fold(Queue::EMPTY, Queue::with);
            let queue = order.iter().fold(unknown, |queue, &p| queue.with(number(p)));
            let value = self.processes.tables.value_id(slot, queue.to_word())?;
            let done = self.processes.step(local, side(at, mover), Target::Shared(slot), value)?;
            let written = Queue::of_word(self.processes.tables.word(slot, done.written));
            let known: Vec<usize> = written.processes().filter(|&p| p < Queue::MOST - before).collect();
            let mut after = config.clone();
            for (p, member) in after.members.iter_mut().enumerate() {
                let is_known = p == mover || order.contains(&p);
                let rank = known.iter().position(|&q| is_known && q == number(p));
                member.rank = rank.map(|rank| rank as u8);
            }
            // Those before a process in the queue only become fewer. So what is found once is a bound, for the members before
            // it too.
            let found = rank.filter(|_| before < asked && done.local != local);
            for member in &mut after.members {
                match (member.rank, found) {
                    (None, _) => member.bound = UNBOUNDED,
                    (Some(rank), Some(found)) if rank <= found => {
                        let bound = before as u8 + rank;
                        member.bound = member.bound.min(if usize::from(bound) < asked { bound } else { UNBOUNDED });
                    }
                    _ => {}
                }
            }
            successors.extend(self.arrived(config, TicketSet::EMPTY, after, mover, done)?);
        }
        Ok(successors)
    }

    /// The states after a step, from what it has done to the process. `after` has its effects on registers; `strange` are the
    /// tickets that were met besides those of the state before.
    fn arrived(
        &mut self,
        before: &Config,
        strange: TicketSet,
        after: Config,
        mover: usize,
        done: Done,
    ) -> Result<Vec<Config>, Stop> {
        let at = before.members[mover].at;
        let places = match done.turn {
            Turn::None => vec![(done.local, NOWHERE)],
            Turn::Kept => vec![(done.local, at)],
            Turn::Next => self.arrivals(before.members.len(), mover, done.local, Some(at))?,
            Turn::First => self.arrivals(before.members.len(), mover, done.local, None)?,
        };
        let tickets_before = self.tickets(before).union(strange);
        let wide = self.processes.tables.wide;
        let mut successors = Vec::new();
        for (local, at) in places {
            let mut after = after.clone();
            let from = std::mem::replace(&mut after.members[mover].local, local);
            after.members[mover].at = at;
            if self.observes {
                self.observe(&mut after, mover, from);
            }
            let tickets = self.tickets(&after).union(strange);
            for roomy in tickets.splits(tickets_before, wide).subsets() {
                let mut renumbered = after.clone();
                if !roomy.is_empty() {
                    self.renumber(&mut renumbered, &Closing::of(tickets, roomy, wide))?;
                }
                successors.push(renumbered);
            }
        }
        Ok(successors)
    }

    /// Where the loop of a process may come to, after this position or from the start, and its local state there.
    pub(super) fn arrivals(
        &mut self,
        members: usize,
        mover: usize,
        local: u32,
        after: Option<u8>,
    ) -> Result<Vec<(u32, u8)>, Stop> {
        if !self.has_own_registers() {
            return Err(Stop::Refused("it has a loop over all processes, which have no registers".to_string()));
        }
        let mut found = Vec::new();
        let mut seen = FxHashSet::default();
        let mut left = vec![(local, after)];
        while let Some((local, after)) = left.pop() {
            // The next process is a stranger in the gap, or there is none.
            let gap = after.map_or(0, |at| at + at % 2);
            let stranger = (!self.is_exact).then_some(Some(gap));
            let member = Some(gap + 1).filter(|_| usize::from(gap) < 2 * members);
            for place in stranger.into_iter().chain([member]) {
                if !seen.insert((local, place)) {
                    continue;
                }
                let side = place.map_or(Side::End, |place| side(place, mover));
                match (self.processes.settle(local, side)?, place) {
                    ((local, Turn::None), _) => found.push((local, NOWHERE)),
                    ((local, Turn::Kept), Some(place)) => found.push((local, place)),
                    ((local, Turn::First), _) => left.push((local, None)),
                    ((local, Turn::Next), Some(place)) => left.push((local, Some(place))),
                    ((_, Turn::Kept | Turn::Next), None) => {
                        return Err(Stop::Refused(
                            "a loop over all processes does not end after the last one".to_string(),
                        ));
                    }
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }
}

/// Where the loop of a member is, seen from it.
pub(super) fn side(at: u8, member: usize) -> Side {
    match at {
        NOWHERE => Side::Nowhere,
        at if at < position(member) => Side::Before,
        at if at == position(member) => Side::Itself,
        _ => Side::After,
    }
}
