//! The set of views, closed under steps.
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Stop, Undecided,
    config::{Config, FAMILIES, Member, NOWHERE},
    extension::Writers,
    order::Order,
    process::{Processes, Side, Turn},
    steps::side,
};
use crate::tickets::{Closing, TicketSet};

/// The observer is told after so many views.
const OBSERVED: usize = 256;

/// A set of views that is being closed.
pub(super) struct Views {
    pub(super) processes: Processes,
    k: usize,
    pub(super) m: usize,
    /// Whether processes are told apart by the order of their numbers: some have registers of their own.
    is_ordered: bool,
    /// Whether tickets in the own registers of processes that do not wait are forgotten.
    pub(super) is_forgetful: bool,
    /// Whether views have the order of arrivals.
    pub(super) observes: bool,
    /// The shared register that is a tally, and the one that is a queue.
    pub(super) tally: Option<usize>,
    pub(super) queue: Option<usize>,
    /// Whether each process has what it has added to the tally. If not, a process may find anything there.
    pub(super) keeps_tally: bool,
    /// Whether processes may have taken from the tally, or added to it, when others look at it.
    pub(super) signs: [bool; 2],
    /// Whether the members are all there are.
    pub(super) is_exact: bool,
    ids: FxHashMap<Config, u32>,
    pub(super) list: Vec<Config>,
    /// For each view the one it comes from, and the step.
    origins: Vec<(u32, String)>,
    /// For each view of m - 1 members the processes that others can see, and that are with it in a view of m.
    pub(super) writers: FxHashMap<Config, Writers>,
    /// The views for which there are more of them than when they were looked at.
    pub(super) with_more_writers: FxHashSet<u32>,
    /// Views that are not in the set, by their hashes, each with a view that could be extended if it were.
    pub(super) missing: Vec<(u64, u32)>,
    /// The views with a member that reads a value which is not known.
    readers: FxHashSet<u32>,
    /// For each family the values that registers have held, each with its ticket, if it has one, renumbered to 1.
    pub(super) values_of_strangers: Vec<Vec<u32>>,
    pub(super) order: Order,
}

