//! The checks whose results stand beside the claims in the algorithms' files; see [`Pinned`].
use std::panic::Location;

use doorway_algorithms::{About, Claimed, Condition, Extent, Finds, Kind, Pinned, Size};
use doorway_checker::{Cost, Error, FailedCas, Finding, Model, Property, Report, Verdict};

use crate::{Agreement, bounded, check, claims, compare, remote_references};

/// The numbers of states up to which searches without a fence look for a violation, one after the other.
const MAX_STATES_WITHOUT_A_FENCE: [u64; 2] = [1_000_000, 3_000_000];

/// The size of a pinned check.
///
/// # Panics
/// If the algorithm does not support it.
///
/// ```
/// use doorway_catalogue::{find, pinned};
/// let bakery = find("bakery").unwrap();
/// assert_eq!(pinned::size(bakery, &bakery.pinned[0]).n, 2);
/// ```
#[must_use]
pub fn size(about: &About, pinned: &Pinned) -> Size {
    about.size(Some(pinned.n), pinned.k).unwrap_or_else(|error| panic!("{error}"))
}

/// The model of a pinned check.
///
/// ```
/// use doorway_catalogue::{find, pinned};
/// let bakery = find("bakery").unwrap();
/// assert_eq!(pinned::model(bakery, &bakery.pinned[1]).assumptions().n, 3);
/// ```
#[must_use]
pub fn model(about: &About, pinned: &Pinned) -> Model {
    let size = size(about, pinned);
    let model = Model::new(size.n).k(size.k).crashes(pinned.crashes);
    let model = match pinned.extent {
        Extent::Surveyed => bounded(about, model),
        Extent::Whole => model,
        Extent::Passages(limit) => model.passages(limit),
        Extent::InAll(limit) => model.passages_in_all(limit),
    };
    let model = if pinned.symmetric { model.symmetric() } else { model };
    pinned.under.iter().fold(model, |model, condition| match condition {
        Condition::Crashes => panic!("{}: a pinned check tells its crashes by their number", about.name),
        Condition::Deaths => model.deaths(),
        Condition::Aborts => model.aborts(),
        Condition::Expiries => model.expiries(),
        Condition::SafeRegisters => model.safe_registers(),
        Condition::Tso => model.tso(),
    })
}

/// Runs a pinned check again, and says what is not as pinned or as claimed.
///
/// ```
/// use doorway_catalogue::{find, pinned};
/// let bakery = find("bakery").unwrap();
/// assert_eq!(pinned::recheck(bakery, &bakery.pinned[0]), Ok(()));
/// let wrong = bakery.pinned[0].finds(217);
/// assert_eq!(pinned::recheck(bakery, &wrong).unwrap_err(), "bakery n=2 k=1: 218 states, not 217");
/// ```
///
/// # Errors
/// In words, if anything differs.
pub fn recheck(about: &'static About, pinned: &Pinned) -> Result<(), String> {
    let Size { n, k } = size(about, pinned);
    recheck_unnamed(about, pinned).map_err(|difference| format!("{} n={n} k={k}: {difference}", about.name))
}

fn recheck_unnamed(about: &'static About, pinned: &Pinned) -> Result<(), String> {
    match pinned.finds {
        Finds::States(states) => states_and_claims(about, pinned, states).map(drop),
        Finds::Fenced(states, fences) => {
            let report = states_and_claims(about, pinned, states)?;
            equal("fences", report.fences.len(), fences)
        }
        Finds::Counterexample(property, text) => {
            let model = model(about, pinned);
            if !about.claims.iter().any(|claim| claim.property == property && claim.claimed != Claimed::Holds) {
                return Err(format!("{property} is not said to fail"));
            }
            let report = found(check(about, size(about, pinned), &model.only([property])))?;
            let finding = report.finding(property);
            let execution = finding.execution.as_ref().ok_or_else(|| format!("no execution refutes {property}"))?;
            let printed = format!("{finding}{execution}");
            let is_as_pinned = if text.lines().count() == 1 { printed.starts_with(text) } else { printed == text };
            if is_as_pinned { Ok(()) } else { Err(format!("the counterexample is\n{printed}and not\n{text}")) }
        }
        Finds::Remote(cc, dsm) => {
            for (cost, pinned_bound) in [(Cost::Cc(FailedCas::Counts), cc), (Cost::Dsm, dsm)] {
                let worst = found(remote_references(about, size(about, pinned), &model(about, pinned), cost))?;
                if worst.incomplete.is_none() && !worst.is_exact() {
                    return Err(format!("a bound is not attained by an execution ({cost:?})"));
                }
                equal(&format!("remote memory references ({cost:?})"), worst.worst().number(), pinned_bound)?;
            }
            Ok(())
        }
        Finds::FencesNeeded { .. } => Ok(()), // all such checks together show it: see `fences`
    }
}

