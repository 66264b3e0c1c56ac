//! The sections of a program as flat code with jumps, which the explorer executes.
use crate::lang::{Cond, Ref, Stmt};

/// An instruction.
#[derive(Clone, Debug)]
pub enum Instr {
    /// A statement that makes one access.
    Access(Stmt),
    /// Tests a register, and jumps to the first target if the test holds, else to the second.
    Branch(Ref, Cond, usize, usize),
    /// Sets a local.
    Set(Stmt),
    /// Jumps to the first target if the condition holds, else to the second.
    Jump(Cond, usize, usize),
    /// Sets a loop variable to 0.
    Rewind(usize),
    /// The head of a loop over processes: jumps to the first target if the loop variable is a process to skip, and to
    /// the second after the last process.
    Head(usize, bool, usize, usize),
    /// Increments a loop variable, and jumps to the head of the loop.
    Advance(usize, usize),
}

impl Instr {
    /// Whether it makes an access that changes nothing.
    pub fn reads(&self) -> bool {
        matches!(
            self,
            Instr::Branch(..)
                | Instr::Access(Stmt::Read(..) | Stmt::Test(..) | Stmt::LoadLinked(..) | Stmt::ReadLinked(..))
        )
    }
}

/// Compiles a section.
pub fn compile(stmts: &[Stmt], fence_after_writes: bool) -> Vec<Instr> {
    let mut code = Vec::new();
    let mut breaks = Vec::new();
    block(stmts, fence_after_writes, &mut code, &mut breaks);
    patch(&mut code, &breaks);
    code
}

/// The target of a jump that is not known yet.
const LATER: usize = usize::MAX;

fn goto(to: usize) -> Instr {
    Instr::Jump(Cond::Const(true), to, to)
}

/// Sets the targets of these jumps to the end of the code.
fn patch(code: &mut [Instr], jumps: &[usize]) {
    let end = code.len();
    for &at in jumps {
        match &mut code[at] {
            Instr::Jump(_, yes, no) | Instr::Branch(_, _, yes, no) => {
                for to in [yes, no] {
                    if *to == LATER {
                        *to = end;
                    }
                }
            }
            other => unreachable!("{other:?} is no jump"),
        }
    }
}

fn block(stmts: &[Stmt], fenced: bool, code: &mut Vec<Instr>, breaks: &mut Vec<usize>) {
    for stmt in stmts {
        match stmt {
            Stmt::SetNum(..) | Stmt::SetBool(..) | Stmt::SetTicket(..) => code.push(Instr::Set(stmt.clone())),
            Stmt::Break => {
                breaks.push(code.len());
                code.push(goto(LATER));
            }
            Stmt::If(cond, yes, no) => {
                let test = code.len();
                code.push(Instr::Jump(cond.clone(), test + 1, LATER));
                block(yes, fenced, code, breaks);
                let skip = code.len();
                code.push(goto(LATER));
                patch(code, &[test]);
                block(no, fenced, code, breaks);
                // The jump over the other branch leads here; breaks in it are patched by the loop.
                patch(code, &[skip]);
            }
            Stmt::Loop(body) => {
                let (start, mut inner) = (code.len(), Vec::new());
                block(body, fenced, code, &mut inner);
                code.push(goto(start));
                patch(code, &inner);
            }
            Stmt::Call(body) => {
                let mut inner = Vec::new();
                block(body, fenced, code, &mut inner);
                patch(code, &inner);
            }
            Stmt::Until(reg, holds) => {
                let at = code.len();
                code.push(Instr::Branch(*reg, holds.clone(), at + 1, at));
            }
            Stmt::Spin(tests) => {
                let start = code.len();
                let end = start + tests.len();
                for (i, (reg, holds)) in tests.iter().enumerate() {
                    let next = if i + 1 == tests.len() { start } else { start + i + 1 };
                    code.push(Instr::Branch(*reg, holds.clone(), end, next));
                }
            }
            Stmt::For(variable, but_own, body) => {
                code.push(Instr::Rewind(*variable));
                let (head, mut inner) = (code.len(), Vec::new());
                code.push(Instr::Head(*variable, *but_own, LATER, LATER));
                block(body, fenced, code, &mut inner);
                let next = code.len();
                code.push(Instr::Advance(*variable, head));
                patch(code, &inner);
                code[head] = Instr::Head(*variable, *but_own, next, code.len());
                code.push(Instr::Rewind(*variable));
            }
            access => {
                code.push(Instr::Access(access.clone()));
                if fenced && matches!(access, Stmt::Write(..)) {
                    code.push(Instr::Access(Stmt::Fence));
                }
            }
        }
    }
}
