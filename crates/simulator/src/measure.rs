//! Measuring one size.
use std::{fmt, sync::Arc};

use doorway_memory::{Cost, Exclusion, Pid};

use crate::{
    execution::{Execution, Tally},
    machine::Machine,
    random::Random,
    schedule::{Schedule, Scheduler},
};

/// How a lock is measured.
///
/// ```
/// use doorway_memory::Cost;
/// use doorway_simulator::Plan;
/// let plan = Plan::new(64, Cost::Dsm).contention(8).seed(7);
/// ```
#[derive(Clone)]
pub struct Plan {
    n: usize,
    cost: Cost,
    contention: usize,
    seed: u64,
    passages: Option<u32>,
    accesses: u64,
    cancelled: Option<Arc<dyn Fn() -> bool>>,
}

/// Accesses of one schedule, if nobody says otherwise.
const ACCESSES: u64 = 30_000_000;
/// How often it is asked whether to go on.
const STEPS_PER_QUESTION: u64 = 1 << 14;
/// At most so many processes go through the lock alone: it is the same for all, or nearly.
const SOLOISTS: usize = 64;
/// How many there are in the schedule of few, and how many passages each makes.
const FEW: usize = 3;
const FEW_ROUNDS: u32 = 32;
/// With up to so many processes it is tried whether one pays the more the longer the others go on.
const LONG_RUN_PROCESSES: usize = 4;
/// How many passages the others make then, first and second.
const LONG_RUNS: [u32; 2] = [50, 400];
/// How much worse the second must be than the first.
const LONG_RUN_GROWTH: u64 = 4;
/// No lock needs so many remote references for each pair of processes: who makes more goes round and round.
const MOST_PER_PAIR: u64 = 1000;

impl Plan {
    /// For `n` processes, everyone taking part.
    ///
    /// ```
    /// use doorway_memory::Cost;
    /// let plan = doorway_simulator::Plan::new(4, Cost::Dsm);
    /// ```
    #[must_use]
    pub fn new(n: usize, cost: Cost) -> Plan {
        Plan { n, cost, contention: n, seed: 0, passages: None, accesses: ACCESSES, cancelled: None }
    }

    /// Only `c` of the processes take part; which ones is up to the seed.
    ///
    /// ```
    /// # use doorway_memory::Cost;
    /// let plan = doorway_simulator::Plan::new(64, Cost::Dsm).contention(2);
    /// ```
    #[must_use]
    pub fn contention(mut self, c: usize) -> Plan {
        self.contention = c.clamp(1, self.n);
        self
    }

    /// What random choices start from.
    ///
    /// ```
    /// # use doorway_memory::Cost;
    /// let plan = doorway_simulator::Plan::new(4, Cost::Dsm).seed(1);
    /// ```
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Plan {
        self.seed = seed;
        self
    }

    /// Each process makes so many passages in each schedule.
    ///
    /// ```
    /// # use doorway_memory::Cost;
    /// let plan = doorway_simulator::Plan::new(4, Cost::Dsm).passages(3);
    /// ```
    #[must_use]
    pub fn passages(mut self, passages: u32) -> Plan {
        self.passages = Some(passages.max(1));
        self
    }

    /// Ends each schedule after about so many accesses.
    ///
    /// ```
    /// # use doorway_memory::Cost;
    /// let plan = doorway_simulator::Plan::new(4, Cost::Dsm).accesses(1_000_000);
    /// ```
    #[must_use]
    pub fn accesses(mut self, accesses: u64) -> Plan {
        self.accesses = accesses;
        self
    }

    /// Asks `cancelled` now and then whether to stop. Once it has said yes it must go on saying so.
    ///
    /// ```
    /// # use doorway_memory::Cost;
    /// let plan = doorway_simulator::Plan::new(4, Cost::Dsm).cancelled(std::sync::Arc::new(|| false));
    /// ```
    #[must_use]
    pub fn cancelled(mut self, cancelled: Arc<dyn Fn() -> bool>) -> Plan {
        self.cancelled = Some(cancelled);
        self
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.as_ref().is_some_and(|cancelled| cancelled())
    }

    /// Who takes part.
    fn participants(&self) -> Vec<Pid> {
        let mut all: Vec<Pid> = (0..self.n).collect();
        if self.contention < self.n {
            Random::new(self.seed).shuffle(&mut all);
        }
        all.truncate(self.contention);
        all.sort_unstable();
        all
    }

    /// What no passage costs.
    fn cap(&self) -> u64 {
        MOST_PER_PAIR * (self.n * self.n) as u64
    }

    /// Several passages, and more of them the fewer take part.
    fn rounds(&self) -> u32 {
        self.passages.unwrap_or((256 / self.contention as u32).clamp(2, 64))
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plan {{ n: {}, cost: {:?}, contention: {}, .. }}", self.n, self.cost, self.contention)
    }
}

/// What was seen of one size.
///
/// See the [example of `measure`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Measured {
    /// The most remote references in a passage.
    pub worst: u64,
    /// In which schedule: the first, if there are several.
    pub schedule: Schedule,
    /// The mean of the passages of the schedule in which it is highest.
    pub mean: f64,
    /// Passages that were gone through.
    pub passages: u64,
    /// Accesses that were made.
    pub accesses: u64,
    /// Why there is no bound, if none was found.
    pub unbounded: Option<Unbounded>,
    /// The most that were inside at a time.
    pub most_inside: usize,
    /// Whether, in some schedule, all who were left waited for one another.
    pub stuck: bool,
    /// Whether some schedule was ended after as many accesses as the plan allows. What was seen until then counts.
    pub cut: bool,
    /// Whether it was told to stop.
    pub cancelled: bool,
}

