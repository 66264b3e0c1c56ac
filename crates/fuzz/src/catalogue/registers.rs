//! Locks of reads and writes.
use crate::{
    lang::{
        Cmp, Cond, Index, Num, Program, Rhs,
        Stmt::{Break, Fence, For, If, Loop, Read, SetBool, SetTicket, Spin, Test, Until, Write},
        Tick, Ty,
    },
    make::*,
};

pub(super) fn peterson() -> Program {
    Program {
        decls: vec![own("flag", Ty::Bool, 2, 0), shared("victim", Ty::Num, 0)],
        doorway: vec![Write(mine(0), flag(true)), Write(one(1), Rhs::Num(Num::Own)), Fence],
        wait: vec![Spin(vec![(others(0), not(Cond::Val)), (one(1), isnt(Num::Val, Num::Own))])],
        exit: vec![Write(mine(0), flag(false))],
        reap: Some(vec![Write(mine(0), flag(false))]),
        abort: Some(vec![Write(mine(0), flag(false))]),
        ..Program::default()
    }
}

pub(super) fn lock_one() -> Program {
    Program {
        wait: vec![Until(others(0), not(Cond::Val))],
        doorway: vec![Write(mine(0), flag(true)), Fence],
        ..peterson()
    }
}

pub(super) fn late_flag() -> Program {
    Program { doorway: vec![Write(one(1), Rhs::Num(Num::Own)), Write(mine(0), flag(true)), Fence], ..peterson() }
}

pub(super) fn bakery(n: usize) -> Program {
    let leave = vec![Write(mine(1), Rhs::Ticket(Tick::Zero))];
    let gone = vec![Write(mine(1), Rhs::Ticket(Tick::Zero)), Write(mine(0), flag(false))];
    Program {
        decls: vec![own("choosing", Ty::Bool, n, 0), own("number", Ty::Ticket, n, 0)],
        doorway: vec![
            Write(mine(0), flag(true)),
            Fence,
            SetTicket(0, Tick::Zero),
            For(0, false, vec![Read(1, ith(1)), SetTicket(0, max(Tick::Local(0), Tick::Local(1)))]),
            SetTicket(1, Tick::Zero),
            SetTicket(0, next(Tick::Local(0))),
            Write(mine(1), Rhs::Ticket(Tick::Local(0))),
            Write(mine(0), flag(false)),
            Fence,
        ],
        wait: vec![For(0, true, vec![Until(ith(0), not(Cond::Val)), Until(ith(1), later(Tick::Local(0)))])],
        exit: leave.clone(),
        abort: Some(leave),
        reap: Some(gone),
        ..Program::default()
    }
}

pub(super) fn bakery_labels(n: usize) -> Program {
    let leave = vec![Write(mine(0), flag(false))];
    let later = or(
        tick(Cmp::Lt, Tick::Local(0), Tick::Val),
        and(tick(Cmp::Eq, Tick::Local(0), Tick::Val), Cond::Nums(Cmp::Lt, Num::Own, Num::Loop(0))),
    );
    Program {
        decls: vec![own("flag", Ty::Bool, n, 0), own("label", Ty::Ticket, n, 0)],
        doorway: vec![
            Write(mine(0), flag(true)),
            Fence,
            For(0, false, vec![Read(1, ith(1)), SetTicket(0, max(Tick::Local(0), Tick::Local(1)))]),
            SetTicket(1, Tick::Zero),
            SetTicket(0, next(Tick::Local(0))),
            Write(mine(1), Rhs::Ticket(Tick::Local(0))),
            Fence,
        ],
        wait: vec![Loop(vec![
            SetBool(0, Cond::Const(true)),
            For(
                0,
                true,
                vec![
                    Test(1, ith(0), Cond::Val),
                    If(
                        Cond::Local(1),
                        vec![
                            Test(1, ith(1), later),
                            If(not(Cond::Local(1)), vec![SetBool(0, Cond::Const(false)), Break], vec![]),
                        ],
                        vec![],
                    ),
                ],
            ),
            SetBool(1, Cond::Const(false)),
            If(Cond::Local(0), vec![Break], vec![]),
        ])],
        exit: leave.clone(),
        abort: Some(leave.clone()),
        reap: Some(leave),
        ..Program::default()
    }
}

/// The bakery without `choosing`, with a ticket that may be ∞ announced first.
pub(super) fn labels(n: usize) -> Program {
    let leave = vec![Write(mine(1), Rhs::None)];
    let turn = or(
        Cond::ValIsNone,
        or(
            tick(Cmp::Lt, Tick::Local(0), Tick::Val),
            and(tick(Cmp::Eq, Tick::Local(0), Tick::Val), Cond::Nums(Cmp::Le, Num::Own, Num::Loop(0))),
        ),
    );
    Program {
        decls: vec![own("label", Ty::Ticket, n, 0), own("want", Ty::MaybeTicket, n, -1)],
        doorway: vec![
            Read(0, mine(0)),
            Write(mine(1), Rhs::Ticket(Tick::Local(0))),
            Fence,
            For(0, false, vec![Read(1, ith(0)), SetTicket(0, max(Tick::Local(0), Tick::Local(1)))]),
            SetTicket(1, Tick::Zero),
            SetTicket(0, next(Tick::Local(0))),
            Write(mine(0), Rhs::Ticket(Tick::Local(0))),
            Write(mine(1), Rhs::Ticket(Tick::Local(0))),
            Fence,
        ],
        wait: vec![For(0, true, vec![Until(ith(1), turn)])],
        exit: leave.clone(),
        abort: Some(leave.clone()),
        reap: Some(leave),
        ..Program::default()
    }
}

