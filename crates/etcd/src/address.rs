//! Addresses: `etcd://host:2379,host:2379`.
use std::{fmt, str::FromStr};

use crate::Error;

/// The port of etcd, unless an address has another.
const PORT: u16 = 2379;

/// The servers of a cluster: `etcd://host:2379,host:2379`, or `etcds://` for TLS.
///
/// ```
/// use doorway_etcd::Address;
///
/// let address: Address = "etcd://a:2379,b,[::1]:2381".parse()?;
/// assert_eq!(address.to_string(), "etcd://a:2379,b:2379,[::1]:2381");
/// assert!("a:2379".parse::<Address>().is_err());
/// # Ok::<(), doorway_etcd::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Address {
    hosts: Vec<String>,
    is_encrypted: bool,
}

impl Address {
    /// The servers, each as a URL.
    pub(crate) fn endpoints(&self) -> Vec<String> {
        let scheme = if self.is_encrypted { "https" } else { "http" };
        self.hosts.iter().map(|host| format!("{scheme}://{host}")).collect()
    }

    pub(crate) fn is_encrypted(&self) -> bool {
        self.is_encrypted
    }
}

impl FromStr for Address {
    type Err = Error;

    fn from_str(text: &str) -> Result<Address, Error> {
        let wrong = |why| Error::Address { address: text.to_string(), why };
        let (scheme, hosts) = text.split_once("://").ok_or_else(|| wrong("it does not begin with `etcd://`"))?;
        let is_encrypted = match scheme {
            "etcd" => false,
            "etcds" => true,
            _ => return Err(wrong("it does not begin with `etcd://` or `etcds://`")),
        };
        let host = |host: &str| {
            let (name, port) = match host.rsplit_once(':') {
                Some((name, port)) if !port.contains(']') => {
                    (name, port.parse().map_err(|_| wrong("a port is a number up to 65535"))?)
                }
                _ => (host, PORT),
            };
            let is_name = |c: char| c.is_ascii_alphanumeric() || "-._[]:".contains(c);
            if name.is_empty() || !name.chars().all(is_name) {
                return Err(wrong("a host is a name or an address"));
            }
            Ok(format!("{name}:{port}"))
        };
        let hosts = hosts.trim_end_matches('/').split(',').map(host).collect::<Result<_, _>>()?;
        Ok(Address { hosts, is_encrypted })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", if self.is_encrypted { "etcds" } else { "etcd" }, self.hosts.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_address_says_what_is_wrong() {
        let why = |text: &str| text.parse::<Address>().unwrap_err().to_string();
        assert_eq!(
            why("http://a"),
            "`http://a` is not an address of etcd: it does not begin with `etcd://` or `etcds://`; \
             write `etcd://host:2379,host:2379`"
        );
        assert!(why("etcd://").contains("a host is a name or an address"));
        assert!(why("etcd://a:70000").contains("a port is a number up to 65535"));
        assert!(why("etcd://a b").contains("a host is a name or an address"));
    }
}
