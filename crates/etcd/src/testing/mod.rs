//! For tests: a cluster of three servers on the loopback interface, and a model of one in memory.
mod model;

use std::{
    env, fs,
    net::TcpListener,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread::sleep,
    time::{Duration, Instant},
};

use crate::{Address, Session, Settings, runtime};

pub use model::{Latencies, Model, Traffic};

/// How long a cluster may take to begin.
const MAX_START: Duration = Duration::from_secs(60);

/// Servers that end when this is dropped.
#[derive(Debug)]
pub struct Cluster {
    directory: PathBuf,
    /// The address of this machine at which all of them listen.
    host: String,
    /// The ports of each server, for clients and for the other servers.
    ports: Vec<[u16; 2]>,
    servers: Vec<Option<Child>>,
    /// Further arguments of each server.
    arguments: Vec<String>,
}

impl Cluster {
    /// Starts a cluster of three servers, and waits until it answers.
    ///
    /// # Panics
    /// If `etcd` is not installed (Debian's package `etcd-server`), or does not answer.
    #[must_use]
    pub fn start() -> Cluster {
        Cluster::of(3)
    }

    /// Starts a cluster of so many servers.
    ///
    /// # Panics
    /// As [`start`](Cluster::start).
    #[must_use]
    pub fn of(servers: usize) -> Cluster {
        Cluster::at("127.0.0.1", servers)
    }

    /// Starts one server with further arguments.
    ///
    /// # Panics
    /// As [`start`](Cluster::start).
    #[must_use]
    pub fn with(arguments: &[&str]) -> Cluster {
        Cluster::new("127.0.0.1", 1, arguments)
    }

    /// Starts a cluster of so many servers that listen at an address of this machine.
    ///
    /// # Panics
    /// As [`start`](Cluster::start).
    #[must_use]
    pub fn at(host: &str, servers: usize) -> Cluster {
        Cluster::new(host, servers, &[])
    }

    fn new(host: &str, servers: usize, arguments: &[&str]) -> Cluster {
        static CLUSTERS: AtomicUsize = AtomicUsize::new(0);
        let number = CLUSTERS.fetch_add(1, SeqCst);
        let directory = env::temp_dir().join(format!("doorway-etcd-{}-{number}", std::process::id()));
        // The listeners are closed only after all ports have been chosen, so that no port is chosen twice.
        let listeners: Vec<TcpListener> =
            (0..2 * servers).map(|_| TcpListener::bind((host, 0)).expect("a port is free")).collect();
        let port = |listener: &TcpListener| listener.local_addr().expect("it is bound").port();
        let ports = listeners.chunks(2).map(|pair| [port(&pair[0]), port(&pair[1])]).collect();
        drop(listeners);
        let mut cluster = Cluster {
            directory,
            host: host.to_string(),
            ports,
            servers: (0..servers).map(|_| None).collect(),
            arguments: arguments.iter().map(|argument| argument.to_string()).collect(),
        };
        (0..servers).for_each(|server| cluster.start_server(server));
        cluster.wait_until_it_answers();
        cluster
    }

    /// The address of all servers.
    ///
    /// # Panics
    /// Never: the address is well-formed.
    #[must_use]
    pub fn address(&self) -> Address {
        let hosts: Vec<String> = self.ports.iter().map(|[client, _]| format!("{}:{client}", self.host)).collect();
        format!("etcd://{}", hosts.join(",")).parse().expect("it is an address")
    }

    /// The address of one server.
    ///
    /// # Panics
    /// If there is no such server.
    #[must_use]
    pub fn address_of(&self, server: usize) -> Address {
        format!("etcd://{}:{}", self.host, self.ports[server][0]).parse().expect("it is an address")
    }

    /// A session on the keys with this prefix, for a queue with capacity `k`.
    ///
    /// # Panics
    /// If the environment names a user without a password.
    #[must_use]
    pub fn session(&self, prefix: &str, k: usize) -> Arc<Session> {
        let settings =
            Settings { prefix: prefix.to_string(), k, names: false, time: Duration::from_secs(10), guard: None };
        Session::new(&self.address(), settings).expect("the environment is well-formed")
    }

