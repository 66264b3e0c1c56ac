//! `doorway survey`: the papers' tables, measured.
mod table_1;
mod tables;

use std::{fmt, panic, time::Instant};

use clap::Args;
use doorway_algorithms::{About, Claim, Kind, LocalSpin, Size, registry};
use doorway_checker::{Bound, Cost, FailedCas, Model, Property, Report, Verdict};
use doorway_simulator::Variable;
use serde_json::{Value, json};

use crate::{
    check::{agrees, as_json, check_one},
    grow::{few, glance},
    limits::Limits,
    output::{Answer, FAILS, HOLDS, Trouble, UNDECIDED},
    progress::interrupted,
    rmr::measure_one,
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
    /// For k-exclusion that was looked at with k = 1, where to survive k-1 crashes says nothing: whether of three of whom two may be
    /// inside nobody starves if one crashes, with one passage each.
    survives_one_of_three: Option<bool>,
    /// The worst remote references of a passage, with caches and in distributed shared memory. None if nothing is
    /// claimed, as for a part, and if it could not be decided.
    remote: Option<[Bound; 2]>,
    /// How they grow, with caches and in distributed shared memory, if the source claims how.
    grown: Vec<Grown>,
    /// What is left of it on total store order, with its fences and with plain stores. None for a part.
    tso: Option<[Kept; 2]>,
    /// What is left of it on safe registers, if it is claimed to be made for these.
    safe: Option<Kept>,
}

/// What is left, on another memory, of the properties a lock is claimed to have and has without.
enum Kept {
    /// All of them, in so many passages of each process.
    All(Option<u32>),
    /// Not this one.
    Loses(Property),
    /// The algorithm cannot go on: what it reads makes no sense.
    Breaks,
    /// It could not be decided.
    Unknown,
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kept::All(None) => f.write_str("yes"),
            Kept::All(Some(1)) => f.write_str("yes, 1 passage"),
            Kept::All(Some(passages)) => write!(f, "yes, {passages} passages"),
            Kept::Loses(property) => write!(f, "no {property}"),
            Kept::Breaks => f.write_str("breaks"),
            Kept::Unknown => f.write_str("?"),
        }
    }
}

