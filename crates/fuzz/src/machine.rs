//! The explorer's step semantics, written from the definitions and sharing nothing with the checker.
//!
//! One step is one shared access and all local computation up to the next access or until the process rests, in the
//! critical section or in the remainder. Tickets are plain numbers.
pub use crate::state::{Act, Blocked, MOST, Measure, Sec, State, Taken};
use crate::{
    code::{Instr, compile},
    lang::{MAX_REGISTERS, Program, Stmt, Ty},
    setup::{Mem, Setup},
    state::{Env, It, NOTHING, Proc, assign, show},
};

/// How many writes fit into a store buffer.
const BUFFER: usize = 16;
/// Passages left, when there is no limit.
const UNLIMITED: u32 = u32::MAX;

/// A program with its code, and what it is run for.
pub struct Machine<'a> {
    /// The program.
    pub program: &'a Program,
    /// What it is run for.
    pub setup: &'a Setup,
    /// How remote memory references are told.
    pub measure: Measure,
    /// Whether the texts of steps are wanted.
    pub texts: bool,
    pub(crate) code: [Vec<Instr>; 5],
    types: Vec<(Ty, Option<usize>, String)>,
}

impl<'a> Machine<'a> {
    /// The machine of a program.
    pub fn new(program: &'a Program, setup: &'a Setup) -> Machine<'a> {
        let fenced = setup.mem == Mem::TsoFencesEverywhere;
        let optional = |section: &Option<Vec<Stmt>>| compile(section.as_deref().unwrap_or_default(), fenced);
        let mut types = Vec::new();
        for decl in &program.decls {
            for i in 0..decl.len {
                let name =
                    if decl.len == 1 && !decl.per_process { decl.name.into() } else { format!("{}[{i}]", decl.name) };
                types.push((decl.ty, decl.per_process.then_some(i), name));
            }
        }
        Machine {
            program,
            setup,
            measure: Measure::Dsm,
            texts: false,
            code: [
                compile(&program.doorway, fenced),
                compile(&program.wait, fenced),
                compile(&program.exit, fenced),
                optional(&program.abandon),
                optional(&program.reap),
            ],
            types,
        }
    }

    /// The state at first.
    pub fn initial(&self) -> State {
        let left = self.setup.passages.unwrap_or(UNLIMITED);
        let rests = Proc {
            sec: Sec::Remainder,
            pc: 0,
            env: Env::default(),
            place: Env::default(),
            left,
            latest: None,
            unnoticed: false,
        };
        let mut regs = [0; MAX_REGISTERS];
        for (decl, at) in self.program.decls.iter().zip(0..) {
            let offset = self.program.offset(at);
            regs[offset..offset + decl.len].fill(if decl.ty == Ty::Bool { (decl.init != 0).into() } else { decl.init });
        }
        State {
            procs: [rests; MOST],
            regs,
            writers: [0; MAX_REGISTERS],
            buffers: Default::default(),
            begun: 0,
            cache: 0,
        }
    }

    /// Whether a name or an outcome breaks the rule in this state.
    pub fn breaks_rule(&self, state: &State) -> bool {
        let procs = &state.procs[..self.setup.n];
        if let Some((rule, _)) = self.program.part {
            let latest: Vec<Option<i64>> = procs.iter().map(|proc| proc.latest).collect();
            return !rule.holds(&latest);
        }
        let names: Vec<i64> = procs
            .iter()
            .filter(|proc| proc.sec == Sec::Critical)
            .map(|proc| proc.env.nums[0].rem_euclid(256))
            .collect();
        let taken_twice = |(i, name): (usize, &i64)| names[..i].contains(name);
        self.program.assigns
            && (names.iter().any(|&name| name >= self.setup.k as i64) || names.iter().enumerate().any(taken_twice))
    }

    /// The largest ticket anywhere in a state.
    pub fn largest_ticket(&self, state: &State) -> i64 {
        let is_ticket = |reg: usize| matches!(self.types[reg].0, Ty::Ticket | Ty::MaybeTicket);
        let regs = (0..self.types.len()).filter(|&reg| is_ticket(reg)).map(|reg| state.regs[reg]);
        let envs = state.procs.iter().flat_map(|proc| [proc.env, proc.place]).flat_map(|env| env.tickets);
        let buffers =
            state.buffers.iter().flatten().filter(|(reg, _)| is_ticket(*reg as usize)).map(|(_, value)| *value);
        regs.chain(envs).chain(buffers).max().unwrap_or(0)
    }

    /// The processes whose store buffers are not empty, as bits.
    pub fn buffered(&self, state: &State) -> u8 {
        (0..self.setup.n).filter(|&p| !state.buffers[p].is_empty()).fold(0, |set, p| set | 1 << p)
    }

    /// Takes a step. On safe registers there may be a choice of what is read: see [`flickers`](Self::flickers).
    ///
    /// # Errors
    /// If it cannot be taken.
    pub fn take(&self, state: &State, act: Act, seen: Option<i64>) -> Result<Taken, Blocked> {
        let mut next = state.clone();
        let said = |text: &str| if self.texts { text.to_string() } else { String::new() };
        match act {
            Act::Step(p) => self.step(next, p, seen),
            Act::Drain(p) => {
                let (reg, value) = next.buffers[p].pop_front().ok_or(Blocked::Disabled)?;
                next.regs[reg as usize] = value;
                let text =
                    if self.texts { format!("{} becomes visible", self.written(reg.into(), value)) } else { said("") };
                Ok(Taken { state: next, remote: false, text })
            }
            Act::Die(p) => {
                let proc = &mut next.procs[p];
                if !self.setup.deaths || proc.unnoticed {
                    return Err(Blocked::Disabled);
                }
                *proc = Proc {
                    sec: Sec::Reap,
                    pc: 0,
                    env: Env::default(),
                    place: Env::default(),
                    unnoticed: true,
                    ..*proc
                };
                Ok(Taken { state: next, remote: false, text: said("dies") })
            }
            Act::Abort(p) => {
                let proc = &mut next.procs[p];
                if !self.setup.aborts || proc.sec != Sec::Wait {
                    return Err(Blocked::Disabled);
                }
                *proc = Proc { sec: Sec::Abandon, pc: 0, env: proc.place, place: Env::default(), ..*proc };
                Ok(Taken { state: next, remote: false, text: said("gives up") })
            }
        }
    }

    fn written(&self, reg: usize, value: i64) -> String {
        let (ty, _, name) = &self.types[reg];
        format!("{name} := {}", show(*ty, value))
    }

    /// Whether process `p`'s next step reads a safe register that is being written; then its type.
    pub fn flickers(&self, state: &State, p: usize) -> Option<Ty> {
        if self.setup.mem != Mem::Safe {
            return None;
        }
        let mut proc = state.procs[p];
        self.start(&mut proc)?;
        self.advance(&mut proc, p);
        let reg = match self.instr(&proc)? {
            Instr::Access(Stmt::Read(_, reg) | Stmt::Test(_, reg, _)) | Instr::Branch(reg, ..) => *reg,
            _ => return None,
        };
        let reg = self.at(reg, &proc.env, p);
        (state.writers[reg] != 0).then_some(self.types[reg].0)
    }

    fn section_code(&self, sec: Sec) -> Option<&[Instr]> {
        Some(
            &self.code[match sec {
                Sec::Doorway => 0,
                Sec::Wait => 1,
                Sec::Exit => 2,
                Sec::Abandon => 3,
                Sec::Reap => 4,
                Sec::Remainder | Sec::Critical => return None,
            }],
        )
    }

    fn instr(&self, proc: &Proc) -> Option<&Instr> {
        self.section_code(proc.sec)?.get(proc.pc as usize)
    }

    /// Whether a process that leaves this section begins a passage, or, in a part, a call.
    fn begins(&self, sec: Sec) -> bool {
        match sec {
            Sec::Remainder => true,
            Sec::Critical => self.program.part.is_some(),
            _ => false,
        }
    }

    /// Leaves the section in which the process rests, if it may.
    fn start(&self, proc: &mut Proc) -> Option<()> {
        let part = self.program.part;
        if self.begins(proc.sec) && proc.left != UNLIMITED {
            proc.left = proc.left.checked_sub(1)?;
        }
        match proc.sec {
            Sec::Remainder => {
                proc.sec = if part.is_some() { Sec::Wait } else { Sec::Doorway };
                (proc.pc, proc.env) = (0, Env::default());
            }
            Sec::Critical => {
                match part {
                    Some((_, false)) => return None,
                    Some((_, true)) => (proc.sec, proc.env) = (Sec::Wait, Env::default()),
                    None => proc.sec = Sec::Exit,
                }
                proc.pc = 0;
            }
            _ => {}
        }
        Some(())
    }

    /// Computes locally up to the next access, or until the process rests.
    fn advance(&self, proc: &mut Proc, p: usize) {
        while let Some(code) = self.section_code(proc.sec) {
            let Some(instr) = code.get(proc.pc as usize) else {
                self.leave(proc);
                continue;
            };
            let next = proc.pc + 1;
            let env = &mut proc.env;
            proc.pc = match instr {
                Instr::Access(Stmt::Fence | Stmt::Barrier) if !self.has_fences() => next,
                Instr::Access(_) | Instr::Branch(..) => return,
                Instr::Set(stmt) => {
                    match stmt {
                        Stmt::SetNum(local, value) => env.nums[*local] = self.num(value, env, p, NOTHING),
                        Stmt::SetBool(local, value) => env.bools[*local] = self.cond(value, env, p, NOTHING),
                        Stmt::SetTicket(local, value) => env.tickets[*local] = self.ticket(value, env, NOTHING),
                        other => unreachable!("{other:?} sets nothing"),
                    }
                    next
                }
                Instr::Jump(cond, yes, no) => (if self.cond(cond, env, p, NOTHING) { *yes } else { *no }) as u16,
                Instr::Rewind(variable) => {
                    env.loops[*variable] = 0;
                    next
                }
                Instr::Head(variable, but_own, skip, end) => match env.loops[*variable] as usize {
                    i if i >= self.setup.n => *end as u16,
                    i if *but_own && i == p => *skip as u16,
                    _ => next,
                },
                Instr::Advance(variable, head) => {
                    env.loops[*variable] += 1;
                    *head as u16
                }
            };
        }
    }

    /// A section has ended.
    fn leave(&self, proc: &mut Proc) {
        proc.pc = 0;
        proc.unnoticed = false;
        match proc.sec {
            Sec::Doorway => {
                proc.sec = Sec::Wait;
                if self.setup.aborts {
                    proc.place = proc.env;
                }
            }
            Sec::Wait => {
                proc.sec = Sec::Critical;
                proc.place = Env::default();
                if self.program.part.is_some() {
                    proc.latest = Some(proc.env.nums[0]);
                    proc.env = Env::default();
                }
            }
            _ => {
                proc.sec = Sec::Remainder;
                proc.env = Env::default();
            }
        }
    }

    fn has_fences(&self) -> bool {
        matches!(self.setup.mem, Mem::Tso | Mem::TsoFencesEverywhere)
    }

    fn step(&self, state: State, p: usize, seen: Option<i64>) -> Result<Taken, Blocked> {
        let n = self.setup.n;
        let from = state.procs[p];
        let starts = self.begins(from.sec);
        if self.setup.sequential {
            let calls = |q: usize| !matches!(state.procs[q].sec, Sec::Remainder | Sec::Critical);
            if (0..n).any(|q| q != p && calls(q)) {
                return Err(Blocked::Disabled);
            }
        }
        if starts && self.setup.passages_in_all == Some(state.begun) {
            return Err(Blocked::Disabled);
        }
        if from.unnoticed && !state.buffers[p].is_empty() {
            return Err(Blocked::Disabled);
        }
        let mut proc = from;
        self.start(&mut proc).ok_or(Blocked::Disabled)?;
        let begun = proc;
        self.advance(&mut proc, p);
        let mut done = Taken { state, remote: false, text: String::new() };
        if let Some(instr) = self.instr(&proc) {
            let instr = instr.clone();
            proc.unnoticed = false;
            if !self.access(&instr, &mut proc, p, seen, &mut done)? {
                // A write to a safe register has begun, no more.
                done.state.procs[p] = begun;
                return Ok(done);
            }
            self.advance(&mut proc, p);
        } else if self.texts {
            done.text = "(no access)".to_string();
        }
        if starts && self.setup.passages_in_all.is_some() {
            done.state.begun += 1;
        }
        if self.texts && from.sec == Sec::Reap {
            done.text += " by another";
        }
        done.state.procs[p] = proc;
        Ok(done)
    }

    /// Makes the access the process is at; false if it is a write that has only begun.
    fn access(
        &self,
        instr: &Instr,
        proc: &mut Proc,
        p: usize,
        seen: Option<i64>,
        done: &mut Taken,
    ) -> Result<bool, Blocked> {
        let state = &mut done.state;
        let env = proc.env;
        proc.pc += 1;
        let (stmt, reg) = match instr {
            Instr::Branch(reg, ..) => (None, *reg),
            Instr::Access(stmt) => match stmt {
                Stmt::Fence | Stmt::Barrier => {
                    let empty = |q: usize| state.buffers[q].is_empty();
                    let all = *stmt == Stmt::Barrier;
                    if !(empty(p) && (!all || (0..self.setup.n).all(empty))) {
                        return Err(Blocked::Disabled);
                    }
                    if self.texts {
                        done.text = if all { "barrier" } else { "fence" }.to_string();
                    }
                    return Ok(true);
                }
                Stmt::Read(_, reg)
                | Stmt::Test(_, reg, _)
                | Stmt::Write(reg, _)
                | Stmt::Swap(_, reg, _)
                | Stmt::Cas(_, reg, _, _)
                | Stmt::FetchAdd(_, reg, _)
                | Stmt::Update(_, reg, _)
                | Stmt::LoadLinked(_, reg)
                | Stmt::StoreConditional(_, reg, _)
                | Stmt::WriteLinked(reg, _)
                | Stmt::ReadLinked(_, reg) => (Some(stmt), *reg),
                other => unreachable!("{other:?} is no access"),
            },
            other => unreachable!("{other:?} is no access"),
        };
        let reg = self.at(reg, &env, p);
        let (ty, home, name) = &self.types[reg];
        let ty = *ty;
        let is_read =
            matches!(stmt, None | Some(Stmt::Read(..) | Stmt::Test(..) | Stmt::LoadLinked(..) | Stmt::ReadLinked(..)));
        let is_plain_write = matches!(stmt, Some(Stmt::Write(..))) && ty != Ty::Linked;
        if !is_read && !is_plain_write && !state.buffers[p].is_empty() {
            return Err(Blocked::Disabled);
        }
        let flickers = self.setup.mem == Mem::Safe && is_read && state.writers[reg] != 0;
        let mut value = state.regs[reg];
        if let Some((_, own)) = state.buffers[p].iter().rev().find(|(written, _)| *written as usize == reg) {
            value = *own;
        }
        if flickers {
            value = seen.ok_or(Blocked::Unknown)?;
        }
        let it = It(Some(ty), value);
        let mut written = None;
        let mut fails = false;
        let into = &mut proc.env;
        let text = match (instr, stmt) {
            (Instr::Branch(_, holds, yes, no), _) => {
                proc.pc = (if self.cond(holds, &env, p, it) { *yes } else { *no }) as u16;
                self.say(|| format!("{name} = {}", show(ty, value)))
            }
            (_, Some(Stmt::Read(local, _) | Stmt::ReadLinked(local, _))) => {
                assign(into, ty, *local, value);
                self.say(|| format!("{name} = {}", show(ty, value)))
            }
            (_, Some(Stmt::Test(local, _, holds))) => {
                into.bools[*local] = self.cond(holds, &env, p, it);
                self.say(|| format!("{name} = {}", show(ty, value)))
            }
            (_, Some(Stmt::Write(_, rhs))) if ty != Ty::Linked => {
                let new = self.rhs(rhs, ty, &env, p, NOTHING);
                written = Some(new);
                self.say(|| self.written(reg, new))
            }
            (_, Some(Stmt::Write(..) | Stmt::WriteLinked(..))) => {
                let new = match stmt {
                    Some(Stmt::Write(_, rhs)) => self.rhs(rhs, ty, &env, p, NOTHING),
                    Some(Stmt::WriteLinked(_, num)) => self.num(num, &env, p, NOTHING) & 255,
                    _ => unreachable!("it is one of these"),
                };
                written = Some(new);
                self.say(|| format!("{name} := {} (was {})", show(ty, new), show(ty, value)))
            }
            (_, Some(Stmt::Swap(local, _, rhs))) => {
                let new = self.rhs(rhs, ty, &env, p, NOTHING);
                written = Some(new);
                assign(into, ty, *local, value);
                self.say(|| format!("swap({name}, {}) = {}", show(ty, new), show(ty, value)))
            }
            (_, Some(Stmt::Cas(local, _, old, new))) => {
                let [old, new] = [old, new].map(|rhs| self.rhs(rhs, ty, &env, p, NOTHING));
                fails = value != old;
                written = (!fails).then_some(new);
                into.bools[*local] = !fails;
                self.say(|| format!("compare-and-swap({name}, {}, {}) = {}", show(ty, old), show(ty, new), !fails))
            }
            (_, Some(Stmt::FetchAdd(local, _, by))) => {
                written = Some(value.wrapping_add(*by));
                assign(into, ty, *local, value);
                self.say(|| format!("fetch-and-add({name}, {by}) = {value}"))
            }
            (_, Some(Stmt::Update(local, _, rhs))) => {
                let new = self.rhs(rhs, ty, &env, p, it);
                written = Some(new);
                assign(into, ty, *local, value);
                self.say(|| format!("{name} := {} (was {})", show(ty, new), show(ty, value)))
            }
            (_, Some(Stmt::LoadLinked(local, _))) => {
                state.regs[reg] |= 256 << p;
                assign(into, ty, *local, value);
                self.say(|| format!("LL({name}) = {}", show(ty, value)))
            }
            (_, Some(Stmt::StoreConditional(local, _, num))) => {
                let new = self.num(num, &env, p, NOTHING) & 255;
                fails = value >> 8 >> p & 1 == 0;
                written = (!fails).then_some(new);
                into.bools[*local] = !fails;
                self.say(|| format!("SC({name}, {new}) = {}", !fails))
            }
            other => unreachable!("{other:?} is no access"),
        };
        done.text = text;
        done.remote = match self.measure {
            Measure::Dsm => *home != Some(p),
            Measure::Cc(_, _) => !(is_read && state.cache >> reg & 1 == 1),
        };
        if let Measure::Cc(of, failing_counts) = self.measure {
            if of == p {
                state.cache |= 1 << reg;
            } else if written.is_some() || (fails && failing_counts) {
                state.cache &= !(1 << reg);
            }
        }
        if flickers && self.texts {
            done.text += " while it is written";
        }
        let Some(new) = written else { return Ok(true) };
        if self.setup.mem == Mem::Safe {
            if state.writers[reg] == 0 {
                state.writers[reg] = p as u8 + 1;
                state.regs[reg] = new;
                done.text += if self.texts { " begins" } else { "" };
                return Ok(false);
            }
            if state.writers[reg] != p as u8 + 1 {
                return Err(Blocked::Overlap);
            }
            state.writers[reg] = 0;
            done.text += if self.texts { " ends" } else { "" };
        }
        if is_plain_write && self.setup.mem.is_tso() {
            if state.buffers[p].len() == BUFFER {
                return Err(Blocked::Full);
            }
            state.buffers[p].push_back((reg as u8, new));
        } else {
            state.regs[reg] = new;
        }
        Ok(true)
    }

    fn say(&self, text: impl FnOnce() -> String) -> String {
        if self.texts { text() } else { String::new() }
    }
}
