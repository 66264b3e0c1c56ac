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

const INSTALLED: &str = "`etcdctl` is installed: apt-get install etcd-client";

/// Servers that end when this is dropped.
#[derive(Debug)]
pub struct Cluster {
    directory: PathBuf,
    servers: Vec<Server>,
    /// Further arguments of each server.
    arguments: Vec<String>,
    /// Further arguments of `etcdctl`, with which it is encrypted.
    credentials: Option<Vec<String>>,
}

/// One server.
#[derive(Debug)]
struct Server {
    /// The address at which it listens.
    host: String,
    /// Its ports, for clients and for the other servers.
    ports: [u16; 2],
    /// The network namespace in which it runs, if it is not that of this process.
    namespace: Option<String>,
    child: Option<Child>,
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
        Cluster::new(listening_at("127.0.0.1", 1), arguments, None)
    }

    /// Starts a cluster of three servers that speak TLS with clients, with further arguments for them and for `etcdctl`.
    ///
    /// # Panics
    /// As [`start`](Cluster::start).
    #[must_use]
    pub fn encrypted(arguments: &[&str], credentials: &[&str]) -> Cluster {
        Cluster::new(listening_at("127.0.0.1", 3), arguments, Some(owned(credentials)))
    }

    /// Starts a cluster with a server in each of these network namespaces, which has this address there.
    ///
    /// # Panics
    /// As [`start`](Cluster::start).
    #[must_use]
    pub fn in_namespaces(machines: &[(String, String)]) -> Cluster {
        let server = |(namespace, host): &(String, String)| Server {
            host: host.clone(),
            ports: [2379, 2380],
            namespace: Some(namespace.clone()),
            child: None,
        };
        Cluster::new(machines.iter().map(server).collect(), &[], None)
    }

    /// Starts a cluster of so many servers that listen at an address of this machine.
    ///
    /// # Panics
    /// As [`start`](Cluster::start).
    #[must_use]
    pub fn at(host: &str, servers: usize) -> Cluster {
        Cluster::new(listening_at(host, servers), &[], None)
    }

    fn new(servers: Vec<Server>, arguments: &[&str], credentials: Option<Vec<String>>) -> Cluster {
        static CLUSTERS: AtomicUsize = AtomicUsize::new(0);
        let number = CLUSTERS.fetch_add(1, SeqCst);
        let directory = env::temp_dir().join(format!("doorway-etcd-{}-{number}", std::process::id()));
        let mut cluster = Cluster { directory, servers, arguments: owned(arguments), credentials };
        (0..cluster.servers.len()).for_each(|server| cluster.start_server(server));
        cluster.wait_until_it_answers();
        cluster
    }

    /// The address of all servers.
    ///
    /// # Panics
    /// Never: the address is well-formed.
    #[must_use]
    pub fn address(&self) -> Address {
        let hosts: Vec<String> = self.servers.iter().map(Server::endpoint).collect();
        format!("{}://{}", self.scheme(), hosts.join(",")).parse().expect("it is an address")
    }

    /// The address of one server.
    ///
    /// # Panics
    /// If there is no such server.
    #[must_use]
    pub fn address_of(&self, server: usize) -> Address {
        format!("{}://{}", self.scheme(), self.servers[server].endpoint()).parse().expect("it is an address")
    }

    fn scheme(&self) -> &'static str {
        if self.credentials.is_some() { "etcds" } else { "etcd" }
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
        let peer = |server: &Server| format!("http://{}:{}", server.host, server.ports[1]);
        let all: Vec<String> = self.servers.iter().enumerate().map(|(i, one)| format!("s{i}={}", peer(one))).collect();
        let this = &self.servers[server];
        let client = format!("{}://{}", if self.credentials.is_some() { "https" } else { "http" }, this.endpoint());
        let data = self.directory.join(format!("s{server}"));
        fs::create_dir_all(&self.directory).expect("the directory can be made");
        let log = fs::File::options().create(true).append(true).open(self.directory.join(format!("s{server}.log")));
        let mut command = match &this.namespace {
            None => Command::new("etcd"),
            // It becomes the server, so that the process is the same.
            Some(namespace) => {
                let mut command = Command::new("ip");
                command.args(["netns", "exec", namespace, "etcd"]);
                command
            }
        };
        let child = command
            .args(["--name", &format!("s{server}"), "--data-dir"])
            .arg(data)
            .args(["--listen-client-urls", &client, "--advertise-client-urls", &client])
            .args(["--listen-peer-urls", &peer(this), "--initial-advertise-peer-urls", &peer(this)])
            .args(["--initial-cluster", &all.join(","), "--initial-cluster-state", "new"])
            .args(["--unsafe-no-fsync", "--heartbeat-interval", "50", "--election-timeout", "500"])
            .args(&self.arguments)
            .env("ETCD_UNSUPPORTED_ARCH", env::consts::ARCH)
            .stdout(Stdio::null())
            .stderr(log.expect("the log can be written"))
            .spawn();
        self.servers[server].child = Some(child.expect("`etcd` is installed: apt-get install etcd-server"));
    }

    /// The process of a server.
    ///
    /// # Panics
    /// If it was ended.
    #[must_use]
    pub fn pid(&self, server: usize) -> u32 {
        self.servers[server].child.as_ref().expect("the server runs").id()
    }

    /// Ends a server at once.
    pub fn kill_server(&mut self, server: usize) {
        if let Some(mut child) = self.servers[server].child.take() {
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
        let output = self.etcdctl_at(0).args(words).output().expect(INSTALLED);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
    }

    /// `etcdctl`, for one server.
    #[must_use]
    pub fn etcdctl_at(&self, server: usize) -> Command {
        let mut command = Command::new("etcdctl");
        command
            .env("ETCDCTL_API", "3")
            .arg(format!("--endpoints={}", self.servers[server].endpoint()))
            .args(self.credentials.iter().flatten());
        command
    }

    /// The server that leads.
    ///
    /// # Panics
    /// If no server leads for a long time.
    #[must_use]
    pub fn leader(&self) -> usize {
        self.leader_but(None)
    }

    /// The server that leads the others while this one is cut off.
    ///
    /// # Panics
    /// As [`leader`](Cluster::leader).
    #[must_use]
    pub fn leader_without(&self, server: usize) -> usize {
        self.leader_but(Some(server))
    }

    fn leader_but(&self, cut_off: Option<usize>) -> usize {
        let begun = Instant::now();
        loop {
            for server in (0..self.servers.len()).filter(|&server| Some(server) != cut_off) {
                let output = self
                    .etcdctl_at(server)
                    .args(["--command-timeout=1s", "endpoint", "status", "-w", "fields"])
                    .output()
                    .expect(INSTALLED);
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
        if self.credentials.is_some() {
            // A session would take its certificates from the environment of this process.
            let begun = Instant::now();
            while let Err(error) = self.try_etcdctl(&["get", "testing"]) {
                assert!(begun.elapsed() < MAX_START, "the cluster does not answer: {error}");
            }
            return;
        }
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

impl Server {
    /// Host and port for clients.
    fn endpoint(&self) -> String {
        format!("{}:{}", self.host, self.ports[0])
    }
}

/// Servers at free ports of an address of this machine.
fn listening_at(host: &str, servers: usize) -> Vec<Server> {
    // The listeners are closed only after all ports have been chosen, so that no port is chosen twice.
    let listeners: Vec<TcpListener> =
        (0..2 * servers).map(|_| TcpListener::bind((host, 0)).expect("a port is free")).collect();
    let port = |listener: &TcpListener| listener.local_addr().expect("it is bound").port();
    let server = |pair: &[TcpListener]| Server {
        host: host.to_string(),
        ports: [port(&pair[0]), port(&pair[1])],
        namespace: None,
        child: None,
    };
    listeners.chunks(2).map(server).collect()
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| word.to_string()).collect()
}
