//! `doorway::cluster::Semaphore` on a real cluster.
mod basics;
mod faults;
mod monitor;
mod order;
