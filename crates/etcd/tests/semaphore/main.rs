//! `doorway::cluster::Semaphore` on a real cluster.
mod basics;
mod faults;
mod fencing;
mod monitor;
mod order;
