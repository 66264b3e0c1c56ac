//! The queue: keys under a lease, in the order in which etcd created them.
//!
//! A process joins by creating a key, and is before those that created theirs later. It is among the first k if fewer
//! than k of the keys are older than its own. Leaving deletes the key, and so does the end of the lease: the reap of a
//! process that has died, in one step.
//!
//! A waiter that is not next watches the key before its own, which changes when that process enters or leaves. Only the
//! next waiter watches what the k processes before it do. So a passage makes a number of events that does not grow with
//! the number of waiters.
//!
//! Every request can be repeated: it is a transaction with the revision at which the caller's own key was created or
//! changed.
mod names;

use std::{sync::atomic::Ordering::SeqCst, time::Duration};

use doorway_memory::Pid;

pub(crate) use self::names::Successor;
use crate::{
    Error,
    api::{Compare, Entry, Events, Op, Order, Range, Transaction, Watch},
    session::Session,
};

/// What a process knows of the queue that it has joined.
#[derive(Clone, Debug)]
pub(crate) struct Joined {
    /// Its key, and the revision at which that was created: 0 until that is known.
    key: String,
    pub(crate) created: i64,
    /// Whether it asked to join more than once. Then an earlier request may still be executed, after it has left.
    has_repeated: bool,
    seen: Listing,
    /// Whether it has waited: then a successor may watch its key.
    has_waited: bool,
    /// Whether it is among the first k.
    pub(crate) is_admitted: bool,
    /// The names that it gives up when it leaves, as keys and as numbers.
    unclaimed: Vec<(String, usize)>,
}

/// What a waiter learns.
enum Changed {
    /// It may enter.
    MayEnter,
    /// The queue is listed anew.
    Listed,
    /// The queue has changed in front of it.
    Unknown,
}

impl Joined {
    /// A process that is about to join.
    fn new(key: String) -> Joined {
        let (created, has_repeated, seen) = (0, true, Listing::default());
        Joined { key, created, has_repeated, seen, has_waited: false, is_admitted: false, unclaimed: Vec::new() }
    }

    /// What the process does when it leaves: it deletes its key, and keeps it from being created again.
    fn departure(&self) -> Vec<Op> {
        let mut ops = vec![Op::Delete(self.key.clone())];
        if self.has_repeated {
            ops.push(Op::Put { key: left(&self.key), value: Vec::new(), lease: lease_of(&self.key) });
        }
        ops
    }

    /// Whether it is among the first `k`, as far as it knows. Whoever has given it a name has left, so that it is.
    fn is_among(&self, k: usize) -> bool {
        self.seen.given.is_some() || self.seen.first.iter().take(k).any(|key| *key == self.key)
    }

    /// Whether it is the first that is not among the first `k`.
    fn is_next(&self, k: usize) -> bool {
        self.seen.first.get(k).is_some_and(|key| *key == self.key)
    }

    /// What it watches. If it is next, it waits for the end of any of those before it, or a name from them: it watches all
    /// keys. If it is not, it waits for a change of the key before its own.
    fn watches(&self, prefix: &str, k: usize) -> Watch {
        if self.is_next(k) {
            return Watch { key: prefix.to_string(), is_prefix: true };
        }
        let key = self.seen.predecessor.clone().unwrap_or_else(|| self.key.clone());
        Watch { key, is_prefix: false }
    }
}

/// The queue at one revision.
#[derive(Clone, Default, Debug)]
struct Listing {
    revision: i64,
    /// The revision at which the process's own key was last changed.
    changed: i64,
    /// The first keys, one more than the capacity.
    first: Vec<String>,
    /// The key before the process's own.
    predecessor: Option<String>,
    /// The names that processes have, as keys.
    taken: Vec<String>,
    /// Whether the process has shown that it is next.
    is_shown: bool,
    /// The name that was given to the process, as a key, and the revision of that.
    given: Option<(String, i64)>,
}

impl Session {
    /// A key for one passage.
    fn new_key(&self, queue: &str, lease: i64) -> String {
        format!("{queue}/{lease:x}-{}", self.passages.fetch_add(1, SeqCst))
    }

