//! The sections of a process, and the algorithm as a program without its types.
use std::fmt;

use doorway_memory::{Exclusion, Home, Local, Memory, Name, Part, Pid, Sink, Source, Space, Ticket};

use crate::{
    model::Setting,
    registers::{Handle, Registers},
    view::{View, Word},
};

/// A section of a passage.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
#[non_exhaustive]
pub enum Section {
    /// The process does not compete.
    Remainder,
    /// The process announces itself.
    Doorway,
    /// The process waits for its turn. For a part: it is in a call.
    Wait,
    /// The process is a holder. For a part: the call has returned.
    Critical,
    /// The process releases the lock.
    Exit,
    /// The process leaves the waiting section without entering the critical section.
    Abort,
    /// The process is dead, and another one completes its passage.
    Reap,
    /// The process was taken for dead while it waited, and waits on: another one completes its passage, or has.
    ExpiredWait,
    /// The process was taken for dead, and believes that it is a holder.
    ExpiredCritical,
}

impl Section {
    pub(crate) const ALL: [Section; 9] = [
        Section::Remainder,
        Section::Doorway,
        Section::Wait,
        Section::Critical,
        Section::Exit,
        Section::Abort,
        Section::Reap,
        Section::ExpiredWait,
        Section::ExpiredCritical,
    ];

    /// The sections that end a passage; the last two only in models that have them.
    pub(crate) const LEAVING: [Section; 3] = [Section::Exit, Section::Abort, Section::Reap];

    /// The section of a process that has begun to leave this one.
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

    /// Whether a process in this section may stay there for ever.
    pub(crate) fn may_rest(self) -> bool {
        self == Section::Remainder
    }

    /// Whether a process in this section is a holder, or believes that it is.
    pub(crate) fn is_critical(self) -> bool {
        matches!(self, Section::Critical | Section::ExpiredCritical)
    }

    /// Whether a process in this section was taken for dead while it lives.
    pub(crate) fn is_expired(self) -> bool {
        matches!(self, Section::ExpiredWait | Section::ExpiredCritical)
    }

    /// Whether a process in this section has completed the doorway and not entered.
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
            Section::Abort => "abort",
            Section::Reap => "reap",
            Section::ExpiredWait => "wait, taken for dead",
            Section::ExpiredCritical => "critical section, taken for dead",
        })
    }
}

/// An algorithm with its types erased, so that the checker is compiled once and not for each algorithm.
pub(crate) trait Program {
    /// Executes process `p` from `section` until the view halts it, or it enters the critical section or the remainder.
    /// The view's history is then that of the section returned.
    fn run(&self, view: &mut View, p: Pid, section: Section) -> Section;

    /// Whether a process may leave this section.
    fn goes_on(&self, section: Section) -> bool;

    /// Whether a process that leaves this section begins a passage or, in a part, a call.
    fn begins(&self, section: Section) -> bool {
        section.begins(self.is_part())
    }

    /// Whether there is a `reap`.
    fn is_reapable(&self) -> bool;

    /// Whether there is an `abort`.
    fn is_abortable(&self) -> bool;

    /// The history of a waiter that aborts: its place, with which a history in `wait` begins.
    fn place(&self, history: &[Word]) -> Vec<Word>;

    /// The section and history of a process after it is taken for dead or, if it was, after it has found out. None where
    /// neither is possible.
    fn expire(&self, section: Section, history: &[Word]) -> Option<(Section, Vec<Word>)>;

    /// Whether processes are all alike.
    fn is_symmetric(&self) -> bool;

    /// Whether this is a part.
    fn is_part(&self) -> bool;

    /// Whether this is a lock that assigns names to holders.
    fn assigns(&self) -> bool;

    /// Whether this is a lock whose holders have tokens.
    fn has_tokens(&self) -> bool;

    /// Whether the process is a holder, and the resource of its name has refused its token.
    fn is_refused(&self, section: Section, history: &[Word]) -> bool;

    /// The outcome of a part's latest call, as words; empty if there was none. For a lock, the name of a holder.
    fn outcome(&self, section: Section, history: &[Word]) -> Vec<u64>;

    /// The part's rule, given the sections and histories of all processes. For a lock: names are below k and different.
    fn rule(&self, k: usize, processes: &[(Section, &[Word])]) -> Result<(), String>;
}

/// A lock as a program.
pub(crate) struct Lock<A> {
    lock: A,
    /// The space of its registers.
    space: u64,
    /// If its holders have tokens: for each name, the largest token that the resource of that name has seen. Only models
    /// with expiries have these registers.
    resources: Vec<Handle<Ticket>>,
}

