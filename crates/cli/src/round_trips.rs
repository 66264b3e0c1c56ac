//! `doorway rmr NAME --on`: the round trips that passages of a lock take on etcd.
use std::{sync::Arc, thread, time::Duration};

use doorway_algorithms::{
    About, Size,
    registry::{self, Visitor},
};
use doorway_etcd::{
    Address, Error, Etcd, Halt, Keys, Session, Settings,
    api::{Op, Transaction},
    block,
};
use doorway_memory::{Exclusion, Part, Pid};

use crate::output::Failure;

/// The passages of each process.
const PASSAGES: usize = 5;

/// The round trips of passages.
pub(crate) struct RoundTrips {
    /// Of a passage without other processes.
    pub(crate) uncontended: u64,
    /// Of the passages of all processes at once.
    pub(crate) contended: Vec<u64>,
}

impl RoundTrips {
    pub(crate) fn worst(&self) -> u64 {
        self.contended.iter().copied().max().unwrap_or(0)
    }

    pub(crate) fn mean(&self) -> f64 {
        self.contended.iter().sum::<u64>() as f64 / self.contended.len() as f64
    }
}

/// Executes passages on the cluster.
pub(crate) fn measure(about: &'static About, size: Size, address: &str) -> Result<RoundTrips, Failure> {
    let address: Address = address.parse()?;
    let prefix = format!("doorway-rmr/{}-{}/", about.name, std::process::id());
    let names = about.assigns();
    let settings = Settings { prefix: prefix.clone(), k: size.k, names, time: Duration::from_secs(10), guard: None };
    // One more than there are processes: it removes the keys.
    let sessions: Result<Vec<_>, Error> = (0..=size.n).map(|_| Session::new(&address, settings.clone())).collect();
    let sessions = sessions?;
    let measured = registry::visit(about, size, Passages { prefix: prefix.clone(), sessions: &sessions });
    for session in sessions {
        let remove = Transaction { then: vec![Op::DeleteAll(prefix.clone())], ..Transaction::default() };
        block(async move {
            session.end().await;
            session.transact(remove).await
        })?;
    }
    Ok(measured?)
}

struct Passages<'a> {
    prefix: String,
    sessions: &'a [Arc<Session>],
}

impl Visitor for Passages<'_> {
    type Space = Keys;
    type Output = Result<RoundTrips, Error>;

    fn lock<A: Exclusion<Etcd> + 'static>(
        self,
        _: &'static About,
        size: Size,
        make: impl Fn(&mut Keys) -> A,
    ) -> Result<RoundTrips, Error> {
        let lock = Arc::new(make(&mut Keys::new(self.prefix)));
        let uncontended = passage(&*lock, &self.sessions[0], 0)?;
        let processes: Vec<_> = (0..size.n)
            .map(|p| {
                let (lock, session) = (lock.clone(), self.sessions[p].clone());
                thread::spawn(move || (0..PASSAGES).map(|_| passage(&*lock, &session, p)).collect())
            })
            .collect();
        let ended = |process: thread::JoinHandle<Result<Vec<u64>, Error>>| {
            process.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        let contended: Result<Vec<Vec<u64>>, Error> = processes.into_iter().map(ended).collect();
        Ok(RoundTrips { uncontended, contended: contended?.concat() })
    }

    fn part<A: Part<Etcd> + 'static>(
        self,
        about: &'static About,
        _: Size,
        _: impl Fn(&mut Keys) -> A,
    ) -> Result<RoundTrips, Error> {
        unreachable!("`{}` is a part, and the command looks up locks only", about.name)
    }
}

/// The round trips of one passage.
fn passage<A: Exclusion<Etcd>>(lock: &A, session: &Arc<Session>, p: Pid) -> Result<u64, Error> {
    let (before, mut m) = (session.round_trips(), Etcd::blocking(session.clone()));
    let passed = lock
        .doorway(&mut m, p)
        .and_then(|place| lock.wait(&mut m, p, &place))
        .and_then(|inside| lock.exit(&mut m, p, &inside));
    match passed {
        Ok(()) => Ok(session.round_trips() - before),
        Err(Halt::Failed(error)) => Err(error),
        Err(Halt::Wants(access)) => unreachable!("a memory that blocks executes {access:?}"),
    }
}
