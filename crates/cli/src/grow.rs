//! `doorway rmr --grow`
use std::{path::PathBuf, sync::Arc, time::Instant};

use clap::Args;
use doorway_algorithms::{About, Kind, Size};
use doorway_catalogue::{Range, Series, SeriesError};
use doorway_checker::Cost;
use doorway_simulator::{Fit, Growth, MAX_PROCESSES, Measured, Shape, Variable};
use serde_json::{Value, json};

use crate::{
    estimate::{Estimate, Pace},
    lookup::{Sizes, title, unsupported},
    output::{Answer, Failure, HOLDS, UNDECIDED, try_writing, write},
    plot,
    progress::{Watcher, interrupted},
};

#[derive(Args)]
pub(crate) struct Growing {
    /// Simulates instead: how remote memory references grow with n, k or c, the number of processes that take part;
    /// such as 2..1024, k=1..32 or c=1..64
    #[arg(long, value_name = "RANGE", conflicts_with = "Limits")]
    grow: Option<String>,
    /// Only C processes take part
    #[arg(long, value_name = "C", requires = "grow", value_parser = clap::value_parser!(u16).range(1..))]
    contention: Option<u16>,
    /// Seed of the random choices
    #[arg(long, value_name = "S", requires = "grow", default_value_t = 0)]
    seed: u64,
    /// Draws the curve
    #[arg(long, value_name = "FILE.svg", requires = "grow")]
    plot: Option<PathBuf>,
}

/// The other arguments of `doorway rmr`.
pub(crate) struct Question<'a> {
    pub(crate) about: &'static About,
    pub(crate) sizes: Sizes,
    pub(crate) cost: Cost,
    pub(crate) model: &'a str,
    pub(crate) passages: Option<u32>,
    pub(crate) json: bool,
}

impl Growing {
    pub(crate) fn is_asked(&self) -> bool {
        self.grow.is_some()
    }

    pub(crate) fn run(&self, question: &Question<'_>) -> Result<Answer, Failure> {
        let start = Instant::now();
        let (variable, range) = parse(self.grow.as_deref().unwrap_or_default())?;
        let series = series(question, variable, range, self.contention.map(usize::from))?;
        if let Some(path) = &self.plot {
            try_writing(path)?;
        }
        let watcher = Watcher::of_pieces(Estimate::new(series.points.len(), Pace::Growing));
        let growth = series.measure(question.cost, |plan, size| {
            watcher.begin(&title(question.about, size));
            let ticking = watcher.clone();
            let plan = plan.seed(self.seed).cancelled(Arc::new(move || {
                ticking.tick();
                interrupted()
            }));
            match question.passages {
                Some(passages) => plan.passages(passages),
                None => plan,
            }
        });
        watcher.done();
        let Some(growth) = growth else {
            return Err(Failure(
                "interrupted before the first size was measured; begin with a smaller one".to_string(),
            ));
        };
        let report = Report { question, series: &series, growth: &growth, seed: self.seed };
        if let Some(path) = &self.plot {
            write(path, &plot::svg(&report.headline(), &growth))?;
        }
        let text =
            if question.json { format!("{:#}\n", report.json(start.elapsed().as_secs_f64())) } else { report.text() };
        Ok(Answer { text, code: if report.is_complete() { HOLDS } else { UNDECIDED } })
    }
}

/// The variable that grows, and its range.
fn parse(text: &str) -> Result<(Variable, Range), Failure> {
    let way_out = "try `--grow 2..1024`, `--grow k=1..32` or `--grow c=1..64`";
    let wrong = || Failure(format!("`{text}` is not a range; {way_out}"));
    let (variable, range) = match text.split_once('=') {
        None => (Variable::N, text),
        Some(("n" | "N", range)) => (Variable::N, range),
        Some(("k", range)) => (Variable::K, range),
        Some(("c", range)) => (Variable::C, range),
        Some((other, _)) => return Err(Failure(format!("`{other}` does not grow; {way_out}"))),
    };
    let (from, to) = range.split_once("..").ok_or_else(wrong)?;
    let number = |text: &str| text.trim().parse::<usize>().map_err(|_| wrong());
    match Range::new(number(from)?, number(to)?) {
        Some(range) => Ok((variable, range)),
        None => Err(Failure(format!("`{text}` does not rise from 1 or more; {way_out}"))),
    }
}

fn series(
    question: &Question<'_>,
    variable: Variable,
    range: Range,
    contention: Option<usize>,
) -> Result<Series, Failure> {
    let about = question.about;
    let Sizes { processes, k } = question.sizes;
    let grows =
        |flag: &str, others: &str| Failure(format!("`{flag}` is what grows; leave it out, or let {others} grow"));
    let series = match variable {
        Variable::N if processes.n.is_some() => return Err(grows("-n", "k or c")),
        Variable::K if k.is_some() => return Err(grows("-k", "n or c")),
        Variable::C if contention.is_some() => return Err(grows("--contention", "n or k")),
        Variable::N => Series::of_n(about, range, k, contention),
        Variable::K => Series::of_k(about, range, processes.n, contention),
        Variable::C => Series::of_contention(about, range, processes.n, k),
    };
    series.map_err(|error| match error {
        SeriesError::Size(error) => unsupported(error),
        SeriesError::TooManyProcesses { .. } => Failure(format!("{error}; try `--grow 2..{MAX_PROCESSES}`")),
        other => Failure(other.to_string()),
    })
}

