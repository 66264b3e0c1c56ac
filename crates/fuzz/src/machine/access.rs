//! One access to a register, in every memory.
use super::Machine;
use crate::{
    code::Instr,
    lang::{Stmt, Ty},
    setup::Mem,
    state::{Blocked, It, Measure, NOTHING, Proc, Taken, assign, show},
};

/// The number of writes that fit into a store buffer.
const BUFFER: usize = 16;

impl Machine<'_> {
    /// Makes the access that the process is at; returns false if it is a write to a safe register that has only begun.
    pub(super) fn access(
        &self,
        instr: &Instr,
        proc: &mut Proc,
        p: usize,
        seen: Option<i64>,
        done: &mut Taken,
    ) -> Result<bool, Blocked> {
        let state = &mut done.state;
        let env = proc.env;
        proc.pc += 1;
        let (stmt, reg) = match instr {
            Instr::Branch(reg, ..) => (None, *reg),
            Instr::Access(stmt) => match stmt {
                Stmt::Fence | Stmt::Barrier => {
                    let empty = |q: usize| state.buffers[q].is_empty();
                    let all = *stmt == Stmt::Barrier;
                    if !(empty(p) && (!all || (0..self.setup.n).all(empty))) {
                        return Err(Blocked::Disabled);
                    }
                    if self.texts {
                        done.text = if all { "barrier" } else { "fence" }.to_string();
                    }
                    return Ok(true);
                }
                Stmt::Read(_, reg)
                | Stmt::Test(_, reg, _)
                | Stmt::Write(reg, _)
                | Stmt::Swap(_, reg, _)
                | Stmt::Cas(_, reg, _, _)
                | Stmt::FetchAdd(_, reg, _)
                | Stmt::Update(_, reg, _)
                | Stmt::LoadLinked(_, reg)
                | Stmt::StoreConditional(_, reg, _)
                | Stmt::WriteLinked(reg, _)
                | Stmt::ReadLinked(_, reg) => (Some(stmt), *reg),
                other => unreachable!("{other:?} is no access"),
            },
            other => unreachable!("{other:?} is no access"),
        };
        let reg = self.at(reg, &env, p);
        let (ty, home, name) = &self.types[reg];
        let ty = *ty;
        let is_read =
            matches!(stmt, None | Some(Stmt::Read(..) | Stmt::Test(..) | Stmt::LoadLinked(..) | Stmt::ReadLinked(..)));
        let is_plain_write = matches!(stmt, Some(Stmt::Write(..))) && ty != Ty::Linked;
        if !is_read && !is_plain_write && !state.buffers[p].is_empty() {
            return Err(Blocked::Disabled);
        }
        let flickers = self.setup.mem == Mem::Safe && is_read && state.writers[reg] != 0;
        let mut value = state.regs[reg];
        if let Some((_, own)) = state.buffers[p].iter().rev().find(|(written, _)| *written as usize == reg) {
            value = *own;
        }
        if flickers {
            value = seen.ok_or(Blocked::Unknown)?;
        }
        let it = It(Some(ty), value);
        let mut written = None;
        let mut fails = false;
        let into = &mut proc.env;
        let text = match (instr, stmt) {
            (Instr::Branch(_, holds, yes, no), _) => {
                proc.pc = (if self.cond(holds, &env, p, it) { *yes } else { *no }) as u16;
                self.say(|| format!("{name} = {}", show(ty, value)))
            }
            (_, Some(Stmt::Read(local, _) | Stmt::ReadLinked(local, _))) => {
                assign(into, ty, *local, value);
                self.say(|| format!("{name} = {}", show(ty, value)))
            }
            (_, Some(Stmt::Test(local, _, holds))) => {
                into.bools[*local] = self.cond(holds, &env, p, it);
                self.say(|| format!("{name} = {}", show(ty, value)))
            }
            (_, Some(Stmt::Write(_, rhs))) if ty != Ty::Linked => {
                let new = self.rhs(rhs, ty, &env, p, NOTHING);
                written = Some(new);
                self.say(|| self.written(reg, new))
            }
            (_, Some(Stmt::Write(..) | Stmt::WriteLinked(..))) => {
                let new = match stmt {
                    Some(Stmt::Write(_, rhs)) => self.rhs(rhs, ty, &env, p, NOTHING),
                    Some(Stmt::WriteLinked(_, num)) => self.num(num, &env, p, NOTHING) & 255,
                    _ => unreachable!("it is one of these"),
                };
                written = Some(new);
                self.say(|| format!("{name} := {} (was {})", show(ty, new), show(ty, value)))
            }
            (_, Some(Stmt::Swap(local, _, rhs))) => {
                let new = self.rhs(rhs, ty, &env, p, NOTHING);
                written = Some(new);
                assign(into, ty, *local, value);
                self.say(|| format!("swap({name}, {}) = {}", show(ty, new), show(ty, value)))
            }
            (_, Some(Stmt::Cas(local, _, old, new))) => {
                let [old, new] = [old, new].map(|rhs| self.rhs(rhs, ty, &env, p, NOTHING));
                fails = value != old;
                written = (!fails).then_some(new);
                into.bools[*local] = !fails;
                self.say(|| format!("compare-and-swap({name}, {}, {}) = {}", show(ty, old), show(ty, new), !fails))
            }
            (_, Some(Stmt::FetchAdd(local, _, by))) => {
                written = Some(value.wrapping_add(*by));
                assign(into, ty, *local, value);
                self.say(|| format!("fetch-and-add({name}, {by}) = {value}"))
            }
            (_, Some(Stmt::Update(local, _, rhs))) => {
                let new = self.rhs(rhs, ty, &env, p, it);
                written = Some(new);
                assign(into, ty, *local, value);
                self.say(|| format!("{name} := {} (was {})", show(ty, new), show(ty, value)))
            }
            (_, Some(Stmt::LoadLinked(local, _))) => {
                state.regs[reg] |= 256 << p;
                assign(into, ty, *local, value);
                self.say(|| format!("LL({name}) = {}", show(ty, value)))
            }
            (_, Some(Stmt::StoreConditional(local, _, num))) => {
                let new = self.num(num, &env, p, NOTHING) & 255;
                fails = value >> 8 >> p & 1 == 0;
                written = (!fails).then_some(new);
                into.bools[*local] = !fails;
                self.say(|| format!("SC({name}, {new}) = {}", !fails))
            }
            other => unreachable!("{other:?} is no access"),
        };
        done.text = text;
        done.remote = match self.measure {
            Measure::Dsm => *home != Some(p),
            Measure::Cc(_, _) => !(is_read && state.cache >> reg & 1 == 1),
        };
        if let Measure::Cc(of, failing_counts) = self.measure {
            if of == p {
                state.cache |= 1 << reg;
            } else if written.is_some() || (fails && failing_counts) {
                state.cache &= !(1 << reg);
            }
        }
        if flickers && self.texts {
            done.text += " while it is written";
        }
        let Some(new) = written else { return Ok(true) };
        if self.setup.mem == Mem::Safe {
            if state.writers[reg] == 0 {
                state.writers[reg] = p as u8 + 1;
                state.regs[reg] = new;
                done.text += if self.texts { " begins" } else { "" };
                return Ok(false);
            }
            if state.writers[reg] != p as u8 + 1 {
                return Err(Blocked::Overlap);
            }
            state.writers[reg] = 0;
            done.text += if self.texts { " ends" } else { "" };
        }
        if is_plain_write && self.setup.mem.is_tso() {
            if state.buffers[p].len() == BUFFER {
                return Err(Blocked::Full);
            }
            state.buffers[p].push_back((reg as u8, new));
        } else {
            state.regs[reg] = new;
        }
        Ok(true)
    }

    /// The text of a step, if texts are wanted.
    fn say(&self, text: impl FnOnce() -> String) -> String {
        if self.texts { text() } else { String::new() }
    }
}
