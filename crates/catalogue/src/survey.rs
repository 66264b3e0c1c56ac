//! The survey: everything that is claimed of an algorithm beside what is found.
use std::{
    cell::Cell,
    fmt, panic,
    sync::{Arc, Once},
};

use doorway_algorithms::{About, Condition, Kind, LocalSpin, Size};
use doorway_checker::{Bound, Cost, Error, FailedCas, Model, Property, Report, Verdict};
use doorway_simulator::{Growth, Variable};

use crate::{Agreement, Comparison, bounded, check, claims, compare, glance, glance_limit, remote_references};

/// The number of states up to which another memory is searched in all executions, not just with one passage each.
const MAX_STATES_OF_ANOTHER_MEMORY: u64 = 600_000;

/// The number of states from which on a search that forgets values is faster, if many can be forgotten.
const FORGETTING_PAYS: u64 = 400_000;

/// An algorithm and what a survey found about it.
#[derive(Debug)]
pub struct Row {
    /// The algorithm.
    pub about: &'static About,
    /// The size at which it was checked.
    pub size: Size,
    /// What a check of every property found.
    pub report: Report,
    /// The claims beside the report.
    pub compared: Comparison,
    /// The number of crashes that it survives: it keeps what progress it has without them. `None` for a part, and if
    /// that was not decided.
    pub crashes: Option<usize>,
    /// For k-exclusion that was checked with k = 1, where surviving k-1 crashes says nothing: whether, of three
    /// processes with capacity 2 and one passage each, none starves if one crashes. `None` otherwise, and if that was
    /// not decided.
    pub survives_one_of_three: Option<bool>,
    /// The worst remote memory references of a passage, in the CC and the DSM model. `None` if nothing is claimed, as
    /// for a part, and if that was not decided.
    pub remote: Option<[Bound; 2]>,
    /// How they grow, if the source claims how.
    pub grown: Vec<Grown>,
    /// What it keeps on total store order, with its fences and with plain stores. `None` for a part.
    pub tso: Option<[Kept; 2]>,
    /// What it keeps on safe registers. `None` if it is not meant for them.
    pub safe: Option<Kept>,
}

/// How remote memory references grow with a variable.
#[derive(Clone, Debug)]
pub struct Grown {
    /// The variable.
    pub variable: Variable,
    /// The class in the CC and the DSM model.
    pub class: [String; 2],
    /// What was measured in the CC and the DSM model; `None` if the lock does not support the sizes.
    pub measured: [Option<Growth>; 2],
}

/// What a lock keeps, on another memory, of the properties that it is claimed to have and has on this one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kept {
    /// All of them, in executions with at most this number of passages of each process.
    All(Option<u32>),
    /// Not this one.
    Loses(Property),
    /// The algorithm cannot continue: what it reads violates its assertions.
    Breaks,
    /// That was not decided.
    Unknown,
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kept::All(None) => f.write_str("yes"),
            Kept::All(Some(1)) => f.write_str("yes, 1 passage"),
            Kept::All(Some(passages)) => write!(f, "yes, {passages} passages"),
            Kept::Loses(property) => write!(f, "no {property}"),
            Kept::Breaks => f.write_str("breaks"),
            Kept::Unknown => f.write_str("?"),
        }
    }
}

/// Surveys algorithms, one at a time.
///
/// ```
/// use doorway_catalogue::{Surveyor, find};
/// use doorway_checker::Bound;
///
/// let row = Surveyor::default().row(find("mcs").unwrap())?;
/// assert!(!row.differs() && !row.is_undecided());
/// assert_eq!(row.remote, Some([Bound::AtMost(8), Bound::AtMost(4)]));
/// # Ok::<(), doorway_checker::Error>(())
/// ```
pub struct Surveyor {
    shape: Box<dyn Fn(Model) -> Model>,
    cancelled: Arc<dyn Fn() -> bool>,
}

impl Default for Surveyor {
    fn default() -> Surveyor {
        Surveyor::new(|model| model, Arc::new(|| false))
    }
}

impl Surveyor {
    /// A surveyor that changes every model with `shape`, to set limits, and stops when `cancelled` returns true.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use doorway_catalogue::{Surveyor, find};
    ///
    /// let surveyor = Surveyor::new(|model| model.max_states(10), Arc::new(|| false));
    /// assert!(surveyor.row(find("mcs").unwrap())?.is_undecided());
    /// # Ok::<(), doorway_checker::Error>(())
    /// ```
    pub fn new(shape: impl Fn(Model) -> Model + 'static, cancelled: Arc<dyn Fn() -> bool>) -> Surveyor {
        Surveyor { shape: Box::new(shape), cancelled }
    }