    /// The first keys of a queue, one more than `k`; and, where names are given, these and who is next.
    fn overview(&self, queue: &str, k: usize) -> Vec<Op> {
        let first = Op::Range(Range { prefix: format!("{queue}/"), limit: k + 1, ..Range::default() });
        match self.gives_names() {
            true => vec![first, self.all_names(), Op::Get(self.next_key())],
            false => vec![first],
        }
    }

    /// Puts process `p` at the end of the queue, unless it is there.
    pub(crate) async fn join(&self, queue: &str, p: Pid) -> Result<(), Error> {
        if self.joined(p).is_ok() {
            return Ok(());
        }
        let lease = self.lease().await?.id();
        let key = self.new_key(queue, lease);
        let mut joined = Joined::new(key.clone());
        // From here on the key may exist.
        self.state().joined.insert(p, joined.clone());
        let value = self.description(p, None);
        let (k, guard) = (self.settings().k, self.settings().guard.clone());
        let put = Op::Put { key: key.clone(), value, lease };
        // The newest key is the caller's own, the second one is that of its predecessor.
        let newest = Range { prefix: format!("{queue}/"), order: Order::NewestFirst, limit: 2, ..Range::default() };
        let guarded = guard.iter().map(|(key, value)| Compare::Value(key.clone(), value.clone().into_bytes()));
        let absent = [key.clone(), left(&key)].map(|key| Compare::Created(key, 0));
        let (outcome, has_repeated) = self
            .transact_noting(Transaction {
                when: absent.into_iter().chain(guarded).collect(),
                then: [put, Op::Range(newest)].into_iter().chain(self.overview(queue, k)).collect(),
                otherwise: [Op::Get(key.clone())]
                    .into_iter()
                    .chain(guard.iter().map(|(key, _)| Op::Get(key.clone())))
                    .collect(),
            })
            .await?;
        joined.has_repeated = has_repeated;
        match &outcome.found[..] {
            [_, newest, rest @ ..] if outcome.held => {
                let own = newest.first().ok_or(Error::Lost)?;
                joined.created = own.created;
                joined.seen = Listing::of(outcome.revision, own, newest.get(1), rest);
            }
            // An earlier request has created the key, and its answer was lost.
            [own, ..] if !own.is_empty() => {
                joined.created = own[0].created;
                joined.seen = self.list(queue, &joined, k).await?;
            }
            [_, guard] => {
                let found = guard.first().map(|guard| String::from_utf8_lossy(&guard.value).into_owned());
                return Err(Error::Guarded { found });
            }
            _ => return Err(Error::Lost),
        }
        self.state().joined.insert(p, joined);
        Ok(())
    }

    /// Waits until process `p` is among the first `k` of the queue.
    pub(crate) async fn until_among(&self, queue: &str, p: Pid, k: usize) -> Result<(), Error> {
        let mut joined = self.joined(p)?;
        let lease = self.lease().await?;
        if k > self.settings().k {
            joined.seen = self.list(queue, &joined, k).await?;
        }
        while !joined.is_among(k) {
            joined.has_waited = true;
            let waited = tokio::select! {
                waited = self.changed(queue, p, &mut joined, k) => waited,
                () = lease.falls_below(Duration::ZERO) => Err(Error::Lost),
            };
            match waited {
                Ok(Changed::MayEnter) => break,
                Ok(Changed::Listed) => {}
                Ok(Changed::Unknown) => joined.seen = self.list(queue, &joined, k).await?,
                Err(error) if error.is_temporary() => joined.seen = self.list(queue, &joined, k).await?,
                Err(error) => return Err(error),
            }
        }
        // Whoever has a name of several is marked together with that.
        if joined.has_waited && !self.gives_names() {
            self.mark(p, &joined);
        }
        joined.is_admitted = true;
        self.state().joined.insert(p, joined);
        Ok(())
    }