fn found<T>(result: Result<T, Error>) -> Result<T, String> {
    result.map_err(|error| error.to_string())
}

fn equal<T: PartialEq + std::fmt::Debug>(what: &str, found: T, pinned: T) -> Result<(), String> {
    if found == pinned { Ok(()) } else { Err(format!("{found:?} {what}, not {pinned:?}")) }
}

/// The report of a check that finds this number of states, decides every property, and finds everything as claimed.
fn states_and_claims(about: &'static About, pinned: &Pinned, states: u64) -> Result<Report, String> {
    let model = model(about, pinned);
    let report = found(check(about, size(about, pinned), &model))?;
    let claims = claims(about, &model);
    if claims.is_empty() {
        return Err("nothing is claimed under these conditions".to_string());
    }
    let is_limited = match pinned.extent {
        Extent::Surveyed => about.survey.passages().is_some(),
        Extent::Whole => false,
        Extent::Passages(_) | Extent::InAll(_) => true,
    };
    // A process that writes for ever without a fence fills any store buffer.
    let may_be_incomplete = matches!(pinned.finds, Finds::Fenced(..));
    if report.incomplete.is_some() != is_limited && !may_be_incomplete {
        let why = report.incomplete.as_deref().unwrap_or("it explores every execution");
        return Err(format!("the extent of the search is not as pinned: {why}"));
    }
    // An execution in which a property fails may not be among those of a limited search, where the property then holds.
    let holds = |property: Property| report.finding(property).verdict == Verdict::Holds;
    let is_expected = |(property, agreement): &&(Property, Agreement)| match agreement {
        Agreement::Agrees => true,
        Agreement::Undecided => is_limited && holds(*property),
        Agreement::Differs => false,
    };
    if let Some((property, _)) = compare(&claims, &report).properties.iter().find(|compared| !is_expected(compared)) {
        return Err(format!("{property} is not as claimed\n{report}"));
    }
    let is_shown = |finding: &&Finding| match finding.verdict {
        Verdict::Holds => finding.execution.is_none(),
        Verdict::Fails => finding.execution.is_some(),
        Verdict::Unknown => false,
    };
    if let Some(finding) = report.findings.iter().find(|finding| !is_shown(finding)) {
        return Err(format!("{} is undecided, or fails without an execution\n{report}", finding.property));
    }
    equal("states", report.states, states)?;
    Ok(report)
}

/// The fences that an algorithm's checks are about, and whether one of the checks loses a claim without it.
///
/// ```
/// use doorway_catalogue::{find, pinned};
/// let fences = pinned::fences(find("peterson").unwrap()).unwrap();
/// assert!(fences.len() == 1 && fences[0].1, "Peterson's lock has one fence, and needs it");
/// ```
///
/// # Errors
/// In words, if the algorithm cannot be checked.
pub fn fences(about: &'static About) -> Result<Vec<(&'static Location<'static>, bool)>, String> {
    let mut fences: Vec<(&'static Location<'static>, bool)> = Vec::new();
    for pinned in about.pinned {
        let Finds::FencesNeeded { file, lost } = pinned.finds else { continue };
        let file = format!("/{}.rs", file.unwrap_or(&about.name.replace('-', "_")));
        let (size, model) = (size(about, pinned), model(about, pinned));
        let met = found(check(about, size, &model.clone().tso().only([cheapest(about)])))?.fences;
        for fence in met.into_iter().filter(|fence| fence.file().ends_with(&file)) {
            if !fences.iter().any(|(known, _)| *known == fence) {
                fences.push((fence, false));
            }
        }
        for (fence, is_needed) in &mut fences {
            *is_needed = *is_needed || loses(about, size, &model.clone().tso_without_fence(fence), lost);
        }
    }
    Ok(fences)
}

/// The property that a search decides first: it ends at the first violation.
fn cheapest(about: &About) -> Property {
    if about.kind == Kind::Part { Property::Rule } else { Property::Exclusion }
}

/// Whether the algorithm loses one of these properties in a model, or of all that it is claimed to have.
fn loses(about: &'static About, size: Size, model: &Model, lost: &[Property]) -> bool {
    let claimed: Vec<Property> = Property::OF_LOCKS.into_iter().filter(|&property| about.holds(property)).collect();
    let searches = match (lost.is_empty(), about.kind) {
        (false, _) => vec![lost.to_vec()],
        (true, Kind::Part) => vec![vec![cheapest(about)]],
        (true, _) => vec![vec![cheapest(about)], claimed],
    };
    let is_lost = |properties: &[Property], most| {
        match check(about, size, &model.clone().only(properties.iter().copied()).max_states(most)) {
            Ok(report) => properties.iter().any(|&property| report.fails(property)),
            Err(error) => error.to_string().contains("panicked"), // what it reads violates its assertions
        }
    };
    MAX_STATES_WITHOUT_A_FENCE.into_iter().any(|most| searches.iter().any(|properties| is_lost(properties, most)))
}