    /// Everything about an algorithm. What was cancelled is missing in the row.
    ///
    /// See the [type's example](Surveyor).
    ///
    /// # Errors
    /// If the algorithm violates the interface.
    pub fn row(&self, about: &'static About) -> Result<Row, Error> {
        let size = about.size(None, None).expect("an algorithm supports its default size");
        let model = bounded(about, self.model(size));
        let report = check(about, size, &model)?;
        let compared = compare(&claims(about, &model), &report);
        let is_lock = about.kind != Kind::Part;
        let goes_on = || !(self.cancelled)();
        let mut row = Row {
            about,
            size,
            report,
            compared,
            crashes: None,
            survives_one_of_three: None,
            remote: None,
            grown: Vec::new(),
            tso: None,
            safe: None,
        };
        if is_lock && goes_on() {
            row.crashes = survived(about, size, &model, &row.report)?;
        }
        if about.kind == Kind::KExclusion && size.k == 1 && goes_on() {
            row.survives_one_of_three = self.survives_one_of(about, Size { n: 3, k: 2 })?;
        }
        if about.local_spin.is_some() && goes_on() {
            let model = if row.report.states > FORGETTING_PAYS { model.clone().forget() } else { model.clone() };
            let cc = remote_references(about, size, &model, Cost::Cc(FailedCas::Counts))?;
            let dsm = remote_references(about, size, &model, Cost::Dsm)?;
            let decided = !cc.stopped && !dsm.stopped;
            row.remote = decided.then(|| [cc.worst(), dsm.worst()]);
            row.grown = self.grown(about);
        }
        if is_lock && goes_on() {
            let kept = |memory: fn(Model) -> Model| kept(about, size, &model, &row.report, memory);
            row.tso = Some([kept(Model::tso), kept(Model::tso_without_fences)]);
        }
        if about.tolerates(Condition::SafeRegisters) && goes_on() {
            row.safe = Some(kept(about, size, &model, &row.report, Model::safe_registers));
        }
        Ok(row)
    }

    fn model(&self, size: Size) -> Model {
        (self.shape)(Model::new(size.n).k(size.k))
    }

    /// Whether no process starves if one crashes, with one passage each; `None` if that was not decided.
    fn survives_one_of(&self, about: &'static About, size: Size) -> Result<Option<bool>, Error> {
        const PROPERTY: Property = Property::StarvationFreedom;
        let report = check(about, size, &self.model(size).passages(1).crashes(1).only([PROPERTY]))?;
        Ok(report.holds(PROPERTY).then_some(true).or(report.fails(PROPERTY).then_some(false)))
    }

    /// How remote memory references grow with what the source says they do, as simulated.
    ///
    /// ```
    /// use doorway_catalogue::{Surveyor, find};
    /// let grown = Surveyor::default().grown(find("k-bakery").unwrap());
    /// assert_eq!(grown[0].class, ["Θ(N)", "Θ(N)"]);
    /// ```
    #[must_use]
    pub fn grown(&self, about: &'static About) -> Vec<Grown> {
        let Some(claimed) = about.remote else { return Vec::new() };
        let is_said_to_grow = |&variable: &Variable| match variable {
            Variable::N => true,
            Variable::K => about.kind == Kind::KExclusion && claimed.cc.contains('k'),
            Variable::C => claimed.cc.contains('c'),
        };
        let variables = [Variable::N, Variable::K, Variable::C].into_iter().filter(is_said_to_grow);
        variables
            .map(|variable| {
                let costs = [Cost::Cc(FailedCas::Counts), Cost::Dsm];
                let measured = costs.map(|cost| glance(about, cost, variable, self.cancelled.clone()));
                let class =
                    measured.each_ref().map(|growth| growth.as_ref().map_or("?".to_string(), |it| class(about, it)));
                Grown { variable, class, measured }
            })
            .collect()
    }
}

