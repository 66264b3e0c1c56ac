//! The tickets of views, renumbered: only their order and small gaps between them are kept.
use super::{
    Stop,
    config::{Config, Member, NOWHERE, UNKNOWN, position},
    views::Views,
};
use crate::tickets::{Closing, TicketSet};

/// Where a ticket is among others: which of them it is, or below which it is and above the one before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Among {
    Is(u8),
    Below(u8),
}

impl Among {
    pub(super) fn of(ticket: u32, others: TicketSet) -> Among {
        let smaller = others.below(ticket).len() as u8;
        if others.contains(ticket) { Among::Is(smaller) } else { Among::Below(smaller) }
    }
}

impl Views {
    /// A member as if it were the only one.
    pub(super) fn alone(&mut self, config: &Config, member: usize) -> Result<Member, Stop> {
        let mut it = config.members[member];
        it.local = self.processes.forget(it.local)?;
        let at = match it.at {
            NOWHERE => NOWHERE,
            at => u8::from(at >= position(member)) + u8::from(at > position(member)),
        };
        let tickets = self.tickets_of(&it);
        let closing = Closing::of(tickets, TicketSet::EMPTY, self.processes.tables.wide);
        let it = self.with_tickets(it, closing.image(tickets))?;
        Ok(Member { at, rank: it.rank.map(|_| 0), late: 0, ahead: 0, ..it })
    }

    pub(super) fn tickets_of(&self, member: &Member) -> TicketSet {
        let tables = &self.processes.tables;
        let known = (0..self.families()).filter(|&family| member.own[family] != UNKNOWN);
        let own = known.map(|family| tables.value_tickets(self.shared() + family, member.own[family]));
        own.fold(tables.local(member.local).tickets, TicketSet::union)
    }

    pub(super) fn tickets(&self, config: &Config) -> TicketSet {
        let shared = config.shared.iter().enumerate().filter(|(_, value)| **value != UNKNOWN);
        let shared = shared.map(|(slot, &value)| self.processes.tables.value_tickets(slot, value));
        let members = config.members.iter().map(|member| self.tickets_of(member));
        shared.chain(members).fold(TicketSet::EMPTY.with_zero(), TicketSet::union)
    }

    /// A member with its tickets renumbered.
    pub(super) fn with_tickets(&mut self, mut member: Member, image: TicketSet) -> Result<Member, Stop> {
        let all = self.tickets_of(&member);
        if all == image {
            return Ok(member);
        }
        let numbering = Closing::between(all, image);
        self.renumber_member(&mut member, &numbering)?;
        Ok(member)
    }

    fn renumber_member(&mut self, member: &mut Member, closing: &Closing) -> Result<(), Stop> {
        let image = closing.image(self.processes.tables.local(member.local).tickets);
        member.local = self.processes.tables.renumbered_local(member.local, image)?;
        let (shared, families) = (self.shared(), self.families());
        let tables = &mut self.processes.tables;
        for (family, value) in member.own[..families].iter_mut().enumerate().filter(|(_, value)| **value != UNKNOWN) {
            let image = closing.image(tables.value_tickets(shared + family, *value));
            *value = tables.renumbered_value(shared + family, *value, image)?;
        }
        Ok(())
    }

    pub(super) fn renumber(&mut self, config: &mut Config, closing: &Closing) -> Result<(), Stop> {
        for (slot, value) in config.shared.iter_mut().enumerate().filter(|(_, value)| **value != UNKNOWN) {
            let tables = &mut self.processes.tables;
            let image = closing.image(tables.value_tickets(slot, *value));
            *value = tables.renumbered_value(slot, *value, image)?;
        }
        config.members.iter_mut().try_for_each(|member| self.renumber_member(member, closing))
    }

    /// The positions that some more tickets may have among those of a state, in their order: the state with room made for them,
    /// and their new numbers. It may be known where they are among some of the tickets.
    pub(super) fn placements(
        &mut self,
        config: &Config,
        more: TicketSet,
        known: Option<(TicketSet, &[Among])>,
    ) -> Result<Vec<(Config, TicketSet)>, Stop> {
        let zero = if more.has_zero() { TicketSet::EMPTY.with_zero() } else { TicketSet::EMPTY };
        let mut found = vec![(config.clone(), zero, known.map(|(others, _)| others))];
        for i in 0..more.without_zero().len() as usize {
            let mut longer = Vec::new();
            for (config, placed, others) in found {
                let tickets = self.tickets(&config).union(placed);
                for (closing, number) in Closing::around_any(tickets, self.processes.tables.wide) {
                    let placed = closing.image(placed);
                    let others = others.map(|others| closing.image(others));
                    let is_there = match (others, known) {
                        (Some(others), Some((_, among))) => Among::of(number, others) == among[i],
                        _ => true,
                    };
                    let is_in_order = number != 0 && (placed.without_zero().is_empty() || number > placed.largest());
                    if is_there && is_in_order {
                        let mut around = config.clone();
                        self.renumber(&mut around, &closing)?;
                        longer.push((around, placed.with(number), others));
                    }
                }
            }
            found = longer;
        }
        Ok(found.into_iter().map(|(config, placed, _)| (config, placed)).collect())
    }

    /// A state with its tickets' gaps closed and, if processes are all alike, its members sorted; of a view also without what
    /// is forgotten.
    pub(super) fn normal(&mut self, mut config: Config) -> Result<Config, Stop> {
        if !self.is_exact {
            self.forget(&mut config)?;
        }
        let (tickets, wide) = (self.tickets(&config), self.processes.tables.wide);
        if !tickets.is_normal(wide) {
            self.renumber(&mut config, &Closing::of(tickets, TicketSet::EMPTY, wide))?;
        }
        config.close_ranks();
        if !self.has_own_registers() {
            config.sort();
        }
        Ok(config)
    }

    /// Forgets the number in the tally: what matters of it is in the members, or nothing. A forgetful search also forgets the
    /// tickets in own registers of processes that do not wait: they are often of earlier passages, and a process that reads one may
    /// then find any.
    fn forget(&mut self, config: &mut Config) -> Result<(), Stop> {
        for member in &mut config.members {
            member.local = self.processes.forget(member.local)?;
        }
        for (slot, value) in config.shared.iter_mut().enumerate() {
            if self.tally == Some(slot) || !self.kept[slot] {
                *value = UNKNOWN;
            }
        }
        for family in (0..self.families()).filter(|&family| !self.kept[self.shared() + family]) {
            config.members.iter_mut().for_each(|member| member.own[family] = UNKNOWN);
        }
        if !self.is_forgetful {
            return Ok(());
        }
        for member in &mut config.members {
            let known = self.processes.tables.local(member.local).tickets.with_zero();
            let (shared, families) = (self.shared(), self.families());
            for (family, value) in member.own[..families].iter_mut().enumerate().filter(|(_, value)| **value != UNKNOWN)
            {
                let own = self.processes.tables.value_tickets(shared + family, *value);
                if own.union(known) != known {
                    *value = UNKNOWN;
                }
            }
        }
        Ok(())
    }
}
