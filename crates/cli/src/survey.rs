//! `doorway survey`
use std::time::Instant;

use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use doorway_algorithms::{About, Claim, Kind, LocalSpin, Size, registry};
use doorway_checker::{Bound, Cost, FailedCas, Finding, Model, Property, Report, Verdict};
use serde_json::{Value, json};

use crate::{
    check::{agrees, as_json, check_one},
    limits::Limits,
    output::{Answer, FAILS, HOLDS, Trouble, UNDECIDED},
    progress::interrupted,
    rmr::{measure_one, show},
};

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    limits: Limits,
    /// Prints JSON: the answers of `doorway check`, in a list
    #[arg(long)]
    json: bool,
}

/// An algorithm and what was found about it.
struct Row {
    about: &'static About,
    size: Size,
    report: Report,
    /// How many crashes it survives: what progress there is without them, there is with them. None for a part, and if it
    /// could not be decided.
    crashes: Option<usize>,
    /// The worst remote references of a passage, with caches and in distributed shared memory. None for a part,
    /// and if it could not be decided.
    remote: Option<[Bound; 2]>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Trouble> {
    let start = Instant::now();
    let mut rows: Vec<Row> = Vec::new();
    for &about in registry::all() {
        let size = about.size(None, None)?;
        let mut model = arguments.limits.apply(Model::new(size.n).k(size.k));
        if let Some(passages) = about.survey_passages {
            model = model.passages(passages);
        }
        let report = check_one(about, size, model.clone())?;
        let (mut crashes, mut remote) = (None, None);
        if about.kind != Kind::Part && !interrupted() {
            crashes = survived(about, size, &model, &report)?;
            let cached = measure_one(about, size, model.clone(), Cost::Cc(FailedCas::Counts))?;
            let distributed = measure_one(about, size, model, Cost::Dsm)?;
            let decided = !cached.stopped && !distributed.stopped;
            remote = decided.then(|| [cached.worst(), distributed.worst()]);
        }
        rows.push(Row { about, size, report, crashes, remote });
        if interrupted() {
            break;
        }
    }
    let text = if arguments.json {
        let list: Vec<Value> = rows.iter().map(row_as_json).collect();
        format!("{:#}\n", Value::from(list))
    } else {
        as_text(&rows, start.elapsed().as_secs_f64())
    };
    let code = if interrupted() || rows.iter().any(Row::is_undecided) {
        UNDECIDED
    } else if rows.iter().any(Row::differs) {
        FAILS
    } else {
        HOLDS
    };
    Ok(Answer { text, code })
}

/// How many processes may crash without the others losing what progress they have; none if it could not be decided.
fn survived(about: &'static About, size: Size, model: &Model, report: &Report) -> Result<Option<usize>, Trouble> {
    let progress = [Property::DeadlockFreedom, Property::StarvationFreedom];
    let held: Vec<Property> = progress.into_iter().filter(|&property| report.holds(property)).collect();
    if progress.iter().any(|&property| report.finding(property).verdict == Verdict::Unknown) {
        return Ok(None);
    }
    let mut crashes = 0;
    while !held.is_empty() && crashes < size.n {
        let more = check_one(about, size, model.clone().crashes(crashes + 1).only(held.clone()))?;
        if held.iter().any(|&property| more.fails(property)) {
            break;
        }
        if !held.iter().all(|&property| more.holds(property)) {
            return Ok(None);
        }
        crashes += 1;
    }
    Ok(Some(crashes))
}

impl Row {
    fn is_undecided(&self) -> bool {
        let is_lock = self.about.kind != Kind::Part;
        let unknown = self.report.findings.iter().any(|finding| finding.verdict == Verdict::Unknown);
        unknown || (is_lock && (self.crashes.is_none() || self.remote.is_none()))
    }

    fn differs(&self) -> bool {
        let claims = self.about.claims;
        let as_found = self.report.findings.iter().all(|finding| agrees(claims, finding) != Some(false));
        !as_found || self.crashes_differ() || self.remote_differs()
    }

    fn crashes_differ(&self) -> bool {
        self.crashes.is_some_and(|crashes| crashes < self.about.crashes(self.size.k))
    }
}

impl Row {
    fn remote_differs(&self) -> bool {
        let found = self.remote.map(|[cc, dsm]| LocalSpin { cc: cc != Bound::Unbounded, dsm: dsm != Bound::Unbounded });
        found.is_some() && found != self.about.local_spin
    }
}

fn row_as_json(row: &Row) -> Value {
    let mut value = as_json(row.about, row.size, 0, &row.report);
    value["crashes_survived"] = row.crashes.into();
    value["rmr"] = row.remote.map(|[cc, dsm]| json!({ "cc": cc.number(), "dsm": dsm.number() })).into();
    value
}

fn as_text(rows: &[Row], seconds: f64) -> String {
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
        .filter_map(|row| Some((row.about.name, row.about.survey_passages?)))
        .map(|(name, passages)| format!("`{name}`: {passages} passage(s) of each process only.\n"))
        .collect();
    format!(
        "{}\n\n{}\n\nClaimed / found; `-`: nothing claimed. Bypass: by latecomers, and in all. Crashes: how many are \
         survived. Rmr: exact worst case of one passage.\n{bounded}{} algorithms, {states} states in {seconds:.1} s: {verdict}.\n",
        table(&locks, &Property::OF_LOCKS),
        table(&parts, &Property::OF_PARTS),
        rows.len(),
    )
}

fn table(rows: &[&Row], properties: &[Property]) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    let are_locks = rows.iter().any(|row| row.about.kind != Kind::Part);
    let short = |property: &Property| property.name().replace('-', " ").replace(" freedom", "-free");
    let more = if are_locks { &["crashes", "rmr cc", "rmr dsm"][..] } else { &[] };
    let header = ["algorithm", "source", "n", "k"].into_iter().map(String::from);
    let header = header.chain(properties.iter().map(short)).chain(more.iter().map(ToString::to_string));
    table.set_header(header.chain(["states".to_string(), "s".to_string()]));
    for row @ Row { about, size, report, crashes, remote } in rows {
        let k = if about.kind == Kind::Part { "-".to_string() } else { size.k.to_string() };
        let head = [about.name.to_string(), about.source.to_string(), size.n.to_string(), k];
        let cells = properties.iter().map(|&property| cell(about, report.finding(property)));
        let claimed = match about.crashes(size.k) {
            0 => "-".to_string(),
            some => some.to_string(),
        };
        let found = crashes.map_or("?".to_string(), |crashes| crashes.to_string());
        let crashes = format!("{claimed} / {found}{}", if row.crashes_differ() { " !" } else { "" });
        let mark = if row.remote_differs() { " !" } else { "" };
        let [cached, distributed] =
            remote.map_or(["?".to_string(), "?".to_string()], |bounds| bounds.map(|bound| show(bound) + mark));
        let of_locks = [crashes, cached, distributed].into_iter().take(more.len());
        let tail = [report.states.to_string(), format!("{:.2}", report.seconds)];
        table.add_row(head.into_iter().chain(cells).chain(of_locks).chain(tail));
    }
    let last = 4 + properties.len() + more.len();
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
    let mark = if agrees(about.claims, finding) == Some(false) { " !" } else { "" };
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
