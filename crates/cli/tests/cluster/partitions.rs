//! Machines that are cut off, as network namespaces.
use std::{
    process::{Command, Stdio},
    sync::Arc,
    thread::{self, sleep},
    time::Duration,
};

use doorway::cluster::testing::Cluster;

use crate::{Site, beats, eventually, heartbeat};

/// A network namespace that is connected to this one, as if it were another machine.
struct Machine {
    name: String,
    link: String,
}

pub(crate) fn ip(words: &[&str]) -> bool {
    Command::new("ip")
        .args(words)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

impl Machine {
    /// Machine number `number`, with the addresses 10.91.NUMBER.1 here and .2 there. None if that is not permitted.
    fn new(number: usize) -> Option<Machine> {
        let pid = std::process::id();
        let (name, link) = (format!("doorway-{pid}-{number}"), format!("dw{pid}x{number}"));
        let peer = format!("{link}p");
        if !ip(&["netns", "add", &name]) {
            return None;
        }
        let machine = Machine { name: name.clone(), link: link.clone() };
        let (here, there) = (format!("10.91.{number}.1/24"), format!("10.91.{number}.2/24"));
        let is_connected = ip(&["link", "add", &link, "type", "veth", "peer", "name", &peer, "netns", &name])
            && ip(&["addr", "add", &here, "dev", &link])
            && ip(&["link", "set", &link, "up"])
            && ip(&["-n", &name, "addr", "add", &there, "dev", &peer])
            && ip(&["-n", &name, "link", "set", &peer, "up"])
            && ip(&["-n", &name, "route", "add", "default", "via", &format!("10.91.{number}.1")]);
        is_connected.then_some(machine)
    }

    fn cut_off(&self, is_cut_off: bool) {
        assert!(ip(&["link", "set", &self.link, if is_cut_off { "down" } else { "up" }]));
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        ip(&["netns", "delete", &self.name]);
    }
}

/// A further address of the loopback interface.
struct Loopback(String);

impl Loopback {
    fn new(address: String) -> Loopback {
        ip(&["addr", "add", &format!("{address}/32"), "dev", "lo"]);
        Loopback(address)
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        ip(&["addr", "del", &format!("{}/32", self.0), "dev", "lo"]);
    }
}

/// A machine that holds the lock is cut off, again and again: its command ends before that of another machine runs.
fn cut_off(rounds: usize, machines: &[usize]) {
    // The cluster listens at an address that every machine can reach, and that stays when a link is cut.
    let Some(_) = Machine::new(machines[0]).map(drop) else {
        eprintln!("SKIPPED: network namespaces are not permitted here, so no partition was tested");
        return;
    };
    let address = Loopback::new(format!("10.91.0.{}", machines[0]));
    let site = Arc::new(Site::with(Cluster::at(&address.0, 3)));
    let threads: Vec<_> = machines
        .iter()
        .map(|&number| {
            let site = site.clone();
            thread::spawn(move || {
                let machine = Machine::new(number).expect("the first one was permitted");
                for round in 0..rounds {
                    let name = format!("lock-{number}");
                    let (first, second) =
                        (site.path(&format!("{number}-{round}-a")), site.path(&format!("{number}-{round}-b")));
                    let run = site.doorway(&["run", "-q", "--ttl", "2", &name, "sh", "-c", &heartbeat(&first)]);
                    let mut words: Vec<_> = vec!["netns".into(), "exec".into(), machine.name.clone().into()];
                    words.push(run.get_program().to_owned());
                    words.extend(run.get_args().map(ToOwned::to_owned));
                    let mut holder = Command::new("ip")
                        .args(&words)
                        .env("DOORWAY_ON", site.cluster.address().to_string())
                        .stdin(Stdio::null())
                        .stderr(Stdio::null())
                        .spawn()
                        .unwrap();
                    eventually("the command runs", || !beats(&first).is_empty());
                    let line = format!("date +%s%N > {}", second.display());
                    let mut waiter = site.start(&["run", "-q", "--ttl", "2", &name, "sh", "-c", &line]);
                    eventually("another waits", || site.status(&name)["waiters"][0].is_object());
                    sleep(Duration::from_millis(37 * (round as u64 % 20)));
                    machine.cut_off(true);
                    assert!(waiter.wait().unwrap().success());
                    let last = *beats(&first).last().unwrap();
                    let entered = beats(&second)[0];
                    assert!(last < entered, "round {round}: it ran until {last}, and another entered at {entered}");
                    machine.cut_off(false);
                    assert_eq!(holder.wait().unwrap().code(), Some(76), "round {round}");
                    let count = beats(&first).len();
                    sleep(Duration::from_millis(50));
                    assert_eq!(beats(&first).len(), count, "nothing of the command goes on");
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn a_machine_that_is_cut_off_ends_its_command_before_another_enters() {
    cut_off(2, &[1, 2]);
}

#[test]
#[ignore = "3 minutes"]
fn two_hundred_machines_that_are_cut_off_end_their_commands_before_others_enter() {
    cut_off(20, &[11, 12, 13, 14, 15, 16, 17, 18, 19, 20]);
}
