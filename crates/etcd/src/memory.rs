//! The memory: registers are keys, and an access is a round trip.
//!
//! An access is made in one of two ways. A memory that [blocks](Etcd::blocking) waits for the answer. A memory that
//! [replays](replay) stops the algorithm before each access whose answer it does not have yet; the answer is awaited,
//! and the algorithm runs again from the start of its section, with one more answer. So the same source serves callers
//! that block and callers that await.
use std::{
    marker::PhantomData,
    ops::ControlFlow::{self, Break, Continue},
    sync::Arc,
};

use doorway_memory::{Claim, Home, Local, Memory, Name, Number, Pid, Queue, Space, Ticket, Value};

use crate::{
    Error, Session,
    api::{Compare, Op, Transaction, Watch},
    runtime,
};

/// The memory of one process, on the keys of a session.
pub struct Etcd {
    session: Arc<Session>,
    mode: Mode,
}

enum Mode {
    Blocking,
    /// The answers so far, and how many of them this run has used.
    Replaying(Vec<Answer>, usize),
}

/// A register, or a queue.
pub struct Key<T> {
    key: Arc<str>,
    init: u64,
    value: PhantomData<fn() -> T>,
}

/// Why an algorithm stopped.
pub enum Halt {
    /// It waits for the answer of an access.
    Wants(Access),
    /// An access failed.
    Failed(Error),
}

impl From<Error> for Halt {
    fn from(error: Error) -> Halt {
        Halt::Failed(error)
    }
}

/// One access.
#[derive(Clone, Debug)]
pub enum Access {
    /// Reads a key.
    Get(Arc<str>),
    /// Writes a key.
    Put(Arc<str>, u64),
    /// Writes a key if it was last changed at this revision.
    Exchange(Arc<str>, i64, u64),
    /// Waits until a key is changed after this revision.
    Change(Arc<str>, i64),
    /// Joins a queue.
    Join(Arc<str>, Pid),
    /// Waits until a process is among the first k of a queue.
    Among(Arc<str>, Pid, usize),
    /// Claims a name.
    Claim(Vec<String>, Pid),
    /// Gives up a name.
    Unclaim(String, Pid),
    /// Leaves a queue.
    Leave(Pid),
}

/// The answer to an access.
#[derive(Clone, Debug)]
pub enum Answer {
    /// A value, the revision at which it was last changed, and the store's revision.
    Word(Option<u64>, i64, i64),
    /// Whether it took place.
    Done(bool),
    /// A name and its token.
    Claimed(usize, i64),
}

impl Session {
    /// Executes one access.
    ///
    /// # Errors
    /// If the cluster does not answer or refuses, or the lease is lost.
    pub async fn access(&self, access: &Access) -> Result<Answer, Error> {
        Ok(match access {
            Access::Get(key) => {
                let then = vec![Op::Get(key.to_string())];
                let outcome = self.transact(Transaction { then, ..Transaction::default() }).await?;
                match outcome.found.first().and_then(|found| found.first()) {
                    None => Answer::Word(None, 0, outcome.revision),
                    Some(entry) => {
                        let word = str::from_utf8(&entry.value).ok().and_then(|text| text.parse().ok());
                        let word = word.ok_or_else(|| Error::Foreign { key: entry.key.clone() })?;
                        Answer::Word(Some(word), entry.changed, outcome.revision)
                    }
                }
            }
            Access::Put(key, word) => {
                let then = vec![put(key, *word)];
                self.transact(Transaction { then, ..Transaction::default() }).await?;
                Answer::Done(true)
            }
            Access::Exchange(key, changed, word) => {
                let when = vec![Compare::Changed(key.to_string(), *changed)];
                let outcome =
                    self.transact(Transaction { when, then: vec![put(key, *word)], otherwise: vec![] }).await?;
                Answer::Done(outcome.held)
            }
            Access::Change(key, revision) => {
                let watch = Watch { key: key.to_string(), is_prefix: false };
                // Whatever ends the watch, the caller looks at the register again.
                let seen = async {
                    let mut events = self.api().watch(watch).await?;
                    if events.begun() == *revision { events.next().await.map(drop) } else { Ok(()) }
                };
                match seen.await {
                    Ok(()) => Answer::Done(true),
                    Err(error) if error.is_temporary() => Answer::Done(false),
                    Err(error) => return Err(error),
                }
            }
            Access::Join(queue, p) => {
                self.join(queue, *p).await?;
                Answer::Done(true)
            }
            Access::Among(queue, p, k) => {
                self.until_among(queue, *p, *k).await?;
                Answer::Done(true)
            }
            Access::Claim(names, p) => {
                let (name, token) = self.claim(names, *p).await?;
                Answer::Claimed(name, token)
            }
            Access::Unclaim(name, p) => {
                self.unclaim(name, *p).await?;
                Answer::Done(true)
            }
            Access::Leave(p) => {
                self.leave(*p).await?;
                Answer::Done(true)
            }
        })
    }
}

