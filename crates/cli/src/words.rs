//! Words for a terminal: commands quoted and escaped, and durations.
use std::{ffi::OsString, os::fd::AsFd, time::Duration};

use rustix::termios::tcgetwinsize;

use crate::screen::DEFAULT_WIDTH;
pub(crate) use crate::screen::cut;

/// The number of columns of a terminal.
pub(crate) fn terminal_width(terminal: &impl AsFd) -> usize {
    match tcgetwinsize(terminal) {
        Ok(size) if size.ws_col > 0 => size.ws_col.into(),
        _ => DEFAULT_WIDTH,
    }
}

/// A command line, quoted like shell words.
pub(crate) fn quoted(words: &[OsString]) -> String {
    let quote = |word: &OsString| {
        let word = word.to_string_lossy();
        let is_plain = !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "-_./=:,+@%".contains(c));
        if is_plain { word.into_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
    };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// A text of another process, in which characters that would change the terminal's state are escaped.
pub(crate) fn visible(text: &str) -> String {
    /// Characters that change the direction of the text around them.
    const DIRECTIONS: [char; 12] = [
        '\u{61c}', '\u{200e}', '\u{200f}', '\u{202a}', '\u{202b}', '\u{202c}', '\u{202d}', '\u{202e}', '\u{2066}',
        '\u{2067}', '\u{2068}', '\u{2069}',
    ];
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || DIRECTIONS.contains(&c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown
}

/// A duration in a unit that suits its length.
pub(crate) fn span(time: Duration) -> String {
    match time.as_secs() {
        0..10 => format!("{:.1} s", time.as_secs_f64()),
        seconds @ ..120 => format!("{seconds} s"),
        seconds @ ..7200 => format!("{} min", seconds / 60),
        seconds @ ..172_800 => format!("{} h", seconds / 3600),
        seconds => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_a_shell_would_split_are_quoted() {
        let words = ["echo", "a b", "it's", "", "--x=1"].map(OsString::from);
        assert_eq!(quoted(&words), r"echo 'a b' 'it'\''s' '' --x=1");
    }

    #[test]
    fn what_a_terminal_would_obey_is_escaped() {
        assert_eq!(visible("a\x1b[2Jb\r\n\u{9b}c\u{202e}é"), r"a\u{1b}[2Jb\r\n\u{9b}c\u{202e}é");
    }

    #[test]
    fn durations_are_shown_in_units_that_suit_their_length() {
        let spans = [0.25, 59.0, 600.0, 10_000.0, 200_000.0].map(|seconds| span(Duration::from_secs_f64(seconds)));
        assert_eq!(spans, ["0.2 s", "59 s", "10 min", "2 h", "2 days"]);
    }
}
