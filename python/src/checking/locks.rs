//! A lock written in Python as one that the checker can execute.
//!
//! A section is a generator that yields accesses and loops. The checker replays a section from its start: it creates the
//! generator anew, sends it the recorded results, performs one more access, and halts it at the next by closing it. Nothing
//! but these results, and what loops and sections carry along, can reach the next step; a lock that keeps something
//! elsewhere is found to be nondeterministic.
use std::{
    ops::ControlFlow::{self, Break, Continue},
    panic::resume_unwind,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use doorway_checker::{Error, Fault, Halt, Handle, Model, Registers, Subject, View};
use doorway_memory::{Abort, Assign, Exclusion, Memory, Pid, Reap};
use pyo3::{
    exceptions::{PyStopIteration, PyTypeError},
    prelude::*,
    sync::PyOnceLock,
    types::{PyTuple, PyType},
};

use super::{
    options::Options,
    report::{Execution, Report},
    values::{Access, Cell, Content, Loop, Plain, Request, Shape, Space, Turn, interned},
    worker::{self, Signals},
};
use crate::{errors::Class, interrupt};

/// With more accesses than this in one generator, a loop is not one that the checker knows. The checker's own limit is
/// larger; a `while` of Python, an easy mistake, would take it minutes to reach.
const MAX_ACCESSES: usize = 100;

/// A lock written in Python.
struct PythonLock {
    lock: Py<PyAny>,
    is_reapable: bool,
    is_abortable: bool,
    has_names: bool,
    /// The Python thread that executes it.
    thread: u64,
    signals: Arc<Signals>,
    failure: Arc<Mutex<Option<PyErr>>>,
}

impl PythonLock {
    /// Executes a section.
    fn section(&self, m: &mut View, name: &str, arguments: &[&Plain]) -> Result<Plain, Halt> {
        Python::attach(|py| {
            let made = tuple(py, arguments).and_then(|all| self.guarded(|| self.lock.bind(py).call_method1(name, all)));
            self.drive(py, m, &self.unwrapped(py, made), "")
        })
    }

    /// Executes Python code, watched for endless loops.
    fn guarded<T>(&self, execute: impl FnOnce() -> T) -> T {
        self.signals.enter(self.thread);
        let result = execute();
        self.signals.leave();
        result
    }

    /// The result, or an unwinding that ends the check with the exception.
    fn unwrapped<T>(&self, py: Python<'_>, result: PyResult<T>) -> T {
        result.unwrap_or_else(|error| self.fail(py, error))
    }

    /// Ends the check with an exception: the checker reports the unwinding with the place where it happened.
    fn fail(&self, py: Python<'_>, error: PyErr) -> ! {
        let text = error.value(py).to_string();
        let kind = error.get_type(py).name().map_or_else(|_| "exception".to_string(), |name| name.to_string());
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        // No panic: the hook would print a message about it.
        resume_unwind(Box::new(if text.is_empty() { kind } else { format!("{kind}: {text}") }))
    }

    /// Executes what a section or the body of a loop returned: a generator, an access or a loop; another value is its
    /// result.
    fn drive(&self, py: Python<'_>, m: &mut View, made: &Bound<'_, PyAny>, line: &'static str) -> Result<Plain, Halt> {
        if made.is_instance_of::<Access>() || made.is_instance_of::<Loop>() {
            return self.perform(py, m, made, || line);
        }
        let result = self.complete(py, m, made)?;
        Ok(self.unwrapped(py, Plain::of(&result)))
    }

    /// Executes a generator to its end, and returns its result; another object is the result itself.
    fn complete<'py>(
        &self,
        py: Python<'py>,
        m: &mut View,
        made: &Bound<'py, PyAny>,
    ) -> Result<Bound<'py, PyAny>, Halt> {
        if !self.unwrapped(py, is_generator(made)) {
            return Ok(made.clone());
        }
        let mut value = py.None();
        for _ in 0..=MAX_ACCESSES {
            match self.guarded(|| made.call_method1("send", (value,))) {
                Ok(yielded) => match self.perform(py, m, &yielded, || line_of(made)) {
                    Ok(result) => value = self.unwrapped(py, result.to_python(py)),
                    Err(halt) => {
                        let closed = self.guarded(|| made.call_method0("close"));
                        self.unwrapped(py, closed);
                        return Err(halt);
                    }
                },
                Err(error) if error.is_instance_of::<PyStopIteration>(py) => {
                    return Ok(self.unwrapped(py, error.value(py).getattr("value")));
                }
                Err(error) => self.fail(py, error),
            }
        }
        resume_unwind(Box::new(Fault::EndlessAccesses(MAX_ACCESSES)))
    }

    /// Performs an access or a loop that was yielded.
    fn perform(
        &self,
        py: Python<'_>,
        m: &mut View,
        yielded: &Bound<'_, PyAny>,
        line: impl Fn() -> &'static str,
    ) -> Result<Plain, Halt> {
        if let Ok(access) = yielded.cast::<Access>() {
            let access = access.get();
            m.at(access.line.unwrap_or_else(&line));
            let Some(register) = &access.register else { return m.fence().map(|()| Plain::None) };
            return match &*register.cell {
                Cell::Bool(handle) => self.access(py, m, access, handle),
                Cell::Int(handle) => self.access(py, m, access, handle),
                Cell::Optional(handle) => self.access(py, m, access, handle),
                Cell::Ticket(handle) => self.access(py, m, access, handle),
                Cell::OptionalTicket(handle) => self.access(py, m, access, handle),
                Cell::Count(handle) => self.access(py, m, access, handle),
            };
        }
        if let Ok(repeated) = yielded.cast::<Loop>() {
            return self.repeat(py, m, repeated.get(), line());
        }
        let kind = yielded.get_type().name().map_or_else(|_| "an object".to_string(), |name| name.to_string());
        let hint = if kind == "generator" { "; use `yield from` for a generator" } else { "" };
        self.fail(py, PyTypeError::new_err(format!("a section yields accesses and loops, not {kind}{hint}")))
    }

    fn access<T: Content>(
        &self,
        py: Python<'_>,
        m: &mut View,
        access: &Access,
        handle: &Handle<T>,
    ) -> Result<Plain, Halt> {
        let of = |plain: &Plain| T::of(plain).unwrap_or_else(|| self.mistyped(py, access, plain));
        match &access.request {
            Request::Read => m.read(handle).map(T::plain),
            Request::Test(holds) => m.test(handle, |value| self.holds(holds, value)).map(Plain::Bool),
            Request::Until(holds) => m.until(handle, |value| self.holds(holds, value)).map(|()| Plain::None),
            Request::Write(value) => m.write(handle, of(value)).map(|()| Plain::None),
            Request::FetchAdd(by) => match T::fetch_add(m, handle, by) {
                Some(found) => found.map(T::plain),
                None => self.mistyped(py, access, by),
            },
            Request::Swap(value) => m.swap(handle, of(value)).map(T::plain),
            Request::CompareSwap(old, new) => m.compare_swap(handle, of(old), of(new)).map(Plain::Bool),
            Request::Update(action) => m.update(handle, |value| of(&self.called(py, action, value))).map(T::plain),
            Request::Fence => unreachable!("a fence has no register"),
        }
    }

    fn mistyped(&self, py: Python<'_>, access: &Access, plain: &Plain) -> ! {
        let (name, content) =
            access.register.as_ref().map_or(("", ""), |register| (&register.name, register.cell.content()));
        let value = plain.to_python(py).and_then(|value| Ok(value.bind(py).repr()?.to_string())).unwrap_or_default();
        let why = match access.request {
            Request::FetchAdd(_) => format!("`{name}` holds {content}; {value} cannot be added to it"),
            _ => format!("`{name}` holds {content}, not {value}"),
        };
        self.fail(py, PyTypeError::new_err(why))
    }

    /// Whether a condition of Python's is true of a value.
    fn holds<T: Content>(&self, holds: &Py<PyAny>, value: T) -> bool {
        Python::attach(|py| {
            let value = self.unwrapped(py, value.plain().to_python(py));
            let answer = self.guarded(|| holds.bind(py).call1((value,)).and_then(|answer| answer.is_truthy()));
            self.unwrapped(py, answer)
        })
    }

    fn called<T: Content>(&self, py: Python<'_>, function: &Py<PyAny>, value: T) -> Plain {
        let value = self.unwrapped(py, value.plain().to_python(py));
        let result = self.guarded(|| function.bind(py).call1((value,)).and_then(|result| Plain::of(&result)));
        self.unwrapped(py, result)
    }

    fn repeat(&self, py: Python<'_>, m: &mut View, repeated: &Loop, line: &'static str) -> Result<Plain, Halt> {
        let body = repeated.body.bind(py);
        let line_of_body = line_of_function(body).unwrap_or(line);
        let run = |m: &mut View, arguments: &[&Plain]| -> Result<Plain, Halt> {
            let made = tuple(py, arguments).and_then(|all| self.guarded(|| body.call1(all)));
            self.drive(py, m, &self.unwrapped(py, made), line_of_body)
        };
        let is_true = |plain: Plain| match plain {
            Plain::Bool(flag) => flag,
            Plain::None => false,
            other => self.fail(py, PyTypeError::new_err(format!("this loop needs True or False, not {other:?}"))),
        };
        match &repeated.shape {
            Shape::Turns(state) => m.turns(state.clone(), |m, state| {
                let made = tuple(py, &[&state]).and_then(|all| self.guarded(|| body.call1(all)));
                self.turn(py, m, &self.unwrapped(py, made))
            }),
            Shape::Fold(n, state) => m.fold(*n, state.clone(), |m, state, i| run(m, &[&state, &number(i)])),
            Shape::All(n) => m.all(*n, |m, i| run(m, &[&number(i)]).map(is_true)).map(Plain::Bool),
            Shape::AllBut(p, n) => m.all_but(*p, *n, |m, i| run(m, &[&number(i)]).map(is_true)).map(Plain::Bool),
            Shape::EachBut(p, n) => m.each_but(*p, *n, |m, i| run(m, &[&number(i)]).map(|_| ())).map(|()| Plain::None),
            Shape::Spin => m.spin(|m| run(m, &[]).map(is_true)).map(|()| Plain::None),
            Shape::Call => m.call(|m| run(m, &[])),
        }
    }

    /// A turn of `turns`: a generator whose result is made by `again` or `done`, or such a result itself.
    fn turn(&self, py: Python<'_>, m: &mut View, made: &Bound<'_, PyAny>) -> Result<ControlFlow<Plain, Plain>, Halt> {
        let result = self.complete(py, m, made)?;
        match result.cast::<Turn>() {
            Ok(turn) if turn.get().is_last => Ok(Break(turn.get().value.clone())),
            Ok(turn) => Ok(Continue(turn.get().value.clone())),
            Err(_) => {
                self.fail(py, PyTypeError::new_err("the body of `turns` returns `again(state)` or `done(result)`"))
            }
        }
    }
}

