//! A lock of one's own for any number of processes, with structures as place and in registers. CONTRIBUTING.md tells of it.
use doorway_checker::{Model, check};
use doorway_memory::{Exclusion, Local, Memory, Pid, Sink, Source, Space, Ticket, Value};

/// What a process shows to others, in one register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Sign {
    choosing: bool,
    /// Zero if it wants nothing.
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

/// The place in the queue: by ticket, and where tickets are equal by number.
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

/// Lamport's bakery, with both of a process' variables in one register.
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

    fn doorway(&self, m: &mut M, p: Pid) -> Result<Turn, M::Halt> {
        m.write(&self.sign[p], Sign { choosing: true, ticket: Ticket::ZERO })?;
        let largest =
            m.fold(self.sign.len(), Ticket::ZERO, |m, largest, i| Ok(largest.max(m.read(&self.sign[i])?.ticket)))?;
        m.write(&self.sign[p], Sign { choosing: false, ticket: largest.next() })?;
        Ok(Turn { ticket: largest.next(), process: p })
    }

    fn wait(&self, m: &mut M, p: Pid, mine: &Turn) -> Result<(), M::Halt> {
        let lets_us_go_first =
            |sign: Sign, process| sign.ticket == Ticket::ZERO || *mine < Turn { ticket: sign.ticket, process };
        m.each_but(p, self.sign.len(), |m, i| {
            m.spin(|m| m.test(&self.sign[i], |sign| !sign.choosing && lets_us_go_first(sign, i)))
        })
    }

    fn exit(&self, m: &mut M, p: Pid, _: &Turn) -> Result<(), M::Halt> {
        m.write(&self.sign[p], Sign { choosing: false, ticket: Ticket::ZERO })
    }
}

fn main() -> Result<(), doorway_checker::Error> {
    let n = 3;
    let report = check(&Model::new(n), |space| SignedBakery::new(space, n))?;
    print!("{report}");
    assert!(report.findings.iter().all(|finding| finding.run.is_none()), "every property holds");
    Ok(())
}
