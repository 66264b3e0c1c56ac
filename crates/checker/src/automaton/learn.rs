//! Learning: each step and each renumbering that the search meets is executed or computed once, and remembered.
use doorway_memory::{Pid, Ticket, Value};

use super::{
    Action, Automaton, Interrupted, Local, RegisterSet, StepInfo, UNKNOWN,
    execute::{broken, is_noticed, look, run, unfounded},
    forgotten::Seen,
    hash_of, local_key,
};
use crate::{
    access::{Access, Op},
    buffers::Write,
    error::{Error, Fault},
    program::{Program, Section},
    tickets::{self, Numbering, TicketSet},
    view::Word,
};

/// What the search needs and the automaton does not know yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Missing {
    Step {
        process: u32,
        local: u32,
        value: u32,
    },
    Renumbering {
        field: u32,
        id: u32,
        image: TicketSet,
    },
    Rotation {
        field: u32,
        id: u32,
        by: u32,
    },
    /// One more write in the store buffer of a process.
    Buffer {
        process: u32,
        buffer: u32,
        write: Write,
    },
    /// A value that a read of a safe register may return.
    Value {
        reg: u32,
        word: u64,
    },
}

impl Automaton {
    /// Learns what was missing, by executing the algorithm's source if need be.
    pub(crate) fn learn(&mut self, program: &dyn Program, missing: Missing) -> Result<(), Error> {
        match missing {
            Missing::Step { local, value, .. } if self.symmetric => {
                // Every process learns the step, so that a local state has the same number for all.
                let mut learnt = Vec::new();
                for p in 0..self.n() {
                    self.learn_step(program, p, local, value)?;
                    learnt.push((self.step(self.step_info(p, local), value), self.step_info(p, local).reg));
                }
                match learnt.iter().position(|step| *step != learnt[0]) {
                    Some(p) => Err(broken(p, self.whereabouts(p, local), Fault::NotAlike)),
                    None => Ok(()),
                }
            }
            Missing::Renumbering { field, id, image } if self.symmetric && (field as usize) < self.n() => {
                (0..self.n() as u32).try_for_each(|field| self.learn_renumbering(program, field, id, image))
            }
            Missing::Buffer { process, buffer, write } => {
                let p = process as usize;
                let writes: Vec<Write> = self.buffers[p].writes(buffer).iter().copied().chain([write]).collect();
                let longer = self.buffer_id(p, &writes);
                self.buffers[p].learn(buffer, write, longer);
                Ok(())
            }
            Missing::Value { reg, word } => {
                let known = self.value_id(reg as usize, word, None);
                known.map(|_| ()).map_err(unfounded)
            }
            Missing::Step { process, local, value } => self.learn_step(program, process as usize, local, value),
            Missing::Renumbering { field, id, image } => self.learn_renumbering(program, field, id, image),
            Missing::Rotation { field, id, by } => self.learn_rotation(program, field, id, by),
        }
    }

    fn learn_step(&mut self, program: &dyn Program, p: Pid, local: u32, value: u32) -> Result<(), Error> {
        let info = *self.step_info(p, local);
        if self.step(&info, value).is_some() {
            return Ok(());
        }
        let learnt = self.execute_step(program, p, local, value);
        match learnt {
            // With other numbers for the tickets that are forgotten it may well do something else.
            Err(_) if self.sees_forgotten(p, local, value) => {
                self.note_dependence(p, local, Some(value));
                Ok(())
            }
            // So it may with the initial tickets as they are.
            Err(Error::Broken { ref fault, .. }) if self.raised() > 0 && *fault != Fault::TicketArithmetic => {
                self.note_dependence(p, local, Some(value));
                Ok(())
            }
            learnt => learnt,
        }
    }