/// Values as the arguments of a call.
fn tuple<'py>(py: Python<'py>, values: &[&Plain]) -> PyResult<Bound<'py, PyTuple>> {
    let values = values.iter().map(|value| value.to_python(py)).collect::<PyResult<Vec<_>>>()?;
    PyTuple::new(py, values)
}

/// The number of a process, for Python.
fn number(p: Pid) -> Plain {
    Plain::Int(p as i64)
}

fn is_generator(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    static GENERATOR: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let py = value.py();
    let import =
        || Ok::<_, PyErr>(PyModule::import(py, "types")?.getattr("GeneratorType")?.cast_into::<PyType>()?.unbind());
    value.is_instance(GENERATOR.get_or_try_init(py, import)?.bind(py))
}

/// The line of the source at which a generator has yielded: `peterson.py:12`.
fn line_of(generator: &Bound<'_, PyAny>) -> &'static str {
    let line = || -> PyResult<String> {
        let mut innermost = generator.clone();
        loop {
            let inner = innermost.getattr("gi_yieldfrom")?;
            if inner.is_none() || !is_generator(&inner)? {
                break;
            }
            innermost = inner;
        }
        let frame = innermost.getattr("gi_frame")?;
        let file: String = frame.getattr("f_code")?.getattr("co_filename")?.extract()?;
        let line: u32 = frame.getattr("f_lineno")?.extract()?;
        Ok(format!("{}:{line}", file_name(&file)))
    };
    line().map_or("", |line| interned(&line))
}

/// The line at which a function begins, if it is one.
fn line_of_function(function: &Bound<'_, PyAny>) -> Option<&'static str> {
    let code = function.getattr("__code__").ok()?;
    let file: String = code.getattr("co_filename").ok()?.extract().ok()?;
    let line: u32 = code.getattr("co_firstlineno").ok()?.extract().ok()?;
    Some(interned(&format!("{}:{line}", file_name(&file))))
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

impl Exclusion<View> for PythonLock {
    type Place = Plain;
    type Inside = Plain;

    fn doorway(&self, m: &mut View, p: Pid) -> Result<Plain, Halt> {
        self.section(m, "doorway", &[&number(p)])
    }

    fn wait(&self, m: &mut View, p: Pid, place: &Plain) -> Result<Plain, Halt> {
        self.section(m, "wait", &[&number(p), place])
    }

    fn exit(&self, m: &mut View, p: Pid, inside: &Plain) -> Result<(), Halt> {
        self.section(m, "exit", &[&number(p), inside]).map(|_| ())
    }

    fn recovery(&self) -> Option<&dyn Reap<View>> {
        self.is_reapable.then_some(self)
    }

    fn aborting(&self) -> Option<&dyn Abort<View, Plain>> {
        self.is_abortable.then_some(self)
    }

    fn names(&self) -> Option<&dyn Assign<Plain>> {
        self.has_names.then_some(self)
    }
}

impl Reap<View> for PythonLock {
    fn reap(&self, m: &mut View, dead: Pid) -> Result<(), Halt> {
        self.section(m, "reap", &[&number(dead)]).map(|_| ())
    }
}

impl Abort<View, Plain> for PythonLock {
    fn abort(&self, m: &mut View, p: Pid, place: &Plain) -> Result<(), Halt> {
        self.section(m, "abort", &[&number(p), place]).map(|_| ())
    }
}

impl Assign<Plain> for PythonLock {
    fn name(&self, inside: &Plain) -> usize {
        Python::attach(|py| {
            let inside = self.unwrapped(py, inside.to_python(py));
            let name = self.guarded(|| self.lock.bind(py).call_method1("name", (inside,)));
            self.unwrapped(py, name.and_then(|name| name.extract()))
        })
    }
}

/// What a check of a lock written in Python has come to.
struct Checked {
    outcome: Result<doorway_checker::Report, Error>,
    failure: Option<PyErr>,
}

/// Checks a lock written in Python, which `make(space)` makes. `patience` is how long, in seconds, a section may take to
/// yield.
#[pyfunction]
pub(crate) fn check_lock(
    py: Python<'_>,
    name: &str,
    make: Py<PyAny>,
    n: usize,
    k: usize,
    patience: f64,
    options: Options,
) -> PyResult<Report> {
    let patience = Duration::try_from_secs_f64(patience)
        .map_err(|_| pyo3::exceptions::PyValueError::new_err("`patience` is a number of seconds"))?;
    let model = options.model(n, k)?;
    let asked = options;
    let checked = worker::run(py, Some(patience), move |signals| {
        let made = Python::attach(|py| made(py, &make, &signals));
        let (lock, registers) = made?;
        let failure = lock.failure.clone();
        let outcome = searched(lock, registers, &asked, model, &signals)?;
        let failure = failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        Ok::<_, PyErr>(Checked { outcome, failure })
    })??;
    match checked.outcome {
        Ok(report) => Report::new(py, name, (n, k), &report, None),
        Err(error) => Err(broken(py, name, n, error, checked.failure, patience)),
    }
}

/// The lock and its registers.
fn made(py: Python<'_>, make: &Py<PyAny>, signals: &Arc<Signals>) -> PyResult<(PythonLock, Registers)> {
    let thread = PyModule::import(py, "threading")?.call_method0("get_ident")?.extract()?;
    let space = Py::new(py, Space::default())?;
    signals.enter(thread);
    let lock = make.call1(py, (space.clone_ref(py),));
    signals.leave();
    let lock = lock?;
    let has = |method: &str| lock.bind(py).hasattr(method);
    for method in ["doorway", "wait", "exit"] {
        if !has(method)? {
            let why = format!(
                "a lock has the methods `doorway(p)`, `wait(p, place)` and `exit(p, inside)`; `{method}` is missing"
            );
            return Err(PyTypeError::new_err(why));
        }
    }
    let registers = space.get().taken_registers();
    let made = PythonLock {
        is_reapable: has("reap")?,
        is_abortable: has("abort")?,
        has_names: has("name")?,
        lock,
        thread,
        signals: signals.clone(),
        failure: Arc::default(),
    };
    Ok((made, registers))
}

fn searched(
    lock: PythonLock,
    registers: Registers,
    options: &Options,
    model: Model,
    signals: &Arc<Signals>,
) -> PyResult<Result<doorway_checker::Report, Error>> {
    let subject = Subject::lock(move |space| {
        *space = registers;
        lock
    });
    let properties = options.properties(subject.properties(&model))?;
    Ok(subject.check(&worker::watched(model.only(properties), signals)))
}

/// The exception for a lock that breaks a rule of the checker.
fn broken(py: Python<'_>, name: &str, n: usize, error: Error, failure: Option<PyErr>, patience: Duration) -> PyErr {
    let Error::Broken { process, section, line, fault, execution, .. } = error else {
        return Class::Model.error(error.to_string());
    };
    let is_stuck =
        failure.as_ref().is_some_and(|failure| interrupt::class(py).is_ok_and(|class| failure.is_instance(py, class)));
    let what = match &fault {
        Fault::Panicked(_) if is_stuck => {
            format!("yielded nothing for {} s; a loop of a section must yield accesses", patience.as_secs_f64())
        }
        Fault::Panicked(message) => format!("raised {message}"),
        fault => fault.to_string(),
    };
    let at = if line.is_empty() { String::new() } else { format!(", line {line},") };
    let before = match &execution {
        Some(execution) if !execution.steps.is_empty() => format!("; before that\n{execution}"),
        _ => String::new(),
    };
    let message = format!("{name}: process {process} in `{section}`{at} {what}{before}");
    let execution = execution.map(|execution| Execution::new(format!("{name}: {fault}"), n, execution));
    let raised = || -> PyResult<PyErr> {
        let class = Class::Check.class(py)?;
        let execution = execution.map(|execution| Py::new(py, execution)).transpose()?;
        Ok(PyErr::from_value(class.call1((message, process, section.to_string(), line, execution))?))
    };
    let raised = raised().unwrap_or_else(|error| error);
    if !is_stuck {
        raised.set_cause(py, failure);
    }
    raised
}
