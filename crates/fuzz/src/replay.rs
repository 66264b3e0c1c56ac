//! Replays the checker's counterexamples, in the explorer's own semantics and with unlimited numbers.
use doorway_checker::{Execution, Property};

use crate::{
    lang::Ty,
    machine::{Act, Machine, Measure, Sec, State},
    setup::Setup,
};

/// An execution that has been replayed.
pub struct Trace {
    /// The states, one more than there are steps.
    pub states: Vec<State>,
    /// The steps; none where a process crashes.
    pub acts: Vec<Option<Act>>,
    /// Which steps were remote memory references.
    pub remote: Vec<bool>,
    /// The processes that crashed, as bits.
    pub crashed: u32,
    /// The index of the step with which the cycle starts, if there is one.
    pub cycle_at: Option<usize>,
}

/// The value in `flag[0] = true while it is written`.
fn value_seen(text: &str, ty: Ty) -> Option<i64> {
    let (_, value) = text.split_once(" = ")?;
    let value = value.split(' ').next()?;
    match ty {
        Ty::Bool => Some((value == "true").into()),
        _ if value == "∞" => Some(-1),
        _ => value.parse().ok(),
    }
}

/// Replays an execution.
///
/// # Errors
/// If a step cannot be taken, or does something else than the execution says.
pub fn replay(machine: &Machine<'_>, execution: &Execution) -> Result<Trace, String> {
    let mut trace = Trace {
        states: vec![machine.initial()],
        acts: Vec::new(),
        remote: Vec::new(),
        crashed: 0,
        cycle_at: execution.cycle_at,
    };
    for (i, step) in execution.steps.iter().enumerate() {
        let state = trace.states.last().expect("there is a first state");
        let p = step.process;
        if step.access == "crashes" {
            trace.crashed |= 1 << p;
            trace.states.push(state.clone());
            trace.acts.push(None);
            trace.remote.push(false);
            continue;
        }
        let act = match step.access.as_str() {
            "dies" => Act::Die(p),
            "aborts" => Act::Abort(p),
            "is taken for dead" => Act::Expire(p),
            // It may also have been told by a step of its own, which leads to the same state.
            "finds out" => Act::FindOut(p),
            text if text.ends_with("becomes visible") => Act::Drain(p),
            _ => Act::Step(p),
        };
        if trace.crashed >> p & 1 == 1 && !matches!(act, Act::Drain(_)) {
            return Err(format!("step {}: process {p} has crashed", i + 1));
        }
        let flickers = if act == Act::Step(p) { machine.flickers(state, p) } else { None };
        let seen = flickers.and_then(|ty| value_seen(&step.access, ty));
        let taken = machine.take(state, act, seen).map_err(|why| format!("step {}: {why:?}", i + 1))?;
        let interrupts = matches!(act, Act::Die(_) | Act::Abort(_) | Act::Expire(_) | Act::FindOut(_));
        if !interrupts && taken.text.trim_end_matches(" by another") != step.access.trim_end_matches(" by another") {
            return Err(format!("step {}: it is `{}`, not `{}`", i + 1, taken.text, step.access));
        }
        trace.acts.push(Some(act));
        trace.remote.push(taken.remote);
        trace.states.push(taken.state);
    }
    if let Some(at) = execution.cycle_at {
        trace.repeats(machine, at)?;
    }
    Ok(trace)
}

impl Trace {
    fn sec(&self, at: usize, p: usize) -> Sec {
        self.states[at].procs[p].sec
    }

    /// As [`repeats`](Self::repeats), of a cycle after which other copies are cached: they are of no use if the next round is
    /// as expensive, and returns.
    fn repeats_with_cache(&self, machine: &Machine<'_>, at: usize) -> Result<(), String> {
        let end = self.states.last().expect("there is a first state");
        let mut state = end.clone();
        for (act, remote) in std::iter::zip(&self.acts[at..], &self.remote[at..]) {
            let Some(act) = *act else { continue };
            let taken = machine.take(&state, act, None).map_err(|why| format!("in the second round: {why:?}"))?;
            let is_measured = matches!((machine.measure, act), (Measure::Cc(p, _), Act::Step(q)) if p == q);
            if is_measured && taken.remote != *remote {
                return Err("a step is remote in one round only".to_string());
            }
            state = taken.state;
        }
        if state == *end { Ok(()) } else { Err("the cycle does not return to its first state".to_string()) }
    }

