//! An execution, step by step.
use std::hash::{DefaultHasher, Hash, Hasher};

use doorway_memory::{Home, Name, Pid, Property};

use crate::{
    Model, Subject, access::Op, choice::Choice, error::Error, execution::Step, machine::Machine, model::BUFFER,
    order::Order, program::Section, properties::fenced, validate,
};

/// An execution, step by step: in each state it says what can happen next, and takes what is chosen.
///
/// It needs no search: a state space may be infinite, or too large, and can be stepped through. Steps are those of the
/// checker: with the choices of a counterexample the same execution is taken again.
///
/// ```
/// use doorway_algorithms::mutex::peterson::Peterson;
/// use doorway_checker::{Choice, Model, Section, Stepper, Subject};
///
/// let peterson = Subject::lock(Peterson::new);
/// let mut stepper = Stepper::new(&peterson, &Model::new(2))?;
/// assert_eq!(stepper.choices()?, [Choice::Step(0), Choice::Step(1)]);
/// let step = stepper.take(Choice::Step(0))?;
/// assert_eq!((step.line.as_str(), step.access.as_str()), ("8", "flag[0] := true"));
/// let state = stepper.state()?;
/// assert_eq!(state.processes[0].section, Section::Doorway);
/// assert_eq!(state.processes[0].next.as_deref(), Some("victim := 0"));
/// assert_eq!(state.values, ["true", "false", "0"]);
/// # Ok::<(), doorway_checker::Error>(())
/// ```
#[derive(Clone)]
pub struct Stepper<'a> {
    subject: &'a Subject,
    model: Model,
    machine: Machine<'a>,
    /// The processes that have crashed, as bits.
    crashed: u32,
    order: Order,
    violated: Vec<Violated>,
    /// What the latest step violates, whether it was violated before or not.
    latest: Vec<Violated>,
    taken: usize,
}

/// A property that an execution violates.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct Violated {
    /// The property.
    pub property: Property,
    /// What is wrong, in words.
    pub note: String,
    /// The number of steps after which it was violated.
    pub at: usize,
}

/// A state of an execution.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct State {
    /// The processes.
    pub processes: Vec<Process>,
    /// The values of the registers.
    pub values: Vec<String>,
    /// For each register the process that is writing it. Empty unless registers are safe.
    pub writers: Vec<Option<Pid>>,
    /// For each process the writes in its store buffer, oldest first. Empty if there are no store buffers.
    pub buffers: Vec<Vec<String>>,
}

/// A process in a state.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct Process {
    /// The section it is in.
    pub section: Section,
    /// The line of its next step.
    pub line: Option<String>,
    /// The access of its next step. `None` if it takes no further step.
    pub next: Option<String>,
    /// The file of the source in which that access is.
    pub file: Option<&'static str>,
    /// Whether it has crashed.
    pub is_crashed: bool,
}

