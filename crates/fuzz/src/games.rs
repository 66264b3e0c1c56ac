//! Programs that are no locks: tickets that grow and are compared in ways locks seldom do, and large bounds.
use crate::catalogue::Named;
use crate::{
    lang::{
        Cmp, Cond, Num, Program, Rhs,
        Stmt::{Barrier, Break, Call, Cas, For, If, Loop, Read, SetNum, SetTicket, Test, Until, Write},
        Tick, Ty,
    },
    make::*,
};

/// Two flags, where process 0 has a barrier so that process 1 needs no fence.
pub fn heavy_and_light() -> Program {
    Program {
        decls: vec![own("flag", Ty::Bool, 2, 0)],
        doorway: vec![Write(mine(0), flag(true)), If(is(Num::Own, Num::Const(0)), vec![Barrier], vec![])],
        wait: vec![Until(others(0), not(Cond::Val))],
        exit: vec![Write(mine(0), flag(false))],
        ..Program::default()
    }
}

/// One register too few: each process takes it if it is free, and tests whether it still has it.
pub fn one_register() -> Program {
    let free = Num::Const(-1);
    Program {
        decls: vec![shared("owner", Ty::Num, -1)],
        wait: vec![Loop(vec![
            Until(one(0), is(Num::Val, free)),
            Write(one(0), Rhs::Num(Num::Own)),
            Test(0, one(0), is(Num::Val, Num::Own)),
            If(Cond::Local(0), vec![Break], vec![]),
        ])],
        exit: vec![Write(one(0), num(-1))],
        ..Program::default()
    }
}

/// Tickets that grow and are compared in ways locks seldom do.
pub fn ticket_games(nexts: usize) -> Vec<Named> {
    let far = (0..nexts).fold(Tick::Local(0), |ticket, _| next(ticket));
    let grow = vec![Read(0, one(0)), Write(one(0), Rhs::Ticket(next(Tick::Local(0))))];
    let is_zero = is(Num::Own, Num::Const(0));
    let decls = vec![shared("c", Ty::Ticket, 0), shared("d", Ty::Ticket, 0), shared("lock", Ty::Bool, 0)];
    let take = |rush: Cond| {
        vec![If(
            not(rush),
            vec![Loop(vec![Cas(1, one(2), flag(false), flag(true)), If(Cond::Local(1), vec![Break], vec![])])],
            vec![],
        )]
    };
    let leave = vec![If(not(Cond::Local(0)), vec![Write(one(2), flag(false))], vec![])];
    let further = |cmp: Cmp| Program {
        decls: decls.clone(),
        doorway: vec![If(
            is_zero.clone(),
            vec![Read(0, one(0)), Test(0, one(0), tick(cmp, far.clone(), Tick::Val))],
            grow.clone(),
        )],
        wait: take(Cond::Local(0)),
        exit: leave.clone(),
        ..Program::default()
    };
    let copies = Program {
        decls: decls.clone(),
        doorway: vec![If(
            is_zero.clone(),
            vec![
                Call(vec![Read(0, one(1)), SetTicket(0, next(Tick::Local(0)))]),
                Test(0, one(0), tick(Cmp::Lt, far.clone(), Tick::Val)),
            ],
            vec![
                Read(0, one(0)),
                Test(1, one(2), Cond::Val),
                If(Cond::Local(1), vec![Write(one(1), Rhs::Ticket(Tick::Local(0)))], vec![]),
                Write(one(0), Rhs::Ticket(next(Tick::Local(0)))),
            ],
        )],
        wait: take(Cond::Local(0)),
        exit: leave.clone(),
        ..Program::default()
    };
    let race = Program {
        decls: decls.clone(),
        doorway: vec![If(
            is_zero.clone(),
            vec![Read(0, one(0)), Write(one(0), Rhs::Ticket(far.clone()))],
            vec![Read(0, one(1)), Write(one(1), Rhs::Ticket(next(Tick::Local(0))))],
        )],
        wait: vec![
            Read(1, one(0)),
            Test(0, one(1), tick(Cmp::Eq, Tick::Local(1), Tick::Val)),
            If(Cond::Local(0), vec![], take(Cond::Const(false))),
        ],
        exit: leave.clone(),
        ..Program::default()
    };
    let mut all = vec![("further", further(Cmp::Eq)), ("beyond", further(Cmp::Lt)), ("copies", copies), ("race", race)];
    all.extend([
        ("split", split()),
        ("frozen", frozen()),
        ("walk-in", walk_in()),
        ("chase", chase(nexts)),
        ("gap", gap(nexts as i64 + 2)),
    ]);
    all
}

/// A first step whose cost depends on numbers that the checker's states do not have: p1 makes y grow, and p0 pays more
/// if y is well above the x that it has read.
fn split() -> Program {
    let seen = || Tick::Local(0);
    let far = and(tick(Cmp::Lt, seen(), Tick::Val), tick(Cmp::Ne, Tick::Val, next(seen())));
    let pay = vec![Write(one(2), flag(true)), Write(one(2), flag(true)), Write(one(2), flag(true))];
    Program {
        decls: vec![shared("x", Ty::Ticket, 0), shared("y", Ty::Ticket, 0), shared("z", Ty::Bool, 0)],
        doorway: vec![If(
            is(Num::Own, Num::Const(0)),
            vec![
                Call(vec![Read(0, one(0)), SetTicket(0, next(seen()))]),
                Test(0, one(1), far),
                If(Cond::Local(0), pay, vec![]),
            ],
            vec![Read(0, one(1)), Write(one(1), Rhs::Ticket(next(seen())))],
        )],
        wait: vec![If(is(Num::Own, Num::Const(0)), vec![Read(1, one(2))], vec![])],
        exit: vec![If(is(Num::Own, Num::Const(0)), vec![Read(1, one(2))], vec![])],
        ..Program::default()
    }
}

