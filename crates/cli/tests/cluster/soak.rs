//! Random faults while commands run, and a log of these commands that is judged afterwards.
use std::{
    collections::HashSet,
    fs,
    process::Command,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    thread::{self, sleep},
    time::{Duration, Instant},
};

use crate::Site;

/// The time to live of the leases.
const TTL: Duration = Duration::from_secs(2);

/// A run of a command, as its heartbeats tell it.
#[derive(Debug)]
pub(crate) struct Run {
    index: usize,
    pub(crate) token: u64,
    pub(crate) first: f64,
    last: f64,
    /// Whether the process that renews its lease was stopped, or its lease revoked: then it may overlap with others.
    is_excused: bool,
}

impl Run {
    /// A run by its log, and the process that ran it; none if it was ended before its first heartbeat.
    pub(crate) fn read(log: &str) -> Option<(u32, Run)> {
        let mut lines = log.lines();
        let head: Vec<u64> = lines.next()?.split(' ').map(|word| word.parse().unwrap()).collect();
        // A line may be cut short by a kill.
        let beats: Vec<f64> =
            lines.filter(|line| line.len() == 19).map(|line| line.parse::<f64>().unwrap() / 1e9).collect();
        let (first, last) = (*beats.first()?, *beats.last()?);
        Some((head[2] as u32, Run { index: head[0] as usize, token: head[1], first, last, is_excused: false }))
    }
}

pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

pub(crate) fn signal(signal: &str, pid: u32) {
    let _ = Command::new("kill").args([signal, &pid.to_string()]).status();
}

/// What the faults need to know.
struct Stage {
    site: Mutex<Site>,
    name: String,
    /// The wrappers that run.
    pids: Mutex<Vec<u32>>,
    excused: Mutex<HashSet<u32>>,
    is_over: AtomicBool,
    entries: AtomicUsize,
}

impl Stage {
    /// Does one thing to a process or to a server.
    fn disturb(&self, random: &mut Random) -> &'static str {
        let pids = self.pids.lock().unwrap().clone();
        let pid = pids.get(random.below(pids.len().max(1))).copied();
        match (random.below(12), pid) {
            (0..=3, Some(pid)) => {
                signal("-KILL", pid);
                "a wrapper is killed"
            }
            (4..=5, Some(pid)) => {
                self.excused.lock().unwrap().insert(pid);
                signal("-STOP", pid);
                thread::spawn(move || {
                    sleep(TTL + Duration::from_secs(1));
                    signal("-CONT", pid);
                });
                "a wrapper is stopped"
            }
            (6, _) => {
                let mut site = self.site.lock().unwrap();
                let leader = site.cluster.leader();
                site.cluster.kill_server(leader);
                sleep(Duration::from_millis(200));
                site.cluster.start_server(leader);
                "the leader is killed"
            }
            (7, _) => {
                let site = self.site.lock().unwrap();
                let leader = site.cluster.pid(site.cluster.leader());
                signal("-STOP", leader);
                sleep(Duration::from_secs(1));
                signal("-CONT", leader);
                "the leader is stopped"
            }
            (8, _) => {
                let mut site = self.site.lock().unwrap();
                let follower = (site.cluster.leader() + 1) % 3;
                site.cluster.kill_server(follower);
                site.cluster.start_server(follower);
                "a follower is started again"
            }
            (9, _) => {
                let site = self.site.lock().unwrap();
                let prefix = format!("doorway/{}/V/", self.name);
                let found = site.cluster.try_etcdctl(&["get", "--prefix", &prefix]).unwrap_or_default();
                let mut lines = found.lines();
                if let (Some(key), Some(value)) = (lines.next(), lines.next())
                    && let Some(lease) = key.strip_prefix(&prefix).and_then(|key| key.split('-').next())
                    && let Some(pid) = value.split(' ').nth(2).and_then(|pid| pid.parse().ok())
                {
                    self.excused.lock().unwrap().insert(pid);
                    let _ = site.cluster.try_etcdctl(&["lease", "revoke", lease]);
                }
                "a lease is revoked"
            }
            (10, _) => {
                let site = self.site.lock().unwrap();
                let status = site.cluster.try_etcdctl(&["endpoint", "status", "-w", "fields"]).unwrap_or_default();
                if let Some(revision) = status.lines().find_map(|line| line.strip_prefix("\"Revision\" : ")) {
                    let _ = site.cluster.try_etcdctl(&["compact", revision]);
                }
                "the history is compacted"
            }
            (11, _) if random.below(3) == 0 => {
                let mut site = self.site.lock().unwrap();
                (0..3).for_each(|server| site.cluster.kill_server(server));
                (0..3).for_each(|server| site.cluster.start_server(server));
                site.cluster.wait_until_it_answers();
                "all servers are started again"
            }
            _ => "nothing",
        }
    }

    /// Runs the command again and again, with a log of its own each time.
    fn client(&self, client: usize, k: usize) {
        let mut round = 0;
        while !self.is_over.load(SeqCst) {
            round += 1;
            let (mut command, log) = {
                let site = self.site.lock().unwrap();
                let log = site.path(&format!("{client}-{round}"));
                let beat = format!("date +%s%N >> {}", log.display());
                let line = format!(
                    "echo $DOORWAY_INDEX $DOORWAY_TOKEN $PPID > {}; for i in 1 2 3 4 5 6 7 8; do {beat}; sleep 0.01; done",
                    log.display()
                );
                let k = k.to_string();
                let mut command = site.doorway(&["run", "-q", "--ttl", "2", "-k", &k, &self.name, "sh", "-c", &line]);
                command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
                (command, log)
            };
            let mut child = command.spawn().unwrap();
            self.pids.lock().unwrap().push(child.id());
            child.wait().unwrap();
            self.pids.lock().unwrap().retain(|&pid| pid != child.id());
            if log.exists() {
                self.entries.fetch_add(1, SeqCst);
            }
        }
    }

    /// All runs that have begun, in the order of their first heartbeats.
    fn runs(&self) -> Vec<Run> {
        let (site, excused) = (self.site.lock().unwrap(), self.excused.lock().unwrap());
        let logs = fs::read_dir(&site.directory).unwrap().map(|log| fs::read_to_string(log.unwrap().path()).unwrap());
        let run = |log: String| {
            let (pid, run) = Run::read(&log)?;
            Some(Run { is_excused: excused.contains(&pid), ..run })
        };
        let mut runs: Vec<Run> = logs.filter_map(run).collect();
        runs.sort_by(|a, b| a.first.total_cmp(&b.first));
        runs
    }
}

