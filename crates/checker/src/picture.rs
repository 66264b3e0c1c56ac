//! An execution as a picture: a lane for each process, time downwards, an arrow from a write to the reads that saw it.
use std::fmt::Write;

use crate::{Choice, Execution, Section, Step};

/// The distance of two steps, and of the first one from the top.
const ROW: usize = 24;
const TOP: usize = 72;
/// The width of a character.
const CHARACTER: f64 = 7.3;
/// The space for the numbers of steps and the bracket of a cycle, at the left.
const LEFT: usize = 74;
/// The smallest distance of two lanes.
const LANE: usize = 150;

/// The style of the picture; it stands by itself, on light and on dark pages.
const STYLE: &str = "\
svg{background:#fff;font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#1b1f24}
.title{font:600 15px system-ui,sans-serif}.lane{stroke:#c9ced6;stroke-width:2}.quiet{fill:#6a7280}
.wait{stroke:#d9a400;stroke-width:6}.doorway{stroke:#7aa7e0;stroke-width:6}.inside{stroke:#c62f3b;stroke-width:10}
.exit{stroke:#8fbf8f;stroke-width:6}.reap{stroke:#9b7fc4;stroke-width:6}
.dot{fill:#fff;stroke:#1b1f24;stroke-width:1.5}.write{fill:#1b1f24}.saw{fill:none;stroke:#4b5563;stroke-width:1.1;opacity:.75}
.cycle{fill:none;stroke:#c62f3b;stroke-width:2}.mark{fill:#c62f3b;font-weight:600}
";

/// An execution as an SVG with this title.
///
/// ```
/// use doorway_algorithms::broken::fast_path::FastPath;
/// use doorway_checker::{Model, Property, check};
///
/// let report = check(&Model::new(2), FastPath::new)?;
/// let execution = report.finding(Property::Exclusion).execution.as_ref().unwrap();
/// let svg = doorway_checker::picture("fast-path: exclusion fails", 2, execution);
/// assert!(svg.starts_with("<svg ") && svg.contains("x := 0"));
/// # Ok::<(), doorway_checker::Error>(())
/// ```
#[must_use]
pub fn picture(title: &str, n: usize, execution: &Execution) -> String {
    let lanes = Lanes::of(n, execution);
    let width = lanes.right.max(LEFT + (title.chars().count() as f64 * 8.5) as usize + 20);
    let height = TOP + ROW * execution.steps.len().max(1) + 28;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\" aria-label=\"{}\">\n<style>{STYLE}</style>\n\
         <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
         orient=\"auto-start-reverse\"><path d=\"M0 0L8 4L0 8z\" fill=\"#4b5563\"/></marker></defs>\n\
         <text class=\"title\" x=\"20\" y=\"26\">{}</text>\n",
        escaped(title),
        escaped(title)
    );
    for p in 0..n {
        let x = lanes.x[p];
        let bottom = height - 22;
        let _ = writeln!(
            svg,
            "<text x=\"{x}\" y=\"50\" text-anchor=\"middle\">p{p}</text><line class=\"lane\" x1=\"{x}\" y1=\"58\" \
             x2=\"{x}\" y2=\"{bottom}\"/>"
        );
        sections(&mut svg, x, p, execution, bottom);
    }
    for (i, step) in execution.steps.iter().enumerate() {
        arrow(&mut svg, &lanes, execution, i, step);
    }
    for (i, step) in execution.steps.iter().enumerate() {
        event(&mut svg, &lanes, i, step);
    }
    if let Some(at) = execution.cycle_at {
        let (from, to) = (y(at) - 8, y(execution.steps.len() - 1) + 8);
        let _ = writeln!(
            svg,
            "<path class=\"cycle\" d=\"M24 {to}H12V{from}H24\" marker-end=\"url(#tip)\"/>\
             <text class=\"mark\" x=\"12\" y=\"{}\">then for ever</text>",
            to + 14
        );
    }
    svg += "</svg>\n";
    svg
}

/// Where the lanes are.
struct Lanes {
    x: Vec<usize>,
    right: usize,
}

impl Lanes {
    /// The text of a step stands to the right of its lane, so the next lane is behind the longest one.
    fn of(n: usize, execution: &Execution) -> Lanes {
        let mut x = Vec::new();
        let mut left = LEFT;
        for p in 0..n {
            x.push(left);
            let own = execution.steps.iter().filter(|step| step.process == p);
            let widest = own.map(|step| label(step).chars().count()).max().unwrap_or(0);
            left += (widest as f64 * CHARACTER) as usize + 44;
            left = left.max(x[p] + LANE);
        }
        Lanes { x, right: left }
    }
}

fn y(step: usize) -> usize {
    TOP + ROW * step + ROW / 2
}

fn label(step: &Step) -> String {
    let line = if step.line.is_empty() { String::new() } else { format!("{}  ", step.line) };
    let arrives = step.arrives.map_or(String::new(), |arrives| format!("  → {arrives}"));
    format!("{line}{}{arrives}", step.access)
}

/// Draws in which section a process is, along its lane.
fn sections(svg: &mut String, x: usize, p: usize, execution: &Execution, bottom: usize) {
    let mut section = Section::Remainder;
    let mut since = TOP;
    let own = execution.steps.iter().enumerate().filter(|(_, step)| step.process == p);
    let changes = own.map(|(i, step)| (y(i), step.sections[1]));
    for (until, next) in changes.chain([(bottom, Section::Remainder)]) {
        let class = match section {
            Section::Doorway => Some("doorway"),
            Section::Wait | Section::ExpiredWait => Some("wait"),
            Section::Critical | Section::ExpiredCritical => Some("inside"),
            Section::Exit | Section::Abort => Some("exit"),
            Section::Reap => Some("reap"),
            _ => None,
        };
        if let Some(class) = class
            && since < until
        {
            let _ = writeln!(
                svg,
                "<line class=\"{class}\" x1=\"{x}\" y1=\"{since}\" x2=\"{x}\" y2=\"{until}\"><title>{section}</title></line>"
            );
        }
        (section, since) = (next, until);
    }
}

/// Draws a step.
fn event(svg: &mut String, lanes: &Lanes, i: usize, step: &Step) {
    let (x, y) = (lanes.x[step.process], y(i));
    let dot = if step.writes { "dot write" } else { "dot" };
    let shape = match step.choice {
        Choice::Step(_) | Choice::StepSeeing(..) => format!("<circle class=\"{dot}\" cx=\"{x}\" cy=\"{y}\" r=\"4\"/>"),
        _ => format!("<path class=\"cycle\" d=\"M{} {}l10 10m0 -10l-10 10\"/>", x - 5, y - 5),
    };
    let emphasis = if step.arrives == Some("inside") { " class=\"mark\"" } else { "" };
    let _ = writeln!(
        svg,
        "<text class=\"quiet\" x=\"56\" y=\"{}\" text-anchor=\"end\">{}</text>{shape}<text{emphasis} x=\"{}\" y=\"{}\">{}</text>",
        y + 4,
        i + 1,
        x + 14,
        y + 4,
        escaped(&label(step))
    );
}

/// Draws an arrow from the write to the read that saw it, if another process made it.
fn arrow(svg: &mut String, lanes: &Lanes, execution: &Execution, i: usize, step: &Step) {
    let Some(from) = step.from.filter(|&from| execution.steps[from].process != step.process) else { return };
    let (x1, y1) = (lanes.x[execution.steps[from].process], y(from));
    let (x2, y2) = (lanes.x[step.process], y(i));
    // Beside the lane of the write, then between two rows, so that it crosses no text.
    let _ = writeln!(
        svg,
        "<path class=\"saw\" d=\"M{x1} {y1}H{}V{}H{x2}V{}\" marker-end=\"url(#tip)\"/>",
        x1 - 12,
        y2 - ROW / 2,
        y2 - 5
    );
}

/// Text inside an element or an attribute.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