fn put(key: &str, word: u64) -> Op {
    Op::Put { key: key.to_string(), value: word.to_string().into_bytes(), lease: 0 }
}

/// Runs a section of an algorithm to its end, awaiting each of its accesses.
///
/// # Errors
/// That of the first access that fails.
pub async fn replay<R>(session: &Arc<Session>, section: impl Fn(&mut Etcd) -> Result<R, Halt>) -> Result<R, Error> {
    let mut answers = Vec::new();
    loop {
        let mut memory = Etcd { session: session.clone(), mode: Mode::Replaying(answers, 0) };
        let result = section(&mut memory);
        let Mode::Replaying(known, _) = memory.mode else { unreachable!("the mode of a memory does not change") };
        answers = known;
        match result {
            Ok(result) => return Ok(result),
            Err(Halt::Failed(error)) => return Err(error),
            Err(Halt::Wants(access)) => answers.push(session.access(&access).await?),
        }
    }
}

impl Etcd {
    /// A memory that waits for each answer.
    #[must_use]
    pub fn blocking(session: Arc<Session>) -> Etcd {
        Etcd { session, mode: Mode::Blocking }
    }

    fn access(&mut self, access: Access) -> Result<Answer, Halt> {
        match &mut self.mode {
            Mode::Blocking => {
                let session = self.session.clone();
                Ok(runtime::block(async move { session.access(&access).await })?)
            }
            Mode::Replaying(answers, used) => {
                let answer = answers.get(*used).cloned().ok_or(Halt::Wants(access))?;
                *used += 1;
                Ok(answer)
            }
        }
    }

    fn get<T: Value>(&mut self, reg: &Key<T>) -> Result<(u64, i64, i64), Halt> {
        match self.access(Access::Get(reg.key.clone()))? {
            Answer::Word(word, changed, revision) => Ok((word.unwrap_or(reg.init), changed, revision)),
            _ => unreachable!("a read is answered by a value"),
        }
    }

    fn done(&mut self, access: Access) -> Result<bool, Halt> {
        match self.access(access)? {
            Answer::Done(done) => Ok(done),
            _ => unreachable!("this access is answered by whether it took place"),
        }
    }

    /// Replaces a value in one step, and returns the value before; none from `change`: the value stays.
    fn change<T: Value>(&mut self, reg: &Key<T>, change: impl Fn(T) -> Option<T>) -> Result<T, Halt> {
        loop {
            let (word, changed, _) = self.get(reg)?;
            let before = T::of_word(word);
            let Some(after) = change(before) else { return Ok(before) };
            if self.done(Access::Exchange(reg.key.clone(), changed, after.to_word()))? {
                return Ok(before);
            }
        }
    }
}

impl Memory for Etcd {
    type Halt = Halt;
    type Reg<T: Value> = Key<T>;
    type Registers<T: Value> = Vec<Key<T>>;

    fn read<T: Value>(&mut self, reg: &Key<T>) -> Result<T, Halt> {
        Ok(T::of_word(self.get(reg)?.0))
    }

