//! Measures a lock at one size.
use std::{fmt, sync::Arc};

use doorway_memory::{Cost, Exclusion, Pid};

use crate::{
    execution::{Execution, Tally},
    machine::Machine,
    random::Random,
    schedule::{Schedule, Scheduler},
};

/// The settings of a measurement.
///
/// ```
/// use doorway_algorithms::mutex::mcs::Mcs;
/// use doorway_memory::Cost;
/// use doorway_simulator::{Plan, measure};
///
/// let plan = Plan::new(64, Cost::Dsm).contention(8).passages(3).seed(7);
/// let found = measure(&plan, |space| Mcs::new(space, 64));
/// assert_eq!((found.worst, found.max_holders, found.truncated), (4, 1, false));
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

/// The largest number of processes that can be simulated: more would take minutes.
///
/// ```
/// assert_eq!(doorway_simulator::MAX_PROCESSES, 1024);
/// ```
pub const MAX_PROCESSES: usize = 1024;

/// The default limit on the accesses of one schedule.
const MAX_ACCESSES: u64 = 30_000_000;
/// The number of steps between two checks whether the measurement is cancelled.
const STEPS_PER_CANCEL_CHECK: u64 = 1 << 14;
/// The maximum number of processes in `Schedule::Solo`: an uncontended passage costs nearly the same for all.
const MAX_SOLO: usize = 64;
/// The number of processes in `Schedule::Few`, and of the passages that each makes.
const FEW: usize = 3;
const FEW_PASSAGES: u32 = 32;
/// The largest contention for which it is tested whether the cost of a passage grows with the passages of others.
const STARVATION_MAX_PROCESSES: usize = 4;
/// The number of passages of each process in the two executions of that test.
const STARVATION_PASSAGES: [u32; 2] = [50, 400];
/// The factor by which the worst passage of the second execution must exceed that of the first.
const STARVATION_GROWTH: u64 = 4;
/// A passage with more remote memory references than this, for each pair of processes, is taken to be unbounded.
const MAX_PER_PAIR: u64 = 1000;

impl Plan {
    /// A measurement with `n` processes, all of which take part.
    ///
    /// See [`Plan`].
    ///
    /// # Panics
    /// If `n` is more than [`MAX_PROCESSES`].
    #[must_use]
    pub fn new(n: usize, cost: Cost) -> Plan {
        assert!(n <= MAX_PROCESSES, "at most {MAX_PROCESSES} processes can be simulated, not {n}");
        Plan { n, cost, contention: n, seed: 0, passages: None, accesses: MAX_ACCESSES, cancelled: None }
    }

    /// Lets only `c` of the processes take part; the seed determines which.
    ///
    /// See [`Plan`].
    #[must_use]
    pub fn contention(mut self, c: usize) -> Plan {
        self.contention = c.clamp(1, self.n);
        self
    }

    /// Sets the seed of the random choices; 0 by default.
    ///
    /// See [`Plan`].
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Plan {
        self.seed = seed;
        self
    }

    /// Sets the number of passages that each process makes in each schedule.
    ///
    /// See [`Plan`].
    #[must_use]
    pub fn passages(mut self, passages: u32) -> Plan {
        self.passages = Some(passages.max(1));
        self
    }

    /// Ends each schedule after about this many accesses; 30,000,000 by default.
    ///
    /// ```
    /// use doorway_algorithms::mutex::mcs::Mcs;
    /// use doorway_memory::Cost;
    /// use doorway_simulator::{Plan, measure};
    ///
    /// let found = measure(&Plan::new(4, Cost::Dsm).accesses(10), |space| Mcs::new(space, 4));
    /// assert!(found.truncated);
    /// ```
    #[must_use]
    pub fn accesses(mut self, accesses: u64) -> Plan {
        self.accesses = accesses;
        self
    }

