//! The test that processes are deterministic.
use doorway_memory::Pid;

use super::{Automaton, UNKNOWN, execute::broken};
use crate::{
    error::{Error, Fault},
    program::Program,
};

impl Automaton {
    /// Executes known steps again, the latest first: a process that is not deterministic is likely to do something
    /// else.
    ///
    /// Of very many steps a sample is executed; if there are few, each is executed several times.
    pub(crate) fn replay(&self, program: &dyn Program) -> Result<(), Error> {
        const MOST: usize = 1 << 14;
        const LEAST: usize = 1 << 8;
        let known = self.steps.iter().filter(|&&step| step != UNKNOWN).count();
        (0..LEAST.div_ceil(known.max(1))).try_for_each(|_| self.replay_some(program, known, MOST))
    }

    /// Executes up to `most` of the known steps again.
    fn replay_some(&self, program: &dyn Program, known: usize, most: usize) -> Result<(), Error> {
        let mut skipped = 0;
        for (p, process) in self.processes.iter().enumerate().rev() {
            for (local, info) in process.infos.iter().enumerate().rev() {
                for (value, (next, written)) in
                    (0..info.len).rev().filter_map(|value| Some((value, self.step(info, value)?)))
                {
                    skipped += most;
                    if skipped < known {
                        continue;
                    }
                    skipped -= known;
                    self.replay_step(program, p, local as u32, value, next, written)?;
                }
            }
        }
        Ok(())
    }

    fn replay_step(
        &self,
        program: &dyn Program,
        p: Pid,
        local: u32,
        value: u32,
        next: u32,
        written: u32,
    ) -> Result<(), Error> {
        let access = self.local(p, local).access;
        let register = access.and_then(|access| access.register());
        let word = register.map_or(0, |reg| self.word(reg, value));
        let ran = self.run_step(program, p, local, word)?;
        let wrote_the_same = register.is_none_or(|reg| self.word(reg, written) == ran.written);
        let did_the_same =
            self.is_expected(self.seen(p, local, word), ran.access.as_ref(), access.as_ref()) && wrote_the_same;
        if self.known_local(p, ran.section, ran.passages, &ran.history) == Some(next) && did_the_same {
            return Ok(());
        }
        Err(broken(p, self.whereabouts(p, local), Fault::Nondeterminism))
    }
}
