//! `check` and `survey` by name.
use doorway_catalogue::{Agreement, Kind, Row, Surveyor, all, claims, compare, find, subject};
use doorway_checker::{Error, Model};
use pyo3::{prelude::*, types::PyDict};

use super::{options::Options, report::Report, worker};
use crate::errors::Class;

/// An algorithm by its name.
fn about(name: &str) -> PyResult<&'static doorway_catalogue::About> {
    find(name).map_err(|unknown| {
        let near = unknown
            .near()
            .map_or("; `algorithms()` lists them".to_string(), |near| format!("; did you mean `{near}`?"));
        Class::Model.error(format!("{unknown}{near}"))
    })
}

fn model_error(error: &Error) -> PyErr {
    Class::Model.error(error.to_string())
}

/// Every algorithm of the catalogue, as a list of dictionaries.
#[pyfunction]
pub(crate) fn algorithms(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let shown = |about: &&'static doorway_catalogue::About| {
        let row = PyDict::new(py);
        row.set_item("name", about.name)?;
        row.set_item("title", about.title)?;
        row.set_item("source", about.source)?;
        row.set_item("kind", kind(about.kind))?;
        row.set_item("n", about.default_n)?;
        row.set_item("status", about.status().name())?;
        Ok(row)
    };
    all().iter().map(shown).collect()
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Mutex => "mutex",
        Kind::KExclusion => "k-exclusion",
        Kind::Part => "part",
    }
}

/// Checks an algorithm of the catalogue.
#[pyfunction]
pub(crate) fn check(
    py: Python<'_>,
    name: &str,
    n: Option<usize>,
    k: Option<usize>,
    options: Options,
) -> PyResult<Report> {
    let about = about(name)?;
    let size = about.size(n, k).map_err(|error| Class::Model.error(error.to_string()))?;
    let model = options.model(size.n, size.k)?;
    let subject = subject(about, size);
    if (options.deaths || options.expiries) && !subject.is_reapable() {
        return Err(Class::Model.error(format!("`{}` has no recovery (`reap`); check it without deaths", about.name)));
    }
    if options.aborts && !subject.is_abortable() {
        return Err(Class::Model.error(format!("`{}` is not abortable; check it without aborts", about.name)));
    }
    let properties = options.properties(subject.properties(&model))?;
    let model = model.only(properties);
    drop(subject);
    let searched = model.clone();
    let found = worker::run(py, None, move |signals| {
        doorway_catalogue::check(about, size, &worker::watched(searched, &signals))
    })?;
    let report = found.map_err(|error| model_error(&error))?;
    let compared = compare(&claims(about, &model), &report);
    let as_claimed = match compared.overall() {
        _ if compared.properties.is_empty() => None,
        Agreement::Agrees => Some(true),
        Agreement::Differs => Some(false),
        Agreement::Undecided => None,
    };
    Report::new(py, about.name, (size.n, size.k), &report, as_claimed)
}

/// Surveys algorithms: a dictionary for each, which is a row of a table.
#[pyfunction]
#[pyo3(signature = (names=None, max_states=None))]
pub(crate) fn survey<'py>(
    py: Python<'py>,
    names: Option<Vec<String>>,
    max_states: Option<u64>,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let chosen = match names {
        Some(names) => names.iter().map(|name| about(name)).collect::<PyResult<Vec<_>>>()?,
        None => all().iter().copied().filter(|about| about.is_surveyed()).collect(),
    };
    let mut rows = Vec::new();
    for about in chosen {
        let found = worker::run(py, None, move |signals| {
            let watched = signals.clone();
            let shape = move |model: Model| {
                let model = worker::watched(model, &watched);
                max_states.map_or(model.clone(), |states| model.max_states(states))
            };
            let cancelled = std::sync::Arc::new(move || doorway_checker::Observer::cancelled(&*signals));
            Surveyor::new(shape, cancelled).row(about)
        })?;
        rows.push(row_of(py, &found.map_err(|error| model_error(&error))?)?);
    }
    Ok(rows)
}

/// A row, flat, so that it is one of a table.
fn row_of<'py>(py: Python<'py>, row: &Row) -> PyResult<Bound<'py, PyDict>> {
    let Row { about, size, report, .. } = row;
    let cells = PyDict::new(py);
    cells.set_item("algorithm", about.name)?;
    cells.set_item("kind", kind(about.kind))?;
    cells.set_item("source", about.source)?;
    cells.set_item("status", about.status().name())?;
    cells.set_item("n", size.n)?;
    cells.set_item("k", (about.kind != Kind::Part).then_some(size.k))?;
    cells.set_item("states", report.states)?;
    cells.set_item("seconds", report.seconds)?;
    cells.set_item("complete", report.incomplete.is_none())?;
    for finding in &report.findings {
        cells.set_item(finding.property.name(), finding.verdict.name())?;
        if let Some(bypass) = finding.bypass {
            cells.set_item("bypass_bound", bypass.late.number())?;
        }
    }
    cells.set_item("crashes_survived", row.crashes)?;
    let remote = |model: usize| row.remote.map(|_| row.exact(model));
    cells.set_item("rmr_cc", remote(0))?;
    cells.set_item("rmr_dsm", remote(1))?;
    cells.set_item("tso", row.tso.as_ref().map(|tso| tso[0].to_string()))?;
    cells.set_item("tso_without_fences", row.tso.as_ref().map(|tso| tso[1].to_string()))?;
    cells.set_item("safe", row.safe.as_ref().map(ToString::to_string))?;
    cells.set_item("primitives", report.primitives.join(", "))?;
    cells.set_item("as_claimed", if row.is_undecided() { None } else { Some(!row.differs()) })?;
    Ok(cells)
}
