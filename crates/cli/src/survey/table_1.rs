//! Table 1 of Danek's k-Bakery paper, beside what was measured.
use comfy_table::{Table, presets};
use doorway_algorithms::Kind;
use doorway_catalogue::{
    Kept, Row,
    table_1::{Printed, ROWS},
};
use serde_json::{Value, json};

use super::tables::exact;

/// Every row, beside each algorithm that it is about.
pub(super) fn text(rows: &[Row]) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_header([
        "row",
        "algorithm",
        "rmr",
        "exact cc",
        "fitted cc",
        "exact dsm",
        "fitted dsm",
        "instructions",
        "takes",
        "starvation-free",
    ]);
    for printed in &ROWS {
        let measured = printed.algorithms.iter().filter_map(|name| rows.iter().find(|row| row.about.name == *name));
        measured.for_each(|row| _ = table.add_row(beside(printed, row)));
    }
    table.trim_fmt()
}

/// The rows that are about this algorithm.
pub(super) fn as_json(row: &Row) -> Value {
    let about_it = ROWS.iter().filter(|printed| printed.algorithms.contains(&row.about.name));
    let entry = |printed: &Printed| {
        json!({
            "row": printed.reference,
            "rmr": printed.rmr,
            "instructions": printed.instructions,
            "starvation_free": printed.starvation_free == "yes",
            "starvation_free_found": row.is_starvation_free_with_crashes(),
        })
    };
    about_it.map(entry).collect()
}

/// The row, beside what was measured.
fn beside(printed: &Printed, row: &Row) -> [String; 10] {
    let Row { about, size, report, remote, grown, safe, .. } = row;
    let k = if about.kind == Kind::KExclusion { format!(", k={}", size.k) } else { String::new() };
    let sized = |bound| format!("{} (n={}{k})", exact(report, bound), size.n);
    let exactly = remote.map_or(["?", "?"].map(String::from), |bounds| bounds.map(sized));
    // `Peterson (CC)` and `Peterson (DSM)` are two rows, about one machine each.
    let is_about = [!printed.reference.contains("(DSM)"), !printed.reference.contains("(CC)")];
    let measured = |machine: usize, text: &dyn Fn() -> String| if is_about[machine] { text() } else { String::new() };
    let fitted = |machine: usize| {
        let mut classes: Vec<&str> = grown.iter().map(|grown| grown.class[machine].as_str()).collect();
        classes.dedup();
        classes.join(", ")
    };
    let non_atomic = match safe {
        None => String::new(),
        Some(Kept::All(None)) => ", non-atomic".to_string(),
        Some(kept) => format!(", non-atomic: {kept}"),
    };
    let found = match row.is_starvation_free_with_crashes() {
        Some(true) if size.k == 1 => "yes, 1 passage",
        Some(true) => "yes",
        Some(false) => "no",
        None => "?",
    };
    [
        printed.reference.to_string(),
        about.name.to_string(),
        printed.rmr.to_string(),
        measured(0, &|| exactly[0].clone()),
        measured(0, &|| fitted(0)),
        measured(1, &|| exactly[1].clone()),
        measured(1, &|| fitted(1)),
        printed.instructions.to_string(),
        format!("{}{non_atomic}", report.primitives.join(", ")),
        format!("{} / {found}", printed.starvation_free),
    ]
}
