//! What a process does, section by section, whatever the algorithm's types are.
use std::fmt;

use doorway_memory::{Exclusion, Local, Part, Pid, Sink, Source};

use crate::{
    model::Fences,
    view::{Registers, View, Word},
};

/// Where a process is in its protocol.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
#[non_exhaustive]
pub enum Section {
    /// Not interested.
    Remainder,
    /// Taking a place in line.
    Doorway,
    /// In line. For a part: in a call.
    Wait,
    /// Inside. For a part: the call has returned.
    Critical,
    /// On the way out.
    Exit,
    /// On the way out without having been inside: it has given up.
    Abandon,
    /// Dead, and another finishes its passage.
    Reap,
}

impl Section {
    pub(crate) const ALL: [Section; 7] = [
        Section::Remainder,
        Section::Doorway,
        Section::Wait,
        Section::Critical,
        Section::Exit,
        Section::Abandon,
        Section::Reap,
    ];

    /// The ways out; the last two only in models that have them.
    pub(crate) const WAYS_OUT: [Section; 3] = [Section::Exit, Section::Abandon, Section::Reap];

    /// Where a process is as soon as it has begun to leave this section.
    pub(crate) fn begun(self) -> Section {
        match self {
            Section::Remainder => Section::Doorway,
            Section::Critical => Section::Exit,
            there => there,
        }
    }

    /// Whether a process that leaves this section begins a passage or, in a part, a call.
    pub(crate) fn begins(self, is_part: bool) -> bool {
        self == Section::Remainder || is_part && self == Section::Critical
    }

    /// Whether a process here need not take steps.
    pub(crate) fn may_rest(self) -> bool {
        self == Section::Remainder
    }

    /// Whether a process here counts as inside.
    pub(crate) fn is_inside(self) -> bool {
        self == Section::Critical
    }

    /// Whether a process here is through the doorway and not yet inside.
    pub(crate) fn is_waiting(self) -> bool {
        self == Section::Wait
    }
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Section::Remainder => "remainder",
            Section::Doorway => "doorway",
            Section::Wait => "wait",
            Section::Critical => "critical section",
            Section::Exit => "exit",
            Section::Abandon => "abandon",
            Section::Reap => "reap",
        })
    }
}

/// A process' program with the types erased: everything behind this line is compiled once, not once for each algorithm.
pub(crate) trait Program {
    /// Runs process `p` on from `section` until the view halts it or it comes to rest, inside or in the remainder. The
    /// view's history is that of the section returned.
    fn run(&self, view: &mut View, p: Pid, section: Section) -> Section;

    /// Whether a process may leave this section.
    fn goes_on(&self, section: Section) -> bool;

    /// Whether a process that leaves this section begins a passage or, in a part, a call.
    fn begins(&self, section: Section) -> bool {
        section.begins(self.is_part())
    }

    /// Whether there is a `reap`.
    fn is_reapable(&self) -> bool;

    /// Whether there is an `abandon`.
    fn is_abandonable(&self) -> bool;

    /// What a process that waits still has seen when it gives up: its place, which a history in `wait` begins with.
    fn place(&self, history: &[Word]) -> Vec<Word>;

    /// Whether processes are all alike.
    fn is_symmetric(&self) -> bool;

    /// Whether this is a part; then Rule and WaitFree are the properties, else those of locks.
    fn is_part(&self) -> bool;

    /// Whether this is a lock that gives names to those inside.
    fn assigns(&self) -> bool;

    /// What a part's latest call returned, as words; nothing if there was none. For a lock, the name of who is inside.
    fn outcome(&self, section: Section, history: &[Word]) -> Vec<u64>;

    /// The part's rule, given every process' section and history. For a lock, that names are below k and different.
    fn rule(&self, processes: &[(Section, &[Word])]) -> Result<(), String>;
}

pub(crate) struct Lock<A> {
    lock: A,
    k: usize,
    /// The space its registers are from.
    space: u64,
}

impl<A: Exclusion<View>> Lock<A> {
    pub(crate) fn make(registers: &mut Registers, k: usize, make: impl FnOnce(&mut Registers) -> A) -> Lock<A> {
        Lock { lock: make(registers), k, space: registers.space }
    }
}

impl<A: Exclusion<View>> Lock<A> {
    /// The name of a process, if it is inside and names are given.
    fn name(&self, section: Section, history: &[Word]) -> Option<usize> {
        let named = A::ASSIGNS && section.is_inside();
        named.then(|| self.lock.name(&A::Place::load(&mut View::look(history.to_vec(), Fences::None))))
    }
}

