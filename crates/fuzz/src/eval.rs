//! The explorer's evaluation of expressions.
use crate::{
    lang::{Cond, Index, Num, Ref, Rhs, Tick, Ty},
    machine::Machine,
    state::{Env, It},
};

impl Machine<'_> {
    pub(crate) fn at(&self, Ref { decl, index }: Ref, env: &Env, p: usize) -> usize {
        let len = self.program.decls[decl].len;
        let index = match index {
            Index::At(index) => index,
            Index::Own => p,
            Index::Other => (p + 1) % self.setup.n,
            Index::Loop(variable) => env.loops[variable] as usize,
            Index::Local(local) => env.nums[local].rem_euclid(len as i64) as usize,
        };
        self.program.offset(decl) + index % len
    }

    pub(crate) fn num(&self, num: &Num, env: &Env, p: usize, it: It) -> i64 {
        match num {
            Num::Const(number) => *number,
            Num::Own => p as i64,
            Num::Other => ((p + 1) % self.setup.n) as i64,
            Num::Local(local) => env.nums[*local],
            Num::Loop(variable) => env.loops[*variable].into(),
            Num::Val => match it {
                It(Some(Ty::Num), value) => value,
                It(Some(Ty::Linked), value) => value & 255,
                _ => 0,
            },
            Num::Add(a, b) => self.num(a, env, p, it).wrapping_add(self.num(b, env, p, it)),
            Num::Mod(a, modulus) => self.num(a, env, p, it).rem_euclid(*modulus),
        }
    }

    pub(crate) fn ticket(&self, ticket: &Tick, env: &Env, it: It) -> i64 {
        match ticket {
            Tick::Zero => 0,
            Tick::Local(local) => env.tickets[*local],
            Tick::Val => match it {
                It(Some(Ty::Ticket | Ty::MaybeTicket), value) => value.max(0),
                _ => 0,
            },
            Tick::Next(ticket) => self.ticket(ticket, env, it) + 1,
            Tick::Max(a, b) => self.ticket(a, env, it).max(self.ticket(b, env, it)),
        }
    }

    pub(crate) fn cond(&self, cond: &Cond, env: &Env, p: usize, it: It) -> bool {
        match cond {
            Cond::Const(value) => *value,
            Cond::Local(local) => env.bools[*local],
            Cond::Val => matches!(it, It(Some(Ty::Bool), 1)),
            Cond::ValIsNone => matches!(it, It(Some(Ty::MaybeTicket), -1)),
            Cond::Not(cond) => !self.cond(cond, env, p, it),
            Cond::And(a, b) => self.cond(a, env, p, it) && self.cond(b, env, p, it),
            Cond::Or(a, b) => self.cond(a, env, p, it) || self.cond(b, env, p, it),
            Cond::Nums(cmp, a, b) => cmp.holds(self.num(a, env, p, it), self.num(b, env, p, it)),
            Cond::Tickets(cmp, a, b) => cmp.holds(self.ticket(a, env, it), self.ticket(b, env, it)),
        }
    }

    pub(crate) fn rhs(&self, rhs: &Rhs, ty: Ty, env: &Env, p: usize, it: It) -> i64 {
        match (ty, rhs) {
            (Ty::Bool, Rhs::Bool(cond)) => self.cond(cond, env, p, it).into(),
            (Ty::Num, Rhs::Num(num)) => self.num(num, env, p, it),
            (Ty::Linked, Rhs::Num(num)) => self.num(num, env, p, it) & 255,
            (Ty::Ticket | Ty::MaybeTicket, Rhs::Ticket(ticket)) => self.ticket(ticket, env, it),
            (Ty::MaybeTicket, _) => -1,
            _ => 0,
        }
    }
}
