//! Table 1 of Danek's k-Bakery paper, beside what was measured.
use doorway_catalogue::{
    Kept, Row, classes,
    table_1::{Printed, ROWS},
};
use serde_json::{Value, json};

use super::tables::entry;
use crate::screen::Screen;

/// Every row as printed, and below it each algorithm that it is about.
pub(super) fn text(screen: &Screen, rows: &[Row]) -> String {
    let of = |printed: &Printed| {
        let measured = printed.algorithms.iter().filter_map(|name| rows.iter().find(|row| row.about.name == *name));
        let measured: String =
            measured.map(|row| entry(screen, &format!("  {}", row.about.name), &beside(printed, row))).collect();
        let Printed { reference, rmr, instructions, starvation_free, .. } = printed;
        let head = format!("{reference}: {rmr}, {instructions}, starvation-free: {starvation_free}");
        if measured.is_empty() { measured } else { screen.fold(2, &head) + &measured }
    };
    ROWS.iter().map(of).collect()
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

/// What was measured of an algorithm that a row is about.
fn beside(printed: &Printed, row: &Row) -> String {
    // `Peterson (CC)` and `Peterson (DSM)` are two rows, about one machine each.
    let machines = [("cc", 0, "(DSM)"), ("dsm", 1, "(CC)")];
    let machines = machines.into_iter().filter(|(_, _, other)| !printed.reference.contains(other));
    let remote = machines
        .map(|(machine, model, _)| format!("{machine} {} {}", row.exact_with_size(model), classes(&row.grown, model)));
    let non_atomic = match row.safe {
        None => String::new(),
        Some(Kept::All(None)) => ", non-atomic".to_string(),
        Some(kept) => format!(", non-atomic: {kept}"),
    };
    let found = row.starvation_free_text();
    let takes = format!("{}{non_atomic}", row.report.primitives.join(", "));
    let remote: Vec<String> = remote.map(|text| text.trim_end().to_string()).collect();
    format!("{}; {takes}; starvation-free: {found}", remote.join("; "))
}
