//! The names of those who have entered, and how a name goes from one process to the next in one transaction.
//!
//! A process that is among the first k claims a free name. For one that has waited this would be a round trip after it has
//! learnt that it may enter. So the next waiter shows that it is next, in a key of its own, which the holders watch;
//! whoever leaves then takes, in the transaction in which it gives up its name and leaves, also the next waiter's steps:
//! that one is among the first k now, and claims the name that has just become free. If the holder has not yet seen
//! who is next, it only leaves, and the next waiter claims.
//!
//! A transaction that shows who is next also changes that process's own key, so that a late copy of the request does
//! nothing, and a process that aborts cannot miss a name that it was given meanwhile.
use std::sync::{Arc, Mutex, PoisonError};

use doorway_memory::Pid;
use tokio::{task::AbortHandle, time::sleep};

use super::{Joined, Listing, lease_of};
use crate::{
    Error,
    api::{Api, Compare, Entry, Op, Outcome, Range, Transaction, Watch},
    session::{PAUSE, Session},
};

/// The next waiter, as its key shows it.
#[derive(Clone, Debug)]
struct Next {
    /// Its key in the queue, and the revision at which that was created.
    key: String,
    created: i64,
    /// What others may read about it.
    what: String,
    /// The revision at which it showed that it is next; none if it does not any more.
    shown: Option<i64>,
    /// The revision of the store at which this was seen.
    revision: i64,
}

/// What a session with holders knows of their successor. It watches until it is dropped.
pub(crate) struct Successor {
    next: Arc<Mutex<Option<Next>>>,
    watching: AbortHandle,
}

impl Drop for Successor {
    fn drop(&mut self) {
        self.watching.abort();
    }
}

impl Successor {
    fn watch(api: Arc<dyn Api>, key: String, is_expected: bool) -> Successor {
        let next = Arc::default();
        let attending = attend(api, key, Arc::clone(&next));
        let watching = tokio::spawn(async move {
            // Where nobody waits, a short critical section is over before anybody comes.
            if !is_expected {
                sleep(PAUSE).await;
            }
            attending.await;
        });
        Successor { next, watching: watching.abort_handle() }
    }

    fn next(&self) -> Option<Next> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner).clone().filter(|next| next.shown.is_some())
    }
}

/// Keeps up with who is next.
async fn attend(api: Arc<dyn Api>, key: String, next: Arc<Mutex<Option<Next>>>) {
    let note = |seen: Next| {
        let mut next = next.lock().unwrap_or_else(PoisonError::into_inner);
        if next.as_ref().is_none_or(|next| next.revision < seen.revision) {
            *next = Some(seen);
        }
    };
    loop {
        let watched: Result<(), Error> = async {
            let mut events = api.watch(Watch { key: key.clone(), is_prefix: false }).await?;
            let look = Transaction { then: vec![Op::Get(key.clone())], ..Transaction::default() };
            let outcome = api.transact(look).await?;
            if let Some(entry) = outcome.found.first().and_then(|found| found.first()) {
                note(Next::of(&entry.value, Some(entry.changed), outcome.revision));
            }
            loop {
                for event in events.next().await? {
                    let shown = (!event.is_deletion).then_some(event.revision);
                    note(Next::of(&event.value, shown, event.revision));
                }
            }
        }
        .await;
        drop(watched);
        sleep(PAUSE).await;
    }
}

impl Next {
    /// From the value of the key: three lines.
    fn of(value: &[u8], shown: Option<i64>, revision: i64) -> Next {
        let text = String::from_utf8_lossy(value);
        let mut lines = text.splitn(3, '\n');
        let mut line = || lines.next().unwrap_or_default().to_string();
        Next { created: line().parse().unwrap_or(0), key: line(), what: line(), shown, revision }
    }
}

impl Session {
    /// Whether a process that leaves gives its name to the next waiter. A single name needs no key: it is that of the first
    /// process of the queue.
    pub(super) fn gives_names(&self) -> bool {
        self.settings().names && self.settings().k > 1
    }

