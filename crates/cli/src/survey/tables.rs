//! `doorway survey --tables`: the papers' tables beside what was measured.
use doorway_algorithms::{About, Kind, Status, registry};
use doorway_catalogue::{Grown, Row, classes};
use doorway_checker::{Property, Verdict};

use super::table_1;
use crate::screen::{HEAD, Screen};

/// The columns of the names in front of the tables.
pub(super) const NAME: usize = 28;

/// The tables, for the rows of a survey and the algorithms that it left out.
pub(super) fn text(screen: &Screen, rows: &[Row], left_out: &[(&'static About, Vec<Grown>)]) -> String {
    let head = |text: &str| screen.paint(HEAD, &screen.fold(0, text));
    let is_meant = |about: &About| {
        rows.iter().any(|row| row.about.name == about.name) || left_out.iter().any(|(left, _)| left.name == about.name)
    };
    let departures: Vec<(&str, &str)> = registry::all()
        .iter()
        .filter(|about| !about.departures.is_empty() && is_meant(about))
        .map(|about| (about.name, about.departures))
        .collect();
    let broken: Vec<(&str, &str)> = rows
        .iter()
        .filter_map(|row| match row.about.status() {
            Status::Broken(why) => Some((row.about.name, why)),
            Status::Correct => None,
        })
        .collect();
    let parts = [
        (
            "Remote memory references of a passage: as claimed, exact for a small size, and as they grow in simulated \
             executions",
            remote(screen, rows, left_out),
        ),
        (
            "Table 1 of Danek's k-Bakery paper: each row as printed, then as measured; `starvation-free` is with k-1 \
             crashes, as there",
            table_1::text(screen, rows),
        ),
        ("Where the code is not what is printed", list(screen, &departures)),
        ("What is broken, and is found to be", list(screen, &broken)),
    ];
    let parts = parts.into_iter().filter(|(_, text)| !text.is_empty());
    parts.map(|(title, text)| format!("\n{}{text}", head(title))).collect()
}

/// A line for each name, folded.
fn list(screen: &Screen, items: &[(&str, &str)]) -> String {
    items.iter().map(|(name, text)| entry(screen, name, text)).collect()
}

/// A text beside a name. A name that is too long for its column has a line of its own.
pub(super) fn entry(screen: &Screen, name: &str, text: &str) -> String {
    let folded = screen.fold(NAME, text);
    if name.len() + 1 < NAME { format!("{name:<NAME$}{folded}") } else { format!("{name}\n{:<NAME$}{folded}", "") }
}

/// The locks whose source says how remote memory references grow: two lines for each, then its primitives.
fn remote(screen: &Screen, rows: &[Row], left_out: &[(&'static About, Vec<Grown>)]) -> String {
    let measured = rows.iter().filter(|row| row.about.kind != Kind::Part).map(|row| {
        let starvation = match row.report.finding(Property::StarvationFreedom).verdict {
            Verdict::Holds => "starvation-free",
            Verdict::Fails => "not starvation-free",
            Verdict::Unknown => "starvation-freedom not decided",
        };
        let takes = format!("{}; {starvation}", row.report.primitives.join(", "));
        (row.about, [row.exact_with_size(0), row.exact_with_size(1)], row.grown.as_slice(), takes)
    });
    let others = left_out.iter().map(|(about, grown)| {
        (*about, ["not checked", "not checked"].map(String::from), grown.as_slice(), about.primitives.join(", "))
    });
    let blocks: String = measured
        .chain(others)
        .filter_map(|(about, exact, grown, takes)| {
            let claimed = about.remote?;
            let line = |model: usize| {
                let (of, claimed) = [("cc", claimed.cc), ("dsm", claimed.dsm)][model];
                format!("{of:<4}{claimed:<17} {:<16} {}", exact[model], classes(grown, model))
            };
            Some([entry(screen, about.name, &takes), unfolded(&line(0)), unfolded(&line(1))].concat())
        })
        .collect();
    if blocks.is_empty() {
        return blocks;
    }
    format!("{:<NAME$}{:<4}{:<17} {:<16} fitted\n{blocks}", "", "", "claimed", "exact")
}

fn unfolded(line: &str) -> String {
    format!("{:<NAME$}{}\n", "", line.trim_end())
}
