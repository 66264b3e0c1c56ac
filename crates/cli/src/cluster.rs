//! What commands need of semaphores on etcd.
use std::ffi::OsStr;

use doorway::cluster::{Options, Participant};

use crate::output::Failure;

/// Versions of etcd in which a lease can end although it is renewed, or be renewed although it has ended: those before
/// these patches of their minor versions.
const MENDED: [[u32; 3]; 3] = [[3, 4, 38], [3, 5, 23], [3, 6, 5]];

/// The first version whose transactions can do what is needed.
const OLDEST: [u32; 2] = [3, 4];

/// A name as text.
pub(crate) fn text(name: &OsStr) -> Result<&str, Failure> {
    name.to_str().ok_or_else(|| Failure(format!("`{}` cannot be a name on etcd: it is not UTF-8", name.display())))
}

/// A holder or waiter in a few words: `host:pid`.
pub(crate) fn place(participant: &Participant) -> String {
    format!("{}:{}", participant.host, participant.pid)
}

/// What there is to say about the version of the server: an error if it is too old, a warning if it is not safe.
pub(crate) fn warning(options: Options) -> Result<Option<String>, Failure> {
    judged(&options.server_version()?)
}

fn judged(version: &str) -> Result<Option<String>, Failure> {
    let mut numbers = version.split(['.', '-', '+']).map(|number| number.parse::<u32>().unwrap_or(0));
    let mut number = || numbers.next().unwrap_or(0);
    let version_numbers = [number(), number(), number()];
    if version_numbers[..2] < OLDEST[..] {
        return Err(Failure(format!("etcd {version} is too old; use 3.4.38, 3.5.23, 3.6.5 or later")));
    }
    let is_mended = match MENDED.iter().find(|mended| mended[..2] == version_numbers[..2]) {
        Some(mended) => version_numbers >= *mended,
        None => true,
    };
    Ok((!is_mended).then(|| {
        format!(
            "etcd {version} can end leases that are renewed, or renew leases that have ended, after a change of its \
             leader; use 3.4.38, 3.5.23, 3.6.5 or later"
        )
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_judged_by_their_patches() {
        let warns = |version: &str| judged(version).map(|warning| warning.is_some()).map_err(|Failure(why)| why);
        assert_eq!(warns("3.4.23"), Ok(true));
        assert_eq!(warns("3.4.38"), Ok(false));
        assert_eq!(warns("3.5.9+dfsg"), Ok(true));
        assert_eq!(warns("3.6.5"), Ok(false));
        assert_eq!(warns("4.0.0"), Ok(false));
        assert_eq!(warns("3.3.25"), Err("etcd 3.3.25 is too old; use 3.4.38, 3.5.23, 3.6.5 or later".to_string()));
    }
}
