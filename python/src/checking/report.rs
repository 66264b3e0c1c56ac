//! What was found, as Python objects.
use doorway_checker::{self as checker, picture};
use pyo3::{
    prelude::*,
    types::{PyDict, PyList},
};

/// What a check has found.
#[pyclass(frozen, get_all, module = "fairdoorway")]
pub(crate) struct Report {
    /// The algorithm's name, or that of the lock's class.
    algorithm: String,
    /// The number of processes.
    n: usize,
    /// The capacity.
    k: usize,
    /// The number of reachable states.
    states: u64,
    /// The number of steps between them.
    transitions: u64,
    /// The largest distance of a state from the initial state, in steps.
    depth: u32,
    /// The time taken, in seconds.
    seconds: f64,
    /// Whether the answer is about every execution.
    complete: bool,
    /// Why it is not; `None` if it is.
    reason: Option<String>,
    /// The findings by the name of the property.
    findings: Py<PyDict>,
    /// Whether all is as the source claims: `True`, `False`, or `None` if undecided, or if nothing is claimed.
    as_claimed: Option<bool>,
    /// The primitives that the algorithm uses.
    primitives: Vec<String>,
    text: String,
}

/// What was found about one property.
#[pyclass(frozen, get_all, module = "fairdoorway")]
pub(crate) struct Finding {
    /// The name of the property.
    property: String,
    /// `"holds"`, `"fails"` or `"unknown"`.
    verdict: String,
    /// A counterexample, if it fails.
    execution: Option<Py<Execution>>,
    /// What is wrong, in words.
    note: String,
    /// The processes for which it fails, if it is a property of single processes.
    processes: Vec<usize>,
    /// For `bypass`: how many times another process can overtake; `None` if there is no bound.
    bound: Option<u32>,
    text: String,
}

/// An execution: what the processes do, step by step.
#[pyclass(frozen, module = "fairdoorway")]
pub(crate) struct Execution {
    execution: checker::Execution,
    n: usize,
    title: String,
}

/// One step of an execution.
#[pyclass(frozen, get_all, module = "fairdoorway")]
#[derive(Clone)]
pub(crate) struct Step {
    /// The process, from 0.
    process: usize,
    /// The line of the paper, or of the source.
    line: String,
    /// The access: `flag[0] := true` writes, `flag[1] = true` reads.
    access: String,
    /// What the process arrives at: `"inside"`, `"out"`, `"reaped"`, or `None`.
    arrives: Option<String>,
    /// The sections of the process before and after the step.
    sections: (String, String),
    /// Whether it reads the register.
    reads: bool,
    /// Whether it writes the register.
    writes: bool,
    /// If it reads: the index of the step whose write it saw; `None` for the initial value.
    seen: Option<usize>,
}

impl Report {
    pub(crate) fn new(
        py: Python<'_>,
        algorithm: &str,
        (n, k): (usize, usize),
        report: &checker::Report,
        as_claimed: Option<bool>,
    ) -> PyResult<Report> {
        let findings = PyDict::new(py);
        for found in &report.findings {
            let name = found.property.name();
            let title = format!("{algorithm}: {name} fails");
            let execution = found.execution.clone().map(|execution| Py::new(py, Execution { execution, n, title }));
            let finding = Finding {
                property: name.to_string(),
                verdict: found.verdict.name().to_string(),
                execution: execution.transpose()?,
                note: found.note.clone(),
                processes: found.processes.clone(),
                bound: found.bypass.and_then(|bypass| bypass.late.number()),
                text: found.to_string().trim_end().to_string(),
            };
            findings.set_item(name, Py::new(py, finding)?)?;
        }
        Ok(Report {
            algorithm: algorithm.to_string(),
            n,
            k,
            states: report.states,
            transitions: report.transitions,
            depth: report.depth,
            seconds: report.seconds,
            complete: report.incomplete.is_none(),
            reason: report.incomplete.clone(),
            findings: findings.unbind(),
            as_claimed,
            primitives: report.primitives.iter().map(ToString::to_string).collect(),
            text: format!("{algorithm} n={n} k={k}: {}", report.to_string().trim_end()),
        })
    }

    fn found<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, Finding>> {
        let found = self.findings.bind(py).get_item(name)?;
        let found = found.ok_or_else(|| pyo3::exceptions::PyKeyError::new_err(format!("`{name}` was not checked")))?;
        Ok(found.cast_into::<Finding>()?)
    }
}

#[pymethods]
impl Report {
    /// Whether a property holds in every execution.
    fn holds(&self, py: Python<'_>, property: &str) -> PyResult<bool> {
        Ok(self.found(py, property)?.get().verdict == "holds")
    }

