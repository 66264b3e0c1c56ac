//! What `doorway survey` prints.
use comfy_table::{CellAlignment, Table, presets};
use doorway_algorithms::{About, Claimed, Kind, Status, registry};
use doorway_catalogue::{Agreement, Comparison, Grown, Row};
use doorway_checker::{Bound, Finding, Property, Report, Verdict};

use super::table_1;
use crate::rmr::show;

pub(super) fn text(rows: &[Row], left_out: &[(&About, Vec<Grown>)], seconds: f64) -> String {
    let (parts, locks): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.about.kind == Kind::Part);
    let states: u64 = rows.iter().map(|row| row.report.states).sum();
    let names = |is_meant: fn(&Row) -> bool| {
        let names: Vec<&str> = rows.iter().filter(|row| is_meant(row)).map(|row| row.about.name).collect();
        names.join(", ")
    };
    let verdict = match (names(Row::differs).as_str(), names(Row::is_undecided).as_str()) {
        ("", "") => "all as claimed".to_string(),
        ("", undecided) => format!("not decided: {undecided}"),
        (differing, _) => format!("NOT as claimed: {differing}"),
    };
    let bounded: String = rows
        .iter()
        .filter_map(|row| Some((row.about.name, row.about.survey.passages()?)))
        .map(|(name, passages)| {
            let s = if passages == 1 { "" } else { "s" };
            format!("`{name}`: at most {passages} passage{s} of each process.\n")
        })
        .collect();
    let not_checked: String =
        left_out.iter().map(|(about, _)| format!("`{}`: not checked here, it takes too long.\n", about.name)).collect();
    let departures: String = registry::all()
        .iter()
        .filter(|about| !about.departures.is_empty())
        .map(|about| format!("`{}`: {}.\n", about.name, about.departures))
        .collect();
    let broken: String = rows
        .iter()
        .filter_map(|row| match row.about.status() {
            Status::Broken(why) => Some(format!("`{}`: {why}.\n", row.about.name)),
            Status::Correct => None,
        })
        .collect();
    [
        table(&locks, &Property::OF_LOCKS),
        table(&parts, &Property::OF_PARTS),
        "Remote memory references of a passage, as the papers have them: claimed, exact for a small size, and as they \
         grow in simulated executions."
            .to_string(),
        remote_table(rows, left_out),
        "Table 1 of Danek's k-Bakery paper, each row as printed and then as measured; `starvation-free` is with k-1 \
         crashes, as there (`1 passage`: of each of three processes, with k = 2)."
            .to_string(),
        table_1::text(rows),
        format!("Where the code is not what is printed:\n{departures}"),
        format!("What is broken, and is found to be:\n{broken}"),
        format!(
            "Claimed / found; `-`: nothing claimed. Bypass: by later arrivals, and in all. Crashes: how many are \
             survived. Rmr: exact worst case of one passage. Tso: whether what is claimed holds with store buffers too, \
             or what does not.\n{bounded}{not_checked}{} algorithms, {states} states in {seconds:.1} s: {verdict}.\n",
            rows.len()
        ),
    ]
    .join("\n\n")
    .replace("\n\n\n", "\n\n")
}

fn table(rows: &[&Row], properties: &[Property]) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    let are_locks = rows.iter().any(|row| row.about.kind != Kind::Part);
    let short = |property: &Property| property.name().replace('-', " ").replace(" freedom", "-free");
    let more = if are_locks { &["crashes", "rmr cc", "rmr dsm", "tso", "tso, plain stores"][..] } else { &[] };
    let header = ["algorithm", "status", "source", "n", "k"].into_iter().map(String::from);
    let header = header.chain(properties.iter().map(short)).chain(more.iter().map(ToString::to_string));
    table.set_header(header.chain(["states".to_string(), "s".to_string()]));
    for row @ Row { about, size, report, compared, crashes, remote, tso, .. } in rows {
        let k = if about.kind == Kind::Part { "-".to_string() } else { size.k.to_string() };
        let status = if about.status() == Status::Correct { "correct" } else { "broken" };
        let head = [about.name, status, about.source, &size.n.to_string(), &k].map(str::to_string);
        let cells = properties.iter().map(|&property| cell(about, report.finding(property), compared));
        let claimed = match about.crashes(size.k) {
            0 => "-".to_string(),
            some => some.to_string(),
        };
        let found = crashes.map_or("?".to_string(), |crashes| crashes.to_string());
        let crashes = format!("{claimed} / {found}{}", if row.crashes_differ() { " !" } else { "" });
        let mark = if row.remote_differs() { " !" } else { "" };
        let none = if about.local_spin.is_some() { "?" } else { "-" };
        let [cached, distributed] =
            remote.map_or([none, none].map(String::from), |bounds| bounds.map(|bound| exact(report, bound) + mark));
        let [fenced, plain] =
            tso.as_ref().map_or(["?"; 2].map(String::from), |kept| kept.each_ref().map(ToString::to_string));
        let of_locks = [crashes, cached, distributed, fenced, plain].into_iter().take(more.len());
        let tail = [report.states.to_string(), format!("{:.2}", report.seconds)];
        table.add_row(head.into_iter().chain(cells).chain(of_locks).chain(tail));
    }
    let last = 5 + properties.len() + more.len();
    for right in [3, 4, last, last + 1] {
        if let Some(column) = table.column_mut(right) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}

