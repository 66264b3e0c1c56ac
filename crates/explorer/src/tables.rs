//! The tables of the papers, as data: what is printed beside what was found.
use doorway_catalogue::{Row, classes, table_1};
use serde_json::{Value, json};

/// The tables about these algorithms.
pub(crate) fn of(rows: &[Row]) -> Vec<Value> {
    [growth(rows), danek(rows)].into_iter().filter(|table| table["rows"] != json!([])).collect()
}

/// How remote memory references grow: claimed, exact for a small size, fitted.
fn growth(rows: &[Row]) -> Value {
    let found = rows.iter().filter_map(|row| {
        let claimed = row.about.remote?;
        Some(json!([
            row.about.name,
            row.about.source,
            row.report.primitives.join(", "),
            claimed.cc,
            row.exact_with_size(0),
            classes(&row.grown, 0),
            claimed.dsm,
            row.exact_with_size(1),
            classes(&row.grown, 1),
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
            let [cc, dsm] = [classes(&row.grown, 0), classes(&row.grown, 1)];
            json!([
                printed.reference,
                row.about.name,
                printed.rmr,
                cc,
                dsm,
                printed.instructions,
                row.report.primitives.join(", "),
                printed.starvation_free,
                row.starvation_free_text(),
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
