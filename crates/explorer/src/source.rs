//! What the first comment of an algorithm's file says: the source's lines, and how the code departs from them.

use doorway_algorithms::{About, registry};

/// The lines of an algorithm's pseudocode, to find the one at which a process is.
pub(crate) struct Lines {
    /// The end of the path of the algorithm's file.
    file: String,
    code: &'static str,
    numbers: Vec<Option<String>>,
}

impl Lines {
    pub(crate) fn of(about: &'static About) -> Lines {
        let code = registry::file(about);
        let numbers = header(code).lines.into_iter().map(|(number, _)| number).collect();
        Lines { file: format!("/{}.rs", about.name.replace('-', "_")), code, numbers }
    }

    /// The index of the line with this number, if an access of `file` at this line is meant by it. A lock that is built of
    /// another one may have a line with the same number: then that of the other is not quoted here.
    pub(crate) fn row(&self, number: &str, file: &str) -> Option<usize> {
        let is_own = file.ends_with(&self.file);
        let is_used_here = self.code.contains(&format!(".at(\"{number}\")"));
        let index = self.numbers.iter().position(|own| own.as_deref() == Some(number))?;
        (is_own || !is_used_here).then_some(index)
    }
}

/// The first comment of a file.
pub(crate) struct Header {
    /// The lines of the pseudocode, each with its number if it has one.
    pub(crate) lines: Vec<(Option<String>, String)>,
    /// The paragraphs: the source, departures, guarantees.
    pub(crate) notes: Vec<String>,
}

/// The columns in which the number of a line stands.
const NUMBER: usize = 3;

pub(crate) fn header(file: &str) -> Header {
    let comment = file.lines().map_while(|line| line.strip_prefix("//!"));
    let (mut code, mut notes) = (Vec::new(), vec![String::new()]);
    let mut is_code = false;
    for line in comment {
        let line = line.strip_prefix(' ').unwrap_or(line);
        match line.trim() {
            "```text" => is_code = true,
            "```" => is_code = false,
            _ if is_code => code.push(line),
            "" => notes.push(String::new()),
            words => {
                let note = notes.last_mut().expect("there is one");
                if !note.is_empty() {
                    note.push(' ');
                }
                note.push_str(words);
            }
        }
    }
    notes.retain(|note| !note.is_empty());
    // Where the text begins, after the numbers.
    let begins = code.iter().filter_map(|line| numbered(line)).map(|(_, column)| column).min().unwrap_or(0);
    let lines = code.iter().map(|line| {
        let number = numbered(line).map(|(number, _)| number.to_string());
        let text: String = line.chars().skip(begins).collect();
        // A line without number may begin further to the left.
        let text =
            if number.is_none() && line.chars().take(begins).any(|c| c != ' ') { line.to_string() } else { text };
        (number, text.trim_end().to_string())
    });
    Header { lines: lines.collect(), notes }
}

/// The number of a line, and the column in which its text begins.
fn numbered(line: &str) -> Option<(&str, usize)> {
    let number = line.split_whitespace().next()?;
    let end = line.find(number)? + number.len();
    let rest = line.get(end..)?;
    let is_number = number.chars().all(|c| c.is_ascii_alphanumeric() || "-*'".contains(c))
        && (number.chars().any(|c| c.is_ascii_digit()) || number.len() == 1);
    (end <= NUMBER && is_number && rest.starts_with("  ")).then_some((number, end + 2))
}