    /// Tests that the cycle can be repeated for ever.
    fn repeats(&self, machine: &Machine<'_>, at: usize) -> Result<(), String> {
        const MORE_ROUNDS: usize = 60;
        let end = self.states.last().expect("there is a first state");
        if self.acts[at..].is_empty() {
            return Err("the cycle is empty".to_string());
        }
        if *end == self.states[at] {
            return Ok(());
        }
        if (State { cache: self.states[at].cache, ..end.clone() }) == self.states[at] {
            return self.repeats_with_cache(machine, at);
        }
        if machine.largest_ticket(end) == 0 {
            return Err("the cycle does not return to its first state".to_string());
        }
        if machine.setup.mem == crate::setup::Mem::Safe {
            return Ok(()); // a read may have to return another number in each round
        }
        let mut state = end.clone();
        for round in 0..MORE_ROUNDS {
            for i in at..self.acts.len() {
                let Some(act) = self.acts[i] else { continue };
                let taken = machine.take(&state, act, None).map_err(|why| format!("round {round}: {why:?}"))?;
                let secs = |state: &State| state.procs.map(|proc| proc.sec);
                if secs(&taken.state) != secs(&self.states[i + 1]) {
                    return Err(format!("round {round}: step {} leads to another section", i + 1));
                }
                let before = machine.take(&self.states[i], act, None).map_err(|why| format!("{why:?}"))?;
                let about = |text: &str| text.split(' ').next().unwrap_or("").to_string();
                if about(&taken.text) != about(&before.text) {
                    return Err(format!("round {round}: step {} is `{}`, not `{}`", i + 1, taken.text, before.text));
                }
                state = taken.state;
            }
        }
        Ok(())
    }

    fn cycle(&self) -> std::ops::Range<usize> {
        self.cycle_at.unwrap_or(self.acts.len())..self.acts.len()
    }

    fn enters(&self, i: usize) -> Option<usize> {
        let Some(Act::Step(p)) = self.acts[i] else { return None };
        (self.sec(i, p) != Sec::Critical && self.sec(i + 1, p) == Sec::Critical).then_some(p)
    }

    fn stays(&self, p: usize, range: std::ops::Range<usize>) -> bool {
        range.clone().all(|i| self.sec(i, p) == self.sec(range.start, p) && self.sec(i + 1, p) == self.sec(i, p))
    }

    fn steps(&self, p: usize) -> bool {
        self.cycle().any(|i| self.acts[i] == Some(Act::Step(p)))
    }

    /// Whether the cycle is fair: there are no deaths, every process outside the remainder that has not crashed takes a
    /// step, and no write stays in a store buffer.
    fn is_fair(&self, machine: &Machine<'_>) -> bool {
        let Setup { n, crashes, .. } = *machine.setup;
        let cycle = self.cycle();
        let stuck = |p: usize| {
            let drains = cycle.clone().any(|i| self.acts[i] == Some(Act::Drain(p)));
            cycle.clone().all(|i| machine.buffered(&self.states[i]) >> p & 1 == 1) && !drains
        };
        let stands =
            |p: usize| !self.steps(p) && self.sec(cycle.start, p) != Sec::Remainder && self.crashed >> p & 1 == 0;
        let dies = cycle.clone().any(|i| matches!(self.acts[i], Some(Act::Die(_) | Act::Expire(_))));
        !dies && !(0..n).any(|p| stuck(p) || stands(p)) && self.crashed.count_ones() as usize <= crashes
    }

    /// The number of steps after which `q` has overtaken all of a set: it started the doorway while they waited, and
    /// entered while they still did.
    fn overtaken(&self, set: u32, q: usize, n: usize) -> Option<usize> {
        let all_wait = |at: usize| (0..n).all(|p| set >> p & 1 == 0 || self.sec(at, p) == Sec::Wait);
        let mut late = false;
        for i in 0..self.acts.len() {
            late &= all_wait(i);
            late |= all_wait(i) && self.acts[i] == Some(Act::Step(q)) && self.sec(i, q) == Sec::Remainder;
            if late && self.enters(i) == Some(q) {
                return Some(i + 1);
            }
        }
        None
    }

