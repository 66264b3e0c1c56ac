//! Names that a process claims in another order than `fischer-queue-names` tries them.
use std::ops::ControlFlow::{Break, Continue};

use doorway_checker::{Model, Property, Registers, Report, check};
use doorway_memory::{Abort, Assign, Claim, Exclusion, Fence, Memory, Pid, Queue, Reap, Space, Ticket};

/// `fischer-queue-names`, but a process begins with the name that was given up last, as a memory does that hands a name
/// over in the step in which its holder leaves. So the checker sees a process try the names from any one of them on.
struct FromTheLast<M: Memory> {
    v: M::Reg<Queue>,
    name: Vec<M::Reg<Claim>>,
    last: M::Reg<u8>,
}

impl<M: Memory> FromTheLast<M> {
    fn new(space: &mut impl Space<Mem = M>, n: usize, k: usize) -> Self {
        FromTheLast { v: space.queue("V", n), name: space.array("Name", k, Claim::FREE), last: space.shared("Last", 0) }
    }
}

impl<M: Memory> Exclusion<M> for FromTheLast<M> {
    type Place = ();
    type Inside = (usize, Ticket);

    fn doorway(&self, m: &mut M, p: Pid) -> Result<(), M::Halt> {
        m.at("1").join(&self.v, p)
    }

    fn wait(&self, m: &mut M, p: Pid, (): &()) -> Result<(usize, Ticket), M::Halt> {
        m.at("2").until_among(&self.v, p, self.name.len())?;
        let last = m.at("3").read(&self.last)?;
        m.turns(usize::from(last), |m, i: usize| {
            let before = m.at("4").update(&self.name[i], |name| name.claimed(p))?;
            Ok(match before.next_token() {
                Some(token) => Break((i, token)),
                None => Continue((i + 1) % self.name.len()),
            })
        })
    }

    fn exit(&self, m: &mut M, p: Pid, &(name, _): &(usize, Ticket)) -> Result<(), M::Halt> {
        m.at("5").write(&self.last, u8::try_from(name).expect("there are few names"))?;
        m.at("6").unclaim(&self.name[name], p)?;
        m.at("7").leave(&self.v, p)
    }

    fn recovery(&self) -> Option<&dyn Reap<M>> {
        Some(self)
    }
    fn aborting(&self) -> Option<&dyn Abort<M, ()>> {
        Some(self)
    }
    fn names(&self) -> Option<&dyn Assign<(usize, Ticket)>> {
        Some(self)
    }
    fn tokens(&self) -> Option<&dyn Fence<(usize, Ticket)>> {
        Some(self)
    }
}

impl<M: Memory> Abort<M, ()> for FromTheLast<M> {
    fn abort(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        self.reap(m, p)
    }
}

impl<M: Memory> Reap<M> for FromTheLast<M> {
    fn reap(&self, m: &mut M, dead: Pid) -> Result<(), M::Halt> {
        m.fold(self.name.len(), (), |m, (), j| m.at("6").unclaim(&self.name[j], dead))?;
        m.at("7").leave(&self.v, dead)
    }
}

impl<M: Memory> Assign<(usize, Ticket)> for FromTheLast<M> {
    fn name(&self, &(name, _): &(usize, Ticket)) -> usize {
        name
    }
}

impl<M: Memory> Fence<(usize, Ticket)> for FromTheLast<M> {
    fn token(&self, &(_, token): &(usize, Ticket)) -> Ticket {
        token
    }
    fn resources(&self) -> usize {
        self.name.len()
    }
}

fn report(n: usize, k: usize, adding: impl Fn(Model) -> Model) -> Report {
    check(&adding(Model::new(n).k(k)), |space: &mut Registers| FromTheLast::new(space, n, k)).unwrap()
}

#[test]
fn which_free_name_a_process_claims_does_not_matter() {
    use Property::{Assignment, BoundedExit, Exclusion, Fife, KFcfs, StarvationFreedom};
    for report in [report(3, 2, |model| model), report(3, 2, |model| model.deaths().aborts())] {
        for property in [Exclusion, Assignment, StarvationFreedom, KFcfs, Fife, BoundedExit] {
            assert!(report.holds(property), "{report}");
        }
    }
    let report = report(3, 2, |model| model.expiries().passages(1));
    assert!(report.holds(Property::Fenced), "{report}");
}
