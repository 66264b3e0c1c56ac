//! Servers that speak TLS, and ask clients for certificates.
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    thread,
};

use doorway::cluster::testing::Cluster;

use crate::{Site, complaints, text};

fn openssl(directory: &Path, words: &str) {
    let output = Command::new("openssl").current_dir(directory).args(words.split(' ')).output();
    let output = output.expect("`openssl` is installed: apt-get install openssl");
    assert!(output.status.success(), "openssl {words}: {}", text(&output.stderr));
}

/// An authority, and certificates of it for servers and for clients.
struct Certificates(PathBuf);

impl Certificates {
    fn new(name: &str) -> Certificates {
        let directory = std::env::temp_dir().join(format!("doorway-tls-{}-{name}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
        openssl(&directory, &format!("req -x509 {key} -days 2 -subj /CN={name} -keyout ca.key -out ca.crt"));
        for (who, use_of, extra) in
            [("server", "serverAuth,clientAuth", "subjectAltName=IP:127.0.0.1\n"), ("client", "clientAuth", "")]
        {
            let extensions = format!("basicConstraints=CA:FALSE\nextendedKeyUsage={use_of}\n{extra}");
            fs::write(directory.join(format!("{who}.ext")), extensions).unwrap();
            openssl(&directory, &format!("req {key} -subj /CN={who} -keyout {who}.key -out {who}.csr"));
            openssl(
                &directory,
                &format!(
                    "x509 -req -in {who}.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile {who}.ext -out {who}.crt"
                ),
            );
        }
        Certificates(directory)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_string()
    }

    fn cluster(&self) -> Cluster {
        let [ca, cert, key] = ["ca.crt", "server.crt", "server.key"].map(|name| self.path(name));
        let servers = ["--trusted-ca-file", &ca, "--cert-file", &cert, "--key-file", &key, "--client-cert-auth"];
        let [cert, key] = ["client.crt", "client.key"].map(|name| self.path(name));
        Cluster::encrypted(&servers, &["--cacert", &ca, "--cert", &cert, "--key", &key])
    }
}

impl Drop for Certificates {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What a variable of the environment is set to.
type Variables<'a> = &'a [(&'a str, &'a str)];

fn output(site: &Site, words: &[&str], variables: Variables<'_>) -> Output {
    let mut command = site.doorway(words);
    for name in ["ETCDCTL_CACERT", "ETCDCTL_CERT", "ETCDCTL_KEY", "ETCDCTL_USER", "ETCDCTL_PASSWORD"] {
        command.env_remove(name);
    }
    command.envs(variables.iter().copied()).output().unwrap()
}

fn refused(site: &Site, words: &[&str], variables: Variables<'_>) -> String {
    let output = output(site, words, variables);
    assert_eq!(output.status.code(), Some(2), "{variables:?}: {}", text(&output.stderr));
    let complaint = complaints(&output);
    assert_eq!(complaint.lines().count(), 1, "{complaint}");
    complaint
}

#[test]
fn certificates_are_checked_on_both_sides() {
    let (own, strange) = (Certificates::new("own"), Certificates::new("strange"));
    let site = Site::with(own.cluster());
    let [ca, cert, key] = ["ca.crt", "client.crt", "client.key"].map(|name| own.path(name));
    let [other_ca, other_cert, other_key] = ["ca.crt", "client.crt", "client.key"].map(|name| strange.path(name));
    let all = [("ETCDCTL_CACERT", &*ca), ("ETCDCTL_CERT", &*cert), ("ETCDCTL_KEY", &*key)];

    let run = output(&site, &["run", "-q", "-k", "2", "gpu", "sh", "-c", "echo $DOORWAY_INDEX; exit 3"], &all);
    assert_eq!((run.status.code(), text(&run.stdout), text(&run.stderr)), (Some(3), "0\n", ""));
    let status = output(&site, &["status", "gpu"], &all);
    assert_eq!(text(&status.stdout), "gpu: 0 of 2 holders, 0 waiting\n", "{}", text(&status.stderr));

    let unencrypted = Site::with(Cluster::of(1));
    let to_tls = unencrypted.cluster.address().to_string().replace("etcd://", "etcds://");
    let to_plain = site.cluster.address_of(0).to_string().replace("etcds://", "etcd://");
    let unknown = ["UnknownIssuer", "set ETCDCTL_CACERT to the file of the authority of its certificate"];
    // It depends on when the client learns of it whether this is a failure of TLS or a connection that was closed.
    let unwelcome = ["accepts", "ETCDCTL_CERT and ETCDCTL_KEY"];
    let cases: [(Vec<_>, Option<&str>, [&str; 2]); 7] = [
        // Nobody vouches for the server, or an authority does that did not sign its certificate.
        (all[1..].to_vec(), None, unknown),
        (vec![("ETCDCTL_CACERT", &*other_ca), all[1], all[2]], None, unknown),
        // The server asks for a certificate, and gets none, or one of an authority that it does not know.
        (all[..1].to_vec(), None, unwelcome),
        (vec![all[0], ("ETCDCTL_CERT", &*other_cert), ("ETCDCTL_KEY", &*other_key)], None, unwelcome),
        (
            vec![("ETCDCTL_CACERT", "/no/such/file")],
            None,
            ["ETCDCTL_CACERT names `/no/such/file`", "doorway: etcd refuses"],
        ),
        // Only one of the two speaks TLS.
        (all.to_vec(), Some(&to_tls), ["no TLS with a server of", "see whether it speaks TLS"]),
        (all.to_vec(), Some(&to_plain), ["no server of `etcd://", "see whether etcd runs there"]),
    ];
    // A server is asked for some seconds, so all of this at once.
    thread::scope(|scope| {
        for (variables, address, parts) in &cases {
            let site = &site;
            scope.spawn(move || {
                let mut words = vec!["run", "gpu", "true"];
                if let Some(address) = address {
                    words.splice(1..1, ["--on", address]);
                }
                let complaint = refused(site, &words, variables);
                assert!(parts.iter().all(|part| complaint.contains(part)), "{variables:?}: {complaint}");
            });
        }
    });
    // Nothing was lost meanwhile.
    assert_eq!(text(&output(&site, &["status", "gpu"], &all).stdout), "gpu: 0 of 2 holders, 0 waiting\n");
}

#[test]
fn a_user_with_a_password_is_told_apart_over_tls() {
    let own = Certificates::new("users");
    let site = Site::with(own.cluster());
    for words in [
        &["user", "add", "root:secret"][..],
        &["role", "add", "root"],
        &["user", "grant-role", "root", "root"],
        &["role", "add", "doorway"],
        &["role", "grant-permission", "doorway", "--prefix=true", "readwrite", "doorway/"],
        &["user", "add", "runner:weak"],
        &["user", "grant-role", "runner", "doorway"],
        &["auth", "enable"],
    ] {
        site.cluster.etcdctl(words);
    }
    let [ca, cert, key] = ["ca.crt", "client.crt", "client.key"].map(|name| own.path(name));
    let with = |more: Variables<'_>| {
        let mut all = vec![("ETCDCTL_CACERT", &*ca), ("ETCDCTL_CERT", &*cert), ("ETCDCTL_KEY", &*key)];
        all.extend(more);
        output(&site, &["run", "-q", "gpu", "true"], &all)
    };
    for more in [&[("ETCDCTL_USER", "runner:weak")][..], &[("ETCDCTL_USER", "runner"), ("ETCDCTL_PASSWORD", "weak")]] {
        let run = with(more);
        assert_eq!((run.status.code(), text(&run.stderr)), (Some(0), ""));
    }
    // A wrong password; and only the certificate, whose name is no user.
    for more in [&[("ETCDCTL_USER", "runner:strong")][..], &[]] {
        let run = with(more);
        let complaint = text(&run.stderr);
        assert_eq!((run.status.code(), complaint.lines().count()), (Some(2), 1), "{complaint}");
        assert!(complaint.starts_with("doorway: etcd refuses the request: "), "{complaint}");
    }
}