/// Why there is no bound on the remote references of a passage.
///
/// ```
/// assert_eq!(doorway_simulator::Unbounded::BusyWait.to_string(), "busy-waits remotely");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unbounded {
    /// A process looked again and again at what is not its own, and nothing changed. As long as the others take no step
    /// it goes on like that: this is a proof.
    BusyWait,
    /// The more passages others made, the more a passage cost: this is what was seen.
    Starvation,
}

impl fmt::Display for Unbounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Unbounded::BusyWait => "busy-waits remotely",
            Unbounded::Starvation => "the longer others go on, the more one pays",
        })
    }
}

/// Runs a lock under every schedule and counts the remote references of each passage.
///
/// ```
/// use doorway_algorithms::mutex::mcs::Mcs;
/// use doorway_memory::Cost;
/// use doorway_simulator::{Plan, measure};
///
/// let few = measure(&Plan::new(4, Cost::Dsm), |space| Mcs::new(space, 4));
/// let many = measure(&Plan::new(200, Cost::Dsm), |space| Mcs::new(space, 200));
/// assert_eq!((few.worst, many.worst), (4, 4));
/// ```
pub fn measure<A: Exclusion<Machine>>(plan: &Plan, make: impl Fn(&mut Machine) -> A) -> Measured {
    let mut found = Measured {
        worst: 0,
        schedule: Schedule::Solo,
        mean: 0.0,
        passages: 0,
        accesses: 0,
        unbounded: None,
        most_inside: 0,
        stuck: false,
        cut: false,
        cancelled: false,
    };
    for schedule in Schedule::ALL {
        if plan.contention == 1 && schedule != Schedule::Solo {
            break;
        }
        if plan.contention <= FEW && schedule == Schedule::Few {
            continue; // they are few in any case
        }
        let rounds = if schedule == Schedule::Few { FEW_ROUNDS } else { plan.rounds() };
        let run = run(plan, schedule, rounds, &make);
        if run.tally.worst > found.worst {
            (found.worst, found.schedule) = (run.tally.worst, schedule);
        }
        found.mean = found.mean.max(run.tally.remote as f64 / run.tally.passages.max(1) as f64);
        found.passages += run.tally.passages;
        found.accesses += run.accesses;
        found.most_inside = found.most_inside.max(run.tally.most_inside);
        found.stuck |= run.stuck;
        found.cut |= run.accesses > plan.accesses;
        if run.tally.endless {
            found.unbounded = Some(Unbounded::BusyWait);
        } else if run.tally.worst > plan.cap() {
            found.unbounded.get_or_insert(Unbounded::Starvation);
        }
        if plan.is_cancelled() {
            found.cancelled = true;
            return found;
        }
    }
    if found.unbounded.is_none() && (2..=LONG_RUN_PROCESSES).contains(&plan.contention) {
        let [short, long] = LONG_RUNS.map(|rounds| run(plan, Schedule::Victim, rounds, &make).tally.worst);
        if long >= LONG_RUN_GROWTH * short {
            found.unbounded = Some(Unbounded::Starvation);
        }
    }
    found
}

struct Ended {
    tally: Tally,
    accesses: u64,
    stuck: bool,
}

fn run<A: Exclusion<Machine>>(
    plan: &Plan,
    schedule: Schedule,
    rounds: u32,
    make: &impl Fn(&mut Machine) -> A,
) -> Ended {
    let mut participants = plan.participants();
    let mut random = Random::new(plan.seed ^ (schedule as u64) << 32);
    if schedule == Schedule::Few {
        random.shuffle(&mut participants);
        participants.truncate(FEW);
    }
    let victim = participants[random.below(participants.len())];
    let mut goals = vec![0; plan.n];
    let stride = if schedule == Schedule::Solo { participants.len().div_ceil(SOLOISTS) } else { 1 };
    participants.iter().step_by(stride).for_each(|&p| goals[p] = rounds);
    match schedule {
        Schedule::Solo => goals[participants[participants.len() - 1]] = rounds,
        Schedule::Bursts => participants.iter().for_each(|&p| goals[p] = 1),
        _ => {}
    }
    let mut machine = Machine::new(plan.cost);
    machine.runs_on = !matches!(schedule, Schedule::Random | Schedule::Few);
    let lock = make(&mut machine);
    let fooled = (schedule == Schedule::Victim).then_some(victim);
    let mut execution = Execution::new(lock, machine, &goals, fooled);
    let mut scheduler = Scheduler::new(schedule, victim, random);
    let all: u64 = goals.iter().map(|&goal| u64::from(goal)).sum();
    let mut bursts = 1;
    let mut steps = 0_u64;
    let stuck = loop {
        let Some(p) = scheduler.pick(&execution) else {
            let is_through = execution.tally.passages == all * u64::from(bursts);
            if schedule == Schedule::Bursts && is_through && bursts < rounds {
                bursts += 1;
                scheduler.burst_ended();
                execution.once_more();
                continue;
            }
            break !is_through;
        };
        execution.step(p);
        steps += 1;
        if execution.machine.accesses > plan.accesses
            || execution.tally.worst > plan.cap()
            || (steps.is_multiple_of(STEPS_PER_QUESTION) && plan.is_cancelled())
        {
            break false;
        }
    };
    Ended { tally: execution.tally, accesses: execution.machine.accesses, stuck }
}
