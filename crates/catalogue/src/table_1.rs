//! Table 1 of R. Danek, *The k-Bakery*, PODC 2010, "Known k-exclusion algorithms", as printed.

/// A row as it is printed, and the algorithms that it is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Printed {
    /// The first column.
    pub reference: &'static str,
    /// The remote memory references.
    pub rmr: &'static str,
    /// The instructions.
    pub instructions: &'static str,
    /// Whether it is starvation-free with fewer than k crashes, as that paper defines it: `yes` or `no`.
    pub starvation_free: &'static str,
    /// The algorithms of the catalogue that the row is about.
    pub algorithms: &'static [&'static str],
}

const ATOMIC: &str = "Atomic Read and Write";
const NON_ATOMIC: &str = "Non-Atomic Read and Write";
const STRONG: &str = "Fetch&Add, Test&Set, Compare&Swap";

/// The rows, in order.
///
/// ```
/// use doorway_catalogue::table_1::ROWS;
/// assert_eq!(ROWS[11].algorithms, ["k-bakery"]);
/// ```
#[rustfmt::skip]
pub const ROWS: [Printed; 14] = [
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
    algorithms: &'static [&'static str],
) -> Printed {
    Printed { reference, rmr, instructions, starvation_free, algorithms }
}
