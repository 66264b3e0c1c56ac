//! A program of the language as a lock or part over any memory, for the checker.
use std::ops::ControlFlow::{Break, Continue};

use doorway_memory::{
    Abort, Assign, Exclusion, Fence, Home, Linked, Local, Memory, Name, Part, Pid, Reap, Sink, Source, Space, Ticket,
};

use crate::lang::{BOOLS, Cond, Decl, Index, LOOPS, NUMS, Num, Program, RESOURCES, Ref, Rhs, Stmt, TICKETS, Tick, Ty};

/// A process's locals.
#[derive(Clone, Debug, Default)]
pub struct Env {
    nums: [i64; NUMS],
    bools: [bool; BOOLS],
    tickets: [Ticket; TICKETS],
    loops: [usize; LOOPS],
}

impl Local for Env {
    fn save(&self, to: &mut impl Sink) {
        self.nums.save(to);
        self.bools.save(to);
        self.tickets.save(to);
        self.loops.save(to);
    }
    fn load(from: &mut impl Source) -> Self {
        Env { nums: Local::load(from), bools: Local::load(from), tickets: Local::load(from), loops: Local::load(from) }
    }
}

/// A register of any of the language's types.
enum Reg<M: Memory> {
    Bool(M::Reg<bool>),
    Num(M::Reg<i64>),
    Ticket(M::Reg<Ticket>),
    MaybeTicket(M::Reg<Option<Ticket>>),
    Linked(M::Reg<Linked<u8>>),
}

/// What an access returned, or an expression is about.
#[derive(Clone, Copy)]
enum Seen {
    Nothing,
    Bool(bool),
    Num(i64),
    Ticket(Ticket),
    MaybeTicket(Option<Ticket>),
}

/// A program as a lock or part over a memory. `ALIKE` says of a lock that its processes are all alike, and of a part
/// that they call again and again.
pub struct Interpreted<M: Memory, const ALIKE: bool> {
    program: Program,
    n: usize,
    registers: Vec<Reg<M>>,
}

/// How a block ended.
enum Flow {
    On,
    Left,
}

impl<M: Memory, const ALIKE: bool> Interpreted<M, ALIKE> {
    /// The program for `n` processes, its registers made in `space`.
    pub fn new(program: &Program, n: usize, space: &mut impl Space<Mem = M>) -> Self {
        let mut registers = Vec::new();
        for Decl { name, ty, len, per_process, init } in &program.decls {
            for i in 0..*len {
                let named = if *len == 1 && !per_process { Name::new(name) } else { Name::new(name).index(i) };
                let home = if *per_process { Home::Of(i) } else { Home::Nobody };
                registers.push(match ty {
                    Ty::Bool => Reg::Bool(space.register(named, home, *init != 0)),
                    Ty::Num => Reg::Num(space.register(named, home, *init)),
                    Ty::Ticket => Reg::Ticket(space.register(named, home, Ticket::ZERO)),
                    Ty::MaybeTicket => {
                        Reg::MaybeTicket(space.register(named, home, (*init >= 0).then_some(Ticket::ZERO)))
                    }
                    Ty::Linked => Reg::Linked(space.register(named, home, Linked::new(*init as u8))),
                });
            }
        }
        Interpreted { program: program.clone(), n, registers }
    }

    fn run(&self, m: &mut M, p: Pid, stmts: &[Stmt], env: &mut Env) -> Result<Flow, M::Halt> {
        for stmt in stmts {
            if let Flow::Left = self.stmt(m, p, stmt, env)? {
                return Ok(Flow::Left);
            }
        }
        Ok(Flow::On)
    }

    fn whole(&self, m: &mut M, p: Pid, stmts: &[Stmt], mut env: Env) -> Result<Env, M::Halt> {
        self.run(m, p, stmts, &mut env)?;
        Ok(env)
    }

