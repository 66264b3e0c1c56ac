//! Where results are printed: the width, colour where there is any, and text that fits.
use std::io::{self, IsTerminal};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

/// What holds, or is as it should be.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// What fails or is wrong, and should be seen first.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// What is undecided.
pub(crate) const OPEN: Style = AnsiColor::Yellow.on_default();
/// Headings.
pub(crate) const HEAD: Style = Style::new().bold();
/// What matters less.
pub(crate) const WEAK: Style = Style::new().dimmed();
/// Everything else.
pub(crate) const PLAIN: Style = Style::new();

/// The width if results do not go to a terminal.
pub(crate) const DEFAULT_WIDTH: usize = 100;

/// The place where results are printed.
#[derive(Clone, Copy)]
pub(crate) struct Screen {
    /// The number of columns.
    pub(crate) width: usize,
    /// Whether it is a terminal.
    pub(crate) is_terminal: bool,
    has_colour: bool,
}

impl Screen {
    /// Standard output. It has colour if it is a terminal and the environment (`NO_COLOR`, `TERM`) does not object.
    pub(crate) fn of_stdout() -> Screen {
        let stdout = io::stdout();
        let width = terminal_size::terminal_size_of(&stdout).map_or(DEFAULT_WIDTH, |(width, _)| width.0.into());
        Screen {
            width,
            is_terminal: stdout.is_terminal(),
            has_colour: AutoStream::choice(&stdout) != ColorChoice::Never,
        }
    }

    /// A terminal with colours.
    #[cfg(test)]
    pub(crate) fn terminal(width: usize) -> Screen {
        Screen { width, is_terminal: true, has_colour: true }
    }

    /// A screen without colour.
    #[cfg(test)]
    pub(crate) fn plain(width: usize) -> Screen {
        Screen { width, is_terminal: false, has_colour: false }
    }

    /// The text in this style. Colour is never the only sign: without it the text says the same.
    pub(crate) fn paint(&self, style: Style, text: &str) -> String {
        if self.has_colour && style != PLAIN { format!("{style}{text}{style:#}") } else { text.to_string() }
    }

    /// The text in lines that fit, all but the first of them indented by this number of columns.
    pub(crate) fn fold(&self, indent: usize, text: &str) -> String {
        fold(text, self.width.saturating_sub(indent)).join(&format!("\n{:indent$}", "")) + "\n"
    }

    /// The text, on a terminal with its sentences folded. They begin with a letter; lines of steps, which may have colours, do not,
    /// and stay as they are.
    pub(crate) fn with_sentences_folded(&self, text: &str) -> String {
        let folded = |line: &str| {
            let sentence = line.trim_start_matches(' ');
            let is_sentence = sentence.starts_with(char::is_alphabetic);
            if self.is_terminal && is_sentence && columns(line) > self.width {
                let indent = line.len() - sentence.len();
                " ".repeat(indent) + &self.fold(indent + 2, sentence)
            } else {
                format!("{line}\n")
            }
        };
        text.lines().map(folded).collect()
    }
}

/// The number of columns of a text. Every character that is printed here takes one.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().count()
}

/// The text, cut to this number of columns; then it ends in an ellipsis.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_string();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).take(width).collect()
}

/// The text in lines of at most this number of columns, broken between words. A longer word is broken, too.
pub(crate) fn fold(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && columns(&line) + 1 + columns(word) > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        for letter in word.chars() {
            if columns(&line) == width {
                lines.push(std::mem::take(&mut line));
            }
            line.push(letter);
        }
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_folded_between_words_and_never_wider() {
        assert_eq!(fold("one two three", 7), ["one two", "three"]);
        assert_eq!(fold("a remarkable word", 6), ["a", "remark", "able", "word"]);
        assert_eq!(fold("", 7), [""]);
        assert_eq!(Screen::plain(12).fold(4, "one two three"), "one two\n    three\n");
    }

    #[test]
    fn long_texts_end_in_an_ellipsis() {
        assert_eq!([cut("12345", 5), cut("123456", 5), cut("1", 0)], ["12345", "1234…", ""]);
    }

    #[test]
    fn only_a_screen_with_colour_has_escapes() {
        assert_eq!(Screen::plain(80).paint(BAD, "fails"), "fails");
        let coloured = Screen { has_colour: true, ..Screen::plain(80) };
        assert_eq!(coloured.paint(GOOD, "holds"), "\x1b[32mholds\x1b[0m");
        assert_eq!(coloured.paint(PLAIN, "holds"), "holds");
    }
}
