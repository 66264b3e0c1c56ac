//! The parts that mutations start from.
use crate::catalogue::Named;
use crate::{
    lang::{
        Cond, Index, Num, Program, Rhs, Rule, Stmt,
        Stmt::{Break, Cas, If, Loop, Read, SetNum, Spin, Test, Write},
        Ty,
    },
    make::*,
};

/// The parts, with their names.
pub fn parts() -> Vec<Named> {
    let part = |decls, wait, rule, again| Program { decls, wait, part: Some((rule, again)), ..Program::default() };
    let is_first = If(not(Cond::Local(0)), vec![SetNum(0, Num::Const(1))], vec![]);
    vec![
        (
            "test-and-set",
            part(
                vec![shared("x", Ty::Bool, 0)],
                vec![Stmt::Swap(0, one(0), flag(true)), is_first.clone()],
                Rule::AtMostOne,
                false,
            ),
        ),
        (
            "counter",
            part(
                vec![shared("x", Ty::Num, 0)],
                vec![Read(0, one(0)), Write(one(0), Rhs::Num(modulo(add(Num::Local(0), 1), 4)))],
                Rule::Distinct,
                false,
            ),
        ),
        (
            "cyclic",
            part(
                vec![shared("x", Ty::Num, 0)],
                vec![Stmt::Update(0, one(0), Rhs::Num(modulo(add(Num::Val, 1), 4)))],
                Rule::Distinct,
                true,
            ),
        ),
        (
            "splitter",
            part(
                vec![shared("x", Ty::Num, 0), shared("y", Ty::Bool, 0)],
                vec![
                    Write(one(0), Rhs::Num(Num::Own)),
                    Read(0, one(1)),
                    If(
                        Cond::Local(0),
                        vec![SetNum(0, Num::Const(2))],
                        vec![
                            Write(one(1), flag(true)),
                            Test(1, one(0), is(Num::Val, Num::Own)),
                            If(Cond::Local(1), vec![SetNum(0, Num::Const(1))], vec![SetNum(0, Num::Const(3))]),
                        ],
                    ),
                ],
                Rule::AtMostOne,
                false,
            ),
        ),
        (
            "renaming",
            part(
                vec![array("x", Ty::Bool, 2, 0)],
                vec![
                    SetNum(0, Num::Const(0)),
                    Loop(vec![
                        Cas(0, at(0, Index::Local(0)), flag(false), flag(true)),
                        If(Cond::Local(0), vec![Break], vec![]),
                        SetNum(0, modulo(add(Num::Local(0), 1), 2)),
                    ]),
                ],
                Rule::Distinct,
                false,
            ),
        ),
        (
            "snapshot",
            part(
                vec![shared("x", Ty::Bool, 0), shared("y", Ty::Num, 0)],
                vec![
                    Write(one(1), Rhs::Num(Num::Own)),
                    Spin(vec![(one(0), not(Cond::Val)), (one(1), isnt(Num::Val, Num::Own))]),
                    Stmt::Swap(0, one(0), flag(true)),
                    is_first,
                    Write(one(0), flag(false)),
                ],
                Rule::AtMostOne,
                true,
            ),
        ),
    ]
}