    /// Ends the measurement when `cancelled`, which is called at intervals, returns true. It must then stay true.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use doorway_algorithms::mutex::mcs::Mcs;
    /// use doorway_memory::Cost;
    /// use doorway_simulator::{Plan, measure};
    ///
    /// let plan = Plan::new(4, Cost::Dsm).cancelled(Arc::new(|| true));
    /// assert!(measure(&plan, |space| Mcs::new(space, 4)).cancelled);
    /// ```
    #[must_use]
    pub fn cancelled(mut self, cancelled: Arc<dyn Fn() -> bool>) -> Plan {
        self.cancelled = Some(cancelled);
        self
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.as_ref().is_some_and(|cancelled| cancelled())
    }

    /// The processes that take part.
    fn participants(&self) -> Vec<Pid> {
        let mut all: Vec<Pid> = (0..self.n).collect();
        if self.contention < self.n {
            Random::new(self.seed).shuffle(&mut all);
        }
        all.truncate(self.contention);
        all.sort_unstable();
        all
    }

    /// The cost above which a passage is taken to be unbounded.
    fn cap(&self) -> u64 {
        MAX_PER_PAIR * (self.n * self.n) as u64
    }

    /// The number of passages of each process: by default the more, the fewer processes take part.
    fn passages_each(&self) -> u32 {
        self.passages.unwrap_or((256 / self.contention as u32).clamp(2, 64))
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plan {{ n: {}, cost: {:?}, contention: {}, .. }}", self.n, self.cost, self.contention)
    }
}

/// The result of a measurement.
///
/// See the [example of `measure`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Measured {
    /// The largest number of remote memory references in a passage.
    pub worst: u64,
    /// The schedule in which the worst passage occurred: the first, if there are several.
    pub schedule: Schedule,
    /// The mean over the passages of a schedule, for the schedule in which it is largest.
    pub mean: f64,
    /// The number of complete passages.
    pub passages: u64,
    /// The number of accesses.
    pub accesses: u64,
    /// Why the remote memory references of a passage are unbounded, if they are.
    pub unbounded: Option<Unbounded>,
    /// The largest number of holders at once.
    pub max_holders: usize,
    /// Whether some schedule ended with all remaining processes waiting for one another.
    pub deadlocked: bool,
    /// Whether some schedule was ended by the [limit on accesses](Plan::accesses). Its steps until then count.
    pub truncated: bool,
    /// Whether the measurement was [cancelled](Plan::cancelled).
    pub cancelled: bool,
}

/// Why the remote memory references of a passage are unbounded.
///
/// ```
/// assert_eq!(doorway_simulator::Unbounded::BusyWait.to_string(), "busy-waits remotely");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unbounded {
    /// A process reads a register that is not at home at it again and again while nothing changes. It does so for as
    /// long as the others take no step: this is a proof.
    BusyWait,
    /// The cost of a passage grew with the number of passages of others: this is an observation.
    Starvation,
}

impl fmt::Display for Unbounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Unbounded::BusyWait => "busy-waits remotely",
            Unbounded::Starvation => "grows with the passages of others",
        })
    }
}