    fn test<T: Value>(&mut self, reg: &Key<T>, holds: impl FnOnce(T) -> bool) -> Result<bool, Halt> {
        Ok(holds(self.read(reg)?))
    }

    fn write<T: Value>(&mut self, reg: &Key<T>, value: T) -> Result<(), Halt> {
        self.done(Access::Put(reg.key.clone(), value.to_word())).map(drop)
    }

    fn fetch_add<T: Number>(&mut self, reg: &Key<T>, by: T) -> Result<T, Halt> {
        self.change(reg, |value| Some(T::of_word(value.to_word().wrapping_add(by.to_word()))))
    }

    fn swap<T: Value>(&mut self, reg: &Key<T>, value: T) -> Result<T, Halt> {
        self.change(reg, |_| Some(value))
    }

    fn compare_swap<T: Value>(&mut self, reg: &Key<T>, old: T, new: T) -> Result<bool, Halt> {
        Ok(self.change(reg, |value| (value == old).then_some(new))? == old)
    }

    fn update<T: Value>(&mut self, reg: &Key<T>, action: impl Fn(T) -> T) -> Result<T, Halt> {
        self.change(reg, |value| Some(action(value)))
    }

    fn until<T: Value>(&mut self, reg: &Key<T>, holds: impl Fn(T) -> bool + Sync) -> Result<(), Halt> {
        loop {
            let (word, _, revision) = self.get(reg)?;
            if holds(T::of_word(word)) {
                return Ok(());
            }
            self.done(Access::Change(reg.key.clone(), revision))?;
        }
    }

    fn join(&mut self, queue: &Key<Queue>, p: Pid) -> Result<(), Halt> {
        self.done(Access::Join(queue.key.clone(), p)).map(drop)
    }

    fn until_among(&mut self, queue: &Key<Queue>, p: Pid, k: usize) -> Result<(), Halt> {
        self.done(Access::Among(queue.key.clone(), p, k)).map(drop)
    }

    fn leave(&mut self, _: &Key<Queue>, p: Pid) -> Result<(), Halt> {
        self.done(Access::Leave(p)).map(drop)
    }

    fn claim(&mut self, names: &[Key<Claim>], p: Pid) -> Result<(usize, Ticket), Halt> {
        match self.access(Access::Claim(names.iter().map(|name| name.key.to_string()).collect(), p))? {
            Answer::Claimed(name, token) => Ok((name, Ticket::of_word(token.unsigned_abs()))),
            _ => unreachable!("a claim is answered by a name"),
        }
    }

    /// While the process is in a queue, this takes place together with its `leave`, in one transaction.
    fn unclaim(&mut self, name: &Key<Claim>, p: Pid) -> Result<(), Halt> {
        self.done(Access::Unclaim(name.key.to_string(), p)).map(drop)
    }

    fn fence(&mut self) -> Result<(), Halt> {
        Ok(())
    }

    fn barrier(&mut self) -> Result<(), Halt> {
        Ok(())
    }

    fn turns<S: Local, B: Local>(
        &mut self,
        mut state: S,
        body: impl Fn(&mut Self, S) -> Result<ControlFlow<B, S>, Halt>,
    ) -> Result<B, Halt> {
        loop {
            match body(self, state)? {
                Break(end) => return Ok(end),
                Continue(next) => state = next,
            }
        }
    }
}

/// Makes the registers of an algorithm: keys under the prefix of a session.
pub struct Keys {
    prefix: String,
}

impl Keys {
    /// Registers with this prefix. A key that does not exist holds the initial value.
    #[must_use]
    pub fn new(prefix: impl Into<String>) -> Keys {
        Keys { prefix: prefix.into() }
    }
}

impl Space for Keys {
    type Mem = Etcd;

    fn register<T: Value>(&mut self, name: Name, _: Home, init: T) -> Key<T> {
        let key = format!("{}{name}", self.prefix).into();
        Key { key, init: init.to_word(), value: PhantomData }
    }

    fn queue(&mut self, name: &'static str, _: usize) -> Key<Queue> {
        self.shared(name, Queue::EMPTY)
    }
}
