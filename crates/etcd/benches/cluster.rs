//! The semaphore on etcd beside the bare requests that it is made of, and beside `etcdctl lock`, on one cluster in one run.
//!
//! `cargo bench -p doorway-etcd`: prints medians, and ratios to what is measured in the same run.
use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    thread,
    time::{Duration, Instant},
};

use doorway::cluster::{Options, Semaphore};
use doorway_etcd::{
    api::{Answer, Api, Compare, Event, Events, Op, Outcome, Range, Transaction, Watch},
    block, block_on,
    testing::Cluster,
};

const ROUNDS: usize = 300;

/// How long nothing happens before a hand-over.
const QUIET: Duration = Duration::from_millis(30);

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e3
}

fn line(what: &str, ours: f64, bare: f64, than: &str) {
    println!("{what:<46} {ours:7.2} ms   {:5.2} of {than} ({bare:.2} ms)", ours / bare);
}

/// A connection that counts requests and changes seen.
struct Counting {
    api: Arc<dyn Api>,
    requests: AtomicU64,
    events: Arc<AtomicU64>,
}

impl Counting {
    fn new(cluster: &Cluster) -> Arc<Counting> {
        let api = cluster.session("unused/", 1).api().clone();
        Arc::new(Counting { api, requests: AtomicU64::new(0), events: Arc::default() })
    }
}

impl Api for Counting {
    fn transact(&self, transaction: Transaction) -> Answer<'_, Outcome> {
        self.requests.fetch_add(1, SeqCst);
        self.api.transact(transaction)
    }
    fn grant(&self, time: Duration) -> Answer<'_, i64> {
        self.api.grant(time)
    }
    fn keep_alive(&self, lease: i64, within: Duration) -> Answer<'_, Option<Duration>> {
        self.api.keep_alive(lease, within)
    }
    fn revoke(&self, lease: i64) -> Answer<'_, ()> {
        self.api.revoke(lease)
    }
    fn watch(&self, watch: Watch) -> Answer<'_, Box<dyn Events>> {
        let counted = self.events.clone();
        Box::pin(async move {
            let events = self.api.watch(watch).await?;
            Ok(Box::new(CountingEvents { events, counted }) as Box<dyn Events>)
        })
    }
    fn version(&self) -> Answer<'_, String> {
        self.api.version()
    }
    fn address(&self) -> String {
        self.api.address()
    }
}

struct CountingEvents {
    events: Box<dyn Events>,
    counted: Arc<AtomicU64>,
}

impl Events for CountingEvents {
    fn begun(&self) -> i64 {
        self.events.begun()
    }
    fn next(&mut self) -> Answer<'_, Vec<Event>> {
        Box::pin(async move {
            let events = self.events.next().await?;
            self.counted.fetch_add(events.len() as u64, SeqCst);
            Ok(events)
        })
    }
}

/// Acquiring and releasing, uncontended, beside a bare transaction that creates a key under a lease and lists the others,
/// and a bare deletion.
fn uncontended(cluster: &Cluster) {
    for k in [1, 4] {
        let semaphore = open(cluster, &format!("uncontended-{k}"), k);
        let (session, lease) = (cluster.session("bare/", 1), block_lease(cluster));
        let api = session.api().clone();
        let [mut acquire, mut release, mut create, mut delete] = [const { Vec::new() }; 4];
        for round in 0..ROUNDS {
            let begun = Instant::now();
            let permit = semaphore.acquire().unwrap();
            acquire.push(begun.elapsed());
            let begun = Instant::now();
            permit.release().unwrap();
            release.push(begun.elapsed());
            let key = format!("bare/{round}");
            let put = Op::Put { key: key.clone(), value: b"x".to_vec(), lease };
            let list = Op::Range(Range { prefix: "bare/".to_string(), ..Range::default() });
            let bare =
                Transaction { when: vec![Compare::Created(key.clone(), 0)], then: vec![put, list], otherwise: vec![] };
            create.push(timed(&api, bare));
            delete.push(timed(&api, Transaction { then: vec![Op::Delete(key)], ..Transaction::default() }));
        }
        let (create, delete) = (median(create), median(delete));
        let trips = if k == 1 { 1 } else { 2 }; // to join, and to claim a name
        let than = format!("{trips} bare transaction(s)");
        line(&format!("acquire, uncontended, k = {k}"), median(acquire), create * f64::from(trips), &than);
        line(&format!("release, k = {k}"), median(release), delete, "a bare deletion");
    }
}

fn open(cluster: &Cluster, name: &str, k: usize) -> Semaphore {
    Semaphore::open(&cluster.address().to_string(), name, k).unwrap()
}

fn block_lease(cluster: &Cluster) -> i64 {
    let api = cluster.session("unused/", 1).api().clone();
    block(async move { api.grant(Duration::from_secs(600)).await }).unwrap()
}

fn timed(api: &Arc<dyn Api>, transaction: Transaction) -> Duration {
    let (api, begun) = (api.clone(), Instant::now());
    block(async move { api.transact(transaction).await }).unwrap();
    begun.elapsed()
}

