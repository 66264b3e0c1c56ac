//! What a lock written in Python is made of: registers, accesses, loops, tickets and counts.
use std::{
    collections::HashSet,
    mem,
    sync::{Arc, Mutex, PoisonError},
};

use doorway_checker::{Halt, Handle, Registers, View};
use doorway_memory::{self as memory, Home, Local, Memory, Name, Sink, Source, Space as _, Value};
use pyo3::{
    IntoPyObjectExt,
    exceptions::{PyOverflowError, PyTypeError, PyValueError},
    prelude::*,
    pyclass::CompareOp,
    types::{PyBool, PyInt, PyList, PyTuple},
};

/// A text that lives as long as the process: the checker's names and lines do. There are as many as the source has.
pub(crate) fn interned(text: &str) -> &'static str {
    static TEXTS: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    let texts = texts.get_or_insert_default();
    if let Some(text) = texts.get(text) {
        return text;
    }
    let text: &'static str = Box::leak(text.to_string().into_boxed_str());
    texts.insert(text);
    text
}

/// A value of Python that a process can carry from turn to turn and from section to section.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Plain {
    None,
    Bool(bool),
    Int(i64),
    Ticket(memory::Ticket),
    Count(memory::Count),
    Tuple(Vec<Plain>),
}

impl Plain {
    pub(crate) fn of(value: &Bound<'_, PyAny>) -> PyResult<Plain> {
        if value.is_none() {
            return Ok(Plain::None);
        }
        if let Ok(flag) = value.cast::<PyBool>() {
            return Ok(Plain::Bool(flag.is_true()));
        }
        if value.is_instance_of::<PyInt>() {
            let number = value.extract::<i64>();
            return number
                .map(Plain::Int)
                .map_err(|_| PyOverflowError::new_err(format!("{value} takes more than 64 bits")));
        }
        if let Ok(ticket) = value.cast::<Ticket>() {
            return Ok(Plain::Ticket(ticket.get().0));
        }
        if let Ok(count) = value.cast::<Count>() {
            return Ok(Plain::Count(count.get().0));
        }
        if value.is_instance_of::<PyTuple>() || value.is_instance_of::<PyList>() {
            let items = value.try_iter()?.map(|item| Plain::of(&item?));
            return items.collect::<PyResult<_>>().map(Plain::Tuple);
        }
        Err(PyTypeError::new_err(format!(
            "a process can carry None, bool, int, Ticket, Count and tuples of them, not {}",
            value.get_type().name()?
        )))
    }

    pub(crate) fn to_python(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match self {
            Plain::None => Ok(py.None()),
            Plain::Bool(flag) => flag.into_py_any(py),
            Plain::Int(number) => number.into_py_any(py),
            Plain::Ticket(ticket) => Ticket(*ticket).into_py_any(py),
            Plain::Count(count) => Count(*count).into_py_any(py),
            Plain::Tuple(items) => {
                let items = items.iter().map(|item| item.to_python(py)).collect::<PyResult<Vec<_>>>()?;
                Ok(PyTuple::new(py, items)?.into_any().unbind())
            }
        }
    }
}

/// A tag, and then the content: so a value can be loaded without knowing its type.
impl Local for Plain {
    fn save(&self, to: &mut impl Sink) {
        match self {
            Plain::None => to.put(0_u8),
            Plain::Bool(flag) => {
                to.put(1_u8);
                to.put(*flag);
            }
            Plain::Int(number) => {
                to.put(2_u8);
                to.put(*number);
            }
            Plain::Ticket(ticket) => {
                to.put(3_u8);
                to.put(*ticket);
            }
            Plain::Count(count) => {
                to.put(4_u8);
                to.put(*count);
            }
            Plain::Tuple(items) => {
                to.put(5_u8);
                items.save(to);
            }
        }
    }

    fn load(from: &mut impl Source) -> Plain {
        match from.take::<u8>() {
            1 => Plain::Bool(from.take()),
            2 => Plain::Int(from.take()),
            3 => Plain::Ticket(from.take()),
            4 => Plain::Count(from.take()),
            5 => Plain::Tuple(Vec::load(from)),
            _ => Plain::None,
        }
    }
}

