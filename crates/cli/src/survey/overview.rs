//! The overview of a survey: one line for each algorithm, in as many columns as fit.
use anstyle::Style;
use doorway_algorithms::{About, Claim, Claimed, Kind, Status};
use doorway_catalogue::{Agreement, Kept, Row, classes};
use doorway_checker::{Bound, Property, Verdict};

use crate::{
    rmr::show,
    screen::{BAD, GOOD, HEAD, OPEN, PLAIN, Screen, WEAK, columns, cut},
};

/// A column of the overview.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    N,
    K,
    Of(Property),
    Crashes,
    /// Remote memory references in the CC or the DSM model.
    Remote(usize),
    /// How they grow.
    Grown(usize),
    Tso,
    States,
    Source,
}

use Column::{Crashes, Grown, K, N, Of, Remote, Source, States, Tso};

/// The columns in the order in which they are printed, each with its rank: a column is printed if it fits together with
/// all columns of lower rank.
const COLUMNS: [(Column, u8); 22] = [
    (N, 0),
    (K, 1),
    (Of(Property::Exclusion), 0),
    (Of(Property::DeadlockFreedom), 0),
    (Of(Property::StarvationFreedom), 0),
    (Of(Property::Fcfs), 0),
    (Of(Property::KFcfs), 7),
    (Of(Property::Fife), 6),
    (Of(Property::Bypass), 2),
    (Of(Property::BoundedExit), 4),
    (Of(Property::WaitFreeDoorway), 5),
    (Of(Property::Assignment), 10),
    (Of(Property::Rule), 0),
    (Of(Property::WaitFree), 0),
    (Crashes, 8),
    (Remote(0), 3),
    (Remote(1), 3),
    (Tso, 9),
    (States, 1),
    (Source, 11),
    (Grown(0), 12),
    (Grown(1), 13),
];

/// The columns of a name, if the whole table is 100 columns wide; and if there is room for the longest one.
const NAME: usize = 26;
const LONGEST_NAME: usize = 30;

/// A group of algorithms under a heading of their own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Section {
    kind: Kind,
    is_broken: bool,
}

impl Section {
    pub(super) fn of(about: &About) -> Section {
        let is_broken = about.status() != Status::Correct;
        // Broken locks share a section; a part has other columns than a lock.
        let kind = if is_broken && about.kind == Kind::KExclusion { Kind::Mutex } else { about.kind };
        Section { kind, is_broken }
    }

    pub(super) fn title(self) -> &'static str {
        match (self.is_broken, self.kind) {
            (false, Kind::Mutex) => "Mutual exclusion",
            (false, Kind::KExclusion) => "k-exclusion",
            (false, Kind::Part) => "Parts",
            (true, Kind::Part) => "Broken parts",
            (true, _) => "Broken locks",
        }
    }
}

/// The layout of the overview on a screen.
pub(super) struct Overview {
    screen: Screen,
    name: usize,
}

impl Overview {
    pub(super) fn new(screen: Screen) -> Overview {
        let spare = screen.width.saturating_sub(100);
        Overview { screen, name: NAME + spare.min(LONGEST_NAME - NAME) }
    }

    /// The columns of a section with their widths. The source takes the room that is left.
    fn columns(&self, section: Section) -> Vec<(Column, usize)> {
        let applies = |column: Column| match column {
            N | States | Source => true,
            // With k > 1 no lock is first-come-first-served; and only such a lock has names for holders.
            Of(Property::Fcfs) if section.kind == Kind::KExclusion => false,
            Of(Property::Assignment) if section.kind == Kind::Mutex && !section.is_broken => false,
            Of(property) => (section.kind == Kind::Part) == Property::OF_PARTS.contains(&property),
            _ => section.kind != Kind::Part,
        };
        let width = |(column, _): &(Column, u8)| 1 + column.width();
        let mut fitting: Vec<(Column, u8)> = COLUMNS.into_iter().filter(|&(column, _)| applies(column)).collect();
        while self.name + fitting.iter().map(width).sum::<usize>() > self.screen.width {
            // Columns of rank 0 stay: then lines are wider than the screen.
            let Some(last) = fitting.iter().map(|&(_, rank)| rank).max().filter(|&rank| rank > 0) else { break };
            fitting.retain(|&(_, rank)| rank < last);
        }
        let spare = self.screen.width.saturating_sub(self.name + fitting.iter().map(width).sum::<usize>());
        let grows = |column: Column| if column == Source { column.width() + spare.min(20) } else { column.width() };
        fitting.into_iter().map(|(column, _)| (column, grows(column))).collect()
    }

