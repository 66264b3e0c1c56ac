//! Claims beside findings: what is claimed in a model, and whether that is what was found.
use std::cmp::Ordering;

use doorway_algorithms::{About, Claim, Claimed, Condition};
use doorway_checker::{Assumptions, Bound, Finding, Model, Property, Report, Verdict};

/// What is claimed of an algorithm in a model.
///
/// A claim without conditions holds in a model whose conditions the algorithm tolerates. If it tolerates all but the
/// crashes, everything but progress is still claimed. A claim about the model's conditions takes precedence over one
/// without conditions about the same property. That a property fails, or an exact bound, is claimed from a
/// number of processes on.
///
/// ```
/// use doorway_catalogue::{claims, find};
/// use doorway_checker::{Model, Property};
///
/// let bakery = find("bakery")?;
/// assert!(claims(bakery, &Model::new(3)).iter().any(|claim| claim.property == Property::StarvationFreedom));
/// let with_a_crash = claims(bakery, &Model::new(3).crashes(1));
/// assert!(with_a_crash.iter().all(|claim| claim.property != Property::StarvationFreedom));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn claims(about: &About, model: &Model) -> Vec<Claim> {
    let assumed = model.assumptions();
    if assumed.tso && !assumed.fenced {
        return Vec::new(); // the algorithm is not itself without its fences
    }
    let conditions = conditions(&assumed);
    let survives = assumed.crashes <= about.crashes(assumed.k);
    let is_tolerated = |&condition: &Condition| match condition {
        Condition::Crashes => true, // not tolerated, they cost progress only
        other => about.tolerates(other),
    };
    let all_tolerated = conditions.iter().all(is_tolerated);
    let applies = |claim: &&Claim| {
        let is_progress = matches!(claim.property, Property::DeadlockFreedom | Property::StarvationFreedom);
        let (n, k) = claim.from.unwrap_or((about.default_n, 0));
        let is_large_enough = claim.claimed == Claimed::Holds || (assumed.n >= n && assumed.k >= k);
        let is_claimed_here = if claim.under.is_empty() {
            all_tolerated && (survives || !is_progress || claim.claimed != Claimed::Holds)
        } else {
            claim.under.iter().all(|condition| conditions.contains(condition))
        };
        is_large_enough && is_claimed_here
    };
    let applicable: Vec<Claim> = about.claims.iter().filter(applies).copied().collect();
    let is_special = |property| applicable.iter().any(|claim| claim.property == property && !claim.under.is_empty());
    applicable.iter().filter(|claim| !claim.under.is_empty() || !is_special(claim.property)).copied().collect()
}

/// The conditions that a model has.
fn conditions(assumed: &Assumptions) -> Vec<Condition> {
    [
        (assumed.crashes > 0, Condition::Crashes),
        (assumed.deaths, Condition::Deaths),
        (assumed.aborts, Condition::Aborts),
        (assumed.expiries, Condition::Expiries),
        (assumed.safe_registers, Condition::SafeRegisters),
        (assumed.tso, Condition::Tso),
    ]
    .into_iter()
    .filter_map(|(has, condition)| has.then_some(condition))
    .collect()
}

/// Whether a finding is what was claimed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Agreement {
    /// It is.
    Agrees,
    /// It is not.
    Differs,
    /// The search has not seen enough to tell.
    Undecided,
}

/// The properties that are claimed and that a report decides, each with its agreement; see [`compare`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Comparison {
    /// The properties in the order of the report.
    pub properties: Vec<(Property, Agreement)>,
}

impl Comparison {
    /// The agreement of a property; `None` if nothing is claimed of it.
    ///
    /// See the [example of `compare`](compare).
    #[must_use]
    pub fn of(&self, property: Property) -> Option<Agreement> {
        self.properties.iter().find(|(claimed, _)| *claimed == property).map(|&(_, agreement)| agreement)
    }

    /// The properties with this agreement.
    ///
    /// See the [example of `compare`](compare).
    pub fn those(&self, agreement: Agreement) -> impl Iterator<Item = Property> + '_ {
        self.properties.iter().filter(move |(_, found)| *found == agreement).map(|&(property, _)| property)
    }

    /// `Differs` if any property differs, else `Undecided` if any is, else `Agrees`.
    ///
    /// See the [crate's example](crate).
    #[must_use]
    pub fn overall(&self) -> Agreement {
        let any = |agreement| self.those(agreement).next().is_some();
        match () {
            () if any(Agreement::Differs) => Agreement::Differs,
            () if any(Agreement::Undecided) => Agreement::Undecided,
            () => Agreement::Agrees,
        }
    }
}

/// Compares claims with what a check found.
///
/// A search that has not seen every execution can contradict a claim that something never happens, but not one that
/// it does.
///
/// ```
/// use doorway_algorithms::claim::{bypass, holds, lacks};
/// use doorway_catalogue::{Agreement, check, compare, find};
/// use doorway_checker::{Model, Property};
///
/// let filter = find("filter")?;
/// let report = check(filter, filter.size(None, None)?, &Model::new(3).passages(1))?;
/// let claims = [holds(Property::Exclusion), holds(Property::Fcfs), bypass(None)];
/// let compared = compare(&claims, &report);
/// assert_eq!(compared.of(Property::Exclusion), Some(Agreement::Agrees));
/// assert_eq!(compared.of(Property::Bypass), Some(Agreement::Undecided));
/// assert_eq!(compared.those(Agreement::Differs).collect::<Vec<_>>(), [Property::Fcfs]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn compare(claims: &[Claim], report: &Report) -> Comparison {
    let all_seen = report.incomplete.is_none();
    let agreement = |finding: &Finding| {
        claims
            .iter()
            .filter(|claim| claim.property == finding.property)
            .map(|claim| agrees(claim, finding, all_seen))
            .reduce(worst)
    };
    let properties = report.findings.iter().filter_map(|finding| Some((finding.property, agreement(finding)?)));
    Comparison { properties: properties.collect() }
}

fn worst(one: Agreement, other: Agreement) -> Agreement {
    match (one, other) {
        (Agreement::Differs, _) | (_, Agreement::Differs) => Agreement::Differs,
        (Agreement::Undecided, _) | (_, Agreement::Undecided) => Agreement::Undecided,
        _ => Agreement::Agrees,
    }
}

fn agrees(claim: &Claim, finding: &Finding, all_seen: bool) -> Agreement {
    let decided = |agrees| if agrees { Agreement::Agrees } else { Agreement::Differs };
    let bound = |claimed: Option<u32>, found: Option<Bound>| {
        let Some(found) = found else { return Agreement::Undecided };
        let at_most = |bound: Option<u32>| bound.map_or(u64::MAX, u64::from);
        match at_most(found.number()).cmp(&at_most(claimed)) {
            Ordering::Less if !all_seen => Agreement::Undecided,
            order => decided(order == Ordering::Equal),
        }
    };
    match (claim.claimed, finding.verdict) {
        (_, Verdict::Unknown) => Agreement::Undecided,
        (Claimed::Holds, verdict) => decided(verdict == Verdict::Holds),
        (Claimed::Lacks | Claimed::Fails, Verdict::Holds) if !all_seen => Agreement::Undecided,
        (Claimed::Lacks | Claimed::Fails, verdict) => decided(verdict == Verdict::Fails),
        (Claimed::Bypass(claimed), _) => bound(claimed, finding.bypass.map(|bypass| bypass.late)),
        (Claimed::Entries(claimed), _) => bound(claimed, finding.bypass.map(|bypass| bypass.in_all)),
    }
}
