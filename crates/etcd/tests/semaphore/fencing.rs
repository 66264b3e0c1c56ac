//! The example of docs/fencing.md.
use std::time::Duration;

use doorway::cluster::Options;
use doorway_etcd::testing::Cluster;

/// A store of one value that refuses smaller tokens than it has seen.
struct Store {
    seen: u64,
    value: String,
}

impl Store {
    fn write(&mut self, token: u64, value: &str) -> Result<(), u64> {
        if token < self.seen {
            return Err(self.seen);
        }
        self.seen = token;
        self.value = value.to_string();
        Ok(())
    }
}

#[test]
fn a_store_that_compares_tokens_refuses_a_holder_that_was_taken_for_dead() {
    let cluster = Cluster::start();
    for k in [1, 2] {
        let open = || {
            let options = Options::at(&cluster.address().to_string()).unwrap().time(Duration::from_secs(2));
            options.open(&format!("store-{k}"), k).unwrap()
        };
        let (slow, quick) = (open(), open());
        let mut stores: Vec<Store> = (0..k).map(|_| Store { seen: 0, value: String::new() }).collect();
        let sleeping = slow.acquire().unwrap();
        stores[sleeping.index()].write(sleeping.token(), "before").unwrap();

        // Its lease ends while it sleeps, and another holder has its index.
        let lease = cluster.etcdctl(&["lease", "list"]).lines().last().unwrap().to_string();
        cluster.etcdctl(&["lease", "revoke", &lease]);
        let next = quick.acquire().unwrap();
        assert_eq!(next.index(), sleeping.index());
        stores[next.index()].write(next.token(), "next").unwrap();

        // It goes on, and does not know.
        assert_eq!(stores[sleeping.index()].write(sleeping.token(), "too late"), Err(next.token()));
        assert_eq!(stores[next.index()].value, "next");
    }
}