    /// The key that shows who is next.
    pub(super) fn next_key(&self) -> String {
        format!("{}Next", self.settings().prefix)
    }

    /// Lists the names.
    pub(super) fn all_names(&self) -> Op {
        Op::Range(Range { prefix: format!("{}Name", self.settings().prefix), values: true, ..Range::default() })
    }

    /// Shows that a waiter is next, unless another one is shown, and lists the queue.
    pub(super) async fn show_next(&self, queue: &str, p: Pid, joined: &Joined, k: usize) -> Result<Listing, Error> {
        let lease = lease_of(&joined.key);
        let what = self.state().descriptions.get(&p).cloned().unwrap_or_default();
        let value = format!("{}\n{}\n{what}", joined.created, joined.key).into_bytes();
        let puts = [
            Op::Put { key: self.next_key(), value, lease },
            Op::Put { key: joined.key.clone(), value: self.description(p, None), lease },
        ];
        let view = self.view(queue, joined, k);
        let outcome = self
            .transact(Transaction {
                when: vec![
                    Compare::Changed(self.next_key(), 0),
                    Compare::Changed(joined.key.clone(), joined.seen.changed),
                ],
                then: puts.into_iter().chain(view.iter().cloned()).collect(),
                otherwise: view,
            })
            .await?;
        let found = if outcome.held { outcome.found.get(2..).unwrap_or_default() } else { &outcome.found };
        Self::viewed(joined, outcome.revision, found)
    }

    /// Leaves the queue and gives the name to the next waiter, if one is known; returns whether that happened.
    pub(super) async fn hand_over(&self, joined: &Joined, name: &str, index: usize) -> Result<bool, Error> {
        let next = self.state().successor.as_ref().and_then(Successor::next);
        let Some(Next { key, created, what, shown: Some(shown), .. }) = next else { return Ok(false) };
        let lease = lease_of(&key);
        let give = Op::Put { key: name.to_string(), value: key.clone().into_bytes(), lease };
        let mark = Op::Put { key: key.clone(), value: format!("{index} {what}").into_bytes(), lease };
        self.finish(Transaction {
            when: vec![
                Compare::Created(joined.key.clone(), joined.created),
                Compare::Changed(self.next_key(), shown),
                Compare::Created(key, created),
            ],
            // The waiter sees the name before it sees that it is among the first k.
            then: [give, mark, Op::Delete(self.next_key())].into_iter().chain(joined.departure()).collect(),
            otherwise: vec![],
        })
        .await
    }

    /// Leaves the queue as a waiter, which may be given a name until it has left; gives up that name as well.
    pub(super) async fn abort(&self, joined: &Joined) -> Result<(), Error> {
        let mut seen = joined.seen.clone();
        loop {
            let (key, next) = (joined.key.clone(), self.next_key());
            let mut when = vec![Compare::Changed(key.clone(), seen.changed)];
            let mut then = joined.departure();
            if seen.is_shown {
                when.push(Compare::Changed(next.clone(), seen.changed));
                then.push(Op::Delete(next.clone()));
            }
            then.extend(seen.given.map(|(name, _)| Op::Delete(name)));
            let otherwise = vec![Op::Get(key), self.all_names(), Op::Get(next)];
            let outcome = match self.transact(Transaction { when, then, otherwise }).await {
                Err(Error::Lost) => return Ok(()),
                outcome => outcome?,
            };
            seen = match &outcome.found[..] {
                _ if outcome.held => return Ok(()),
                [own, names, next] if own.first().is_some_and(|own| own.created == joined.created) => {
                    Listing::of(outcome.revision, &own[0], None, &[Vec::new(), names.clone(), next.clone()])
                }
                _ => return Ok(()),
            };
        }
    }