pub(super) fn one_bit(n: usize) -> Program {
    let below = |than: Num| Cond::Nums(Cmp::Lt, Num::Loop(0), than);
    Program {
        decls: vec![own("flag", Ty::Bool, n, 0)],
        doorway: vec![Write(mine(0), flag(true)), Fence],
        wait: vec![
            Loop(vec![
                SetBool(0, Cond::Const(true)),
                For(
                    0,
                    true,
                    vec![If(
                        below(Num::Own),
                        vec![
                            Test(1, ith(0), Cond::Val),
                            If(
                                Cond::Local(1),
                                vec![
                                    Write(mine(0), flag(false)),
                                    Until(ith(0), not(Cond::Val)),
                                    SetBool(0, Cond::Const(false)),
                                    Break,
                                ],
                                vec![],
                            ),
                        ],
                        vec![],
                    )],
                ),
                SetBool(1, Cond::Const(false)),
                If(Cond::Local(0), vec![Break], vec![]),
                Write(mine(0), flag(true)),
                Fence,
            ]),
            For(0, true, vec![If(not(below(Num::Own)), vec![Until(ith(0), not(Cond::Val))], vec![])]),
        ],
        exit: vec![Write(mine(0), flag(false))],
        reap: Some(vec![Write(mine(0), flag(false))]),
        abort: Some(vec![Write(mine(0), flag(false))]),
        ..Program::default()
    }
}

pub(super) fn dijkstra(n: usize) -> Program {
    let leave = vec![Write(mine(0), num(0))];
    Program {
        decls: vec![own("flag", Ty::Num, n, 0), shared("turn", Ty::Num, 0)],
        doorway: vec![Write(mine(0), num(1)), Fence],
        wait: vec![Loop(vec![
            Read(0, one(1)),
            SetBool(0, Cond::Const(true)),
            If(
                isnt(Num::Local(0), Num::Own),
                vec![
                    Test(0, at(0, Index::Local(0)), is(Num::Val, Num::Const(0))),
                    If(Cond::Local(0), vec![Write(one(1), Rhs::Num(Num::Own))], vec![]),
                ],
                vec![],
            ),
            If(
                Cond::Local(0),
                vec![
                    Write(mine(0), num(2)),
                    Fence,
                    SetBool(1, Cond::Const(true)),
                    For(
                        0,
                        true,
                        vec![
                            Test(2, ith(0), is(Num::Val, Num::Const(2))),
                            If(Cond::Local(2), vec![SetBool(1, Cond::Const(false)), Break], vec![]),
                        ],
                    ),
                    SetBool(2, Cond::Const(false)),
                    If(Cond::Local(1), vec![Break], vec![Write(mine(0), num(1)), Fence]),
                ],
                vec![],
            ),
            SetBool(0, Cond::Const(false)),
        ])],
        exit: leave.clone(),
        reap: Some(leave.clone()),
        abort: Some(leave),
        ..Program::default()
    }
}

pub(super) fn lamport_fast(n: usize) -> Program {
    let free = is(Num::Val, Num::Const(-1));
    let start = vec![Write(mine(0), flag(true)), Write(one(1), Rhs::Num(Num::Own)), Fence];
    let mut again = start.clone();
    let slow = vec![
        Write(mine(0), flag(false)),
        For(0, true, vec![Until(ith(0), not(Cond::Val))]),
        Test(0, one(2), is(Num::Val, Num::Own)),
        If(Cond::Local(0), vec![Break], vec![Until(one(2), free.clone())]),
    ];
    let mut turn = vec![
        Test(0, one(2), not(free.clone())),
        If(
            Cond::Local(0),
            vec![Write(mine(0), flag(false)), Until(one(2), free)],
            vec![
                Write(one(2), Rhs::Num(Num::Own)),
                Fence,
                Test(0, one(1), is(Num::Val, Num::Own)),
                If(Cond::Local(0), vec![Break], slow),
            ],
        ),
    ];
    turn.append(&mut again);
    Program {
        decls: vec![own("b", Ty::Bool, n, 0), shared("x", Ty::Num, 0), shared("y", Ty::Num, -1)],
        doorway: start,
        wait: vec![Loop(turn)],
        exit: vec![Write(one(2), num(-1)), Write(mine(0), flag(false))],
        ..Program::default()
    }
}

pub(super) fn filter(n: usize) -> Program {
    Program {
        decls: vec![own("level", Ty::Num, n, 0), array("victim", Ty::Num, n, 0)],
        doorway: vec![Write(mine(0), num(1)), Write(at(1, Index::At(0)), Rhs::Num(Num::Own)), Fence],
        wait: vec![Loop(vec![
            Test(0, at(1, Index::At(0)), isnt(Num::Val, Num::Own)),
            If(Cond::Local(0), vec![Break], vec![]),
            SetBool(1, Cond::Const(true)),
            For(
                0,
                true,
                vec![
                    Test(2, ith(0), Cond::Nums(Cmp::Le, Num::Const(1), Num::Val)),
                    If(Cond::Local(2), vec![SetBool(1, Cond::Const(false)), Break], vec![]),
                ],
            ),
            If(Cond::Local(1), vec![Break], vec![]),
        ])],
        exit: vec![Write(mine(0), num(0))],
        reap: Some(vec![Write(mine(0), num(0))]),
        abort: Some(vec![Write(mine(0), num(0))]),
        ..Program::default()
    }
}
