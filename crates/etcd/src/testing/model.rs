//! A model of etcd in memory: keys, revisions, leases without an end, and watches, with latencies.
//!
//! With tokio's paused clock it takes no time, and every execution is the same.
use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    time::sleep,
};

use crate::{
    Error,
    api::{Answer, Api, Compare, Entry, Event, Events, Op, Order, Outcome, Range, Transaction, Watch},
};

/// How long things take.
#[derive(Clone, Copy, Debug)]
pub struct Latencies {
    /// A transaction that writes, from the request to the answer.
    pub write: Duration,
    /// A transaction that only reads.
    pub read: Duration,
    /// From a write until a watch tells it.
    pub event: Duration,
    /// What a list takes for each key that it sorts; lists wait for one another.
    pub sort: Duration,
}

/// What the model was asked for.
#[derive(Clone, Copy, Default, Debug)]
pub struct Traffic {
    /// Transactions.
    pub requests: u64,
    /// Transactions that wrote something.
    pub writes: u64,
    /// Changes that watches were told.
    pub events: u64,
    /// Keys that were sorted.
    pub sorted: u64,
}

/// The model.
pub struct Model {
    latencies: Latencies,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    revision: i64,
    leases: i64,
    keys: BTreeMap<String, Entry>,
    /// By the length of a prefix that is in use, and the prefix: the keys by their creation.
    ranges: HashMap<String, BTreeMap<i64, String>>,
    /// By their keys, which for some are prefixes.
    watches: HashMap<String, Vec<(Watch, UnboundedSender<Event>)>>,
    traffic: Traffic,
}

impl Model {
    /// An empty store.
    #[must_use]
    pub fn new(latencies: Latencies) -> Arc<Model> {
        Arc::new(Model { latencies, state: Mutex::default() })
    }

