//! Small changes of programs, and what makes a program valid.
use crate::{
    lang::{BOOLS, Cmp, Cond, Decl, Index, NUMS, Num, Program, Ref, Rhs, Stmt, TICKETS, Tick, Ty},
    random::Random,
};

/// What a mutation may use.
#[derive(Clone, Copy, Debug)]
pub struct Palette {
    /// Whether processes may use their numbers.
    pub names: bool,
    /// Whether there may be accesses that are neither reads nor writes.
    pub atomic: bool,
    /// Whether there may be fences.
    pub fences: bool,
    /// Whether there may be barriers.
    pub barriers: bool,
    /// The most `next`s in a row.
    pub nexts: usize,
    /// Whether only the owner of a register writes it.
    pub single_writer: bool,
}

/// Makes a small change to a program.
pub fn mutate(program: &Program, palette: &Palette, random: &mut Random) -> Program {
    let mut mutant = program.clone();
    let mut mutator = Mutator { program, palette, random };
    let mut sections: Vec<&mut Vec<Stmt>> = mutant.sections_mut().collect();
    let total: usize = sections.iter().map(|section| section.len() + 1).sum();
    let mut at = mutator.random.below(total);
    for section in &mut sections {
        if at <= section.len() {
            mutator.block(section);
            break;
        }
        at -= section.len() + 1;
    }
    if mutator.random.chance(6) && mutant.part.is_none() {
        // The last statement of the doorway becomes the first of the waiting section, or the other way round.
        if mutator.random.chance(50) && !mutant.doorway.is_empty() {
            let last = mutant.doorway.pop().expect("it is not empty");
            mutant.wait.insert(0, last);
        } else if !mutant.wait.is_empty() {
            mutant.doorway.push(mutant.wait.remove(0));
        }
    }
    mutant
}

struct Mutator<'a> {
    program: &'a Program,
    palette: &'a Palette,
    random: &'a mut Random,
}

