//! The explorer's states.
use std::collections::VecDeque;

use crate::lang::{BOOLS, LOOPS, MAX_REGISTERS, NUMS, TICKETS, Ty};

/// The most processes.
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
    Abandon,
    Reap,
}

/// A process' locals.
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
    /// Where it is.
    pub sec: Sec,
    pub(crate) pc: u16,
    pub(crate) env: Env,
    /// What it knew when it completed the doorway, if it may abort.
    pub(crate) place: Env,
    pub(crate) left: u32,
    /// What a part's latest call returned.
    pub(crate) latest: Option<i64>,
    /// Whether nobody has noticed yet that it is dead.
    pub(crate) unnoticed: bool,
}

/// A state.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State {
    /// The processes.
    pub procs: [Proc; MOST],
    pub(crate) regs: [i64; MAX_REGISTERS],
    /// Which process is writing each register, one up, on safe registers.
    pub(crate) writers: [u8; MAX_REGISTERS],
    pub(crate) buffers: [VecDeque<(u8, i64)>; MOST],
    pub(crate) begun: u32,
    /// The registers in the measured process' cache.
    pub(crate) cache: u32,
}

/// What happens in a step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Act {
    /// A process takes a step.
    Step(usize),
    /// The oldest write in a process' store buffer becomes visible.
    Drain(usize),
    /// A process dies.
    Die(usize),
    /// A waiter aborts.
    Abort(usize),
}

/// A step taken.
#[derive(Clone, Debug)]
pub struct Taken {
    /// The state after it.
    pub state: State,
    /// Whether it was a remote memory reference.
    pub remote: bool,
    /// What it did, as the checker's executions say it.
    pub text: String,
}

/// Why a step cannot be taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Blocked {
    /// Not enabled in this state.
    Disabled,
    /// The store buffer is full.
    Full,
    /// Another process is writing the same safe register.
    Overlap,
    /// A safe register of this type may hold anything.
    Unknown,
}

/// Whose remote memory references are measured, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Measure {
    /// By the registers' homes, of everyone.
    Dsm,
    /// By this process' cache; whether a failed compare-and-swap counts as a write for others.
    Cc(usize, bool),
}

/// What a register holds, for an expression.
#[derive(Clone, Copy)]
pub(crate) struct It(pub(crate) Option<Ty>, pub(crate) i64);

pub(crate) const NOTHING: It = It(None, 0);

pub(crate) fn assign(env: &mut Env, ty: Ty, local: usize, value: i64) {
    match ty {
        Ty::Bool => env.bools[local] = value != 0,
        Ty::Num => env.nums[local] = value,
        Ty::Linked => env.nums[local] = value & 255,
        Ty::Ticket | Ty::MaybeTicket => env.tickets[local] = value.max(0),
    }
}

/// How traces show a register's value.
pub fn show(ty: Ty, value: i64) -> String {
    match ty {
        Ty::Bool => (value != 0).to_string(),
        Ty::MaybeTicket if value < 0 => "∞".to_string(),
        Ty::Linked => (value & 255).to_string(),
        _ => value.to_string(),
    }
}
