//! The calls of [`Api`] by the crate `etcd-client`, at one server after the other.
use std::{
    env,
    error::Error as _,
    fs,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use etcd_client::{
    Certificate, Client as Connection, Compare as EtcdCompare, CompareOp, ConnectOptions, DeleteOptions, EventType,
    GetOptions, Identity, KeyValue, PutOptions, SortOrder, SortTarget, TlsOptions, Txn, TxnOp, TxnOpResponse,
    WatchOptions, WatchStream,
};
use tokio::time::timeout;

use crate::{
    Address, Error,
    api::{Answer, Api, Compare, Entry, Event, Events, Op, Order, Outcome, Range, Transaction, Watch},
};

/// How long a server may take for an answer.
pub(crate) const MAX_ANSWER: Duration = Duration::from_secs(2);

/// A connection is tested this often, and given up if the server does not answer in time; so a watch ends that would
/// see nothing any more.
const PROBE: Duration = Duration::from_secs(2);

/// The connections to the servers of a cluster.
pub(crate) struct Client {
    address: Address,
    options: ConnectOptions,
    /// One for each server, once it was needed.
    connections: Mutex<Vec<Option<Connection>>>,
    /// The server that is asked: the next one after each failure.
    current: AtomicUsize,
}

impl Client {
    /// Takes certificates and user from the environment, as etcdctl does. Connects when it is first asked.
    pub(crate) fn new(address: &Address) -> Result<Client, Error> {
        let mut options = ConnectOptions::new()
            .with_connect_timeout(MAX_ANSWER)
            .with_keep_alive(PROBE, PROBE)
            .with_keep_alive_while_idle(true)
            .with_require_leader(true);
        if let Some((name, password)) = user()? {
            options = options.with_user(name, password);
        }
        if address.is_encrypted() {
            options = options.with_tls(tls()?);
        }
        let connections = Mutex::new(address.endpoints().iter().map(|_| None).collect());
        Ok(Client { address: address.clone(), options, connections, current: AtomicUsize::new(0) })
    }

    async fn connection(&self, within: Duration) -> Result<(usize, Connection), Error> {
        let endpoints = self.address.endpoints();
        let at = self.current.load(SeqCst) % endpoints.len();
        let known = self.lock()[at].clone();
        if let Some(connection) = known {
            return Ok((at, connection));
        }
        let connecting = Connection::connect([&endpoints[at]], Some(self.options.clone()));
        let connection = self.judged(at, within, timeout(within, connecting).await)?;
        self.lock()[at] = Some(connection.clone());
        Ok((at, connection))
    }

    /// Asks the current server once.
    async fn ask<T>(
        &self,
        call: impl AsyncFnOnce(&mut Connection) -> Result<T, etcd_client::Error>,
    ) -> Result<T, Error> {
        self.ask_within(MAX_ANSWER, call).await
    }

    async fn ask_within<T>(
        &self,
        within: Duration,
        call: impl AsyncFnOnce(&mut Connection) -> Result<T, etcd_client::Error>,
    ) -> Result<T, Error> {
        let (at, mut connection) = self.connection(within).await?;
        self.judged(at, within, timeout(within, call(&mut connection)).await)
    }

    /// After a failure that another server might not have, the next one is asked.
    fn judged<T>(
        &self,
        at: usize,
        within: Duration,
        answer: Result<Result<T, etcd_client::Error>, tokio::time::error::Elapsed>,
    ) -> Result<T, Error> {
        let error = match answer {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(error)) => translated(&error, &self.address),
            Err(_) => Error::Unreachable {
                address: self.address.to_string(),
                why: format!("no answer within {} s", within.as_secs_f32()),
            },
        };
        if error.is_temporary() {
            self.lock()[at] = None;
            let _ = self.current.compare_exchange(at, (at + 1) % self.address.endpoints().len(), SeqCst, SeqCst);
        }
        Err(error)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Option<Connection>>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The user of `ETCDCTL_USER=name:password`, or of `ETCDCTL_USER` and `ETCDCTL_PASSWORD`.
fn user() -> Result<Option<(String, String)>, Error> {
    let Ok(user) = env::var("ETCDCTL_USER") else { return Ok(None) };
    let both = match env::var("ETCDCTL_PASSWORD") {
        Ok(password) => Some((user, password)),
        Err(_) => user.split_once(':').map(|(name, password)| (name.to_string(), password.to_string())),
    };
    both.map(Some).ok_or_else(|| Error::Denied { why: "ETCDCTL_USER has no password".to_string() })
}

/// The certificates that `ETCDCTL_CACERT`, `ETCDCTL_CERT` and `ETCDCTL_KEY` name.
fn tls() -> Result<TlsOptions, Error> {
    let read = |variable: &str| match env::var_os(variable) {
        None => Ok(None),
        Some(path) => fs::read(&path)
            .map(Some)
            .map_err(|error| Error::Denied { why: format!("{variable} names `{}`: {error}", path.display()) }),
    };
    let mut tls = TlsOptions::new().with_enabled_roots();
    if let Some(authority) = read("ETCDCTL_CACERT")? {
        tls = tls.ca_certificate(Certificate::from_pem(authority));
    }
    if let (Some(certificate), Some(key)) = (read("ETCDCTL_CERT")?, read("ETCDCTL_KEY")?) {
        tls = tls.identity(Identity::from_pem(certificate, key));
    }
    Ok(tls)
}

fn translated(error: &etcd_client::Error, address: &Address) -> Error {
    let unreachable = |why: String| Error::Unreachable { address: address.to_string(), why };
    let cause = match error {
        etcd_client::Error::GRpcStatus(status) => {
            status.source().map_or_else(|| status.message().to_string(), innermost)
        }
        error => innermost(error),
    };
    if address.is_encrypted() && is_about_tls(&cause) {
        return Error::Tls { address: address.to_string(), why: cause };
    }
    let etcd_client::Error::GRpcStatus(status) = error else {
        return match error {
            etcd_client::Error::LeaseKeepAliveError(why) if why.contains("not found") => Error::Lost,
            _ => unreachable(cause),
        };
    };
    // The codes of gRPC. The messages are etcd's, and stable: its own client tells errors apart by them.
    let (code, why) = (status.code() as i32, status.message().to_string());
    match code {
        _ if why.contains("requested lease not found") => Error::Lost,
        _ if why.contains("database space exceeded") => Error::NoSpace,
        _ if why.contains("revision has been compacted") => Error::Compacted,
        // A token of a user that has expired: a new connection gets a new one.
        16 if why.contains("invalid auth token") => unreachable(why),
        3 | 7 | 9 | 16 if is_about_users(&why) => Error::Denied { why },
        1 | 2 | 4 | 8 | 10 | 13 | 14 => unreachable(cause),
        12 => {
            Error::Server { why: "it does not know the request; is this a server of etcd, 3.4 or later?".to_string() }
        }
        _ => Error::Server { why },
    }
}

fn is_about_users(why: &str) -> bool {
    ["permission denied", "authentication", "user name", "auth", "password"].iter().any(|word| why.contains(word))
}

/// The words of rustls: about the server's certificate, about what the server says of this one's, and about an answer
/// that is not TLS.
fn is_about_tls(why: &str) -> bool {
    ["invalid peer certificate", "received fatal alert", "corrupt message", "tls handshake eof"]
        .iter()
        .any(|words| why.contains(words))
}

/// The cause at the end of the chain, which says more than "transport error".
fn innermost(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

impl Api for Client {
    fn transact(&self, transaction: Transaction) -> Answer<'_, Outcome> {
        Box::pin(async move {
            let Transaction { when, then, otherwise } = transaction;
            let operations = |ops: Vec<Op>| ops.into_iter().map(operation).collect::<Vec<_>>();
            let txn = Txn::new()
                .when(when.into_iter().map(comparison).collect::<Vec<_>>())
                .and_then(operations(then))
                .or_else(operations(otherwise));
            let answer = self.ask(async |connection| connection.txn(txn).await).await?;
            let found = answer.op_responses().into_iter().map(|response| match response {
                TxnOpResponse::Get(found) => found.kvs().iter().map(entry).collect(),
                _ => Vec::new(),
            });
            let revision = answer.header().map_or(0, |header| header.revision());
            Ok(Outcome { held: answer.succeeded(), revision, found: found.collect() })
        })
    }

    fn grant(&self, time: Duration) -> Answer<'_, i64> {
        Box::pin(async move {
            let seconds = i64::try_from(time.as_secs().max(1)).unwrap_or(i64::MAX);
            Ok(self.ask(async |connection| connection.lease_grant(seconds, None).await).await?.id())
        })
    }

    fn keep_alive(&self, lease: i64, within: Duration) -> Answer<'_, Option<Duration>> {
        Box::pin(async move {
            // The first answer on the stream has been read when this returns, and was positive; it tells no number.
            let answer = self.ask_within(within, async |connection| {
                let (mut keeper, mut answers) = connection.lease_keep_alive(lease).await?;
                keeper.keep_alive().await?;
                answers.message().await
            });
            match answer.await {
                Ok(Some(answer)) if answer.ttl() > 0 => Ok(Some(Duration::from_secs(answer.ttl().unsigned_abs()))),
                Ok(Some(_)) | Err(Error::Lost) => Ok(None),
                Ok(None) => {
                    Err(Error::Unreachable { address: self.address(), why: "the stream has ended".to_string() })
                }
                Err(error) => Err(error),
            }
        })
    }

    fn revoke(&self, lease: i64) -> Answer<'_, ()> {
        Box::pin(async move {
            match self.ask(async |connection| connection.lease_revoke(lease).await).await {
                Ok(_) | Err(Error::Lost) => Ok(()),
                Err(error) => Err(error),
            }
        })
    }

    fn watch(&self, watch: Watch) -> Answer<'_, Box<dyn Events>> {
        Box::pin(async move {
            let mut options = WatchOptions::new();
            if watch.is_prefix {
                options = options.with_prefix();
            }
            // The first answer says that the watch has begun.
            let watching = self.ask(async |connection| {
                let mut stream = connection.watch(watch.key, Some(options)).await?;
                let first = stream.message().await?;
                Ok((stream, first))
            });
            let (stream, first) = watching.await?;
            let begun = first.as_ref().and_then(|first| first.header()).map_or(0, |header| header.revision());
            if first.is_none_or(|first| first.canceled()) {
                let why = "the watch was refused".to_string();
                return Err(Error::Unreachable { address: self.address(), why });
            }
            Ok(Box::new(Stream { stream, begun, address: self.address.clone() }) as Box<dyn Events>)
        })
    }

    fn version(&self) -> Answer<'_, String> {
        Box::pin(async move { Ok(self.ask(async |connection| connection.status().await).await?.version().to_string()) })
    }

    fn address(&self) -> String {
        self.address.to_string()
    }
}

