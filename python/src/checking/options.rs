//! The options of a check as a model.
use doorway_checker::{MAX_PROCESSES, Model, Property};
use pyo3::prelude::*;

use crate::errors::Class;

/// The options of a check, but for its size.
#[derive(FromPyObject)]
pub(crate) struct Options {
    crashes: usize,
    pub(crate) deaths: bool,
    pub(crate) aborts: bool,
    pub(crate) expiries: bool,
    pub(crate) passages: Option<u32>,
    passages_in_all: Option<u32>,
    symmetry: bool,
    forget: bool,
    merge: bool,
    registers: String,
    memory: String,
    fences: bool,
    properties: Option<Vec<String>>,
    threads: Option<usize>,
    max_states: Option<u64>,
    max_memory: Option<u64>,
}

impl Options {
    pub(crate) fn model(&self, n: usize, k: usize) -> PyResult<Model> {
        let wrong = |why: String| Err(Class::Model.error(why));
        if !(1..=MAX_PROCESSES).contains(&n) {
            return wrong(format!("n is from 1 to {MAX_PROCESSES}, not {n}"));
        }
        if k == 0 {
            return wrong("k is at least 1, not 0".to_string());
        }
        let mut model = Model::new(n).k(k).crashes(self.crashes);
        if self.deaths {
            model = model.deaths();
        }
        if self.aborts {
            model = model.aborts();
        }
        if self.expiries {
            model = model.expiries();
        }
        match self.registers.as_str() {
            "atomic" => {}
            "safe" => model = model.safe_registers(),
            other => return wrong(format!("`registers` is \"atomic\" or \"safe\", not {other:?}")),
        }
        match (self.memory.as_str(), self.fences) {
            ("sc", true) => {}
            ("sc", false) => {
                return wrong("without store buffers fences do nothing; give `memory=\"tso\"`".to_string());
            }
            ("tso", true) => model = model.tso(),
            ("tso", false) => model = model.tso_without_fences(),
            (other, _) => return wrong(format!("`memory` is \"sc\" or \"tso\", not {other:?}")),
        }
        if self.passages == Some(0) || self.passages_in_all == Some(0) {
            return wrong("with no passage there is nothing to check; allow at least 1".to_string());
        }
        if let Some(passages) = self.passages {
            model = model.passages(passages);
        }
        if let Some(passages) = self.passages_in_all {
            model = model.passages_in_all(passages);
        }
        if self.symmetry {
            model = model.symmetric();
        }
        if self.forget {
            model = model.forget();
        }
        if self.merge {
            model = model.merge();
        }
        if let Some(threads) = self.threads {
            model = model.threads(threads.max(1));
        }
        if let Some(states) = self.max_states {
            model = model.max_states(states);
        }
        if let Some(bytes) = self.max_memory {
            model = model.max_memory(bytes);
        }
        Ok(model)
    }

    /// The properties asked for, of those that the subject has; none stands for all.
    pub(crate) fn properties(&self, all: &[Property]) -> PyResult<Vec<Property>> {
        let list = || all.iter().map(|property| property.name()).collect::<Vec<_>>().join(", ");
        let known = |name: &String| match Property::named(name) {
            Some(property) if all.contains(&property) => Ok(property),
            Some(_) => {
                Err(Class::Model.error(format!("`{name}` is not a property of this algorithm; it has {}", list())))
            }
            None => Err(Class::Model.error(format!("no property is called `{name}`; the properties are {}", list()))),
        };
        self.properties.iter().flatten().map(known).collect()
    }
}
