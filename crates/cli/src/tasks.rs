//! `doorway bench --tasks`: measures asynchronous locks, and prints the results as tables or JSON.
#[cfg(feature = "peers")]
pub(crate) use with_runtime::run;

#[cfg(not(feature = "peers"))]
pub(crate) fn run(
    _: f64,
    _: Option<usize>,
    _: Option<usize>,
    _: bool,
) -> Result<crate::output::Answer, crate::output::Failure> {
    let remedy = "`cargo run --release --features peers -- bench --tasks` has it";
    Err(crate::output::Failure(format!("tokio's runtime is not part of this build; {remedy}")))
}

#[cfg(feature = "peers")]
mod with_runtime {
    use std::time::Duration;

    use doorway_bench::{
        ROUNDS,
        tasks::{self, Results, Row, Scenario},
    };
    use serde_json::{Value, json};

    use crate::{
        bench::{Rounds, code},
        output::{Answer, Failure},
    };

    /// Measures for about `seconds` the scenarios with this number of tasks and this capacity, if they are given.
    pub(crate) fn run(seconds: f64, tasks: Option<usize>, k: Option<usize>, json: bool) -> Result<Answer, Failure> {
        let time = Duration::from_secs_f64(seconds);
        let mut scenarios = Scenario::all();
        scenarios
            .retain(|scenario| tasks.is_none_or(|tasks| tasks == scenario.tasks) && k.is_none_or(|k| k == scenario.k));
        if scenarios.is_empty() {
            return Err(Failure("no scenario matches; `--threads` is 2 or 1000, and `-k` is 1, 4 or 64".to_string()));
        }
        let mut rounds = Rounds::new(time);
        let results =
            tasks::run(&scenarios, time, |progress| rounds.tell(progress.round, progress.lock, &progress.scenario));
        rounds.end(results.rounds)?;
        let code = code(results.rows.iter().all(Row::excludes), results.rounds);
        Ok(Answer { text: if json { format!("{:#}\n", as_json(&results)) } else { as_text(&results) }, code })
    }

    fn as_text(results: &Results) -> String {
        let mut text = results.to_string();
        if results.rounds < ROUNDS {
            text += &format!("\ninterrupted after {} of {ROUNDS} rounds\n", results.rounds);
        }
        text += "\n*: of doorway. x tokio: compared with tokio's lock of the same kind.\n";
        text += "Jain: 1 if all tasks enter equally often. overtaken: others' entries between arrival and entry.\n";
        text += "Compare only ratios within one run; results that differ by less than twice +- are a tie.\n";
        text
    }

    fn as_json(results: &Results) -> Value {
        let uncontended_ns =
            |of: &Row| results.uncontended.iter().find(|(lock, _)| *lock == of.lock).map(|&(_, ns)| ns);
        let rows = results.rows.iter().map(|row| {
            json!({
                "lock": row.lock,
                "ours": row.is_ours,
                "order": row.order,
                "scenario": row.scenario.kind.name(),
                "k": row.scenario.k,
                "tasks": row.scenario.tasks,
                "ns_uncontended": uncontended_ns(row),
                "ops_per_s": row.ops_per_s,
                "ops_per_s_error": row.ops_error,
                "ratio_to_tokio": row.ratio_to_tokio,
                "jain": row.jain,
                "overtaken_p999": row.overtaken_p999,
                "overtaken_max": row.overtaken_max,
                "excludes": row.excludes(),
                "rounds": results.rounds,
            })
        });
        rows.collect::<Vec<_>>().into()
    }
}
