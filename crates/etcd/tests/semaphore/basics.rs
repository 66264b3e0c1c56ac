//! One or two callers: attempts, timeouts, places, aborts, validity, and what is refused.
use std::{thread, time::Duration};

use doorway::cluster::{Error, EtcdError, Options, Semaphore};
use doorway_etcd::testing::Cluster;

fn open(cluster: &Cluster, name: &str, k: usize) -> Semaphore {
    Semaphore::open(&cluster.address().to_string(), name, k).unwrap_or_else(|error| panic!("{error}"))
}

fn options(cluster: &Cluster) -> Options {
    Options::at(&cluster.address().to_string()).unwrap()
}

#[test]
fn permits_have_indices_and_tokens_and_are_shown() {
    let cluster = Cluster::start();
    let gpus = options(&cluster).describe("train 1").open("gpu", 2).unwrap();
    let (first, second) = (gpus.acquire().unwrap(), gpus.acquire().unwrap());
    assert_eq!([first.index(), second.index()], [0, 1]);
    assert!(second.token() > first.token() && first.is_valid().unwrap());
    let (holders, waiters) = gpus.participants().unwrap();
    assert_eq!(holders.iter().map(|holder| holder.index).collect::<Vec<_>>(), [Some(0), Some(1)]);
    assert_eq!((holders[0].what.as_str(), holders[0].pid, waiters.len()), ("train 1", std::process::id(), 0));

    assert!(gpus.try_acquire().unwrap().is_none());
    assert!(gpus.acquire_timeout(Duration::from_millis(50)).unwrap().is_none());
    let place = gpus.arrive().unwrap();
    assert_eq!(place.ahead(), Ok(2));
    let token = first.token();
    first.release().unwrap();
    let third = place.wait().unwrap();
    assert!(third.index() == 0 && third.token() > token);
    drop((second, third));
    let (fourth, fifth) = (gpus.try_acquire().unwrap(), gpus.try_acquire().unwrap());
    assert!(fourth.is_some() && fifth.is_some());
    drop((fourth, fifth));
    assert_eq!(gpus.participants().unwrap(), (vec![], vec![]));
}

#[test]
fn an_aborted_place_blocks_nobody() {
    let cluster = Cluster::start();
    let lock = open(&cluster, "lock", 1);
    let held = lock.acquire().unwrap();
    let (aborted, place) = (lock.arrive().unwrap(), lock.arrive().unwrap());
    assert_eq!(place.ahead(), Ok(2));
    drop(aborted);
    assert_eq!(place.ahead(), Ok(1));
    let waiter = thread::spawn(move || place.wait().map(|permit| permit.index()));
    held.release().unwrap();
    assert_eq!(waiter.join().unwrap(), Ok(0));
}

#[test]
fn futures_can_be_awaited_and_dropped_with_any_runtime() {
    let cluster = Cluster::start();
    let lock = open(&cluster, "lock", 1);
    let held = lock.acquire().unwrap();
    // A runtime without timers and sockets: requests run elsewhere.
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        {
            let mut waiting = Box::pin(lock.acquire_async());
            for _ in 0..3 {
                let polled = std::future::poll_fn(|context| std::task::Poll::Ready(waiting.as_mut().poll(context)));
                assert!(polled.await.is_pending());
                thread::sleep(Duration::from_millis(30));
            }
            // Dropping it here is an abort.
        }
        held.release_async().await.unwrap();
        let permit = lock.acquire_async().await.unwrap();
        assert!(permit.is_valid_async().await.unwrap());
        permit.release_async().await.unwrap();
    });
    assert_eq!(lock.participants().unwrap(), (vec![], vec![]));
}

#[test]
fn a_revoked_lease_is_noticed_and_the_next_waiter_enters() {
    let cluster = Cluster::start();
    let options = || options(&cluster).time(Duration::from_secs(2));
    let (lock, other) = (options().open("lock", 1).unwrap(), options().open("lock", 1).unwrap());
    let lost = lock.acquire().unwrap();
    let lease = cluster.etcdctl(&["lease", "list"]).lines().last().unwrap().to_string();
    cluster.etcdctl(&["lease", "revoke", &lease]);
    let permit = other.acquire().unwrap();
    assert!(permit.token() > lost.token(), "a resource that compares tokens is safe");
    assert_eq!(lost.is_valid(), Ok(false));
    doorway_etcd::block_on(lost.lost());
    // The one that lost it may come again.
    drop((lost, permit));
    assert!(lock.acquire_timeout(Duration::from_secs(20)).unwrap().is_some());
}