/// The same, except that y has stopped growing by then.
fn frozen() -> Program {
    let seen = || Tick::Local(0);
    let far = and(tick(Cmp::Lt, seen(), Tick::Val), tick(Cmp::Ne, Tick::Val, next(seen())));
    let pay = vec![Write(one(2), flag(true)), Write(one(2), flag(true)), Write(one(2), flag(true))];
    let is_zero = || tick(Cmp::Eq, seen(), Tick::Zero);
    Program {
        decls: vec![
            shared("x", Ty::Ticket, 0),
            shared("y", Ty::Ticket, 0),
            shared("z", Ty::Bool, 0),
            shared("go", Ty::Bool, 0),
        ],
        doorway: vec![If(
            is(Num::Own, Num::Const(0)),
            vec![
                Call(vec![Read(0, one(0)), If(is_zero(), vec![], vec![SetTicket(0, next(seen()))])]),
                If(
                    is_zero(),
                    vec![Write(one(3), flag(true))],
                    vec![Test(0, one(1), far), If(Cond::Local(0), pay, vec![])],
                ),
            ],
            vec![
                Read(0, one(3)),
                If(
                    Cond::Local(0),
                    vec![Write(one(0), Rhs::Ticket(next(Tick::Zero)))],
                    vec![Read(0, one(1)), Write(one(1), Rhs::Ticket(next(seen())))],
                ),
            ],
        )],
        ..Program::default()
    }
}

/// Every process enters after a few accesses, with tickets that no other process reads.
fn walk_in() -> Program {
    Program {
        decls: vec![own("a", Ty::Bool, 2, 0)],
        doorway: vec![
            For(0, false, vec![Read(0, ith(0)), SetTicket(0, next(Tick::Local(0)))]),
            Write(mine(0), flag(false)),
            SetTicket(0, next(Tick::Local(0))),
        ],
        ..Program::default()
    }
}

/// p0 waits until d is a fixed distance above c; p1 makes d grow, and c only now and then.
fn chase(nexts: usize) -> Program {
    let far = (0..nexts).fold(Tick::Local(0), |ticket, _| next(ticket));
    Program {
        decls: vec![shared("c", Ty::Ticket, 0), shared("d", Ty::Ticket, 0), shared("z", Ty::Bool, 0)],
        doorway: vec![If(is(Num::Own, Num::Const(0)), vec![Read(0, one(0))], vec![Read(0, one(1))])],
        wait: vec![If(
            is(Num::Own, Num::Const(0)),
            vec![Until(one(1), tick(Cmp::Le, far, Tick::Val))],
            vec![
                Test(0, one(0), tick(Cmp::Lt, Tick::Val, Tick::Local(0))),
                If(Cond::Local(0), vec![Until(one(2), Cond::Val)], vec![]),
                Write(one(1), Rhs::Ticket(next(Tick::Local(0)))),
            ],
        )],
        exit: vec![If(
            is(Num::Own, Num::Const(0)),
            vec![Read(0, one(1)), Write(one(0), Rhs::Ticket(Tick::Local(0))), Write(one(2), flag(true))],
            vec![Write(one(2), flag(false))],
        )],
        ..Program::default()
    }
}

/// A waiter is overtaken a fixed number of times, and then no process enters before it.
pub fn overtaken(times: i64) -> Program {
    Program {
        decls: vec![shared("count", Ty::Num, 0)],
        doorway: vec![If(is(Num::Own, Num::Const(0)), vec![Write(one(0), num(0))], vec![])],
        wait: vec![If(
            is(Num::Own, Num::Const(0)),
            vec![Until(one(0), is(Num::Val, Num::Const(times)))],
            vec![
                Loop(vec![
                    Read(0, one(0)),
                    If(Cond::Nums(Cmp::Lt, Num::Local(0), Num::Const(times)), vec![Break], vec![]),
                ]),
                Write(one(0), Rhs::Num(add(Num::Local(0), 1))),
            ],
        )],
        exit: vec![If(is(Num::Own, Num::Const(0)), vec![Write(one(0), num(0))], vec![])],
        ..Program::default()
    }
}

/// p1 makes y grow a fixed number of times, and then x until it reaches y: a cycle that looks endless uses up the gap.
fn gap(times: i64) -> Program {
    let seen = || Tick::Local(0);
    Program {
        decls: vec![shared("x", Ty::Ticket, 0), shared("y", Ty::Ticket, 0)],
        wait: vec![If(
            is(Num::Own, Num::Const(0)),
            vec![],
            vec![
                Loop(vec![
                    Read(0, one(1)),
                    Write(one(1), Rhs::Ticket(next(seen()))),
                    SetNum(0, add(Num::Local(0), 1)),
                    If(is(Num::Local(0), Num::Const(times)), vec![Break], vec![]),
                ]),
                Loop(vec![
                    Read(0, one(0)),
                    Test(0, one(1), tick(Cmp::Le, Tick::Val, seen())),
                    If(Cond::Local(0), vec![Break], vec![]),
                    Write(one(0), Rhs::Ticket(next(seen()))),
                ]),
            ],
        )],
        ..Program::default()
    }
}