impl<'a> Stepper<'a> {
    /// The initial state.
    ///
    /// See the [type's example](Stepper).
    ///
    /// # Errors
    /// If the model cannot be applied to the subject, or limits the passages in all, the tickets or the overlap of calls.
    pub fn new(subject: &'a Subject, model: &Model) -> Result<Stepper<'a>, Error> {
        validate::model(model)?;
        validate::program(model, &*subject.program)?;
        if model.has_real_tickets() || model.sequential {
            return Err(Error::Model(
                "single steps have no limit on the passages in all, on tickets or on overlapping calls; leave it out"
                    .to_string(),
            ));
        }
        Ok(Stepper {
            subject,
            model: model.clone(),
            machine: Machine::new(&*subject.program, subject.registers.of(model), model),
            crashed: 0,
            order: Order::new(model.n),
            violated: Vec::new(),
            latest: Vec::new(),
            taken: 0,
        })
    }

    /// What can happen next.
    ///
    /// See the [type's example](Stepper).
    ///
    /// # Errors
    /// If the algorithm breaks a rule of the interface.
    pub fn choices(&self) -> Result<Vec<Choice>, Error> {
        let mut choices = Vec::new();
        for p in self.model.processes() {
            if self.can_step(p)? {
                match self.machine.values_seen(p)? {
                    None => choices.push(Choice::Step(p)),
                    Some(values) => choices.extend((0..values.len()).map(|value| Choice::StepSeeing(p, value))),
                }
            }
        }
        let some = |kind: fn(Pid) -> Choice, is_possible: &dyn Fn(Pid) -> bool| {
            self.model.processes().filter(|&p| is_possible(p)).map(kind).collect::<Vec<_>>()
        };
        let section = |p| self.machine.section(p);
        choices.extend(some(Choice::Visible, &|p| self.machine.buffered(p).next().is_some()));
        choices
            .extend(some(Choice::Aborts, &|p| self.model.aborts && section(p) == Section::Wait && !self.is_crashed(p)));
        choices.extend(some(Choice::Dies, &|p| self.model.deaths && self.machine.can_die(p) && !self.is_crashed(p)));
        choices.extend(some(Choice::Expires, &|p| {
            self.model.expiries && self.machine.can_expire(p) && !self.is_crashed(p)
        }));
        let may_crash = self.crashed.count_ones() < self.model.crashes as u32;
        choices
            .extend(some(Choice::Crashes, &|p| may_crash && section(p) != Section::Remainder && !self.is_crashed(p)));
        Ok(choices)
    }

    /// What a choice would do, in words.
    ///
    /// ```
    /// use doorway_algorithms::mutex::peterson::Peterson;
    /// use doorway_checker::{Choice, Model, Stepper, Subject};
    ///
    /// let peterson = Subject::lock(Peterson::new);
    /// let stepper = Stepper::new(&peterson, &Model::new(2))?;
    /// assert_eq!(stepper.describe(Choice::Step(1))?, "flag[1] := true");
    /// # Ok::<(), doorway_checker::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the algorithm breaks a rule of the interface.
    pub fn describe(&self, choice: Choice) -> Result<String, Error> {
        let p = choice.process();
        let next = || Ok(self.machine.next_access(p)?.map(|access| access.intention(&self.subject.registers.list)));
        Ok(match choice {
            Choice::Step(_) => next()?.unwrap_or_else(|| "returns".to_string()),
            Choice::StepSeeing(_, value) => {
                let seen = self.machine.show_seen(p, value)?;
                format!("{}, and see {seen}", next()?.unwrap_or_default())
            }
            Choice::Visible(_) => {
                format!("{} becomes visible", self.machine.buffered(p).next().unwrap_or_default())
            }
            Choice::Dies(_) => "dies".to_string(),
            Choice::Aborts(_) => "aborts".to_string(),
            Choice::Expires(_) if self.machine.section(p).is_expired() => "finds out".to_string(),
            Choice::Expires(_) => "is taken for dead".to_string(),
            Choice::Crashes(_) => "crashes".to_string(),
        })
    }

    /// Takes a choice.
    ///
    /// See the [type's example](Stepper).
    ///
    /// # Errors
    /// If the choice is not possible in this state, which is then unchanged, or if the algorithm breaks a rule of the
    /// interface.
    pub fn take(&mut self, choice: Choice) -> Result<Step, Error> {
        let choices = self.choices()?;
        if !choices.contains(&choice) {
            let others: Vec<String> = choices.iter().map(Choice::to_string).collect();
            let others = if others.is_empty() { "nothing".to_string() } else { others.join(", ") };
            return Err(Error::Choice(format!("`{choice}` cannot happen in this state; possible: {others}")));
        }
        if let Choice::Crashes(p) = choice {
            self.crashed |= 1 << p;
        }
        let step = self.machine.take(choice)?.expect("it is among the choices");
        self.taken += 1;
        self.judge(&step);
        Ok(step)
    }

    /// The state.
    ///
    /// See the [type's example](Stepper).
    ///
    /// # Errors
    /// If the algorithm breaks a rule of the interface.
    pub fn state(&self) -> Result<State, Error> {
        let registers = &self.subject.registers.list;
        let process = |p: Pid| -> Result<Process, Error> {
            let goes_on = !self.is_crashed(p) && self.machine.goes_on(p);
            let access = if goes_on { self.machine.next_access(p)? } else { None };
            Ok(Process {
                section: self.machine.section(p),
                line: access.map(|access| access.line()),
                next: access.map(|access| access.intention(registers)),
                file: access.map(|access| access.place.file()),
                is_crashed: self.is_crashed(p),
            })
        };
        Ok(State {
            processes: self.model.processes().map(process).collect::<Result<_, _>>()?,
            values: self.machine.values(),
            writers: if self.model.safe_registers { self.machine.writers().to_vec() } else { Vec::new() },
            buffers: if self.model.store_buffers {
                self.model.processes().map(|p| self.machine.buffered(p).map(str::to_string).collect()).collect()
            } else {
                Vec::new()
            },
        })
    }

    /// The properties that the execution has violated so far, of those that a finite execution can violate: exclusion,
    /// the properties about order except `fife`, the assignment of names, and the rule of a part.
    #[must_use]
    pub fn violated(&self) -> &[Violated] {
        &self.violated
    }

    /// What the latest step violates, also if the execution has violated it before.
    #[must_use]
    pub fn violated_by_step(&self) -> &[Violated] {
        &self.latest
    }

    /// The names of the registers, and their homes.
    ///
    /// ```
    /// use doorway_algorithms::mutex::peterson::Peterson;
    /// use doorway_checker::{Model, Stepper, Subject};
    ///
    /// let peterson = Subject::lock(Peterson::new);
    /// let names: Vec<String> =
    ///     Stepper::new(&peterson, &Model::new(2))?.registers().map(|(name, _)| name.to_string()).collect();
    /// assert_eq!(names, ["flag[0]", "flag[1]", "victim"]);
    /// # Ok::<(), doorway_checker::Error>(())
    /// ```
    pub fn registers(&self) -> impl Iterator<Item = (&Name, Home)> {
        self.subject.registers.of(&self.model).iter().map(|register| (&register.name, register.home))
    }

    /// A number that is the same in two states from which the same can happen and be violated, at the same costs; and, up
    /// to collisions of 128 bits, in no others. The order of arrival and the caches count as part of the state.
    #[must_use]
    pub fn fingerprint(&self) -> u128 {
        fingerprint(|hasher| {
            self.machine.counted().hash(hasher);
            self.machine.hash_caches(hasher);
            (self.crashed, &self.order).hash(hasher);
        })
    }

    /// As [`fingerprint`](Stepper::fingerprint), of what the checker counts as one state: processes, registers and store
    /// buffers.
    #[must_use]
    pub fn state_fingerprint(&self) -> u128 {
        fingerprint(|hasher| self.machine.counted().hash(hasher))
    }

    fn is_crashed(&self, p: Pid) -> bool {
        self.crashed >> p & 1 == 1
    }

    fn can_step(&self, p: Pid) -> Result<bool, Error> {
        if self.is_crashed(p) || !self.machine.goes_on(p) || !self.machine.can_step(p)? {
            return Ok(false);
        }
        let is_full = self.machine.buffered(p).count() >= BUFFER;
        Ok(!(is_full && self.machine.next_access(p)?.is_some_and(|access| access.op == Op::Write)))
    }

    /// Notes what the execution violates with this step.
    fn judge(&mut self, step: &Step) {
        let (n, k) = (self.model.n, self.model.k);
        let sections: Vec<Section> = (0..n).map(|p| self.machine.section(p)).collect();
        let mut found = Vec::new();
        if !self.subject.program.is_part() {
            let inside: Vec<Pid> = (0..n).filter(|&p| sections[p].is_critical()).collect();
            if inside.len() > k {
                found.push((Property::Exclusion, format!("{} are in the critical section", named(&inside))));
            }
            found.extend(self.order.step(step, &sections, k));
        }
        if let Err(complaint) = self.machine.rule(k) {
            let property = if self.subject.program.is_part() { Property::Rule } else { Property::Assignment };
            found.push((property, complaint));
        }
        if let Some(p) = (0..n).find(|&p| self.machine.is_refused(p)) {
            found.push((Property::Fenced, fenced::complaint(p)));
        }
        let at = self.taken;
        self.latest = found.into_iter().map(|(property, note)| Violated { property, note, at }).collect();
        for latest in &self.latest {
            if self.violated.iter().all(|violated| violated.property != latest.property) {
                self.violated.push(latest.clone());
            }
        }
    }
}

/// A hash of 128 bits of what `feed` puts in.
fn fingerprint(feed: impl Fn(&mut DefaultHasher)) -> u128 {
    let half = |salt: u64| {
        let mut hasher = DefaultHasher::new();
        salt.hash(&mut hasher);
        feed(&mut hasher);
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}

/// `processes 0 and 1`.
pub(crate) fn named(processes: &[Pid]) -> String {
    match processes {
        [] => "no process".to_string(),
        [p] => format!("process {p}"),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(ToString::to_string).collect();
            format!("processes {} and {last}", first.join(", "))
        }
    }
}
