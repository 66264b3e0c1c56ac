//! Locks and parts to begin with: algorithms of the catalogue, transcribed, and patterns that locks are made of.
use crate::{
    lang::{
        Cmp, Cond, Index, Num, Program, Rhs, Stmt,
        Stmt::{
            Break, Call, Cas, Fence, FetchAdd, For, If, Loop, Read, SetBool, SetNum, SetTicket, Spin, Test, Until,
            Write,
        },
        Tick, Ty,
    },
    make::*,
};

/// A program by its name.
pub type Named = (&'static str, Program);

/// Programs of two processes; some look at `n` only.
pub fn locks(n: usize) -> Vec<Named> {
    let mut all = Vec::new();
    if n == 2 {
        all.extend([("peterson", peterson()), ("lock-one", lock_one()), ("late-flag", late_flag())]);
    }
    all.extend([
        ("bakery", bakery(n)),
        ("one-bit", one_bit(n)),
        ("dijkstra", dijkstra(n)),
        ("lamport-fast", lamport_fast(n)),
        ("test-and-set", test_and_set()),
        ("compare-and-swap", compare_and_swap()),
        ("ticket", ticket()),
        ("ticket-cyclic", ticket_cyclic(n + 1)),
        ("array", array_queue(n)),
        ("mcs", mcs(n)),
        ("bakery-labels", bakery_labels(n)),
        ("announced", labels(n)),
        ("linked", linked()),
        ("queue", queue(n)),
        ("filter", filter(n)),
    ]);
    all
}

/// Programs for `k` holders.
pub fn k_locks(n: usize, k: usize) -> Vec<Named> {
    vec![
        ("gottlieb", gottlieb(k)),
        ("ticket-k-cyclic", ticket_k(n, k)),
        ("announced-k", k_bakery(n, k)),
        ("slots", slots(k)),
        ("counter", counter(k)),
    ]
}

fn peterson() -> Program {
    Program {
        decls: vec![own("flag", Ty::Bool, 2, 0), shared("victim", Ty::Num, 0)],
        doorway: vec![Write(mine(0), flag(true)), Write(one(1), Rhs::Num(Num::Own)), Fence],
        wait: vec![Spin(vec![(others(0), not(Cond::Val)), (one(1), isnt(Num::Val, Num::Own))])],
        exit: vec![Write(mine(0), flag(false))],
        reap: Some(vec![Write(mine(0), flag(false))]),
        abandon: Some(vec![Write(mine(0), flag(false))]),
        ..Program::default()
    }
}

fn lock_one() -> Program {
    Program {
        wait: vec![Until(others(0), not(Cond::Val))],
        doorway: vec![Write(mine(0), flag(true)), Fence],
        ..peterson()
    }
}

fn late_flag() -> Program {
    Program { doorway: vec![Write(one(1), Rhs::Num(Num::Own)), Write(mine(0), flag(true)), Fence], ..peterson() }
}

fn bakery(n: usize) -> Program {
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
        abandon: Some(leave),
        reap: Some(gone),
        ..Program::default()
    }
}

fn bakery_labels(n: usize) -> Program {
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
        abandon: Some(leave.clone()),
        reap: Some(leave),
        ..Program::default()
    }
}

/// The bakery without `choosing`, with a ticket that may be ∞ announced first.
fn labels(n: usize) -> Program {
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
        abandon: Some(leave.clone()),
        reap: Some(leave),
        ..Program::default()
    }
}

fn one_bit(n: usize) -> Program {
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
        abandon: Some(vec![Write(mine(0), flag(false))]),
        ..Program::default()
    }
}

fn dijkstra(n: usize) -> Program {
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
        abandon: Some(leave),
        ..Program::default()
    }
}

