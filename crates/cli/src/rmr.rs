//! `doorway rmr`
use clap::{Args, ValueEnum};
use doorway_algorithms::{About, Size};
use doorway_checker::{Bound, Cost, FailedCas, RemoteReferences};
use serde_json::{Value, json};

use crate::{
    grow::{Growing, Question},
    limits::Limits,
    lookup::{self, Sizes, find_lock, title},
    on::possible,
    output::{Answer, Failure, HOLDS, UNDECIDED},
    progress::watched,
    screen::Screen,
};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The lock; `doorway list` shows them all
    name: String,
    #[command(flatten)]
    sizes: Sizes,
    /// Which accesses are remote: those without a valid cached copy, or those of registers at home elsewhere
    #[arg(long, value_enum, default_value_t = Machine::Cc)]
    model: Machine,
    /// Whether a failed compare-and-swap invalidates the copies of others
    #[arg(long, value_enum, default_value_t = Failed::Counts)]
    failed_cas: Failed,
    /// Each process makes at most R passages
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(u32).range(1..1_000_000))]
    passages: Option<u32>,
    /// Counts states that differ only in values on which no step depends any more as one
    #[arg(long, conflicts_with = "grow")]
    forget: bool,
    /// Executes passages on servers of etcd, and counts their round trips: `etcd://host:2379,host:2379`
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["grow", "passages"])]
    on: Option<String>,
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

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let about = find_lock(&arguments.name, "passages")?;
    let cost = match (arguments.model, arguments.failed_cas) {
        (Machine::Dsm, _) => Cost::Dsm,
        (Machine::Cc, Failed::Counts) => Cost::Cc(FailedCas::Counts),
        (Machine::Cc, Failed::Free) => Cost::Cc(FailedCas::Free),
    };
    if arguments.grow.is_asked() {
        let Arguments { sizes, passages, json, .. } = *arguments;
        return arguments.grow.run(&Question { about, sizes, cost, model: name(arguments.model), passages, json });
    }
    let size = arguments.sizes.of(about)?;
    let measured = measured(about, size, arguments.on.clone())?;
    // A round trip is a remote memory reference of a process that has no registers at home.
    let (machine, cost) = if measured.is_some() { (Machine::Dsm, Cost::Dsm) } else { (arguments.model, cost) };
    let mut model = arguments.limits.apply(lookup::model(size, arguments.passages));
    if arguments.forget {
        model = model.forget();
    }
    let found = watched(about.name, model, |model| doorway_catalogue::remote_references(about, size, &model, cost))?;
    let text = if arguments.json {
        let mut value = as_json(about, size, machine, &found);
        value["forget"] = arguments.forget.into();
        if let Some(Measured { uncontended, mean, worst }) = measured {
            value["round_trips"] = json!({ "uncontended": uncontended, "mean": mean, "worst": worst });
        }
        format!("{value:#}\n")
    } else {
        let measured = measured.map_or_else(String::new, |Measured { uncontended, mean, worst }| {
            format!(
                "{}, on etcd: {uncontended} round trips in a passage alone; {mean:.1} on average and {worst} at most if all \
                 compete\n",
                title(about, size)
            )
        });
        let text = measured + &as_text(about, size, (machine, arguments.forget), &found);
        Screen::of_stdout().with_sentences_folded(&text)
    };
    let code = if found.stopped { UNDECIDED } else { HOLDS };
    Ok(Answer { text, code })
}

/// The round trips of passages on etcd.
#[cfg_attr(not(all(feature = "etcd", target_os = "linux")), allow(dead_code, reason = "made with etcd only"))]
struct Measured {
    uncontended: u64,
    mean: f64,
    worst: u64,
}

#[cfg_attr(not(all(feature = "etcd", target_os = "linux")), allow(unused_variables, reason = "for etcd only"))]
fn measured(about: &'static About, size: Size, on: Option<String>) -> Result<Option<Measured>, Failure> {
    let Some(address) = possible(on)? else { return Ok(None) };
    #[cfg(all(feature = "etcd", target_os = "linux"))]
    {
        if !about.holds(doorway_checker::Property::DeadlockFreedom) {
            let why =
                format!("`{}` may deadlock, so that its passages on etcd may never end; leave out `--on`", about.name);
            return Err(Failure(why));
        }
        let trips = crate::round_trips::measure(about, size, &address)?;
        let (mean, worst) = (trips.mean(), trips.worst());
        Ok(Some(Measured { uncontended: trips.uncontended, mean, worst }))
    }
    #[cfg(not(all(feature = "etcd", target_os = "linux")))]
    Ok(None)
}

fn name(model: Machine) -> &'static str {
    match model {
        Machine::Cc => "cc",
        Machine::Dsm => "dsm",
    }
}

fn as_text(about: &About, size: Size, (model, forgets): (Machine, bool), found: &RemoteReferences) -> String {
    let alike = if forgets { " modulo forgotten values" } else { "" };
    let head = format!("{}, {}{alike}: ", title(about, size), name(model));
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
            let states = found.states;
            format!("{head}{exactly} {most} remote memory references in the worst passage{each}, {states} states\n")
        }
        Bound::Unbounded => format!("{head}remote memory references are unbounded, {} states\n", found.states),
    };
    if let Some(why) = &found.incomplete {
        text += &format!("  not every execution was explored: {why}\n");
    }
    let unbounded = found.per_process.iter().find(|worst| worst.bound == Bound::Unbounded);
    if let Some(execution) = unbounded.and_then(|worst| worst.execution.as_ref()) {
        text += &execution.to_string();
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