    /// Watches what the process waits for, and waits for a change of it.
    async fn changed(&self, queue: &str, p: Pid, joined: &mut Joined, k: usize) -> Result<Changed, Error> {
        let watch = joined.watches(&self.settings().prefix, k);
        let mut events: Box<dyn Events> = self.api().watch(watch.clone()).await?;
        let is_next = joined.is_next(k);
        let shows = is_next && self.gives_names() && !joined.seen.is_shown;
        if shows || events.begun() != joined.seen.revision {
            // Something may have changed between the list and the watch.
            joined.seen =
                if shows { self.show_next(queue, p, joined, k).await? } else { self.list(queue, joined, k).await? };
            if joined.is_among(k) || joined.watches(&self.settings().prefix, k) != watch {
                return Ok(Changed::Listed);
            }
        }
        loop {
            for event in events.next().await? {
                if event.revision <= joined.seen.revision {
                    continue;
                }
                if event.is_deletion && event.key == joined.key {
                    return Err(Error::Lost);
                }
                if !is_next {
                    if event.is_deletion || has_entered(&event.value) {
                        return Ok(Changed::Unknown);
                    }
                } else if event.is_deletion {
                    joined.seen.taken.retain(|name| *name != event.key);
                    joined.seen.first.retain(|key| *key != event.key);
                    if event.key == self.next_key() && !joined.seen.is_shown {
                        return Ok(Changed::Unknown);
                    }
                } else if event.value == joined.key.as_bytes() {
                    joined.seen.given = Some((event.key, event.revision));
                }
            }
            if joined.is_among(k) {
                return Ok(Changed::MayEnter);
            }
        }
    }

    /// Shows in the process's key that it has entered, so that its successor knows that it is next. Nobody waits for that.
    fn mark(&self, p: Pid, joined: &Joined) {
        let (api, joined) = (self.api().clone(), joined.clone());
        let (value, lease) = (self.description(p, Some(0)), lease_of(&joined.key));
        tokio::spawn(async move {
            let put = Op::Put { key: joined.key.clone(), value, lease };
            let when = vec![Compare::Created(joined.key, joined.created)];
            let _ = api.transact(Transaction { when, then: vec![put], otherwise: vec![] }).await;
        });
    }

    /// The operations that list the queue as process `p` sees it.
    fn view(&self, queue: &str, joined: &Joined, k: usize) -> Vec<Op> {
        let before = Range {
            prefix: format!("{queue}/"),
            order: Order::NewestFirst,
            before: joined.created,
            limit: 1,
            ..Range::default()
        };
        [Op::Get(joined.key.clone()), Op::Range(before)].into_iter().chain(self.overview(queue, k)).collect()
    }

    /// What these operations have found.
    fn viewed(joined: &Joined, revision: i64, found: &[Vec<Entry>]) -> Result<Listing, Error> {
        let [own, before, rest @ ..] = found else { return Err(Error::Lost) };
        match own.first() {
            Some(own) if own.created == joined.created => Ok(Listing::of(revision, own, before.first(), rest)),
            _ => Err(Error::Lost),
        }
    }

    /// The queue as it is now.
    async fn list(&self, queue: &str, joined: &Joined, k: usize) -> Result<Listing, Error> {
        let then = self.view(queue, joined, k);
        let outcome = self.transact(Transaction { then, ..Transaction::default() }).await?;
        Self::viewed(joined, outcome.revision, &outcome.found)
    }

    /// Takes process `p` out of the queue, if it is there, and the names that it gives up.
    pub(crate) async fn leave(&self, p: Pid) -> Result<(), Error> {
        let Some(joined) = self.state().joined.get(&p).cloned() else { return Ok(()) };
        let has_left = match &joined.unclaimed[..] {
            [(name, index)] => self.hand_over(&joined, name, *index).await?,
            _ => false,
        };
        if joined.created == 0 {
            let then = joined.departure();
            self.finish(Transaction { then, ..Transaction::default() }).await?;
        } else if !has_left {
            let has_name = self.state().claims.get(&p).is_some_and(|claims| !claims.is_empty());
            match self.gives_names() && !has_name {
                true => self.abort(&joined).await?,
                false => self.exit(&joined).await?,
            }
        }
        self.forget(p);
        Ok(())
    }

    /// Leaves the queue as a process that nobody gives a name any more.
    async fn exit(&self, joined: &Joined) -> Result<(), Error> {
        let names = joined.unclaimed.iter().map(|(name, _)| Op::Delete(name.clone()));
        let then = joined.departure().into_iter().chain(names).collect();
        let when = vec![Compare::Created(joined.key.clone(), joined.created)];
        self.finish(Transaction { when, then, otherwise: vec![] }).await.map(drop)
    }

