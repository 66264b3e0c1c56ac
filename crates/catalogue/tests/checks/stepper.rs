//! The stepper against the search: it takes the same steps, reaches the same states, and sees the same violations.
use std::collections::{HashMap, HashSet, VecDeque};

use doorway_algorithms::{About, Size, registry};
use doorway_catalogue::{check, find, remote_references, subject};
use doorway_checker::{
    Choice, Cost, Error, Execution, FailedCas, Model, Property, Report, Section, Step, Stepper, Verdict, Violated,
};

/// What a finite execution can violate.
const BY_A_PREFIX: [Property; 6] =
    [Property::Exclusion, Property::Fcfs, Property::KFcfs, Property::Assignment, Property::Fenced, Property::Rule];

fn model(size: Size) -> Model {
    Model::new(size.n).k(size.k)
}

/// All states that the stepper reaches, as the checker counts them, and the number of choices in them.
fn reached(about: &'static About, size: Size, model: &Model) -> (u64, u64) {
    let subject = subject(about, size);
    let first = Stepper::new(&subject, model).unwrap();
    let mut known = HashSet::from([first.state_fingerprint()]);
    let mut left = VecDeque::from([first]);
    let mut edges = 0;
    while let Some(state) = left.pop_front() {
        let mut targets = HashSet::new();
        for choice in state.choices().unwrap() {
            let mut next = state.clone();
            next.take(choice).unwrap();
            let fingerprint = next.state_fingerprint();
            // The search has one edge for all values of a read that lead to the same state.
            edges += u64::from(targets.insert((choice.kind(), choice.process(), fingerprint)));
            if known.insert(fingerprint) {
                left.push_back(next);
            }
        }
    }
    (known.len() as u64, edges)
}

#[test]
fn the_stepper_reaches_the_states_that_the_search_finds() {
    type Change = fn(Model) -> Model;
    let plain: Change = |model| model;
    let cases: [(&str, usize, usize, Change); 17] = [
        ("peterson", 2, 1, plain),
        ("fast-path", 2, 1, plain),
        ("filter", 3, 1, plain),
        ("mcs", 2, 1, plain),
        ("lamport-fast", 2, 1, plain),
        ("fischer-queue", 3, 2, plain),
        ("bouncer", 3, 1, plain),
        ("peterson", 2, 1, |model| model.tso().every_order()),
        ("fast-path", 2, 1, |model| model.tso_without_fences().every_order().passages(1)),
        ("fischer-queue-copied", 2, 1, |model| model.deaths().passages(1)),
        ("fischer-queue-copied", 2, 1, |model| model.aborts().passages(1)),
        ("fischer-queue-copied", 2, 1, |model| model.deaths().aborts().passages(1)),
        ("fischer-queue", 3, 2, |model| model.expiries()),
        ("k-bakery", 2, 1, |model| model.expiries().passages(1)),
        ("fischer-queue-names", 2, 1, |model| model.expiries().aborts().passages(2)),
        ("one-bit", 2, 1, |model| model.safe_registers()),
        ("peterson", 2, 1, |model| model.passages(2)),
    ];
    for (name, n, k, change) in cases {
        let about = find(name).unwrap();
        let size = about.size(Some(n), (k > 1).then_some(k)).unwrap();
        let model = change(model(size));
        // With a cap, which none of these reaches, the search tells tickets apart by their numbers, as the stepper does.
        let capped = if model.assumptions().safe_registers { model.clone() } else { model.clone().ticket_cap(20) };
        let report = check(about, size, &capped).unwrap();
        let (states, edges) = reached(about, size, &model);
        assert_eq!(states, report.states, "{name}");
        // A death of a process whose reap has not begun changes nothing: the search has that edge, the stepper does not
        // offer it.
        if !model.assumptions().deaths {
            assert_eq!(edges, report.transitions, "{name}");
        }
    }
}

/// Takes the steps of an execution again.
fn retake<'a>(stepper: &mut Stepper<'a>, execution: &Execution) -> Vec<Step> {
    execution.steps.iter().map(|step| stepper.take(step.choice).unwrap()).collect()
}

fn counterexamples(report: &Report) -> impl Iterator<Item = (Property, &Execution)> {
    let failed = report.findings.iter().filter(|finding| finding.verdict == Verdict::Fails);
    failed.filter_map(|finding| Some((finding.property, finding.execution.as_ref()?)))
}

/// Takes every counterexample of a check again; returns how many there were.
fn retake_all(about: &'static About, size: Size, model: &Model, report: &Report) -> usize {
    let subject = subject(about, size);
    let mut taken = 0;
    for (property, execution) in counterexamples(report) {
        let name = about.name;
        let mut stepper = Stepper::new(&subject, model).unwrap();
        assert_eq!(retake(&mut stepper, execution), execution.steps, "{name}: {property}");
        let violated = |wanted| stepper.violated().iter().any(|Violated { property, .. }| *property == wanted);
        assert!(!BY_A_PREFIX.contains(&property) || violated(property), "{name}: {property}");
        let at = stepper.violated().iter().find(|violated| violated.property == property).map(|violated| violated.at);
        assert!(at.is_none_or(|at| at == execution.steps.len()), "{name}: {property} is violated earlier");
        if let Some(cycle_at) = execution.cycle_at {
            // With tickets a round may raise all of them, so it need not return to the same state; it can be repeated.
            for _ in 0..3 {
                for step in &execution.steps[cycle_at..] {
                    if !matches!(step.choice, Choice::Crashes(_)) {
                        let again = stepper.take(step.choice).unwrap();
                        assert_eq!((&again.line, again.arrives), (&step.line, step.arrives), "{name}: {property}");
                    }
                }
            }
        }
        taken += 1;
    }
    taken
}

