//! Merged states: states that no later step can tell apart, found by asking what steps look at.
//!
//! A step of a process depends on its local state, on the content of at most one register, and on how a few tickets compare.
//! Most of what a state holds is never looked at again: old tickets, registers that are written before they are read, distances
//! of tickets. A state is described here by its local states, without their tickets, and by *facts*: what a register holds, and
//! whether one ticket is at most another one plus a constant. At first there are no facts. A class of states needs
//!
//! 1. the facts on which the steps of its processes depend, and
//! 2. the facts needed by the classes to which these steps lead: those about what a step has written follow from what it has
//!    read (a ticket is one of those that were there, plus a constant), and all others are facts of the state before.
//!
//! A class without a fact that it needs is split by that fact, and the classes from which a step leads there are looked at
//! again. In the end every class has the facts it needs. Then all its states have the same steps, and these lead to states of the
//! same classes: the classes are a bisimulation, so they have the executions of the states, for all that properties are
//! about. This is the algorithm of Lee and Yannakakis (Online minimization of transition systems, 1992), with facts in place of
//! blocks. Each class has a state that an execution reaches, and only such classes are split, so classes of unreachable
//! states cost nothing. `docs/merging.md` has the argument in full.
//!
//! | | |
//! |---|---|
//! | `mod.rs` | the classes: finding that of a state |
//! | `facts.rs` | facts, and the questions that they answer |
//! | `merger.rs` | splitting classes until they have the facts they need |
//! | `steps.rs` | the steps of processes, without the numbers of tickets |
//! | `symbolic.rs` | executing a step with numbers of which only the order is known |
//! | `bounds.rs` | what facts about tickets imply |
mod bounds;
mod facts;
mod merger;
mod steps;
mod symbolic;
#[cfg(test)]
mod tests;

use std::num::NonZeroU32;

use doorway_memory::{Name, Pid};
use rustc_hash::FxHashMap;

use crate::{
    error::Error,
    model::{MAX_PROCESSES, Model},
    program::{Program, Section},
    registers::Register,
    search::Stop,
    view::Word,
};
use bounds::AtMost;
use facts::{Question, Slot, State};
use steps::{Shapes, Steps};

pub(crate) use steps::Content;

/// Why states cannot be merged.
#[derive(Debug)]
pub(super) enum Refused {
    /// A step depends on more than the order of tickets, or on distances that are too large.
    Arithmetic,
    /// A step breaks a rule. The search without merging finds an execution that leads there.
    Broken,
    /// The limits of the model do not allow more states.
    Stopped(Stop),
}

impl From<Error> for Refused {
    fn from(_: Error) -> Refused {
        Refused::Broken
    }
}

/// What came of merging.
pub(crate) enum Merged {
    /// The classes.
    Classes(Classes),
    /// States cannot be merged.
    No,
    /// It was ended before every class was known.
    Stopped(Stop, Unmerged),
}

/// How far merging came before it was ended.
#[derive(Clone, Copy)]
pub(crate) struct Unmerged {
    /// The number of classes known by then.
    pub(crate) classes: u64,
    /// The bytes in use.
    pub(crate) bytes: usize,
    /// A register that has held many values, and their number.
    pub(crate) growing: Option<(Name, usize)>,
}

/// A content of a field, with numbers for its tickets.
pub(crate) enum Filled {
    Local(Section, u32, Vec<Word>),
    Value(u64),
}

enum Node {
    /// States that were asked no more, and their class, if there is one.
    Leaf(Option<u32>),
    /// A question about tickets, and where to go on if it is so, and if not.
    Compare(AtMost<Slot>, [Option<NonZeroU32>; 2]),
    /// The content of a register, and for each answer where to go on.
    Content(u32, Vec<(u32, u32)>),
}

impl Node {
    fn class(&self) -> Option<u32> {
        match self {
            Node::Leaf(class) => *class,
            _ => None,
        }
    }