struct Stream {
    stream: WatchStream,
    begun: i64,
    address: Address,
}

impl Events for Stream {
    fn begun(&self) -> i64 {
        self.begun
    }

    fn next(&mut self) -> Answer<'_, Vec<Event>> {
        Box::pin(async move {
            loop {
                let ended = |why: &str| Error::Unreachable { address: self.address.to_string(), why: why.to_string() };
                let answer = self.stream.message().await.map_err(|error| translated(&error, &self.address))?;
                let answer = answer.ok_or_else(|| ended("the watch has ended"))?;
                if answer.compact_revision() > 0 {
                    return Err(Error::Compacted);
                }
                if answer.canceled() {
                    return Err(match answer.cancel_reason() {
                        why if is_about_users(why) => Error::Denied { why: why.to_string() },
                        why => ended(why),
                    });
                }
                let event = |event: &etcd_client::Event| {
                    let kv = event.kv()?;
                    Some(Event {
                        key: text(kv.key()),
                        value: kv.value().to_vec(),
                        is_deletion: event.event_type() == EventType::Delete,
                        revision: kv.mod_revision(),
                    })
                };
                let events: Vec<Event> = answer.events().iter().filter_map(event).collect();
                if !events.is_empty() {
                    return Ok(events);
                }
            }
        })
    }
}