/// The locks whose source says how remote memory references grow: primitives, starvation-freedom, and the references.
fn remote_table(rows: &[Row], left_out: &[(&About, Vec<Grown>)]) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_header([
        "algorithm",
        "source",
        "takes",
        "starvation-free",
        "claimed cc",
        "exact cc",
        "fitted cc",
        "claimed dsm",
        "exact dsm",
        "fitted dsm",
    ]);
    let mut add = |about: &About, takes: &[&str], starving: String, exact: [String; 2], grown: &[Grown]| {
        let Some(claimed) = about.remote else { return };
        let fitted = |model: usize| {
            let mut classes: Vec<&str> = grown.iter().map(|grown| grown.class[model].as_str()).collect();
            classes.dedup();
            classes.join(", ")
        };
        let [exact_cc, exact_dsm] = exact;
        table.add_row([
            about.name.to_string(),
            about.source.to_string(),
            takes.join(", "),
            starving,
            claimed.cc.to_string(),
            exact_cc,
            fitted(0),
            claimed.dsm.to_string(),
            exact_dsm,
            fitted(1),
        ]);
    };
    for Row { about, size, report, compared, remote, grown, .. } in rows.iter().filter(|row| row.about.remote.is_some())
    {
        let k = if about.kind == Kind::KExclusion { format!(", k={}", size.k) } else { String::new() };
        let sized = |bound| format!("{} (n={}{k})", exact(report, bound), size.n);
        let found = remote.map_or(["?", "?"].map(String::from), |bounds| bounds.map(sized));
        add(
            about,
            &report.primitives,
            cell(about, report.finding(Property::StarvationFreedom), compared),
            found,
            grown,
        );
    }
    for (about, grown) in left_out {
        let claimed = if about.holds(Property::StarvationFreedom) { "yes" } else { "-" };
        add(about, about.primitives, format!("{claimed} / not checked here"), ["-", "-"].map(String::from), grown);
    }
    table.trim_fmt()
}

/// A worst case; if not every execution was explored, there may be a worse one.
pub(super) fn exact(report: &Report, bound: Bound) -> String {
    let at_least = if report.incomplete.is_some() && bound != Bound::Unbounded { "≥ " } else { "" };
    format!("{at_least}{}", show(bound))
}

/// What is claimed without conditions, and what was found.
fn cell(about: &About, finding: &Finding, compared: &Comparison) -> String {
    let claim = about.claims.iter().find(|claim| claim.property == finding.property && claim.under.is_empty());
    let claimed = claim.map(|claim| match claim.claimed {
        Claimed::Holds => "yes".to_string(),
        Claimed::Lacks | Claimed::Fails => "no".to_string(),
        Claimed::Bypass(bound) => number(bound),
        Claimed::Entries(bound) => format!("{} in all", number(bound)),
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
    let mark = if compared.of(finding.property) == Some(Agreement::Differs) { " !" } else { "" };
    format!("{claimed} / {found}{mark}")
}

/// Whether only some processes starve: process 0 is always the first that is tried.
fn is_partial(finding: &Finding) -> bool {
    finding.property == Property::StarvationFreedom && !finding.processes.contains(&0)
}

fn list(processes: &[usize]) -> String {
    processes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

fn number(bound: Option<u32>) -> String {
    bound.map_or("∞".to_string(), |bound| bound.to_string())
}
