//! `--on`: semaphores of a cluster instead of those of this host.
use std::env;

use clap::Args;

use crate::output::Failure;

/// Where semaphores are.
#[derive(Args)]
pub(crate) struct On {
    /// Servers of etcd, for a semaphore of several machines: `etcd://host:2379,host:2379` [default: $DOORWAY_ON]
    #[arg(long = "on", value_name = "ADDRESS")]
    on: Option<String>,
}

impl On {
    /// The address; none for this host.
    pub(crate) fn address(&self) -> Result<Option<String>, Failure> {
        let address = self.on.clone().or_else(|| env::var("DOORWAY_ON").ok()).filter(|address| !address.is_empty());
        possible(address)
    }
}

/// An address, if this program can do something with it.
pub(crate) fn possible(address: Option<String>) -> Result<Option<String>, Failure> {
    match address {
        Some(_) if cfg!(not(all(feature = "etcd", target_os = "linux"))) => {
            let why = "this program was built without etcd; build it with `cargo install --path crates/cli --features \
                       etcd`, or leave out `--on` and DOORWAY_ON";
            Err(Failure(why.to_string()))
        }
        address => Ok(address),
    }
}
