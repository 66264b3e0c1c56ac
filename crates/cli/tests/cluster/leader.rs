//! The leader's machine is cut off, with the commands that run there, while commands run on all machines.
//!
//! Each server runs in a network namespace of its own, all of which are connected by a bridge. Clients run beside the
//! bridge, where they can always reach a majority, and beside each server, where they are cut off with it and can reach
//! only that one.
use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    thread::{self, sleep},
    time::{Duration, Instant},
};

use doorway::cluster::testing::Cluster;

use crate::{
    Site, beats, eventually, heartbeat,
    partitions::ip,
    soak::{Random, Run, judge, signal},
};

/// Machines that are connected by a bridge.
struct Network {
    bridge: String,
    machines: Vec<Machine>,
}

struct Machine {
    namespace: String,
    /// The end of its link that is at the bridge.
    link: String,
    address: String,
}

impl Network {
    /// This many machines, with addresses that no other process of this test uses. None if that is not permitted.
    fn new(machines: usize) -> Option<Network> {
        static NETWORKS: AtomicUsize = AtomicUsize::new(0);
        let (pid, number) = (std::process::id(), NETWORKS.fetch_add(1, SeqCst));
        let subnet = format!("10.{}.{}", 92 + number % 100, pid % 250);
        let mut network = Network { bridge: format!("dwb{pid}x{number}"), machines: Vec::new() };
        let is_made = ip(&["link", "add", &network.bridge, "type", "bridge"])
            && ip(&["addr", "add", &format!("{subnet}.254/24"), "dev", &network.bridge])
            && ip(&["link", "set", &network.bridge, "up"])
            && (0..machines)
                .all(|i| network.add(&format!("doorway-{pid}-b{number}m{i}"), &format!("{subnet}.{}", i + 1)));
        is_made.then_some(network)
    }

    fn add(&mut self, namespace: &str, address: &str) -> bool {
        let link = format!("{}m{}", self.bridge.replacen("dwb", "dw", 1), self.machines.len());
        let bridge = self.bridge.clone();
        if !ip(&["netns", "add", namespace]) {
            return false;
        }
        // From here on it is removed with the network.
        self.machines.push(Machine { namespace: namespace.into(), link: link.clone(), address: address.into() });
        ip(&["link", "add", &link, "type", "veth", "peer", "name", "up0", "netns", namespace])
            && ip(&["link", "set", &link, "master", &bridge])
            && ip(&["link", "set", &link, "up"])
            && ip(&["-n", namespace, "addr", "add", &format!("{address}/24"), "dev", "up0"])
            && ip(&["-n", namespace, "link", "set", "up0", "up"])
            // A machine reaches itself through this one, even if it is cut off.
            && ip(&["-n", namespace, "link", "set", "lo", "up"])
    }

    fn cut_off(&self, machine: usize, is_cut_off: bool) {
        assert!(ip(&["link", "set", &self.machines[machine].link, if is_cut_off { "down" } else { "up" }]));
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for machine in &self.machines {
            ip(&["link", "delete", &machine.link]);
            ip(&["netns", "delete", &machine.namespace]);
        }
        ip(&["link", "delete", &self.bridge]);
    }
}

/// What the clients share.
struct Stage {
    site: Site,
    name: String,
    k: usize,
    is_over: AtomicBool,
    entries: AtomicUsize,
    /// How many calls ended with each exit code, beside the bridge and beside a server.
    codes: Mutex<BTreeMap<(&'static str, Option<i32>), usize>>,
}

impl Stage {
    /// Runs the command again and again, with a log of its own each time, in a namespace or beside the bridge.
    fn client(&self, client: usize, namespace: Option<&str>) {
        let mut round = 0;
        while !self.is_over.load(SeqCst) {
            round += 1;
            let log = self.site.path(&format!("{client}-{round}"));
            // Every fourth command is longer than an election.
            let beats = if (client + round).is_multiple_of(4) { 150 } else { 8 };
            let line = format!(
                "echo $DOORWAY_INDEX $DOORWAY_TOKEN $PPID > {log}; for i in $(seq {beats}); do date +%s%N >> {log}; sleep 0.01; done",
                log = log.display()
            );
            let k = self.k.to_string();
            let run = self.site.doorway(&["run", "-q", "--ttl", "2", "-k", &k, &self.name, "sh", "-c", &line]);
            let mut command = match namespace {
                None => run,
                Some(namespace) => within(namespace, &self.site, &run),
            };
            let output = command.stdout(Stdio::null()).output().unwrap();
            let place = if namespace.is_some() { "beside a server" } else { "beside the bridge" };
            *self.codes.lock().unwrap().entry((place, output.status.code())).or_default() += 1;
            let complaint = String::from_utf8_lossy(&output.stderr);
            // Beside the bridge a majority always answers. Beside a server that is cut off, none may.
            let expected: &[i32] = if namespace.is_some() { &[0, 76, 2] } else { &[0, 76] };
            assert!(
                output.status.code().is_some_and(|code| expected.contains(&code)),
                "{place}: {:?} {complaint}",
                output.status
            );
            if log.exists() {
                self.entries.fetch_add(1, SeqCst);
            }
        }
    }