#[test]
fn every_counterexample_of_the_catalogue_can_be_stepped_through() {
    const MOST: u64 = 200_000;
    let mut taken = 0;
    for about in registry::all() {
        let size = about.size(None, None).unwrap();
        let mut model = model(size).max_states(MOST);
        if let Some(passages) = about.survey.passages() {
            model = model.passages(passages);
        }
        if about.sequential {
            continue; // the stepper lets calls overlap
        }
        let report = check(about, size, &model).unwrap();
        taken += retake_all(about, size, &model, &report);
    }
    assert!(taken > 100, "{taken}");
}

#[test]
fn counterexamples_with_failures_and_on_other_memories_can_be_stepped_through() {
    type Change = fn(Model) -> Model;
    let cases: [(&str, Change); 7] = [
        ("bakery", |model| model.crashes(1)),
        ("peterson", |model| model.tso_without_fences()),
        ("bakery-reaped", |model| model.deaths().max_states(100_000)),
        ("k-bakery-half-reaped", |model| model.deaths().max_states(100_000)),
        ("fischer-queue-copied", |model| model.aborts()),
        ("one-bit", |model| model.safe_registers()),
        ("bakery-labels", |model| model.safe_registers().max_states(100_000)),
    ];
    for (name, change) in cases {
        let about = find(name).unwrap();
        let size = about.size(Some(about.default_n.min(2)), None).unwrap_or_else(|_| about.size(None, None).unwrap());
        let model = change(model(size));
        let Ok(report) = check(about, size, &model) else { panic!("{name}") };
        assert!(retake_all(about, size, &model, &report) > 0, "{name}");
    }
}

#[test]
fn an_execution_without_violation_is_not_blamed() {
    for about in registry::all().iter().filter(|about| !about.sequential) {
        let size = about.size(None, None).unwrap();
        let subject = subject(about, size);
        let mut stepper = Stepper::new(&subject, &model(size)).unwrap();
        // Process after process passes alone.
        for p in (0..size.n).cycle().take(3 * size.n) {
            for _ in 0..1_000 {
                match stepper.take(Choice::Step(p)) {
                    Ok(step) if step.arrives.is_some_and(|arrives| arrives != "inside") => break,
                    Ok(_) => {}
                    Err(Error::Choice(_)) => break, // a part that is called once
                    Err(error) => panic!("{}: {error}", about.name),
                }
            }
        }
        assert_eq!(stepper.violated(), [], "{}", about.name);
    }
}

/// The worst case of a passage, counted step by step.
#[test]
fn remote_references_are_counted_as_the_worst_case_is() {
    for name in ["peterson", "mcs", "yang-anderson", "clh", "ticket", "filter", "anderson-array", "k-bakery"] {
        let about = find(name).unwrap();
        let size = about.size(Some(2), None).unwrap();
        for cost in [Cost::Cc(FailedCas::Counts), Cost::Dsm] {
            let found = remote_references(about, size, &model(size), cost).unwrap();
            for (p, worst) in found.per_process.iter().enumerate() {
                let (Some(bound), Some(execution)) = (worst.bound.number(), &worst.execution) else { continue };
                let subject = subject(about, size);
                let steps = retake(&mut Stepper::new(&subject, &model(size)).unwrap(), execution);
                let is_remote =
                    |step: &Step| step.remote.is_some_and(|it| if cost == Cost::Dsm { it.dsm } else { it.cc });
                let own: Vec<&Step> = steps.iter().filter(|step| step.process == p).collect();
                // The passage that attains the bound is the last one.
                let begins = own.iter().rposition(|step| step.sections[0] == Section::Remainder).unwrap();
                let counted = own[begins..].iter().filter(|step| is_remote(step)).count() as u32;
                assert_eq!(counted, bound, "{name}, process {p}, {cost:?}");
            }
        }
    }
}

/// A read points at the step whose write it saw.
#[test]
fn every_read_knows_the_write_that_it_saw() {
    for (name, change) in [
        ("fast-path", (|model| model) as fn(Model) -> Model),
        ("fast-path", |model| model.tso_without_fences()),
        ("peterson", |model| model.tso_without_fences()),
    ] {
        let about = find(name).unwrap();
        let size = about.size(None, None).unwrap();
        let model = change(model(size));
        let report = check(about, size, &model).unwrap();
        let execution = report.finding(Property::Exclusion).execution.as_ref().unwrap();
        let mut written: HashMap<usize, String> = HashMap::new();
        for (i, step) in execution.steps.iter().enumerate() {
            if let Some((_, value)) = step.access.split_once(" := ") {
                written.insert(i, value.trim_end_matches(" becomes visible").to_string());
            }
            if step.reads
                && let Some((_, seen)) = step.access.split_once(" = ")
            {
                match step.from {
                    Some(from) => {
                        assert!(from < i && execution.steps[from].register == step.register, "{name}, step {i}");
                        assert_eq!(written[&from], seen, "{name}, step {i}");
                    }
                    None => assert!(["false", "0", "-1", "⊥"].contains(&seen), "{name}, step {i}: {seen}"),
                }
            }
        }
    }
}

#[test]
fn an_impossible_choice_is_refused_and_changes_nothing() {
    let about = find("peterson").unwrap();
    let size = about.size(None, None).unwrap();
    let subject = subject(about, size);
    let mut stepper = Stepper::new(&subject, &model(size)).unwrap();
    let before = stepper.fingerprint();
    for choice in ["2", "b0", "d0", "a0", "c0", "0=0"] {
        let error = stepper.take(choice.parse().unwrap()).unwrap_err().to_string();
        assert_eq!(error, format!("`{choice}` cannot happen in this state; possible: 0, 1"));
    }
    assert_eq!(stepper.fingerprint(), before);
}