impl<A: Exclusion<View>> Program for Lock<A> {
    fn run(&self, view: &mut View, p: Pid, section: Section) -> Section {
        view.space = Some(self.space);
        if section == Section::Reap {
            view.section = section;
            if self.lock.reap(view, p).is_err() {
                return Section::Reap;
            }
            view.forget_after(0);
            return Section::Remainder;
        }
        let mut section = section.begun();
        let mut place = (section != Section::Doorway).then(|| A::Place::load(view));
        loop {
            view.section = section;
            match (section, &place) {
                (Section::Wait, Some(place)) => {
                    let Ok(place) = self.lock.enter(view, p, place) else { return Section::Wait };
                    view.forget_after(0);
                    place.save(view);
                    return Section::Critical;
                }
                (Section::Exit, Some(place)) => {
                    if self.lock.exit(view, p, place).is_err() {
                        return Section::Exit;
                    }
                    view.forget_after(0);
                    return Section::Remainder;
                }
                (Section::Abandon, Some(place)) => {
                    if self.lock.abandon(view, p, place).is_err() {
                        return Section::Abandon;
                    }
                    view.forget_after(0);
                    return Section::Remainder;
                }
                _ => {
                    let Ok(taken) = self.lock.doorway(view, p) else { return Section::Doorway };
                    view.forget_after(0);
                    taken.save(view);
                    place = Some(taken);
                    section = Section::Wait;
                }
            }
        }
    }

    fn goes_on(&self, _: Section) -> bool {
        true
    }

    fn is_reapable(&self) -> bool {
        A::REAPABLE
    }

    fn is_abandonable(&self) -> bool {
        A::ABANDONABLE
    }

    fn place(&self, history: &[Word]) -> Vec<Word> {
        let mut view = View::look(history.to_vec(), Fences::None);
        A::Place::load(&mut view);
        history[..view.at].to_vec()
    }

    fn is_symmetric(&self) -> bool {
        A::SYMMETRIC
    }

    fn is_part(&self) -> bool {
        false
    }

    fn assigns(&self) -> bool {
        A::ASSIGNS
    }

    fn outcome(&self, section: Section, history: &[Word]) -> Vec<u64> {
        self.name(section, history).into_iter().map(|name| name as u64).collect()
    }

    fn rule(&self, processes: &[(Section, &[Word])]) -> Result<(), String> {
        let names: Vec<_> = processes.iter().map(|&(section, history)| self.name(section, history)).collect();
        for (p, named) in names.iter().enumerate() {
            match named {
                Some(name) if *name >= self.k => return Err(format!("one is inside with the name {name}")),
                Some(name) if names[..p].contains(named) => return Err(format!("two are inside with the name {name}")),
                _ => {}
            }
        }
        Ok(())
    }
}

/// A part's history begins with what the latest call returned, if there was one.
pub(crate) struct Piece<A> {
    part: A,
    /// The space its registers are from.
    space: u64,
}

impl<A: Part<View>> Piece<A> {
    pub(crate) fn make(registers: &mut Registers, make: impl FnOnce(&mut Registers) -> A) -> Piece<A> {
        Piece { part: make(registers), space: registers.space }
    }
}

impl<A: Part<View>> Program for Piece<A> {
    fn run(&self, view: &mut View, p: Pid, section: Section) -> Section {
        view.space = Some(self.space);
        if section == Section::Remainder {
            view.put(false);
        } else {
            latest::<A>(view);
        }
        view.section = Section::Wait;
        match self.part.call(view, p) {
            Err(_) => Section::Wait,
            Ok(outcome) => {
                view.forget_after(0);
                view.put(true);
                outcome.save(view);
                Section::Critical
            }
        }
    }

    fn goes_on(&self, section: Section) -> bool {
        A::AGAIN || section != Section::Critical
    }

    fn is_reapable(&self) -> bool {
        false
    }

    fn is_abandonable(&self) -> bool {
        false
    }

    fn place(&self, _: &[Word]) -> Vec<Word> {
        Vec::new()
    }

    fn is_symmetric(&self) -> bool {
        false
    }

    fn is_part(&self) -> bool {
        true
    }

    fn assigns(&self) -> bool {
        false
    }

    fn outcome(&self, section: Section, history: &[Word]) -> Vec<u64> {
        let mut view = View::look(history.to_vec(), Fences::None);
        if section != Section::Remainder {
            latest::<A>(&mut view);
        }
        history[..view.at].iter().map(|word| word.bits).filter(|_| view.at > 1).collect()
    }

    fn rule(&self, processes: &[(Section, &[Word])]) -> Result<(), String> {
        let latest: Vec<Option<A::Outcome>> = processes
            .iter()
            .map(|&(section, history)| match section {
                Section::Remainder => None,
                _ => latest::<A>(&mut View::look(history.to_vec(), Fences::None)),
            })
            .collect();
        self.part.rule(&latest)
    }
}

/// What the latest call returned, from the start of a history.
fn latest<A: Part<View>>(view: &mut View) -> Option<A::Outcome> {
    let called: bool = view.take();
    called.then(|| A::Outcome::load(view))
}
