//! The queue: keys under a lease, in the order in which etcd created them.
//!
//! A process joins by creating a key, and is before those that created theirs later. It is among the first k if fewer
//! than k of the keys are older than its own. Leaving deletes the key, and so does the end of the lease: the reap of a
//! process that has died, in one step.
//!
//! A waiter that is not next watches the key before its own, which changes when that process enters or leaves. Only the
//! next waiter watches for the end of any of the k processes before it. So a passage makes a bounded number of events,
//! however many processes wait.
//!
//! Every request can be repeated: it is a transaction with the revision at which the caller's own key was created.
use std::time::Duration;

use doorway_memory::Pid;

use crate::{
    Error,
    api::{Compare, Entry, Events, Op, Order, Outcome, Range, Transaction, Watch},
    runtime,
    session::Session,
};

/// What a process knows of the queue that it has joined.
#[derive(Clone, Debug)]
pub(crate) struct Joined {
    /// Its key, and the revision at which that was created.
    key: String,
    pub(crate) created: i64,
    seen: Listing,
    /// Whether it has waited: then a successor may watch its key.
    has_waited: bool,
    /// Whether it is among the first k.
    pub(crate) is_admitted: bool,
    /// The names that it gives up when it leaves.
    unclaimed: Vec<String>,
}

/// What a waiter learns.
enum Changed {
    /// It is among the first k.
    IsAmong,
    /// The queue is listed anew.
    Listed,
    /// The queue has changed in front of it.
    Unknown,
}

impl Joined {
    /// Whether it is among the first `k`, as far as it knows.
    fn is_among(&self, k: usize) -> bool {
        self.seen.first.iter().take(k).any(|key| *key == self.key)
    }

    /// What it watches, and which of those before it have to leave: any one of them, if it is next. If it is not, it waits
    /// for a change of the key before its own.
    fn waits_for(&self, prefix: &str, k: usize) -> (Watch, Vec<String>) {
        if self.seen.first.get(k).is_some_and(|key| *key == self.key) {
            // All keys, since the name that becomes free is seen as well.
            let watch = Watch { key: prefix.to_string(), is_prefix: true, deletions: true };
            return (watch, self.seen.first[..k].to_vec());
        }
        let key = self.seen.predecessor.clone().unwrap_or_else(|| self.key.clone());
        (Watch { key, is_prefix: false, deletions: false }, Vec::new())
    }
}

/// The queue at one revision.
#[derive(Clone, Default, Debug)]
struct Listing {
    revision: i64,
    /// The first keys, one more than the capacity.
    first: Vec<String>,
    /// The key before the process's own.
    predecessor: Option<String>,
    /// The names that processes have, as keys.
    taken: Vec<String>,
}

impl Session {
    fn key(&self, queue: &str, lease: i64, p: Pid) -> String {
        format!("{queue}/{lease:x}-{p}")
    }

    /// The first keys of a queue, one more than `k`, and the names.
    fn overview(&self, queue: &str, k: usize) -> [Op; 2] {
        let first = Range { prefix: format!("{queue}/"), limit: k + 1, ..Range::default() };
        let names = Range { prefix: format!("{}Name", self.settings().prefix), values: true, ..Range::default() };
        [Op::Range(first), Op::Range(names)]
    }

