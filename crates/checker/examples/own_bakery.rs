//! Checks a user-defined lock for any number of processes, with structs as place and in registers. See CONTRIBUTING.md.
use doorway_checker::{Model, check};
use doorway_memory::{Exclusion, Local, Memory, Pid, Sink, Source, Space, Ticket, Value};

/// The variables by which a process announces itself, in one register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Sign {
    choosing: bool,
    /// Zero if the process does not compete.
    ticket: Ticket,
}

impl Value for Sign {
    fn to_word(self) -> u64 {
        self.ticket.to_word() << 1 | u64::from(self.choosing)
    }
    fn of_word(word: u64) -> Sign {
        Sign { choosing: word & 1 == 1, ticket: Ticket::of_word(word >> 1) }
    }
    fn map_tickets(self, f: &mut dyn FnMut(Ticket) -> Ticket) -> Sign {
        Sign { ticket: f(self.ticket), ..self }
    }
}

/// The position in the queue: by ticket, and by process number where tickets are equal.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    ticket: Ticket,
    process: Pid,
}

impl Local for Turn {
    fn save(&self, to: &mut impl Sink) {
        to.put(self.ticket);
        to.put(self.process);
    }
    fn load(from: &mut impl Source) -> Turn {
        Turn { ticket: from.take(), process: from.take() }
    }
}

/// Lamport's bakery, with both variables of a process in one register.
struct SignedBakery<M: Memory> {
    sign: Vec<M::Reg<Sign>>,
}

impl<M: Memory> SignedBakery<M> {
    fn new(space: &mut impl Space<Mem = M>, n: usize) -> Self {
        SignedBakery { sign: space.per_process("sign", n, Sign { choosing: false, ticket: Ticket::ZERO }) }
    }
}

impl<M: Memory> Exclusion<M> for SignedBakery<M> {
    type Place = Turn;
    type Inside = ();

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Turn, M::Halt> {
        m.write(&self.sign[p], Sign { choosing: true, ticket: Ticket::ZERO })?;
        let largest =
            m.fold(self.sign.len(), Ticket::ZERO, |m, largest, i| Ok(largest.max(m.read(&self.sign[i])?.ticket)))?;
        m.write(&self.sign[p], Sign { choosing: false, ticket: largest.next() })?;
        Ok(Turn { ticket: largest.next(), process: p })
    }

    fn wait(&self, m: &mut M, p: Pid, mine: &Turn) -> Result<(), M::Halt> {
        let is_behind =
            |sign: Sign, process| sign.ticket == Ticket::ZERO || *mine < Turn { ticket: sign.ticket, process };
        m.each_but(p, self.sign.len(), |m, i| {
            m.spin(|m| m.test(&self.sign[i], |sign| !sign.choosing && is_behind(sign, i)))
        })
    }

    fn exit(&self, m: &mut M, p: Pid, (): &()) -> Result<(), M::Halt> {
        m.write(&self.sign[p], Sign { choosing: false, ticket: Ticket::ZERO })
    }
}

fn main() -> Result<(), doorway_checker::Error> {
    let n = 3;
    let report = check(&Model::new(n), |space| SignedBakery::new(space, n))?;
    print!("{report}");
    assert!(report.findings.iter().all(|finding| finding.execution.is_none()), "every property holds");
    Ok(())
}