    /// All commands that have run, each with the process that ran it, in the order of their first heartbeats.
    fn runs(&self) -> Vec<(u32, Run)> {
        let logs = fs::read_dir(&self.site.directory).unwrap();
        let mut runs: Vec<(u32, Run)> =
            logs.filter_map(|log| Run::read(&fs::read_to_string(log.unwrap().path()).unwrap())).collect();
        runs.sort_by(|(_, a), (_, b)| a.first.total_cmp(&b.first));
        runs
    }

    /// The keys of the queue, by etcd's own history: by process, the revisions at which each was created and deleted.
    fn arrivals(&self) -> HashMap<u32, Vec<(u64, u64)>> {
        let prefix = format!("doorway/{}/V/", self.name);
        // The last key of the history is this one: then all of it has been told.
        let end = format!("{prefix}end");
        self.site.cluster.etcdctl(&["put", &end, "end of the history"]);
        let watch = self
            .site
            .cluster
            .etcdctl_at(0)
            .args(["watch", "--rev=1", "--prefix", &prefix, "-w", "fields"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let history = read_until(watch, &format!("\"{end}\""));
        let field =
            |line: &str, name: &str| Some(line.strip_prefix(&format!("\"{name}\" : "))?.trim_matches('"').to_string());
        let (mut is_put, mut key, mut revision) = (true, String::new(), 0);
        let mut alive: HashMap<String, (u32, u64)> = HashMap::new();
        let mut arrivals: HashMap<u32, Vec<(u64, u64)>> = HashMap::new();
        for line in history.lines() {
            if let Some(kind) = field(line, "Type") {
                is_put = kind == "PUT";
            } else if let Some(name) = field(line, "Key") {
                key = name;
            } else if let Some(number) = field(line, "ModRevision") {
                revision = number.parse().unwrap();
                if !is_put && let Some((pid, created)) = alive.remove(&key) {
                    arrivals.entry(pid).or_default().push((created, revision));
                }
            } else if let Some(value) = field(line, "Value")
                && is_put
                && let Some(pid) = value.split(' ').nth(2).and_then(|pid| pid.parse().ok())
            {
                alive.entry(key.clone()).or_insert((pid, revision));
            }
        }
        for (pid, created) in alive.into_values() {
            arrivals.entry(pid).or_default().push((created, u64::MAX));
        }
        arrivals
    }
}

/// The same command of `doorway`, in a network namespace.
fn within(namespace: &str, site: &Site, run: &Command) -> Command {
    let mut command = Command::new("ip");
    command.args(["netns", "exec", namespace]).arg(run.get_program()).args(run.get_args());
    command.env("DOORWAY_ON", site.cluster.address().to_string()).stdin(Stdio::null());
    command
}

/// A lock whose holder is beside a server that is about to be cut off, and whose next holder is beside the bridge.
struct PassedOn {
    holder: Killed,
    waiter: Killed,
    beats: [PathBuf; 2],
}

/// A holder that has lost its lease.
struct Lost {
    holder: Killed,
    beats: PathBuf,
    /// When the next one entered.
    entered: f64,
}

/// Sees to it that the clients and servers end even if a test fails.
struct End<'a>(&'a Arc<Stage>);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, SeqCst);
        let begun = Instant::now();
        while Arc::strong_count(self.0) > 1 && begun.elapsed() < Duration::from_secs(20) {
            sleep(Duration::from_millis(10));
        }
        if thread::panicking() {
            // A client that waits still keeps the cluster.
            (0..3).for_each(|server| signal("-KILL", self.0.site.cluster.pid(server)));
        }
    }
}

