//! Locks for k holders.
use super::registers::labels;
use crate::{
    lang::{
        Cmp, Cond, Index, Num, Program, Rhs, Stmt,
        Stmt::{Break, Cas, FetchAdd, For, If, Loop, Read, SetBool, SetNum, Test, Until, Write},
        Tick, Ty,
    },
    make::*,
};

pub(super) fn gottlieb(k: usize) -> Program {
    let positive = |num: Num| Cond::Nums(Cmp::Le, Num::Const(1), num);
    Program {
        decls: vec![shared("S", Ty::Num, k as i64)],
        wait: vec![Loop(vec![
            Until(one(0), positive(Num::Val)),
            FetchAdd(0, one(0), -1),
            If(positive(Num::Local(0)), vec![Break], vec![FetchAdd(0, one(0), 1)]),
        ])],
        exit: vec![FetchAdd(0, one(0), 1)],
        ..Program::default()
    }
}

pub(super) fn ticket_k(n: usize, k: usize) -> Program {
    let modulus = 2 * n + 1;
    let open = |by: i64| is(Num::Val, modulo(add(Num::Local(0), by), modulus));
    Program {
        decls: vec![shared("Entry", Ty::Num, 0), shared("Exit", Ty::Num, 0)],
        doorway: vec![Stmt::Update(0, one(0), Rhs::Num(modulo(add(Num::Val, 1), modulus)))],
        wait: vec![Until(one(1), if k == 1 { open(0) } else { or(open(0), or(open(-1), open(1))) })],
        exit: vec![Stmt::Update(1, one(1), Rhs::Num(modulo(add(Num::Val, 1), modulus)))],
        ..Program::default()
    }
}

pub(super) fn k_bakery(n: usize, k: usize) -> Program {
    let leave = vec![Write(mine(1), Rhs::None)];
    let mut program = labels(n);
    let Stmt::For(_, _, body) = &program.wait[0] else { unreachable!("it is a loop") };
    let Stmt::Until(reg, turn) = body[0].clone() else { unreachable!("it waits") };
    program.wait = vec![Loop(vec![
        SetNum(0, Num::Const(0)),
        For(0, true, vec![Test(0, reg, turn), If(not(Cond::Local(0)), vec![SetNum(0, add(Num::Local(0), 1))], vec![])]),
        SetBool(0, Cond::Const(false)),
        If(Cond::Nums(Cmp::Lt, Num::Local(0), Num::Const(k as i64)), vec![Break], vec![]),
    ])];
    Program { exit: leave.clone(), reap: Some(leave.clone()), abort: Some(leave), ..program }
}

/// Takes a free slot of k, whose number is its name.
pub(super) fn slots(k: usize) -> Program {
    Program {
        decls: vec![array("slot", Ty::Bool, k, 0)],
        wait: vec![Loop(vec![
            Stmt::Swap(0, at(0, Index::Local(0)), flag(true)),
            If(not(Cond::Local(0)), vec![Break], vec![]),
            SetNum(0, modulo(add(Num::Local(0), 1), k)),
        ])],
        exit: vec![Write(at(0, Index::Local(0)), flag(false))],
        abort: Some(vec![]),
        assigns: true,
        ..Program::default()
    }
}

/// A counter of holders, changed by compare-and-swap.
pub(super) fn counter(k: usize) -> Program {
    Program {
        decls: vec![shared("holders", Ty::Num, 0)],
        wait: vec![Loop(vec![
            Read(0, one(0)),
            If(
                Cond::Nums(Cmp::Lt, Num::Local(0), Num::Const(k as i64)),
                vec![
                    Cas(0, one(0), Rhs::Num(Num::Local(0)), Rhs::Num(add(Num::Local(0), 1))),
                    If(Cond::Local(0), vec![Break], vec![]),
                ],
                vec![],
            ),
        ])],
        exit: vec![FetchAdd(1, one(0), -1)],
        abort: Some(vec![]),
        assigns: true,
        ..Program::default()
    }
}

/// A lock that knows its owner, who then draws a token; or one of two such locks, whose number is the name.
pub(super) fn owned(two: bool) -> Program {
    let owner = Rhs::Num(add(Num::Own, 1));
    let lock = |index| at(0, index);
    let next_name = if two { vec![SetNum(0, modulo(add(Num::Local(0), 1), 2))] } else { vec![] };
    let mut wait = vec![
        Cas(0, lock(Index::Local(0)), num(0), owner.clone()),
        If(Cond::Local(0), vec![SetBool(0, Cond::Const(false)), Break], vec![]),
    ];
    wait.extend(next_name);
    let leave = |index| Cas(0, lock(index), owner.clone(), num(0));
    let reap = if two { vec![leave(Index::At(0)), leave(Index::At(1))] } else { vec![leave(Index::At(0))] };
    Program {
        decls: vec![array("owner", Ty::Num, if two { 2 } else { 1 }, 0), shared("latest", Ty::Ticket, 0)],
        wait: vec![
            Loop(wait),
            Stmt::Update(0, one(1), Rhs::Ticket(next(Tick::Val))),
            Stmt::SetTicket(0, next(Tick::Local(0))),
        ],
        exit: vec![leave(Index::Local(0))],
        abort: Some(reap.clone()),
        reap: Some(reap),
        assigns: true,
        fenced: true,
        ..Program::default()
    }
}

/// The token is the order of arrival. The process whose number is in the lock enters; leaving frees it.
pub(super) fn handed_on() -> Program {
    let owner = Rhs::Num(add(Num::Own, 1));
    let leave = vec![Cas(0, one(0), owner.clone(), num(0))];
    Program {
        decls: vec![shared("owner", Ty::Num, 0), shared("latest", Ty::Ticket, 0)],
        doorway: vec![Stmt::Update(0, one(1), Rhs::Ticket(next(Tick::Val))), Stmt::SetTicket(0, next(Tick::Local(0)))],
        wait: vec![Loop(vec![
            Cas(0, one(0), num(0), owner),
            If(Cond::Local(0), vec![SetBool(0, Cond::Const(false)), Break], vec![]),
        ])],
        exit: leave.clone(),
        abort: Some(vec![]),
        reap: Some(leave),
        assigns: true,
        fenced: true,
        ..Program::default()
    }
}