/// The measurements, to be printed.
struct Report<'a> {
    question: &'a Question<'a>,
    series: &'a Series,
    growth: &'a Growth,
    seed: u64,
}

impl Report<'_> {
    fn is_complete(&self) -> bool {
        self.growth.points.len() == self.series.points.len()
    }

    /// Whether it is the less, the more may be inside. With n or c it is chance that makes it look so.
    fn falls(&self) -> bool {
        let points = &self.growth.points;
        let (first, last) = (points[0].1.worst as f64, points[points.len() - 1].1.worst as f64);
        self.growth.variable == Variable::K && self.growth.worst.shape == Shape::Constant && last < 0.9 * first
    }

    fn headline(&self) -> String {
        let (first, last) = (self.series.points[0], self.series.points[self.growth.points.len() - 1]);
        let range = |from: usize, to: usize| if from == to { to.to_string() } else { format!("{from}..{to}") };
        let about = self.question.about;
        let n = range(first.1.n, last.1.n);
        let k =
            if about.kind == Kind::KExclusion { format!(" k={}", range(first.1.k, last.1.k)) } else { String::new() };
        let is_everyone = self.series.points.iter().all(|&(_, size, c)| c == size.n);
        let c = if is_everyone { String::new() } else { format!(" c={}", range(first.2, last.2)) };
        let class = match self.growth.unbounded() {
            Some(why) => format!("unbounded: {why}"),
            None if self.falls() => format!("{}, and falls", self.growth.class()),
            None => theta(&self.growth.class()),
        };
        format!("{} n={n}{k}{c}, {}: {class}", about.name, self.question.model)
    }

    fn text(&self) -> String {
        let letter = self.growth.variable;
        let mut text = self.headline() + "\n";
        if self.growth.unbounded().is_none() {
            let line = |name: &str, fit: &Fit| {
                format!("  {name} ≈ {}, off by {:.1} %\n", fit.formula(letter), 100.0 * fit.residual)
            };
            if !self.falls() {
                text += &line("worst", &self.growth.worst);
            }
            if self.growth.mean_class() != self.growth.class() {
                text += &line("mean", &self.growth.mean);
            }
        }
        if !self.is_complete() {
            text += "  interrupted: these are the sizes that were measured\n";
        }
        if let Some((value, _)) = self.growth.points.iter().find(|(_, measured)| measured.truncated) {
            let omitted = if self.growth.omits_truncated { ", and such sizes are not fitted" } else { "" };
            text += &format!("  from {value} on, executions were cut before their end{omitted}\n");
        }
        if self.growth.points.iter().any(|(_, measured)| measured.deadlocked) {
            text += "  in some executions all remaining processes waited for one another\n";
        }
        text += &format!("\n{:>8}{:>9}{:>11}   worst under\n", letter.to_string(), "worst", "mean");
        for (value, measured) in &self.growth.points {
            let Measured { worst, mean, schedule, .. } = measured;
            text += &format!("{value:>8}{worst:>9}{mean:>11.1}   {schedule}\n");
        }
        text + "\n" + &plot::text(self.growth)
    }

    fn json(&self, seconds: f64) -> Value {
        let Report { question, growth, .. } = self;
        let points: Vec<Value> = growth
            .points
            .iter()
            .zip(&self.series.points)
            .map(|((_, measured), &(_, size, contention))| {
                json!({
                    "n": size.n,
                    "k": size.k,
                    "contention": contention,
                    "worst": measured.worst,
                    "mean": measured.mean,
                    "schedule": measured.schedule.to_string(),
                    "passages": measured.passages,
                    "cut": measured.truncated,
                    "stuck": measured.deadlocked,
                })
            })
            .collect();
        let fixed = |value: fn(&(usize, Size, usize)) -> usize| {
            let mut values = self.series.points.iter().map(value);
            let first = values.next();
            values.all(|value| Some(value) == first).then_some(first)
        };
        // Without a bound there is no curve.
        let bounded = growth.unbounded().is_none();
        json!({
            "algorithm": question.about.name,
            "n": fixed(|point| point.1.n),
            "k": fixed(|point| point.1.k),
            "contention": fixed(|point| point.2),
            "model": question.model,
            "grows": growth.variable.to_string(),
            "seed": self.seed,
            "points": points,
            "class": growth.class(),
            "bounded": bounded,
            "why": growth.unbounded().map(|why| why.to_string()),
            "formula": bounded.then(|| growth.worst.formula(growth.variable)),
            "residual": bounded.then_some(growth.worst.residual),
            "mean_class": bounded.then(|| growth.mean_class()),
            "mean_residual": bounded.then_some(growth.mean.residual),
            "exact": false,
            "complete": self.is_complete(),
            "seconds": seconds,
        })
    }
}

/// The class in the notation for a tight bound.
fn theta(class: &str) -> String {
    class.replacen('O', "Θ", 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_parsed_with_its_variable() {
        let range = |text| parse(text).ok().map(|(variable, range)| (variable, range.values()));
        assert_eq!(range("2..16"), Some((Variable::N, vec![2, 4, 8, 16])));
        assert_eq!(range("n=3..20"), Some((Variable::N, vec![3, 6, 12, 20])));
        assert_eq!(range("k=1..4"), Some((Variable::K, vec![1, 2, 4])));
        assert_eq!(range("c=1..3"), Some((Variable::C, vec![1, 2, 3])));
        for wrong in ["", "16", "0..4", "4..4", "8..2", "m=1..2", "1..x", "..", "2...8"] {
            assert_eq!(range(wrong), None, "{wrong}");
        }
    }
}
