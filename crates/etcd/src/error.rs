//! What can go wrong.
use std::{error, fmt};

/// Why a request to etcd, or what was made of it, failed.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The address is not one of etcd.
    Address {
        /// The address.
        address: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A name that cannot be part of a key.
    Name {
        /// The name.
        name: String,
    },
    /// No server answered in time.
    Unreachable {
        /// The address.
        address: String,
        /// The latest answer, or how the connection failed.
        why: String,
    },
    /// A server and this process do not accept each other's certificates.
    Tls {
        /// The address.
        address: String,
        /// How the handshake failed.
        why: String,
    },
    /// The server refuses the user, or what the user wants to do.
    Denied {
        /// The server's words.
        why: String,
    },
    /// The server's database is full.
    NoSpace,
    /// The server answers in a way that this crate does not understand.
    Server {
        /// The server's words.
        why: String,
    },
    /// The lease has expired, or was revoked: whatever was held under it is lost.
    Lost,
    /// The key has a value that this crate does not write.
    Foreign {
        /// The key.
        key: String,
    },
    /// The process was forked after it had connected.
    Forked,
    /// The guard of a queue has another value, or none.
    #[doc(hidden)]
    Guarded {
        /// Its value.
        found: Option<String>,
    },
    /// The watched revision is no longer known. Callers list the keys again.
    #[doc(hidden)]
    Compacted,
}

impl Error {
    /// Whether the same request may succeed later, perhaps at another server.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        matches!(self, Error::Unreachable { .. } | Error::Tls { .. } | Error::Compacted)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Address { address, why } => {
                write!(f, "`{address}` is not an address of etcd: {why}; write `etcd://host:2379,host:2379`")
            }
            Error::Name { name } => {
                write!(f, "`{name}` cannot be a name on etcd; use up to 200 characters without `/` and control characters")
            }
            // A server may refuse a certificate by closing the connection.
            Error::Unreachable { address, why } if address.starts_with("etcds://") => {
                write!(f, "no server of `{address}` answers: {why}; see whether etcd runs there and accepts the certificate of ETCDCTL_CERT and ETCDCTL_KEY, and `etcdctl endpoint health`")
            }
            Error::Unreachable { address, why } => {
                write!(f, "no server of `{address}` answers: {why}; see whether etcd runs there, and `etcdctl endpoint health`")
            }
            Error::Tls { address, why } if why.contains("invalid peer certificate") => {
                write!(f, "no TLS with a server of `{address}`: {why}; set ETCDCTL_CACERT to the file of the authority of its certificate")
            }
            Error::Tls { address, why } => {
                write!(f, "no TLS with a server of `{address}`: {why}; set ETCDCTL_CERT and ETCDCTL_KEY to a certificate that it accepts, or see whether it speaks TLS")
            }
            Error::Denied { why } => {
                write!(f, "etcd refuses the request: {why}; set ETCDCTL_USER=name:password of a user that may read and write `doorway/`")
            }
            Error::NoSpace => f.write_str(
                "etcd's database is full; compact and defragment it, then `etcdctl alarm disarm`, or raise --quota-backend-bytes",
            ),
            Error::Server { why } => write!(f, "etcd answers: {why}"),
            Error::Lost => f.write_str("the lease has expired or was revoked, and with it what was held"),
            Error::Foreign { key } => {
                write!(f, "the key `{key}` of etcd was not written by doorway; remove it, or use another name")
            }
            Error::Forked => f.write_str("this process was forked after it had connected to etcd; connect again in the child"),
            Error::Guarded { found } => write!(f, "the queue is guarded by {found:?}"),
            Error::Compacted => f.write_str("the revision was compacted"),
        }
    }
}

impl error::Error for Error {}