    /// Gives up a name, if process `p` has it: together with its place, if it is in the queue.
    pub(crate) async fn unclaim(&self, name: &str, p: Pid) -> Result<(), Error> {
        let claimed = {
            let mut state = self.state();
            let claimed = state.claims.get(&p).and_then(|claims| claims.get(name));
            let Some(&(index, revision)) = claimed else { return Ok(()) };
            if let Some(joined) = state.joined.get_mut(&p) {
                joined.unclaimed.push((name.to_string(), index));
                return Ok(());
            }
            revision
        };
        let when = vec![Compare::Changed(name.to_string(), claimed)];
        self.finish(Transaction { when, then: vec![Op::Delete(name.to_string())], otherwise: vec![] }).await?;
        self.state().claims.entry(p).or_default().remove(name);
        Ok(())
    }

    /// Claims a free one of some names for process `p`; returns its index and the revision of the claim.
    pub(crate) async fn claim(&self, names: &[String], p: Pid) -> Result<(usize, i64), Error> {
        let joined = self.state().joined.get(&p).cloned();
        if let (1, Some(joined)) = (names.len(), &joined) {
            // The only name. Processes have it in the order in which they joined, so that order gives the tokens.
            return Ok((0, joined.created));
        }
        let has_waited = joined.as_ref().is_some_and(|joined| joined.has_waited);
        let (at, revision) = match joined {
            None => self.claim_alone(names, p).await?,
            Some(joined) => self.claim_as_one_of_the_first(names, p, joined).await?,
        };
        let mut state = self.state();
        state.claims.entry(p).or_default().insert(names[at].clone(), (at, revision));
        if self.gives_names() && state.successor.is_none() {
            state.successor = Some(Successor::watch(self.api().clone(), self.next_key(), has_waited));
        }
        Ok((at, revision))
    }

    /// Claims a name for a process that is in the queue, unless it was given one.
    async fn claim_as_one_of_the_first(
        &self,
        names: &[String],
        p: Pid,
        mut joined: Joined,
    ) -> Result<(usize, i64), Error> {
        loop {
            if let Some((name, revision)) = &joined.seen.given {
                let at = names.iter().position(|other| other == name).ok_or(Error::Lost)?;
                return Ok((at, *revision));
            }
            let (seen, next) = (&joined.seen, self.next_key());
            let at = first_free(names, &seen.taken);
            let (key, lease) = (joined.key.clone(), lease_of(&joined.key));
            let mut when = vec![Compare::Created(names[at].clone(), 0), Compare::Changed(key.clone(), seen.changed)];
            let mut then = vec![
                Op::Put { key: names[at].clone(), value: key.clone().into_bytes(), lease },
                Op::Put { key: key.clone(), value: self.description(p, Some(at)), lease },
            ];
            if seen.is_shown {
                when.push(Compare::Changed(next.clone(), seen.changed));
                then.push(Op::Delete(next.clone()));
            }
            let otherwise = vec![Op::Get(key), self.all_names(), Op::Get(next)];
            let Outcome { held, revision, found } = self.transact(Transaction { when, then, otherwise }).await?;
            joined.seen = match &found[..] {
                _ if held => return Ok((at, revision)),
                [own, names, next] if own.first().is_some_and(|own| own.created == joined.created) => {
                    Listing::of(revision, &own[0], None, &[Vec::new(), names.clone(), next.clone()])
                }
                _ => return Err(Error::Lost),
            };
        }
    }

    /// Claims a name for a process that is in no queue.
    async fn claim_alone(&self, names: &[String], p: Pid) -> Result<(usize, i64), Error> {
        let lease = self.lease().await?.id();
        let mut taken = Vec::new();
        loop {
            let at = first_free(names, &taken);
            let put = Op::Put { key: names[at].clone(), value: format!("{p}").into_bytes(), lease };
            let when = vec![Compare::Created(names[at].clone(), 0)];
            let otherwise = vec![self.all_names()];
            let outcome = self.transact(Transaction { when, then: vec![put], otherwise }).await?;
            if outcome.held {
                return Ok((at, outcome.revision));
            }
            taken = outcome.found.iter().flatten().map(|entry: &Entry| entry.key.clone()).collect();
        }
    }
}

/// The first name that is not taken; if all seem to be, the first one is tried.
fn first_free(names: &[String], taken: &[String]) -> usize {
    names.iter().position(|name| !taken.contains(name)).unwrap_or(0)
}