fn lamport_fast(n: usize) -> Program {
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

fn test_and_set() -> Program {
    let leave = vec![Write(one(0), flag(false))];
    Program {
        decls: vec![shared("lock", Ty::Bool, 0)],
        wait: vec![Loop(vec![Stmt::Swap(0, one(0), flag(true)), If(not(Cond::Local(0)), vec![Break], vec![])])],
        exit: leave.clone(),
        reap: Some(leave),
        abandon: Some(vec![]),
        ..Program::default()
    }
}

fn compare_and_swap() -> Program {
    Program {
        decls: vec![shared("owner", Ty::Num, -1)],
        wait: vec![Loop(vec![
            Cas(0, one(0), num(-1), Rhs::Num(Num::Own)),
            If(Cond::Local(0), vec![Break], vec![Until(one(0), is(Num::Val, Num::Const(-1)))]),
        ])],
        exit: vec![Write(one(0), num(-1))],
        reap: Some(vec![Cas(0, one(0), Rhs::Num(Num::Own), num(-1))]),
        abandon: Some(vec![Read(0, one(0))]),
        ..Program::default()
    }
}

fn ticket() -> Program {
    Program {
        decls: vec![shared("Entry", Ty::Ticket, 0), shared("Exit", Ty::Ticket, 0)],
        doorway: vec![Stmt::Update(0, one(0), Rhs::Ticket(next(Tick::Val)))],
        wait: vec![Until(one(1), tick(Cmp::Eq, Tick::Val, Tick::Local(0)))],
        exit: vec![Write(one(1), Rhs::Ticket(next(Tick::Local(0))))],
        ..Program::default()
    }
}

fn ticket_cyclic(modulus: usize) -> Program {
    Program {
        decls: vec![shared("Entry", Ty::Num, 0), shared("Exit", Ty::Num, 0)],
        doorway: vec![Stmt::Update(0, one(0), Rhs::Num(modulo(add(Num::Val, 1), modulus)))],
        wait: vec![Until(one(1), is(Num::Val, Num::Local(0)))],
        exit: vec![Write(one(1), Rhs::Num(modulo(add(Num::Local(0), 1), modulus)))],
        ..Program::default()
    }
}

fn array_queue(n: usize) -> Program {
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

fn mcs(n: usize) -> Program {
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

fn linked() -> Program {
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
        abandon: Some(vec![Stmt::ReadLinked(0, one(0))]),
        ..Program::default()
    }
}

/// A queue by swap, each waiting on its predecessor's flag.
fn queue(n: usize) -> Program {
    Program {
        decls: vec![array("go", Ty::Bool, n + 1, 1), shared("tail", Ty::Num, n as i64), own("node", Ty::Num, n, 0)],
        doorway: vec![Write(mine(0), flag(false)), Stmt::Swap(0, one(1), Rhs::Num(Num::Own))],
        wait: vec![Until(at(0, Index::Local(0)), Cond::Val)],
        exit: vec![Write(mine(0), flag(true))],
        ..Program::default()
    }
}

fn filter(n: usize) -> Program {
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
        abandon: Some(vec![Write(mine(0), num(0))]),
        ..Program::default()
    }
}

fn gottlieb(k: usize) -> Program {
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

fn ticket_k(n: usize, k: usize) -> Program {
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

fn k_bakery(n: usize, k: usize) -> Program {
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
    Program { exit: leave.clone(), reap: Some(leave.clone()), abandon: Some(leave), ..program }
}

/// Takes a free slot of k, whose number is its name.
fn slots(k: usize) -> Program {
    Program {
        decls: vec![array("slot", Ty::Bool, k, 0)],
        wait: vec![Loop(vec![
            Stmt::Swap(0, at(0, Index::Local(0)), flag(true)),
            If(not(Cond::Local(0)), vec![Break], vec![]),
            SetNum(0, modulo(add(Num::Local(0), 1), k)),
        ])],
        exit: vec![Write(at(0, Index::Local(0)), flag(false))],
        abandon: Some(vec![]),
        assigns: true,
        ..Program::default()
    }
}

/// A counter of holders, changed by compare-and-swap.
fn counter(k: usize) -> Program {
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
        abandon: Some(vec![]),
        assigns: true,
        ..Program::default()
    }
}
