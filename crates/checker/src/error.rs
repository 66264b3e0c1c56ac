//! What can go wrong that is not a property's fault.
use std::fmt;

use doorway_memory::Pid;

use crate::{program::Section, run::Run};

/// Why an algorithm could not be checked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The algorithm breaks a rule of the interface.
    Broken {
        /// Which process was running.
        process: Pid,
        /// In which part of its protocol.
        section: Section,
        /// At which line, the paper's or the source's: that of the latest access it came to. Empty if it came to none.
        line: String,
        /// Which rule.
        fault: Fault,
        /// The execution that leads there, if there is one to show: the process' next step is the one that breaks the rule.
        execution: Option<Run>,
    },
    /// The model cannot be searched as given.
    Model(String),
}

/// How an algorithm can break the rules of [`Memory`](doorway_memory::Memory).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// A replay of the same history did something else.
    Nondeterminism,
    /// So many accesses in one section, and no loop turn has ended.
    EndlessAccesses(usize),
    /// So many loop turns without an access.
    EndlessTurns(usize),
    /// The process went on after being halted.
    SwallowedHalt,
    /// What the process does depends on more than the order of its tickets.
    TicketArithmetic,
    /// A read-modify-write, which safe registers do not have; the register's name.
    NotSafe(String),
    /// A read-modify-write where only reads and writes are meant; the register's name.
    NotReadOrWritten(String),
    /// Two processes write a safe register at once; its name.
    OverlappingWrites(String),
    /// What a safe register may hold is not known; its name.
    UnknownDomain(String),
    /// More different tickets at once than can be told apart.
    TooManyTickets,
    /// The process does something else than another in its place, though processes are said to be all alike.
    NotAlike,
    /// A register that is accessed by load-linked remembers which processes have loaded it, so they are not all alike; its name.
    LinkedAndSymmetric(String),
    /// A register that another call of `make`, or another space, has made.
    ForeignRegister,
    /// A value that is another one when it has been put in a word; as `Debug` shows it.
    NotAWord(String),
    /// There is a barrier, and the search takes steps before others that concern nobody else: it starts again without.
    Barrier,
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
            Error::Model(why) => f.write_str(why),
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
                 only an algorithm that never looks at `p` is `SYMMETRIC`",
            ),
            Fault::LinkedAndSymmetric(name) => write!(
                f,
                "uses load-linked on `{name}`, which remembers the processes that have loaded it; check it without symmetry"
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
                "reads `{name}` while it is written, and what a safe register of its type may hold is not known; \
                 it can be truth values and tickets"
            ),
            Fault::Barrier => f.write_str("has a barrier"),
            Fault::TooManyTickets => f.write_str("has more different tickets at once than can be told apart"),
            Fault::Panicked(message) => write!(f, "panicked: {message}"),
        }
    }
}

impl std::error::Error for Error {}
impl std::error::Error for Fault {}
