//! `doorway bench --matrix`: the results as heat maps, JSON or a picture.
use std::fmt::Write;

use anstyle::Style;
use doorway_bench::{
    ROUNDS,
    matrix::{Cell, Matrix, Mix, Ratio, Row},
};
use serde_json::{Value, json};

use crate::{
    plot::{self, HeatMap},
    screen::{BAD, GOOD, OPEN, PLAIN, Screen},
};

/// A figure of a cell, and how it is shown.
struct Figure {
    title: &'static str,
    of: fn(&Cell) -> Option<f64>,
    /// The number of decimals.
    decimals: usize,
    /// What the figure says about a cell; `None` if it is neither good nor bad.
    judge: Option<fn(f64) -> Level>,
}

/// How good a figure is. The limits are goals of this project.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Level {
    Good,
    Fair,
    Poor,
    Bad,
}

impl Level {
    const fn style(self) -> Style {
        match self {
            Level::Good => GOOD,
            Level::Fair => PLAIN,
            Level::Poor => OPEN,
            Level::Bad => BAD,
        }
    }

    /// The colour in a picture.
    const fn fill(self) -> &'static str {
        match self {
            Level::Good => "#9fd8a4",
            Level::Fair => "#e4f2e2",
            Level::Poor => "#fbe3a1",
            Level::Bad => "#f2a79b",
        }
    }
}

/// The goals: no cell under 0.7 of the standard library's entries, 0.95 in the mean; never behind another lock in order
/// of arrival; a thread with a long critical section has 0.8 of its share; waits are not longer than with the standard
/// library's lock.
const LEAST_OVER_STD: f64 = 0.7;
const MEAN_OVER_STD: f64 = 0.95;
const LEAST_LONG_SHARE: f64 = 0.8;

fn of_speed(ratio: f64) -> Level {
    match ratio {
        ..LEAST_OVER_STD => Level::Bad,
        ..MEAN_OVER_STD => Level::Poor,
        ..1.05 => Level::Fair,
        _ => Level::Good,
    }
}

fn of_lead(ratio: f64) -> Level {
    match ratio {
        ..1.0 => Level::Bad,
        ..1.1 => Level::Fair,
        _ => Level::Good,
    }
}

fn of_cost(ratio: f64) -> Level {
    match ratio {
        ..0.95 => Level::Good,
        ..1.05 => Level::Fair,
        ..2.0 => Level::Poor,
        _ => Level::Bad,
    }
}

fn of_share(share: f64) -> Level {
    match share {
        ..LEAST_LONG_SHARE => Level::Bad,
        ..1.0 => Level::Fair,
        _ => Level::Good,
    }
}

/// The maps of a part of the matrix, two beside each other.
const MAPS: [[Figure; 2]; 4] = [
    [
        Figure { title: "entries, x std", of: |cell| Some(cell.over_std()?.value), decimals: 2, judge: Some(of_speed) },
        Figure {
            title: "entries, x fifo",
            of: |cell| Some(cell.over_fifo()?.value),
            decimals: 2,
            judge: Some(of_lead),
        },
    ],
    [
        Figure { title: "+- %, x std", of: |cell| percent(cell.over_std()), decimals: 0, judge: None },
        Figure { title: "+- %, x fifo", of: |cell| percent(cell.over_fifo()), decimals: 0, judge: None },
    ],
    [
        Figure {
            title: "longest wait, x std",
            of: |cell| Some(cell.wait_over_std()?.value),
            decimals: 2,
            judge: Some(of_cost),
        },
        Figure { title: "CPU per entry, x std", of: cpu_over_std, decimals: 2, judge: Some(of_cost) },
    ],
    [
        Figure { title: "Jain by CPU", of: |cell| Row::usual(&cell.ours()?.jain_cpu), decimals: 2, judge: None },
        Figure {
            title: "Jain by entries",
            of: |cell| Row::usual(&cell.ours()?.jain_entries),
            decimals: 2,
            judge: None,
        },
    ],
];

