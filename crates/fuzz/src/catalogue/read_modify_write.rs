//! Locks of read-modify-writes.
use crate::{
    lang::{
        Cmp, Cond, Index, Num, Program, Rhs, Stmt,
        Stmt::{Break, Call, Cas, If, Loop, Read, SetNum, Spin, Until, Write},
        Tick, Ty,
    },
    make::*,
};

pub(super) fn test_and_set() -> Program {
    let leave = vec![Write(one(0), flag(false))];
    Program {
        decls: vec![shared("lock", Ty::Bool, 0)],
        wait: vec![Loop(vec![Stmt::Swap(0, one(0), flag(true)), If(not(Cond::Local(0)), vec![Break], vec![])])],
        exit: leave.clone(),
        reap: Some(leave),
        abort: Some(vec![]),
        ..Program::default()
    }
}

pub(super) fn compare_and_swap() -> Program {
    Program {
        decls: vec![shared("owner", Ty::Num, -1)],
        wait: vec![Loop(vec![
            Cas(0, one(0), num(-1), Rhs::Num(Num::Own)),
            If(Cond::Local(0), vec![Break], vec![Until(one(0), is(Num::Val, Num::Const(-1)))]),
        ])],
        exit: vec![Write(one(0), num(-1))],
        reap: Some(vec![Cas(0, one(0), Rhs::Num(Num::Own), num(-1))]),
        abort: Some(vec![Read(0, one(0))]),
        ..Program::default()
    }
}

pub(super) fn ticket() -> Program {
    Program {
        decls: vec![shared("Entry", Ty::Ticket, 0), shared("Exit", Ty::Ticket, 0)],
        doorway: vec![Stmt::Update(0, one(0), Rhs::Ticket(next(Tick::Val)))],
        wait: vec![Until(one(1), tick(Cmp::Eq, Tick::Val, Tick::Local(0)))],
        exit: vec![Write(one(1), Rhs::Ticket(next(Tick::Local(0))))],
        ..Program::default()
    }
}

pub(super) fn ticket_cyclic(modulus: usize) -> Program {
    Program {
        decls: vec![shared("Entry", Ty::Num, 0), shared("Exit", Ty::Num, 0)],
        doorway: vec![Stmt::Update(0, one(0), Rhs::Num(modulo(add(Num::Val, 1), modulus)))],
        wait: vec![Until(one(1), is(Num::Val, Num::Local(0)))],
        exit: vec![Write(one(1), Rhs::Num(modulo(add(Num::Local(0), 1), modulus)))],
        ..Program::default()
    }
}

pub(super) fn array_queue(n: usize) -> Program {
    Program {
        decls: vec![array("go", Ty::Bool, n, 0), shared("next", Ty::Num, 0), shared("begun", Ty::Bool, 0)],
        doorway: vec![Stmt::Update(0, one(1), Rhs::Num(modulo(add(Num::Val, 1), n)))],
        wait: vec![
            Spin(vec![(at(0, Index::Local(0)), Cond::Val), (one(2), not(Cond::Val))]),
            Write(one(2), flag(true)),
        ],
        exit: vec![
            Write(at(0, Index::Local(0)), flag(false)),
            SetNum(0, modulo(add(Num::Local(0), 1), n)),
            Write(at(0, Index::Local(0)), flag(true)),
        ],
        ..Program::default()
    }
}

pub(super) fn mcs(n: usize) -> Program {
    let none = || Num::Const(-1);
    Program {
        decls: vec![shared("tail", Ty::Num, -1), own("next", Ty::Num, n, -1), own("locked", Ty::Bool, n, 0)],
        doorway: vec![Write(mine(1), num(-1)), Stmt::Swap(0, one(0), Rhs::Num(Num::Own))],
        wait: vec![If(
            isnt(Num::Local(0), none()),
            vec![
                Write(mine(2), flag(true)),
                Write(at(1, Index::Local(0)), Rhs::Num(Num::Own)),
                Until(mine(2), not(Cond::Val)),
            ],
            vec![],
        )],
        exit: vec![
            Call(vec![
                Read(1, mine(1)),
                If(
                    is(Num::Local(1), none()),
                    vec![
                        Cas(0, one(0), Rhs::Num(Num::Own), num(-1)),
                        If(
                            not(Cond::Local(0)),
                            vec![Loop(vec![Read(1, mine(1)), If(isnt(Num::Local(1), none()), vec![Break], vec![])])],
                            vec![],
                        ),
                    ],
                    vec![],
                ),
            ]),
            If(isnt(Num::Local(1), none()), vec![Write(at(2, Index::Local(1)), flag(false))], vec![]),
        ],
        ..Program::default()
    }
}

pub(super) fn linked() -> Program {
    Program {
        decls: vec![shared("x", Ty::Linked, 0)],
        wait: vec![Loop(vec![
            Stmt::LoadLinked(0, one(0)),
            If(
                is(Num::Local(0), Num::Const(0)),
                vec![Stmt::StoreConditional(0, one(0), Num::Const(1)), If(Cond::Local(0), vec![Break], vec![])],
                vec![],
            ),
        ])],
        exit: vec![Stmt::WriteLinked(one(0), Num::Const(0))],
        reap: Some(vec![Stmt::WriteLinked(one(0), Num::Const(0))]),
        abort: Some(vec![Stmt::ReadLinked(0, one(0))]),
        ..Program::default()
    }
}

/// A queue by swap, each waiting on its predecessor's flag.
pub(super) fn queue(n: usize) -> Program {
    Program {
        decls: vec![array("go", Ty::Bool, n + 1, 1), shared("tail", Ty::Num, n as i64), own("node", Ty::Num, n, 0)],
        doorway: vec![Write(mine(0), flag(false)), Stmt::Swap(0, one(1), Rhs::Num(Num::Own))],
        wait: vec![Until(at(0, Index::Local(0)), Cond::Val)],
        exit: vec![Write(mine(0), flag(true))],
        ..Program::default()
    }
}
