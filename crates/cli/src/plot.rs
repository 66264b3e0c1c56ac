//! Charts: curves of growth as text and as SVG; bars and heat maps as SVG.
//!
//! The x axis of a curve is logarithmic. The y axis is, too, if the largest value is far above the smallest.
use std::fmt::Write;

use doorway_simulator::{Growth, Measured};

/// An axis: maps values from `from` to `to` to positions from 0 to 1.
struct Axis {
    from: f64,
    to: f64,
    is_logarithmic: bool,
}

/// A y axis is logarithmic if the largest value is more than this many times the smallest.
const MAX_LINEAR_RATIO: f64 = 32.0;

impl Axis {
    fn x(growth: &Growth) -> Axis {
        let at = |point: Option<&(usize, Measured)>| point.map_or(1.0, |&(x, _)| x as f64);
        Axis { from: at(growth.points.first()), to: at(growth.points.last()), is_logarithmic: true }
    }

    fn y(growth: &Growth) -> Axis {
        let worst = || growth.points.iter().map(|(_, measured)| measured.worst as f64);
        let means = growth.points.iter().map(|(_, measured)| measured.mean);
        let (least, most) = (worst().chain(means).fold(f64::INFINITY, f64::min).max(1.0), worst().fold(1.0, f64::max));
        let is_logarithmic = most > MAX_LINEAR_RATIO * least;
        Axis { from: if is_logarithmic { least } else { 0.0 }, to: most, is_logarithmic }
    }

    /// The position of a value, from 0 to 1; `None` if it is not on the axis.
    fn at(&self, value: f64) -> Option<f64> {
        let scale = |value: f64| if self.is_logarithmic { value.log2() } else { value };
        let (from, to) = (scale(self.from), scale(self.to));
        let at = if to > from { (scale(value) - from) / (to - from) } else { 0.5 };
        (-1e-9..=1.0 + 1e-9).contains(&at).then(|| at.clamp(0.0, 1.0))
    }

    /// The value at a position from 0 to 1.
    fn value(&self, at: f64) -> f64 {
        if self.is_logarithmic {
            self.from * (self.to / self.from).powf(at)
        } else {
            self.from + (self.to - self.from) * at
        }
    }
}

/// A curve as text, at most 80 columns wide.
pub(crate) fn text(growth: &Growth) -> String {
    const WIDTH: usize = 64;
    const HEIGHT: usize = 12;
    let (x, y) = (Axis::x(growth), Axis::y(growth));
    let mut rows = vec![vec![' '; WIDTH]; HEIGHT];
    let mut mark = |at_x: f64, value: f64, sign: char| {
        if let Some(at_y) = y.at(value) {
            let column = (at_x * (WIDTH - 1) as f64).round() as usize;
            let row = HEIGHT - 1 - (at_y * (HEIGHT - 1) as f64).round() as usize;
            rows[row][column] = sign;
        }
    };
    if growth.unbounded().is_none() {
        for column in 0..WIDTH {
            let at = column as f64 / (WIDTH - 1) as f64;
            mark(at, growth.worst.at(x.value(at)), '·');
        }
    }
    for &(value, ref measured) in &growth.points {
        let at = x.at(value as f64).unwrap_or(0.0);
        mark(at, measured.mean, '○');
        mark(at, measured.worst as f64, '●');
    }
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        let label = match index {
            0 => format!("{:.0}", y.to),
            _ if index == HEIGHT - 1 => format!("{:.0}", y.from),
            _ => String::new(),
        };
        let row: String = row.iter().collect();
        text += format!("{label:>8} │{row}").trim_end();
        text += "\n";
    }
    let (from, to) = (format!("{:.0}", x.from), format!("{:.0}", x.to));
    let legend =
        if growth.unbounded().is_none() { "● worst  ○ mean  · fitted" } else { "● worst seen  ○ mean" };
    let space = WIDTH - from.len() - to.len();
    text + &format!("{:>8} └{}\n{:>10}{from}{legend:^space$}{to}\n", "", "─".repeat(WIDTH), "")
}