/// With what remote references grow, and how: with caches and in distributed shared memory.
type Grown = (Variable, [String; 2]);

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Trouble> {
    let start = Instant::now();
    let mut rows: Vec<Row> = Vec::new();
    for &about in registry::all().iter().filter(|about| about.is_surveyed()) {
        let size = about.size(None, None)?;
        let mut model = arguments.limits.apply(Model::new(size.n).k(size.k));
        if let Some(passages) = about.survey.passages() {
            model = model.passages(passages);
        }
        let report = check_one(about, size, model.clone())?;
        let (mut crashes, mut remote, mut grown) = (None, None, Vec::new());
        if about.kind != Kind::Part && !interrupted() {
            crashes = survived(about, size, &model, &report)?;
        }
        let mut survives_one_of_three = None;
        if about.kind == Kind::KExclusion && size.k == 1 && !interrupted() {
            survives_one_of_three = survives_one_of(about, Size { n: 3, k: 2 }, &arguments.limits)?;
        }
        if about.local_spin.is_some() && !interrupted() {
            let cached = measure_one(about, size, model.clone(), Cost::Cc(FailedCas::Counts))?;
            let distributed = measure_one(about, size, model.clone(), Cost::Dsm)?;
            let decided = !cached.stopped && !distributed.stopped;
            remote = decided.then(|| [cached.worst(), distributed.worst()]);
            grown = growth(about);
        }
        let mut tso = None;
        if about.kind != Kind::Part && !interrupted() {
            let with_fences = kept(about, size, &model, &report, Model::tso);
            let plain_stores = kept(about, size, &model, &report, Model::tso_without_fences);
            tso = Some([with_fences, plain_stores]);
        }
        let mut safe = None;
        if about.claims.contains(&Claim::SafeRegisters) && !interrupted() {
            safe = Some(kept(about, size, &model, &report, Model::safe_registers));
        }
        rows.push(Row { about, size, report, crashes, survives_one_of_three, remote, grown, tso, safe });
        if interrupted() {
            break;
        }
    }
    let text = if arguments.json {
        let list: Vec<Value> = rows.iter().map(row_as_json).collect();
        format!("{:#}\n", Value::from(list))
    } else {
        let left_out = registry::all().iter().filter(|about| !about.is_surveyed());
        let left_out: Vec<_> = left_out.map(|about| (*about, growth(about))).collect();
        tables::text(&rows, &left_out, start.elapsed().as_secs_f64())
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

/// Whether nobody starves if one crashes, with one passage each; none if it could not be decided.
fn survives_one_of(about: &'static About, size: Size, limits: &Limits) -> Result<Option<bool>, Trouble> {
    const PROPERTY: Property = Property::StarvationFreedom;
    let model = limits.apply(Model::new(size.n).k(size.k)).passages(1).crashes(1).only([PROPERTY]);
    let report = check_one(about, size, model)?;
    Ok(report.holds(PROPERTY).then_some(true).or(report.fails(PROPERTY).then_some(false)))
}

/// What is left of a lock's claims on another memory: of all runs if that does not take too long, else of those with one
/// passage of each process. For exclusion a search ends as soon as it fails, so it comes first.
fn kept(about: &'static About, size: Size, model: &Model, report: &Report, memory: fn(Model) -> Model) -> Kept {
    const MOST_STATES: u64 = 600_000;
    let claimed = Property::OF_LOCKS.into_iter().filter(|&property| about.holds(property));
    let held: Vec<Property> = claimed.filter(|&property| report.holds(property)).collect();
    let exclusion: Vec<Property> = held.iter().copied().filter(|&p| p == Property::Exclusion).collect();
    let whole = about.survey.passages();
    let few = memory(model.clone()).passages(1);
    let searches = [
        (exclusion, memory(model.clone()).max_states(MOST_STATES), whole),
        (held.clone(), memory(model.clone()).max_states(MOST_STATES), whole),
        (held, few, Some(1)),
    ];
    // An algorithm that breaks is an answer here, and not worth a message.
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let found = searches.into_iter().enumerate().find_map(|(i, (properties, model, passages))| {
        if properties.is_empty() {
            return None;
        }
        let Ok(report) = check_one(about, size, model.only(properties.iter().copied())) else {
            return Some(Kept::Breaks);
        };
        let lost = properties.iter().find(|&&property| report.fails(property));
        let all_hold = properties.iter().all(|&property| report.holds(property));
        lost.map(|&property| Kept::Loses(property)).or_else(|| (i > 0 && all_hold).then_some(Kept::All(passages)))
    });
    panic::set_hook(hook);
    found.unwrap_or(Kept::Unknown)
}

/// How remote references grow with what the source says they do, as simulated.
fn growth(about: &'static About) -> Vec<Grown> {
    let Some(claimed) = about.remote else { return Vec::new() };
    let said_to_grow = |&variable: &Variable| match variable {
        Variable::N => true,
        Variable::K => about.kind == Kind::KExclusion && claimed.cc.contains('k'),
        Variable::C => claimed.cc.contains('c'),
    };
    let class = |variable, cost| match glance(about, cost, variable) {
        None => "?".to_string(),
        Some(growth) if growth.unbounded().is_some() => "∞".to_string(),
        Some(_) if let Some(most) = few(about) => format!("bounded, n ≤ {most}"),
        Some(growth) => format!("Θ({})", growth.worst.shape.text(variable)),
    };
    let variables = [Variable::N, Variable::K, Variable::C].into_iter().filter(said_to_grow);
    variables
        .map(|variable| (variable, [Cost::Cc(FailedCas::Counts), Cost::Dsm].map(|cost| class(variable, cost))))
        .collect()
}

impl Row {
    fn is_undecided(&self) -> bool {
        let is_lock = self.about.kind != Kind::Part;
        let unknown = self.report.findings.iter().any(|finding| finding.verdict == Verdict::Unknown);
        let memory = matches!(self.tso, Some([Kept::Unknown, _])) || matches!(self.safe, Some(Kept::Unknown));
        unknown
            || memory
            || (is_lock && self.crashes.is_none())
            || (self.about.local_spin.is_some() && self.remote.is_none())
    }

    fn differs(&self) -> bool {
        let claims = self.about.claims;
        let as_found = self.report.findings.iter().all(|finding| agrees(claims, finding, &self.report) != Some(false));
        let loses = matches!(self.tso, Some([Kept::Loses(_) | Kept::Breaks, _]))
            || matches!(self.safe, Some(Kept::Loses(_) | Kept::Breaks));
        !as_found || loses || self.crashes_differ() || self.remote_differs()
    }

    fn crashes_differ(&self) -> bool {
        self.crashes.is_some_and(|crashes| crashes < self.about.crashes(self.size.k))
            || (self.survives_one_of_three == Some(false) && self.about.crashes(2) > 0)
    }

    fn remote_differs(&self) -> bool {
        let found = self.remote.map(|[cc, dsm]| LocalSpin { cc: cc != Bound::Unbounded, dsm: dsm != Bound::Unbounded });
        found.is_some() && found != self.about.local_spin
    }
}

fn row_as_json(row: &Row) -> Value {
    let mut value = as_json(row.about, row.size, 0, &row.report);
    value["crashes_survived"] = row.crashes.into();
    value["survives_one_of_three"] = row.survives_one_of_three.into();
    value["rmr"] = row.remote.map(|[cc, dsm]| json!({ "cc": cc.number(), "dsm": dsm.number() })).into();
    value["rmr_claimed"] = row.about.remote.map(|claimed| json!({ "cc": claimed.cc, "dsm": claimed.dsm })).into();
    let grown = row.grown.iter().map(|(variable, [cc, dsm])| (variable.to_string(), json!({ "cc": cc, "dsm": dsm })));
    value["rmr_fitted"] = Value::Object(grown.collect());
    value["tso"] = match &row.tso {
        Some([with_fences, plain_stores]) => {
            json!({ "with_fences": with_fences.to_string(), "plain_stores": plain_stores.to_string() })
        }
        None => Value::Null,
    };
    value["safe"] = row.safe.as_ref().map(ToString::to_string).into();
    value["primitives"] = row.report.primitives.clone().into();
    value["table_1"] = table_1::as_json(row);
    value["departures"] = row.about.departures.into();
    value
}
