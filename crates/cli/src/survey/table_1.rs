//! Table 1 of R. Danek, *The k-Bakery*, PODC 2010, "Known k-exclusion algorithms": as printed, beside what was measured.
use comfy_table::{Table, presets};
use doorway_algorithms::Kind;
use doorway_checker::Property;
use serde_json::{Value, json};

use super::{Kept, Row, tables::exact};

/// A row as it is printed.
pub(super) struct Printed {
    reference: &'static str,
    rmr: &'static str,
    instructions: &'static str,
    /// With fewer than k crashes, as that paper defines it.
    starvation_free: &'static str,
    /// What there is of it here.
    ours: &'static [&'static str],
}

const ATOMIC: &str = "Atomic Read and Write";
const NON_ATOMIC: &str = "Non-Atomic Read and Write";
const STRONG: &str = "Fetch&Add, Test&Set, Compare&Swap";

#[rustfmt::skip]
const ROWS: [Printed; 14] = [
    row("Fischer et al. [12]", "∞", "Atomic Actions", "yes", &["fischer-queue"]),
    row("Fischer et al. [13]", "∞", "Atomic Actions", "yes", &["colored-ticket"]),
    row("Dolev et al. [10]", "∞", NON_ATOMIC, "yes", &["dolev-gafni-shavit"]),
    row("Afek et al. [1]", "∞", ATOMIC, "yes", &["afek"]),
    row("Peterson (CC) [21]", "Θ(N³ - Nk²)", ATOMIC, "no", &["filter-k"]),
    row("Peterson (DSM) [21]", "∞", ATOMIC, "no", &["filter-k"]),
    row("Burns and Peterson [6]", "∞", ATOMIC, "yes", &["burns-peterson"]),
    row("Gottlieb et al. [14]", "∞", "Fetch&Add", "no", &["gottlieb"]),
    row("Anderson and Moir (CC/DSM) [4]", "Θ(k log(N/k))", STRONG, "yes", &["anderson-moir-tree", "anderson-moir-fast", "anderson-moir-dsm-tree"]),
    row("Anderson and Moir (CC/DSM) [4]", "Θ(c)", STRONG, "yes", &["anderson-moir-adaptive", "anderson-moir-dsm-adaptive"]),
    row("Danek and Lee (CC/DSM) [8]", "Θ(k log N)", ATOMIC, "no", &["danek-lee"]),
    row("CC/DSM algorithm (Figure 2 - unshaded portion)", "Θ(N)", ATOMIC, "yes", &["k-bakery"]),
    row("FIFE algorithm (Figure 2)", "Θ(N)", ATOMIC, "yes", &["k-bakery-fife"]),
    row("Non-Atomic FIFE algorithm (Figure 3)", "Θ(N)", NON_ATOMIC, "yes", &["k-bakery-safe"]),
];

const fn row(
    reference: &'static str,
    rmr: &'static str,
    instructions: &'static str,
    starvation_free: &'static str,
    ours: &'static [&'static str],
) -> Printed {
    Printed { reference, rmr, instructions, starvation_free, ours }
}

/// Every row, with each of ours that it is about.
pub(super) fn text(rows: &[Row]) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_header([
        "row",
        "ours",
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
        let ours = printed.ours.iter().filter_map(|name| rows.iter().find(|row| row.about.name == *name));
        ours.for_each(|row| _ = table.add_row(printed.beside(row)));
    }
    table.trim_fmt()
}

/// The rows that are about this one.
pub(super) fn as_json(row: &Row) -> Value {
    let about_it = ROWS.iter().filter(|printed| printed.ours.contains(&row.about.name));
    let entry = |printed: &Printed| {
        json!({
            "row": printed.reference,
            "rmr": printed.rmr,
            "instructions": printed.instructions,
            "starvation_free": printed.starvation_free == "yes",
            "starvation_free_found": starvation_free(row),
        })
    };
    about_it.map(entry).collect()
}

impl Printed {
    /// The row, beside what was measured of one of ours.
    fn beside(&self, row: &Row) -> [String; 10] {
        let Row { about, size, report, remote, grown, safe, .. } = row;
        let k = if about.kind == Kind::KExclusion { format!(", k={}", size.k) } else { String::new() };
        let sized = |bound| format!("{} (n={}{k})", exact(report, bound), size.n);
        let exactly = remote.map_or(["?", "?"].map(String::from), |bounds| bounds.map(sized));
        // `Peterson (CC)` and `Peterson (DSM)` are two rows, about one machine each.
        let is_about = [!self.reference.contains("(DSM)"), !self.reference.contains("(CC)")];
        let measured =
            |machine: usize, text: &dyn Fn() -> String| if is_about[machine] { text() } else { String::new() };
        let fitted = |machine: usize| {
            let mut classes: Vec<&str> = grown.iter().map(|(_, classes)| classes[machine].as_str()).collect();
            classes.dedup();
            classes.join(", ")
        };
        let non_atomic = match safe {
            None => String::new(),
            Some(Kept::All(None)) => ", non-atomic".to_string(),
            Some(kept) => format!(", non-atomic: {kept}"),
        };
        let found = match starvation_free(row) {
            Some(true) if size.k == 1 => "yes, 1 passage",
            Some(true) => "yes",
            Some(false) => "no",
            None => "?",
        };
        [
            self.reference.to_string(),
            about.name.to_string(),
            self.rmr.to_string(),
            measured(0, &|| exactly[0].clone()),
            measured(0, &|| fitted(0)),
            measured(1, &|| exactly[1].clone()),
            measured(1, &|| fitted(1)),
            self.instructions.to_string(),
            format!("{}{non_atomic}", report.primitives.join(", ")),
            format!("{} / {found}", self.starvation_free),
        ]
    }
}

/// Whether nobody starves even if k-1 crash; none if it could not be decided.
fn starvation_free(row: &Row) -> Option<bool> {
    if row.size.k == 1 {
        return row.survives_one_of_three;
    }
    let crashes = row.crashes?;
    Some(row.report.holds(Property::StarvationFreedom) && crashes + 1 >= row.size.k)
}

#[cfg(test)]
mod tests {
    use doorway_algorithms::registry;

    use super::*;

    #[test]
    fn no_row_of_table_1_is_without_one_of_ours() {
        let is_here = |name: &&str| registry::find(name).is_ok_and(|about| about.is_surveyed());
        for printed in &ROWS {
            assert!(printed.ours.iter().all(is_here) && !printed.ours.is_empty(), "{}", printed.reference);
        }
    }

    /// Else there is nothing to be measured beside it.
    #[test]
    fn whatever_table_1_is_about_says_whether_it_spins_locally_and_what_it_costs() {
        let all = ROWS.iter().flat_map(|printed| printed.ours).filter_map(|name| registry::find(name).ok());
        for about in all {
            assert!(about.local_spin.is_some() && about.remote.is_some(), "{}", about.name);
        }
    }
}