    /// Whether the execution violates a property.
    pub fn violates(&self, property: Property, machine: &Machine<'_>) -> bool {
        let Setup { n, k, .. } = *machine.setup;
        let cycle = self.cycle();
        let end = self.acts.len();
        let pairs = || (0..n).flat_map(|p| (0..n).map(move |q| (p, q))).filter(|(p, q)| p != q);
        let moving = |p: usize| self.stays(p, cycle.clone()) && self.steps(p);
        let kept_in = |secs: &[Sec]| {
            let dies = |p: usize| cycle.clone().any(|i| self.acts[i] == Some(Act::Die(p)));
            (0..n).any(|p| moving(p) && secs.contains(&self.sec(cycle.start, p)) && !dies(p))
        };
        let leaving = [Sec::Exit, Sec::Abort, Sec::Reap];
        let kept = || {
            let is_transient = |p: usize| {
                let sec = self.sec(cycle.start, p);
                sec != Sec::Remainder && !sec.is_critical() && !sec.is_expired()
            };
            (0..n).any(|p| moving(p) && is_transient(p) && self.crashed >> p & 1 == 0) && self.is_fair(machine)
        };
        match property {
            Property::Exclusion => (0..n).filter(|&p| self.sec(end, p).is_critical()).count() > k,
            Property::Rule | Property::Assignment => machine.breaks_rule(&self.states[end]),
            Property::Fenced => machine.is_refused(&self.states[end]),
            Property::StarvationFreedom => kept(),
            Property::DeadlockFreedom => {
                let leaves = |i: usize| match self.acts[i] {
                    Some(Act::Step(p)) => self.sec(i, p) == Sec::Exit && self.sec(i + 1, p) == Sec::Remainder,
                    _ => false,
                };
                kept() && !cycle.clone().any(|i| leaves(i) || self.enters(i).is_some())
            }
            Property::Fcfs => pairs().any(|(p, q)| self.overtaken(1 << p, q, n).is_some()),
            Property::KFcfs => (0..1_u32 << n)
                .filter(|set| set.count_ones() as usize == k)
                .any(|set| (0..n).any(|q| set >> q & 1 == 0 && self.overtaken(set, q, n).is_some())),
            Property::Fife => pairs().any(|(p, q)| {
                let waits = |at: usize| self.sec(at, p) == Sec::Wait;
                // Any overtaking before the cycle counts, if the process waits from then on.
                (0..=cycle.start).any(|from| {
                    let tail = Trace {
                        states: self.states[from..].to_vec(),
                        acts: self.acts[from..].to_vec(),
                        remote: Vec::new(),
                        crashed: 0,
                        cycle_at: None,
                    };
                    let after = tail.overtaken(1 << p, q, n).map(|after| from + after);
                    after.is_some_and(|after| after <= cycle.start && (after..=end).all(waits))
                }) && self.steps(p)
            }),
            Property::Bypass => (0..n).any(|p| {
                self.sec(cycle.start, p) == Sec::Wait
                    && self.stays(p, cycle.clone())
                    && cycle.clone().any(|i| self.enters(i).is_some_and(|q| q != p))
            }),
            Property::BoundedExit => kept_in(&leaving),
            Property::WaitFreeDoorway => kept_in(&[Sec::Doorway]),
            Property::WaitFree => kept_in(&[Sec::Wait]),
            _ => false,
        }
    }

    /// The number of remote memory references of process `p` in its last passage.
    pub fn remote_in_last_passage(&self, p: usize) -> u32 {
        let starts = |&i: &usize| self.acts[i] == Some(Act::Step(p)) && self.sec(i, p) == Sec::Remainder;
        let Some(start) = (0..self.acts.len()).rfind(starts) else { return 0 };
        (start..self.acts.len()).filter(|&i| self.acts[i] == Some(Act::Step(p)) && self.remote[i]).count() as u32
    }

    /// Whether the cycle stays within one passage of process `p` and has a remote memory reference of `p`.
    pub fn is_endlessly_remote(&self, p: usize) -> bool {
        let cycle = self.cycle();
        cycle.clone().all(|i| self.sec(i, p) != Sec::Remainder)
            && cycle.clone().any(|i| self.acts[i] == Some(Act::Step(p)) && self.remote[i])
    }
}