/// Runs a lock under every schedule and counts the remote memory references of each passage.
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
        max_holders: 0,
        deadlocked: false,
        truncated: false,
        cancelled: false,
    };
    for schedule in Schedule::ALL {
        if plan.contention == 1 && schedule != Schedule::Solo {
            break;
        }
        if plan.contention <= FEW && schedule == Schedule::Few {
            continue; // `Schedule::Random` has as few participants
        }
        let passages = if schedule == Schedule::Few { FEW_PASSAGES } else { plan.passages_each() };
        let outcome = simulate(plan, schedule, passages, &make);
        if outcome.tally.worst > found.worst {
            (found.worst, found.schedule) = (outcome.tally.worst, schedule);
        }
        found.mean = found.mean.max(outcome.tally.remote as f64 / outcome.tally.passages.max(1) as f64);
        found.passages += outcome.tally.passages;
        found.accesses += outcome.accesses;
        found.max_holders = found.max_holders.max(outcome.tally.max_holders);
        found.deadlocked |= outcome.deadlocked;
        found.truncated |= outcome.accesses > plan.accesses;
        if outcome.tally.spins_remotely {
            found.unbounded = Some(Unbounded::BusyWait);
        } else if outcome.tally.worst > plan.cap() {
            found.unbounded.get_or_insert(Unbounded::Starvation);
        }
        if plan.is_cancelled() {
            found.cancelled = true;
            return found;
        }
    }
    if found.unbounded.is_none() && (2..=STARVATION_MAX_PROCESSES).contains(&plan.contention) {
        let [short, long] =
            STARVATION_PASSAGES.map(|passages| simulate(plan, Schedule::Victim, passages, &make).tally.worst);
        if long >= STARVATION_GROWTH * short {
            found.unbounded = Some(Unbounded::Starvation);
        }
    }
    found
}

/// The outcome of one execution.
struct Outcome {
    tally: Tally,
    accesses: u64,
    deadlocked: bool,
}

/// Executes a lock under one schedule, with `passages` passages of each process.
fn simulate<A: Exclusion<Machine>>(
    plan: &Plan,
    schedule: Schedule,
    passages: u32,
    make: &impl Fn(&mut Machine) -> A,
) -> Outcome {
    let mut participants = plan.participants();
    let mut random = Random::new(plan.seed ^ (schedule as u64) << 32);
    if schedule == Schedule::Few {
        random.shuffle(&mut participants);
        participants.truncate(FEW);
    }
    let victim = participants[random.below(participants.len())];
    let mut goals = vec![0; plan.n];
    let stride = if schedule == Schedule::Solo { participants.len().div_ceil(MAX_SOLO) } else { 1 };
    participants.iter().step_by(stride).for_each(|&p| goals[p] = passages);
    match schedule {
        Schedule::Solo => goals[participants[participants.len() - 1]] = passages,
        Schedule::Bursts => participants.iter().for_each(|&p| goals[p] = 1),
        _ => {}
    }
    let mut machine = Machine::new(plan.cost);
    machine.batches_local_reads = !matches!(schedule, Schedule::Random | Schedule::Few);
    let lock = make(&mut machine);
    let deceived = (schedule == Schedule::Victim).then_some(victim);
    let mut execution = Execution::new(lock, machine, &goals, deceived);
    let mut scheduler = Scheduler::new(schedule, victim, random);
    let all: u64 = goals.iter().map(|&goal| u64::from(goal)).sum();
    let mut bursts = 1;
    let mut steps = 0_u64;
    let deadlocked = loop {
        let Some(p) = scheduler.pick(&execution) else {
            let is_complete = execution.tally.passages == all * u64::from(bursts);
            if schedule == Schedule::Bursts && is_complete && bursts < passages {
                bursts += 1;
                scheduler.burst_ended();
                execution.begin_another_passage();
                continue;
            }
            break !is_complete;
        };
        execution.step(p);
        steps += 1;
        if execution.machine.accesses > plan.accesses
            || execution.tally.worst > plan.cap()
            || (steps.is_multiple_of(STEPS_PER_CANCEL_CHECK) && plan.is_cancelled())
        {
            break false;
        }
    };
    Outcome { tally: execution.tally, accesses: execution.machine.accesses, deadlocked }
}

#[cfg(test)]
mod tests {
    use doorway_algorithms::mutex::kim_anderson::KimAnderson;
    use doorway_memory::FailedCas;

    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_result() {
        let once = || {
            let plan = Plan::new(16, Cost::Cc(FailedCas::Counts)).contention(5).seed(3);
            let found = measure(&plan, |space| KimAnderson::new(space, 16));
            (found.worst, found.mean.to_bits(), found.accesses, found.schedule)
        };
        assert_eq!(once(), once());
    }
}
