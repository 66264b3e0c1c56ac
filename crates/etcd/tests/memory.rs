//! The memory on a real cluster.
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

use doorway_algorithms::{
    Size,
    kexclusion::{fischer_queue, fischer_queue_names, ticket_k},
    mutex::{bakery, mcs, peterson},
};
use doorway_etcd::{Etcd, Halt, Keys, Session, block, replay, testing::Cluster};
use doorway_memory::{
    Exclusion, Local,
    conformance::{self, Harness},
};

fn unwrapped<R>(result: Result<R, Halt>) -> R {
    match result {
        Ok(result) => result,
        Err(Halt::Failed(error)) => panic!("{error}"),
        Err(Halt::Wants(access)) => panic!("{access:?} was not executed"),
    }
}

/// Runs every body on new keys, and waits for each answer.
struct Blocking(Cluster, AtomicUsize);

impl Harness for Blocking {
    type Space = Keys;

    fn complete<A, R: Local>(
        &self,
        make: impl Fn(&mut Keys) -> A,
        body: impl Fn(&A, &mut Etcd) -> Result<R, Halt>,
    ) -> R {
        let prefix = format!("blocking/{}/", self.1.fetch_add(1, SeqCst));
        let made = make(&mut Keys::new(&prefix));
        unwrapped(body(&made, &mut Etcd::blocking(self.0.session(&prefix, 1))))
    }
}

/// The same, with answers that are awaited.
struct Replaying(Blocking);

impl Harness for Replaying {
    type Space = Keys;

    fn complete<A, R: Local>(
        &self,
        make: impl Fn(&mut Keys) -> A,
        body: impl Fn(&A, &mut Etcd) -> Result<R, Halt>,
    ) -> R {
        let prefix = format!("replaying/{}/", self.0.1.fetch_add(1, SeqCst));
        let (made, session) = (make(&mut Keys::new(&prefix)), self.0.0.session(&prefix, 1));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(replay(&session, |m| body(&made, m))).unwrap_or_else(|error| panic!("{error}"))
    }
}

#[test]
fn the_memory_conforms_whether_it_blocks_or_replays() {
    let blocking = Blocking(Cluster::start(), AtomicUsize::new(0));
    conformance::all(&blocking);
    conformance::all(&Replaying(blocking));
}

/// Threads make passages of a lock, and count how many hold it at once.
fn passes<A: Exclusion<Etcd> + 'static>(
    cluster: &Cluster,
    name: &str,
    make: impl Fn(&mut Keys, Size) -> A,
    size: Size,
    passages: usize,
) {
    let prefix = format!("{name}/");
    let lock = Arc::new(make(&mut Keys::new(&prefix), size));
    let session = cluster.session(&prefix, size.k);
    let (inside, entries) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let threads: Vec<_> = (0..size.n)
        .map(|p| {
            let (lock, session) = (lock.clone(), session.clone());
            let (inside, entries) = (inside.clone(), entries.clone());
            thread::spawn(move || {
                let mut m = Etcd::blocking(session);
                for _ in 0..passages {
                    let place = unwrapped(lock.doorway(&mut m, p));
                    let held = unwrapped(lock.wait(&mut m, p, &place));
                    assert!(inside.fetch_add(1, SeqCst) < size.k);
                    entries.fetch_add(1, SeqCst);
                    inside.fetch_sub(1, SeqCst);
                    unwrapped(lock.exit(&mut m, p, &held));
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(entries.load(SeqCst), size.n * passages, "{name}");
}

#[test]
fn algorithms_of_the_catalogue_exclude_on_etcd() {
    let cluster = Cluster::start();
    passes(&cluster, "peterson", peterson::new, Size { n: 2, k: 1 }, 5);
    passes(&cluster, "bakery", bakery::new, Size { n: 3, k: 1 }, 3);
    passes(&cluster, "mcs", mcs::new, Size { n: 3, k: 1 }, 5);
    passes(&cluster, "ticket-k", ticket_k::new, Size { n: 4, k: 2 }, 5);
    // More than a word has room for.
    passes(&cluster, "fischer-queue", fischer_queue::new, Size { n: 20, k: 1 }, 10);
    passes(&cluster, "fischer-queue-names", fischer_queue_names::new, Size { n: 20, k: 3 }, 10);
}

fn awaited<R: Send + 'static>(
    session: &Arc<Session>,
    section: impl Fn(&mut Etcd) -> Result<R, Halt> + Send + Sync + 'static,
) -> R {
    let session = session.clone();
    block(async move { replay(&session, section).await }).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn an_uncontended_passage_takes_two_or_three_round_trips() {
    let cluster = Cluster::start();
    for (k, trips) in [(1, [1, 2]), (2, [2, 3])] {
        let prefix = format!("trips-{k}/");
        let lock = Arc::new(fischer_queue_names::new(&mut Keys::new(&prefix), Size { n: 2, k }));
        let session = cluster.session(&prefix, k);
        for passage in 0..3 {
            let before = session.round_trips();
            let entering = lock.clone();
            let inside = awaited(&session, move |m| {
                entering.doorway(m, 0)?;
                entering.wait(m, 0, &())
            });
            let entered = session.round_trips() - before;
            let leaving = lock.clone();
            awaited(&session, move |m| leaving.exit(m, 0, &inside));
            assert_eq!([entered, session.round_trips() - before], trips, "k = {k}, passage {passage}");
        }
    }
}