impl Views {
    pub(super) fn new(processes: Processes, k: usize, m: usize) -> Result<Views, Stop> {
        let with = |what: &str, is: &dyn Fn(usize) -> bool| {
            let mut slots = (0..processes.slots.len()).filter(|&slot| is(slot));
            match (slots.next(), slots.next()) {
                (_, Some(_)) => Err(Stop::Refused(format!("it has more than one {what}"))),
                (Some(slot), None) if !processes.slots[slot].is_shared => {
                    Err(Stop::Refused(format!("each process has a {what}")))
                }
                (slot, None) => Ok(slot),
            }
        };
        let slot = |slot: usize| &processes.slots[slot];
        let tally = with("tally", &|at| (slot(at).kind.tally)(slot(at).init).is_some())?;
        let queue = with("queue", &|at| (slot(at).kind.queue)(slot(at).init).is_some())?;
        let families = processes.slots.iter().filter(|slot| !slot.is_shared).count();
        if families > FAMILIES {
            return Err(Stop::Refused(format!("each process has more than {FAMILIES} registers")));
        }
        Ok(Views {
            processes,
            k,
            m,
            is_ordered: families > 0,
            is_forgetful: false,
            observes: false,
            tally,
            queue,
            keeps_tally: true,
            signs: [false; 2],
            is_exact: false,
            ids: FxHashMap::default(),
            list: Vec::new(),
            origins: Vec::new(),
            writers: FxHashMap::default(),
            with_more_writers: FxHashSet::default(),
            missing: Vec::new(),
            readers: FxHashSet::default(),
            values_of_strangers: vec![Vec::new(); families],
            order: Order::default(),
        })
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn has_own_registers(&self) -> bool {
        self.is_ordered
    }

    /// The family of a slot that is not shared.
    pub(super) fn family(&self, slot: usize) -> usize {
        slot - self.shared()
    }

    /// The number of shared registers.
    pub(super) fn shared(&self) -> usize {
        self.processes.slots.len() - self.families()
    }

    /// The number of registers that each process has.
    pub(super) fn families(&self) -> usize {
        self.values_of_strangers.len()
    }

    /// The initial states of so many processes: several, if processes begin with a loop.
    pub(super) fn initial(&mut self, members: usize) -> Result<Vec<Config>, Stop> {
        let (local, turn) = self.processes.initial()?;
        let mut found = vec![Vec::new()];
        for p in 0..members {
            let places = match turn {
                Turn::None => vec![(local, NOWHERE)],
                _ => self.arrivals(members, p, local, None)?,
            };
            found = found
                .iter()
                .flat_map(|before: &Vec<Member>| {
                    places
                        .iter()
                        .map(|&(local, at)| before.iter().copied().chain([Member::initial(local, at)]).collect())
                })
                .collect();
        }
        let shared: Box<[u32]> = vec![0; self.shared()].into();
        Ok(found.into_iter().map(|members| Config { shared: shared.clone(), members: members.into() }).collect())
    }

    /// Closes the set under steps; returns why nothing is decided, if so.
    pub(super) fn close(
        &mut self,
        limit: usize,
        observer: &mut dyn FnMut(usize) -> bool,
    ) -> Result<Option<Undecided>, Stop> {
        loop {
            match self.close_once(limit, observer) {
                Err(Stop::Stale) => {}
                Err(Stop::Refused(why)) => return Ok(Some(Undecided::DoesNotApply(why))),
                result => return result,
            }
            self.ids.clear();
            self.list.clear();
            self.origins.clear();
            self.writers.clear();
            self.with_more_writers.clear();
            self.missing.clear();
            self.readers.clear();
            self.values_of_strangers.iter_mut().for_each(Vec::clear);
            self.order = Order::default();
        }
    }

    fn close_once(&mut self, limit: usize, observer: &mut dyn FnMut(usize) -> bool) -> Result<Option<Undecided>, Stop> {
        for family in 0..self.families() {
            self.note_value(family, 0)?;
        }
        for initial in self.initial(self.m)? {
            let initial = self.normal(&initial)?;
            self.add(&initial, self.len() as u32, String::new)?;
        }
        let mut done = 0;
        let mut again: Vec<u32> = Vec::new();
        // How many views and values there were when it was last decided what to look at again.
        let mut known = (0, 0);
        loop {
            if self.len() > limit {
                return Ok(Some(Undecided::TooManyViews(limit)));
            }
            if (done + again.len()).is_multiple_of(OBSERVED) && !observer(self.len()) {
                return Ok(Some(Undecided::Interrupted));
            }
            if done < self.list.len() {
                let view = self.list[done].clone();
                if self.holders(&view) > self.k {
                    return Ok(Some(Undecided::Crowded(self.execution(done as u32))));
                }
                self.steps_of_members(&view, done, false)?;
                self.steps_of_others(&view, done)?;
                self.questions_of_others(&view, done)?;
                done += 1;
            } else if let Some(number) = again.pop() {
                let view = self.list[number as usize].clone();
                self.steps_of_members(&view, number as usize, true)?;
                self.steps_of_others(&view, number as usize)?;
            } else {
                // A process may fit into a view only with views that were found later, or find a value that was written later.
                let values = self.values_of_strangers.iter().map(Vec::len).sum();
                let mut views = self.take_views_to_extend(known.0);
                if values > known.1 {
                    views.extend(&self.readers);
                }
                if views.is_empty() {
                    return Ok(None);
                }
                known = (self.len(), values);
                again.extend(views);
                again.sort_unstable();
            }
        }
    }

    /// The steps of members. If the view was looked at before, only those that depend on other views have to be taken again.
    fn steps_of_members(&mut self, view: &Config, number: usize, again: bool) -> Result<(), Stop> {
        for mover in 0..self.m {
            let Member { local, at, .. } = view.members[mover];
            let reads = self.reads_the_unknown(view, mover)?;
            if reads {
                self.readers.insert(number as u32);
            }
            if again && !reads {
                continue;
            }
            for after in self.steps(view, mover)? {
                if self.observes {
                    self.observe_waiting(view, &after, mover)?;
                }
                let text = || ("a process of the view", local, side(at, mover));
                self.add_step(&after, number, text)?;
            }
        }
        Ok(())
    }

    pub(super) fn holders(&self, config: &Config) -> usize {
        config.members.iter().filter(|member| self.processes.section(member.local).is_critical()).count()
    }

    pub(super) fn contains(&self, view: &Config) -> bool {
        self.ids.contains_key(view)
    }

    pub(super) fn add_step(
        &mut self,
        after: &Config,
        from: usize,
        step: impl FnOnce() -> (&'static str, u32, Side),
    ) -> Result<(), Stop> {
        let normal = self.normal(after)?;
        if self.contains(&normal) {
            return Ok(());
        }
        let (mover, local, side) = step();
        let (section, line) = (self.processes.section(local).begun(), self.processes.look(local, side)?.line);
        self.add(&normal, from as u32, || format!("{mover} executes line {line} ({section})"))
    }

    fn add(&mut self, view: &Config, from: u32, step: impl FnOnce() -> String) -> Result<(), Stop> {
        if self.contains(view) {
            return Ok(());
        }
        for member in 0..self.m {
            let added = view.members[member].added;
            let signs = [self.signs[0] || added < 0, self.signs[1] || added > 0];
            if signs != self.signs {
                self.signs = signs;
                return Err(Stop::Stale);
            }
            self.note_writer(view, member)?;
        }
        self.ids.insert(view.clone(), self.list.len() as u32);
        self.list.push(view.clone());
        self.origins.push((from, step()));
        Ok(())
    }

    /// Remembers a value that a register of a family has held. (Views do not have them all: some are forgotten.)
    pub(super) fn note_value(&mut self, family: usize, value: u32) -> Result<(), Stop> {
        let slot = self.shared() + family;
        let tickets = self.processes.tables.value_tickets(slot, value);
        let closing = Closing::of(tickets, TicketSet::EMPTY, 1);
        let value = self.processes.tables.renumbered_value(slot, value, closing.image(tickets))?;
        if !self.values_of_strangers[family].contains(&value) {
            self.values_of_strangers[family].push(value);
        }
        Ok(())
    }

    /// The steps that lead to a view.
    fn execution(&self, to: u32) -> Vec<String> {
        let mut steps = Vec::new();
        let mut at = to;
        // An initial view comes from itself.
        while self.origins[at as usize].0 != at {
            let (from, step) = &self.origins[at as usize];
            let members = self.list[at as usize].members.iter();
            let sections: Vec<String> =
                members.map(|member| self.processes.section(member.local).to_string()).collect();
            steps.push(format!("{step}: {}", sections.join(", ")));
            at = *from;
        }
        steps.reverse();
        steps
    }
}