/// At most k commands at a time, each index once; and with each index the tokens grow.
pub(crate) fn judge(runs: &[Run], k: usize) {
    let mut tokens = vec![0; k];
    for run in runs {
        assert!(run.index < k, "{run:?}");
        assert!(run.token > tokens[run.index], "the token of {run:?} is not larger than {}", tokens[run.index]);
        tokens[run.index] = run.token;
    }
    let strict: Vec<&Run> = runs.iter().filter(|run| !run.is_excused).collect();
    for (at, run) in strict.iter().enumerate() {
        let others: Vec<&&Run> = strict[..at].iter().filter(|other| other.last >= run.first).collect();
        assert!(others.len() < k, "{run:?} runs together with {others:?}");
        assert!(others.iter().all(|other| other.index != run.index), "{run:?} has the index of one of {others:?}");
    }
}

fn soak(k: usize, clients: usize, time: Duration, seed: u64) {
    let stage = Arc::new(Stage {
        site: Mutex::new(Site::new()),
        name: format!("soak-{k}"),
        pids: Mutex::default(),
        excused: Mutex::default(),
        is_over: AtomicBool::new(false),
        entries: AtomicUsize::new(0),
    });
    let threads: Vec<_> = (0..clients)
        .map(|client| {
            let stage = stage.clone();
            thread::spawn(move || stage.client(client, k))
        })
        .collect();
    let (begun, mut random) = (Instant::now(), Random(seed));
    let (mut seen, mut since) = (0, Instant::now());
    let mut faults: Vec<&str> = Vec::new();
    while begun.elapsed() < time {
        faults.push(stage.disturb(&mut random));
        sleep(Duration::from_millis(300 + random.below(700) as u64));
        let entries = stage.entries.load(SeqCst);
        if entries > seen {
            (seen, since) = (entries, Instant::now());
        }
        assert!(since.elapsed() < Duration::from_secs(60), "no command has run for a minute");
    }
    stage.is_over.store(true, SeqCst);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let runs = stage.runs();
    judge(&runs, k);
    println!("k = {k}: {} runs, {} faults: {}", runs.len(), faults.len(), counted(&faults));
    assert!(!runs.is_empty());
}

fn counted(faults: &[&str]) -> String {
    let mut kinds: Vec<&str> = faults.to_vec();
    kinds.sort_unstable();
    kinds.dedup();
    let count = |kind: &&str| format!("{kind} {} times", faults.iter().filter(|fault| fault == &kind).count());
    kinds.iter().map(count).collect::<Vec<_>>().join(", ")
}

#[test]
fn commands_do_not_overlap_whatever_happens_to_processes_and_servers() {
    soak(2, 6, Duration::from_secs(10), 7);
}

#[test]
#[ignore = "6 minutes"]
fn commands_do_not_overlap_in_minutes_of_faults() {
    for k in 1..=3 {
        soak(k, 20, Duration::from_secs(120), 1000 + k as u64);
    }
}
