//! The local computation of a process between its accesses, and the change of sections.
use super::{Machine, UNLIMITED};
use crate::{
    code::Instr,
    lang::Stmt,
    setup::Mem,
    state::{Env, NOTHING, Proc, Sec},
};

impl Machine<'_> {
    /// The code that a process executes: that of its section or, if it was taken for dead, first that of its reap.
    fn section_code(&self, proc: &Proc) -> Option<&[Instr]> {
        Some(
            &self.code[match proc.sec {
                Sec::Doorway => 0,
                _ if proc.belief.is_some() => 4,
                Sec::Wait | Sec::ExpiredWait => 1,
                Sec::Exit => 2,
                Sec::Abort => 3,
                Sec::Reap => 4,
                Sec::Remainder | Sec::Critical | Sec::ExpiredCritical => return None,
            }],
        )
    }

    /// The instruction that a process is at.
    pub(super) fn instr(&self, proc: &Proc) -> Option<&Instr> {
        self.section_code(proc)?.get(proc.pc as usize)
    }

    /// Whether a process that leaves this section begins a passage or, in a part, a call.
    pub(super) fn begins(&self, sec: Sec) -> bool {
        match sec {
            Sec::Remainder => true,
            Sec::Critical => self.program.part.is_some(),
            _ => false,
        }
    }

    /// Leaves the section in which the process rests, if it may.
    pub(super) fn start(&self, proc: &mut Proc) -> Option<()> {
        let part = self.program.part;
        if self.begins(proc.sec) && proc.left != UNLIMITED {
            proc.left = proc.left.checked_sub(1)?;
        }
        match proc.sec {
            Sec::Remainder => {
                proc.sec = if part.is_some() { Sec::Wait } else { Sec::Doorway };
                (proc.pc, proc.env) = (0, Env::default());
            }
            Sec::Critical => {
                match part {
                    Some((_, false)) => return None,
                    Some((_, true)) => (proc.sec, proc.env) = (Sec::Wait, Env::default()),
                    None => (proc.sec, proc.served) = (Sec::Exit, None),
                }
                proc.pc = 0;
            }
            _ => {}
        }
        Some(())
    }

    /// Computes locally up to the next access, or until the process rests.
    pub(super) fn advance(&self, proc: &mut Proc, p: usize) {
        while let Some(code) = self.section_code(proc) {
            let Some(instr) = code.get(proc.pc as usize) else {
                self.leave(proc);
                continue;
            };
            let next = proc.pc + 1;
            let env = &mut proc.env;
            proc.pc = match instr {
                Instr::Access(Stmt::Fence | Stmt::Barrier) if !self.has_fences() => next,
                Instr::Access(_) | Instr::Branch(..) => return,
                Instr::Set(stmt) => {
                    match stmt {
                        Stmt::SetNum(local, value) => env.nums[*local] = self.num(value, env, p, NOTHING),
                        Stmt::SetBool(local, value) => env.bools[*local] = self.cond(value, env, p, NOTHING),
                        Stmt::SetTicket(local, value) => env.tickets[*local] = self.ticket(value, env, NOTHING),
                        other => unreachable!("{other:?} sets nothing"),
                    }
                    next
                }
                Instr::Jump(cond, yes, no) => (if self.cond(cond, env, p, NOTHING) { *yes } else { *no }) as u16,
                Instr::Rewind(variable) => {
                    env.loops[*variable] = 0;
                    next
                }
                Instr::Head(variable, but_own, skip, end) => match env.loops[*variable] as usize {
                    i if i >= self.setup.n => *end as u16,
                    i if *but_own && i == p => *skip as u16,
                    _ => next,
                },
                Instr::Advance(variable, head) => {
                    env.loops[*variable] += 1;
                    *head as u16
                }
            };
        }
    }

    /// Moves a process from the end of a section to the next section.
    fn leave(&self, proc: &mut Proc) {
        proc.pc = 0;
        proc.unnoticed = false;
        if let Some((pc, env)) = proc.belief.take() {
            (proc.pc, proc.env) = (pc, env);
            return;
        }
        match proc.sec {
            Sec::Doorway => {
                proc.sec = Sec::Wait;
                if self.setup.aborts {
                    proc.place = proc.env;
                }
            }
            Sec::ExpiredWait => proc.sec = Sec::ExpiredCritical,
            Sec::Wait => {
                proc.sec = Sec::Critical;
                proc.place = Env::default();
                if self.program.part.is_some() {
                    proc.latest = Some(proc.env.nums[0]);
                    proc.env = Env::default();
                }
            }
            _ => {
                proc.sec = Sec::Remainder;
                proc.env = Env::default();
            }
        }
    }

    fn has_fences(&self) -> bool {
        matches!(self.setup.mem, Mem::Tso | Mem::TsoFencesEverywhere)
    }
}