    /// The headings of a section.
    pub(super) fn head(&self, section: Section) -> String {
        let cells = self.columns(section).into_iter().map(|(column, width)| (column, width, column.heading().into()));
        let line = self.line(section.title(), cells.map(|(column, width, text)| (column, width, text, PLAIN)));
        format!("{}\n", self.screen.paint(HEAD, line.trim_end()))
    }

    /// The line of an algorithm.
    pub(super) fn row(&self, row: &Row) -> String {
        let cells = self.columns(Section::of(row.about)).into_iter().map(|(column, width)| {
            let (text, style) = column.cell(row, width);
            (column, width, text, style)
        });
        self.line(row.about.name, cells).trim_end().to_string() + "\n"
    }

    fn line(&self, name: &str, cells: impl Iterator<Item = (Column, usize, String, Style)>) -> String {
        let width = self.name;
        cells.fold(format!("{:<width$}", cut(name, width)), |line, (column, width, text, style)| {
            let text = cut(&text, width);
            let space = " ".repeat(width - columns(&text));
            let text = self.screen.paint(style, &text);
            if column.is_number() { format!("{line} {space}{text}") } else { format!("{line} {text}{space}") }
        })
    }
}

impl Column {
    fn heading(self) -> &'static str {
        match self {
            N => "n",
            K => "k",
            Of(Property::Exclusion) => "excl",
            Of(Property::DeadlockFreedom) => "dead",
            Of(Property::StarvationFreedom) => "starv",
            Of(Property::Fcfs) => "fcfs",
            Of(Property::KFcfs) => "kfcfs",
            Of(Property::Fife) => "fife",
            Of(Property::Bypass) => "byp",
            Of(Property::BoundedExit) => "exit",
            Of(Property::WaitFreeDoorway) => "door",
            Of(Property::Assignment) => "name",
            Of(property) => property.name(),
            Crashes => "crash",
            Remote(0) => "cc",
            Remote(_) => "dsm",
            Grown(0) => "cc grows",
            Grown(_) => "dsm grows",
            Tso => "tso",
            States => "size",
            Source => "source",
        }
    }

    fn width(self) -> usize {
        match self {
            Remote(_) => 3,
            Grown(_) => 12,
            States => 5,
            Source => 27,
            _ => self.heading().len(),
        }
    }

    /// Whether its cells are aligned to the right.
    fn is_number(self) -> bool {
        matches!(self, N | K | Remote(_) | States)
    }

    /// What it says about an algorithm.
    fn cell(self, row: &Row, width: usize) -> (String, Style) {
        match self {
            N => (row.size.n.to_string(), PLAIN),
            K => (row.size.k.to_string(), PLAIN),
            Of(property) => of_property(row, property, width),
            Crashes => crashes(row, width),
            Remote(model) => remote(row, model),
            Grown(model) => (classes(&row.grown, model), PLAIN),
            Tso => tso(row, width),
            States => {
                let limited = if row.about.survey.passages().is_some() { "*" } else { "" };
                (short(row.report.states) + limited, WEAK)
            }
            Source => (row.about.source.to_string(), WEAK),
        }
    }
}

/// A property: what was found, and beside it what is claimed, if that is something else.
fn of_property(row: &Row, property: Property, width: usize) -> (String, Style) {
    let Some(finding) = row.report.findings.iter().find(|finding| finding.property == property) else {
        return (String::new(), PLAIN); // a lock without names
    };
    let agreement = row.compared.of(property);
    let found = match (finding.bypass, finding.verdict, agreement) {
        (Some(bypass), ..) => show(bypass.late),
        (None, Verdict::Holds, None) => "+".to_string(),
        (None, Verdict::Fails, None) => "-".to_string(),
        (None, Verdict::Holds, _) => "✓".to_string(),
        (None, Verdict::Fails, _) => "✗".to_string(),
        (None, Verdict::Unknown, _) => "?".to_string(),
    };
    let claim = claim(row.about, property);
    match (agreement, claim) {
        (Some(Agreement::Differs), Some(claim)) => {
            let in_all = finding.bypass.filter(|_| matches!(claim.claimed, Claimed::Entries(_)));
            let found = in_all.map_or(found, |bypass| show(bypass.in_all));
            (against(&found, Some(&claimed(claim)), width), BAD)
        }
        _ if finding.verdict == Verdict::Unknown => ("?".to_string(), OPEN),
        // Seen so far, but it may be more.
        (Some(Agreement::Undecided), _) => (format!("{found}?"), OPEN),
        (Some(Agreement::Differs), None) => (against(&found, None, width), BAD),
        (None, _) => (found, WEAK),
        // The defect of a broken algorithm.
        (Some(Agreement::Agrees), Some(claim)) if claim.claimed == Claimed::Fails => (found, BAD),
        (Some(Agreement::Agrees), _) if finding.verdict == Verdict::Holds => (found, GOOD),
        (Some(Agreement::Agrees), _) => (found, PLAIN),
    }
}