    fn asks(question: Question) -> Node {
        match question {
            Question::AtMost(what) => Node::Compare(what, [None; 2]),
            Question::Content(reg) => Node::Content(reg, Vec::new()),
        }
    }

    /// The question that is asked here, if there is one.
    fn question(&self) -> Option<Question> {
        match self {
            Node::Leaf(_) => None,
            Node::Compare(what, _) => Some(Question::AtMost(*what)),
            Node::Content(reg, _) => Some(Question::Content(*reg)),
        }
    }

    /// Where to go on after this answer.
    #[inline]
    fn after(&self, answer: u32) -> Option<u32> {
        match self {
            Node::Leaf(_) => None,
            Node::Compare(_, next) => next[answer as usize].map(NonZeroU32::get),
            Node::Content(_, next) => next.iter().find(|known| known.0 == answer).map(|known| known.1),
        }
    }

    fn go_on(&mut self, answer: u32, node: u32) {
        match self {
            Node::Leaf(_) => {}
            Node::Compare(_, next) => next[answer as usize] = NonZeroU32::new(node),
            Node::Content(_, next) => next.push((answer, node)),
        }
    }
}

/// The questions that states are asked. The next one depends on the answers so far, the first on the local states.
#[derive(Default)]
struct Questions {
    first: FxHashMap<Box<[u32]>, u32>,
    nodes: Vec<Node>,
}

impl Questions {
    /// Where to begin with a state, if there is such a state.
    fn first(&self, n: usize, state: &impl State) -> Option<u32> {
        let mut locals = [0; MAX_PROCESSES];
        locals[..n].iter_mut().enumerate().for_each(|(p, local)| *local = state.shape(p));
        self.first.get(&locals[..n]).copied()
    }

    /// The class of a state.
    fn class(&self, n: usize, state: &impl State) -> Option<u32> {
        let mut node = self.first(n, state)?;
        loop {
            let at = &self.nodes[node as usize];
            match at.question() {
                Some(question) => node = at.after(question.answer(n, state))?,
                None => return at.class(),
            }
        }
    }
}

/// The classes of states that no step can tell apart.
pub(crate) struct Classes {
    n: usize,
    questions: Questions,
    shapes: Vec<Shapes>,
    /// For each field the contents that it has in the states that stand for classes.
    pub(crate) contents: Vec<Vec<Filled>>,
    /// For each class and field the number of the content.
    pub(crate) members: Vec<u32>,
}

impl Classes {
    /// Merges the states of a program.
    pub(crate) fn find(program: &dyn Program, registers: Vec<Register>, model: &Model) -> Merged {
        let mut merger = merger::Merger::new(Steps::new(program, registers, model));
        match merger.run() {
            Ok(()) => Merged::Classes(merger.into_classes()),
            Err(Refused::Stopped(stop)) => Merged::Stopped(stop, merger.unmerged()),
            Err(Refused::Arithmetic | Refused::Broken) => Merged::No,
        }
    }

    /// The class of a state, given the content of each field.
    pub(crate) fn class<'a>(&self, content: impl Fn(usize) -> &'a Content) -> Option<u32> {
        self.questions.class(self.n, &Contents(content))
    }

    /// The content of a field that has a local state.
    pub(crate) fn local(&self, p: Pid, section: Section, passages: u32, history: &[Word]) -> Option<Content> {
        Steps::known_local(&self.shapes[p], section, passages, history)
    }

    /// The content of a field that has a register's value.
    pub(crate) fn value(&self, reg: usize, register: &Register, word: u64) -> Option<Content> {
        Steps::known_value(&self.shapes[self.n + reg], register.kind, word)
    }

    /// The bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        4 * self.members.len() + 48 * self.questions.nodes.len() + 64 * self.questions.first.len()
    }
}

/// A state, given by the content of each field.
struct Contents<F>(F);

impl<'a, F: Fn(usize) -> &'a Content> State for Contents<F> {
    fn shape(&self, field: usize) -> u32 {
        self.0(field).0
    }

    fn number(&self, field: usize, slot: usize) -> i32 {
        self.0(field).1[slot]
    }
}
