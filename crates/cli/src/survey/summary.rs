//! The summary of a survey.
use doorway_algorithms::{About, Kind};
use doorway_catalogue::{Agreement, Kept, Row};
use doorway_checker::Verdict;

use crate::screen::{BAD, GOOD, OPEN, Screen, WEAK};

/// What was limited and left out, what differs or is undecided, and at last the verdict.
pub(super) fn text(screen: &Screen, rows: &[Row], left_out: &[&About], seconds: f64) -> String {
    let names = |rows: &[&Row], what: fn(&Row) -> Vec<String>| {
        let name = |row: &&Row| match what(row).join(", ") {
            empty if empty.is_empty() => row.about.name.to_string(),
            what => format!("{} ({what})", row.about.name),
        };
        rows.iter().map(name).collect::<Vec<_>>().join(", ")
    };
    let those = |is_meant: fn(&Row) -> bool| rows.iter().filter(|row| is_meant(row)).collect::<Vec<&Row>>();
    let (limited, differing, undecided) =
        (those(|row| row.about.survey.passages().is_some()), those(Row::differs), those(Row::is_undecided));
    let mut text = String::new();
    if !limited.is_empty() {
        let passages = |row: &Row| row.about.survey.passages().map(|most| most.to_string()).into_iter().collect();
        let line = format!("*: only executions with a few passages of each process: {}.", names(&limited, passages));
        text += &screen.paint(WEAK, &screen.fold(2, &line));
    }
    if !left_out.is_empty() {
        let names: Vec<&str> = left_out.iter().map(|about| about.name).collect();
        text += &screen.paint(WEAK, &screen.fold(2, &format!("Too large for a survey: {}.", names.join(", "))));
    }
    let states: u64 = rows.iter().map(|row| row.report.states).sum();
    let s = if rows.len() == 1 { "" } else { "s" };
    let head = format!("{} algorithm{s}, {states} states in {seconds:.1} s", rows.len());
    // What was not decided is not called a disagreement, nor as claimed.
    let agreeing = rows.iter().filter(|row| !row.differs() && !row.is_undecided()).count();
    let (verdict, style) = match (differing.is_empty(), undecided.is_empty()) {
        (true, true) => ("all as claimed".to_string(), GOOD),
        (true, false) => (format!("{agreeing} as claimed; not decided: {}", names(&undecided, open)), OPEN),
        (false, true) => (format!("{agreeing} as claimed; NOT as claimed: {}", names(&differing, against)), BAD),
        (false, false) => {
            let (differing, undecided) = (names(&differing, against), names(&undecided, open));
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

/// What is not decided; nothing if that is everything.
fn open(row: &Row) -> Vec<String> {
    let is_open = |verdict| verdict == Verdict::Unknown;
    let properties: Vec<String> = row
        .report
        .findings
        .iter()
        .filter(|finding| is_open(finding.verdict))
        .map(|finding| finding.property.name().to_string())
        .collect();
    if properties.len() == row.report.findings.len() {
        return Vec::new();
    }
    let is_lock = row.about.kind != Kind::Part;
    let others = [
        ("crashes", is_lock && row.crashes.is_none()),
        ("remote memory references", row.about.local_spin.is_some() && row.remote.is_none()),
        ("store buffers", is_lock && matches!(row.tso, None | Some([Kept::Unknown, _]))),
        ("safe registers", matches!(row.safe, Some(Kept::Unknown))),
    ];
    let others = others.into_iter().filter(|(_, is_open)| *is_open).map(|(what, _)| what.to_string());
    properties.into_iter().chain(others).collect()
}