impl Mutator<'_> {
    fn block(&mut self, stmts: &mut Vec<Stmt>) {
        let inner: Vec<usize> = (0..stmts.len())
            .filter(|&i| matches!(stmts[i], Stmt::If(..) | Stmt::Loop(_) | Stmt::For(..) | Stmt::Call(_)))
            .collect();
        if !inner.is_empty() && self.random.chance(60) {
            let at = *self.random.pick(&inner);
            match &mut stmts[at] {
                Stmt::If(cond, yes, no) => match self.random.below(5) {
                    0 => *cond = self.changed(cond, None),
                    1 => std::mem::swap(yes, no),
                    2 => self.block(no),
                    _ => self.block(yes),
                },
                Stmt::Loop(body) | Stmt::Call(body) => self.block(body),
                Stmt::For(_, but_own, body) => {
                    if self.palette.names && self.random.chance(15) {
                        *but_own = !*but_own;
                    } else {
                        self.block(body);
                    }
                }
                _ => {}
            }
            return;
        }
        let at = self.random.below(stmts.len() + 1);
        if at == stmts.len() {
            let new = self.fresh();
            stmts.push(new);
            return;
        }
        match self.random.below(12) {
            0 | 1 => _ = stmts.remove(at),
            2 if at + 1 < stmts.len() => stmts.swap(at, at + 1),
            3 => stmts.insert(at, stmts[at].clone()),
            4 | 5 => {
                let new = self.fresh();
                stmts.insert(at, new);
            }
            6 => {
                let taken = stmts.remove(at);
                let wrapped = if self.random.chance(50) {
                    Stmt::Call(vec![taken])
                } else {
                    Stmt::If(self.cond(None, 1), vec![taken], vec![])
                };
                stmts.insert(at, wrapped);
            }
            _ => {
                let stmt = stmts[at].clone();
                stmts[at] = self.altered(stmt);
            }
        }
    }

    fn ty(&self, reg: Ref) -> Ty {
        self.program.decls[reg.decl].ty
    }

    /// The same statement with another register, value or condition.
    fn altered(&mut self, stmt: Stmt) -> Stmt {
        let other = |this: &mut Self, reg: Ref, writes: bool| {
            if this.random.chance(50) { this.reg(|ty, this| ty == this.ty(reg), writes).unwrap_or(reg) } else { reg }
        };
        match stmt {
            Stmt::Read(into, reg) => Stmt::Read(into, other(self, reg, false)),
            Stmt::Test(into, reg, holds) => {
                let reg = other(self, reg, false);
                Stmt::Test(into, reg, self.changed(&holds, Some(self.ty(reg))))
            }
            Stmt::Write(reg, value) => {
                let reg = other(self, reg, true);
                let value = if self.random.chance(60) { self.rhs(self.ty(reg), false) } else { value };
                Stmt::Write(reg, value)
            }
            Stmt::Swap(into, reg, _) => Stmt::Swap(into, reg, self.rhs(self.ty(reg), false)),
            Stmt::Cas(into, reg, old, new) => {
                if self.random.chance(50) {
                    Stmt::Cas(into, reg, self.rhs(self.ty(reg), false), new)
                } else {
                    Stmt::Cas(into, reg, old, self.rhs(self.ty(reg), false))
                }
            }
            Stmt::FetchAdd(into, reg, by) => Stmt::FetchAdd(into, reg, -by),
            Stmt::Update(into, reg, _) => Stmt::Update(into, reg, self.rhs(self.ty(reg), true)),
            Stmt::Until(reg, holds) => {
                let reg = other(self, reg, false);
                Stmt::Until(reg, self.changed(&holds, Some(self.ty(reg))))
            }
            Stmt::Spin(mut tests) => {
                if self.random.chance(30) && tests.len() > 1 {
                    tests.swap(0, 1);
                } else if self.random.chance(30) && tests.len() > 1 {
                    tests.pop();
                } else if let Some((reg, holds)) = tests.first_mut() {
                    *reg = other(self, *reg, false);
                    *holds = self.changed(holds, Some(self.ty(*reg)));
                }
                Stmt::Spin(tests)
            }
            Stmt::StoreConditional(into, reg, _) => Stmt::StoreConditional(into, reg, self.num(None, 1)),
            Stmt::WriteLinked(reg, _) => Stmt::WriteLinked(reg, self.num(None, 1)),
            Stmt::SetNum(local, _) => Stmt::SetNum(local, self.num(None, 2)),
            Stmt::SetBool(local, value) => Stmt::SetBool(local, self.changed(&value, None)),
            Stmt::SetTicket(local, _) => Stmt::SetTicket(local, self.ticket(None, self.palette.nexts)),
            other => other,
        }
    }

    fn changed(&mut self, cond: &Cond, it: Option<Ty>) -> Cond {
        match (self.random.below(4), cond) {
            (0, Cond::Nums(_, a, b)) => Cond::Nums(*self.random.pick(&Cmp::ALL), a.clone(), b.clone()),
            (0, Cond::Tickets(_, a, b)) => Cond::Tickets(*self.random.pick(&Cmp::ALL), a.clone(), b.clone()),
            (1, Cond::Nums(cmp, a, _)) => Cond::Nums(*cmp, a.clone(), self.num(it, 1)),
            (1, Cond::Tickets(cmp, _, b)) => Cond::Tickets(*cmp, self.ticket(it, self.palette.nexts), b.clone()),
            (2, Cond::Or(a, b) | Cond::And(a, b)) => {
                if self.random.chance(50) {
                    (**a).clone()
                } else {
                    (**b).clone()
                }
            }
            (3, _) => self.cond(it, 2),
            (_, Cond::Not(cond)) => (**cond).clone(),
            _ => Cond::Not(Box::new(cond.clone())),
        }
    }

    fn index(&mut self, decl: usize, writes: bool) -> Index {
        let len = self.program.decls[decl].len;
        if writes && self.palette.single_writer {
            return Index::Own;
        }
        if len == 1 {
            return Index::At(0);
        }
        match self.random.below(6) {
            0 | 1 if self.palette.names => Index::Own,
            2 | 3 if self.palette.names => Index::Other,
            4 => Index::Local(self.random.below(NUMS)),
            5 => Index::Loop(0),
            _ => Index::At(self.random.below(len)),
        }
    }

    /// A register of a suitable type.
    fn reg(&mut self, will_do: impl Fn(Ty, &Self) -> bool, writes: bool) -> Option<Ref> {
        let fitting: Vec<usize> = (0..self.program.decls.len())
            .filter(|&decl| {
                let Decl { ty, per_process, .. } = &self.program.decls[decl];
                will_do(*ty, self) && (!writes || !self.palette.single_writer || *per_process)
            })
            .collect();
        if fitting.is_empty() {
            return None;
        }
        let decl = *self.random.pick(&fitting);
        Some(Ref { decl, index: self.index(decl, writes) })
    }

    /// A new statement that accesses a register, or computes.
    fn fresh(&mut self) -> Stmt {
        let into = self.random.below(3);
        let plain = |ty: Ty, _: &Self| ty != Ty::Linked;
        for _ in 0..20 {
            let kind = self.random.below(15);
            let atomic = self.palette.atomic;
            let made = match kind {
                0 | 1 => self.reg(plain, false).map(|reg| Stmt::Read(into, reg)),
                2 => self.reg(plain, false).map(|reg| Stmt::Test(into, reg, self.cond(Some(self.ty(reg)), 2))),
                3..=5 => self.reg(plain, true).map(|reg| Stmt::Write(reg, self.rhs(self.ty(reg), false))),
                6 if atomic => self.reg(plain, true).map(|reg| Stmt::Swap(into, reg, self.rhs(self.ty(reg), false))),
                7 if atomic => self.reg(plain, true).map(|reg| {
                    let [old, new] = [0; 2].map(|_| self.rhs(self.ty(reg), false));
                    Stmt::Cas(into, reg, old, new)
                }),
                8 if atomic => self.reg(plain, true).map(|reg| Stmt::Update(into, reg, self.rhs(self.ty(reg), true))),
                9 => self.reg(plain, false).map(|reg| Stmt::Until(reg, self.cond(Some(self.ty(reg)), 1))),
                10 if self.palette.fences => Some(Stmt::Fence),
                11 if self.palette.barriers => Some(Stmt::Barrier),
                12 if atomic => self.reg(|ty, _| ty == Ty::Linked, true).map(|reg| match self.random.below(4) {
                    0 => Stmt::LoadLinked(into, reg),
                    1 => Stmt::StoreConditional(into, reg, self.num(None, 1)),
                    2 => Stmt::WriteLinked(reg, self.num(None, 1)),
                    _ => Stmt::ReadLinked(into, reg),
                }),
                13 => Some(match self.random.below(3) {
                    0 => Stmt::SetNum(into, self.num(None, 2)),
                    1 => Stmt::SetBool(into, self.cond(None, 1)),
                    _ if self.palette.nexts > 0 => Stmt::SetTicket(into, self.ticket(None, self.palette.nexts)),
                    _ => Stmt::SetBool(into, self.cond(None, 2)),
                }),
                14 => Some(Stmt::Break),
                _ => None,
            };
            if let Some(made) = made {
                return made;
            }
        }
        Stmt::SetBool(into, Cond::Const(false))
    }

    fn num(&mut self, it: Option<Ty>, depth: usize) -> Num {
        let about_it = matches!(it, Some(Ty::Num | Ty::Linked));
        match self.random.below(7) {
            0 | 1 if about_it => Num::Val,
            2 if self.palette.names => Num::Own,
            3 if self.palette.names => Num::Other,
            4 => Num::Local(self.random.below(NUMS)),
            5 if depth > 0 => {
                let sum = Num::Add(Box::new(self.num(it, 0)), Box::new(Num::Const(1)));
                Num::Mod(Box::new(sum), 2 + self.random.below(2) as i64)
            }
            6 => Num::Loop(0),
            _ => Num::Const(self.random.below(3) as i64),
        }
    }

    fn ticket(&mut self, it: Option<Ty>, nexts: usize) -> Tick {
        let about_it = matches!(it, Some(Ty::Ticket | Ty::MaybeTicket));
        match self.random.below(6) {
            0 if about_it => Tick::Val,
            1 => Tick::Zero,
            2 | 3 if nexts > 0 => Tick::Next(Box::new(self.ticket(it, nexts - 1))),
            4 if nexts > 0 => Tick::Max(Box::new(self.ticket(it, nexts - 1)), Box::new(self.ticket(it, 0))),
            _ => Tick::Local(self.random.below(TICKETS)),
        }
    }

    fn cond(&mut self, it: Option<Ty>, depth: usize) -> Cond {
        let basic = match it {
            Some(Ty::Bool) => Cond::Val,
            Some(Ty::Num | Ty::Linked) => Cond::Nums(*self.random.pick(&Cmp::ALL), Num::Val, self.num(None, 1)),
            Some(Ty::MaybeTicket) if self.random.chance(40) => Cond::ValIsNone,
            Some(_) => Cond::Tickets(*self.random.pick(&Cmp::ALL), Tick::Val, self.ticket(None, self.palette.nexts)),
            None if self.random.chance(30) => {
                Cond::Nums(*self.random.pick(&Cmp::ALL), self.num(None, 0), self.num(None, 0))
            }
            None if self.palette.nexts > 0 && self.random.chance(30) => {
                let [a, b] = [0; 2].map(|_| self.ticket(None, self.palette.nexts));
                Cond::Tickets(*self.random.pick(&Cmp::ALL), a, b)
            }
            None => Cond::Local(self.random.below(BOOLS)),
        };
        match self.random.below(8) {
            0 | 1 => Cond::Not(Box::new(basic)),
            2 if depth > 0 => Cond::And(Box::new(basic), Box::new(self.cond(it, 0))),
            3 if depth > 0 => Cond::Or(Box::new(basic), Box::new(self.cond(it, 0))),
            _ => basic,
        }
    }

    fn rhs(&mut self, ty: Ty, updates: bool) -> Rhs {
        let it = updates.then_some(ty);
        match ty {
            Ty::Bool => Rhs::Bool(match self.random.below(4) {
                0 => self.cond(it, 0),
                one => Cond::Const(one == 1),
            }),
            Ty::Num | Ty::Linked => Rhs::Num(self.num(it, 1)),
            Ty::MaybeTicket if self.random.chance(40) => Rhs::None,
            _ => Rhs::Ticket(self.ticket(it, self.palette.nexts)),
        }
    }
}

