//! A run: processes that go through a lock, one access at a time.
use std::mem;

use doorway_memory::{Exclusion, Pid};

use crate::{
    machine::{Access, Machine, Permit, Stopped, Tape},
    ready::Ready,
};

/// A run of a lock that is under way.
pub(crate) struct Execution<A: Exclusion<Machine>> {
    lock: A,
    pub(crate) machine: Machine,
    processes: Vec<Process<A::Place>>,
    fooled: Option<Pid>,
    /// Who can take a step.
    pub(crate) ready: Ready,
    pub(crate) tally: Tally,
}

/// What has been seen so far.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Tally {
    /// The most remote references of a passage, also of one that is not over.
    pub(crate) worst: u64,
    /// All remote references of passages that are over.
    pub(crate) remote: u64,
    pub(crate) passages: u64,
    /// How many are inside now, and how many were at most.
    inside: usize,
    pub(crate) most_inside: usize,
    /// Whether someone waited where each look is remote.
    pub(crate) endless: bool,
}

struct Process<P> {
    section: Section,
    place: Option<P>,
    tape: Tape,
    /// What it is about to do; not known of one that has been woken and looks again.
    next: Option<Access>,
    /// Passages that are over, and how many there are to be.
    passages: u32,
    goal: u32,
    /// Whether it has not begun its passage.
    is_fresh: bool,
    /// Whether it is between the last access of `wait` and the first of `exit`.
    is_inside: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Section {
    Doorway,
    Wait,
    Exit,
}

impl<A: Exclusion<Machine>> Execution<A> {
    /// `goals` says how many passages each process makes.
    pub(crate) fn new(lock: A, mut machine: Machine, goals: &[u32], fooled: Option<Pid>) -> Execution<A> {
        let n = goals.len();
        machine.prepare(n, fooled);
        let process = |&goal| Process {
            section: Section::Doorway,
            place: None,
            tape: Tape::default(),
            next: None,
            passages: 0,
            goal,
            is_fresh: true,
            is_inside: false,
        };
        let processes = goals.iter().map(process).collect();
        let mut execution =
            Execution { lock, machine, processes, fooled, ready: Ready::new(n), tally: Tally::default() };
        for p in (0..n).filter(|&p| goals[p] > 0) {
            execution.ready.insert(p);
            execution.run(p, Permit::None);
        }
        execution
    }

    /// What process `p` is about to do, if that is known.
    pub(crate) fn next(&self, p: Pid) -> Option<Access> {
        self.processes[p].next
    }

    pub(crate) fn is_fresh(&self, p: Pid) -> bool {
        self.processes[p].is_fresh
    }

    /// Process `p` takes a step.
    pub(crate) fn step(&mut self, p: Pid) {
        let process = &mut self.processes[p];
        process.is_fresh = false;
        self.tally.inside -= usize::from(mem::take(&mut process.is_inside));
        self.run(p, Permit::One);
        let mut woken = mem::take(&mut self.machine.woken);
        for q in woken.drain(..) {
            self.ready.insert(q);
            if self.fooled == Some(q) {
                self.run(q, Permit::None); // who wants to fool it must know what it is about to look at
            }
        }
        self.machine.woken = woken;
    }

    /// Everyone who has made all its passages makes one more.
    pub(crate) fn once_more(&mut self) {
        for p in 0..self.processes.len() {
            let process = &mut self.processes[p];
            if process.goal > 0 && process.passages == process.goal {
                process.goal += 1;
                self.ready.insert(p);
                self.run(p, Permit::None);
            }
        }
    }

    fn run(&mut self, p: Pid, permit: Permit) {
        let Execution { lock, machine, processes, tally, ready, .. } = self;
        let process = &mut processes[p];
        mem::swap(&mut machine.tape, &mut process.tape);
        machine.resume(p, permit);
        let stopped = loop {
            machine.enter_section();
            let place = || process.place.as_ref().expect("it is through the doorway");
            let ended = match process.section {
                Section::Doorway => lock.doorway(machine, p).map(|place| process.place = Some(place)),
                Section::Wait => lock.enter(machine, p, place()).map(|place| process.place = Some(place)),
                Section::Exit => lock.exit(machine, p, place()),
            };
            // What a passage has cost so far is the least it costs in the end.
            tally.worst = tally.worst.max(machine.tape.remote);
            tally.endless |= machine.tape.endless;
            let Ok(()) = ended else { break Some(machine.stopped()) };
            machine.leave_section();
            process.section = match process.section {
                Section::Doorway => Section::Wait,
                Section::Wait => {
                    tally.inside += 1;
                    tally.most_inside = tally.most_inside.max(tally.inside);
                    process.is_inside = true;
                    machine.stay();
                    Section::Exit
                }
                Section::Exit => {
                    tally.inside -= usize::from(mem::take(&mut process.is_inside)); // if nothing is to be done to leave
                    tally.passages += 1;
                    tally.remote += machine.tape.remote;
                    machine.leave_passage();
                    process.passages += 1;
                    process.is_fresh = true;
                    Section::Doorway
                }
            };
            if process.is_fresh && process.passages == process.goal {
                break None;
            }
        };
        mem::swap(&mut machine.tape, &mut process.tape);
        process.next = match stopped {
            Some(Stopped::Before(access)) => Some(access),
            Some(Stopped::Asleep) | None => {
                ready.remove(p);
                None
            }
        };
    }
}
