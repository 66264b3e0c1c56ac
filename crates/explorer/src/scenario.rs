//! Which executions to look at: an algorithm, its size, and the options of `doorway check`.
use doorway_algorithms::{About, Condition, Extent, Kind, Pinned, Size};
use doorway_catalogue::{find, subject};
use doorway_checker::Model;
use serde_json::{Value, json};

/// An algorithm, its size and the options of a check.
///
/// ```
/// use doorway_explorer::Scenario;
///
/// let scenario = Scenario::parse([("algorithm", "fast-path"), ("tso", "true")])?;
/// assert_eq!(scenario.command(), "doorway check fast-path --memory tso");
/// assert_eq!(scenario.as_json()["n"], 2);
/// let error = Scenario::parse([("algorithm", "fast-path"), ("n", "many")]).unwrap_err();
/// assert_eq!(error, "`n` is a number, not `many`");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Scenario {
    /// The algorithm.
    pub about: &'static About,
    /// The numbers of processes and of holders.
    pub size: Size,
    /// How many processes may crash.
    pub crashes: usize,
    /// Whether processes may die.
    pub deaths: bool,
    /// Whether waiters may abort.
    pub aborts: bool,
    /// Whether processes may die, and live ones be taken for dead.
    pub expiries: bool,
    /// Whether registers are only safe.
    pub safe: bool,
    /// Whether writes go through store buffers.
    pub tso: bool,
    /// Whether the algorithm has its fences.
    pub fences: bool,
    /// The most passages of a process.
    pub passages: Option<u32>,
}

impl Scenario {
    /// An algorithm at its default size, without failures.
    ///
    /// # Panics
    /// If the algorithm does not support its default size.
    ///
    /// ```
    /// let peterson = doorway_catalogue::find("peterson").unwrap();
    /// assert_eq!(doorway_explorer::Scenario::of(peterson).size.n, 2);
    /// ```
    #[must_use]
    pub fn of(about: &'static About) -> Scenario {
        let size = about.size(None, None).expect("an algorithm supports its default size");
        Scenario {
            about,
            size,
            crashes: 0,
            deaths: false,
            aborts: false,
            expiries: false,
            safe: false,
            tso: false,
            fences: true,
            passages: None,
        }
    }

    /// The scenario that the survey checks: the passages of a few large algorithms are limited.
    ///
    /// ```
    /// let afek = doorway_catalogue::find("afek").unwrap();
    /// assert!(doorway_explorer::Scenario::surveyed(afek).passages.is_some());
    /// ```
    #[must_use]
    pub fn surveyed(about: &'static About) -> Scenario {
        Scenario { passages: about.survey.passages(), ..Scenario::of(about) }
    }

    /// The scenario of a pinned check; none if single steps cannot show it.
    pub(crate) fn pinned(about: &'static About, pinned: &Pinned) -> Option<Scenario> {
        Some(Scenario {
            size: about.size(Some(pinned.n), pinned.k).ok()?,
            crashes: pinned.crashes,
            deaths: pinned.under.contains(&Condition::Deaths),
            aborts: pinned.under.contains(&Condition::Aborts),
            expiries: pinned.under.contains(&Condition::Expiries),
            safe: pinned.under.contains(&Condition::SafeRegisters),
            tso: pinned.under.contains(&Condition::Tso),
            passages: match pinned.extent {
                Extent::Surveyed => about.survey.passages(),
                Extent::Whole => None,
                Extent::Passages(passages) => Some(passages),
                Extent::InAll(_) => return None,
            },
            ..Scenario::of(about)
        })
    }

