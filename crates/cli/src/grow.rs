//! `doorway rmr --grow`
use std::{path::PathBuf, sync::Arc, time::Instant};

use clap::Args;
use doorway_algorithms::{
    About, Kind, MAX_SIMULATED, Processes, Size,
    registry::{self, Visitor},
};
use doorway_checker::Cost;
use doorway_memory::{Exclusion, Part};
use doorway_simulator::{Fit, Growth, Machine, Measured, Plan, Shape, Variable, measure};
use serde_json::{Value, json};

use crate::{
    output::{Answer, HOLDS, Trouble, UNDECIDED, try_writing, write},
    plot,
    progress::{Watcher, interrupted},
};

#[derive(Args)]
pub(crate) struct Growing {
    /// Simulates instead: how the remote references grow with n, k or c, the processes that take part; such as 2..1024,
    /// k=1..32 or c=1..64
    #[arg(long, value_name = "RANGE", conflicts_with = "Limits")]
    grow: Option<String>,
    /// Only so many processes take part
    #[arg(long, value_name = "C", requires = "grow", value_parser = clap::value_parser!(u16).range(1..))]
    contention: Option<u16>,
    /// What random choices start from
    #[arg(long, value_name = "S", requires = "grow", default_value_t = 0)]
    seed: u64,
    /// Draws the curve
    #[arg(long, value_name = "FILE.svg", requires = "grow")]
    plot: Option<PathBuf>,
}

/// What `doorway rmr` is told besides.
pub(crate) struct Question<'a> {
    pub(crate) about: &'static About,
    pub(crate) n: Option<usize>,
    pub(crate) k: Option<usize>,
    pub(crate) cost: Cost,
    pub(crate) model: &'a str,
    pub(crate) passages: Option<u32>,
    pub(crate) json: bool,
}

impl Growing {
    pub(crate) fn is_asked(&self) -> bool {
        self.grow.is_some()
    }

