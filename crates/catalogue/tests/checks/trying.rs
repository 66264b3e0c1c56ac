//! `try_lock` and `try_acquire` with waiters in the queue: they take a ticket only if it may enter at once.

use doorway_algorithms::{kexclusion::ticket_k::TicketK, mutex::ticket};
use doorway_checker::{Model, Property, Registers, Report, check};
use doorway_memory::{Count, Exclusion, Memory, Pid};

trait TryEnter<M: Memory>: Exclusion<M, Place = Count> {
    fn try_enter(&self, m: &mut M) -> Result<Option<Count>, M::Halt>;
    fn inside(&self, ticket: Count) -> Self::Inside;
}

impl<M: Memory> TryEnter<M> for ticket::Ticket<M> {
    fn try_enter(&self, m: &mut M) -> Result<Option<Count>, M::Halt> {
        self.try_enter(m)
    }

    fn inside(&self, ticket: Count) -> Count {
        ticket
    }
}

impl<M: Memory> TryEnter<M> for TicketK<M> {
    fn try_enter(&self, m: &mut M) -> Result<Option<Count>, M::Halt> {
        self.try_enter(m)
    }

    fn inside(&self, _: Count) {}
}

/// Tries first, and joins the queue if that fails. A process that entered by trying does not wait.
struct TryFirst<L>(L);

impl<M: Memory, L: TryEnter<M>> Exclusion<M> for TryFirst<L> {
    /// The ticket, and whether the process has entered.
    type Place = (Count, bool);
    type Inside = L::Inside;

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Self::Place, M::Halt> {
        match self.0.try_enter(m)? {
            Some(ticket) => Ok((ticket, true)),
            None => Ok((self.0.doorway(m, p)?, false)),
        }
    }

    fn wait(&self, m: &mut M, p: Pid, &(ticket, has_entered): &Self::Place) -> Result<L::Inside, M::Halt> {
        if has_entered { Ok(self.0.inside(ticket)) } else { self.0.wait(m, p, &ticket) }
    }

    fn exit(&self, m: &mut M, p: Pid, inside: &L::Inside) -> Result<(), M::Halt> {
        self.0.exit(m, p, inside)
    }
}

fn assert_fair(report: &Report, states: u64) {
    for property in
        [Property::Exclusion, Property::DeadlockFreedom, Property::StarvationFreedom, Property::KFcfs, Property::Fife]
    {
        assert!(report.holds(property), "{property}: {report}");
    }
    assert_eq!((report.states, report.incomplete.as_ref()), (states, None));
}

#[test]
fn trying_the_ticket_lock_overtakes_no_waiter() {
    let report = check(&Model::new(3), |space: &mut Registers| TryFirst(ticket::Ticket::new(space))).unwrap();
    assert_fair(&report, 1_369);
    assert!(report.holds(Property::Fcfs));
}

#[test]
fn trying_ticket_k_overtakes_no_waiter() {
    let model = Model::new(3).k(2).crashes(1);
    let report = check(&model, |space: &mut Registers| TryFirst(TicketK::new(space, 2))).unwrap();
    assert_fair(&report, 1_282_239);
}
