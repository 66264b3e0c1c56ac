//! The tables of the papers, as data: what is printed beside what was found.
use doorway_algorithms::Kind;
use doorway_catalogue::{Row, table_1};
use doorway_checker::Bound;
use serde_json::{Value, json};

/// The tables about these algorithms.
pub(crate) fn of(rows: &[Row]) -> Vec<Value> {
    [growth(rows), danek(rows)].into_iter().filter(|table| table["rows"] != json!([])).collect()
}

/// How remote memory references grow: claimed, exact for a small size, fitted.
fn growth(rows: &[Row]) -> Value {
    let found = rows.iter().filter_map(|row| {
        let claimed = row.about.remote?;
        let [exact_cc, exact_dsm] = exact(row);
        Some(json!([
            row.about.name,
            row.about.source,
            row.report.primitives.join(", "),
            claimed.cc,
            exact_cc,
            fitted(row, 0),
            claimed.dsm,
            exact_dsm,
            fitted(row, 1),
        ]))
    });
    json!({
        "title": "Remote memory references of a passage",
        "columns": [
            "algorithm", "source", "takes", "claimed, CC", "exact, CC", "fitted, CC", "claimed, DSM", "exact, DSM", "fitted, DSM",
        ],
        "rows": found.collect::<Vec<_>>(),
        "notes": ["Exact: the worst case over all executions of a small size. Fitted: in simulated executions of up to 64 processes."],
    })
}

/// Table 1 of the k-Bakery paper.
fn danek(rows: &[Row]) -> Value {
    let measured = table_1::ROWS.iter().flat_map(|printed| {
        let about_it = printed.algorithms.iter().filter_map(|name| rows.iter().find(|row| row.about.name == *name));
        about_it.map(|row| {
            let starvation_free = match row.is_starvation_free_with_crashes() {
                Some(true) => "yes",
                Some(false) => "no",
                None => "?",
            };
            let [cc, dsm] = [fitted(row, 0), fitted(row, 1)];
            json!([
                printed.reference,
                row.about.name,
                printed.rmr,
                cc,
                dsm,
                printed.instructions,
                row.report.primitives.join(", "),
                printed.starvation_free,
                starvation_free,
            ])
        })
    });
    json!({
        "title": "Known k-exclusion algorithms: Table 1 of Danek's k-Bakery paper, as printed and as measured",
        "columns": [
            "as printed", "algorithm", "RMR", "fitted, CC", "fitted, DSM", "instructions", "takes", "starvation-free",
            "found",
        ],
        "rows": measured.collect::<Vec<_>>(),
        "notes": ["Starvation-free with fewer than k crashes, as that paper defines it."],
    })
}

/// The worst cases for the size of the survey.
fn exact(row: &Row) -> [String; 2] {
    let k = if row.about.kind == Kind::KExclusion { format!(", k = {}", row.size.k) } else { String::new() };
    let sized = |bound: Bound| match bound {
        Bound::Unbounded => "∞".to_string(),
        Bound::AtMost(number) if row.report.incomplete.is_some() => format!("≥ {number} (n = {}{k})", row.size.n),
        Bound::AtMost(number) => format!("{number} (n = {}{k})", row.size.n),
    };
    row.remote.map_or(["?", "?"].map(String::from), |bounds| bounds.map(sized))
}

/// The classes that were fitted in one cost model.
fn fitted(row: &Row, model: usize) -> String {
    let mut classes: Vec<&str> = row.grown.iter().map(|grown| grown.class[model].as_str()).collect();
    classes.dedup();
    classes.join(", ")
}