    pub(crate) fn run(&self, question: &Question<'_>) -> Result<Answer, Trouble> {
        let start = Instant::now();
        let range = Range::parse(self.grow.as_deref().unwrap_or_default())?;
        let series = Series::new(question, &range, self.contention.map(usize::from))?;
        if let Some(path) = &self.plot {
            try_writing(path)?;
        }
        let watcher = Watcher::new(question.about.name.to_string());
        let growth = series.measure(question.about, question.cost, |plan, size| {
            watcher.say(&format!("simulating n={} k={}", size.n, size.k));
            let plan = plan.seed(self.seed).cancelled(Arc::new(interrupted));
            match question.passages {
                Some(passages) => plan.passages(passages),
                None => plan,
            }
        });
        watcher.done();
        let Some(growth) = growth else {
            return Err(Trouble("interrupted before the first size was through; begin with fewer".to_string()));
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

/// As far as a glance goes: enough processes to tell a class.
const GLANCE: usize = 64;

/// For how many processes at most a lock is, if that is too few for a class.
pub(crate) fn few(about: &About) -> Option<usize> {
    match about.processes {
        Processes::Between(_, most) if most < GLANCE => Some(most),
        _ => None,
    }
}

/// How a lock's remote references grow with n up to 64, or for 64 processes with k or c, if it is for so many: less than a
/// second.
pub(crate) fn glance(about: &'static About, cost: Cost, variable: Variable) -> Option<Growth> {
    const ACCESSES: u64 = 700_000;
    let most = few(about).unwrap_or(GLANCE);
    let (n, from, to) = match variable {
        Variable::N => (None, 2, most),
        Variable::K => (Some(most), 1, most / 2),
        Variable::C => (Some(most), 1, most),
    };
    let question = Question { about, n, k: None, cost, model: "", passages: None, json: false };
    let range = Range { variable, from, to };
    let series = Series::new(&question, &range, None).ok()?;
    series.measure(about, cost, |plan, _| plan.accesses(ACCESSES).cancelled(Arc::new(interrupted)))
}

/// What grows, from where to where.
#[derive(Debug, PartialEq)]
struct Range {
    variable: Variable,
    from: usize,
    to: usize,
}

impl Range {
    fn parse(text: &str) -> Result<Range, Trouble> {
        let way_out = "try `--grow 2..1024`, `--grow k=1..32` or `--grow c=1..64`";
        let wrong = || Trouble(format!("`{text}` is not a range; {way_out}"));
        let (variable, range) = match text.split_once('=') {
            None => (Variable::N, text),
            Some(("n" | "N", range)) => (Variable::N, range),
            Some(("k", range)) => (Variable::K, range),
            Some(("c", range)) => (Variable::C, range),
            Some((other, _)) => return Err(Trouble(format!("`{other}` does not grow; {way_out}"))),
        };
        let (from, to) = range.split_once("..").ok_or_else(wrong)?;
        let number = |text: &str| text.trim().parse::<usize>().map_err(|_| wrong());
        let (from, to) = (number(from)?, number(to)?);
        if from == 0 || from >= to {
            return Err(Trouble(format!("`{text}` does not rise from 1 or more; {way_out}")));
        }
        Ok(Range { variable, from, to })
    }

    /// Twice as much each time, and the end.
    fn values(&self) -> Vec<usize> {
        let doubled = std::iter::successors(Some(self.from), |value| Some(2 * value));
        let mut values: Vec<usize> = doubled.take_while(|&value| value < self.to).collect();
        values.push(self.to);
        values
    }
}

/// What is measured, one after the other.
struct Series {
    variable: Variable,
    /// The value that varies, the size, and how many take part.
    points: Vec<(usize, Size, usize)>,
}

impl Series {
    fn new(question: &Question<'_>, range: &Range, contention: Option<usize>) -> Result<Series, Trouble> {
        let Question { about, n, k, .. } = *question;
        let grows =
            |flag: &str, others: &str| Trouble(format!("`{flag}` is what grows; leave it out, or let {others} grow"));
        // A k that is the same for all n.
        let fixed_k = k.or((about.kind == Kind::KExclusion).then_some(2));
        let points = match range.variable {
            Variable::N => {
                if n.is_some() {
                    return Err(grows("-n", "k or c"));
                }
                if range.to > MAX_SIMULATED {
                    let (name, to) = (about.name, range.to);
                    return Err(Trouble(format!(
                        "`{name}` can be simulated for at most {MAX_SIMULATED} processes, not {to}; \
                         try `--grow 2..{MAX_SIMULATED}`"
                    )));
                }
                about.simulated_size(Some(range.to), fixed_k)?;
                let sizes = range.values().into_iter().filter_map(|n| about.simulated_size(Some(n), fixed_k).ok());
                sizes.map(|size| (size.n, size, contention.unwrap_or(size.n))).collect::<Vec<_>>()
            }
            Variable::K => {
                if k.is_some() {
                    return Err(grows("-k", "n or c"));
                }
                if about.kind == Kind::Mutex {
                    let name = about.name;
                    return Err(Trouble(format!("`{name}` is mutual exclusion, so k is 1; let n or c grow")));
                }
                let n = n.unwrap_or((2 * range.to).min(MAX_SIMULATED));
                if range.to >= n {
                    let to = range.to;
                    return Err(Trouble(format!("k is less than n, and {to} is not less than {n}; raise -n")));
                }
                let size = |k| about.simulated_size(Some(n), Some(k));
                let sizes: Result<Vec<Size>, _> = range.values().into_iter().map(size).collect();
                sizes?.into_iter().map(|size| (size.k, size, contention.unwrap_or(n))).collect()
            }
            Variable::C => {
                if contention.is_some() {
                    return Err(grows("--contention", "n or k"));
                }
                let size = about.simulated_size(Some(n.unwrap_or(range.to.max(64))), fixed_k)?;
                range.values().into_iter().map(|c| (c, size, c)).collect()
            }
        };
        let most = points.iter().map(|(_, size, _)| size.n).max().unwrap_or(0);
        if let Some(&(_, _, c)) = points.iter().find(|&&(_, _, c)| c > most) {
            return Err(Trouble(format!(
                "at most {most} of {most} processes can take part, not {c}; take more processes"
            )));
        }
        if points.len() < 2 {
            let k = fixed_k.unwrap_or(1);
            return Err(Trouble(format!(
                "`{}` with k={k} is for more than {k} processes; raise the range",
                about.name
            )));
        }
        Ok(Series { variable: range.variable, points })
    }

    fn measure(&self, about: &'static About, cost: Cost, shape: impl Fn(Plan, Size) -> Plan) -> Option<Growth> {
        let n = (self.variable == Variable::C).then(|| self.points[0].1.n);
        let values = self.points.iter().map(|&(value, ..)| value);
        let mut points = self.points.iter();
        Growth::of(self.variable, values, n, |_| {
            let &(_, size, contention) = points.next().expect("there are as many points as values");
            let plan = Plan::new(size.n, cost).contention(contention);
            registry::visit(about, size, Measuring(shape(plan, size)))
        })
    }
}

struct Measuring(Plan);

impl Visitor for Measuring {
    type Space = Machine;
    type Output = Measured;

    fn exclusion<A: Exclusion<Machine>>(
        self,
        _: &'static About,
        _: Size,
        make: impl Fn(&mut Machine) -> A,
    ) -> Measured {
        measure(&self.0, make)
    }

    fn part<A: Part<Machine>>(self, _: &'static About, _: Size, _: impl Fn(&mut Machine) -> A) -> Measured {
        unreachable!("parts were turned away")
    }
}

/// What there is to say.
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
            text += "  interrupted: these are the sizes that were through\n";
        }
        if let Some((value, _)) = self.growth.points.iter().find(|(_, measured)| measured.cut) {
            let so = if self.growth.leaves_out { ", and it is not fitted" } else { "" };
            text += &format!("  from {value} on not every run was gone through to its end{so}\n");
        }
        if self.growth.points.iter().any(|(_, measured)| measured.stuck) {
            text += "  in some runs all who were left waited for one another\n";
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
                    "cut": measured.cut,
                    "stuck": measured.stuck,
                })
            })
            .collect();
        let fixed = |value: fn(&(usize, Size, usize)) -> usize| {
            let mut values = self.series.points.iter().map(value);
            let first = values.next();
            values.all(|value| Some(value) == first).then_some(first)
        };
        // What has no bound has no curve.
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

