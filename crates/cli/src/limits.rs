//! Limits on a check, shared by the commands that check.
use std::thread::available_parallelism;

use clap::Args;
use doorway_checker::Model;

/// The limits on states and memory, and the number of threads.
#[derive(Args, Clone)]
pub(crate) struct Limits {
    /// Ends the search when it has found this number of states
    #[arg(long, value_name = "S")]
    max_states: Option<u64>,
    /// Ends the search before it uses more memory than this, such as 500M or 8G [default: 3/4 of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_memory: Option<u64>,
    /// Number of threads [default: one for each core]
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
}

impl Limits {
    /// The number of threads.
    pub(crate) fn threads(&self) -> usize {
        self.threads.map_or_else(|| available_parallelism().map_or(1, usize::from), usize::from)
    }

    /// Sets the limits that were given.
    pub(crate) fn apply(&self, mut model: Model) -> Model {
        if let Some(states) = self.max_states {
            model = model.max_states(states);
        }
        if let Some(bytes) = self.max_memory {
            model = model.max_memory(bytes);
        }
        if let Some(threads) = self.threads {
            model = model.threads(threads.into());
        }
        model
    }
}

/// Parses a size: a number of bytes, or a number with the unit K, M, G or T (powers of 1000).
fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = match text[digits.len()..].to_ascii_uppercase().trim_end_matches('B').trim_end_matches('I') {
        "" => 1.0,
        "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        _ => return Err("a size is a number with K, M, G or T, such as 8G".to_string()),
    };
    match digits.parse::<f64>() {
        Ok(number) if number * unit >= 1e6 => Ok((number * unit) as u64),
        Ok(_) => Err("the least size is 1M".to_string()),
        Err(_) => Err("a size is a number with K, M, G or T, such as 8G".to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_parsed_with_and_without_units() {
        assert_eq!(size("2000000"), Ok(2_000_000));
        assert_eq!(size("1.5G"), Ok(1_500_000_000));
        assert_eq!(size("8gb"), Ok(8_000_000_000));
        assert_eq!(size("512MiB"), Ok(512_000_000));
        assert!(size("much").is_err());
        assert!(size("8X").is_err());
        assert!(size("10").is_err());
    }
}
