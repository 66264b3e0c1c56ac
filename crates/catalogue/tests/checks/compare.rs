//! Claims beside findings.
use doorway_algorithms::claim::{bypass, entries, holds, lacks};
use doorway_catalogue::{Agreement, check, claims, compare, find};
use doorway_checker::{Model, Property, Report};

fn report(name: &str, shape: impl FnOnce(Model) -> Model) -> Report {
    let about = find(name).unwrap();
    let size = about.size(None, None).unwrap();
    check(about, size, &shape(Model::new(size.n).k(size.k))).unwrap()
}

#[test]
fn every_kind_of_claim_can_differ() {
    let peterson = report("peterson", |model| model);
    let overall = |claim| compare(&[claim], &peterson).overall();
    assert_eq!(overall(holds(Property::Fcfs)), Agreement::Agrees);
    assert_eq!(overall(lacks(Property::Fcfs)), Agreement::Differs);
    assert_eq!(overall(bypass(Some(0))), Agreement::Agrees);
    assert_eq!(overall(bypass(Some(1))), Agreement::Differs);
    assert_eq!(overall(bypass(None)), Agreement::Differs);
    assert_eq!(overall(entries(Some(1))), Agreement::Agrees);
    assert_eq!(overall(entries(Some(0))), Agreement::Differs);
    let lock_one = report("lock-one", |model| model);
    assert_eq!(compare(&[holds(Property::DeadlockFreedom)], &lock_one).overall(), Agreement::Differs);
}

/// In some executions only, a property that is claimed to fail may hold, and a bound need not be attained.
#[test]
fn a_limited_search_contradicts_only_what_it_has_seen() {
    let filter = report("filter", |model| model.passages(1));
    assert!(filter.holds(Property::Bypass) && filter.fails(Property::Fcfs));
    let overall = |claim| compare(&[claim], &filter).overall();
    assert_eq!(overall(lacks(Property::Bypass)), Agreement::Undecided);
    assert_eq!(overall(bypass(None)), Agreement::Undecided);
    assert_eq!(overall(bypass(Some(5))), Agreement::Undecided);
    assert_eq!(overall(bypass(Some(0))), Agreement::Differs);
    assert_eq!(overall(holds(Property::Fcfs)), Agreement::Differs);
}

#[test]
fn a_stopped_search_leaves_every_claim_undecided() {
    let one_bit = report("one-bit", |model| model.max_states(20));
    let compared = compare(find("one-bit").unwrap().claims, &one_bit);
    assert_eq!(compared.those(Agreement::Undecided).count(), compared.properties.len());
    assert_eq!(compared.of(Property::Exclusion), Some(Agreement::Undecided));
}

#[test]
fn claims_depend_on_the_conditions_of_the_model() {
    let claimed = |name: &str, model: Model| -> Vec<String> {
        claims(find(name).unwrap(), &model).iter().map(ToString::to_string).collect()
    };
    let deadlocks = "not deadlock-freedom with deaths";
    assert_eq!(claimed("bakery-reaped", Model::new(2)), ["exclusion", "bounded-exit"]);
    assert_eq!(claimed("bakery-reaped", Model::new(2).deaths()), [deadlocks]);
    assert_eq!(claimed("bakery", Model::new(2).deaths()), [""; 0], "it has no recovery");
    assert_eq!(claimed("bakery", Model::new(2).tso_without_fences()), [""; 0]);
    assert_eq!(claimed("bakery", Model::new(2).safe_registers()), claimed("bakery", Model::new(2).tso()));
    assert_eq!(claimed("peterson", Model::new(2).safe_registers()), [""; 0]);
    assert!(claimed("bouncer", Model::new(3)).contains(&"rule".to_string()));
    let starves = "not starvation-freedom with fewer than k crashes".to_string();
    assert!(!claimed("log-k-first-repair", Model::new(3).k(2).crashes(1)).contains(&starves));
    assert!(claimed("log-k-first-repair", Model::new(4).k(3).crashes(2)).contains(&starves));
}

/// Crashes that are not tolerated cost progress, and nothing else.
#[test]
fn without_progress_the_rest_is_still_claimed_if_too_many_crash() {
    let k_bakery = find("k-bakery").unwrap();
    let claimed = |crashes| claims(k_bakery, &Model::new(3).k(2).crashes(crashes));
    let unconditional = k_bakery.claims.iter().filter(|claim| claim.under.is_empty()).count();
    assert_eq!(claimed(1).len(), unconditional);
    assert_eq!(claimed(2).len(), unconditional - 2);
    assert!(claimed(2).contains(&holds(Property::Exclusion)));
}

/// A failure and a bound show from a number of processes on: the filter of two is fair.
#[test]
fn failures_are_claimed_from_the_default_size_on() {
    let filter = find("filter").unwrap();
    let lacking = |n| claims(filter, &Model::new(n)).iter().any(|claim| claim.property == Property::Fcfs);
    assert!(lacking(3) && !lacking(2));
}