/// As people write it who mean both bounds.
fn theta(class: &str) -> String {
    class.replacen('O', "Θ", 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_read_as_it_is_written() {
        let range = |text| Range::parse(text).ok().map(|range| (range.variable, range.values()));
        assert_eq!(range("2..16"), Some((Variable::N, vec![2, 4, 8, 16])));
        assert_eq!(range("n=3..20"), Some((Variable::N, vec![3, 6, 12, 20])));
        assert_eq!(range("k=1..4"), Some((Variable::K, vec![1, 2, 4])));
        assert_eq!(range("c=1..3"), Some((Variable::C, vec![1, 2, 3])));
        for wrong in ["", "16", "0..4", "4..4", "8..2", "m=1..2", "1..x", "..", "2...8"] {
            assert_eq!(range(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_glance_tells_the_class() {
        let class = |name, cost| glance(registry::find(name).unwrap(), cost, Variable::N).map(|growth| growth.class());
        assert_eq!(class("k-bakery", Cost::Dsm).as_deref(), Some("O(N)"));
        assert_eq!(class("yang-anderson", Cost::Dsm).as_deref(), Some("O(log N)"));
        assert_eq!(class("bakery", Cost::Dsm).as_deref(), Some("unbounded"));
        assert_eq!(class("peterson", Cost::Dsm), None, "it is for two");
    }
}