/// The map that only mixes with a long critical section have.
const LONG_MAP: [Figure; 2] = [
    Figure {
        title: "share of the long one",
        of: |cell| Some(cell.long_share()?.value),
        decimals: 2,
        judge: Some(of_share),
    },
    Figure { title: "the same, std", of: |cell| Row::usual(&cell.standard()?.long_share), decimals: 2, judge: None },
];

fn percent(ratio: Option<Ratio>) -> Option<f64> {
    Some(ratio?.error? * 100.0)
}

fn cpu_over_std(cell: &Cell) -> Option<f64> {
    Some(Row::usual(&cell.ours()?.cpu_us_per_op)? / Row::usual(&cell.standard()?.cpu_us_per_op)?)
}

/// The parts of the matrix: cells with the same capacity, with or without a long critical section.
fn parts(matrix: &Matrix) -> impl Iterator<Item = &[Cell]> {
    matrix.cells.chunk_by(|a, b| a.mix.k == b.mix.k && a.mix.long == b.mix.long)
}

fn headline(mix: &Mix) -> String {
    let long = mix.long.map_or(String::new(), |long| format!(", one thread with {} us in it", long.as_micros()));
    format!("k = {}{long}", mix.k)
}

/// The rows of a part: the cells with the same lengths.
fn rows(part: &[Cell]) -> impl Iterator<Item = &[Cell]> {
    part.chunk_by(|a, b| a.mix.lengths() == b.mix.lengths())
}

/// The numbers of threads: the columns of a part.
fn columns(part: &[Cell]) -> Vec<usize> {
    rows(part).next().unwrap_or_default().iter().map(|cell| cell.mix.threads).collect()
}

const LABEL: usize = 16;
const COLUMN: usize = 6;

pub(crate) fn as_text(matrix: &Matrix, screen: Screen) -> String {
    let mut text = String::new();
    for part in parts(matrix) {
        let mix = &part[0].mix;
        // Writing to a String does not fail, here and below.
        let _ = writeln!(text, "{}", headline(mix));
        for maps in MAPS.iter().chain(mix.long.map(|_| &LONG_MAP)) {
            write_maps(&mut text, part, maps, screen);
        }
    }
    text += &summary(matrix, screen);
    text += "\n";
    text += &screen.fold(
        0,
        "Rows: time in the critical section, in the remainder. Columns: threads. x std: doorway's lock over std's mutex, for \
         k > 1 over a semaphore of its mutex and condition variable. x fifo: over the fastest of other crates' locks in \
         order of arrival. +-: the standard error. Jain: 1 if all threads have the same processor time, or enter equally \
         often. Share: the work of that thread, 1 if it is an equal share of the processors.",
    );
    if !cfg!(feature = "peers") {
        text += "Locks of other crates: `cargo run --release --features peers -- bench --matrix`.\n";
    }
    text
}

/// Two maps of a part beside each other.
fn write_maps(text: &mut String, part: &[Cell], maps: &[Figure; 2], screen: Screen) {
    let columns = columns(part);
    let width = columns.len() * COLUMN;
    let (left, right) = (maps[0].title, maps[1].title);
    let gap = "   ";
    let _ = writeln!(text, "{:LABEL$}{left:>width$}{gap}{right:>width$}", "", width = width.max(22));
    let pad = " ".repeat(22_usize.saturating_sub(width));
    let head: String = columns.iter().map(|threads| format!("{threads:>COLUMN$}")).collect();
    let _ = writeln!(text, "{:LABEL$}{pad}{head}{gap}{pad}{head}", "  in, out");
    for row in rows(part) {
        let [critical_section, remainder] = row[0].mix.lengths();
        let _ = write!(text, "  {:<width$}", format!("{critical_section}, {remainder}"), width = LABEL - 2);
        for (index, figure) in maps.iter().enumerate() {
            text.push_str(if index == 0 { "" } else { gap });
            text.push_str(&pad);
            for cell in row {
                let _ = write!(text, "{}", figure.painted(cell, screen));
            }
        }
        text.push('\n');
    }
    text.push('\n');
}

