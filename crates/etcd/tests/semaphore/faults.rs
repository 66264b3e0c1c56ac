//! Faults: lost and repeated requests and answers, servers that are killed, stopped and started again, compactions.
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

use doorway::cluster::Options;
use doorway_etcd::{
    Error, Session,
    api::{Answer, Api, Event, Events, Outcome, Transaction, Watch},
    testing::Cluster,
};

use crate::{
    monitor::{Event as Logged, Log},
    order::passages,
};

/// A connection that loses, repeats and delays at random.
struct Faulty {
    api: Arc<dyn Api>,
    random: AtomicU64,
}

impl Faulty {
    fn new(session: &Arc<Session>, seed: u64) -> Arc<Faulty> {
        Arc::new(Faulty {
            api: session.api().clone(),
            random: AtomicU64::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
        })
    }

    /// A random number below `end`.
    fn below(&self, end: u64) -> u64 {
        let next = |x: u64| {
            let x = x ^ x << 13;
            let x = x ^ x >> 7;
            x ^ x << 17
        };
        let before = self.random.fetch_update(SeqCst, SeqCst, |x| Some(next(x))).unwrap();
        next(before) % end
    }

    /// True once in `times`.
    fn happens(&self, times: u64) -> bool {
        self.below(times) == 0
    }

    async fn disturbed<T: 'static>(&self, ask: impl Fn() -> Answer<'static, T>) -> Result<T, Error> {
        let lost = |why: &str| Err(Error::Unreachable { address: "nowhere".to_string(), why: why.to_string() });
        if self.happens(10) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        if self.happens(15) {
            return lost("the request was lost");
        }
        if self.happens(10) {
            let (late, after) = (ask(), Duration::from_millis(self.below(100)));
            tokio::spawn(async move {
                tokio::time::sleep(after).await;
                drop(late.await);
            });
            return lost("the request was late");
        }
        if self.happens(15) {
            let _ = ask().await;
        }
        let answer = ask().await?;
        if self.happens(15) {
            return lost("the answer was lost");
        }
        Ok(answer)
    }
}

impl Api for Faulty {
    fn transact(&self, transaction: Transaction) -> Answer<'_, Outcome> {
        Box::pin(async move {
            let ask = || -> Answer<'static, Outcome> {
                let (api, transaction) = (self.api.clone(), transaction.clone());
                Box::pin(async move { api.transact(transaction).await })
            };
            self.disturbed(ask).await
        })
    }

    fn grant(&self, time: Duration) -> Answer<'_, i64> {
        let ask = move || -> Answer<'static, i64> {
            let api = self.api.clone();
            Box::pin(async move { api.grant(time).await })
        };
        Box::pin(async move { self.disturbed(ask).await })
    }

    fn keep_alive(&self, lease: i64, within: Duration) -> Answer<'_, Option<Duration>> {
        let ask = move || -> Answer<'static, Option<Duration>> {
            let api = self.api.clone();
            Box::pin(async move { api.keep_alive(lease, within).await })
        };
        Box::pin(async move { self.disturbed(ask).await })
    }

    fn revoke(&self, lease: i64) -> Answer<'_, ()> {
        self.api.revoke(lease)
    }

    fn watch(&self, watch: Watch) -> Answer<'_, Box<dyn Events>> {
        Box::pin(async move {
            let ends = self.happens(3);
            Ok(Box::new(Ending { events: self.api.watch(watch).await?, ends }) as Box<dyn Events>)
        })
    }

    fn version(&self) -> Answer<'_, String> {
        self.api.version()
    }

    fn address(&self) -> String {
        self.api.address()
    }
}

/// A watch that may end instead of telling its first change.
struct Ending {
    events: Box<dyn Events>,
    ends: bool,
}

impl Events for Ending {
    fn begun(&self) -> i64 {
        self.events.begun()
    }

    fn next(&mut self) -> Answer<'_, Vec<Event>> {
        Box::pin(async move {
            let events = self.events.next().await?;
            if self.ends { Err(Error::Compacted) } else { Ok(events) }
        })
    }
}

#[test]
fn lost_and_repeated_requests_and_answers_do_no_harm() {
    let cluster = Cluster::start();
    let sessions: Vec<_> = (0..10).map(|_| cluster.session("unused/", 1)).collect();
    for k in 1..=3 {
        passages(10, 8, k, &format!("faulty-{k}"), |caller| {
            Options::on(Faulty::new(&sessions[caller], caller as u64 + 1000 * k as u64))
        });
    }
}