    fn stmt(&self, m: &mut M, p: Pid, stmt: &Stmt, env: &mut Env) -> Result<Flow, M::Halt> {
        match stmt {
            Stmt::Read(into, reg) => match self.reg(p, *reg, env) {
                Reg::Bool(reg) => env.bools[*into] = m.read(reg)?,
                Reg::Num(reg) => env.nums[*into] = m.read(reg)?,
                Reg::Ticket(reg) => env.tickets[*into] = m.read(reg)?,
                Reg::MaybeTicket(reg) => env.tickets[*into] = m.read(reg)?.unwrap_or(Ticket::ZERO),
                Reg::Linked(reg) => env.nums[*into] = m.read_linked(reg)?.into(),
            },
            Stmt::Test(into, reg, holds) => env.bools[*into] = self.test(m, p, *reg, holds, env)?,
            Stmt::Write(reg, value) => {
                let calc = self.calc(p, env, Seen::Nothing);
                match self.reg(p, *reg, env) {
                    Reg::Bool(reg) => m.write(reg, calc.bool(value))?,
                    Reg::Num(reg) => m.write(reg, calc.number(value))?,
                    Reg::Ticket(reg) => m.write(reg, calc.maybe(value).unwrap_or(Ticket::ZERO))?,
                    Reg::MaybeTicket(reg) => m.write(reg, calc.maybe(value))?,
                    Reg::Linked(reg) => m.write_linked(reg, calc.number(value) as u8)?,
                }
            }
            Stmt::Swap(into, reg, value) => {
                let calc = self.calc(p, env, Seen::Nothing);
                match self.reg(p, *reg, env) {
                    Reg::Bool(reg) => env.bools[*into] = m.swap(reg, calc.bool(value))?,
                    Reg::Num(reg) => env.nums[*into] = m.swap(reg, calc.number(value))?,
                    Reg::Ticket(reg) => {
                        env.tickets[*into] = m.swap(reg, calc.maybe(value).unwrap_or(Ticket::ZERO))?;
                    }
                    Reg::MaybeTicket(reg) => {
                        env.tickets[*into] = m.swap(reg, calc.maybe(value))?.unwrap_or(Ticket::ZERO);
                    }
                    Reg::Linked(_) => unreachable!("linked registers are not swapped"),
                }
            }
            Stmt::Cas(into, reg, old, new) => {
                let calc = self.calc(p, env, Seen::Nothing);
                let done = match self.reg(p, *reg, env) {
                    Reg::Bool(reg) => m.compare_swap(reg, calc.bool(old), calc.bool(new))?,
                    Reg::Num(reg) => m.compare_swap(reg, calc.number(old), calc.number(new))?,
                    Reg::Ticket(reg) => {
                        let [old, new] = [old, new].map(|value| calc.maybe(value).unwrap_or(Ticket::ZERO));
                        m.compare_swap(reg, old, new)?
                    }
                    Reg::MaybeTicket(reg) => m.compare_swap(reg, calc.maybe(old), calc.maybe(new))?,
                    Reg::Linked(_) => unreachable!("linked registers are not compared and swapped"),
                };
                env.bools[*into] = done;
            }
            Stmt::FetchAdd(into, reg, by) => {
                let Reg::Num(reg) = self.reg(p, *reg, env) else { unreachable!("only numbers are added to") };
                env.nums[*into] = m.fetch_add(reg, *by)?;
            }
            Stmt::Update(into, reg, new) => match self.reg(p, *reg, env) {
                Reg::Bool(reg) => {
                    env.bools[*into] = m.update(reg, |it| self.calc(p, env, Seen::Bool(it)).bool(new))?;
                }
                Reg::Num(reg) => {
                    env.nums[*into] = m.update(reg, |it| self.calc(p, env, Seen::Num(it)).number(new))?;
                }
                Reg::Ticket(reg) => {
                    let action = |it| self.calc(p, env, Seen::Ticket(it)).maybe(new).unwrap_or(Ticket::ZERO);
                    env.tickets[*into] = m.update(reg, action)?;
                }
                Reg::MaybeTicket(reg) => {
                    let old = m.update(reg, |it| self.calc(p, env, Seen::MaybeTicket(it)).maybe(new))?;
                    env.tickets[*into] = old.unwrap_or(Ticket::ZERO);
                }
                Reg::Linked(_) => unreachable!("linked registers are not updated"),
            },
            Stmt::LoadLinked(into, reg) => {
                env.nums[*into] = m.load_linked(self.linked(p, *reg, env))?.value().into();
            }
            Stmt::StoreConditional(into, reg, value) => {
                let value = self.calc(p, env, Seen::Nothing).num(value) as u8;
                // The checker's memory does not use the link: the register remembers which processes may still store.
                env.bools[*into] = m.store_conditional(self.linked(p, *reg, env), Linked::new(0), value)?;
            }
            Stmt::WriteLinked(reg, value) => {
                let value = self.calc(p, env, Seen::Nothing).num(value) as u8;
                m.write_linked(self.linked(p, *reg, env), value)?;
            }
            Stmt::ReadLinked(into, reg) => env.nums[*into] = m.read_linked(self.linked(p, *reg, env))?.into(),
            Stmt::Fence => m.fence()?,
            Stmt::Barrier => m.barrier()?,
            Stmt::SetNum(local, value) => env.nums[*local] = self.calc(p, env, Seen::Nothing).num(value),
            Stmt::SetBool(local, value) => env.bools[*local] = self.calc(p, env, Seen::Nothing).cond(value),
            Stmt::SetTicket(local, value) => env.tickets[*local] = self.calc(p, env, Seen::Nothing).ticket(value),
            Stmt::If(cond, yes, no) => {
                let branch = if self.calc(p, env, Seen::Nothing).cond(cond) { yes } else { no };
                return self.run(m, p, branch, env);
            }
            Stmt::Loop(body) => {
                *env = m.turns(env.clone(), |m, mut env| {
                    Ok(match self.run(m, p, body, &mut env)? {
                        Flow::On => Continue(env),
                        Flow::Left => Break(env),
                    })
                })?;
            }
            Stmt::Break => return Ok(Flow::Left),
            Stmt::Until(reg, holds) => {
                let (n, env) = (self.n, &*env);
                match self.reg(p, *reg, env) {
                    Reg::Bool(reg) => m.until(reg, |it| Calc { p, n, env, seen: Seen::Bool(it) }.cond(holds))?,
                    Reg::Num(reg) => m.until(reg, |it| Calc { p, n, env, seen: Seen::Num(it) }.cond(holds))?,
                    Reg::Ticket(reg) => m.until(reg, |it| Calc { p, n, env, seen: Seen::Ticket(it) }.cond(holds))?,
                    Reg::MaybeTicket(reg) => {
                        m.until(reg, |it| Calc { p, n, env, seen: Seen::MaybeTicket(it) }.cond(holds))?
                    }
                    Reg::Linked(reg) => {
                        m.until(reg, |it| Calc { p, n, env, seen: Seen::Num(it.value().into()) }.cond(holds))?;
                    }
                }
            }
            Stmt::Spin(tests) => m.spin(|m| {
                for (reg, holds) in tests {
                    if self.test(m, p, *reg, holds, env)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            })?,
            Stmt::For(variable, but_own, body) => {
                *env = m.turns((0, env.clone()), |m, (i, mut env)| {
                    if i >= self.n {
                        return Ok(Break(env));
                    }
                    env.loops[*variable] = i;
                    if !(*but_own && i == p)
                        && let Flow::Left = self.run(m, p, body, &mut env)?
                    {
                        return Ok(Break(env));
                    }
                    Ok(Continue((i + 1, env)))
                })?;
                env.loops[*variable] = 0;
            }
            Stmt::Call(body) => *env = m.call(|m| self.whole(m, p, body, env.clone()))?,
        }
        Ok(Flow::On)
    }

    fn test(&self, m: &mut M, p: Pid, reg: Ref, holds: &Cond, env: &Env) -> Result<bool, M::Halt> {
        match self.reg(p, reg, env) {
            Reg::Bool(reg) => m.test(reg, |it| self.calc(p, env, Seen::Bool(it)).cond(holds)),
            Reg::Num(reg) => m.test(reg, |it| self.calc(p, env, Seen::Num(it)).cond(holds)),
            Reg::Ticket(reg) => m.test(reg, |it| self.calc(p, env, Seen::Ticket(it)).cond(holds)),
            Reg::MaybeTicket(reg) => m.test(reg, |it| self.calc(p, env, Seen::MaybeTicket(it)).cond(holds)),
            Reg::Linked(reg) => m.test(reg, |it| self.calc(p, env, Seen::Num(it.value().into())).cond(holds)),
        }
    }

    fn reg(&self, p: Pid, Ref { decl, index }: Ref, env: &Env) -> &Reg<M> {
        let len = self.program.decls[decl].len;
        let index = match index {
            Index::At(index) => index,
            Index::Own => p,
            Index::Other => (p + 1) % self.n,
            Index::Loop(variable) => env.loops[variable],
            Index::Local(local) => env.nums[local].rem_euclid(len as i64) as usize,
        };
        &self.registers[self.program.offset(decl) + index % len]
    }

    fn linked(&self, p: Pid, reg: Ref, env: &Env) -> &M::Reg<Linked<u8>> {
        let Reg::Linked(reg) = self.reg(p, reg, env) else { unreachable!("only linked registers are loaded so") };
        reg
    }

    fn calc<'a>(&self, p: Pid, env: &'a Env, seen: Seen) -> Calc<'a> {
        Calc { p, n: self.n, env, seen }
    }
}

