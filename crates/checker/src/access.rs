//! Accesses to registers.
use std::panic::{AssertUnwindSafe, Location, catch_unwind};

use crate::registers::Register;

/// The operation of an access.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Op {
    Read,
    Test,
    Write,
    FetchAdd,
    Swap,
    CompareSwap,
    Update,
    /// A read after which the register remembers that the process has loaded it.
    LoadLinked,
    StoreConditional,
    /// Accesses no register.
    Fence,
    Barrier,
}

/// The register number of an access without a register.
pub(crate) const NO_REGISTER: u32 = u32::MAX;

/// An access, before or after it is performed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) op: Op,
    pub(crate) reg: u32,
    pub(crate) operands: [u64; 2],
    pub(crate) line: Option<&'static str>,
    pub(crate) place: &'static Location<'static>,
    /// What the access returned, once it is performed.
    pub(crate) result: u64,
    /// What the register held before, once it is performed.
    pub(crate) before: u64,
    /// What the register holds afterwards, once it is performed.
    pub(crate) after: u64,
}

impl Op {
    pub(crate) fn is_read(self) -> bool {
        matches!(self, Op::Read | Op::Test | Op::LoadLinked)
    }

    /// The primitive it takes, by its name in the catalogue.
    pub(crate) fn primitive(self) -> &'static str {
        match self {
            Op::Read | Op::Test => "read",
            Op::Write => "write",
            Op::FetchAdd => "fetch-and-add",
            Op::Swap => "swap",
            Op::CompareSwap => "compare-and-swap",
            Op::Update => "update",
            Op::LoadLinked | Op::StoreConditional => "LL/SC",
            Op::Fence => "fence",
            Op::Barrier => "barrier",
        }
    }

    /// Whether a safe register has this operation.
    pub(crate) fn is_safe(self) -> bool {
        matches!(self, Op::Read | Op::Test | Op::Write)
    }

    pub(crate) fn is_fence(self) -> bool {
        matches!(self, Op::Fence | Op::Barrier)
    }

    /// Whether the process's own earlier writes must be visible first.
    pub(crate) fn drains(self) -> bool {
        !matches!(self, Op::Read | Op::Test | Op::LoadLinked | Op::Write)
    }
}

impl Access {
    /// What it does to which register, whatever its operands are.
    pub(crate) fn what(&self) -> (Op, u32) {
        (self.op, self.reg)
    }

    pub(crate) fn same_as(&self, other: &Access) -> bool {
        (self.op, self.reg, self.operands) == (other.op, other.reg, other.operands)
    }

    /// The register; none for a fence or barrier.
    pub(crate) fn register(&self) -> Option<usize> {
        (!self.op.is_fence()).then_some(self.reg as usize)
    }

    /// Whether it can fail, as a compare-and-swap can.
    pub(crate) fn can_fail(&self) -> bool {
        matches!(self.op, Op::CompareSwap | Op::StoreConditional)
    }

    /// Whether it writes a register that holds `word`, even if only with the same value.
    pub(crate) fn writes(&self, word: u64) -> bool {
        match self.op {
            Op::Read | Op::Test | Op::LoadLinked | Op::Fence | Op::Barrier => false,
            Op::Write | Op::FetchAdd | Op::Swap | Op::Update => true,
            Op::CompareSwap => word == self.operands[0],
            Op::StoreConditional => word & self.operands[1] != 0,
        }
    }

    /// The access as the papers write it: `flag[0] := true`, `flag[1] = false`.
    pub(crate) fn text(&self, registers: &[Register]) -> String {
        let Some(reg) = self.register() else {
            return if self.op == Op::Fence { "fence" } else { "barrier" }.to_string();
        };
        let Register { name, kind, .. } = &registers[reg];
        let show = |word| {
            let shown = catch_unwind(AssertUnwindSafe(|| (kind.show)(word)));
            shown.unwrap_or_else(|_| "(its Debug panics)".to_string())
        };
        let [first, second] = self.operands;
        match self.op {
            Op::Read | Op::Test => format!("{name} = {}", show(self.before)),
            Op::Write => format!("{name} := {}", show(first)),
            Op::FetchAdd => format!("fetch-and-add({name}, {}) = {}", show(first), show(self.before)),
            Op::Swap => format!("swap({name}, {}) = {}", show(first), show(self.before)),
            Op::CompareSwap => {
                format!("compare-and-swap({name}, {}, {}) = {}", show(first), show(second), self.result == 1)
            }
            Op::LoadLinked => format!("LL({name}) = {}", show(self.before)),
            Op::StoreConditional => format!("SC({name}, {}) = {}", show(first), self.result == 1),
            Op::Update => format!("{name} := {} (was {})", show(self.after), show(self.before)),
            Op::Fence | Op::Barrier => unreachable!("it has no register"),
        }
    }

    /// The access before it is performed: `read flag[1]`, `flag[0] := true`.
    pub(crate) fn intention(&self, registers: &[Register]) -> String {
        let Some(reg) = self.register() else { return self.text(registers) };
        let Register { name, kind, .. } = &registers[reg];
        let [first, second] = self.operands.map(|word| catch_unwind(AssertUnwindSafe(|| (kind.show)(word))));
        let [first, second] = [first, second].map(|shown| shown.unwrap_or_else(|_| "?".to_string()));
        match self.op {
            Op::Read | Op::Test => format!("read {name}"),
            Op::FetchAdd => format!("fetch-and-add({name}, {first})"),
            Op::Swap => format!("swap({name}, {first})"),
            Op::CompareSwap => format!("compare-and-swap({name}, {first}, {second})"),
            Op::LoadLinked => format!("LL({name})"),
            Op::StoreConditional => format!("SC({name}, {first})"),
            Op::Update => format!("update {name}"),
            Op::Write | Op::Fence | Op::Barrier => self.text(registers),
        }
    }

    /// The line of the paper, or else of the source.
    pub(crate) fn line(&self) -> String {
        line_of(self.line, self.place)
    }
}

pub(crate) fn line_of(line: Option<&str>, place: &Location<'_>) -> String {
    match line {
        Some(line) => line.to_string(),
        None => {
            let file = place.file();
            let file = file.rsplit(['/', '\\']).next().unwrap_or(file);
            format!("{file}:{}", place.line())
        }
    }
}
