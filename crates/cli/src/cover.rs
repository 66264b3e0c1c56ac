//! `doorway cover`
use clap::Args;
use doorway_algorithms::{
    About, Kind, Size,
    registry::{self, Visitor},
};
use doorway_checker::{Covering, Error, Model, Outcome, Registers, View, covering};
use doorway_memory::{Exclusion, Part};
use serde_json::{Value, json};

use crate::{
    check::steps_as_json,
    limits::Limits,
    output::{Answer, FAILS, HOLDS, Trouble, UNDECIDED},
    progress::Watcher,
};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The lock, of reads and writes; `doorway list` shows them all
    name: String,
    /// How many processes
    #[arg(short)]
    n: Option<usize>,
    #[command(flatten)]
    limits: Limits,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Trouble> {
    let about = registry::find(&arguments.name)?;
    if about.kind == Kind::Part {
        return Err(Trouble(format!(
            "`{}` is a part, and nobody is inside it; try a lock, such as `bakery`",
            about.name
        )));
    }
    if let Some(stronger) = about.primitives.iter().find(|primitive| !["read", "write"].contains(primitive)) {
        let why = "the covering argument is about locks that only read and write";
        return Err(Trouble(format!("`{}` takes {stronger}, and {why}; try `bakery`", about.name)));
    }
    let size = about.size(arguments.n, Some(1))?;
    let watcher = Watcher::new(about.name.to_string());
    let model = arguments.limits.apply(Model::new(size.n)).observer(watcher.clone());
    let found = registry::visit(about, size, Applying(model));
    watcher.done();
    let found = found.map_err(|error| Trouble(format!("`{}`: {error}", about.name)))?;
    let text = if arguments.json {
        format!("{:#}\n", as_json(about, &found))
    } else {
        let k = if about.kind == Kind::KExclusion { " k=1" } else { "" };
        format!("{} n={}{k}: {found}", about.name, size.n)
    };
    let code = match found.outcome {
        Outcome::Escapes => HOLDS,
        Outcome::TwoInside | Outcome::Deadlock => FAILS,
        Outcome::Unknown => UNDECIDED,
    };
    Ok(Answer { text, code })
}

struct Applying(Model);

impl Visitor for Applying {
    type Space = Registers;
    type Output = Result<Covering, Error>;

    fn exclusion<A: Exclusion<View>>(
        self,
        _: &'static About,
        _: Size,
        make: impl Fn(&mut Registers) -> A,
    ) -> Self::Output {
        covering(&self.0, make)
    }

    fn part<A: Part<View>>(self, _: &'static About, _: Size, _: impl Fn(&mut Registers) -> A) -> Self::Output {
        unreachable!("parts were turned away")
    }
}

fn as_json(about: &About, found: &Covering) -> Value {
    let outcome = match found.outcome {
        Outcome::TwoInside => "two-inside",
        Outcome::Deadlock => "deadlock",
        Outcome::Escapes => "escapes",
        Outcome::Unknown => "unknown",
    };
    let construction = found.construction.as_ref().map(|made| {
        let covers = made.covers.iter().map(|(p, register)| json!({ "process": p, "register": register }));
        json!({
            "covers": covers.collect::<Vec<_>>(),
            "alone": made.alone,
            "writes": made.writes,
            "uncovered": made.uncovered,
            "trace": steps_as_json(&made.run),
            "cycle_at": made.run.cycle_at,
            "solo": [made.solo.start, made.solo.end],
            "overwriting": [made.overwriting.start, made.overwriting.end],
        })
    });
    json!({
        "algorithm": about.name,
        "n": found.n,
        "outcome": outcome,
        "needed": found.n,
        "registers": found.registers,
        "covering_states": found.covering_states,
        "construction": construction,
        "states": found.states,
        "seconds": found.seconds,
        "complete": found.incomplete.is_none(),
        "reason": found.incomplete,
    })
}