/// Callers that abort beside others to which names are handed over, with late copies of all requests.
#[test]
fn a_name_given_to_a_waiter_that_aborts_is_not_lost() {
    let cluster = Cluster::start();
    for k in [2, 3] {
        let (name, log) = (format!("aborts-{k}"), Arc::new(Log::default()));
        let callers: Vec<_> = (0..10)
            .map(|caller| {
                let faulty = Faulty::new(&cluster.session("unused/", 1), caller + 100 * k as u64);
                let semaphore = Options::on(faulty.clone()).open(&name, k).unwrap();
                let log = log.clone();
                thread::spawn(move || {
                    let mut entries = 0;
                    for round in 0..20 {
                        let patience = match round % 3 {
                            0 => Duration::MAX,
                            _ => Duration::from_millis(faulty.below(150)),
                        };
                        let Some(permit) = semaphore.acquire_timeout(patience).unwrap() else { continue };
                        log.note(Logged::Enters(permit.arrival(), permit.index(), permit.token()));
                        thread::sleep(Duration::from_millis(faulty.below(20)));
                        log.note(Logged::Leaves(permit.arrival()));
                        permit.release().unwrap();
                        entries += 1;
                    }
                    (semaphore, entries)
                })
            })
            .collect();
        let ended: Vec<_> = callers.into_iter().map(|caller| caller.join().unwrap()).collect();
        let entries = ended.iter().map(|(_, entries)| entries).sum();
        log.judge(k, entries);
        // The leases still exist, so whatever was lost would be there. What says who has left stays until they end.
        thread::sleep(Duration::from_millis(200));
        let keys = cluster.etcdctl(&["get", "--prefix", "--keys-only", &format!("doorway/{name}/")]);
        let keys: Vec<_> = keys.split_whitespace().filter(|key| !key.contains("/V.left/")).collect();
        assert_eq!(keys, [format!("doorway/{name}/K")]);
        let permits: Vec<_> = (0..k).map(|i| ended[i].0.try_acquire().unwrap().expect("it is free")).collect();
        drop(permits);
    }
}

/// Disturbs the cluster while callers make passages.
fn while_disturbed(cluster: Cluster, each: usize, disturb: impl Fn(&mut Cluster, u64) + Send + 'static) {
    let address = cluster.address().to_string();
    let is_over = Arc::new(AtomicBool::new(false));
    let disturbing = {
        let (is_over, mut cluster) = (is_over.clone(), cluster);
        thread::spawn(move || {
            let mut round = 0;
            while !is_over.load(SeqCst) {
                thread::sleep(Duration::from_millis(1_000));
                disturb(&mut cluster, round);
                round += 1;
            }
            cluster
        })
    };
    for k in [1, 2] {
        let options = |_| Options::at(&address).unwrap().time(Duration::from_secs(30));
        passages(8, each, k, &format!("disturbed-{k}"), options);
    }
    is_over.store(true, SeqCst);
    drop(disturbing.join().unwrap());
}

fn signal(cluster: &Cluster, server: usize, signal: &str) {
    let pid = cluster.pid(server).to_string();
    assert!(std::process::Command::new("kill").args([signal, &pid]).status().unwrap().success());
}

fn kill_the_leader(cluster: &mut Cluster, _: u64) {
    let leader = cluster.leader();
    cluster.kill_server(leader);
    thread::sleep(Duration::from_millis(300));
    cluster.start_server(leader);
    cluster.wait_until_it_answers();
}

fn stop_the_leader(cluster: &mut Cluster, _: u64) {
    let leader = cluster.leader();
    signal(cluster, leader, "-STOP");
    thread::sleep(Duration::from_millis(3_000));
    signal(cluster, leader, "-CONT");
}

fn restart_a_follower(cluster: &mut Cluster, _: u64) {
    let follower = (cluster.leader() + 1) % 3;
    cluster.kill_server(follower);
    cluster.start_server(follower);
}

fn restart_all(cluster: &mut Cluster, _: u64) {
    (0..3).for_each(|server| cluster.kill_server(server));
    (0..3).for_each(|server| cluster.start_server(server));
    cluster.wait_until_it_answers();
    thread::sleep(Duration::from_secs(2));
}

fn compact(cluster: &mut Cluster, _: u64) {
    let status = cluster.etcdctl(&["endpoint", "status", "-w", "fields"]);
    let revision = status.lines().find_map(|line| line.strip_prefix("\"Revision\" : ")).unwrap().to_string();
    cluster.etcdctl(&["compact", &revision]);
}

#[test]
fn compactions_do_no_harm() {
    while_disturbed(Cluster::start(), 15, compact);
}

#[test]
fn a_killed_leader_does_no_harm() {
    while_disturbed(Cluster::start(), 8, kill_the_leader);
}

#[test]
#[ignore = "1 minute"]
fn a_stopped_leader_does_no_harm() {
    while_disturbed(Cluster::start(), 40, stop_the_leader);
}

#[test]
#[ignore = "1 minute"]
fn a_follower_that_is_started_again_does_no_harm() {
    while_disturbed(Cluster::start(), 100, restart_a_follower);
}

#[test]
#[ignore = "1 minute"]
fn a_cluster_that_is_started_again_does_no_harm() {
    while_disturbed(Cluster::start(), 40, restart_all);
}

#[test]
#[ignore = "1 minute"]
fn many_killed_leaders_do_no_harm() {
    while_disturbed(Cluster::start(), 40, kill_the_leader);
}
