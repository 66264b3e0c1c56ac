//! Servers that are old, or are not etcd at all.
use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::{Site, text};

/// A server at a port of this machine that treats every connection in the same way, until the test ends.
fn server(serve: impl Fn(TcpStream) + Send + Sync + Clone + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("etcd://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let serve = serve.clone();
            thread::spawn(move || serve(stream));
        }
    });
    address
}

/// A server of gRPC that gives the same answer to every request: a message, if there is one, and a status.
fn grpc(message: Option<Vec<u8>>, status: u8) -> String {
    server(move |mut stream| drop(answer_all(&mut stream, message.as_deref(), status)))
}

fn answer_all(stream: &mut TcpStream, message: Option<&[u8]>, status: u8) -> std::io::Result<()> {
    const DATA: u8 = 0;
    const HEADERS: u8 = 1;
    const SETTINGS: u8 = 4;
    const PING: u8 = 6;
    let mut preface = [0; 24];
    stream.read_exact(&mut preface)?;
    send(stream, SETTINGS, 0, 0, &[])?;
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head)?;
        let mut payload = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
        stream.read_exact(&mut payload)?;
        let (kind, flags) = (head[3], head[4]);
        let id = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        match kind {
            SETTINGS if flags & 1 == 0 => send(stream, SETTINGS, 1, 0, &[])?,
            PING if flags & 1 == 0 => send(stream, PING, 1, 0, &payload)?,
            // The end of a request.
            DATA | HEADERS if flags & 1 == 1 => {
                // `:status: 200` is in HPACK's table; the others are literals.
                let mut headers = vec![0x88];
                headers.extend(literal("content-type", "application/grpc"));
                send(stream, HEADERS, 4, id, &headers)?;
                if let Some(message) = message {
                    let mut data = vec![0];
                    data.extend((message.len() as u32).to_be_bytes());
                    data.extend(message);
                    send(stream, DATA, 0, id, &data)?;
                }
                send(stream, HEADERS, 5, id, &literal("grpc-status", &status.to_string()))?;
            }
            _ => {}
        }
    }
}

fn send(stream: &mut TcpStream, kind: u8, flags: u8, id: u32, payload: &[u8]) -> std::io::Result<()> {
    let mut frame = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(id.to_be_bytes());
    frame.extend(payload);
    stream.write_all(&frame)
}

/// A header as HPACK's literal without indexing.
fn literal(name: &str, value: &str) -> Vec<u8> {
    let mut header = vec![0, name.len() as u8];
    header.extend(name.bytes());
    header.push(value.len() as u8);
    header.extend(value.bytes());
    header
}

/// etcd's answer to a request for its status: the second field is the version.
fn status_of(version: &str) -> Vec<u8> {
    let mut message = vec![0x12, version.len() as u8];
    message.extend(version.bytes());
    message
}

/// What `doorway` says if it does not run the command: the exit code and what it complains about.
fn refused(words: &[&str]) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_doorway"))
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("{words:?} hangs");
        }
        thread::sleep(Duration::from_millis(10));
    }
    let output = child.wait_with_output().unwrap();
    let complaint = text(&output.stderr).to_string();
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), ""), "{words:?}: {complaint}");
    assert_eq!(complaint.lines().count(), 1, "{words:?}: {complaint}");
    assert!(complaint.starts_with("doorway: "), "{complaint}");
    complaint
}

#[test]
fn a_server_that_is_too_old_is_refused() {
    for version in ["3.3.27", "3.2.0", "2.3.8"] {
        let old = grpc(Some(status_of(version)), 0);
        assert_eq!(
            refused(&["run", "--on", &old, "gpu", "true"]),
            format!("doorway: etcd {version} is too old; use 3.4.38, 3.5.23, 3.6.5 or later\n")
        );
    }
}

/// The status of gRPC for a method that the server does not know.
#[test]
fn a_server_without_the_api_is_refused() {
    let without = grpc(None, 12);
    for words in [
        &["run", "--on", &without, "gpu", "true"][..],
        &["status", "--on", &without, "gpu"],
        &["forget", "--on", &without, "gpu"],
    ] {
        let complaint = refused(words);
        assert!(complaint.contains("is this a server of etcd, 3.4 or later?"), "{complaint}");
    }
}

/// A server of HTTP, one that sends something else, one that closes every connection, and one that says nothing.
#[test]
fn what_is_no_server_of_etcd_is_told_and_nothing_hangs() {
    let http = |mut stream: TcpStream| {
        let _ = stream.read(&mut [0; 1000]);
        let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    };
    let other = |mut stream: TcpStream| drop(stream.write_all(b"220 mail.example.org ESMTP\r\n"));
    let silent = |mut stream: TcpStream| while stream.read(&mut [0; 1000]).is_ok_and(|read| read > 0) {};
    let addresses = [server(http), server(other), server(drop), server(silent)];
    thread::scope(|scope| {
        for address in &addresses {
            for words in [&["run", "--on", address, "gpu", "true"][..], &["status", "--on", address, "gpu"]] {
                let words = words.to_vec();
                scope.spawn(move || {
                    let complaint = refused(&words);
                    assert!(
                        complaint.starts_with(&format!("doorway: no server of `{address}` answers: ")),
                        "{complaint}"
                    );
                    assert!(complaint.contains("see whether etcd runs there"), "{complaint}");
                });
            }
        }
    });
}

/// The servers of these tests are Debian's, of which the versions up to now have to be warned about.
#[test]
fn the_warning_about_a_version_appears_once_and_on_standard_error() {
    let site = Site::new();
    let version = site.cluster.etcdctl(&["version"]);
    let is_warning = |line: &&str| line.contains("can end leases that are renewed");
    let run = site.output(&["run", "gpu", "sh", "-c", "echo out"]);
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(0), "out\n"));
    let warnings: Vec<&str> = text(&run.stderr).lines().filter(is_warning).collect();
    let running = Command::new("etcd").arg("--version").output().unwrap();
    let running = text(&running.stdout).lines().next().unwrap().trim_start_matches("etcd Version: ").to_string();
    if ["3.4.38", "3.5.23", "3.6.5"].iter().all(|mended| !is_at_least(&running, mended)) {
        assert_eq!(warnings.len(), 1, "{}", text(&run.stderr));
        assert!(warnings[0].starts_with(&format!("doorway: etcd {running} can end leases")), "{warnings:?} {version}");
    } else {
        assert_eq!(warnings.len(), 0);
    }
    // It is about the lease of a holder, and can be silenced.
    assert_eq!(text(&site.output(&["run", "-q", "gpu", "true"]).stderr), "");
    assert_eq!(text(&site.output(&["status", "gpu"]).stderr), "");
}

/// Whether a version is of the same minor version as another, and not before it.
fn is_at_least(version: &str, mended: &str) -> bool {
    let numbers =
        |version: &str| version.split(['.', '+', '-']).map(|part| part.parse().unwrap_or(0)).collect::<Vec<u32>>();
    let (version, mended) = (numbers(version), numbers(mended));
    version[..2] == mended[..2] && version[2] >= mended[2]
}
