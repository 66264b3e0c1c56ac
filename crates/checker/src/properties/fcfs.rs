//! Who is through the doorway before another starts it enters first.
use doorway_memory::Pid;

use super::{Evidence, Violation};
use crate::{program::Section, real::Finder, run::Path};

impl Evidence<'_> {
    pub(super) fn overtaking(&self, find: &impl Finder) -> Option<Violation> {
        let everyone = || self.judge.model.processes();
        let possible = |&(p, q): &(Pid, Pid)| p != q && self.entries.as_ref().is_none_or(|all| all[p].late[q] > 0);
        let mut pairs: Vec<(Pid, Pid)> =
            everyone().flat_map(|p| everyone().map(move |q| (p, q))).filter(possible).collect();
        // Who overtakes again and again also does so once. These first: the others are then only tried up to that length.
        pairs.sort_by_key(|&(p, q)| self.waits[p].overtakers >> q & 1 == 0);
        let mut best: Option<(Path, Pid, Pid)> = None;
        for (p, q) in pairs {
            let limit = best.as_ref().map(|(path, ..)| path.steps.len());
            if let Some(path) = self.overtakes(find, p, q, limit) {
                best = Some((path, p, q));
            }
        }
        let (path, p, q) = best?;
        let note = format!("process {q} starts after process {p} is through the doorway, and enters first");
        Some(Violation { path, processes: vec![p], note })
    }

    /// The shortest run in which `q` starts when `p` is through its doorway, and gets inside before it; none if it is not
    /// shorter than `limit`.
    fn overtakes(&self, find: &impl Finder, p: Pid, q: Pid, limit: Option<usize>) -> Option<Path> {
        const LATE: usize = 1;
        const AHEAD: usize = 2;
        let judge = &self.judge;
        let watch = |watching, from, process: Pid, to| {
            let waits = judge.section(from, p) == Section::Wait;
            let starts = process == q && judge.section(from, q) == Section::Remainder;
            Some(match watching {
                _ if !waits => 0,
                0 if !starts => 0,
                _ if judge.enters(from, q, to) => AHEAD,
                _ => LATE,
            })
        };
        find.find(limit, 3, watch, |watching, _| watching == AHEAD, Some)
    }
}