#[test]
fn a_waiter_whose_lease_is_revoked_joins_again() {
    let cluster = Cluster::start();
    let options = || options(&cluster).time(Duration::from_secs(2));
    let (lock, other) = (options().open("lock", 1).unwrap(), options().open("lock", 1).unwrap());
    let held = lock.acquire().unwrap();
    let of_holder = cluster.etcdctl(&["lease", "list"]).lines().last().unwrap().to_string();
    let waiter = thread::spawn(move || other.acquire().map(|permit| permit.index()));
    while lock.participants().unwrap().1.is_empty() {
        thread::sleep(Duration::from_millis(10));
    }
    let leases = cluster.etcdctl(&["lease", "list"]);
    let of_waiter = leases.lines().skip(1).find(|lease| *lease != of_holder).unwrap().to_string();
    cluster.etcdctl(&["lease", "revoke", &of_waiter]);
    thread::sleep(Duration::from_millis(200));
    held.release().unwrap();
    assert_eq!(waiter.join().unwrap(), Ok(0));
}

#[test]
fn what_is_not_possible_is_refused_with_the_way_out() {
    let cluster = Cluster::start();
    let refused = |result: Result<Semaphore, Error>| result.map(|_| ()).unwrap_err().to_string();
    let gpus = open(&cluster, "gpu", 2);
    assert_eq!(
        refused(options(&cluster).open("gpu", 3)),
        "`gpu` has capacity 2, not 3; ask for 2, or forget it while no process uses it"
    );
    assert_eq!(options(&cluster).existing("gpu").unwrap().k(), 2);
    assert_eq!(refused(options(&cluster).existing("cpu")), "there is no semaphore `cpu` on etcd");
    assert_eq!(refused(options(&cluster).open("gpu", 0)), "a capacity is from 1 to 1000, not 0");
    let name = "`a/b` cannot be a name on etcd; use up to 200 characters without `/` and control characters";
    assert_eq!(refused(options(&cluster).open("a/b", 1)), name);

    let permit = gpus.acquire().unwrap();
    assert_eq!(options(&cluster).names(), Ok(vec!["gpu".to_string()]));
    assert_eq!(options(&cluster).forget("gpu"), Err(Error::InUse { name: "gpu".to_string() }));
    permit.release().unwrap();
    options(&cluster).forget("gpu").unwrap();
    assert_eq!(options(&cluster).forget("gpu"), Err(Error::Missing { name: "gpu".to_string() }));
    assert_eq!(gpus.acquire().map(|_| ()), Err(Error::Missing { name: "gpu".to_string() }));

    cluster.etcdctl(&["put", "doorway/mine/K", "something"]);
    let foreign = "the key `doorway/mine/K` of etcd was not written by doorway; remove it, or use another name";
    assert_eq!(refused(options(&cluster).open("mine", 1)), foreign);

    let unreachable = refused(Semaphore::open("etcd://127.0.0.1:1", "gpu", 1));
    assert!(unreachable.starts_with("no server of `etcd://127.0.0.1:1` answers: "), "{unreachable}");
}

#[test]
fn users_are_asked_for_a_password_and_for_permissions() {
    let cluster = Cluster::of(1);
    for words in [
        &["user", "add", "root:secret"][..],
        &["role", "add", "root"],
        &["user", "grant-role", "root", "root"],
        &["role", "add", "reader"],
        &["role", "grant-permission", "reader", "--prefix=true", "read", "doorway/"],
        &["user", "add", "reader:weak"],
        &["user", "grant-role", "reader", "reader"],
        &["auth", "enable"],
    ] {
        cluster.etcdctl(words);
    }
    let refused = |result: Result<Semaphore, Error>| match result.map(|_| ()) {
        Err(Error::Etcd(EtcdError::Denied { why })) => why,
        other => panic!("{other:?}"),
    };
    refused(options(&cluster).open("gpu", 1));
}
