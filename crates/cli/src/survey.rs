//! `doorway survey`
use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use doorway_algorithms::{About, Claim, Kind, Size, registry};
use doorway_checker::{Bound, Finding, Model, Property, Report, Verdict};
use serde_json::Value;

use crate::{
    check::{agrees, as_json, check_one},
    limits::Limits,
    output::{Answer, FAILS, HOLDS, Trouble, UNDECIDED},
    progress::interrupted,
};

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    limits: Limits,
    /// Prints JSON: the answers of `doorway check`, in a list
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Trouble> {
    let mut surveyed: Vec<(&About, Size, Report)> = Vec::new();
    for &about in registry::all() {
        let size = about.size(None, None)?;
        let model = arguments.limits.apply(Model::new(size.n).k(size.k));
        surveyed.push((about, size, check_one(about, size, model)?));
        if interrupted() {
            break;
        }
    }
    let text = if arguments.json {
        let list: Vec<Value> = surveyed.iter().map(|(about, size, report)| as_json(about, *size, report)).collect();
        format!("{:#}\n", Value::from(list))
    } else {
        as_text(&surveyed)
    };
    let findings = || surveyed.iter().flat_map(|(about, _, report)| report.findings.iter().map(move |f| (about, f)));
    let code = if interrupted() || findings().any(|(_, finding)| finding.verdict == Verdict::Unknown) {
        UNDECIDED
    } else if findings().any(|(about, finding)| agrees(about, finding) == Some(false)) {
        FAILS
    } else {
        HOLDS
    };
    Ok(Answer { text, code })
}

fn as_text(surveyed: &[(&About, Size, Report)]) -> String {
    let (parts, locks): (Vec<_>, Vec<_>) = surveyed.iter().partition(|(about, ..)| about.kind == Kind::Part);
    let states: u64 = surveyed.iter().map(|(_, _, report)| report.states).sum();
    let seconds: f64 = surveyed.iter().map(|(_, _, report)| report.seconds).sum();
    let names = |bad: &dyn Fn(&About, &Finding) -> bool| {
        let rows =
            surveyed.iter().filter(|(about, _, report)| report.findings.iter().any(|finding| bad(about, finding)));
        rows.map(|(about, ..)| about.name).collect::<Vec<_>>().join(", ")
    };
    let differing = names(&|about, finding| agrees(about, finding) == Some(false));
    let undecided = names(&|_, finding| finding.verdict == Verdict::Unknown);
    let verdict = match (differing.as_str(), undecided.as_str()) {
        ("", "") => "all as claimed".to_string(),
        ("", undecided) => format!("not decided: {undecided}"),
        (differing, _) => format!("NOT as claimed: {differing}"),
    };
    format!(
        "{}\n\n{}\n\nClaimed / found; `-`: nothing claimed. Bypass: by latecomers, and in all.\n\
         {} algorithms, {states} states in {seconds:.1} s: {verdict}.\n",
        table(&locks, &Property::OF_LOCKS),
        table(&parts, &Property::OF_PARTS),
        surveyed.len(),
    )
}

fn table(rows: &[&(&About, Size, Report)], properties: &[Property]) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    let heads = properties.iter().map(|property| property.name().replace('-', " ").replace(" freedom", "-free"));
    let header = ["algorithm", "source", "n", "k"].into_iter().map(String::from).chain(heads);
    table.set_header(header.chain(["states".to_string(), "s".to_string()]));
    for (about, size, report) in rows {
        let k = if about.kind == Kind::Part { "-".to_string() } else { size.k.to_string() };
        let head = [about.name.to_string(), about.source.to_string(), size.n.to_string(), k];
        let cells = properties.iter().map(|&property| cell(about, report.finding(property)));
        let tail = [report.states.to_string(), format!("{:.2}", report.seconds)];
        table.add_row(head.into_iter().chain(cells).chain(tail));
    }
    let last = 4 + properties.len();
    for right in [2, 3, last, last + 1] {
        if let Some(column) = table.column_mut(right) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}

/// What is claimed, and what was found.
fn cell(about: &About, finding: &Finding) -> String {
    let claimed = about.claims.iter().find_map(|claim| match *claim {
        Claim::Holds(property) if property == finding.property => Some("yes".to_string()),
        Claim::Fails(property) if property == finding.property => Some("no".to_string()),
        Claim::Bypass(bound) if finding.property == Property::Bypass => Some(number(bound)),
        Claim::Entries(bound) if finding.property == Property::Bypass => Some(format!("{} in all", number(bound))),
        _ => None,
    });
    let claimed = claimed.unwrap_or_else(|| "-".to_string());
    let found = match (finding.bypass, finding.verdict) {
        (Some(bypass), _) if bypass.late == Bound::Unbounded => number(None),
        (Some(bypass), _) => format!("{}, {}", number(bypass.late.number()), number(bypass.in_all.number())),
        (None, Verdict::Holds) => "yes".to_string(),
        (None, Verdict::Unknown) => "?".to_string(),
        (None, Verdict::Fails) if is_partial(finding) => format!("no, for {}", list(&finding.processes)),
        (None, Verdict::Fails) => "no".to_string(),
    };
    let mark = if agrees(about, finding) == Some(false) { " !" } else { "" };
    format!("{claimed} / {found}{mark}")
}

/// Whether only some starve: process 0 is always the first to.
fn is_partial(finding: &Finding) -> bool {
    finding.property == Property::StarvationFreedom && !finding.processes.contains(&0)
}

fn list(processes: &[usize]) -> String {
    processes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

fn number(bound: Option<u32>) -> String {
    bound.map_or("∞".to_string(), |bound| bound.to_string())
}