/// A type of register that Python can use.
pub(crate) trait Content: Value {
    fn plain(self) -> Plain;
    fn of(plain: &Plain) -> Option<Self>;
    /// `None` if it is not a number.
    fn fetch_add(_: &mut View, _: &Handle<Self>, _: &Plain) -> Option<Result<Self, Halt>> {
        None
    }
}

impl Content for bool {
    fn plain(self) -> Plain {
        Plain::Bool(self)
    }
    fn of(plain: &Plain) -> Option<bool> {
        if let Plain::Bool(flag) = plain { Some(*flag) } else { None }
    }
}

impl Content for i64 {
    fn plain(self) -> Plain {
        Plain::Int(self)
    }
    fn of(plain: &Plain) -> Option<i64> {
        if let Plain::Int(number) = plain { Some(*number) } else { None }
    }
    fn fetch_add(m: &mut View, register: &Handle<i64>, by: &Plain) -> Option<Result<i64, Halt>> {
        <i64 as Content>::of(by).map(|by| m.fetch_add(register, by))
    }
}

impl Content for Option<usize> {
    fn plain(self) -> Plain {
        self.map_or(Plain::None, |number| Plain::Int(number as i64))
    }
    fn of(plain: &Plain) -> Option<Option<usize>> {
        match plain {
            Plain::None => Some(None),
            Plain::Int(number) => usize::try_from(*number).ok().map(Some),
            _ => None,
        }
    }
}

impl Content for memory::Ticket {
    fn plain(self) -> Plain {
        Plain::Ticket(self)
    }
    fn of(plain: &Plain) -> Option<memory::Ticket> {
        if let Plain::Ticket(ticket) = plain { Some(*ticket) } else { None }
    }
}

impl Content for Option<memory::Ticket> {
    fn plain(self) -> Plain {
        self.map_or(Plain::None, Plain::Ticket)
    }
    fn of(plain: &Plain) -> Option<Option<memory::Ticket>> {
        match plain {
            Plain::None => Some(None),
            Plain::Ticket(ticket) => Some(Some(*ticket)),
            _ => None,
        }
    }
}

impl Content for memory::Count {
    fn plain(self) -> Plain {
        Plain::Count(self)
    }
    fn of(plain: &Plain) -> Option<memory::Count> {
        if let Plain::Count(count) = plain { Some(*count) } else { None }
    }
    fn fetch_add(m: &mut View, register: &Handle<memory::Count>, by: &Plain) -> Option<Result<memory::Count, Halt>> {
        (*by == Plain::Int(1)).then(|| m.fetch_add(register, memory::Count::ONE))
    }
}

/// A register of the checker, by its type.
pub(crate) enum Cell {
    Bool(Handle<bool>),
    Int(Handle<i64>),
    Optional(Handle<Option<usize>>),
    Ticket(Handle<memory::Ticket>),
    OptionalTicket(Handle<Option<memory::Ticket>>),
    Count(Handle<memory::Count>),
}

impl Cell {
    pub(crate) fn content(&self) -> &'static str {
        match self {
            Cell::Bool(_) => "a bool",
            Cell::Int(_) => "an int",
            Cell::Optional(_) => "None or an int that is not negative",
            Cell::Ticket(_) => "a Ticket",
            Cell::OptionalTicket(_) => "None or a Ticket",
            Cell::Count(_) => "a Count",
        }
    }
}

/// A shared register of a lock.
#[pyclass(frozen, module = "fairdoorway")]
#[derive(Clone)]
pub(crate) struct Register {
    pub(crate) name: String,
    pub(crate) cell: Arc<Cell>,
}

#[pymethods]
impl Register {
    /// The name, as executions show it.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    fn __repr__(&self) -> String {
        format!("<Register {}>", self.name)
    }
}

/// The source of a lock's registers.
#[pyclass(frozen, module = "fairdoorway")]
#[derive(Default)]
pub(crate) struct Space(Mutex<Registers>);