    /// Puts process `p` at the end of the queue, unless it is there.
    pub(crate) async fn join(&self, queue: &str, p: Pid) -> Result<(), Error> {
        if self.state().joined.contains_key(&p) {
            return Ok(());
        }
        let lease = self.lease().await?.id();
        let key = self.key(queue, lease, p);
        let value = self.description(p, None);
        let (k, guard) = (self.settings().k, self.settings().guard.clone());
        let put = Op::Put { key: key.clone(), value, lease };
        // The newest key is the caller's own, the second one is that of its predecessor.
        let newest = Range { prefix: format!("{queue}/"), order: Order::NewestFirst, limit: 2, ..Range::default() };
        let guarded = guard.iter().map(|(key, value)| Compare::Value(key.clone(), value.clone().into_bytes()));
        let outcome = self
            .transact(Transaction {
                when: [Compare::Created(key.clone(), 0)].into_iter().chain(guarded).collect(),
                then: [put, Op::Get(key.clone()), Op::Range(newest)]
                    .into_iter()
                    .chain(self.overview(queue, k))
                    .collect(),
                otherwise: [Op::Get(key.clone())]
                    .into_iter()
                    .chain(guard.iter().map(|(key, _)| Op::Get(key.clone())))
                    .collect(),
            })
            .await?;
        let joined = match &outcome.found[..] {
            [_, own, newest, first, names] if outcome.held => {
                let created = own.first().ok_or(Error::Lost)?.created;
                let seen = Listing::of(outcome.revision, newest.get(1), first, names);
                Joined { key, created, seen, has_waited: false, is_admitted: false, unclaimed: Vec::new() }
            }
            // An earlier request has created the key, and its answer was lost.
            [own, ..] if !own.is_empty() => {
                let created = own[0].created;
                let mut joined = Joined {
                    key,
                    created,
                    seen: Listing::default(),
                    has_waited: false,
                    is_admitted: false,
                    unclaimed: Vec::new(),
                };
                joined.seen = self.list(queue, &joined, k).await?;
                joined
            }
            [_, guard] => {
                let found = guard.first().map(|guard| String::from_utf8_lossy(&guard.value).into_owned());
                return Err(Error::Guarded { found });
            }
            _ => return Err(Error::Lost),
        };
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
                waited = self.changed(queue, &mut joined, k) => waited,
                () = lease.falls_below(Duration::ZERO) => Err(Error::Lost),
            };
            match waited {
                Ok(Changed::IsAmong) => break,
                Ok(Changed::Listed) => {}
                Ok(Changed::Unknown) => joined.seen = self.list(queue, &joined, k).await?,
                Err(error) if error.is_temporary() => joined.seen = self.list(queue, &joined, k).await?,
                Err(error) => return Err(error),
            }
        }
        if joined.has_waited && k == 1 {
            self.mark(p, &joined);
        }
        joined.is_admitted = true;
        self.state().joined.insert(p, joined);
        Ok(())
    }

    /// Watches what the process waits for, and waits for a change of it.
    async fn changed(&self, queue: &str, joined: &mut Joined, k: usize) -> Result<Changed, Error> {
        let (watch, ahead) = joined.waits_for(&self.settings().prefix, k);
        let mut events: Box<dyn Events> = self.api().watch(watch.clone()).await?;
        if events.begun() != joined.seen.revision {
            // Something has changed between the list and the watch.
            joined.seen = self.list(queue, joined, k).await?;
            if joined.is_among(k) || joined.waits_for(&self.settings().prefix, k) != (watch, ahead.clone()) {
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
                if ahead.is_empty() {
                    return Ok(Changed::Unknown);
                }
                if event.is_deletion {
                    joined.seen.taken.retain(|name| *name != event.key);
                    joined.seen.first.retain(|key| *key != event.key);
                }
            }
            if joined.is_among(k) {
                return Ok(Changed::IsAmong);
            }
        }
    }

    /// Shows in the process's key that it has entered, so that its successor knows that it is next. Nobody waits for that.
    fn mark(&self, p: Pid, joined: &Joined) {
        let (api, joined) = (self.api().clone(), joined.clone());
        let (value, lease) = (self.description(p, Some(0)), lease_of(&joined.key));
        runtime::handle().spawn(async move {
            let put = Op::Put { key: joined.key.clone(), value, lease };
            let when = vec![Compare::Created(joined.key, joined.created)];
            let _ = api.transact(Transaction { when, then: vec![put], otherwise: vec![] }).await;
        });
    }

    /// The queue as it is now.
    async fn list(&self, queue: &str, joined: &Joined, k: usize) -> Result<Listing, Error> {
        let before = Range {
            prefix: format!("{queue}/"),
            order: Order::NewestFirst,
            before: joined.created,
            limit: 1,
            ..Range::default()
        };
        let then =
            [Op::Get(joined.key.clone()), Op::Range(before)].into_iter().chain(self.overview(queue, k)).collect();
        let outcome = self.transact(Transaction { then, ..Transaction::default() }).await?;
        let [own, before, first, names] = &outcome.found[..] else { return Err(Error::Lost) };
        if own.first().is_none_or(|own| own.created != joined.created) {
            return Err(Error::Lost);
        }
        Ok(Listing::of(outcome.revision, before.first(), first, names))
    }

    /// Gives up a name, if process `p` has it: together with its place, if it is in the queue.
    pub(crate) async fn unclaim(&self, name: &str, p: Pid) -> Result<(), Error> {
        let claimed = {
            let mut state = self.state();
            let Some(&claimed) = state.claims.get(&p).and_then(|claims| claims.get(name)) else { return Ok(()) };
            if let Some(joined) = state.joined.get_mut(&p) {
                joined.unclaimed.push(name.to_string());
                return Ok(());
            }
            claimed
        };
        let when = vec![Compare::Created(name.to_string(), claimed)];
        self.finish(Transaction { when, then: vec![Op::Delete(name.to_string())], otherwise: vec![] }).await?;
        self.state().claims.entry(p).or_default().remove(name);
        Ok(())
    }

    /// Takes process `p` out of the queue, if it is there, and the names that it gives up.
    pub(crate) async fn leave(&self, p: Pid) -> Result<(), Error> {
        let Ok(Joined { key, created, unclaimed, .. }) = self.joined(p) else { return Ok(()) };
        let then = [key.clone()].into_iter().chain(unclaimed).map(Op::Delete).collect();
        self.finish(Transaction { when: vec![Compare::Created(key, created)], then, otherwise: vec![] }).await?;
        self.forget(p);
        Ok(())
    }

    /// Executes a transaction that gives something up; with the lease, that is lost already.
    async fn finish(&self, transaction: Transaction) -> Result<(), Error> {
        match self.transact(transaction).await {
            Ok(_) | Err(Error::Lost) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Claims a free one of some names for process `p`; returns its index and the revision of the claim.
    pub(crate) async fn claim(&self, names: &[String], p: Pid) -> Result<(usize, i64), Error> {
        let joined = self.state().joined.get(&p).cloned();
        if let (1, Some(joined)) = (names.len(), &joined) {
            // The only name. Processes have it in the order in which they joined, so that order gives the tokens.
            return Ok((0, joined.created));
        }
        let lease = self.lease().await?.id();
        let mut taken = joined.as_ref().map_or_else(Vec::new, |joined| joined.seen.taken.clone());
        loop {
            let at = names.iter().position(|name| !taken.contains(name)).unwrap_or(0);
            let name = &names[at];
            let owner = joined.as_ref().map_or_else(|| format!("{p}"), |joined| joined.key.clone());
            let put = Op::Put { key: name.clone(), value: owner.clone().into_bytes(), lease };
            let mark = joined.iter().map(|joined| Op::Put {
                key: joined.key.clone(),
                value: self.description(p, Some(at)),
                lease,
            });
            let own = joined.iter().map(|joined| Compare::Created(joined.key.clone(), joined.created));
            let all = Range { prefix: format!("{}Name", self.settings().prefix), values: true, ..Range::default() };
            let Outcome { held, revision, found } = self
                .transact(Transaction {
                    when: [Compare::Created(name.clone(), 0)].into_iter().chain(own).collect(),
                    then: [put].into_iter().chain(mark).collect(),
                    otherwise: [Op::Range(all)]
                        .into_iter()
                        .chain(joined.iter().map(|joined| Op::Get(joined.key.clone())))
                        .collect(),
                })
                .await?;
            let claimed = match &found[..] {
                _ if held => Some((at, revision)),
                [all, own @ ..] => {
                    let is_mine = |entry: &&Entry| entry.value == owner.as_bytes();
                    if let (Some(joined), [own]) = (&joined, own)
                        && own.first().is_none_or(|own| own.created != joined.created)
                    {
                        return Err(Error::Lost);
                    }
                    taken = all.iter().map(|entry| entry.key.clone()).collect();
                    // An earlier request has claimed it, and its answer was lost.
                    let mine = all.iter().find(is_mine).filter(|_| joined.is_some());
                    mine.and_then(|mine| Some((names.iter().position(|name| *name == mine.key)?, mine.created)))
                }
                [] => return Err(Error::Lost),
            };
            if let Some((at, revision)) = claimed {
                self.state().claims.entry(p).or_default().insert(names[at].clone(), revision);
                return Ok((at, revision));
            }
        }
    }

    /// The revision at which process `p` joined the queue.
    ///
    /// # Errors
    /// If it did not.
    pub(crate) fn joined(&self, p: Pid) -> Result<Joined, Error> {
        self.state().joined.get(&p).cloned().ok_or(Error::Lost)
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
    }

    /// What others may read about a process; with its name, if it has entered.
    fn description(&self, p: Pid, index: Option<usize>) -> Vec<u8> {
        let index = index.map_or_else(|| "-".to_string(), |index| index.to_string());
        let what = self.state().descriptions.get(&p).cloned().unwrap_or_default();
        format!("{index} {what}").into_bytes()
    }
}

impl Listing {
    fn of(revision: i64, predecessor: Option<&Entry>, first: &[Entry], names: &[Entry]) -> Listing {
        let keys = |entries: &[Entry]| entries.iter().map(|entry| entry.key.clone()).collect();
        Listing {
            revision,
            first: keys(first),
            predecessor: predecessor.map(|entry| entry.key.clone()),
            taken: keys(names),
        }
    }
}

/// The lease in a key.
fn lease_of(key: &str) -> i64 {
    let id = key.rsplit('/').next().unwrap_or_default();
    i64::from_str_radix(id.split('-').next().unwrap_or_default(), 16).unwrap_or(0)
}
