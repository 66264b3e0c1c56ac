//! A small language of locks.
//!
//! A program is data: it can be generated, mutated, shrunk and printed. [`lock`](crate::lock) executes it on any
//! memory, [`machine`](crate::machine) directly.
use std::fmt;

/// How many number locals a process has.
pub const NUMS: usize = 3;
/// How many truth-value locals a process has.
pub const BOOLS: usize = 3;
/// How many ticket locals a process has.
pub const TICKETS: usize = 3;
/// How many loop variables a process has.
pub const LOOPS: usize = 2;
/// The most registers a program may declare, arrays counted by length.
pub const MAX_REGISTERS: usize = 16;

/// The names, and so the resources, of a lock with tokens.
pub const RESOURCES: usize = 2;

/// What a register holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ty {
    /// A truth value.
    Bool,
    /// A small number.
    Num,
    /// A ticket.
    Ticket,
    /// A ticket or ∞.
    MaybeTicket,
    /// A small number for load-linked and store-conditional.
    Linked,
}

/// A register or an array of registers.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Decl {
    /// Its name.
    pub name: &'static str,
    /// What each register holds.
    pub ty: Ty,
    /// How many registers; 1 is printed without an index unless there is one for each process.
    pub len: usize,
    /// Whether register i is at home with process i.
    pub per_process: bool,
    /// The initial value; for a ticket only 0, and -1 is ∞.
    pub init: i64,
}

/// Which register of an array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Index {
    /// This one.
    At(usize),
    /// The process's own number.
    Own,
    /// The next process's number, cyclically: with two processes the other's.
    Other,
    /// A loop variable.
    Loop(usize),
    /// A number local, modulo the length.
    Local(usize),
}

/// A register of a declared array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ref {
    /// Which declaration.
    pub decl: usize,
    /// Which of its registers.
    pub index: Index,
}

/// A comparison.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Cmp {
    /// Equal.
    Eq,
    /// Different.
    Ne,
    /// Less.
    Lt,
    /// Less or equal.
    Le,
}

impl Cmp {
    /// Every comparison.
    pub const ALL: [Cmp; 4] = [Cmp::Eq, Cmp::Ne, Cmp::Lt, Cmp::Le];

    /// Whether it holds.
    pub fn holds<T: Ord>(self, a: T, b: T) -> bool {
        match self {
            Cmp::Eq => a == b,
            Cmp::Ne => a != b,
            Cmp::Lt => a < b,
            Cmp::Le => a <= b,
        }
    }
}

/// A number.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Num {
    /// A constant.
    Const(i64),
    /// The process's own number.
    Own,
    /// The next process's number, cyclically.
    Other,
    /// A local.
    Local(usize),
    /// A loop variable.
    Loop(usize),
    /// What the register holds, in a predicate or an update.
    Val,
    /// A sum.
    Add(Box<Num>, Box<Num>),
    /// A remainder, never negative; the modulus is at least 1.
    Mod(Box<Num>, i64),
}

/// A truth value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Cond {
    /// A constant.
    Const(bool),
    /// A local.
    Local(usize),
    /// What the register holds, in a predicate or an update.
    Val,
    /// Whether the register holds ∞, in a predicate.
    ValIsNone,
    /// Not.
    Not(Box<Cond>),
    /// And.
    And(Box<Cond>, Box<Cond>),
    /// Or.
    Or(Box<Cond>, Box<Cond>),
    /// Compares numbers.
    Nums(Cmp, Num, Num),
    /// Compares tickets.
    Tickets(Cmp, Tick, Tick),
}

/// A ticket.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Tick {
    /// Zero.
    Zero,
    /// A local.
    Local(usize),
    /// What the register holds, in a predicate or an update; zero for ∞.
    Val,
    /// The next of one.
    Next(Box<Tick>),
    /// The larger of two.
    Max(Box<Tick>, Box<Tick>),
}

/// What is written to a register.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Rhs {
    /// To a truth value.
    Bool(Cond),
    /// To a number, or a linked one (modulo 256).
    Num(Num),
    /// To a ticket, or a ticket that may be ∞.
    Ticket(Tick),
    /// ∞.
    None,
}

