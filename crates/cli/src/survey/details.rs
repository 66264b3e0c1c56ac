//! `doorway survey NAME`: everything that a survey finds about an algorithm, as labelled lines.
use anstyle::Style;
use doorway_algorithms::{Claimed, Kind, Status};
use doorway_catalogue::{Agreement, Kept, Row, classes, table_1};
use doorway_checker::{Bound, Finding, Property, Verdict};

use super::overview::claim;
use crate::{
    lookup::title,
    rmr::show,
    screen::{BAD, GOOD, HEAD, OPEN, PLAIN, Screen, WEAK},
};

/// The columns of a label, and of what is claimed.
const LABEL: usize = 26;
const CLAIM: usize = 18;

/// Everything about an algorithm.
pub(super) fn text(screen: &Screen, row: &Row) -> String {
    let lines = Lines { screen, row };
    let parts = [lines.head(), lines.table(), lines.tail()];
    parts.concat()
}

struct Lines<'a> {
    screen: &'a Screen,
    row: &'a Row,
}

impl Lines<'_> {
    fn head(&self) -> String {
        let Row { about, size, report, .. } = self.row;
        let status = match about.status() {
            Status::Correct => ("correct".to_string(), GOOD),
            Status::Broken(why) => (format!("broken: {why}"), BAD),
        };
        let extent = match &report.incomplete {
            None => "every execution".to_string(),
            Some(why) => format!("not every execution: {why}"),
        };
        let checked = format!("{}, {} states in {:.2} s; {extent}", title(about, *size), report.states, report.seconds);
        let name = self.screen.paint(HEAD, about.name);
        let title = self.screen.fold(2, &format!("{}: {}", about.name, about.title)).replacen(about.name, &name, 1);
        let parts = [
            title,
            self.line("source", about.source, PLAIN),
            self.line("status", &status.0, status.1),
            self.line("checked", &checked, PLAIN),
            self.line("primitives observed", &report.primitives.join(", "), PLAIN),
        ];
        parts.concat()
    }

    /// What is claimed beside what was found.
    fn table(&self) -> String {
        let Row { about, report, .. } = self.row;
        let head = format!("  {:<LABEL$}{:<CLAIM$}found", "", "claimed");
        let mut text = format!("\n{}\n", self.screen.paint(HEAD, &head));
        for finding in &report.findings {
            text += &self.property(finding);
        }
        if about.kind != Kind::Part {
            text += &self.crashes();
            text += &self.remote("RMRs, cc", 0);
            text += &self.remote("RMRs, dsm", 1);
            let [fenced, plain] = match &self.row.tso {
                Some(kept) => kept.each_ref().map(Some),
                None => [None, None],
            };
            text += &self.kept("with store buffers", "yes", fenced);
            text += &self.kept("  without fences", "-", plain);
        }
        if let Some(kept) = &self.row.safe {
            text += &self.kept("on safe registers", "yes", Some(kept));
        }
        text
    }

    fn tail(&self) -> String {
        let about = self.row.about;
        let mut text = String::new();
        for printed in table_1::ROWS.iter().filter(|printed| printed.algorithms.contains(&about.name)) {
            let table_1::Printed { reference, rmr, instructions, starvation_free, .. } = printed;
            let found = match self.row.is_starvation_free_with_crashes() {
                Some(true) => "yes",
                Some(false) => "no",
                None => "?",
            };
            let printed = format!(
                "{reference}: {rmr} RMRs, {instructions}; starvation-free with k-1 crashes: {starvation_free}, found: \
                 {found}"
            );
            text += &self.line("Table 1 of Danek 2010", &printed, PLAIN);
        }
        text += &self.line("departures", about.departures, PLAIN);
        text += &self.line("remark", about.remark, PLAIN);
        if text.is_empty() { text } else { format!("\n{text}") }
    }

    /// A label and a text that is folded beside it; nothing if the text is empty.
    fn line(&self, label: &str, text: &str, style: Style) -> String {
        if text.is_empty() {
            return String::new();
        }
        let indent = 2 + LABEL;
        let folded = self.screen.fold(indent, text);
        format!("  {label:<LABEL$}{}\n", self.screen.paint(style, folded.trim_end()))
    }

    fn beside(&self, label: &str, claimed: &str, found: &str, style: Style) -> String {
        let indent = 2 + LABEL + CLAIM;
        let folded = self.screen.fold(indent, found);
        format!("  {label:<LABEL$}{claimed:<CLAIM$}{}\n", self.screen.paint(style, folded.trim_end()))
    }

    fn property(&self, finding: &Finding) -> String {
        let Row { about, compared, .. } = self.row;
        let bound = |bound: Option<u32>| show(bound.map_or(Bound::Unbounded, Bound::AtMost));
        let claim = claim(about, finding.property);
        let claimed = claim.map_or("-".to_string(), |claim| match claim.claimed {
            Claimed::Holds => "holds".to_string(),
            Claimed::Lacks | Claimed::Fails => claim.claimed.name().to_string(),
            Claimed::Bypass(most) => bound(most),
            Claimed::Entries(most) => format!("{} in all", bound(most)),
        });
        let (mut found, mut style) = match (finding.bypass, finding.verdict) {
            (Some(bypass), _) if bypass.late == Bound::Unbounded => (show(bypass.late), PLAIN),
            (Some(bypass), _) => (format!("{}, {} in all", show(bypass.late), show(bypass.in_all)), PLAIN),
            (None, Verdict::Holds) => ("✓ holds".to_string(), GOOD),
            (None, Verdict::Unknown) => ("? not decided".to_string(), OPEN),
            (None, Verdict::Fails) if finding.property == Property::StarvationFreedom => {
                let processes: Vec<String> = finding.processes.iter().map(ToString::to_string).collect();
                (format!("✗ fails, for process {}", processes.join(", ")), PLAIN)
            }
            (None, Verdict::Fails) => ("✗ fails".to_string(), PLAIN),
        };
        if claim.is_some_and(|claim| claim.claimed == Claimed::Fails) && finding.verdict == Verdict::Fails {
            style = BAD;
        }
        match compared.of(finding.property) {
            Some(Agreement::Differs) => (found, style) = (format!("{found}, NOT as claimed"), BAD),
            Some(Agreement::Undecided) if finding.verdict != Verdict::Unknown => {
                (found, style) = (format!("{found} so far; not decided"), OPEN);
            }
            _ => {}
        }
        self.beside(finding.property.name(), &claimed, &found, style)
    }

    fn crashes(&self) -> String {
        let Row { about, size, crashes, survives_one_of_three, .. } = self.row;
        let claimed = match about.crashes(size.k) {
            0 => "-".to_string(),
            some => some.to_string(),
        };
        let of_three = match survives_one_of_three {
            Some(true) => "; with n=3 k=2, 1 passage each: 1",
            Some(false) => "; with n=3 k=2, 1 passage each: 0",
            None => "",
        };
        let found = crashes.map_or("? not decided".to_string(), |crashes| crashes.to_string()) + of_three;
        match () {
            () if self.row.crashes_differ() => {
                self.beside("crashes survived", &claimed, &format!("{found}, NOT as claimed"), BAD)
            }
            () if crashes.is_none() => self.beside("crashes survived", &claimed, &found, OPEN),
            () => self.beside("crashes survived", &claimed, &found, PLAIN),
        }
    }

    /// Remote memory references: the class that is claimed, the worst case at this size, and the class that was fitted.
    fn remote(&self, label: &str, model: usize) -> String {
        let Row { about, remote, grown, .. } = self.row;
        let Some(spin) = about.local_spin else { return self.beside(label, "-", "-", WEAK) };
        let claimed = about.remote.map(|claimed| [claimed.cc, claimed.dsm][model]);
        let claimed = claimed.unwrap_or(if [spin.cc, spin.dsm][model] { "bounded" } else { "∞" });
        let Some(bounds) = remote else { return self.beside(label, claimed, "? not decided", OPEN) };
        let fitted = classes(grown, model);
        let grows = if fitted.is_empty() { fitted } else { format!("; simulated: {fitted}") };
        let found = format!("{}{grows}", self.row.exact(model));
        let is_as_claimed = (bounds[model] != Bound::Unbounded) == [spin.cc, spin.dsm][model];
        if is_as_claimed {
            self.beside(label, claimed, &found, PLAIN)
        } else {
            self.beside(label, claimed, &format!("{found}, NOT as claimed"), BAD)
        }
    }

    /// Whether the lock keeps on another memory what it is claimed to have.
    fn kept(&self, label: &str, claimed: &str, kept: Option<&Kept>) -> String {
        let (mark, style) = match kept {
            None | Some(Kept::Unknown) => return self.beside(label, claimed, "? not decided", OPEN),
            Some(Kept::All(_)) => ("✓ ", GOOD),
            Some(_) if claimed == "-" => ("✗ ", PLAIN),
            Some(_) => ("✗ NOT as claimed: ", BAD),
        };
        let found = kept.map(ToString::to_string).unwrap_or_default();
        self.beside(label, claimed, &format!("{mark}{found}"), style)
    }
}
