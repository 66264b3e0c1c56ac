//! Checks a program twice and compares the answers.
use doorway_checker::{
    self as checker, Construction, Cost, Covering, Error, Execution, FailedCas, Fault, Finding, Model, Property,
    RemoteReferences, Report, Verdict, View,
};

use crate::{
    explore::{Graph, Limits, explore},
    lang::{Program, Stmt, Ty},
    lock::Interpreted,
    machine::{Machine, Measure},
    properties::{Answers, Bound, answers},
    remote,
    replay::replay,
    setup::{Mem, Setup},
};

/// What is compared.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Job {
    /// Every property.
    Check,
    /// Exclusion alone, for which the checker stores no steps.
    ExclusionOnly,
    /// Every property, with symmetry.
    Symmetric,
    /// Remote memory references with homes.
    Dsm,
    /// Remote memory references with caches; whether a failed compare-and-swap counts as a write for others.
    Cc(bool),
    /// The covering argument.
    Cover,
}

/// The result of a comparison.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The mismatches, in words.
    pub mismatches: Vec<String>,
    /// Why the checker refused, if it did.
    pub refused: Option<String>,
    /// The checker's verdicts.
    pub verdicts: Vec<(Property, Verdict)>,
    /// How many properties the checker did not decide although its search was complete.
    pub undecided: usize,
    /// For how many of these the explorer found a violation.
    pub missed: usize,
    /// How many of the checker's bounds are larger than the explorer's, for programs with tickets.
    pub loose: usize,
    /// How many answers were compared.
    pub compared: usize,
    /// Whether the explorer was exhaustive.
    pub complete: bool,
}

/// The limits of the explorer.
pub const LIMITS: Limits = Limits { ticket_cap: 7, max_states: 6_000 };

fn check(program: &Program, model: &Model, n: usize, symmetric: bool) -> Result<Report, Error> {
    if symmetric {
        checker::check(model, |space| Interpreted::<View, true>::new(program, n, space))
    } else {
        checker::check(model, |space| Interpreted::<View, false>::new(program, n, space))
    }
}

fn check_part(program: &Program, model: &Model, n: usize, again: bool) -> Result<Report, Error> {
    if again {
        checker::check_part(model, |space| Interpreted::<View, true>::new(program, n, space))
    } else {
        checker::check_part(model, |space| Interpreted::<View, false>::new(program, n, space))
    }
}

fn measure(program: &Program, setup: &Setup, cost: Cost) -> Result<RemoteReferences, Error> {
    checker::remote_references(&setup.model(), cost, |space| Interpreted::<View, false>::new(program, setup.n, space))
}

fn cover(program: &Program, setup: &Setup) -> Result<Covering, Error> {
    checker::covering(&setup.model(), |space| Interpreted::<View, false>::new(program, setup.n, space))
}

/// The checker's report on a program.
///
/// # Errors
/// As the checker's.
pub fn report(program: &Program, setup: &Setup, job: Job) -> Result<Report, Error> {
    let mut model = setup.model();
    if job == Job::ExclusionOnly {
        model = model.only([Property::Exclusion]);
    }
    if let Some((_, again)) = program.part {
        return check_part(program, &model, setup.n, again);
    }
    let symmetric = job == Job::Symmetric;
    if symmetric {
        model = model.symmetric();
    }
    check(program, &model, setup.n, symmetric)
}

fn any_stmt(stmts: &[Stmt], holds: &dyn Fn(&Stmt) -> bool) -> bool {
    stmts.iter().any(|stmt| {
        holds(stmt)
            || match stmt {
                Stmt::If(_, yes, no) => any_stmt(yes, holds) || any_stmt(no, holds),
                Stmt::Loop(body) | Stmt::For(_, _, body) | Stmt::Call(body) => any_stmt(body, holds),
                _ => false,
            }
    })
}

/// Whether a program has tickets: then the checker's bounds may be larger than the real ones.
pub fn has_tickets(program: &Program) -> bool {
    let sets = |stmt: &Stmt| matches!(stmt, Stmt::SetTicket(..));
    program.decls.iter().any(|decl| matches!(decl.ty, Ty::Ticket | Ty::MaybeTicket))
        || program.sections().any(|section| any_stmt(section, &sets))
}

/// Compares the answers on a program.
pub fn compare(program: &Program, setup: &Setup, job: Job) -> Outcome {
    let mut comparison = Comparison { program, setup, job, outcome: Outcome::default() };
    comparison.run();
    comparison.outcome
}

struct Comparison<'a> {
    program: &'a Program,
    setup: &'a Setup,
    job: Job,
    outcome: Outcome,
}