/// Evaluates expressions.
struct Calc<'a> {
    p: Pid,
    n: usize,
    env: &'a Env,
    seen: Seen,
}

impl Calc<'_> {
    fn num(&self, num: &Num) -> i64 {
        match num {
            Num::Const(number) => *number,
            Num::Own => self.p as i64,
            Num::Other => ((self.p + 1) % self.n) as i64,
            Num::Local(local) => self.env.nums[*local],
            Num::Loop(variable) => self.env.loops[*variable] as i64,
            Num::Val => {
                if let Seen::Num(it) = self.seen {
                    it
                } else {
                    0
                }
            }
            Num::Add(a, b) => self.num(a).wrapping_add(self.num(b)),
            Num::Mod(a, modulus) => self.num(a).rem_euclid(*modulus),
        }
    }

    fn ticket(&self, ticket: &Tick) -> Ticket {
        match ticket {
            Tick::Zero => Ticket::ZERO,
            Tick::Local(local) => self.env.tickets[*local],
            Tick::Val => match self.seen {
                Seen::Ticket(it) | Seen::MaybeTicket(Some(it)) => it,
                _ => Ticket::ZERO,
            },
            Tick::Next(ticket) => self.ticket(ticket).next(),
            Tick::Max(a, b) => self.ticket(a).max(self.ticket(b)),
        }
    }

    fn cond(&self, cond: &Cond) -> bool {
        match cond {
            Cond::Const(value) => *value,
            Cond::Local(local) => self.env.bools[*local],
            Cond::Val => matches!(self.seen, Seen::Bool(true)),
            Cond::ValIsNone => matches!(self.seen, Seen::MaybeTicket(None)),
            Cond::Not(cond) => !self.cond(cond),
            Cond::And(a, b) => self.cond(a) && self.cond(b),
            Cond::Or(a, b) => self.cond(a) || self.cond(b),
            Cond::Nums(cmp, a, b) => cmp.holds(self.num(a), self.num(b)),
            Cond::Tickets(cmp, a, b) => cmp.holds(self.ticket(a), self.ticket(b)),
        }
    }

    fn bool(&self, value: &Rhs) -> bool {
        matches!(value, Rhs::Bool(cond) if self.cond(cond))
    }

    fn number(&self, value: &Rhs) -> i64 {
        if let Rhs::Num(num) = value { self.num(num) } else { 0 }
    }

    fn maybe(&self, value: &Rhs) -> Option<Ticket> {
        if let Rhs::Ticket(ticket) = value { Some(self.ticket(ticket)) } else { None }
    }
}

