//! The local states of a process and the values of registers, numbered as they are met, and their tickets.
use rustc_hash::FxHashMap;

use super::{Stop, process::Entry, registers::Slot};
use crate::{
    automaton::broken,
    error::Fault,
    program::Section,
    registers::Kind,
    tickets::{self, Numbering, TicketSet},
    view::Word,
};

/// A local state, without process numbers.
pub(super) struct Local {
    pub(super) section: Section,
    pub(super) history: Box<[Entry]>,
    /// Which entry is the position of a loop over the processes.
    pub(super) index: Option<usize>,
    /// Those that are not forgotten.
    pub(super) tickets: TicketSet,
}

impl Local {
    pub(super) fn new(section: Section, history: &[Entry]) -> Local {
        Local { section, history: history.into(), index: None, tickets: TicketSet::EMPTY }
    }
}

/// The values of a slot.
struct Values {
    kind: Kind,
    words: Vec<u64>,
    tickets: Vec<TicketSet>,
    ids: FxHashMap<u64, u32>,
}

pub(super) struct Tables {
    locals: Vec<Local>,
    local_ids: FxHashMap<Box<[u64]>, u32>,
    values: Vec<Values>,
    renumbered_locals: FxHashMap<(u32, TicketSet), u32>,
    filled_locals: FxHashMap<(u32, i64), u32>,
    renumbered_values: FxHashMap<(usize, u32, TicketSet), u32>,
    /// Gaps between tickets of at least this width are not told apart.
    pub(super) wide: u32,
}

impl Tables {
    pub(super) fn new(slots: &[Slot], wide: u32) -> Result<Tables, Stop> {
        let values = slots
            .iter()
            .map(|slot| Values { kind: slot.kind, words: Vec::new(), tickets: Vec::new(), ids: FxHashMap::default() })
            .collect();
        let mut tables = Tables {
            locals: Vec::new(),
            local_ids: FxHashMap::default(),
            values,
            renumbered_locals: FxHashMap::default(),
            filled_locals: FxHashMap::default(),
            renumbered_values: FxHashMap::default(),
            wide,
        };
        for (slot, Slot { init, .. }) in slots.iter().enumerate() {
            tables.value_id(slot, *init)?;
        }
        Ok(tables)
    }

    pub(super) fn local(&self, id: u32) -> &Local {
        &self.locals[id as usize]
    }

    pub(super) fn word(&self, slot: usize, value: u32) -> u64 {
        self.values[slot].words[value as usize]
    }

    pub(super) fn value_tickets(&self, slot: usize, value: u32) -> TicketSet {
        self.values[slot].tickets[value as usize]
    }

    pub(super) fn local_id(&mut self, section: Section, history: &[Entry]) -> Result<u32, Stop> {
        let bits = history.iter().map(|entry| entry.word.bits);
        let key: Box<[u64]> = std::iter::once(section as u64).chain(bits).collect();
        if let Some(&id) = self.local_ids.get(&key) {
            // The bits determine what each word is, since a process is deterministic; but a word may be forgotten on which that depends.
            let is_same = std::iter::zip(history, &self.local(id).history).all(|(a, b)| a.is(b));
            let why = "what a process does depends on what it has forgotten";
            return if is_same { Ok(id) } else { Err(Stop::Refused(why.to_string())) };
        }
        let set = history
            .iter()
            .try_fold(TicketSet::EMPTY, |set, entry| Ok(set.union(tickets::of(entry.word.kind, entry.word.bits)?)));
        let tickets = set.map_err(unfounded)?.remembered();
        // A position over the processes has no length; see `Entry`.
        let is_index = |entry: &Entry| (entry.word.kind.index)(entry.word.bits).is_some_and(|index| index.of == 0);
        let index = history.iter().position(is_index);
        let id = self.locals.len() as u32;
        self.locals.push(Local { section, history: history.into(), index, tickets });
        self.local_ids.insert(key, id);
        Ok(id)
    }

    pub(super) fn value_id(&mut self, slot: usize, word: u64) -> Result<u32, Stop> {
        let values = &mut self.values[slot];
        if let Some(&id) = values.ids.get(&word) {
            return Ok(id);
        }
        let id = values.words.len() as u32;
        values.tickets.push(tickets::of(values.kind, word).map_err(unfounded)?);
        values.words.push(word);
        values.ids.insert(word, id);
        Ok(id)
    }

    /// The local state with its tickets renumbered.
    pub(super) fn renumbered_local(&mut self, id: u32, image: TicketSet) -> Result<u32, Stop> {
        let Local { section, history, tickets, .. } = self.local(id);
        if *tickets == image {
            return Ok(id);
        }
        if let Some(&renumbered) = self.renumbered_locals.get(&(id, image)) {
            return Ok(renumbered);
        }
        let numbering = Numbering::between(*tickets, image);
        let renumber =
            |entry: &Entry| Entry { word: Word { bits: numbering.apply(&entry.word), ..entry.word }, ..*entry };
        let (section, history): (_, Vec<Entry>) = (*section, history.iter().map(renumber).collect());
        let renumbered = self.local_id(section, &history)?;
        self.renumbered_locals.insert((id, image), renumbered);
        Ok(renumbered)
    }

    /// The local state with a number in place of the first thing that is forgotten.
    pub(super) fn filled(&mut self, id: u32, number: i64) -> Result<u32, Stop> {
        if let Some(&filled) = self.filled_locals.get(&(id, number)) {
            return Ok(filled);
        }
        let (section, history) = (self.local(id).section, self.local(id).filled(number));
        let filled = self.local_id(section, &history)?;
        self.filled_locals.insert((id, number), filled);
        Ok(filled)
    }

    /// The value with its tickets renumbered.
    pub(super) fn renumbered_value(&mut self, slot: usize, id: u32, image: TicketSet) -> Result<u32, Stop> {
        let tickets = self.value_tickets(slot, id);
        if tickets == image {
            return Ok(id);
        }
        if let Some(&renumbered) = self.renumbered_values.get(&(slot, id, image)) {
            return Ok(renumbered);
        }
        let word = Numbering::between(tickets, image).apply_to(self.values[slot].kind, self.word(slot, id));
        let renumbered = self.value_id(slot, word)?;
        self.renumbered_values.insert((slot, id, image), renumbered);
        Ok(renumbered)
    }
}

fn unfounded(fault: Fault) -> Stop {
    Stop::Error(broken(0, (Section::Remainder, String::new()), fault))
}