/// A process that is killed if the test fails while it runs.
struct Killed(Child);

impl Killed {
    /// Its exit code. A test fails if it does not end.
    fn code(&mut self, what: &str) -> Option<i32> {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status.code();
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{what} does not end");
            sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl PassedOn {
    /// A command that runs beside the leader, and another one that waits for it. On a busy machine the first may lose its lease
    /// before the second one waits; then both are started again.
    fn start(site: &Site, machine: &Machine, round: usize) -> PassedOn {
        let attempt = |attempt| PassedOn::try_to_start(site, machine, &format!("{round}-{attempt}"));
        (0..10).find_map(attempt).expect("a lease is renewed in time, once in ten attempts")
    }

    fn try_to_start(site: &Site, machine: &Machine, round: &str) -> Option<PassedOn> {
        let name = format!("passed-on-{round}");
        // Not in the directory of the logs.
        let path = |who: &str| site.directory.with_extension(format!("{round}-{who}"));
        let (first, second) = (path("holder"), path("waiter"));
        let run = site.doorway(&["run", "-q", "--ttl", "2", &name, "sh", "-c", &heartbeat(&first)]);
        let holder = within(&machine.namespace, site, &run).stderr(Stdio::null()).spawn().unwrap();
        let holder = Killed(holder);
        eventually("the command beside the leader runs", || !beats(&first).is_empty());
        let line = format!("date +%s%N > {}", second.display());
        let waiter = site.start(&["run", "-q", "--ttl", "2", &name, "sh", "-c", &line]);
        let waiter = Killed(waiter);
        let waits = || site.status(&name)["waiters"][0].is_object();
        eventually("another waits, or has entered", || waits() || second.exists());
        let has_entered = second.exists();
        let passed_on = PassedOn { holder, waiter, beats: [first, second] };
        if has_entered {
            passed_on.judge().judge();
            return None;
        }
        Some(passed_on)
    }

    /// The next one enters, and the command of the holder has ended before.
    fn judge(mut self) -> Lost {
        assert_eq!(self.waiter.code("the waiter"), Some(0));
        let [first, second] = self.beats;
        let (last, entered) = (*beats(&first).last().unwrap(), beats(&second)[0]);
        assert!(last < entered, "beside the leader it ran until {last}, and another entered at {entered}");
        fs::remove_file(second).unwrap();
        Lost { holder: self.holder, beats: first, entered }
    }
}

impl Lost {
    /// It says that it has lost its lease, and nothing of its command went on.
    fn judge(mut self) {
        assert_eq!(self.holder.code("the holder"), Some(76));
        sleep(Duration::from_millis(50));
        let last = *beats(&self.beats).last().unwrap();
        assert!(last < self.entered, "beside the leader it ran until {last}, and another entered at {}", self.entered);
        fs::remove_file(self.beats).unwrap();
    }
}

/// The output of a program up to a line with this text; then it is ended.
fn read_until(mut child: Child, text: &str) -> String {
    use std::io::{BufRead, BufReader};
    let mut all = String::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        all += &line;
        all.push('\n');
        if line.contains(text) {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    all
}

/// Every process entered in its turn: for k = 1 its token is its arrival, so that [`judge`] has seen the order. For
/// k > 1 fewer than k of those that came before it were in the queue when it got its token.
fn judge_order(runs: &[(u32, Run)], arrivals: &HashMap<u32, Vec<(u64, u64)>>, k: usize) {
    for (pid, run) in runs {
        let own = arrivals.get(pid).unwrap_or_else(|| panic!("{pid} was never in the queue: {run:?}"));
        if k == 1 {
            assert!(own.iter().any(|(created, _)| *created == run.token), "{run:?} did not arrive so: {own:?}");
            continue;
        }
        let is_alive = |(created, deleted): &(u64, u64)| *created <= run.token && run.token < *deleted;
        let (created, _) =
            own.iter().find(|key| is_alive(key)).unwrap_or_else(|| panic!("{run:?} is not among {own:?}"));
        let before = arrivals.values().flatten().filter(|key| is_alive(key) && key.0 < *created).count();
        assert!(before < k, "{before} were before {run:?}");
    }
}

fn cut_off_leaders(k: usize, clients: usize, rounds: usize, seed: u64) {
    let Some(network) = Network::new(3) else {
        eprintln!("SKIPPED: network namespaces are not permitted here, so no leader was cut off");
        return;
    };
    let machines: Vec<(String, String)> =
        network.machines.iter().map(|machine| (machine.namespace.clone(), machine.address.clone())).collect();
    let stage = Arc::new(Stage {
        site: Site::with(Cluster::in_namespaces(&machines)),
        name: format!("leader-{k}"),
        k,
        is_over: AtomicBool::new(false),
        entries: AtomicUsize::new(0),
        codes: Mutex::default(),
    });
    let threads: Vec<_> = (0..clients)
        .map(|client| {
            let stage = stage.clone();
            // Two of four clients are beside the bridge, the others beside one server after the other.
            let namespace = (client % 4 >= 2).then(|| machines[client / 2 % 3].0.clone());
            thread::spawn(move || stage.client(client, namespace.as_deref()))
        })
        .collect();
    let _end = End(&stage);
    let mut random = Random(seed);
    let mut since = Instant::now();
    let (mut seen, mut long) = (0, 0);
    for round in 0..rounds {
        let leader = stage.site.cluster.leader();
        // Every third time it lasts until a lease has ended, and its holder's successor has entered.
        let passed_on = (round % 3 == 1).then(|| PassedOn::start(&stage.site, &network.machines[leader], round));
        network.cut_off(leader, true);
        let next = stage.site.cluster.leader_without(leader);
        assert_ne!(next, leader);
        match passed_on {
            Some(passed_on) => {
                long += 1;
                let holder = passed_on.judge();
                network.cut_off(leader, false);
                holder.judge();
            }
            None => sleep(Duration::from_millis(random.below(700) as u64)),
        }
        network.cut_off(leader, false);
        sleep(Duration::from_millis(300 + random.below(1200) as u64));
        let entries = stage.entries.load(SeqCst);
        if entries > seen {
            (seen, since) = (entries, Instant::now());
        }
        assert!(since.elapsed() < Duration::from_secs(60), "no command has run for a minute");
        assert!(!threads.iter().any(thread::JoinHandle::is_finished), "a client has ended");
    }
    stage.is_over.store(true, SeqCst);
    // Nobody waits for ever: all of them end.
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let (runs, arrivals) = (stage.runs(), stage.arrivals());
    judge_order(&runs, &arrivals, k);
    let count = runs.len();
    judge(&runs.into_iter().map(|(_, run)| run).collect::<Vec<_>>(), k);
    let codes = stage.codes.lock().unwrap();
    println!(
        "k = {k}: {count} runs; the leader was cut off {rounds} times, {long} of them for longer than the TTL; {codes:?}"
    );
    assert!(count > 0);
}

#[test]
fn commands_do_not_overlap_while_the_leader_is_cut_off() {
    cut_off_leaders(2, 8, 3, 11);
}

#[test]
#[ignore = "7 minutes"]
fn commands_do_not_overlap_while_leaders_are_cut_off_a_hundred_times() {
    for k in 1..=3 {
        cut_off_leaders(k, 12, 34, 2000 + k as u64);
    }
}

/// Two are in the queue when a third one, which came later, gets a token.
#[test]
#[should_panic(expected = "2 were before")]
fn a_process_that_enters_out_of_turn_is_seen() {
    let log = "0 12 300\n1700000000000000000\n1700000000010000000\n";
    let runs = [Run::read(log).unwrap()];
    let arrivals = HashMap::from([(100, vec![(5, 20)]), (200, vec![(3, 4), (6, 20)]), (300, vec![(7, 20)])]);
    judge_order(&runs, &arrivals, 3);
    judge_order(&runs, &arrivals, 2);
}
