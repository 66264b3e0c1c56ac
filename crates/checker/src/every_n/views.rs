//! The set of views, closed under steps.
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Stop, Undecided,
    config::{Config, FAMILIES, Member, NOWHERE, Relation},
    extension::Writers,
    order::Order,
    process::{Processes, Side, Turn},
    steps::side,
};
use crate::tickets::{Closing, TicketSet};

/// The observer is told after so many views.
const OBSERVED: usize = 256;

/// Where a view comes from.
struct Origin {
    from: u32,
    step: String,
    /// The slot that is not kept and that was read in the step.
    read: Option<usize>,
}

/// A step, as its origin tells of it: what takes it, from which local state, and where its loop is.
pub(super) struct Step {
    pub(super) mover: &'static str,
    pub(super) local: u32,
    pub(super) side: Side,
    /// The slot of which it reads a value that is not known.
    pub(super) read: Option<usize>,
}

/// A set of views that is being closed.
pub(super) struct Views {
    pub(super) processes: Processes,
    k: usize,
    pub(super) m: usize,
    /// How many registers each process has.
    families: usize,
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
    /// For each slot whether views have its registers. If not, a process that reads one may find anything that was in it.
    pub(super) kept: Vec<bool>,
    ids: FxHashMap<Config, u32>,
    pub(super) list: Vec<Config>,
    origins: Vec<Origin>,
    /// For each view of m - 1 members the processes that others can see, and that are with it in a view of m.
    pub(super) writers: FxHashMap<Config, Writers>,
    /// The views for which there are more of them than when they were looked at.
    pub(super) with_more_writers: FxHashSet<u32>,
    /// Views that are not in the set, by their hashes, each with a view that could be extended if it were.
    pub(super) missing: Vec<(u64, u32)>,
    /// The views with a process that reads a value which is not known.
    pub(super) readers: FxHashSet<u32>,
    /// For each slot that views do not have, or not of strangers, the values that its registers have held, each with its tickets
    /// renumbered from 1.
    pub(super) values: Vec<Vec<u32>>,
    /// The first view with too many holders, if one was found.
    crowded: Option<u32>,
    pub(super) order: Order,
    /// How two members of a view may be related.
    pub(super) relations: Vec<Relation>,
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
        let slots = processes.slots.len();
        Ok(Views {
            processes,
            k,
            m,
            is_forgetful: false,
            observes: false,
            tally,
            queue,
            keeps_tally: true,
            signs: [false; 2],
            is_exact: false,
            kept: vec![true; slots],
            ids: FxHashMap::default(),
            list: Vec::new(),
            origins: Vec::new(),
            writers: FxHashMap::default(),
            with_more_writers: FxHashSet::default(),
            missing: Vec::new(),
            readers: FxHashSet::default(),
            values: vec![Vec::new(); slots],
            families,
            crowded: None,
            order: Order::default(),
            relations: vec![Relation::default()],
        })
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether processes are told apart by the order of their numbers: they have registers of their own.
    pub(super) fn has_own_registers(&self) -> bool {
        self.families > 0
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
        self.families
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
            self.crowded = None;
            self.values.iter_mut().for_each(Vec::clear);
            self.order = Order::default();
        }
    }

    fn close_once(&mut self, limit: usize, observer: &mut dyn FnMut(usize) -> bool) -> Result<Option<Undecided>, Stop> {
        for slot in 0..self.processes.slots.len() {
            self.note_value(slot, 0)?;
        }
        for initial in self.initial(self.m)? {
            let initial = self.normal(initial)?;
            self.add(initial, Origin { from: self.len() as u32, step: String::new(), read: None })?;
        }
        let mut done = 0;
        let mut again: Vec<u32> = Vec::new();
        // How many views and values there were when it was last decided what to look at again.
        let mut known = (0, 0);
        loop {
            if let Some(crowded) = self.crowded {
                return Ok(Some(Undecided::Crowded(self.execution(crowded))));
            }
            if self.len() > limit {
                return Ok(Some(Undecided::TooManyViews(limit)));
            }
            if (done + again.len()).is_multiple_of(OBSERVED) && !observer(self.len()) {
                return Ok(Some(Undecided::Interrupted));
            }
            if done < self.list.len() {
                let view = self.list[done].clone();
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
                let values = self.values.iter().map(Vec::len).sum();
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
            let read = self.read_of_the_unknown(view, mover)?;
            if read.is_some() {
                self.readers.insert(number as u32);
            }
            if again && read.is_none() {
                continue;
            }
            for after in self.steps(view, mover)? {
                if self.observes {
                    self.observe_waiting(view, &after, mover)?;
                }
                let step = Step { mover: "a process of the view", local, side: side(at, mover), read };
                self.add_step(after, number, step)?;
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

    pub(super) fn add_step(&mut self, after: Config, from: usize, step: Step) -> Result<(), Stop> {
        let normal = self.normal(after)?;
        if self.contains(&normal) {
            return Ok(());
        }
        let Step { mover, local, side, read } = step;
        let (section, line) = (self.processes.section(local).begun(), self.processes.look(local, side)?.line);
        let step = format!("{mover} executes line {line} ({section})");
        self.add(normal, Origin { from: from as u32, step, read: read.filter(|&slot| !self.kept[slot]) })
    }

    fn add(&mut self, view: Config, origin: Origin) -> Result<(), Stop> {
        if self.contains(&view) {
            return Ok(());
        }
        for member in 0..self.m {
            let added = view.members[member].added;
            let signs = [self.signs[0] || added < 0, self.signs[1] || added > 0];
            if signs != self.signs {
                self.signs = signs;
                return Err(Stop::Stale);
            }
            // Other views may have been extended without that relation.
            for relation in (0..self.m).filter(|&other| other != member).map(|other| view.relation(member, other)) {
                if !self.relations.contains(&relation) {
                    self.relations.push(relation);
                    return Err(Stop::Stale);
                }
            }
            self.note_writer(&view, member)?;
        }
        let number = self.list.len() as u32;
        if self.crowded.is_none() && self.holders(&view) > self.k {
            self.crowded = Some(number);
        }
        self.ids.insert(view.clone(), number);
        self.list.push(view);
        self.origins.push(origin);
        Ok(())
    }

    /// Remembers a value that a register has held, if views may not have it.
    pub(super) fn note_value(&mut self, slot: usize, value: u32) -> Result<(), Stop> {
        if self.tally == Some(slot) || self.kept[slot] && slot < self.shared() {
            return Ok(());
        }
        let tickets = self.processes.tables.value_tickets(slot, value);
        let closing = Closing::of(tickets, TicketSet::EMPTY, 1);
        let value = self.processes.tables.renumbered_value(slot, value, closing.image(tickets))?;
        if !self.values[slot].contains(&value) {
            self.values[slot].push(value);
        }
        Ok(())
    }

    /// The steps that lead to a view.
    fn execution(&self, to: u32) -> Vec<String> {
        let sections = |view: &Config| {
            let sections = view.members.iter().map(|member| self.processes.section(member.local).to_string());
            sections.collect::<Vec<_>>().join(", ")
        };
        let described = |(view, origin): (&Config, &Origin)| format!("{}: {}", origin.step, sections(view));
        let mut steps: Vec<String> = self.way_to(to).map(described).collect();
        steps.reverse();
        steps
    }

    /// The slots that are not kept and that were read on the way to the view with too many holders.
    pub(super) fn read_on_the_way(&self) -> FxHashSet<usize> {
        let way = self.crowded.iter().flat_map(|&view| self.way_to(view));
        way.filter_map(|(_, origin)| origin.read).collect()
    }

    /// Whether a slot is the tally or the queue.
    pub(super) fn is_special(&self, slot: usize) -> bool {
        self.tally == Some(slot) || self.queue == Some(slot)
    }

    /// The views that lead to a view, the last one first, with their origins; without the initial one.
    fn way_to(&self, view: u32) -> impl Iterator<Item = (&Config, &Origin)> {
        let mut at = view as usize;
        std::iter::from_fn(move || {
            let found = (&self.list[at], &self.origins[at]);
            // An initial view comes from itself.
            let is_initial = found.1.from as usize == at;
            at = found.1.from as usize;
            (!is_initial).then_some(found)
        })
    }
}