/// Whether every loop makes an access in each turn, on any memory, and numbers cannot grow without end by local
/// computation.
pub fn is_valid(program: &Program) -> bool {
    let small = program.size() <= 40;
    let registers = program.decls.iter().map(|decl| decl.len).sum::<usize>() <= crate::lang::MAX_REGISTERS;
    small && registers && program.sections().all(|section| section_is_valid(program, section))
}

fn section_is_valid(program: &Program, stmts: &[Stmt]) -> bool {
    let ty = |reg: &Ref| program.decls[reg.decl].ty;
    stmts.iter().all(|stmt| match stmt {
        Stmt::Loop(body) => always_accesses(body) && section_is_valid(program, body),
        Stmt::For(_, _, body) | Stmt::Call(body) => section_is_valid(program, body),
        Stmt::If(_, yes, no) => section_is_valid(program, yes) && section_is_valid(program, no),
        Stmt::Spin(tests) => !tests.is_empty(),
        Stmt::Write(reg, _) | Stmt::Swap(_, reg, _) | Stmt::Cas(_, reg, ..) | Stmt::Update(_, reg, _) => {
            ty(reg) != Ty::Linked
        }
        Stmt::FetchAdd(_, reg, _) => ty(reg) == Ty::Num,
        Stmt::LoadLinked(_, reg)
        | Stmt::StoreConditional(_, reg, _)
        | Stmt::WriteLinked(reg, _)
        | Stmt::ReadLinked(_, reg) => ty(reg) == Ty::Linked,
        _ => true,
    })
}

/// Whether a block makes an access before it can come to its end.
fn always_accesses(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match stmt {
        Stmt::Fence | Stmt::Barrier | Stmt::SetNum(..) | Stmt::SetBool(..) | Stmt::SetTicket(..) => false,
        Stmt::If(_, yes, no) => always_accesses(yes) && always_accesses(no),
        // A break in these ends them, and not the loop around them: it must not come before an access.
        Stmt::For(_, _, body) | Stmt::Call(body) => {
            always_accesses(body) && (!has_break(body) || !matches!(body[0], Stmt::Break | Stmt::If(..)))
        }
        Stmt::Loop(body) => always_accesses(body) && !matches!(body[0], Stmt::Break | Stmt::If(..)),
        _ => true,
    })
}

fn has_break(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match stmt {
        Stmt::Break => true,
        Stmt::If(_, yes, no) => has_break(yes) || has_break(no),
        Stmt::Loop(body) | Stmt::For(_, _, body) | Stmt::Call(body) => has_break(body),
        _ => false,
    })
}