/// The class of a growth that a [`glance`] measured, in words: `Θ(N)`, `∞`, or `bounded, n ≤ 15`.
///
/// ```
/// use std::sync::Arc;
///
/// use doorway_catalogue::{class, find, glance};
/// use doorway_checker::Cost;
/// use doorway_simulator::Variable;
///
/// let mcs = find("mcs").unwrap();
/// assert_eq!(class(mcs, &glance(mcs, Cost::Dsm, Variable::N, Arc::new(|| false)).unwrap()), "Θ(1)");
/// ```
#[must_use]
pub fn class(about: &About, growth: &Growth) -> String {
    match glance_limit(about) {
        _ if growth.unbounded().is_some() => "∞".to_string(),
        Some(most) => format!("bounded, n ≤ {most}"),
        None => format!("Θ({})", growth.worst.shape.text(growth.variable)),
    }
}

/// How many processes may crash without the others losing what progress they have; `None` if that was not decided.
fn survived(about: &'static About, size: Size, model: &Model, report: &Report) -> Result<Option<usize>, Error> {
    let progress = [Property::DeadlockFreedom, Property::StarvationFreedom];
    let held: Vec<Property> = progress.into_iter().filter(|&property| report.holds(property)).collect();
    if progress.iter().any(|&property| report.finding(property).verdict == Verdict::Unknown) {
        return Ok(None);
    }
    let mut crashes = 0;
    while !held.is_empty() && crashes < size.n {
        let more = check(about, size, &model.clone().crashes(crashes + 1).only(held.clone()))?;
        if held.iter().any(|&property| more.fails(property)) {
            break;
        }
        if !held.iter().all(|&property| more.holds(property)) {
            return Ok(None);
        }
        crashes += 1;
    }
    Ok(Some(crashes))
}

/// What a lock keeps on another memory: in all executions if that does not take too long, else in those with one
/// passage of each process. A search for exclusion ends as soon as it fails, so that comes first.
fn kept(about: &'static About, size: Size, model: &Model, report: &Report, memory: fn(Model) -> Model) -> Kept {
    let claimed = Property::OF_LOCKS.into_iter().filter(|&property| about.holds(property));
    let held: Vec<Property> = claimed.filter(|&property| report.holds(property)).collect();
    let exclusion: Vec<Property> = held.iter().copied().filter(|&p| p == Property::Exclusion).collect();
    let all_passages = memory(model.clone()).max_states(MAX_STATES_OF_ANOTHER_MEMORY);
    let searches = [
        (exclusion, all_passages.clone(), None),
        (held.clone(), all_passages, Some(about.survey.passages())),
        (held, memory(model.clone()).passages(1), Some(Some(1))),
    ];
    let mut searches = searches.into_iter();
    let found = without_messages(|| {
        searches.find_map(|(properties, model, passages)| {
            if properties.is_empty() {
                return None;
            }
            let Ok(report) = check(about, size, &model.only(properties.iter().copied())) else {
                return Some(Kept::Breaks);
            };
            let lost = properties.iter().find(|&&property| report.fails(property));
            let all_hold = properties.iter().all(|&property| report.holds(property));
            lost.map(|&property| Kept::Loses(property)).or_else(|| passages.filter(|_| all_hold).map(Kept::All))
        })
    });
    found.unwrap_or(Kept::Unknown)
}

/// Does something in which panics of this thread print no message: an algorithm that panics on another memory is a finding.
fn without_messages<T>(action: impl FnOnce() -> T) -> T {
    thread_local! {
        static SILENT: Cell<bool> = const { Cell::new(false) };
    }
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !SILENT.try_with(Cell::get).unwrap_or(false) {
                usual(panic);
            }
        }));
    });
    SILENT.set(true);
    let result = action();
    SILENT.set(false);
    result
}

/// The classes that were fitted in the CC (0) or the DSM model (1), each once.
///
/// ```
/// use doorway_catalogue::{Surveyor, classes, find};
/// assert_eq!(classes(&Surveyor::default().grown(find("k-bakery").unwrap()), 1), "Θ(N)");
/// ```
#[must_use]
pub fn classes(grown: &[Grown], model: usize) -> String {
    let mut classes: Vec<&str> = grown.iter().map(|grown| grown.class[model].as_str()).collect();
    classes.dedup();
    classes.join(", ")
}