/// A statement. `into` is the number of a local of the register's type; a ticket that is ∞ is read as zero.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Stmt {
    /// `read`
    Read(usize, Ref),
    /// `test` with a predicate, into a truth-value local.
    Test(usize, Ref, Cond),
    /// `write`
    Write(Ref, Rhs),
    /// `swap`
    Swap(usize, Ref, Rhs),
    /// `compare_swap`, into a truth-value local.
    Cas(usize, Ref, Rhs, Rhs),
    /// `fetch_add`, of a number.
    FetchAdd(usize, Ref, i64),
    /// `update`; the new value is made of `Val`.
    Update(usize, Ref, Rhs),
    /// `load_linked`, into a number local.
    LoadLinked(usize, Ref),
    /// `store_conditional`, into a truth-value local.
    StoreConditional(usize, Ref, Num),
    /// `write_linked`
    WriteLinked(Ref, Num),
    /// `read_linked`, into a number local.
    ReadLinked(usize, Ref),
    /// `fence`
    Fence,
    /// `barrier`
    Barrier,
    /// Sets a number local.
    SetNum(usize, Num),
    /// Sets a truth-value local.
    SetBool(usize, Cond),
    /// Sets a ticket local.
    SetTicket(usize, Tick),
    /// `if`
    If(Cond, Vec<Stmt>, Vec<Stmt>),
    /// `turns`, until a `Break`.
    Loop(Vec<Stmt>),
    /// Ends the innermost `Loop` or `For`.
    Break,
    /// `until`
    Until(Ref, Cond),
    /// `spin` until one of the tests holds; they are made in order.
    Spin(Vec<(Ref, Cond)>),
    /// `fold` over `0..n` with this loop variable, perhaps without the process's own number.
    For(usize, bool, Vec<Stmt>),
    /// `call`
    Call(Vec<Stmt>),
}

/// The rule that a part's outcomes must obey; an outcome is number local 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rule {
    /// All are different.
    Distinct,
    /// At most one is 1.
    AtMostOne,
    /// All are less than this.
    Below(i64),
}

impl Rule {
    /// Whether these outcomes obey it.
    pub fn holds(self, latest: &[Option<i64>]) -> bool {
        let mut made: Vec<i64> = latest.iter().flatten().copied().collect();
        match self {
            Rule::AtMostOne => made.iter().filter(|&&outcome| outcome == 1).count() <= 1,
            Rule::Below(limit) => made.iter().all(|&outcome| outcome < limit),
            Rule::Distinct => {
                let all = made.len();
                made.sort_unstable();
                made.dedup();
                made.len() == all
            }
        }
    }
}

/// A lock, or a part. A part's `wait` is its call, and it has no other section.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Program {
    /// The registers.
    pub decls: Vec<Decl>,
    /// The doorway.
    pub doorway: Vec<Stmt>,
    /// The waiting section; a part's call.
    pub wait: Vec<Stmt>,
    /// The exit section.
    pub exit: Vec<Stmt>,
    /// The reap, which completes the passage of a dead process.
    pub reap: Option<Vec<Stmt>>,
    /// The abort.
    pub abort: Option<Vec<Stmt>>,
    /// Whether number local 0 is the holder's name.
    pub assigns: bool,
    /// Whether holders with names have tokens too: ticket local 0 is the token.
    pub fenced: bool,
    /// If it is a part: its rule, and whether processes call again and again.
    pub part: Option<(Rule, bool)>,
}

impl Program {
    /// The name of a holder whose number local 0 is `number`.
    pub fn name(&self, number: i64) -> usize {
        number.rem_euclid(if self.fenced { RESOURCES as i64 } else { 256 }) as usize
    }

    /// The sections of the program.
    pub fn sections(&self) -> impl Iterator<Item = &Vec<Stmt>> {
        [Some(&self.doorway), Some(&self.wait), Some(&self.exit), self.reap.as_ref(), self.abort.as_ref()]
            .into_iter()
            .flatten()
    }

    /// The sections of the program, to change them.
    pub fn sections_mut(&mut self) -> impl Iterator<Item = &mut Vec<Stmt>> {
        [Some(&mut self.doorway), Some(&mut self.wait), Some(&mut self.exit), self.reap.as_mut(), self.abort.as_mut()]
            .into_iter()
            .flatten()
    }

    /// How many registers there are before those of a declaration.
    pub fn offset(&self, decl: usize) -> usize {
        self.decls[..decl].iter().map(|decl| decl.len).sum()
    }