impl<A: Exclusion<View>> Lock<A> {
    pub(crate) fn make(registers: &mut Registers, make: impl FnOnce(&mut Registers) -> A) -> Lock<A> {
        let lock = make(registers);
        let names = 0..lock.tokens().map_or(0, |tokens| tokens.resources());
        let resource = |j| registers.register(Name::new("Resource").index(j), Home::Nobody, Ticket::ZERO);
        let resources: Vec<_> = names.map(resource).collect();
        registers.resources = resources.len();
        Lock { lock, space: registers.space, resources }
    }

    /// The name of a process, if it is a holder, or believes that it is, and has one.
    fn name(&self, section: Section, history: &[Word]) -> Option<usize> {
        let names = self.lock.names().filter(|_| section.is_critical())?;
        let mut view = View::look(history.to_vec(), Setting::PLAIN);
        if section.is_expired() {
            Belief::take(&mut view);
        }
        Some(names.name(&A::Inside::load(&mut view)))
    }

    fn wait(&self, view: &mut View, p: Pid, place: &A::Place) -> Section {
        view.section = Section::Wait;
        let Ok(inside) = self.lock.wait(view, p, place) else { return Section::Wait };
        view.forget_after(0);
        inside.save(view);
        Section::Critical
    }

    /// A holder, or a process that believes that it is one, shows its token to the resource of its name, once. Returns whether
    /// it had done so before. In models without expiries there is nothing to show.
    fn has_used_resource(&self, view: &mut View, inside: &A::Inside) -> bool {
        let Some(tokens) = self.lock.tokens().filter(|_| view.setting.expiries) else { return true };
        let start = view.at;
        if start < view.history.len() {
            let _is_served: bool = view.take();
            return true;
        }
        let (resource, token) = (&self.resources[tokens.name(inside)], tokens.token(inside));
        if let Ok(seen) = view.at("use").update(resource, |seen| seen.max(token)) {
            view.forget_after(start);
            view.put(token > seen);
        }
        false
    }

    /// Executes a process that was taken for dead while it lives.
    fn run_expired(&self, view: &mut View, p: Pid, section: Section) -> Section {
        view.section = section;
        if let Belief::WhileReaped(len) = Belief::take(view) {
            view.at += len;
            let recovery = self.lock.recovery().expect(CHECKED);
            if recovery.reap(view, p).is_ok() {
                let believed = view.history[2..2 + len].to_vec();
                view.history = Belief::reaped(&believed);
                view.at = view.history.len();
            }
            return section;
        }
        if section == Section::ExpiredWait {
            let place = A::Place::load(view);
            view.expired = true;
            return match self.lock.wait(view, p, &place) {
                Ok(inside) => {
                    view.forget_after(1);
                    inside.save(view);
                    Section::ExpiredCritical
                }
                Err(_) if view.told => forgotten(view),
                Err(_) => section,
            };
        }
        let inside = A::Inside::load(view);
        if self.has_used_resource(view, &inside) { forgotten(view) } else { section }
    }
}

const CHECKED: &str = "a model with deaths, aborts or expiries is refused for a lock without";

/// Whether a process that was taken for dead is being reaped.
pub(crate) fn is_being_reaped(history: &[Word]) -> bool {
    matches!(Belief::take(&mut View::look(history.to_vec(), Setting::PLAIN)), Belief::WhileReaped(_))
}

/// The passage is over.
fn forgotten(view: &mut View) -> Section {
    view.forget_after(0);
    Section::Remainder
}

/// What a process that was taken for dead has in its history before what it believes.
enum Belief {
    /// It is being reaped; what it believes has this many words, and then come those of the reap.
    WhileReaped(usize),
    /// It has been reaped.
    Reaped,
}

impl Belief {
    fn take(view: &mut View) -> Belief {
        if view.take() { Belief::Reaped } else { Belief::WhileReaped(view.take()) }
    }

    fn while_reaped(believed: &[Word]) -> Vec<Word> {
        [Word::saved(false), Word::saved(believed.len())].iter().chain(believed).copied().collect()
    }

    fn reaped(believed: &[Word]) -> Vec<Word> {
        [Word::saved(true)].iter().chain(believed).copied().collect()
    }
}

/// Executes a section after which the process is in the remainder.
fn leave<T, H>(view: &mut View, section: Section, run: impl FnOnce(&mut View) -> Result<T, H>) -> Section {
    view.section = section;
    if run(view).is_err() {
        return section;
    }
    view.forget_after(0);
    Section::Remainder
}