    /// Whether a counterexample to a property was found.
    fn fails(&self, py: Python<'_>, property: &str) -> PyResult<bool> {
        Ok(self.found(py, property)?.get().verdict == "fails")
    }

    /// The finding for a property.
    fn __getitem__<'py>(&self, py: Python<'py>, property: &str) -> PyResult<Bound<'py, Finding>> {
        self.found(py, property)
    }

    /// The verdicts by the name of the property: `"holds"`, `"fails"` or `"unknown"`.
    #[getter]
    fn verdicts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let verdicts = PyDict::new(py);
        for (name, finding) in self.findings.bind(py) {
            verdicts.set_item(name, &finding.cast::<Finding>()?.get().verdict)?;
        }
        Ok(verdicts)
    }

    /// Everything as dictionaries, lists, strings and numbers.
    fn as_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        all.set_item("algorithm", &self.algorithm)?;
        all.set_item("n", self.n)?;
        all.set_item("k", self.k)?;
        all.set_item("states", self.states)?;
        all.set_item("transitions", self.transitions)?;
        all.set_item("depth", self.depth)?;
        all.set_item("seconds", self.seconds)?;
        all.set_item("complete", self.complete)?;
        all.set_item("reason", &self.reason)?;
        all.set_item("as_claimed", self.as_claimed)?;
        let findings = PyDict::new(py);
        for (name, finding) in self.findings.bind(py) {
            findings.set_item(name, finding.cast::<Finding>()?.get().as_dict(py)?)?;
        }
        all.set_item("properties", findings)?;
        Ok(all)
    }

    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!("<Report of {} n={} k={}: {} states>", self.algorithm, self.n, self.k, self.states)
    }
}

#[pymethods]
impl Finding {
    /// As dictionaries, lists, strings and numbers.
    fn as_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        all.set_item("verdict", &self.verdict)?;
        let steps = PyList::empty(py);
        if let Some(execution) = &self.execution {
            for step in execution.get().steps() {
                let row = PyDict::new(py);
                row.set_item("process", step.process)?;
                row.set_item("line", step.line)?;
                row.set_item("access", step.access)?;
                row.set_item("arrives", step.arrives)?;
                steps.append(row)?;
            }
        }
        all.set_item("trace", steps)?;
        all.set_item("cycle_at", self.execution.as_ref().and_then(|execution| execution.get().execution.cycle_at))?;
        all.set_item("processes", &self.processes)?;
        all.set_item("note", &self.note)?;
        if self.property == "bypass" {
            all.set_item("bound", self.bound)?;
        }
        Ok(all)
    }

    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!("<Finding {}: {}>", self.property, self.verdict)
    }
}

impl Execution {
    pub(crate) fn new(title: String, n: usize, execution: checker::Execution) -> Execution {
        Execution { execution, n, title }
    }
}

#[pymethods]
impl Execution {
    /// The steps, from the initial state.
    #[getter]
    fn steps(&self) -> Vec<Step> {
        let shown = |step: &checker::Step| Step {
            process: step.process,
            line: step.line.clone(),
            access: step.access.clone(),
            arrives: step.arrives.map(str::to_string),
            sections: (step.sections[0].to_string(), step.sections[1].to_string()),
            reads: step.reads,
            writes: step.writes,
            seen: step.from,
        };
        self.execution.steps.iter().map(shown).collect()
    }

    /// The index of the step with which the cycle starts, which is repeated for ever; `None` if there is none.
    #[getter]
    fn cycle_at(&self) -> Option<usize> {
        self.execution.cycle_at
    }

    /// A picture: a lane for each process, time downwards, an arrow from a write to the reads that saw it.
    #[pyo3(signature = (title=None))]
    fn svg(&self, title: Option<&str>) -> String {
        picture(title.unwrap_or(&self.title), self.n, &self.execution)
    }

    fn _repr_svg_(&self) -> String {
        self.svg(None)
    }

    fn __len__(&self) -> usize {
        self.execution.steps.len()
    }

    fn __str__(&self) -> String {
        self.execution.to_string().trim_end_matches('\n').to_string()
    }

    fn __repr__(&self) -> String {
        format!("<Execution of {} steps: {}>", self.execution.steps.len(), self.title)
    }
}

#[pymethods]
impl Step {
    fn __repr__(&self) -> String {
        let arrives = self.arrives.as_ref().map_or(String::new(), |arrives| format!("  -> {arrives}"));
        format!("<Step p{}  {}  {}{arrives}>", self.process, self.line, self.access)
    }
}