    /// How many statements there are.
    pub fn size(&self) -> usize {
        fn count(stmts: &[Stmt]) -> usize {
            let inner = |stmt: &Stmt| match stmt {
                Stmt::If(_, yes, no) => count(yes) + count(no),
                Stmt::Loop(body) | Stmt::For(_, _, body) | Stmt::Call(body) => count(body),
                _ => 0,
            };
            stmts.iter().map(|stmt| 1 + inner(stmt)).sum()
        }
        self.sections().map(|section| count(section)).sum()
    }
}

impl fmt::Display for Cmp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cmp::Eq => "=",
            Cmp::Ne => "≠",
            Cmp::Lt => "<",
            Cmp::Le => "≤",
        })
    }
}

impl fmt::Display for Num {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Num::Const(number) => write!(f, "{number}"),
            Num::Own => f.write_str("p"),
            Num::Other => f.write_str("other"),
            Num::Local(local) => write!(f, "n{local}"),
            Num::Loop(depth) => f.write_str(["i", "j"][*depth]),
            Num::Val => f.write_str("it"),
            Num::Add(a, b) => write!(f, "({a} + {b})"),
            Num::Mod(a, modulus) => write!(f, "({a} mod {modulus})"),
        }
    }
}

impl fmt::Display for Cond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cond::Const(value) => write!(f, "{value}"),
            Cond::Local(local) => write!(f, "b{local}"),
            Cond::Val => f.write_str("it"),
            Cond::ValIsNone => f.write_str("it = ∞"),
            Cond::Not(cond) => write!(f, "not {cond}"),
            Cond::And(a, b) => write!(f, "({a} and {b})"),
            Cond::Or(a, b) => write!(f, "({a} or {b})"),
            Cond::Nums(cmp, a, b) => write!(f, "{a} {cmp} {b}"),
            Cond::Tickets(cmp, a, b) => write!(f, "{a} {cmp} {b}"),
        }
    }
}

impl fmt::Display for Tick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tick::Zero => f.write_str("0"),
            Tick::Local(local) => write!(f, "t{local}"),
            Tick::Val => f.write_str("it"),
            Tick::Next(ticket) => write!(f, "next({ticket})"),
            Tick::Max(a, b) => write!(f, "max({a}, {b})"),
        }
    }
}

impl fmt::Display for Rhs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rhs::Bool(cond) => cond.fmt(f),
            Rhs::Num(num) => num.fmt(f),
            Rhs::Ticket(ticket) => ticket.fmt(f),
            Rhs::None => f.write_str("∞"),
        }
    }
}

/// Prints statements of a program, indented.
struct Printer<'a, 'f> {
    program: &'a Program,
    to: &'a mut fmt::Formatter<'f>,
}

impl Printer<'_, '_> {
    fn reg(&self, reg: Ref) -> String {
        let Decl { name, len, per_process, .. } = self.program.decls[reg.decl];
        match reg.index {
            Index::At(_) if len == 1 && !per_process => name.to_string(),
            Index::At(at) => format!("{name}[{at}]"),
            Index::Own => format!("{name}[p]"),
            Index::Other => format!("{name}[other]"),
            Index::Loop(depth) => format!("{name}[{}]", ["i", "j"][depth]),
            Index::Local(local) => format!("{name}[n{local}]"),
        }
    }

    fn local(&self, reg: Ref, local: usize) -> String {
        let letter = match self.program.decls[reg.decl].ty {
            Ty::Bool => 'b',
            Ty::Num | Ty::Linked => 'n',
            Ty::Ticket | Ty::MaybeTicket => 't',
        };
        format!("{letter}{local}")
    }

    fn block(&mut self, stmts: &[Stmt], depth: usize) -> fmt::Result {
        if stmts.is_empty() {
            writeln!(self.to, "{:width$}skip", "", width = 4 * depth)?;
        }
        stmts.iter().try_for_each(|stmt| self.stmt(stmt, depth))
    }

