//! Executions as lanes: one column for each process, one row for each step.
use anstyle::Style;
use doorway_checker::{Execution, Section, Step};

use crate::screen::{BAD, GOOD, HEAD, PLAIN, Screen, WEAK, columns};

/// The columns of the bracket and of the step's number.
const EDGE: usize = 6;

/// An execution of `n` processes as lanes; `None` if they do not fit.
///
/// A lane's edge is thick while its process is a holder. The steps of a cycle have a bracket at their left.
pub(crate) fn text(screen: &Screen, execution: &Execution, n: usize) -> Option<String> {
    let lanes: Vec<Lane> = (0..n).map(|process| Lane::new(execution, process)).collect();
    let width: usize = EDGE + lanes.iter().map(|lane| 3 + lane.width).sum::<usize>();
    if width > screen.width {
        return None;
    }
    let last = execution.steps.len().checked_sub(1)?;
    let heads = lanes.iter().map(|lane| (format!("p{}", lane.process), HEAD));
    let mut holders = vec![false; n];
    let mut text = row(screen, "", "", heads, &lanes, &holders);
    for (i, step) in execution.steps.iter().enumerate() {
        if execution.cycle_at == Some(i) {
            text += &format!("{}\n", screen.paint(HEAD, " ┌ then for ever"));
        }
        let bracket = match execution.cycle_at {
            Some(at) if i >= at && i == last => " └",
            Some(at) if i >= at => " │",
            _ => "",
        };
        let is_inside = matches!(step.sections[1], Section::Critical | Section::ExpiredCritical);
        holders[step.process] = is_inside && step.arrives != Some("returned");
        let cells = lanes.iter().map(|lane| if lane.process == step.process { lane.cell(step) } else { empty() });
        text += &row(screen, bracket, &(i + 1).to_string(), cells, &lanes, &holders);
    }
    Some(text)
}

/// The column of a process.
struct Lane {
    process: usize,
    /// The columns of the lines of the paper, of the accesses, and of all.
    line: usize,
    access: usize,
    width: usize,
}

impl Lane {
    fn new(execution: &Execution, process: usize) -> Lane {
        let steps = || execution.steps.iter().filter(|step| step.process == process);
        let line = steps().map(|step| columns(&step.line)).max().unwrap_or(0);
        let access = steps().map(|step| columns(&step.access)).max().unwrap_or(0);
        let mut lane = Lane { process, line, access, width: 0 };
        let head = columns(&format!("p{process}"));
        lane.width = steps().map(|step| columns(&lane.cell(step).0)).max().unwrap_or(0).max(head);
        lane
    }

    fn cell(&self, Step { line, access, arrives, .. }: &Step) -> (String, Style) {
        let Lane { line: width, access: widest, .. } = *self;
        match arrives {
            Some(arrives) => {
                let style = if *arrives == "inside" { GOOD } else { PLAIN };
                (format!("{line:<width$}  {access:<widest$}  -> {arrives}"), style)
            }
            // A crash or a death is no line of the paper.
            None if line.is_empty() => (format!("{line:<width$}  {access}"), BAD),
            None => (format!("{line:<width$}  {access}"), PLAIN),
        }
    }
}

fn empty() -> (String, Style) {
    (String::new(), PLAIN)
}

fn row(
    screen: &Screen,
    bracket: &str,
    number: &str,
    cells: impl Iterator<Item = (String, Style)>,
    lanes: &[Lane],
    holders: &[bool],
) -> String {
    let right = EDGE - 2;
    let mut text = format!("{}{number:>right$}", screen.paint(HEAD, &format!("{bracket:<2}")));
    for (lane, (cell, style)) in lanes.iter().zip(cells) {
        let edge = if holders[lane.process] { screen.paint(GOOD, "┃") } else { screen.paint(WEAK, "│") };
        let space = " ".repeat(lane.width - columns(&cell));
        text += &format!(" {edge} {}{space}", screen.paint(style, &cell));
    }
    text.trim_end().to_string() + "\n"
}
