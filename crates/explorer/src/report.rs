//! The report: the page and its data in one file.
use std::io::Write;

use base64::{Engine, engine::general_purpose::STANDARD};
use doorway_algorithms::{About, registry};
use doorway_catalogue::Row;
use flate2::{Compression, write::GzEncoder};
use serde_json::{Value, json};

use crate::{
    Scenario,
    algorithm::{add_executions, algorithm, counterexamples, curves, curves_of_row, of_row},
    graph, page, puzzles, tables,
};

/// The largest graph that a report contains: it takes some 300 KB. If the graph of all executions is larger, that of
/// executions with one passage of each process may not be.
const MAX_STATES: usize = 20_000;

/// The page with everything in one file: the catalogue, what was found, executions, small graphs, curves, puzzles.
///
/// ```
/// use doorway_catalogue::{Surveyor, find};
/// use doorway_explorer::Report;
///
/// let mut report = Report::default();
/// report.add(Surveyor::default().row(find("lock-one")?)?)?;
/// let html = report.html();
/// assert!(html.starts_with("<!doctype html>") && html.contains("graph-lock-one"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct Report {
    rows: Vec<Row>,
    algorithms: Vec<Value>,
    /// By algorithm: its graph, compressed.
    graphs: Vec<(&'static str, String)>,
    puzzles: Vec<Value>,
    bench: Value,
}

impl Report {
    /// Adds an algorithm and what a survey found.
    ///
    /// See the [type's example](Report).
    ///
    /// # Errors
    /// If the algorithm breaks a rule of the interface.
    pub fn add(&mut self, row: Row) -> Result<(), String> {
        let mut value = surveyed(&row);
        value["counterexamples"] = counterexamples(row.about)?.into();
        add_executions(&mut value["counterexamples"])?;
        let surveyed = Scenario::surveyed(row.about);
        let graph = match graph(&surveyed, MAX_STATES)? {
            None => graph(&Scenario { passages: Some(1), ..surveyed }, MAX_STATES)?,
            some => some,
        };
        let model = graph.as_ref().map_or(Value::Null, |graph| graph["model"].clone());
        if model != surveyed.as_json() {
            add_executions(&mut value["found"]["properties"])?;
        }
        value["graph"] = graph.is_some().into();
        value["graph_model"] = model;
        if let Some(graph) = graph {
            self.puzzles
                .extend(puzzles::of(row.about).into_iter().filter_map(|puzzle| puzzles::within(puzzle, &graph)));
            self.graphs.push((row.about.name, packed(&graph)));
        }
        self.algorithms.push(value);
        self.rows.push(row);
        Ok(())
    }

    /// Adds an algorithm that the survey leaves out.
    ///
    /// ```
    /// let mut report = doorway_explorer::Report::default();
    /// report.add_unchecked(doorway_catalogue::find("mcs").unwrap());
    /// assert!(report.as_json()["algorithms"][0]["found"].is_null());
    /// ```
    pub fn add_unchecked(&mut self, about: &'static About) {
        let mut value = algorithm(about);
        value["curves"] = curves(about).into();
        self.algorithms.push(value);
    }

    /// Adds what `doorway bench --json` printed.
    ///
    /// ```
    /// let mut report = doorway_explorer::Report::default();
    /// report.set_bench(serde_json::json!([]));
    /// assert!(report.as_json()["bench"].is_array());
    /// ```
    pub fn set_bench(&mut self, bench: Value) {
        self.bench = bench;
    }

    /// The data without the graphs.
    ///
    /// See the [example of `set_bench`](Report::set_bench).
    #[must_use]
    pub fn as_json(&self) -> Value {
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "mode": "report",
            "algorithms": self.algorithms,
            "tables": tables::of(&self.rows),
            "puzzles": self.puzzles,
            "bench": self.bench,
        })
    }

    /// The page.
    ///
    /// See the [type's example](Report).
    #[must_use]
    pub fn html(&self) -> String {
        // In JSON a `<` is only inside of strings, and can be written so that it begins no element.
        let data = self.as_json().to_string().replace('<', "\\u003c");
        let mut elements = format!("<script type=\"application/json\" id=\"report\">{data}</script>\n");
        for (name, graph) in &self.graphs {
            elements += &format!("<script type=\"text/plain\" id=\"graph-{name}\">{graph}</script>\n");
        }
        page::alone(&elements)
    }
}

/// An algorithm, what a survey found, and its curves: what a report has about it, but for the graph.
///
/// ```
/// use doorway_catalogue::{Surveyor, find};
///
/// let value = doorway_explorer::surveyed(&Surveyor::default().row(find("lock-one")?)?);
/// assert_eq!(value["found"]["states"], 8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn surveyed(row: &Row) -> Value {
    let mut value = algorithm(row.about);
    value["found"] = of_row(row);
    value["curves"] = curves_of_row(row).into();
    value
}

/// What the page knows of all algorithms before it asks for more.
pub(crate) fn unsurveyed() -> Value {
    let algorithms: Vec<Value> = registry::all().iter().map(|about| algorithm(about)).collect();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "mode": "explore",
        "algorithms": algorithms,
        "tables": [],
        "puzzles": registry::all().iter().flat_map(|about| puzzles::of(about)).collect::<Vec<_>>(),
        "bench": null,
    })
}

/// Compressed JSON, as text.
fn packed(value: &Value) -> String {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(value.to_string().as_bytes()).expect("writing to memory does not fail");
    STANDARD.encode(encoder.finish().expect("writing to memory does not fail"))
}
