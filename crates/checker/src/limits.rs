//! The default memory limit of a check.
use std::{fs, sync::OnceLock};

/// Three quarters of the machine's memory; none if that is not known.
pub(crate) fn default_memory() -> Option<u64> {
    static MEMORY: OnceLock<Option<u64>> = OnceLock::new();
    MEMORY.get_or_init(|| machine_memory().map(|bytes| bytes / 4 * 3)).to_owned()
}

/// The memory of the machine, or of the control group if that is less.
fn machine_memory() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
        let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(kilobytes * 1024)
    });
    let group = fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse().ok());
    machine.into_iter().chain(group).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Model;

    #[test]
    fn a_model_is_limited_to_three_quarters_of_the_memory() {
        assert_eq!(machine_memory().is_some(), cfg!(target_os = "linux"));
        assert_eq!(Model::new(2).max_memory, machine_memory().map(|bytes| bytes / 4 * 3));
        assert_eq!(Model::new(2).max_memory(1_000).max_memory, Some(1_000));
    }
}