impl Row {
    /// The worst remote memory references of a passage in the CC (0) or the DSM model (1), in words: `8`, `∞`, `≥8` if not
    /// every execution was explored, or `?`.
    ///
    /// ```
    /// use doorway_catalogue::{Surveyor, find};
    /// let row = Surveyor::default().row(find("mcs").unwrap())?;
    /// assert_eq!((row.exact(0), row.exact_with_size(1)), ("8".to_string(), "4 (n=3)".to_string()));
    /// # Ok::<(), doorway_checker::Error>(())
    /// ```
    #[must_use]
    pub fn exact(&self, model: usize) -> String {
        match self.remote.map(|bounds| bounds[model]) {
            None => "?".to_string(),
            Some(Bound::Unbounded) => "∞".to_string(),
            Some(Bound::AtMost(number)) if self.report.incomplete.is_some() => format!("≥{number}"),
            Some(Bound::AtMost(number)) => number.to_string(),
        }
    }

    /// As [`exact`](Row::exact), with the size that it is for.
    #[must_use]
    pub fn exact_with_size(&self, model: usize) -> String {
        let k = if self.about.kind == Kind::KExclusion { format!(", k={}", self.size.k) } else { String::new() };
        match self.remote {
            None => "?".to_string(),
            Some(_) => format!("{} (n={}{k})", self.exact(model), self.size.n),
        }
    }

    /// Whether it is starvation-free with crashes, in words.
    ///
    /// See [`is_starvation_free_with_crashes`](Row::is_starvation_free_with_crashes).
    #[must_use]
    pub fn starvation_free_text(&self) -> &'static str {
        match self.is_starvation_free_with_crashes() {
            // With k = 1 it was checked for three processes with k = 2.
            Some(true) if self.size.k == 1 => "yes, 1 passage",
            Some(true) => "yes",
            Some(false) => "no",
            None => "?",
        }
    }

    /// Whether anything that is claimed was not decided.
    ///
    /// See the [example of `Surveyor`](Surveyor).
    #[must_use]
    pub fn is_undecided(&self) -> bool {
        let is_lock = self.about.kind != Kind::Part;
        let unknown = self.report.findings.iter().any(|finding| finding.verdict == Verdict::Unknown);
        let memory = matches!(self.tso, Some([Kept::Unknown, _])) || matches!(self.safe, Some(Kept::Unknown));
        unknown
            || memory
            || (is_lock && (self.crashes.is_none() || self.tso.is_none()))
            || (self.about.local_spin.is_some() && self.remote.is_none())
    }

    /// Whether anything is not as claimed.
    ///
    /// See the [example of `Surveyor`](Surveyor).
    #[must_use]
    pub fn differs(&self) -> bool {
        let loses = matches!(self.tso, Some([Kept::Loses(_) | Kept::Breaks, _]))
            || matches!(self.safe, Some(Kept::Loses(_) | Kept::Breaks));
        self.compared.overall() == Agreement::Differs || loses || self.crashes_differ() || self.remote_differs()
    }

    /// Whether it survives fewer crashes than claimed.
    ///
    /// See the [example of `Surveyor`](Surveyor).
    #[must_use]
    pub fn crashes_differ(&self) -> bool {
        self.crashes.is_some_and(|crashes| crashes < self.about.crashes(self.size.k))
            || (self.survives_one_of_three == Some(false) && self.about.crashes(2) > 0)
    }

    /// Whether its remote memory references are bounded where they are said not to be, or the other way round.
    ///
    /// See the [example of `Surveyor`](Surveyor).
    #[must_use]
    pub fn remote_differs(&self) -> bool {
        let found = self.remote.map(|[cc, dsm]| LocalSpin { cc: cc != Bound::Unbounded, dsm: dsm != Bound::Unbounded });
        found.is_some() && found != self.about.local_spin
    }

    /// Whether no process starves even if k-1 crash; `None` if that was not decided.
    ///
    /// ```
    /// use doorway_catalogue::{Surveyor, find};
    /// let row = Surveyor::default().row(find("gottlieb").unwrap())?;
    /// assert_eq!(row.is_starvation_free_with_crashes(), Some(false));
    /// # Ok::<(), doorway_checker::Error>(())
    /// ```
    #[must_use]
    pub fn is_starvation_free_with_crashes(&self) -> Option<bool> {
        if self.size.k == 1 {
            return self.survives_one_of_three;
        }
        let crashes = self.crashes?;
        Some(self.report.holds(Property::StarvationFreedom) && crashes + 1 >= self.size.k)
    }
}
