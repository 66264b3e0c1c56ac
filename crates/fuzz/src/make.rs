//! Shorthands for the parts of programs.
#![allow(missing_docs)]
use crate::lang::{Cmp, Cond, Decl, Index, Num, Ref, Rhs, Tick, Ty};

pub fn shared(name: &'static str, ty: Ty, init: i64) -> Decl {
    Decl { name, ty, len: 1, per_process: false, init }
}
pub fn array(name: &'static str, ty: Ty, len: usize, init: i64) -> Decl {
    Decl { name, ty, len, per_process: false, init }
}
pub fn own(name: &'static str, ty: Ty, n: usize, init: i64) -> Decl {
    Decl { name, ty, len: n, per_process: true, init }
}
pub fn at(decl: usize, index: Index) -> Ref {
    Ref { decl, index }
}
pub fn one(decl: usize) -> Ref {
    at(decl, Index::At(0))
}
pub fn mine(decl: usize) -> Ref {
    at(decl, Index::Own)
}
pub fn others(decl: usize) -> Ref {
    at(decl, Index::Other)
}
pub fn ith(decl: usize) -> Ref {
    at(decl, Index::Loop(0))
}
pub fn flag(value: bool) -> Rhs {
    Rhs::Bool(Cond::Const(value))
}
pub fn num(value: i64) -> Rhs {
    Rhs::Num(Num::Const(value))
}
pub fn not(cond: Cond) -> Cond {
    Cond::Not(Box::new(cond))
}
pub fn or(a: Cond, b: Cond) -> Cond {
    Cond::Or(Box::new(a), Box::new(b))
}
pub fn and(a: Cond, b: Cond) -> Cond {
    Cond::And(Box::new(a), Box::new(b))
}
pub fn add(a: Num, b: i64) -> Num {
    Num::Add(Box::new(a), Box::new(Num::Const(b)))
}
pub fn modulo(a: Num, modulus: usize) -> Num {
    Num::Mod(Box::new(a), modulus as i64)
}
pub fn next(ticket: Tick) -> Tick {
    Tick::Next(Box::new(ticket))
}
pub fn max(a: Tick, b: Tick) -> Tick {
    Tick::Max(Box::new(a), Box::new(b))
}
pub fn is(a: Num, b: Num) -> Cond {
    Cond::Nums(Cmp::Eq, a, b)
}
pub fn isnt(a: Num, b: Num) -> Cond {
    Cond::Nums(Cmp::Ne, a, b)
}
pub fn tick(cmp: Cmp, a: Tick, b: Tick) -> Cond {
    Cond::Tickets(cmp, a, b)
}
/// `(it, i) ≥ (mine, p)`, or zero.
pub fn later(mine: Tick) -> Cond {
    let behind = tick(Cmp::Lt, mine.clone(), Tick::Val);
    let tie = and(tick(Cmp::Eq, mine, Tick::Val), Cond::Nums(Cmp::Le, Num::Own, Num::Loop(0)));
    or(tick(Cmp::Eq, Tick::Val, Tick::Zero), or(behind, tie))
}