impl Comparison<'_> {
    fn mismatch(&mut self, text: String) {
        self.outcome.mismatches.push(text);
    }

    fn run(&mut self) {
        match self.job {
            Job::Dsm | Job::Cc(_) => return self.run_remote(),
            Job::Cover => return self.run_cover(),
            _ => {}
        }
        let report = report(self.program, self.setup, self.job);
        let machine = Machine::new(self.program, self.setup);
        let graph = explore(&machine, LIMITS);
        let report = match report {
            Ok(report) => report,
            Err(error) => return self.refused(&error, &graph),
        };
        if graph.overlaps {
            if !report.stopped && !report.fails(Property::Exclusion) {
                self.mismatch("safe writes overlap, and the checker did not see it".to_string());
            }
            return;
        }
        let answers = answers(&graph, self.setup);
        self.outcome.complete = !graph.cut;
        for finding in &report.findings {
            self.outcome.verdicts.push((finding.property, finding.verdict));
            self.outcome.compared += 1;
            self.finding(finding, &report, &graph, &answers);
        }
    }

    fn refused(&mut self, error: &Error, graph: &Graph) {
        let expected = match error {
            Error::Broken { fault, .. } => match fault {
                Fault::OverlappingWrites(_) => graph.overlaps || graph.cut,
                Fault::UnknownDomain(_) => graph.overlaps || graph.cut,
                Fault::TicketArithmetic | Fault::TooManyTickets => has_tickets(self.program),
                _ => false,
            },
            _ => false,
        };
        if !expected {
            self.mismatch(format!("the checker refuses: {error}"));
        }
        self.outcome.refused = Some(error.to_string());
    }

    /// Whether the checker takes some steps before all others, so that its executions may not be shortest.
    fn reduces(&self) -> bool {
        let Setup { mem, crashes, deaths, aborts, .. } = *self.setup;
        mem.is_tso() && crashes == 0 && !deaths && !aborts
    }

    fn finding(&mut self, finding: &Finding, report: &Report, graph: &Graph, answers: &Answers) {
        let property = finding.property;
        let length = match property {
            Property::Exclusion => answers.exclusion,
            Property::Fcfs => answers.fcfs,
            Property::KFcfs => answers.k_fcfs,
            Property::Rule | Property::Assignment => answers.rule,
            Property::Fenced => answers.fenced,
            _ => None,
        };
        let violated = match property {
            Property::DeadlockFreedom => answers.deadlock,
            Property::StarvationFreedom => answers.starves.contains(&true),
            Property::Fife => answers.fife,
            Property::Bypass => answers.late == Bound::Unbounded || answers.in_all == Bound::Unbounded,
            Property::BoundedExit => answers.endless_exit,
            Property::WaitFreeDoorway => answers.endless_doorway,
            Property::WaitFree => answers.endless_call,
            _ => length.is_some(),
        };
        let has_tickets = has_tickets(self.program);
        match finding.verdict {
            Verdict::Holds if report.stopped => {
                self.mismatch(format!("{property} is said to hold by a search that was stopped"));
            }
            Verdict::Holds if violated => {
                self.mismatch(format!("{property} holds for the checker; the explorer has a violation {length:?}"));
            }
            Verdict::Holds => {}
            Verdict::Unknown if report.stopped => {}
            Verdict::Unknown if has_tickets => {
                self.outcome.undecided += 1;
                self.outcome.missed += usize::from(violated);
            }
            Verdict::Unknown => self.mismatch(format!("{property} is not decided")),
            Verdict::Fails => {
                if !graph.cut && !violated {
                    self.mismatch(format!("{property} fails for the checker; the explorer finds no violation"));
                }
                match &finding.execution {
                    None => self.mismatch(format!("{property} fails without an execution")),
                    Some(execution) => {
                        self.execution(property, execution, length.filter(|_| !graph.cut || !report.stopped), graph)
                    }
                }
            }
        }
        let seen_all = !report.stopped && !graph.cut;
        if property == Property::StarvationFreedom && finding.verdict == Verdict::Fails && seen_all {
            let starves: Vec<usize> = (0..self.setup.n).filter(|&p| answers.starves[p]).collect();
            let missing = starves.iter().any(|p| !finding.processes.contains(p));
            if self.job != Job::Symmetric && (missing || (!has_tickets && starves != finding.processes)) {
                self.mismatch(format!("{:?} starve for the checker, {starves:?} for the explorer", finding.processes));
            }
        }
        if let Some(bypass) = finding.bypass.filter(|_| !report.stopped) {
            self.bound("late bypass", bypass.late, answers.late, graph.cut);
            self.bound("bypass in all", bypass.in_all, answers.in_all, graph.cut);
        }
    }

    fn bound(&mut self, what: &str, said: checker::Bound, found: Bound, cut: bool) {
        let said = match said {
            checker::Bound::AtMost(most) => Bound::AtMost(most),
            checker::Bound::Unbounded => Bound::Unbounded,
        };
        self.outcome.compared += 1;
        if said < found || (said != found && !cut && !has_tickets(self.program)) {
            self.mismatch(format!("{what}: {said:?} for the checker, {found:?} for the explorer"));
        } else if said != found && !cut {
            self.outcome.loose += 1;
        }
    }

    /// Replays an execution of the checker; `length` is that of a shortest one, if it is known.
    fn execution(&mut self, property: Property, execution: &Execution, length: Option<u32>, graph: &Graph) {
        let mut machine = Machine::new(self.program, self.setup);
        machine.texts = true;
        match replay(&machine, execution) {
            Err(why) => self.mismatch(format!("{property}: the execution does not replay: {why}\n{execution}")),
            Ok(trace) if !trace.violates(property, &machine) => {
                self.mismatch(format!("{property}: the execution does not violate it\n{execution}"));
            }
            Ok(_) => {}
        }
        let Some(length) = length else { return };
        let said = execution.steps.len() as u32;
        let wrong = match (graph.cut, self.reduces()) {
            (true, true) => false,
            (true, false) => said > length,
            (false, true) => said < length,
            (false, false) => said != length,
        };
        if wrong {
            self.mismatch(format!(
                "{property}: an execution of {said} steps, the explorer's has {length}\n{execution}"
            ));
        }
    }

    fn run_remote(&mut self) {
        let cost = match self.job {
            Job::Cc(true) => Cost::Cc(FailedCas::Counts),
            Job::Cc(false) => Cost::Cc(FailedCas::Free),
            _ => Cost::Dsm,
        };
        let measured = measure(self.program, self.setup, cost);
        let mut machine = Machine::new(self.program, self.setup);
        let measured = match measured {
            Ok(measured) => measured,
            Err(error) => return self.refused(&error, &explore(&machine, LIMITS)),
        };
        self.outcome.complete = true;
        for (p, worst) in measured.per_process.iter().enumerate() {
            if let Job::Cc(counts) = self.job {
                machine.measure = Measure::Cc(p, counts);
            }
            machine.texts = false;
            let graph = explore(&machine, LIMITS);
            self.outcome.complete &= !graph.cut;
            if !measured.stopped {
                self.bound(&format!("references of process {p}"), worst.bound, remote::worst(&graph, p), graph.cut);
            }
            let Some(execution) = &worst.execution else {
                self.outcome.undecided += 1;
                continue;
            };
            machine.texts = true;
            let wrong = match replay(&machine, execution) {
                Err(why) => Some(why),
                Ok(trace) => match worst.bound.number() {
                    None if trace.is_endlessly_remote(p) => None,
                    None => Some("the cycle has no remote reference in a passage".to_string()),
                    Some(most) if trace.remote_in_last_passage(p) == most => None,
                    Some(most) => Some(format!("it has {}, not {most}", trace.remote_in_last_passage(p))),
                },
            };
            if let Some(wrong) = wrong {
                self.mismatch(format!("references of process {p}: {wrong}\n{execution}"));
            }
        }
    }

    fn run_cover(&mut self) {
        let machine = Machine::new(self.program, self.setup);
        let graph = explore(&machine, LIMITS);
        let covering = match cover(self.program, self.setup) {
            Ok(covering) => covering,
            Err(error) => return self.refused(&error, &graph),
        };
        let answers = answers(&graph, self.setup);
        self.outcome.complete = !graph.cut;
        self.outcome.compared += 1;
        let property = match covering.outcome {
            checker::Outcome::TwoInside => Property::Exclusion,
            checker::Outcome::Deadlock => Property::DeadlockFreedom,
            checker::Outcome::Unknown => {
                if !has_tickets(self.program) && covering.states < self.setup.max_states {
                    self.mismatch(format!("the covering argument leaves it open: {:?}", covering.incomplete));
                }
                self.outcome.undecided += 1;
                return;
            }
            checker::Outcome::Escapes => return,
        };
        self.outcome.verdicts.push((property, Verdict::Fails));
        let is_right = answers.exclusion.is_none() && !answers.deadlock;
        if !graph.cut && is_right {
            self.mismatch(format!("the covering argument refutes a lock that is right: {:?}", covering.outcome));
        }
        match &covering.construction {
            Some(construction) => {
                self.overwriting(construction);
                self.execution(property, &construction.execution, None, &graph);
            }
            None => self.mismatch("refuted without a construction".to_string()),
        }
    }

    /// Tests that in the overwriting part of a construction each register is written once, by the process that covers
    /// it.
    fn overwriting(&mut self, construction: &Construction) {
        let steps = &construction.execution.steps[construction.overwriting.clone()];
        let written: Option<Vec<(usize, &str)>> =
            steps.iter().map(|step| Some((step.process, step.access.split_once(" := ")?.0))).collect();
        let mut covers: Vec<(usize, &str)> =
            construction.covers.iter().map(|(process, register)| (*process, register.as_str())).collect();
        covers.sort_unstable();
        let written = written.map(|mut written| {
            written.sort_unstable();
            written
        });
        if written.as_ref() != Some(&covers) {
            self.mismatch(format!("{covers:?} is said to be overwritten by\n{}", construction.execution));
        }
    }
}

/// Whether a setup is possible for a program.
pub fn fits(program: &Program, setup: &Setup, job: Job) -> bool {
    let barrier = |stmt: &Stmt| matches!(stmt, Stmt::Barrier);
    let locks = program.part.is_none();
    (!setup.deaths || (program.reap.is_some() && locks))
        && (!setup.aborts || (program.abort.is_some() && locks))
        && (setup.mem != Mem::Safe || locks)
        && (job != Job::Cover || !program.sections().any(|section| any_stmt(section, &barrier)))
}