    /// What was asked for so far.
    #[must_use]
    pub fn traffic(&self) -> Traffic {
        self.lock().traffic
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn holds(&self, compare: &Compare) -> bool {
        match compare {
            Compare::Created(key, revision) => self.keys.get(key).map_or(0, |entry| entry.created) == *revision,
            Compare::Changed(key, revision) => self.keys.get(key).map_or(0, |entry| entry.changed) == *revision,
            Compare::Value(key, value) => self.keys.get(key).is_some_and(|entry| entry.value == *value),
            Compare::Nothing(prefix) => self.with_prefix(prefix).next().is_none(),
        }
    }

    fn with_prefix<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a Entry> {
        self.keys
            .range(prefix.to_string()..)
            .map(|(_, entry)| entry)
            .take_while(move |entry| entry.key.starts_with(prefix))
    }

    fn range(&mut self, range: &Range) -> Vec<Entry> {
        if !self.ranges.contains_key(&range.prefix) {
            let keys = self.with_prefix(&range.prefix).map(|entry| (entry.created, entry.key.clone())).collect();
            self.ranges.insert(range.prefix.clone(), keys);
        }
        let keys = &self.ranges[&range.prefix];
        self.traffic.sorted += keys.len() as u64;
        let before = if range.before > 0 { range.before } else { i64::MAX };
        let limit = if range.limit > 0 { range.limit } else { usize::MAX };
        let entry = |(_, key): (&i64, &String)| self.keys[key].clone();
        match range.order {
            Order::OldestFirst => keys.range(..before).take(limit).map(entry).collect(),
            Order::NewestFirst => keys.range(..before).rev().take(limit).map(entry).collect(),
        }
    }

    fn put(&mut self, key: &str, value: &[u8]) {
        let (revision, is_new) = (self.revision, !self.keys.contains_key(key));
        let entry = self.keys.entry(key.to_string()).or_insert_with(|| Entry {
            key: key.to_string(),
            value: Vec::new(),
            created: revision,
            changed: revision,
        });
        (entry.value, entry.changed) = (value.to_vec(), revision);
        if is_new {
            let ranges = self.ranges.iter_mut().filter(|(prefix, _)| key.starts_with(prefix.as_str()));
            ranges.for_each(|(_, keys)| drop(keys.insert(revision, key.to_string())));
        }
    }

    fn delete(&mut self, key: &str) -> bool {
        let Some(entry) = self.keys.remove(key) else { return false };
        let ranges = self.ranges.iter_mut().filter(|(prefix, _)| key.starts_with(prefix.as_str()));
        ranges.for_each(|(_, keys)| drop(keys.remove(&entry.created)));
        true
    }

    fn transact(&mut self, transaction: &Transaction) -> (Outcome, Vec<Event>) {
        let held = transaction.when.iter().all(|compare| self.holds(compare));
        let ops = if held { &transaction.then } else { &transaction.otherwise };
        let writes = ops.iter().any(|op| matches!(op, Op::Put { .. } | Op::Delete(_) | Op::DeleteAll(_)));
        self.revision += i64::from(writes);
        self.traffic.requests += 1;
        self.traffic.writes += u64::from(writes);
        let (mut found, mut events, revision) = (Vec::new(), Vec::new(), self.revision);
        for op in ops {
            let mut change = |key: &str, value: Option<&[u8]>| {
                let (value, is_deletion) = (value.unwrap_or_default().to_vec(), value.is_none());
                events.push(Event { key: key.to_string(), value, is_deletion, revision });
            };
            found.push(match op {
                Op::Put { key, value, .. } => {
                    change(key, Some(value));
                    self.put(key, value);
                    Vec::new()
                }
                Op::Delete(key) => {
                    if self.keys.contains_key(key) {
                        change(key, None);
                    }
                    self.delete(key);
                    Vec::new()
                }
                Op::DeleteAll(prefix) => {
                    let keys: Vec<String> = self.with_prefix(prefix).map(|entry| entry.key.clone()).collect();
                    for key in keys {
                        change(&key, None);
                        self.delete(&key);
                    }
                    Vec::new()
                }
                Op::Get(key) => self.keys.get(key).cloned().into_iter().collect(),
                Op::Range(range) => self.range(range),
            });
        }
        (Outcome { held, revision: self.revision, found }, events)
    }

    fn tell(&mut self, events: &[Event]) {
        for event in events {
            // A key may be watched by itself, or by a prefix that ends in a `/`.
            let prefixes = event.key.match_indices('/').map(|(at, _)| &event.key[..=at]);
            for key in prefixes.chain([event.key.as_str()]) {
                let Some(watches) = self.watches.get_mut(key) else { continue };
                watches.retain(|(_, sender)| !sender.is_closed());
                for (watch, sender) in watches.iter() {
                    if watch.is_prefix || event.key == watch.key {
                        self.traffic.events += 1;
                        let _ = sender.send(event.clone());
                    }
                }
                if watches.is_empty() {
                    self.watches.remove(key);
                }
            }
        }
    }
}

impl Api for Model {
    fn transact(&self, transaction: Transaction) -> Answer<'_, Outcome> {
        Box::pin(async move {
            let Latencies { write, read, event, sort } = self.latencies;
            let (outcome, events, sorted, has_written) = {
                let mut state = self.lock();
                let before = state.traffic;
                let (outcome, events) = state.transact(&transaction);
                let after = state.traffic;
                (outcome, events, after.sorted - before.sorted, after.writes > before.writes)
            };
            let sorting = sort * u32::try_from(sorted).unwrap_or(u32::MAX);
            sleep(event).await;
            self.lock().tell(&events);
            sleep((if has_written { write } else { read }).saturating_sub(event) + sorting).await;
            Ok(outcome)
        })
    }

    fn grant(&self, _: Duration) -> Answer<'_, i64> {
        Box::pin(async move {
            let mut state = self.lock();
            state.leases += 1;
            Ok(state.leases)
        })
    }

    fn keep_alive(&self, _: i64, _: Duration) -> Answer<'_, Option<Duration>> {
        // For longer than any execution.
        Box::pin(async move { Ok(Some(Duration::from_secs(1_000_000_000))) })
    }

    fn revoke(&self, _: i64) -> Answer<'_, ()> {
        Box::pin(async move { Ok(()) })
    }

    fn watch(&self, watch: Watch) -> Answer<'_, Box<dyn Events>> {
        Box::pin(async move {
            sleep(self.latencies.read).await;
            let (sender, receiver) = unbounded_channel();
            let mut state = self.lock();
            state.watches.entry(watch.key.clone()).or_default().push((watch, sender));
            Ok(Box::new(Stream { receiver, begun: state.revision }) as Box<dyn Events>)
        })
    }

    fn version(&self) -> Answer<'_, String> {
        Box::pin(async move { Ok("3.6.5".to_string()) })
    }

    fn address(&self) -> String {
        "a model".to_string()
    }
}

struct Stream {
    receiver: UnboundedReceiver<Event>,
    begun: i64,
}

impl Events for Stream {
    fn begun(&self) -> i64 {
        self.begun
    }

    fn next(&mut self) -> Answer<'_, Vec<Event>> {
        Box::pin(async move { self.receiver.recv().await.map(|event| vec![event]).ok_or(Error::Compacted) })
    }
}
