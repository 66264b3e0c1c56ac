//! The explorer's states.
use std::collections::VecDeque;

use crate::lang::{BOOLS, LOOPS, MAX_REGISTERS, NUMS, RESOURCES, TICKETS, Ty};

/// The largest number of processes.
pub const MOST: usize = 4;

/// A section of a passage. A part's call is `Wait`, and after it the process is `Critical`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)]
pub enum Sec {
    Remainder,
    Doorway,
    Wait,
    Critical,
    Exit,
    Abort,
    Reap,
    /// It was taken for dead while it waited, and waits on.
    ExpiredWait,
    /// It was taken for dead, and believes that it is a holder.
    ExpiredCritical,
}

impl Sec {
    /// Whether a process in this section is a holder, or believes that it is.
    pub fn is_critical(self) -> bool {
        matches!(self, Sec::Critical | Sec::ExpiredCritical)
    }

    /// Whether a process in this section was taken for dead while it lives.
    pub fn is_expired(self) -> bool {
        matches!(self, Sec::ExpiredWait | Sec::ExpiredCritical)
    }
}

/// The local variables of a process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Env {
    pub(crate) nums: [i64; NUMS],
    pub(crate) bools: [bool; BOOLS],
    pub(crate) tickets: [i64; TICKETS],
    pub(crate) loops: [u8; LOOPS],
}

/// A process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Proc {
    /// Its section.
    pub sec: Sec,
    pub(crate) pc: u16,
    pub(crate) env: Env,
    /// Its local variables when it completed the doorway, if it may abort.
    pub(crate) place: Env,
    /// The passages left to it.
    pub(crate) left: u32,
    /// The outcome of its latest call of a part.
    pub(crate) latest: Option<i64>,
    /// Whether it is dead and no process has noticed that yet.
    pub(crate) unnoticed: bool,
    /// Where it goes on and with which local variables, if it was taken for dead and is being reaped: until then its own
    /// are those of the reap.
    pub(crate) belief: Option<(u16, Env)>,
    /// Whether the resource has served it, once it has shown its token.
    pub(crate) served: Option<bool>,
}

/// A state.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State {
    /// The processes.
    pub procs: [Proc; MOST],
    pub(crate) regs: [i64; MAX_REGISTERS],
    /// For each safe register the number of the process that is writing it, plus 1.
    pub(crate) writers: [u8; MAX_REGISTERS],
    pub(crate) buffers: [VecDeque<(u8, i64)>; MOST],
    /// For each name the largest token that its resource has seen.
    pub(crate) resources: [i64; RESOURCES],
    /// The passages begun, if they are limited.
    pub(crate) begun: u32,
    /// The registers in the cache of the measured process, as bits.
    pub(crate) cache: u32,
}

/// The kind of a step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Act {
    /// A process takes a step.
    Step(usize),
    /// The oldest write in the store buffer of a process becomes visible.
    Drain(usize),
    /// A process dies.
    Die(usize),
    /// A waiter aborts.
    Abort(usize),
    /// A live process is taken for dead.
    Expire(usize),
    /// A process that was taken for dead, and has been reaped, is told.
    FindOut(usize),
}

/// A step taken.
#[derive(Clone, Debug)]
pub struct Taken {
    /// The state after it.
    pub state: State,
    /// Whether it was a remote memory reference.
    pub remote: bool,
    /// The text of the step, as in the checker's executions.
    pub text: String,
}

/// Why a step cannot be taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Blocked {
    /// It is not enabled in this state.
    Disabled,
    /// The store buffer is full.
    Full,
    /// Another process is writing the same safe register.
    Overlap,
    /// The values that a safe register of this type may hold are not known.
    Unknown,
}

/// How remote memory references are counted, and for which process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Measure {
    /// By the registers' homes, for every process.
    Dsm,
    /// By the cache of this process; and whether a failed compare-and-swap of another invalidates a copy.
    Cc(usize, bool),
}

/// The type and value of the register that an expression is about.
#[derive(Clone, Copy)]
pub(crate) struct It(pub(crate) Option<Ty>, pub(crate) i64);

/// For expressions that are about no register.
pub(crate) const NOTHING: It = It(None, 0);

/// Assigns a register's value to a local variable of its type.
pub(crate) fn assign(env: &mut Env, ty: Ty, local: usize, value: i64) {
    match ty {
        Ty::Bool => env.bools[local] = value != 0,
        Ty::Num => env.nums[local] = value,
        Ty::Linked => env.nums[local] = value & 255,
        Ty::Ticket | Ty::MaybeTicket => env.tickets[local] = value.max(0),
    }
}

/// The text of a register's value.
pub fn show(ty: Ty, value: i64) -> String {
    match ty {
        Ty::Bool => (value != 0).to_string(),
        Ty::MaybeTicket if value < 0 => "∞".to_string(),
        Ty::Linked => (value & 255).to_string(),
        _ => value.to_string(),
    }
}