    fn execute_step(&mut self, program: &dyn Program, p: Pid, local: u32, value: u32) -> Result<(), Error> {
        let from = self.local(p, local);
        let section = from.section;
        let register = from.access.and_then(|access| access.register());
        let word = register.map_or(0, |reg| self.word(reg, value));
        let seen = self.seen(p, local, word);
        let (history, filled) = self.filled(seen);
        let ran = run(program, p, section, seen.passages, history.clone(), self.setting, filled)?;
        let here = self.whereabouts(p, local);
        if !self.is_expected(seen, ran.access.as_ref(), from.access.as_ref()) {
            return Err(broken(p, here, Fault::Nondeterminism));
        }
        if self.renumbers {
            self.check_ticket_parametricity(program, p, local, (&history, filled), &ran)?;
        }
        self.check_rotations(program, (p, local), (&history, filled), &ran);
        let seen = self.seen(p, local, word);
        let ran = self.forgotten(seen, ran);
        if self.forgets() {
            let history = self.local(p, local).history.clone();
            let seen = Seen { history: &history, ..self.seen(p, local, word) };
            self.check_step_despite_forgotten(program, (local, value), seen, &ran);
            // Whether it invalidates copies is decided without executing it.
            if self.has_cache
                && ran.access.is_some_and(|access| access.can_fail())
                && self.sees_forgotten(p, local, value)
            {
                self.note_dependence(p, local, Some(value));
            }
        }
        let next = self.local_id(program, p, ran.section, ran.passages, ran.history)?;
        let written = match ran.access.filter(|access| access.register().is_some()) {
            Some(access) => {
                let reg = access.reg as usize;
                if self.safe_registers && access.op == Op::Write {
                    self.value_id(reg, ran.written, Some(p)).map_err(|fault| broken(p, here.clone(), fault))?;
                    if section.begun() != section {
                        let history = self.local(p, local).history.to_vec();
                        let begun = self.local_id(program, p, section.begun(), ran.passages, history)?;
                        self.begun.insert((p, local), begun);
                    }
                }
                self.value_id(reg, ran.written, None).map_err(|fault| broken(p, here, fault))?
            }
            None => 0,
        };
        self.note_live(p, local, next, self.written_by(p, local));
        self.store_step(p, local, value, next, written);
        Ok(())
    }

    fn store_step(&mut self, p: Pid, local: u32, value: u32, next: u32, written: u32) {
        let info = &mut self.processes[p].infos[local as usize];
        let column = if info.action == Action::ReadsValue { value } else { 0 };
        if column >= info.len {
            // The row moves to the end of the table, with room for more values.
            let row = self.steps.len();
            let len = (column + 1).next_power_of_two();
            self.steps.extend_from_within(info.row as usize..(info.row + info.len) as usize);
            self.steps.resize(row + len as usize, UNKNOWN);
            (info.row, info.len) = (u32::try_from(row).expect("fewer than 2^32 steps are ever known"), len);
        }
        self.steps[(info.row + column) as usize] = u64::from(next) << 32 | u64::from(written);
    }

    fn learn_renumbering(&mut self, program: &dyn Program, field: u32, id: u32, image: TicketSet) -> Result<(), Error> {
        if self.renumbered(field, id, image).is_some() {
            return Ok(());
        }
        let tickets = self.tickets(field as usize, id);
        let numbering =
            if self.forgets() { Numbering::forgetting(tickets, image) } else { Numbering::between(tickets, image) };
        let renumbered = match (field as usize).checked_sub(self.n()) {
            None => {
                let p = field as usize;
                let Local { section, passages, ref history, .. } = *self.local(p, id);
                let history = history.iter().map(|word| Word { bits: numbering.apply(word), ..*word }).collect();
                self.local_id(program, p, section, passages, history)?
            }
            Some(more) if more >= self.values.len() => {
                let p = more - self.values.len();
                let mut writes = self.buffers[p].writes(id).to_vec();
                for (reg, value) in &mut writes {
                    let at = *reg as usize;
                    let word = numbering.apply_to(self.registers[at].kind, self.word(at, *value));
                    *value = self.value_id(at, word, None).map_err(unfounded)?;
                }
                self.buffer_id(p, &writes)
            }
            Some(reg) => {
                let word = numbering.apply_to(self.registers[reg].kind, self.word(reg, id));
                let writer = self.values[reg].writers[id as usize];
                self.value_id(reg, word, None).map_err(unfounded)?;
                self.value_id(reg, word, writer).map_err(unfounded)?
            }
        };
        self.renumbered.insert((field, id, image), renumbered);
        Ok(())
    }