/// A curve as a self-contained SVG document.
pub(crate) fn svg(title: &str, growth: &Growth) -> String {
    const WIDTH: f64 = 640.0;
    const HEIGHT: f64 = 400.0;
    const LEFT: f64 = 64.0;
    const RIGHT: f64 = 20.0;
    const TOP: f64 = 48.0;
    const BOTTOM: f64 = 48.0;
    let (x, y) = (Axis::x(growth), Axis::y(growth));
    let across = |value: f64| LEFT + x.at(value).unwrap_or(0.0) * (WIDTH - LEFT - RIGHT);
    let up = |value: f64| y.at(value).map(|at| HEIGHT - BOTTOM - at * (HEIGHT - TOP - BOTTOM));
    let mut svg = titled((WIDTH, HEIGHT), (LEFT, 20.0), title);
    // Writing to a String does not fail, here and below.
    for at in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let value = y.value(at);
        let height = up(value).unwrap_or(TOP);
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {height:.1}H{}\" stroke=\"#ddd\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{value:.0}</text>",
            WIDTH - RIGHT,
            LEFT - 8.0,
            height + 4.0,
        );
    }
    for &(value, _) in &growth.points {
        let (at, foot) = (across(value as f64), HEIGHT - BOTTOM);
        let _ = writeln!(
            svg,
            "<path d=\"M{at:.1} {foot}v5\" stroke=\"#444\"/>\
             <text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{value}</text>",
            foot + 18.0,
        );
    }
    let _ = writeln!(
        svg,
        "<path d=\"M{LEFT} {TOP}V{foot}H{}\" fill=\"none\" stroke=\"#444\"/>\
         <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\
         <text x=\"{LEFT}\" y=\"40\" fill=\"#666\">remote memory references of a passage: ● worst ○ mean, \
         dashed: fitted</text>",
        WIDTH - RIGHT,
        WIDTH / 2.0,
        HEIGHT - 10.0,
        growth.variable,
        foot = HEIGHT - BOTTOM,
    );
    if growth.unbounded().is_none() {
        let curve: Vec<String> = (0..=100)
            .map(|step| x.value(f64::from(step) / 100.0))
            .filter_map(|value| Some(format!("{:.1},{:.1}", across(value), up(growth.worst.at(value))?)))
            .collect();
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"#06c\" stroke-dasharray=\"4 3\"/>",
            curve.join(" ")
        );
    }
    for &(value, ref measured) in &growth.points {
        let at = across(value as f64);
        for (number, fill) in [(measured.mean, "#fff"), (measured.worst as f64, "#06c")] {
            if let Some(height) = up(number) {
                let _ = writeln!(
                    svg,
                    "<circle cx=\"{at:.1}\" cy=\"{height:.1}\" r=\"4\" fill=\"{fill}\" stroke=\"#06c\"/>"
                );
            }
        }
    }
    svg + "</svg>\n"
}

/// One bar of a chart.
pub(crate) struct Bar {
    pub(crate) label: String,
    pub(crate) value: f64,
    /// The value as it is printed beside the bar.
    pub(crate) shown: String,
    /// Whether the bar is filled.
    pub(crate) is_ours: bool,
}