/// From the beginning of a write until a watch tells it.
fn put_to_watch(api: &Arc<dyn Api>, key: String) -> Duration {
    let watching = {
        let (api, key) = (api.clone(), key.clone());
        block(async move { api.watch(Watch { key, is_prefix: false }).await }).unwrap()
    };
    let told = thread::spawn(move || {
        let mut watching = watching;
        block(async move { watching.next().await.map(|_| ()) }).unwrap();
        Instant::now()
    });
    thread::sleep(QUIET);
    let begun = Instant::now();
    let put = Op::Put { key, value: b"x".to_vec(), lease: 0 };
    timed(api, Transaction { then: vec![put], ..Transaction::default() });
    told.join().unwrap().duration_since(begun)
}

/// From the beginning of a release until the next waiter has its permit, in turns with the time from the beginning of a
/// write until a watch tells it.
fn hand_over(cluster: &Cluster) {
    let api = cluster.session("unused/", 1).api().clone();
    for (k, waiters) in [(1, 1), (1, 10), (4, 1), (4, 10)] {
        let name = format!("hand-over-{k}-{waiters}");
        let semaphore = Arc::new(open(cluster, &name, k));
        let (mut ours, mut bare) = (Vec::new(), Vec::new());
        while ours.len() < ROUNDS / 5 {
            let mut held: Vec<_> = (0..k).map(|_| semaphore.acquire().unwrap()).collect();
            let mut queue: Vec<_> = Vec::new();
            for _ in 0..waiters {
                let place = semaphore.arrive().unwrap();
                queue.push(thread::spawn(move || {
                    let permit = place.wait().unwrap();
                    (permit, Instant::now())
                }));
            }
            for waiter in queue {
                thread::sleep(QUIET);
                // The first of the holders leaves; the holders that are left keep the capacity used.
                let permit = held.remove(0);
                let begun = Instant::now();
                permit.release().unwrap();
                let (permit, entered) = waiter.join().unwrap();
                ours.push(entered.saturating_duration_since(begun));
                held.push(permit);
                bare.push(put_to_watch(&api, format!("watched/{name}/{}", bare.len())));
            }
        }
        line(&format!("hand-over, k = {k}, {waiters} waiting"), median(ours), median(bare), "put to watch");
    }
}

/// Requests and changes seen, of all waiters together, for each release.
fn events(cluster: &Cluster) {
    for waiters in [10, 100, 1000] {
        for k in [1, 4] {
            let counting = Counting::new(cluster);
            let options = || Options::on(counting.clone()).time(Duration::from_secs(60));
            let semaphore = Arc::new(options().open(&format!("events-{waiters}-{k}"), k).unwrap());
            let held: Vec<_> = (0..k).map(|_| semaphore.acquire().unwrap()).collect();
            let order = Arc::new(Mutex::new(Vec::new()));
            let places: Vec<_> = (0..waiters).map(|_| semaphore.arrive().unwrap()).collect();
            let (requests, seen) = (counting.requests.load(SeqCst), counting.events.load(SeqCst));
            let begun = Instant::now();
            block_on(async move {
                let waiting: Vec<_> = places
                    .into_iter()
                    .enumerate()
                    .map(|(i, place)| {
                        let order = order.clone();
                        doorway_etcd::spawn(async move {
                            let permit = place.wait_async().await.unwrap();
                            order.lock().unwrap().push(i);
                            permit.release_async().await.unwrap();
                        })
                    })
                    .collect();
                for permit in held {
                    permit.release_async().await.unwrap();
                }
                for waiter in waiting {
                    waiter.await;
                }
            });
            let passages = waiters as f64;
            println!(
                "{waiters:5} waiters, k = {k}: {:.2} changes seen and {:.2} requests for each passage, {:.2} ms each",
                (counting.events.load(SeqCst) - seen) as f64 / passages,
                (counting.requests.load(SeqCst) - requests) as f64 / passages,
                begun.elapsed().as_secs_f64() * 1e3 / passages
            );
        }
    }
}

/// From the start of the program until its command runs, and its end: `etcdctl lock` and an acquire of a new process.
fn etcdctl(cluster: &Cluster) {
    let address = cluster.address().to_string();
    let endpoints = address.trim_start_matches("etcd://").to_string();
    let [mut theirs, mut ours] = [const { Vec::new() }; 2];
    for _ in 0..30 {
        let begun = Instant::now();
        let mut child = Command::new("etcdctl")
            .env("ETCDCTL_API", "3")
            .args([&format!("--endpoints={endpoints}"), "lock", "theirs"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("`etcdctl` is installed");
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        theirs.push(begun.elapsed());
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        child.wait().unwrap();

        let begun = Instant::now();
        let semaphore = Semaphore::open(&address, "ours", 1).unwrap(); // a new connection and a new lease
        let permit = semaphore.acquire().unwrap();
        ours.push(begun.elapsed());
        permit.release().unwrap();
    }
    line("open and acquire, with a new connection", median(ours), median(theirs), "etcdctl lock, with its start");
}

fn main() {
    let cluster = Cluster::start();
    println!("three servers on this machine, without fsync; medians, three times for their spread");
    for _ in 0..3 {
        uncontended(&cluster);
        hand_over(&cluster);
    }
    etcdctl(&cluster);
    events(&cluster);
}