    /// A scenario from options, by name and value, as they are in a link.
    ///
    /// See the [type's example](Scenario).
    ///
    /// # Errors
    /// If an option or the algorithm is unknown, or the algorithm does not support it; in one sentence with the way out.
    pub fn parse<'a>(options: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Scenario, String> {
        let options: Vec<(&str, &str)> = options.into_iter().collect();
        let value = |name: &str| options.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
        let number = |name: &str| -> Result<Option<usize>, String> {
            let Some(text) = value(name).filter(|text| !text.is_empty()) else { return Ok(None) };
            text.parse().map(Some).map_err(|_| format!("`{name}` is a number, not `{text}`"))
        };
        let flag = |name: &str, otherwise: bool| match value(name) {
            None => Ok(otherwise),
            Some("true" | "1" | "") => Ok(true),
            Some("false" | "0") => Ok(false),
            Some(text) => Err(format!("`{name}` is `true` or `false`, not `{text}`")),
        };
        const KNOWN: [&str; 11] =
            ["algorithm", "n", "k", "crashes", "deaths", "aborts", "expiries", "safe", "tso", "fences", "passages"];
        if let Some((name, _)) = options.iter().find(|(name, _)| !KNOWN.contains(name)) {
            return Err(format!("there is no option `{name}`; the options are {}", KNOWN.join(", ")));
        }
        let name = value("algorithm").ok_or("an algorithm is missing; name one with `algorithm=`")?;
        let about = find(name).map_err(|unknown| match unknown.near() {
            Some(near) => format!("{unknown}; did you mean `{near}`?"),
            None => format!("{unknown}; `doorway list` shows them all"),
        })?;
        let k = number("k")?.filter(|_| about.kind == Kind::KExclusion);
        let size = about.size(number("n")?, k).map_err(|error| error.to_string())?;
        let scenario = Scenario {
            about,
            size,
            crashes: number("crashes")?.unwrap_or(0),
            deaths: flag("deaths", false)?,
            aborts: flag("aborts", false)?,
            expiries: flag("expiries", false)?,
            safe: flag("safe", false)?,
            tso: flag("tso", false)?,
            fences: flag("fences", true)?,
            passages: number("passages")?.map(|passages| u32::try_from(passages).unwrap_or(u32::MAX - 1)),
        };
        scenario.is_supported()?;
        Ok(scenario)
    }

    fn is_supported(&self) -> Result<(), String> {
        let name = self.about.name;
        let offers = Offers::of(self.about, self.size);
        match () {
            () if self.deaths && !offers.deaths => Err(format!("`{name}` has no recovery (`reap`); leave out deaths")),
            () if self.expiries && !offers.deaths => {
                Err(format!("`{name}` has no recovery (`reap`); leave out expiries"))
            }
            () if self.aborts && !offers.aborts => Err(format!("`{name}` is not abortable; leave out aborts")),
            () if !self.fences && !self.tso => {
                Err("without store buffers fences do nothing; add tso, or leave the fences".to_string())
            }
            () => Ok(()),
        }
    }

    /// The model of the checker.
    ///
    /// ```
    /// let peterson = doorway_catalogue::find("peterson").unwrap();
    /// assert!(!doorway_explorer::Scenario::of(peterson).model().assumptions().tso);
    /// ```
    #[must_use]
    pub fn model(&self) -> Model {
        let mut model = Model::new(self.size.n).k(self.size.k).crashes(self.crashes);
        if let Some(passages) = self.passages {
            model = model.passages(passages);
        }
        type Switch = fn(Model) -> Model;
        let switches: [(bool, Switch); 6] = [
            (self.safe, Model::safe_registers),
            (self.deaths, Model::deaths),
            (self.aborts, Model::aborts),
            (self.expiries, Model::expiries),
            (self.tso && self.fences, Model::tso),
            (self.tso && !self.fences, Model::tso_without_fences),
        ];
        switches.into_iter().filter(|(is_on, _)| *is_on).fold(model, |model, (_, switch)| switch(model))
    }

    /// The command that checks it.
    ///
    /// See the [type's example](Scenario).
    #[must_use]
    pub fn command(&self) -> String {
        let default = Scenario::of(self.about);
        let mut words = vec!["doorway check".to_string(), self.about.name.to_string()];
        let mut add = |is_there: bool, word: String| {
            if is_there {
                words.push(word);
            }
        };
        add(self.size.n != default.size.n, format!("-n {}", self.size.n));
        add(self.size.k != default.size.k, format!("-k {}", self.size.k));
        add(self.crashes > 0, format!("--crashes {}", self.crashes));
        add(self.deaths, "--deaths".to_string());
        add(self.aborts, "--aborts".to_string());
        add(self.expiries, "--expiries".to_string());
        add(self.safe, "--registers safe".to_string());
        add(self.tso, "--memory tso".to_string());
        add(!self.fences, "--no-fences".to_string());
        add(self.passages.is_some(), format!("--passages {}", self.passages.unwrap_or_default()));
        words.join(" ")
    }

    /// As JSON; `docs/explorer.md` calls it a model.
    ///
    /// See the [type's example](Scenario).
    #[must_use]
    pub fn as_json(&self) -> Value {
        json!({
            "algorithm": self.about.name,
            "n": self.size.n,
            "k": (self.about.kind != Kind::Part).then_some(self.size.k),
            "crashes": self.crashes,
            "deaths": self.deaths,
            "aborts": self.aborts,
            "expiries": self.expiries,
            "safe": self.safe,
            "tso": self.tso,
            "fences": self.fences,
            "passages": self.passages,
        })
    }
}

/// The options that an algorithm has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Offers {
    pub(crate) deaths: bool,
    pub(crate) aborts: bool,
    pub(crate) safe: bool,
}

impl Offers {
    pub(crate) fn of(about: &'static About, size: Size) -> Offers {
        let subject = subject(about, size);
        Offers {
            deaths: subject.is_reapable(),
            aborts: subject.is_abortable(),
            safe: about.tolerates(Condition::SafeRegisters),
        }
    }
}