impl<M: Memory, const ALIKE: bool> Exclusion<M> for Interpreted<M, ALIKE> {
    type Place = Env;
    type Inside = Env;
    const SYMMETRIC: bool = ALIKE;

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Env, M::Halt> {
        self.whole(m, p, &self.program.doorway, Env::default())
    }

    fn wait(&self, m: &mut M, p: Pid, place: &Env) -> Result<Env, M::Halt> {
        self.whole(m, p, &self.program.wait, place.clone())
    }

    fn exit(&self, m: &mut M, p: Pid, inside: &Env) -> Result<(), M::Halt> {
        self.whole(m, p, &self.program.exit, inside.clone()).map(|_| ())
    }

    fn recovery(&self) -> Option<&dyn Reap<M>> {
        self.program.reap.as_ref().map(|_| self as _)
    }

    fn aborting(&self) -> Option<&dyn Abort<M, Env>> {
        self.program.abort.as_ref().map(|_| self as _)
    }

    fn names(&self) -> Option<&dyn Assign<Env>> {
        if self.program.assigns { Some(self) } else { None }
    }

    fn tokens(&self) -> Option<&dyn Fence<Env>> {
        if self.program.fenced { Some(self) } else { None }
    }
}

impl<M: Memory, const ALIKE: bool> Assign<Env> for Interpreted<M, ALIKE> {
    fn name(&self, inside: &Env) -> usize {
        self.program.name(inside.nums[0])
    }
}

impl<M: Memory, const ALIKE: bool> Fence<Env> for Interpreted<M, ALIKE> {
    fn token(&self, inside: &Env) -> Ticket {
        inside.tickets[0]
    }

    fn resources(&self) -> usize {
        RESOURCES
    }
}

impl<M: Memory, const ALIKE: bool> Abort<M, Env> for Interpreted<M, ALIKE> {
    fn abort(&self, m: &mut M, p: Pid, place: &Env) -> Result<(), M::Halt> {
        let section = self.program.abort.as_deref().unwrap_or_default();
        self.whole(m, p, section, place.clone()).map(|_| ())
    }
}

impl<M: Memory, const ALIKE: bool> Reap<M> for Interpreted<M, ALIKE> {
    fn reap(&self, m: &mut M, dead: Pid) -> Result<(), M::Halt> {
        self.whole(m, dead, self.program.reap.as_deref().unwrap_or_default(), Env::default()).map(|_| ())
    }
}

impl<M: Memory, const ALIKE: bool> Part<M> for Interpreted<M, ALIKE> {
    type Outcome = i64;
    const AGAIN: bool = ALIKE;

    fn call(&self, m: &mut M, p: Pid) -> Result<i64, M::Halt> {
        Ok(self.whole(m, p, &self.program.wait, Env::default())?.nums[0])
    }

    fn rule(&self, latest: &[Option<i64>]) -> Result<(), String> {
        let (rule, _) = self.program.part.expect("it is a part");
        if rule.holds(latest) { Ok(()) } else { Err(format!("{latest:?}")) }
    }
}