fn comparison(compare: Compare) -> EtcdCompare {
    match compare {
        Compare::Created(key, revision) => EtcdCompare::create_revision(key, CompareOp::Equal, revision),
        Compare::Changed(key, revision) => EtcdCompare::mod_revision(key, CompareOp::Equal, revision),
        Compare::Value(key, value) => EtcdCompare::value(key, CompareOp::Equal, value),
        // True of no key that exists, so of a prefix without keys only.
        Compare::Nothing(prefix) => EtcdCompare::create_revision(prefix, CompareOp::Equal, 0).with_prefix(),
    }
}

fn operation(op: Op) -> TxnOp {
    match op {
        Op::Put { key, value, lease: 0 } => TxnOp::put(key, value, None),
        Op::Put { key, value, lease } => TxnOp::put(key, value, Some(PutOptions::new().with_lease(lease))),
        Op::Delete(key) => TxnOp::delete(key, None),
        Op::DeleteAll(prefix) => TxnOp::delete(prefix, Some(DeleteOptions::new().with_prefix())),
        Op::Get(key) => TxnOp::get(key, None),
        Op::Range(range) => {
            let Range { prefix, order, before, limit, values } = range;
            let order = match order {
                Order::OldestFirst => SortOrder::Ascend,
                Order::NewestFirst => SortOrder::Descend,
            };
            let mut options = GetOptions::new().with_prefix().with_sort(SortTarget::Create, order);
            options = options.with_limit(i64::try_from(limit).unwrap_or(0));
            if before > 0 {
                options = options.with_max_create_revision(before - 1);
            }
            TxnOp::get(prefix, Some(if values { options } else { options.with_keys_only() }))
        }
    }
}

fn entry(kv: &KeyValue) -> Entry {
    Entry { key: text(kv.key()), value: kv.value().to_vec(), created: kv.create_revision(), changed: kv.mod_revision() }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