impl Figure {
    /// The figure of a cell, as it is shown. Without colour, `!` marks what is bad.
    fn painted(&self, cell: &Cell, screen: Screen) -> String {
        let Some(value) = (self.of)(cell) else { return format!("{:>COLUMN$}", "-") };
        let level = self.judge.map_or(Level::Fair, |judge| judge(value));
        let mark = if level == Level::Bad { "!" } else { "" };
        screen.paint(level.style(), &format!("{:>COLUMN$}", format!("{mark}{}", self.shown(value))))
    }

    fn shown(&self, value: f64) -> String {
        let decimals = if value >= 10.0 { 0 } else { self.decimals };
        format!("{value:.decimals$}")
    }
}

/// What the whole matrix says, beside the goals.
fn summary(matrix: &Matrix, screen: Screen) -> String {
    let mut text = String::new();
    let mut line = |name: &str, ratio: fn(&Cell) -> Option<Ratio>, limit: f64, goal: &str| {
        let all: Vec<f64> = matrix.cells.iter().filter_map(ratio).map(|ratio| ratio.value).collect();
        if let Some((mean, (cell, worst))) = matrix.mean(ratio).zip(matrix.worst(ratio)) {
            let under = all.iter().filter(|&&value| value < limit).count();
            let _ = writeln!(
                text,
                "{name}: geometric mean {}, {under} of {} cells under {limit}{goal}",
                shown(mean),
                all.len()
            );
            text += &screen.fold(4, &format!("least: {}, {}", shown(worst), cell.mix));
        }
    };
    line("x std", Cell::over_std, LEAST_OVER_STD, " (goals: 0.95, none)");
    line("x fifo", Cell::over_fifo, 1.0, " (goal: none)");
    line("share of the long one", Cell::long_share, LEAST_LONG_SHARE, " (goal: none)");
    let waits: Vec<f64> = matrix.cells.iter().filter_map(Cell::wait_over_std).map(|ratio| ratio.value).collect();
    if !waits.is_empty() {
        let shorter = waits.iter().filter(|&&wait| wait < 1.0).count();
        let _ = writeln!(
            text,
            "longest wait: shorter than std's in {shorter} of {} cells (goal: nine of ten)",
            waits.len()
        );
    }
    for cell in matrix.cells.iter().filter(|cell| !cell.excludes()) {
        for row in cell.rows.iter().filter(|row| row.most_holders > cell.mix.k as u64) {
            let _ = writeln!(text, "`{}` FAILS: {} holders at once, {}", row.lock, row.most_holders, cell.mix);
        }
    }
    if matrix.rounds < ROUNDS {
        let _ = writeln!(text, "interrupted after {} of {ROUNDS} rounds", matrix.rounds);
    }
    text
}

fn shown(ratio: Ratio) -> String {
    let error = ratio.error.map_or(String::new(), |error| format!(" +- {:.0} %", error * 100.0));
    format!("{:.2}{error}", ratio.value)
}

