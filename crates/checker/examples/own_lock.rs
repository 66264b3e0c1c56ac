//! Defines a lock and checks it: a verdict and a counterexample. `cargo run -p doorway-checker --example own_lock`.
use doorway_checker::{Model, Property, check};
use doorway_memory::{Exclusion, Memory, Pid, Space};

/// Two processes enter alternately.
struct Alternation<M: Memory> {
    turn: M::Reg<usize>,
}

impl<M: Memory> Alternation<M> {
    fn new(space: &mut impl Space<Mem = M>) -> Self {
        Alternation { turn: space.shared("turn", 0) }
    }
}

impl<M: Memory> Exclusion<M> for Alternation<M> {
    type Place = ();
    type Inside = ();

    fn doorway(&self, _: &mut M, _: Pid) -> Result<(), M::Halt> {
        Ok(())
    }

    fn wait(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.spin(|m| m.test(&self.turn, |turn| turn == p))
    }

    fn exit(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.write(&self.turn, 1 - p)
    }
}

fn main() -> Result<(), doorway_checker::Error> {
    let report = check(&Model::new(2), Alternation::new)?;
    print!("{report}");
    assert!(report.holds(Property::Exclusion));
    assert!(report.fails(Property::DeadlockFreedom), "the turn never comes back if the other process does not compete");
    Ok(())
}
