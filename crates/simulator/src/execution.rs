//! An execution: processes that make passages through a lock, one access at a time.
use std::mem;

use doorway_memory::{Exclusion, Pid};

use crate::{
    machine::{Access, Machine, Permit, Stopped, Tape},
    ready::Ready,
};

/// An execution of a lock, up to the current step.
pub(crate) struct Execution<A: Exclusion<Machine>> {
    lock: A,
    pub(crate) machine: Machine,
    processes: Vec<Process<A::Place, A::Inside>>,
    victim: Option<Pid>,
    /// The processes that can take a step.
    pub(crate) ready: Ready,
    pub(crate) tally: Tally,
}

/// The counts of an execution so far.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Tally {
    /// The largest number of remote memory references of a passage, including passages that are not complete.
    pub(crate) worst: u64,
    /// The remote memory references of all complete passages together.
    pub(crate) remote: u64,
    pub(crate) passages: u64,
    /// The number of holders now, and its maximum so far.
    holders: usize,
    pub(crate) max_holders: usize,
    /// Whether a process busy-waited on a register that is remote to it.
    pub(crate) spins_remotely: bool,
}

struct Process<P, I> {
    section: Section<P, I>,
    tape: Tape,
    /// The access it is about to make; unknown for a process that was woken and has not run since.
    next: Option<Access>,
    /// The number of its complete passages, and how many it is to make.
    passages: u32,
    goal: u32,
    is_in_remainder: bool,
    /// Whether it is between the last access of `wait` and the first of `exit`.
    is_holder: bool,
}

/// The section a process is in, and the value it carries there.
enum Section<P, I> {
    Doorway,
    Wait(P),
    Exit(I),
}

impl<A: Exclusion<Machine>> Execution<A> {
    /// `goals` says how many passages each process makes.
    pub(crate) fn new(lock: A, mut machine: Machine, goals: &[u32], victim: Option<Pid>) -> Execution<A> {
        let n = goals.len();
        machine.prepare(n, victim);
        let process = |&goal| Process {
            section: Section::Doorway,
            tape: Tape::default(),
            next: None,
            passages: 0,
            goal,
            is_in_remainder: true,
            is_holder: false,
        };
        let processes = goals.iter().map(process).collect();
        let mut execution =
            Execution { lock, machine, processes, victim, ready: Ready::new(n), tally: Tally::default() };
        for p in (0..n).filter(|&p| goals[p] > 0) {
            execution.ready.insert(p);
            execution.run(p, Permit::None);
        }
        execution
    }

    /// The access that process `p` is about to make, if it is known.
    pub(crate) fn next(&self, p: Pid) -> Option<Access> {
        self.processes[p].next
    }

    pub(crate) fn is_in_remainder(&self, p: Pid) -> bool {
        self.processes[p].is_in_remainder
    }

    /// Lets process `p` take a step.
    pub(crate) fn step(&mut self, p: Pid) {
        let process = &mut self.processes[p];
        process.is_in_remainder = false;
        self.tally.holders -= usize::from(mem::take(&mut process.is_holder));
        self.run(p, Permit::One);
        let mut woken = mem::take(&mut self.machine.woken);
        for q in woken.drain(..) {
            self.ready.insert(q);
            if self.victim == Some(q) {
                self.run(q, Permit::None); // the adversary must know which register the victim reads next
            }
        }
        self.machine.woken = woken;
    }

    /// Lets every process that has made all its passages make one more.
    pub(crate) fn begin_another_passage(&mut self) {
        for p in 0..self.processes.len() {
            let process = &mut self.processes[p];
            if process.goal > 0 && process.passages == process.goal {
                process.goal += 1;
                self.ready.insert(p);
                self.run(p, Permit::None);
            }
        }
    }

    /// Runs process `p` until it is stopped before an access, is suspended, or has made all its passages.
    fn run(&mut self, p: Pid, permit: Permit) {
        let Execution { lock, machine, processes, tally, ready, .. } = self;
        let process = &mut processes[p];
        mem::swap(&mut machine.tape, &mut process.tape);
        machine.resume(p, permit);
        let stopped = loop {
            machine.enter_section();
            let next = match &process.section {
                Section::Doorway => lock.doorway(machine, p).map(Section::Wait),
                Section::Wait(place) => lock.wait(machine, p, place).map(Section::Exit),
                Section::Exit(inside) => lock.exit(machine, p, inside).map(|()| Section::Doorway),
            };
            // The cost of an incomplete passage is a lower bound of its final cost.
            tally.worst = tally.worst.max(machine.tape.remote);
            tally.spins_remotely |= machine.tape.spins_remotely;
            let Ok(next) = next else { break Some(machine.stopped()) };
            machine.leave_section();
            match next {
                Section::Wait(_) => {}
                Section::Exit(_) => {
                    tally.holders += 1;
                    tally.max_holders = tally.max_holders.max(tally.holders);
                    process.is_holder = true;
                    machine.stay();
                }
                Section::Doorway => {
                    // Still a holder if the exit section made no access.
                    tally.holders -= usize::from(mem::take(&mut process.is_holder));
                    tally.passages += 1;
                    tally.remote += machine.tape.remote;
                    machine.leave_passage();
                    process.passages += 1;
                    process.is_in_remainder = true;
                }
            }
            process.section = next;
            if process.is_in_remainder && process.passages == process.goal {
                break None;
            }
        };
        mem::swap(&mut machine.tape, &mut process.tape);
        process.next = match stopped {
            Some(Stopped::Before(access)) => Some(access),
            Some(Stopped::Suspended) | None => {
                ready.remove(p);
                None
            }
        };
    }
}