    /// The id of a local state, a new one if need be.
    pub(super) fn local_id(
        &mut self,
        program: &dyn Program,
        p: Pid,
        section: Section,
        passages: u32,
        history: Vec<Word>,
    ) -> Result<u32, Error> {
        let key: Box<[u64]> = local_key(section, passages, &history);
        if let Some(&id) = self.processes[p].ids.get(&key) {
            return Ok(id);
        }
        let tickets = history
            .iter()
            .try_fold(TicketSet::EMPTY, |set, word| Ok(set.union(tickets::of(word.kind, word.bits)?)))
            .map_err(|fault| broken(p, (section, String::new()), fault))?;
        self.has_tickets |= !tickets.is_empty();
        let id = self.processes[p].locals.len() as u32;

        let done = !program.goes_on(section) || (program.begins(section) && passages == 0);
        let seen = Seen { p, section, passages, history: &history, register: None };
        let next =
            if done { Ok((None, section)) } else { look(program, p, section, self.filled(seen).0, self.setting) };
        let depends = !done && self.next_access_depends(program, seen, next.as_ref().ok().copied());
        let (access, at) = if depends { (None, section) } else { next? };
        let needs = self.needs_of_new(p, section, &history);
        if let Some(fault) = access.and_then(|access| self.refuses(access)) {
            return Err(broken(p, (at, access.map_or(String::new(), |access| access.line())), fault));
        }
        self.met_barrier |= self.reduces && access.is_some_and(|access| access.op == Op::Barrier);
        let action = match access {
            _ if done => Action::None,
            None | Some(Access { op: Op::Fence | Op::Barrier, .. }) => Action::Silent,
            Some(Access { op: Op::Write, .. }) => Action::Write,
            Some(_) => Action::ReadsValue,
        };
        let live = self.class_of_new(p, section, passages, &history, access.as_ref());
        let useful_copies = self.useful_copies_in_new(p, section, passages, &history);
        let info = StepInfo {
            hash: hash_of(p, id),
            row: 0,
            len: 0,
            reg: access.map_or(0, |access| access.reg),
            action,
            section,
            drains: self.has_buffers()
                && (access.is_some_and(|access| access.op.drains()) || is_noticed(section, &history)),
            drains_all: self.has_buffers() && access.is_some_and(|access| access.op == Op::Barrier),
        };
        self.note_merged_local(p, section, passages, &history);
        let process = &mut self.processes[p];
        let place = (self.aborts && section == Section::Wait).then(|| program.place(&history));
        let expired = if self.expiries { program.expire(section, &history) } else { None };
        self.history_words += history.len();
        process.locals.push(Local { section, passages, history: history.into(), access, at });
        process.ids.insert(key, id);
        process.infos.push(info);
        process.tickets.push(tickets);
        process.needs.push(needs);
        process.live.push(live);
        process.useful_copies.extend(useful_copies);
        if self.deaths || self.aborts {
            process.interrupted.push(Interrupted::default());
            // A death at the start of a reap changes nothing; and a process that was taken for dead has died already.
            let mortal = self.deaths && !section.is_expired();
            let dead = mortal.then(|| self.local_id(program, p, Section::Reap, passages, Vec::new())).transpose()?;
            let dead = dead.filter(|&dead| dead != id);
            let aborted = place.map(|place| self.local_id(program, p, Section::Abort, passages, place)).transpose()?;
            let expired = expired.map(|(section, history)| self.local_id(program, p, section, passages, history));
            let expired = expired.transpose()?;
            self.processes[p].interrupted[id as usize] = Interrupted { dead, aborted, expired };
            let interrupted = [dead, aborted, expired].into_iter().flatten();
            interrupted.for_each(|next| self.note_live(p, id, next, RegisterSet::default()));
        }
        if depends {
            self.note_dependence(p, id, None);
        }
        Ok(id)
    }

    /// Why the model does not allow an access, if it does not.
    fn refuses(&self, access: Access) -> Option<Fault> {
        match access.op {
            op if op.is_safe() || op.is_fence() => None,
            _ if self.safe_registers => Some(Fault::NotSafe(self.name(access.reg))),
            _ if self.reads_and_writes => Some(Fault::NotReadOrWritten(self.name(access.reg))),
            Op::LoadLinked | Op::StoreConditional if self.symmetric => {
                Some(Fault::LinkedAndSymmetric(self.name(access.reg)))
            }
            _ => None,
        }
    }

    /// The id of a register's value, a new one if need be.
    pub(super) fn value_id(&mut self, reg: usize, word: u64, writer: Option<Pid>) -> Result<u32, Fault> {
        let field = self.n() + reg;
        let values = &mut self.values[reg];
        if let Some(&id) = values.ids.get(&(word, writer)) {
            return Ok(id);
        }
        let tickets = tickets::of(self.registers[reg].kind, word)?;
        let id = values.words.len() as u32;
        let without_tickets = |word| (self.registers[reg].kind.renumber)(word, &mut |_| Ticket::of_word(0));
        values.is_clear.push(
            tickets.without_zero().remembered().is_empty()
                && without_tickets(word) == without_tickets(self.registers[reg].init),
        );
        values.words.push(word);
        values.writers.push(writer);
        values.ids.insert((word, writer), id);
        values.hash.push(hash_of(field, id));
        values.tickets.push(tickets);
        self.note_cyclic(reg, word);
        self.note_merged_value(reg, word);
        if !tickets.is_empty() {
            self.has_tickets = true;
            if let Err(at) = self.ticketed.binary_search(&(reg as u32)) {
                self.ticketed.insert(at, reg as u32);
            }
        }
        Ok(id)
    }

    /// The id of the content of a store buffer, a new one if need be.
    pub(super) fn buffer_id(&mut self, p: Pid, writes: &[Write]) -> u32 {
        let field = self.processes.len() + self.registers.len() + p;
        let values = &self.values;
        let tickets = |(reg, value): Write| values[reg as usize].tickets[value as usize];
        self.buffers[p].id(writes, &|id| hash_of(field, id), &tickets)
    }
}
