//! The summary of a survey.
use doorway_algorithms::About;
use doorway_catalogue::{Agreement, Kept, Row};

use crate::screen::{BAD, GOOD, OPEN, Screen, WEAK};

/// What was left out, and the verdict: how many algorithms are as claimed, and which are not or are undecided.
pub(super) fn text(screen: &Screen, rows: &[Row], total: usize, left_out: &[&About], seconds: f64) -> String {
    let names = |rows: &[&Row], what: fn(&Row) -> Vec<String>| {
        let name = |row: &&Row| match what(row).join(", ") {
            empty if empty.is_empty() => row.about.name.to_string(),
            what => format!("{} ({what})", row.about.name),
        };
        rows.iter().map(name).collect::<Vec<_>>().join(", ")
    };
    let those = |is_meant: fn(&Row) -> bool| rows.iter().filter(|row| is_meant(row)).collect::<Vec<&Row>>();
    let (differing, undecided) = (those(Row::differs), those(Row::is_undecided));
    let mut text = String::new();
    if !left_out.is_empty() {
        let names: Vec<&str> = left_out.iter().map(|about| about.name).collect();
        text += &screen.paint(WEAK, &screen.fold(2, &format!("Too large for a survey: {}.", names.join(", "))));
    }
    let states: u64 = rows.iter().map(|row| row.report.states).sum();
    let s = if total == 1 { "" } else { "s" };
    let count = match rows.len() {
        all if all == total => format!("{all} algorithm{s}"),
        some => format!("stopped after {some} of {total} algorithm{s}"),
    };
    let head = format!("{count}, {states} states in {seconds:.1} s");
    // What was not decided is not called a disagreement, nor as claimed.
    let agreeing = rows.iter().filter(|row| !row.differs() && !row.is_undecided()).count();
    let (verdict, style) = match (differing.is_empty(), undecided.is_empty()) {
        (true, true) if rows.len() < total => (format!("{agreeing} as claimed"), OPEN),
        (true, true) => ("all as claimed".to_string(), GOOD),
        (true, false) => (format!("{agreeing} as claimed; not decided: {}", names(&undecided, |_| Vec::new())), OPEN),
        (false, true) => (format!("{agreeing} as claimed; NOT as claimed: {}", names(&differing, against)), BAD),
        (false, false) => {
            let (differing, undecided) = (names(&differing, against), names(&undecided, |_| Vec::new()));
            (format!("{agreeing} as claimed; not decided: {undecided}; NOT as claimed: {differing}"), BAD)
        }
    };
    text + &screen.paint(style, screen.fold(2, &format!("{head}: {verdict}.")).trim_end()) + "\n"
}

/// What is not as claimed.
fn against(row: &Row) -> Vec<String> {
    let properties = row.compared.those(Agreement::Differs).map(|property| property.name().to_string());
    let lost = |kept: Option<&Kept>| kept.is_some_and(|kept| matches!(kept, Kept::Loses(_) | Kept::Breaks));
    let others = [
        ("crashes", row.crashes_differ()),
        ("remote memory references", row.remote_differs()),
        ("store buffers", lost(row.tso.as_ref().map(|[with_fences, _]| with_fences))),
        ("safe registers", lost(row.safe.as_ref())),
    ];
    let others = others.into_iter().filter(|(_, differs)| *differs).map(|(what, _)| what.to_string());
    properties.chain(others).collect()
}