/// What is claimed of a property without conditions.
pub(super) fn claim(about: &About, property: Property) -> Option<&'static Claim> {
    about.claims.iter().find(|claim| claim.property == property && claim.under.is_empty())
}

/// A claim as its cell would show it.
fn claimed(claim: &Claim) -> String {
    match claim.claimed {
        Claimed::Holds => "✓".to_string(),
        Claimed::Lacks | Claimed::Fails => "✗".to_string(),
        Claimed::Bypass(bound) | Claimed::Entries(bound) => show(bound.map_or(Bound::Unbounded, Bound::AtMost)),
    }
}

/// What was found, and that it is not what was claimed; the claim if it fits.
fn against(found: &str, claimed: Option<&str>, width: usize) -> String {
    let both = format!("{found}≠{}", claimed.unwrap_or_default());
    if columns(&both) <= width { both } else { format!("{found}≠") }
}

fn crashes(row: &Row, width: usize) -> (String, Style) {
    match row.crashes {
        None => ("?".to_string(), OPEN),
        Some(found) if row.crashes_differ() => {
            // With k = 1 the difference was found with k = 2; the details say so.
            let claimed = row.about.crashes(row.size.k.max(2)).to_string();
            (against(&found.to_string(), Some(&claimed), width), BAD)
        }
        Some(0) => ("0".to_string(), WEAK),
        Some(found) => (found.to_string(), GOOD),
    }
}

fn remote(row: &Row, model: usize) -> (String, Style) {
    let Some(claimed) = row.about.local_spin else { return ("·".to_string(), WEAK) };
    let Some(bounds) = row.remote else { return ("?".to_string(), OPEN) };
    let (is_bounded, is_claimed) = (bounds[model] != Bound::Unbounded, [claimed.cc, claimed.dsm][model]);
    let found = row.exact(model);
    match (is_bounded, is_claimed) {
        (true, true) => (found, PLAIN),
        (false, false) => (found, WEAK),
        _ => (against(&found, None, columns(&found) + 1), BAD),
    }
}

fn tso(row: &Row, width: usize) -> (String, Style) {
    match row.tso.as_ref().map(|[with_fences, _]| with_fences) {
        None | Some(Kept::Unknown) => ("?".to_string(), OPEN),
        Some(Kept::All(None)) => ("✓".to_string(), GOOD),
        Some(Kept::All(Some(passages))) => (format!("✓{passages}"), GOOD),
        Some(Kept::Loses(_) | Kept::Breaks) => (against("✗", Some("✓"), width), BAD),
    }
}

/// A number in at most four columns.
fn short(number: u64) -> String {
    match number {
        0..10_000 => number.to_string(),
        10_000..1_000_000 => format!("{}k", number / 1_000),
        1_000_000..10_000_000 => format!("{}.{}M", number / 1_000_000, number / 100_000 % 10),
        10_000_000..1_000_000_000 => format!("{}M", number / 1_000_000),
        _ => format!("{}G", number / 1_000_000_000),
    }
}

/// What marks and headings mean.
pub(super) fn legend(screen: &Screen) -> String {
    let lines = [
        "✓ holds, ✗ fails, as claimed; + -: nothing claimed; ✗≠✓: found, not as claimed; ?: undecided.",
        "dead, starv: no deadlock, starvation; byp: overtakings of a waiter; exit, door: bounded; name: k-assignment; \
         crash: survived; cc, dsm: worst-case RMRs; tso: claims kept with store buffers (✓1: 1 passage); size: states (*: few passages).",
    ];
    lines.map(|line| screen.paint(WEAK, &screen.fold(0, line))).concat()
}