pub(crate) fn as_json(matrix: &Matrix) -> Value {
    let ratio = |ratio: Option<Ratio>| ratio.map(|ratio| json!({ "value": ratio.value, "error": ratio.error }));
    let row = |row: &Row| {
        json!({
            "lock": row.lock,
            "group": row.group.name(),
            "order": row.order,
            "ops_per_s": row.ops_per_s,
            "cpu_us_per_op": row.cpu_us_per_op,
            "jain_cpu": row.jain_cpu,
            "jain_entries": row.jain_entries,
            "longest_wait_ns": row.longest_wait_ns,
            "long_share": row.long_share,
            "most_holders": row.most_holders,
        })
    };
    let cells = matrix.cells.iter().map(|cell| {
        let Mix { k, threads, critical_section, remainder, long, .. } = cell.mix;
        json!({
            "k": k,
            "threads": threads,
            "critical_section_us": critical_section.as_micros() as u64,
            "remainder_us": remainder.as_micros() as u64,
            "long_us": long.map(|long| long.as_micros() as u64),
            "over_std": ratio(cell.over_std()),
            "over_fifo": ratio(cell.over_fifo()),
            "best_fifo": cell.best_fifo_peer().map(|row| row.lock),
            "longest_wait_over_std": ratio(cell.wait_over_std()),
            "cpu_over_std": cpu_over_std(cell),
            "long_share": ratio(cell.long_share()),
            "excludes": cell.excludes(),
            "locks": cell.rows.iter().map(row).collect::<Vec<_>>(),
        })
    });
    json!({
        "rounds": matrix.rounds,
        "over_std": ratio(matrix.mean(Cell::over_std)),
        "over_fifo": ratio(matrix.mean(Cell::over_fifo)),
        "cells": cells.collect::<Vec<_>>(),
    })
}

/// The maps as a picture: those with a judgement.
pub(crate) fn svg(matrix: &Matrix) -> String {
    let mut maps = Vec::new();
    for part in parts(matrix) {
        let mix = &part[0].mix;
        for figure in MAPS.iter().chain(mix.long.map(|_| &LONG_MAP)).flatten() {
            let Some(judge) = figure.judge else { continue };
            let cell = |cell: &Cell| (figure.of)(cell).map(|value| (figure.shown(value), judge(value).fill()));
            maps.push(HeatMap {
                title: format!("{}: {}", headline(mix), figure.title),
                columns: columns(part).iter().map(usize::to_string).collect(),
                rows: rows(part).map(|row| (row[0].mix.lengths().join(", "), row.iter().map(cell).collect())).collect(),
            });
        }
    }
    let title = "doorway's locks; rows: time in the critical section, in the remainder; columns: threads";
    plot::heat_maps(title, &maps)
}

#[cfg(test)]
mod tests {
    use std::{ops::ControlFlow, time::Duration};

    use super::*;

    #[test]
    fn levels_change_at_the_goals() {
        assert_eq!([0.69, 0.7, 0.95, 1.05].map(of_speed), [Level::Bad, Level::Poor, Level::Fair, Level::Good]);
        assert_eq!([0.99, 1.0, 1.1].map(of_lead), [Level::Bad, Level::Fair, Level::Good]);
        assert_eq!([0.79, 0.8, 1.0].map(of_share), [Level::Bad, Level::Fair, Level::Good]);
        assert_eq!([0.5, 1.0, 1.5, 2.0].map(of_cost), [Level::Good, Level::Fair, Level::Poor, Level::Bad]);
    }

    #[test]
    fn a_matrix_fits_into_100_columns_and_marks_what_is_bad_without_colour() {
        let locks = doorway_bench::matrix::choose(&["ours", "std"]).unwrap();
        let mut matrix =
            doorway_bench::matrix::run(&locks, &Mix::all(), Duration::from_secs(1), |_| ControlFlow::Break(()));
        for row in matrix.cells.iter_mut().flat_map(|cell| &mut cell.rows) {
            row.ops_per_s = vec![if row.lock.starts_with("doorway") { 0.5e6 } else { 1e6 }];
            row.longest_wait_ns = vec![1e9];
        }
        let text = as_text(&matrix, Screen::plain(100));
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        assert!(text.contains("!0.50"), "{text}");
        assert!(text.contains("x std: geometric mean 0.50, 120 of 120 cells under 0.7"), "{text}");
        assert!(text.contains("interrupted after 0 of"), "{text}");
        assert_eq!(as_json(&matrix)["cells"].as_array().unwrap().len(), 120);
        assert!(svg(&matrix).contains("k = 4, one thread with 100 us in it: entries, x std"));
    }
}