impl Space {
    /// The registers that were made.
    pub(crate) fn taken_registers(&self) -> Registers {
        mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn register(
        &self,
        name: &str,
        index: Option<usize>,
        home: Home,
        init: &Plain,
        optional: bool,
    ) -> PyResult<Register> {
        let mut registers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let plain_name = Name::new(interned(name));
        let name = index.map_or(plain_name, |index| plain_name.index(index));
        let cell = match (init, optional) {
            (Plain::Bool(flag), false) => Cell::Bool(registers.register(name, home, *flag)),
            (Plain::Int(number), false) => Cell::Int(registers.register(name, home, *number)),
            (Plain::None, false) => Cell::Optional(registers.register(name, home, None::<usize>)),
            (Plain::Int(_) | Plain::None, true) => {
                let init = <Option<usize> as Content>::of(init);
                let init = init.ok_or_else(|| {
                    PyValueError::new_err(format!("`{name}` holds None or an int that is not negative"))
                })?;
                Cell::Optional(registers.register(name, home, init))
            }
            (Plain::Ticket(ticket), false) => Cell::Ticket(registers.register(name, home, *ticket)),
            (Plain::Ticket(ticket), true) => Cell::OptionalTicket(registers.register(name, home, Some(*ticket))),
            (Plain::Count(count), false) => Cell::Count(registers.register(name, home, *count)),
            _ => {
                return Err(PyTypeError::new_err(format!(
                    "`{name}` can hold a bool, an int, None, a Ticket or a Count"
                )));
            }
        };
        Ok(Register { name: name.to_string(), cell: Arc::new(cell) })
    }
}

#[pymethods]
impl Space {
    /// One register without a home. With `optional`, it can hold `None` too.
    #[pyo3(signature = (name, init, *, optional=false))]
    fn shared(&self, name: &str, init: &Bound<'_, PyAny>, optional: bool) -> PyResult<Register> {
        self.register(name, None, Home::Nobody, &Plain::of(init)?, optional)
    }

    /// One register for each of n processes, which is its home.
    #[pyo3(signature = (name, n, init, *, optional=false))]
    fn per_process(&self, name: &str, n: usize, init: &Bound<'_, PyAny>, optional: bool) -> PyResult<Vec<Register>> {
        let init = Plain::of(init)?;
        (0..n).map(|p| self.register(name, Some(p), Home::Of(p), &init, optional)).collect()
    }

    /// An array of registers without a home.
    #[pyo3(signature = (name, length, init, *, optional=false))]
    fn array(&self, name: &str, length: usize, init: &Bound<'_, PyAny>, optional: bool) -> PyResult<Vec<Register>> {
        let init = Plain::of(init)?;
        (0..length).map(|index| self.register(name, Some(index), Home::Nobody, &init, optional)).collect()
    }
}

/// A number that can only be compared and incremented: it may grow for ever, and the search ends all the same.
#[pyclass(frozen, module = "fairdoorway")]
pub(crate) struct Ticket(pub(crate) memory::Ticket);

#[pymethods]
impl Ticket {
    /// The first ticket; many algorithms use it for "none".
    #[classattr]
    #[allow(non_snake_case)]
    fn ZERO() -> Ticket {
        Ticket(memory::Ticket::ZERO)
    }

    /// The next ticket.
    fn next(&self) -> Ticket {
        Ticket(self.0.next())
    }

    fn __richcmp__(&self, other: &Bound<'_, PyAny>, op: CompareOp) -> PyResult<Py<PyAny>> {
        let py = other.py();
        let Ok(other) = other.cast::<Ticket>() else { return Ok(py.NotImplemented()) };
        // The checker observes the comparison.
        op.matches(self.0.cmp(&other.get().0)).into_py_any(py)
    }

    fn __repr__(&self) -> String {
        format!("Ticket({:?})", self.0)
    }
}

/// A counter that only grows, read in rounds: a slot, from 0, and a round.
#[pyclass(frozen, module = "fairdoorway")]
pub(crate) struct Count(pub(crate) memory::Count);

#[pymethods]
impl Count {
    /// Zero, with this number of slots in a round.
    #[staticmethod]
    #[pyo3(signature = (slots=1))]
    fn in_rounds_of(slots: usize) -> PyResult<Count> {
        if !(1..=usize::from(u16::MAX)).contains(&slots) {
            return Err(PyValueError::new_err(format!("a round has from 1 to {} slots, not {slots}", u16::MAX)));
        }
        Ok(Count(memory::Count::in_rounds_of(slots)))
    }

    /// The slot in the round.
    #[getter]
    fn slot(&self) -> usize {
        self.0.slot()
    }

