//! Many callers: never more than k, in order of arrival.
use std::{sync::Arc, thread};

use doorway::cluster::Options;
use doorway_etcd::testing::Cluster;

use crate::monitor::{Event, Log};

/// So many callers, each with a lease of its own, make passages.
pub(crate) fn passages(callers: usize, each: usize, k: usize, name: &str, options: impl Fn(usize) -> Options) {
    let log = Arc::new(Log::default());
    let threads: Vec<_> = (0..callers)
        .map(|caller| {
            let semaphore = options(caller).open(name, k).unwrap_or_else(|error| panic!("{error}"));
            let log = log.clone();
            thread::spawn(move || {
                for _ in 0..each {
                    let permit = semaphore.acquire().unwrap_or_else(|error| panic!("{error}"));
                    let arrival = permit.arrival();
                    log.note(Event::Enters(arrival, permit.index(), permit.token()));
                    thread::yield_now();
                    log.note(Event::Leaves(arrival));
                    permit.release().unwrap_or_else(|error| panic!("{error}"));
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    log.judge(k, callers * each);
    let semaphore = options(0).existing(name).unwrap();
    assert_eq!(semaphore.participants().unwrap(), (vec![], vec![]), "no place is left behind");
}

fn at(cluster: &Cluster) -> impl Fn(usize) -> Options + use<> {
    let address = cluster.address().to_string();
    move |_| Options::at(&address).unwrap()
}

#[test]
fn twenty_callers_enter_in_order_of_arrival_never_more_than_k() {
    let cluster = Cluster::start();
    for k in 1..=3 {
        passages(20, 10, k, &format!("order-{k}"), at(&cluster));
    }
}

#[test]
#[ignore = "2 minutes"]
fn ten_thousand_passages_of_twenty_callers_are_in_order() {
    let cluster = Cluster::start();
    for k in 1..=3 {
        passages(20, 167, k, &format!("order-{k}"), at(&cluster));
    }
}
