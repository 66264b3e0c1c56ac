//! `doorway survey`: the papers' tables, measured.
mod table_1;
mod tables;

use std::{sync::Arc, time::Instant};

use clap::Args;
use doorway_algorithms::registry;
use doorway_catalogue::{Row, Surveyor};
use doorway_checker::Model;
use serde_json::{Value, json};

use crate::{
    json,
    limits::Limits,
    output::{Answer, FAILS, HOLDS, Trouble, UNDECIDED},
    progress::{Watcher, interrupted},
};

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    limits: Limits,
    /// Prints JSON: a list of the results of `doorway check`, with more keys
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Trouble> {
    let start = Instant::now();
    let mut rows: Vec<Row> = Vec::new();
    for &about in registry::all().iter().filter(|about| about.is_surveyed()) {
        let watcher = Watcher::new(about.name.to_string());
        let (limits, observer) = (arguments.limits.clone(), watcher.clone());
        let surveyor =
            Surveyor::new(move |model| limits.apply(model).observer(observer.clone()), Arc::new(interrupted));
        let row = surveyor.row(about);
        watcher.done();
        rows.push(row.map_err(|error| Trouble(format!("`{}`: {error}", about.name)))?);
        if interrupted() {
            break;
        }
    }
    let text = if arguments.json {
        let list: Vec<Value> = rows.iter().map(row_as_json).collect();
        format!("{:#}\n", Value::from(list))
    } else {
        let surveyor = Surveyor::new(|model| model, Arc::new(interrupted));
        let left_out = registry::all().iter().filter(|about| !about.is_surveyed());
        let left_out: Vec<_> = left_out.map(|about| (*about, surveyor.grown(about))).collect();
        tables::text(&rows, &left_out, start.elapsed().as_secs_f64())
    };
    Ok(Answer { text, code: code(&rows, interrupted()) })
}

fn code(rows: &[Row], is_interrupted: bool) -> u8 {
    if is_interrupted || rows.iter().any(Row::is_undecided) {
        UNDECIDED
    } else if rows.iter().any(Row::differs) {
        FAILS
    } else {
        HOLDS
    }
}

fn row_as_json(row: &Row) -> Value {
    let Row { about, size, report, .. } = row;
    let mut value = json::report(about, *size, &Model::new(size.n).k(size.k).assumptions(), report);
    let (status, why) = json::status(about);
    value["status"] = status.into();
    value["why_broken"] = why.into();
    value["crashes_survived"] = row.crashes.into();
    value["survives_one_of_three"] = row.survives_one_of_three.into();
    value["rmr"] = row.remote.map(|[cc, dsm]| json!({ "cc": cc.number(), "dsm": dsm.number() })).into();
    value["rmr_claimed"] = about.remote.map(|claimed| json!({ "cc": claimed.cc, "dsm": claimed.dsm })).into();
    let grown = row.grown.iter().map(|grown| {
        let [cc, dsm] = &grown.class;
        (grown.variable.to_string(), json!({ "cc": cc, "dsm": dsm }))
    });
    value["rmr_fitted"] = Value::Object(grown.collect());
    value["tso"] = match &row.tso {
        Some([with_fences, plain_stores]) => {
            json!({ "with_fences": with_fences.to_string(), "plain_stores": plain_stores.to_string() })
        }
        None => Value::Null,
    };
    value["safe"] = row.safe.as_ref().map(ToString::to_string).into();
    value["primitives"] = report.primitives.clone().into();
    value["table_1"] = table_1::as_json(row);
    value["departures"] = about.departures.into();
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(names: &[&str], max_states: Option<u64>) -> Vec<Row> {
        let shape = move |model: Model| match max_states {
            Some(states) => model.max_states(states),
            None => model,
        };
        let surveyor = Surveyor::new(shape, Arc::new(|| false));
        names.iter().map(|name| surveyor.row(registry::find(name).unwrap()).unwrap()).collect()
    }

    /// What a survey did not decide is not called a disagreement.
    #[test]
    fn a_survey_that_is_stopped_early_names_what_is_not_decided() {
        let rows = rows(&["fischer-queue", "filter-k", "danek-lee", "k-bakery-fife", "lock-one"], Some(60));
        assert_eq!(code(&rows, false), UNDECIDED);
        let text = tables::text(&rows, &[], 0.0);
        let last = text.lines().last().unwrap();
        assert!(last.ends_with(": not decided: fischer-queue, filter-k, danek-lee, k-bakery-fife."), "{last}");
        // Table 1 has the rows of these.
        let printed =
            ["Fischer et al. [12]", "Peterson (DSM) [21]", "Danek and Lee (CC/DSM) [8]", "FIFE algorithm (Figure 2)"];
        for row in printed {
            assert_eq!(text.matches(&format!(" {row} ")).count(), 1, "{row}");
        }
    }

    #[test]
    fn a_survey_says_what_is_as_claimed_and_what_is_broken() {
        let rows = rows(&["mcs", "lock-two", "bouncer"], None);
        assert_eq!((code(&rows, false), code(&rows, true)), (HOLDS, UNDECIDED));
        let text = tables::text(&rows, &[], 0.0);
        assert!(text.ends_with("s: all as claimed.\n"), "{text}");
        assert!(text.contains("`lock-two`: a process that competes alone waits for ever.\n"), "{text}");
    }
}
