//! What this crate asks of etcd: half a dozen calls, behind a trait, so that a test can lose, repeat and delay them.
use std::{future::Future, pin::Pin, time::Duration};

use crate::Error;

/// A future of one call.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// A connection to a cluster. A call that fails may have happened: every caller asks so that asking twice does no harm.
pub trait Api: Send + Sync + 'static {
    /// Executes a transaction.
    fn transact(&self, transaction: Transaction) -> Answer<'_, Outcome>;

    /// Creates a lease, and returns its number.
    fn grant(&self, time: Duration) -> Answer<'_, i64>;

    /// Renews a lease, and returns for how long; none if there is no such lease any more. It fails if the server does not
    /// answer within this time.
    fn keep_alive(&self, lease: i64, within: Duration) -> Answer<'_, Option<Duration>>;

    /// Ends a lease, and removes the keys under it. It may have ended before.
    fn revoke(&self, lease: i64) -> Answer<'_, ()>;

    /// Watches keys, from now on.
    ///
    /// Not from an earlier revision: etcd tells a watch that has to catch up only ten times a second.
    fn watch(&self, watch: Watch) -> Answer<'_, Box<dyn Events>>;

    /// The version of a server.
    fn version(&self) -> Answer<'_, String>;

    /// The address, for messages.
    fn address(&self) -> String;
}

/// The changes that a watch sees.
pub trait Events: Send {
    /// The revision after which changes are seen.
    fn begun(&self) -> i64;

    /// The next changes, at least one.
    fn next(&mut self) -> Answer<'_, Vec<Event>>;
}

/// A transaction: if all comparisons hold, it executes the operations of `then`, otherwise the others, in one step.
#[derive(Clone, Default, Debug)]
pub struct Transaction {
    /// The comparisons.
    pub when: Vec<Compare>,
    /// The operations if they hold.
    pub then: Vec<Op>,
    /// The operations if one does not.
    pub otherwise: Vec<Op>,
}

/// A comparison.
#[derive(Clone, Debug)]
pub enum Compare {
    /// The key was created at this revision; 0: it does not exist.
    Created(String, i64),
    /// The key was last changed at this revision; 0: it does not exist.
    Changed(String, i64),
    /// The key has this value.
    Value(String, Vec<u8>),
    /// There is no key with this prefix.
    Nothing(String),
}

/// An operation of a transaction.
#[derive(Clone, Debug)]
pub enum Op {
    /// Writes a key; under a lease, unless that is 0.
    Put {
        /// The key.
        key: String,
        /// The value.
        value: Vec<u8>,
        /// The lease.
        lease: i64,
    },
    /// Deletes a key.
    Delete(String),
    /// Deletes the keys with a prefix.
    DeleteAll(String),
    /// Reads a key.
    Get(String),
    /// Reads the keys with a prefix.
    Range(Range),
}

/// Keys with a prefix.
#[derive(Clone, Default, Debug)]
pub struct Range {
    /// The prefix.
    pub prefix: String,
    /// Their order.
    pub order: Order,
    /// Only those created before this revision, unless it is 0.
    pub before: i64,
    /// The largest number of keys, unless it is 0.
    pub limit: usize,
    /// Whether the values are wanted.
    pub values: bool,
}

/// The order of a [`Range`].
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub enum Order {
    /// By creation.
    #[default]
    OldestFirst,
    /// By creation, backwards.
    NewestFirst,
}

/// The outcome of a transaction.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Whether all comparisons held.
    pub held: bool,
    /// The revision of the store after it.
    pub revision: i64,
    /// For each operation, what it found; nothing for a write.
    pub found: Vec<Vec<Entry>>,
}

/// A key with its value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// The value, if it was wanted.
    pub value: Vec<u8>,
    /// The revision at which the key was created.
    pub created: i64,
    /// The revision at which it was last changed.
    pub changed: i64,
}

/// Which changes to watch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Watch {
    /// The key, or the prefix of keys.
    pub key: String,
    /// Whether it is a prefix.
    pub is_prefix: bool,
}

/// A change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// The key.
    pub key: String,
    /// Its value; empty if it was deleted.
    pub value: Vec<u8>,
    /// Whether it was deleted.
    pub is_deletion: bool,
    /// The revision.
    pub revision: i64,
}