    /// Executes a transaction that gives something up, and returns whether its comparisons held; with the lease, that is
    /// lost already.
    async fn finish(&self, transaction: Transaction) -> Result<bool, Error> {
        match self.transact(transaction).await {
            Ok(outcome) => Ok(outcome.held),
            Err(Error::Lost) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The revision at which process `p` joined the queue.
    ///
    /// # Errors
    /// If it did not.
    pub(crate) fn joined(&self, p: Pid) -> Result<Joined, Error> {
        self.state().joined.get(&p).filter(|joined| joined.created > 0).cloned().ok_or(Error::Lost)
    }

    /// How many processes are before `p` in the queue.
    ///
    /// # Errors
    /// If `p` is not in the queue, or the cluster does not answer.
    pub async fn ahead(&self, queue: &str, p: Pid) -> Result<usize, Error> {
        let joined = self.joined(p)?;
        let before = Range { prefix: format!("{queue}/"), before: joined.created, ..Range::default() };
        let then = vec![Op::Get(joined.key.clone()), Op::Range(before)];
        let outcome = self.transact(Transaction { then, ..Transaction::default() }).await?;
        match &outcome.found[..] {
            [own, before] if own.first().is_some_and(|own| own.created == joined.created) => Ok(before.len()),
            _ => Err(Error::Lost),
        }
    }

    /// Whether process `p` is still in the queue, so that what it has is its own.
    ///
    /// # Errors
    /// If the cluster does not answer.
    pub async fn is_valid(&self, p: Pid) -> Result<bool, Error> {
        let Ok(joined) = self.joined(p) else { return Ok(false) };
        let when = vec![Compare::Created(joined.key, joined.created)];
        match self.transact(Transaction { when, ..Transaction::default() }).await {
            Ok(outcome) => Ok(outcome.held),
            Err(Error::Lost) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The revision at which process `p` joined the queue: the order of arrival. None if it is not there.
    #[must_use]
    pub fn arrival(&self, p: Pid) -> Option<i64> {
        self.joined(p).ok().map(|joined| joined.created)
    }

    /// Whether process `p` is among the first k, so that it will be a holder without waiting for anybody.
    #[must_use]
    pub fn is_admitted(&self, p: Pid) -> bool {
        self.joined(p).is_ok_and(|joined| joined.is_admitted)
    }

    /// Forgets what process `p` had: its lease was lost.
    pub fn forget(&self, p: Pid) {
        let mut state = self.state();
        state.joined.remove(&p);
        state.claims.remove(&p);
        if state.claims.is_empty() {
            // Without holders nobody hands over.
            state.successor = None;
        }
    }

    /// What others may read about a process; with its name, if it has entered.
    fn description(&self, p: Pid, index: Option<usize>) -> Vec<u8> {
        let index = index.map_or_else(|| "-".to_string(), |index| index.to_string());
        let what = self.state().descriptions.get(&p).cloned().unwrap_or_default();
        format!("{index} {what}").into_bytes()
    }
}

impl Listing {
    /// The queue as a process sees it: its own key, the one before that, the [overview](Session::overview).
    fn of(revision: i64, own: &Entry, predecessor: Option<&Entry>, overview: &[Vec<Entry>]) -> Listing {
        let [first, names, next] = [0, 1, 2].map(|at| overview.get(at).map_or(&[][..], Vec::as_slice));
        let keys = |entries: &[Entry]| entries.iter().map(|entry| entry.key.clone()).collect();
        let given = names.iter().find(|name| name.value == own.key.as_bytes());
        Listing {
            revision,
            changed: own.changed,
            first: keys(first),
            predecessor: predecessor.map(|entry| entry.key.clone()),
            taken: keys(names),
            // It changes its own key in the transaction in which it shows that.
            is_shown: next.first().is_some_and(|next| next.changed == own.changed),
            given: given.map(|name| (name.key.clone(), name.changed)),
        }
    }
}

/// Whether the process with this description shows that it has entered.
fn has_entered(description: &[u8]) -> bool {
    !description.starts_with(b"-")
}

/// The key that says that the process with another key has left.
fn left(key: &str) -> String {
    match key.rsplit_once('/') {
        Some((queue, passage)) => format!("{queue}.left/{passage}"),
        None => format!("{key}.left"),
    }
}

/// The lease in a key.
fn lease_of(key: &str) -> i64 {
    let id = key.rsplit('/').next().unwrap_or_default();
    i64::from_str_radix(id.split('-').next().unwrap_or_default(), 16).unwrap_or(0)
}