    /// Starts a server, or starts it again with the data that it had.
    ///
    /// # Panics
    /// If `etcd` is not installed.
    pub fn start_server(&mut self, server: usize) {
        let url = |port: u16| format!("http://{}:{port}", self.host);
        let [client, peer] = self.ports[server];
        let all: Vec<String> =
            self.ports.iter().enumerate().map(|(i, [_, peer])| format!("s{i}={}", url(*peer))).collect();
        let data = self.directory.join(format!("s{server}"));
        fs::create_dir_all(&self.directory).expect("the directory can be made");
        let log = fs::File::options().create(true).append(true).open(self.directory.join(format!("s{server}.log")));
        let child = Command::new("etcd")
            .args(["--name", &format!("s{server}"), "--data-dir"])
            .arg(data)
            .args(["--listen-client-urls", &url(client), "--advertise-client-urls", &url(client)])
            .args(["--listen-peer-urls", &url(peer), "--initial-advertise-peer-urls", &url(peer)])
            .args(["--initial-cluster", &all.join(","), "--initial-cluster-state", "new"])
            .args(["--unsafe-no-fsync", "--heartbeat-interval", "50", "--election-timeout", "500"])
            .args(&self.arguments)
            .env("ETCD_UNSUPPORTED_ARCH", env::consts::ARCH)
            .stdout(Stdio::null())
            .stderr(log.expect("the log can be written"))
            .spawn();
        self.servers[server] = Some(child.expect("`etcd` is installed: apt-get install etcd-server"));
    }

    /// The process of a server.
    ///
    /// # Panics
    /// If it was ended.
    #[must_use]
    pub fn pid(&self, server: usize) -> u32 {
        self.servers[server].as_ref().expect("the server runs").id()
    }

    /// Ends a server at once.
    pub fn kill_server(&mut self, server: usize) {
        if let Some(mut child) = self.servers[server].take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Runs `etcdctl`, and returns its output.
    ///
    /// # Panics
    /// If it is not installed (Debian's package `etcd-client`), or fails.
    pub fn etcdctl(&self, words: &[&str]) -> String {
        self.try_etcdctl(words).unwrap_or_else(|error| panic!("etcdctl {words:?}: {error}"))
    }

    /// Runs `etcdctl`, and returns its output.
    ///
    /// # Errors
    /// What it says if it fails.
    ///
    /// # Panics
    /// If it is not installed.
    pub fn try_etcdctl(&self, words: &[&str]) -> Result<String, String> {
        let output = Command::new("etcdctl")
            .env("ETCDCTL_API", "3")
            .arg(format!("--endpoints={}:{}", self.host, self.ports[0][0]))
            .args(words)
            .output()
            .expect("`etcdctl` is installed: apt-get install etcd-client");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
    }

    /// The server that leads.
    ///
    /// # Panics
    /// If no server leads for a long time.
    #[must_use]
    pub fn leader(&self) -> usize {
        let begun = Instant::now();
        loop {
            for server in 0..self.ports.len() {
                let output = Command::new("etcdctl")
                    .env("ETCDCTL_API", "3")
                    .arg(format!("--endpoints={}:{}", self.host, self.ports[server][0]))
                    .args(["--command-timeout=1s", "endpoint", "status", "-w", "fields"])
                    .output()
                    .expect("`etcdctl` is installed: apt-get install etcd-client");
                let text = String::from_utf8_lossy(&output.stdout).into_owned();
                let field = |name: &str| {
                    let line = text.lines().find(|line| line.starts_with(&format!("\"{name}\"")))?;
                    Some(line.split(':').nth(1)?.trim().to_string())
                };
                if let (Some(member), Some(leader)) = (field("MemberID"), field("Leader"))
                    && member == leader
                {
                    return server;
                }
            }
            assert!(begun.elapsed() < MAX_START, "no server leads");
            sleep(Duration::from_millis(100));
        }
    }

    /// Waits until the cluster answers.
    ///
    /// # Panics
    /// If it does not.
    pub fn wait_until_it_answers(&self) {
        let (begun, session) = (Instant::now(), self.session("testing/", 1));
        loop {
            let asked = session.clone();
            let answer = runtime::block(async move { asked.transact(crate::api::Transaction::default()).await });
            match answer {
                Ok(_) => return,
                Err(error) => assert!(begun.elapsed() < MAX_START, "the cluster does not answer: {error}"),
            }
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        (0..self.servers.len()).for_each(|server| self.kill_server(server));
        let _ = fs::remove_dir_all(&self.directory);
    }
}