    /// The round, as a ticket.
    #[getter]
    fn round(&self) -> Ticket {
        Ticket(self.0.round())
    }

    /// The count `further` steps later: at most one round.
    fn plus(&self, further: usize) -> Count {
        Count(self.0.plus(further))
    }

    fn __richcmp__(&self, other: &Bound<'_, PyAny>, op: CompareOp) -> PyResult<Py<PyAny>> {
        let py = other.py();
        match (other.cast::<Count>(), op) {
            // The checker observes the comparison.
            (Ok(other), CompareOp::Eq) => (self.0 == other.get().0).into_py_any(py),
            (Ok(other), CompareOp::Ne) => (self.0 != other.get().0).into_py_any(py),
            _ => Ok(py.NotImplemented()),
        }
    }

    fn __repr__(&self) -> String {
        format!("Count(slot={}, round={:?})", self.0.slot(), self.0.round())
    }
}

/// An access to a register, or a fence: what a section yields.
#[pyclass(frozen, module = "fairdoorway")]
pub(crate) struct Access {
    pub(crate) register: Option<Register>,
    pub(crate) request: Request,
    pub(crate) line: Option<&'static str>,
}

pub(crate) enum Request {
    Read,
    Test(Py<PyAny>),
    Until(Py<PyAny>),
    Write(Plain),
    FetchAdd(Plain),
    Swap(Plain),
    CompareSwap(Plain, Plain),
    Update(Py<PyAny>),
    Fence,
}

impl Access {
    fn to(register: &Register, request: Request, line: Option<&Bound<'_, PyAny>>) -> PyResult<Access> {
        Ok(Access { register: Some(register.clone()), request, line: named(line)? })
    }
}

/// The name of a line: a string or a number.
fn named(line: Option<&Bound<'_, PyAny>>) -> PyResult<Option<&'static str>> {
    line.map(|line| Ok(interned(line.str()?.to_str()?))).transpose()
}

/// Reads a register.
#[pyfunction]
#[pyo3(signature = (register, *, line=None))]
pub(crate) fn read(register: &Register, line: Option<&Bound<'_, PyAny>>) -> PyResult<Access> {
    Access::to(register, Request::Read, line)
}

/// Reads a register and keeps only whether `holds` is true of its value.
#[pyfunction]
#[pyo3(signature = (register, holds, *, line=None))]
pub(crate) fn test(register: &Register, holds: Py<PyAny>, line: Option<&Bound<'_, PyAny>>) -> PyResult<Access> {
    Access::to(register, Request::Test(holds), line)
}

/// Waits until `holds` is true of a register's value.
#[pyfunction]
#[pyo3(signature = (register, holds, *, line=None))]
pub(crate) fn until(register: &Register, holds: Py<PyAny>, line: Option<&Bound<'_, PyAny>>) -> PyResult<Access> {
    Access::to(register, Request::Until(holds), line)
}

/// Writes a register.
#[pyfunction]
#[pyo3(signature = (register, value, *, line=None))]
pub(crate) fn write(
    register: &Register,
    value: &Bound<'_, PyAny>,
    line: Option<&Bound<'_, PyAny>>,
) -> PyResult<Access> {
    Access::to(register, Request::Write(Plain::of(value)?), line)
}

/// Adds to a register in one step and returns its previous value.
#[pyfunction]
#[pyo3(signature = (register, by, *, line=None))]
pub(crate) fn fetch_add(
    register: &Register,
    by: &Bound<'_, PyAny>,
    line: Option<&Bound<'_, PyAny>>,
) -> PyResult<Access> {
    Access::to(register, Request::FetchAdd(Plain::of(by)?), line)
}

/// Writes a register in one step and returns its previous value.
#[pyfunction]
#[pyo3(signature = (register, value, *, line=None))]
pub(crate) fn swap(register: &Register, value: &Bound<'_, PyAny>, line: Option<&Bound<'_, PyAny>>) -> PyResult<Access> {
    Access::to(register, Request::Swap(Plain::of(value)?), line)
}

/// Replaces `old` by `new` in one step if the register holds `old`; returns whether it did.
#[pyfunction]
#[pyo3(signature = (register, old, new, *, line=None))]
pub(crate) fn compare_swap(
    register: &Register,
    old: &Bound<'_, PyAny>,
    new: &Bound<'_, PyAny>,
    line: Option<&Bound<'_, PyAny>>,
) -> PyResult<Access> {
    Access::to(register, Request::CompareSwap(Plain::of(old)?, Plain::of(new)?), line)
}

/// Replaces a register's value `x` by `action(x)` in one step and returns `x`.
#[pyfunction]
#[pyo3(signature = (register, action, *, line=None))]
pub(crate) fn update(register: &Register, action: Py<PyAny>, line: Option<&Bound<'_, PyAny>>) -> PyResult<Access> {
    Access::to(register, Request::Update(action), line)
}

/// Makes the caller's earlier writes visible to all before its later reads.
#[pyfunction]
#[pyo3(signature = (*, line=None))]
pub(crate) fn fence(line: Option<&Bound<'_, PyAny>>) -> PyResult<Access> {
    Ok(Access { register: None, request: Request::Fence, line: named(line)? })
}

/// A loop that accesses the memory: what a section yields besides accesses.
#[pyclass(frozen, module = "fairdoorway")]
pub(crate) struct Loop {
    pub(crate) shape: Shape,
    pub(crate) body: Py<PyAny>,
}

pub(crate) enum Shape {
    Turns(Plain),
    Fold(usize, Plain),
    All(usize),
    AllBut(usize, usize),
    EachBut(usize, usize),
    Spin,
    Call,
}

/// A loop that carries only a state from turn to turn: `body(state)` returns `again(state)` or `done(result)`.
#[pyfunction]
pub(crate) fn turns(state: &Bound<'_, PyAny>, body: Py<PyAny>) -> PyResult<Loop> {
    Ok(Loop { shape: Shape::Turns(Plain::of(state)?), body })
}

/// Goes through 0 to n - 1, passing a state along: `body(state, i)` returns the next one.
#[pyfunction]
pub(crate) fn fold(n: usize, state: &Bound<'_, PyAny>, body: Py<PyAny>) -> PyResult<Loop> {
    Ok(Loop { shape: Shape::Fold(n, Plain::of(state)?), body })
}

/// Whether `body(i)` is true for all of 0 to n - 1; stops at the first for which it is not.
#[pyfunction]
pub(crate) fn all_of(n: usize, body: Py<PyAny>) -> Loop {
    Loop { shape: Shape::All(n), body }
}

/// Whether `body(i)` is true for all of 0 to n - 1 except p.
#[pyfunction]
pub(crate) fn all_but(p: usize, n: usize, body: Py<PyAny>) -> Loop {
    Loop { shape: Shape::AllBut(p, n), body }
}

/// Goes through 0 to n - 1 except p: `body(i)`.
#[pyfunction]
pub(crate) fn each_but(p: usize, n: usize, body: Py<PyAny>) -> Loop {
    Loop { shape: Shape::EachBut(p, n), body }
}

/// Busy-waits until `body()` returns true.
#[pyfunction]
pub(crate) fn spin(body: Py<PyAny>) -> Loop {
    Loop { shape: Shape::Spin, body }
}

/// Runs `body()` and forgets what it observed: only its result stays.
#[pyfunction]
pub(crate) fn call(body: Py<PyAny>) -> Loop {
    Loop { shape: Shape::Call, body }
}

/// The end of a turn of a loop: made by `again` and `done`.
#[pyclass(frozen, module = "fairdoorway")]
pub(crate) struct Turn {
    pub(crate) is_last: bool,
    pub(crate) value: Plain,
}

/// Starts the next turn of `turns` with this state.
#[pyfunction]
#[pyo3(signature = (state=None))]
pub(crate) fn again(state: Option<&Bound<'_, PyAny>>) -> PyResult<Turn> {
    Ok(Turn { is_last: false, value: state.map_or(Ok(Plain::None), Plain::of)? })
}

/// Ends `turns` with this result.
#[pyfunction]
#[pyo3(signature = (result=None))]
pub(crate) fn done(result: Option<&Bound<'_, PyAny>>) -> PyResult<Turn> {
    Ok(Turn { is_last: true, value: result.map_or(Ok(Plain::None), Plain::of)? })
}
