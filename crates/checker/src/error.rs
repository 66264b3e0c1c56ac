//! Errors: why an algorithm could not be checked.
use std::fmt;

use doorway_memory::Pid;

use crate::{execution::Execution, program::Section};

/// Why an algorithm could not be checked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The algorithm breaks a rule of the interface.
    Broken {
        /// The process that breaks it.
        process: Pid,
        /// The section of the process.
        section: Section,
        /// The line, of the paper or else of the source, of the latest access it came to. Empty if it came to none.
        line: String,
        /// The rule that it breaks.
        fault: Fault,
        /// An execution after which the next step of the process breaks the rule, if one was found.
        execution: Option<Execution>,
    },
    /// The model cannot be searched as given.
    Model(String),
    /// A choice is not possible in the state of a [`Stepper`](crate::Stepper).
    Choice(String),
}

/// A way in which an algorithm breaks the rules of [`Memory`](doorway_memory::Memory).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// A replay of the same history did something else.
    Nondeterminism,
    /// The process made this number of accesses in one section without ending a loop turn.
    EndlessAccesses(usize),
    /// The process took this number of loop turns without an access.
    EndlessTurns(usize),
    /// The process went on after being halted.
    SwallowedHalt,
    /// The process depends on more than the order of its tickets.
    TicketArithmetic,
    /// The process uses a read-modify-write, which safe registers do not have, on the register of this name.
    NotSafe(String),
    /// The process uses a read-modify-write, where only reads and writes are allowed, on the register of this name.
    NotReadOrWritten(String),
    /// Two processes write the safe register of this name at once.
    OverlappingWrites(String),
    /// The values that the safe register of this name may hold are not known.
    UnknownDomain(String),
    /// There are more different tickets at once than can be told apart.
    TooManyTickets,
    /// The process does something else than another one would in its place, though processes are declared to be all
    /// alike.
    NotAlike,
    /// Processes are not all alike, because the register of this name is accessed by load-linked: it remembers which
    /// processes have loaded it.
    LinkedAndSymmetric(String),
    /// The process accessed a register of another space.
    ForeignRegister,
    /// The process stored a value whose word is that of another value; as `Debug` shows it.
    NotAWord(String),
    /// The process panicked.
    Panicked(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Broken { process, section, line, fault, execution } => {
                let line = if line.is_empty() { String::new() } else { format!(", line {line},") };
                write!(f, "process {process} in `{section}`{line} {fault}")?;
                match execution {
                    Some(execution) if !execution.steps.is_empty() => write!(f, "; before that\n{execution}"),
                    _ => Ok(()),
                }
            }
            Error::Model(why) | Error::Choice(why) => f.write_str(why),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Nondeterminism => f.write_str(
                "did something else when it was run again with the same values; \
                 let it depend on nothing but what its accesses return",
            ),
            Fault::EndlessAccesses(limit) => {
                write!(
                    f,
                    "made more than {limit} accesses outside `turns`; write the loop with `turns`, `fold` or `spin`"
                )
            }
            Fault::EndlessTurns(limit) => {
                write!(f, "took {limit} turns without an access; a loop of `turns` must access the memory or end")
            }
            Fault::SwallowedHalt => f.write_str("went on after being halted; pass every halt on with `?`"),
            Fault::TicketArithmetic => f.write_str(
                "depends on more than the order of its tickets; \
                 only compare tickets and take the `next` of one it has seen",
            ),
            Fault::NotAlike => f.write_str(
                "does something else than another process in its place would; \
                 only an algorithm that never uses `p` is `SYMMETRIC`",
            ),
            Fault::LinkedAndSymmetric(name) => write!(
                f,
                "uses load-linked on `{name}`, which remembers the processes that have loaded it; \
                 check it without symmetry"
            ),
            Fault::ForeignRegister => f.write_str(
                "accessed a register of another space; make every register in the space the lock is made in",
            ),
            Fault::NotAWord(value) => write!(
                f,
                "stores {value}, which is another value when it is read: its `of_word(to_word())` is not the same; \
                 a register holds what fits one word"
            ),
            Fault::NotSafe(name) => {
                write!(f, "changes `{name}` in one step; a safe register can only be read and written")
            }
            Fault::NotReadOrWritten(name) => {
                write!(f, "changes `{name}` in one step; the covering argument is about locks that only read and write")
            }
            Fault::OverlappingWrites(name) => {
                write!(f, "writes `{name}` while another process does; a safe register has one writer")
            }
            Fault::UnknownDomain(name) => write!(
                f,
                "reads `{name}` while it is written, and the values that a safe register of its type may hold \
                 are not known; use truth values or tickets"
            ),
            Fault::TooManyTickets => f.write_str("has more different tickets at once than can be told apart"),
            Fault::Panicked(message) => write!(f, "panicked: {message}"),
        }
    }
}

impl std::error::Error for Error {}
impl std::error::Error for Fault {}
