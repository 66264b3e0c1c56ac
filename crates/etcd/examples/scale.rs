//! How a queue on etcd scales, simulated: the requests of this crate on a model of etcd, on a clock that does not wait.
//!
//! `cargo run --release -p doorway-etcd --features testing --example scale`
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use doorway_algorithms::{Size, kexclusion::fischer_queue_names};
use doorway_etcd::{
    Etcd, Keys, Session, Settings, replay,
    testing::{Latencies, Model, Traffic},
};
use doorway_memory::Exclusion;
use tokio::time::{Instant, sleep};

/// Medians of `cargo bench -p doorway-etcd`; and what a passage takes longer for each waiter, for its two lists.
const LATENCIES: Latencies = Latencies {
    write: Duration::from_micros(640),
    read: Duration::from_micros(400),
    event: Duration::from_micros(450),
    sort: Duration::from_nanos(700),
};

/// The passages that are counted, at a queue of constant length.
const PASSAGES: usize = 100;

/// How long a critical section takes.
const SECTION: Duration = Duration::from_millis(5);

async fn scale(waiters: usize, k: usize) -> (Traffic, f64) {
    let model = Model::new(LATENCIES);
    let settings =
        Settings { prefix: "q/".to_string(), k, names: true, time: Duration::from_secs(1_000_000), guard: None };
    let session = Session::with(model.clone(), settings);
    let lock = Arc::new(fischer_queue_names::new(&mut Keys::new("q/"), Size { n: usize::MAX, k }));
    let (entries, is_over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    for p in 0..waiters + k {
        let (session, lock, entries, is_over) = (session.clone(), lock.clone(), entries.clone(), is_over.clone());
        // They join one after the other.
        replay(&session, |m: &mut Etcd| lock.doorway(m, p)).await.expect("the model does not fail");
        tokio::spawn(async move {
            let mut p = p;
            while !is_over.load(SeqCst) {
                let inside =
                    replay(&session, |m: &mut Etcd| lock.wait(m, p, &())).await.expect("the model does not fail");
                entries.fetch_add(1, SeqCst);
                sleep(SECTION).await;
                replay(&session, |m: &mut Etcd| lock.exit(m, p, &inside)).await.expect("the model does not fail");
                // Another process comes in its place.
                p += 1_000_000;
                replay(&session, |m: &mut Etcd| lock.doorway(m, p)).await.expect("the model does not fail");
            }
        });
    }
    // The first ones have the queue listed while it grew.
    let settled = 10;
    while entries.load(SeqCst) < settled {
        sleep(Duration::from_millis(1)).await;
    }
    let (before, begun, first) = (model.traffic(), Instant::now(), entries.load(SeqCst));
    while entries.load(SeqCst) < first + PASSAGES {
        sleep(Duration::from_millis(1)).await;
    }
    let (after, passages) = (model.traffic(), (entries.load(SeqCst) - first) as f64);
    let time = begun.elapsed().as_secs_f64() * 1e3 / passages;
    is_over.store(true, SeqCst);
    let traffic = Traffic {
        requests: after.requests - before.requests,
        writes: after.writes - before.writes,
        events: after.events - before.events,
        sorted: after.sorted - before.sorted,
    };
    (traffic, time)
}

fn main() {
    println!(
        "  waiters   k   requests   writes   changes seen   keys sorted   ms, of which {} inside",
        SECTION.as_millis()
    );
    for k in [1, 4] {
        for waiters in [1, 10, 100, 1_000, 10_000, 100_000] {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
            let (traffic, time) = runtime.expect("the system has room for a runtime").block_on(scale(waiters, k));
            let each = |number: u64| number as f64 / PASSAGES as f64;
            println!(
                "{waiters:9}  {k:2}  {:9.1}  {:7.1}  {:13.1}  {:12.0}  {time:10.2}",
                each(traffic.requests),
                each(traffic.writes),
                each(traffic.events),
                each(traffic.sorted)
            );
        }
    }
}
