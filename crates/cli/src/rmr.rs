//! `doorway rmr`
use clap::{Args, ValueEnum};
use doorway_algorithms::{
    About, Kind, Size,
    registry::{self, Visitor},
};
use doorway_checker::{Bound, Cost, Error, FailedCas, Model, Registers, RemoteReferences, View, remote_references};
use doorway_memory::{Exclusion, Part};
use serde_json::{Value, json};

use crate::{
    grow::{Growing, Question},
    limits::Limits,
    output::{Answer, HOLDS, Trouble, UNDECIDED},
    progress::Watcher,
};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The algorithm; `doorway list` shows them all
    name: String,
    /// How many processes
    #[arg(short)]
    n: Option<usize>,
    /// How many may be inside at once
    #[arg(short)]
    k: Option<usize>,
    /// What is remote: what is not in one's cache, or what is not at home
    #[arg(long, value_enum, default_value_t = Machine::Cc)]
    model: Machine,
    /// Whether a compare-and-swap that fails makes others fetch the register again
    #[arg(long, value_enum, default_value_t = Failed::Counts)]
    failed_cas: Failed,
    /// Each process makes at most R passages
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(u32).range(1..1_000_000))]
    passages: Option<u32>,
    #[command(flatten)]
    grow: Growing,
    #[command(flatten)]
    limits: Limits,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Machine {
    Cc,
    Dsm,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Failed {
    Counts,
    Free,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Trouble> {
    let about = registry::find(&arguments.name)?;
    if about.kind == Kind::Part {
        return Err(Trouble(format!("`{}` is a part and has no passages; try a lock, such as `bakery`", about.name)));
    }
    let cost = match (arguments.model, arguments.failed_cas) {
        (Machine::Dsm, _) => Cost::Dsm,
        (Machine::Cc, Failed::Counts) => Cost::Cc(FailedCas::Counts),
        (Machine::Cc, Failed::Free) => Cost::Cc(FailedCas::Free),
    };
    if arguments.grow.is_asked() {
        let Arguments { n, k, passages, json, .. } = *arguments;
        return arguments.grow.run(&Question { about, n, k, cost, model: name(arguments.model), passages, json });
    }
    let size = about.size(arguments.n, arguments.k)?;
    let mut model = arguments.limits.apply(Model::new(size.n).k(size.k));
    if let Some(passages) = arguments.passages {
        model = model.passages(passages);
    }
    let found = measure_one(about, size, model, cost)?;
    let text = if arguments.json {
        format!("{:#}\n", as_json(about, size, arguments.model, &found))
    } else {
        as_text(about, size, arguments.model, &found)
    };
    let code = if found.stopped { UNDECIDED } else { HOLDS };
    Ok(Answer { text, code })
}

/// Measures a lock of the catalogue, with progress.
pub(crate) fn measure_one(
    about: &'static About,
    size: Size,
    model: Model,
    cost: Cost,
) -> Result<RemoteReferences, Trouble> {
    let watcher = Watcher::new(about.name.to_string());
    let found = registry::visit(about, size, Measuring(model.observer(watcher.clone()), cost));
    watcher.done();
    found.map_err(|error| Trouble(format!("`{}`: {error}", about.name)))
}

struct Measuring(Model, Cost);

impl Visitor for Measuring {
    type Space = Registers;
    type Output = Result<RemoteReferences, Error>;

    fn exclusion<A: Exclusion<View>>(
        self,
        _: &'static About,
        _: Size,
        make: impl Fn(&mut Registers) -> A,
    ) -> Self::Output {
        remote_references(&self.0, self.1, make)
    }

    fn part<A: Part<View>>(self, _: &'static About, _: Size, _: impl Fn(&mut Registers) -> A) -> Self::Output {
        unreachable!("parts were turned away")
    }
}

fn name(model: Machine) -> &'static str {
    match model {
        Machine::Cc => "cc",
        Machine::Dsm => "dsm",
    }
}

fn as_text(about: &About, size: Size, model: Machine, found: &RemoteReferences) -> String {
    let k = if about.kind == Kind::KExclusion { format!(" k={}", size.k) } else { String::new() };
    let head = format!("{} n={}{k}, {}: ", about.name, size.n, name(model));
    let exactly = match () {
        () if found.is_exact() => "exactly",
        () if found.incomplete.is_some() => "at least",
        () => "at most",
    };
    let mut text = match found.worst() {
        Bound::AtMost(most) => {
            let each: Vec<String> = found.per_process.iter().map(|worst| show(worst.bound)).collect();
            let each =
                if each.iter().all(|one| *one == each[0]) { String::new() } else { format!(" ({})", each.join(", ")) };
            format!("{head}{exactly} {most} remote references in the worst passage{each}, {} states\n", found.states)
        }
        Bound::Unbounded => format!("{head}remote references are unbounded, {} states\n", found.states),
    };
    if let Some(why) = &found.incomplete {
        text += &format!("  not every run was seen: {why}\n");
    }
    let unbounded = found.per_process.iter().find(|worst| worst.bound == Bound::Unbounded);
    if let Some(run) = unbounded.and_then(|worst| worst.run.as_ref()) {
        text += &run.to_string();
    }
    text
}

pub(crate) fn show(bound: Bound) -> String {
    bound.number().map_or("∞".to_string(), |number| number.to_string())
}

fn as_json(about: &About, size: Size, model: Machine, found: &RemoteReferences) -> Value {
    json!({
        "algorithm": about.name,
        "n": size.n,
        "k": size.k,
        "model": name(model),
        "worst": found.worst().number(),
        "bounded": found.worst() != Bound::Unbounded,
        "exact": found.is_exact(),
        "complete": found.incomplete.is_none(),
        "reason": found.incomplete,
        "per_process": found.per_process.iter().map(|worst| worst.bound.number()).collect::<Vec<_>>(),
        "states": found.states,
        "seconds": found.seconds,
    })
}