    fn stmt(&mut self, stmt: &Stmt, depth: usize) -> fmt::Result {
        write!(self.to, "{:width$}", "", width = 4 * depth)?;
        let text = match stmt {
            Stmt::Read(into, reg) => format!("{} := {}", self.local(*reg, *into), self.reg(*reg)),
            Stmt::Test(into, reg, holds) => format!("b{into} := test {} is such that {holds}", self.reg(*reg)),
            Stmt::Write(reg, value) => format!("{} := {value}", self.reg(*reg)),
            Stmt::Swap(into, reg, value) => {
                format!("{} := swap({}, {value})", self.local(*reg, *into), self.reg(*reg))
            }
            Stmt::Cas(into, reg, old, new) => format!("b{into} := compare-and-swap({}, {old}, {new})", self.reg(*reg)),
            Stmt::FetchAdd(into, reg, by) => format!("n{into} := fetch-and-add({}, {by})", self.reg(*reg)),
            Stmt::Update(into, reg, new) => {
                format!("{} := update({}, it -> {new})", self.local(*reg, *into), self.reg(*reg))
            }
            Stmt::LoadLinked(into, reg) => format!("n{into} := LL({})", self.reg(*reg)),
            Stmt::StoreConditional(into, reg, value) => format!("b{into} := SC({}, {value})", self.reg(*reg)),
            Stmt::WriteLinked(reg, value) => format!("{} := {value} (linked)", self.reg(*reg)),
            Stmt::ReadLinked(into, reg) => format!("n{into} := {} (linked)", self.reg(*reg)),
            Stmt::Fence => "fence".to_string(),
            Stmt::Barrier => "barrier".to_string(),
            Stmt::SetNum(local, value) => format!("n{local} := {value}"),
            Stmt::SetBool(local, value) => format!("b{local} := {value}"),
            Stmt::SetTicket(local, value) => format!("t{local} := {value}"),
            Stmt::Break => "break".to_string(),
            Stmt::Until(reg, holds) => format!("await {} is such that {holds}", self.reg(*reg)),
            Stmt::Spin(tests) => {
                let test = |(reg, holds): &(Ref, Cond)| format!("{} is such that {holds}", self.reg(*reg));
                format!("await {}", tests.iter().map(test).collect::<Vec<_>>().join(", or "))
            }
            Stmt::If(cond, yes, no) => {
                writeln!(self.to, "if {cond}:")?;
                self.block(yes, depth + 1)?;
                if !no.is_empty() {
                    writeln!(self.to, "{:width$}else:", "", width = 4 * depth)?;
                    self.block(no, depth + 1)?;
                }
                return Ok(());
            }
            Stmt::Loop(body) => {
                writeln!(self.to, "loop:")?;
                return self.block(body, depth + 1);
            }
            Stmt::For(variable, but_own, body) => {
                let but = if *but_own { " but p" } else { "" };
                writeln!(self.to, "for {} in 0..n{but}:", ["i", "j"][*variable])?;
                return self.block(body, depth + 1);
            }
            Stmt::Call(body) => {
                writeln!(self.to, "call:")?;
                return self.block(body, depth + 1);
            }
        };
        writeln!(self.to, "{text}")
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Decl { name, ty, len, per_process, init } in &self.decls {
            let home = if *per_process { " per process" } else { "" };
            let init = match ty {
                Ty::Bool => (*init != 0).to_string(),
                Ty::MaybeTicket if *init < 0 => "∞".to_string(),
                _ => init.to_string(),
            };
            writeln!(f, "{ty:?} {name}[{len}]{home} = {init}")?;
        }
        let mut printer = Printer { program: self, to: f };
        let sections = [
            ("doorway", Some(&self.doorway).filter(|_| self.part.is_none())),
            (if self.part.is_some() { "call" } else { "wait" }, Some(&self.wait)),
            ("exit", Some(&self.exit).filter(|_| self.part.is_none())),
            ("abort", self.abort.as_ref()),
            ("reap", self.reap.as_ref()),
        ];
        for (name, section) in sections {
            if let Some(section) = section {
                writeln!(printer.to, "{name}:")?;
                printer.block(section, 1)?;
            }
        }
        if self.fenced {
            writeln!(f, "the name is n0 modulo {RESOURCES}, the token is t0")?;
        } else if self.assigns {
            writeln!(f, "the name is n0")?;
        }
        if let Some((rule, again)) = self.part {
            writeln!(f, "the outcome is n0; {rule:?}; {}", if again { "again and again" } else { "once" })?;
        }
        Ok(())
    }
}