impl<A: Exclusion<View>> Program for Lock<A> {
    fn run(&self, view: &mut View, p: Pid, section: Section) -> Section {
        view.space = Some(self.space);
        match section.begun() {
            Section::Wait => {
                let place = A::Place::load(view);
                self.wait(view, p, &place)
            }
            Section::Exit => {
                let inside = A::Inside::load(view);
                view.section = section;
                if !self.has_used_resource(view, &inside) {
                    return section;
                }
                leave(view, Section::Exit, |view| self.lock.exit(view, p, &inside))
            }
            Section::Abort => {
                let place = A::Place::load(view);
                leave(view, Section::Abort, |view| self.lock.aborting().expect(CHECKED).abort(view, p, &place))
            }
            Section::Reap => leave(view, Section::Reap, |view| self.lock.recovery().expect(CHECKED).reap(view, p)),
            Section::ExpiredWait | Section::ExpiredCritical => self.run_expired(view, p, section),
            Section::Remainder | Section::Doorway | Section::Critical => {
                view.section = Section::Doorway;
                let Ok(place) = self.lock.doorway(view, p) else { return Section::Doorway };
                view.forget_after(0);
                place.save(view);
                self.wait(view, p, &place)
            }
        }
    }

    fn goes_on(&self, _: Section) -> bool {
        true
    }

    fn is_reapable(&self) -> bool {
        self.lock.recovery().is_some()
    }

    fn is_abortable(&self) -> bool {
        self.lock.aborting().is_some()
    }

    fn place(&self, history: &[Word]) -> Vec<Word> {
        let mut view = View::look(history.to_vec(), Setting::PLAIN);
        A::Place::load(&mut view);
        history[..view.at].to_vec()
    }

    fn expire(&self, section: Section, history: &[Word]) -> Option<(Section, Vec<Word>)> {
        match section {
            Section::Wait => Some((Section::ExpiredWait, Belief::while_reaped(history))),
            Section::Critical => Some((Section::ExpiredCritical, Belief::while_reaped(history))),
            Section::ExpiredWait | Section::ExpiredCritical => {
                (!is_being_reaped(history)).then_some((Section::Remainder, Vec::new()))
            }
            _ => None,
        }
    }

    fn is_symmetric(&self) -> bool {
        A::SYMMETRIC
    }

    fn is_part(&self) -> bool {
        false
    }

    fn assigns(&self) -> bool {
        self.lock.names().is_some()
    }

    fn has_tokens(&self) -> bool {
        self.lock.tokens().is_some()
    }

    fn is_refused(&self, section: Section, history: &[Word]) -> bool {
        if section != Section::Critical || !self.has_tokens() {
            return false;
        }
        let mut view = View::look(history.to_vec(), Setting::PLAIN);
        A::Inside::load(&mut view);
        view.at < view.history.len() && !view.take::<bool>()
    }

    fn outcome(&self, section: Section, history: &[Word]) -> Vec<u64> {
        self.name(section, history).into_iter().map(|name| name as u64).collect()
    }

    fn rule(&self, k: usize, processes: &[(Section, &[Word])]) -> Result<(), String> {
        let names: Vec<_> = processes.iter().map(|&(section, history)| self.name(section, history)).collect();
        for (p, named) in names.iter().enumerate() {
            match named {
                Some(name) if *name >= k => return Err(format!("a holder has the name {name}")),
                Some(name) if names[..p].contains(named) => return Err(format!("two holders have the name {name}")),
                _ => {}
            }
        }
        Ok(())
    }
}

/// A part as a program. Its histories begin with the outcome of the latest call, if there was one.
pub(crate) struct Piece<A> {
    part: A,
    /// The space of its registers.
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

    fn is_abortable(&self) -> bool {
        false
    }

    fn place(&self, _: &[Word]) -> Vec<Word> {
        Vec::new()
    }

    fn expire(&self, _: Section, _: &[Word]) -> Option<(Section, Vec<Word>)> {
        None
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

    fn has_tokens(&self) -> bool {
        false
    }

    fn is_refused(&self, _: Section, _: &[Word]) -> bool {
        false
    }

    fn outcome(&self, section: Section, history: &[Word]) -> Vec<u64> {
        let mut view = View::look(history.to_vec(), Setting::PLAIN);
        if section != Section::Remainder {
            latest::<A>(&mut view);
        }
        history[..view.at].iter().map(|word| word.bits).filter(|_| view.at > 1).collect()
    }

    fn rule(&self, _: usize, processes: &[(Section, &[Word])]) -> Result<(), String> {
        let latest: Vec<Option<A::Outcome>> = processes
            .iter()
            .map(|&(section, history)| match section {
                Section::Remainder => None,
                _ => latest::<A>(&mut View::look(history.to_vec(), Setting::PLAIN)),
            })
            .collect();
        self.part.rule(&latest)
    }
}

/// The outcome of the latest call, from the start of a history.
fn latest<A: Part<View>>(view: &mut View) -> Option<A::Outcome> {
    let called: bool = view.take();
    called.then(|| A::Outcome::load(view))
}
