//! Text for troff, in which manual pages are written.

/// The text, in which nothing is taken for a command of troff.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    if text.starts_with(['.', '\'']) {
        escaped += "\\&";
    }
    for c in text.chars() {
        match c {
            '\\' => escaped += "\\e",
            '-' => escaped += "\\-",
            '`' => escaped += "\\(ga",
            '\'' => escaped += "\\(aq",
            '"' => escaped += "\\(dq",
            '~' => escaped += "\\(ti",
            '^' => escaped += "\\(ha",
            _ => escaped.push(c),
        }
    }
    escaped
}

/// A page in which the words that had been between backticks are bold, as is usual in manual pages.
pub(super) fn without_backticks(page: &str) -> String {
    let line = |line: &str| match line.matches('`').count() {
        count if count % 2 == 0 => {
            let words = line.split('`').enumerate();
            words
                .map(|(index, word)| if index % 2 == 1 { format!("\\fB{word}\\fR") } else { word.to_string() })
                .collect()
        }
        _ => line.replace('`', "\\(ga"),
    };
    page.lines().map(|text| line(text) + "\n").collect()
}

/// A part of a file of sections. The part begins after the line `.\" PART name`, and ends before the next such line.
pub(super) fn part(text: &'static str, name: &str) -> &'static str {
    const MARK: &str = ".\\\" PART ";
    let parts = text.split(MARK).filter_map(|part| part.split_once('\n'));
    parts.into_iter().find(|(found, _)| *found == name).expect("the part exists").1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_troff_changes_are_escaped() {
        assert_eq!(escaped(r".a-b `c' \"), r"\&.a\-b \(gac\(aq \e");
    }

    #[test]
    fn words_between_backticks_become_bold() {
        assert_eq!(without_backticks("say `-k K` twice\none ` alone"), "say \\fB-k K\\fR twice\none \\(ga alone\n");
    }
}
