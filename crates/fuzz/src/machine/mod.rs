//! The explorer's step semantics, written from the definitions and sharing nothing with the checker.
//!
//! One step is one shared access and all local computation up to the next access or until the process rests, in the
//! critical section or in the remainder. Tickets are plain numbers.
//!
//! `mod.rs` has the machine and its steps, `local.rs` the local computation between accesses, `access.rs` the accesses.
mod access;
mod local;

pub use crate::state::{Act, Blocked, MOST, Measure, Sec, State, Taken};
use crate::{
    code::{Instr, compile},
    lang::{MAX_REGISTERS, Program, RESOURCES, Stmt, Ty},
    setup::{Mem, Setup},
    state::{Env, Proc, show},
};

/// Passages left, when there is no limit.
const UNLIMITED: u32 = u32::MAX;

/// A program with its code, in a setup.
pub struct Machine<'a> {
    /// The program.
    pub program: &'a Program,
    /// The number of processes, the capacity, the memory and the limits.
    pub setup: &'a Setup,
    /// How remote memory references are counted.
    pub measure: Measure,
    /// Whether steps have texts.
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
                optional(&program.abort),
                optional(&program.reap),
            ],
            types,
        }
    }

    /// The initial state.
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
            belief: None,
            served: None,
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
            resources: [0; RESOURCES],
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
        let names: Vec<usize> = procs
            .iter()
            .filter(|proc| proc.sec.is_critical())
            .map(|proc| self.program.name(proc.belief.map_or(proc.env, |(_, env)| env).nums[0]))
            .collect();
        let taken_twice = |(i, name): (usize, &usize)| names[..i].contains(name);
        self.program.assigns
            && (names.iter().any(|&name| name >= self.setup.k) || names.iter().enumerate().any(taken_twice))
    }

    /// Whether a resource has refused the token of a process that really is a holder.
    pub fn is_refused(&self, state: &State) -> bool {
        state.procs[..self.setup.n].iter().any(|proc| proc.sec == Sec::Critical && proc.served == Some(false))
    }

    /// The largest ticket anywhere in a state.
    pub fn largest_ticket(&self, state: &State) -> i64 {
        let is_ticket = |reg: usize| matches!(self.types[reg].0, Ty::Ticket | Ty::MaybeTicket);
        let regs = (0..self.types.len()).filter(|&reg| is_ticket(reg)).map(|reg| state.regs[reg]);
        let believed = |proc: &Proc| proc.belief.map_or_else(Env::default, |(_, env)| env);
        let envs =
            state.procs.iter().flat_map(|proc| [proc.env, proc.place, believed(proc)]).flat_map(|env| env.tickets);
        let buffers =
            state.buffers.iter().flatten().filter(|(reg, _)| is_ticket(*reg as usize)).map(|(_, value)| *value);
        regs.chain(envs).chain(buffers).chain(state.resources).max().unwrap_or(0)
    }

    /// The processes whose store buffers are not empty, as bits.
    pub fn buffered(&self, state: &State) -> u8 {
        (0..self.setup.n).filter(|&p| !state.buffers[p].is_empty()).fold(0, |set, p| set | 1 << p)
    }

    /// Takes a step. On safe registers `seen` is the value that a read returns: see [`flickers`](Self::flickers).
    ///
    /// # Errors
    /// If the step cannot be taken.
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
                if !self.setup.deaths || proc.unnoticed || proc.sec.is_expired() {
                    return Err(Blocked::Disabled);
                }
                *proc = Proc {
                    sec: Sec::Reap,
                    pc: 0,
                    env: Env::default(),
                    place: Env::default(),
                    unnoticed: true,
                    served: None,
                    ..*proc
                };
                Ok(Taken { state: next, remote: false, text: said("dies") })
            }
            Act::Abort(p) => {
                let proc = &mut next.procs[p];
                if !self.setup.aborts || proc.sec != Sec::Wait {
                    return Err(Blocked::Disabled);
                }
                *proc = Proc { sec: Sec::Abort, pc: 0, env: proc.place, place: Env::default(), ..*proc };
                Ok(Taken { state: next, remote: false, text: said("aborts") })
            }
            Act::Expire(p) => {
                let proc = &mut next.procs[p];
                let sec = match proc.sec {
                    Sec::Wait if self.setup.expiries => Sec::ExpiredWait,
                    Sec::Critical if self.setup.expiries => Sec::ExpiredCritical,
                    _ => return Err(Blocked::Disabled),
                };
                let belief = Some((proc.pc, proc.env));
                *proc = Proc { sec, pc: 0, env: Env::default(), place: Env::default(), belief, ..*proc };
                Ok(Taken { state: next, remote: false, text: said("is taken for dead") })
            }
            Act::FindOut(p) => {
                let proc = &mut next.procs[p];
                if !proc.sec.is_expired() || proc.belief.is_some() {
                    return Err(Blocked::Disabled);
                }
                find_out(proc);
                Ok(Taken { state: next, remote: false, text: said("finds out") })
            }
        }
    }

    /// The text of a write.
    fn written(&self, reg: usize, value: i64) -> String {
        let (ty, _, name) = &self.types[reg];
        format!("{name} := {}", show(*ty, value))
    }

    /// The type of the safe register that the next step of process `p` reads while it is written, if it does.
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

    /// The next step of process `p`.
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
        if from.sec.is_critical() && from.belief.is_none() && from.served.is_none() && self.has_resources() {
            return Ok(self.use_resource(state, p));
        }
        self.start(&mut proc).ok_or(Blocked::Disabled)?;
        let begun = proc;
        self.advance(&mut proc, p);
        let mut done = Taken { state, remote: false, text: String::new() };
        // A reap without accesses is a step of its own.
        let is_reaped = from.belief.is_some() && proc.belief.is_none();
        let is_told = from.sec.is_expired() && from.belief.is_none() && !self.instr(&proc).is_some_and(Instr::reads);
        if is_told {
            find_out(&mut proc);
            if self.texts {
                done.text = "finds out".to_string();
            }
        } else if let Some(instr) = self.instr(&proc).filter(|_| !is_reaped) {
            let instr = instr.clone();
            proc.unnoticed = false;
            if !self.access(&instr, &mut proc, p, seen, &mut done)? {
                // A write to a safe register has only begun.
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
        if self.texts && (from.sec == Sec::Reap || from.belief.is_some()) {
            done.text += " by another";
        }
        done.state.procs[p] = proc;
        Ok(done)
    }

    /// Whether holders show their tokens to resources.
    fn has_resources(&self) -> bool {
        self.setup.expiries && self.program.fenced
    }

    /// A holder, or a process that believes that it is one, shows its token to the resource of its name.
    fn use_resource(&self, mut state: State, p: usize) -> Taken {
        let env = state.procs[p].env;
        let (name, token) = (self.program.name(env.nums[0]), env.tickets[0]);
        let seen = state.resources[name];
        state.resources[name] = seen.max(token);
        state.procs[p].served = Some(token > seen);
        let text = format!("Resource[{name}] := {} (was {seen})", seen.max(token));
        Taken { state, remote: true, text: if self.texts { text } else { String::new() } }
    }
}

/// The process learns that it was taken for dead: its passage is over.
fn find_out(proc: &mut Proc) {
    (proc.sec, proc.pc, proc.env, proc.served) = (Sec::Remainder, 0, Env::default(), None);
}