/// A bar chart as a self-contained SVG document: groups of bars, each group with a headline and its own scale.
pub(crate) fn bars(title: &str, groups: &[(String, Vec<Bar>)]) -> String {
    const WIDTH: f64 = 640.0;
    const LEFT: f64 = 220.0;
    const RIGHT: f64 = 80.0;
    const TOP: f64 = 40.0;
    const ROW: f64 = 18.0;
    /// The height of a headline and the space above it.
    const HEAD: f64 = 34.0;
    let rows: usize = groups.iter().map(|(_, bars)| bars.len()).sum();
    let height = TOP + rows as f64 * ROW + groups.len() as f64 * HEAD;
    let mut svg = titled((WIDTH, height), (16.0, 20.0), title);
    let mut y = TOP;
    for (head, bars) in groups {
        y += HEAD;
        // Writing to a String does not fail.
        let _ = writeln!(svg, "<text x=\"16\" y=\"{:.1}\" fill=\"#666\">{}</text>", y - 12.0, escape(head));
        let most = bars.iter().map(|bar| bar.value).fold(f64::MIN_POSITIVE, f64::max);
        for bar in bars {
            let length = bar.value / most * (WIDTH - LEFT - RIGHT);
            let _ = writeln!(
                svg,
                "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
                 <rect x=\"{LEFT}\" y=\"{:.1}\" width=\"{length:.1}\" height=\"12\" fill=\"{}\" stroke=\"#06c\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                LEFT - 8.0,
                y + 4.0,
                escape(&bar.label),
                y - 6.0,
                if bar.is_ours { "#06c" } else { "#fff" },
                LEFT + length + 8.0,
                y + 4.0,
                escape(&bar.shown),
            );
            y += ROW;
        }
    }
    svg + "</svg>\n"
}

/// A heat map: cells with a text and a colour.
pub(crate) struct HeatMap {
    pub(crate) title: String,
    pub(crate) columns: Vec<String>,
    /// The label of each row, and its cells; `None` for a cell without a figure.
    pub(crate) rows: Vec<(String, Vec<Option<Shade>>)>,
}

/// The text of a cell, and its colour.
pub(crate) type Shade = (String, &'static str);

/// Heat maps as a self-contained SVG document, two beside each other.
pub(crate) fn heat_maps(title: &str, maps: &[HeatMap]) -> String {
    const WIDTH: f64 = 860.0;
    const MARGIN: f64 = 16.0;
    const LABEL: f64 = 84.0;
    const CELL: (f64, f64) = (54.0, 20.0);
    const TOP: f64 = 40.0;
    /// The height of a map's title and of the labels of its columns.
    const HEAD: f64 = 46.0;
    let height_of =
        |pair: &[HeatMap]| HEAD + CELL.1 * pair.iter().map(|map| map.rows.len()).max().unwrap_or(0) as f64 + MARGIN;
    let height: f64 = TOP + maps.chunks(2).map(height_of).sum::<f64>();
    let mut svg = titled((WIDTH, height), (MARGIN, 24.0), title);
    let mut top = TOP;
    for pair in maps.chunks(2) {
        for (index, map) in pair.iter().enumerate() {
            let left = MARGIN + index as f64 * (WIDTH / 2.0);
            // Writing to a String does not fail, here and below.
            let _ = writeln!(svg, "<text x=\"{left}\" y=\"{}\">{}</text>", top + 16.0, escape(&map.title));
            let middle = |column: usize| left + LABEL + (column as f64 + 0.5) * CELL.0;
            for (column, label) in map.columns.iter().enumerate() {
                let (x, y) = (middle(column), top + HEAD - 8.0);
                let label = escape(label);
                let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\" fill=\"#666\">{label}</text>");
            }
            for (row, (label, cells)) in map.rows.iter().enumerate() {
                let y = top + HEAD + row as f64 * CELL.1;
                let label = escape(label);
                let _ = writeln!(svg, "<text x=\"{left}\" y=\"{}\" fill=\"#666\">{label}</text>", y + 14.0);
                for (column, cell) in cells.iter().enumerate() {
                    let Some((text, fill)) = cell else { continue };
                    let _ = writeln!(
                        svg,
                        "<rect x=\"{}\" y=\"{y}\" width=\"{}\" height=\"{}\" fill=\"{fill}\" stroke=\"#fff\"/>\
                         <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                        middle(column) - CELL.0 / 2.0,
                        CELL.0,
                        CELL.1,
                        middle(column),
                        y + 14.0,
                        escape(text),
                    );
                }
            }
        }
        top += height_of(pair);
    }
    svg + "</svg>\n"
}

/// The text with the characters escaped that SVG would take for markup.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// The beginning of a picture of this size: a white ground, and the title at this place.
fn titled((width, height): (f64, f64), (x, y): (f64, f64), title: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"{x}\" y=\"{y}\" font-size=\"14\">{}</text>\n",
        escape(title)
    )
}
