//! The registers of the algorithm under check.
use std::{
    fmt,
    marker::PhantomData,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use doorway_memory::{Cyclic, Home, Index, Name, Queue, Space, Ticket, Value};

use crate::{model::Model, view::View};

/// The registers of the algorithm under check, in the order they were made.
#[derive(Debug)]
pub struct Registers {
    pub(crate) list: Vec<Register>,
    /// Different for every space.
    pub(crate) space: u64,
    /// How many of the registers, the last ones, are those of resources, which only models with expiries have.
    pub(crate) resources: usize,
}

impl Registers {
    /// The registers that a model has.
    pub(crate) fn of(&self, model: &Model) -> &[Register] {
        let resources = if model.expiries { 0 } else { self.resources };
        &self.list[..self.list.len() - resources]
    }
}

impl Default for Registers {
    fn default() -> Registers {
        static SPACES: AtomicU64 = AtomicU64::new(0);
        // ORDERING: a unique number; nothing is published with it.
        Registers { list: Vec::new(), space: SPACES.fetch_add(1, Relaxed), resources: 0 }
    }
}

/// A register: its name, home, initial word and type.
#[derive(Clone, Debug)]
pub(crate) struct Register {
    pub(crate) name: Name,
    pub(crate) home: Home,
    pub(crate) init: u64,
    pub(crate) kind: Kind,
    /// The ring that it belongs to, if it does.
    pub(crate) ring: Option<Ring>,
}

/// Registers that cyclic numbers select.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ring {
    pub(crate) first: usize,
    pub(crate) len: usize,
}

impl Register {
    /// A register in which the checker itself counts.
    pub(crate) fn counter(name: &'static str) -> Register {
        Register { name: Name::new(name), home: Home::Nobody, init: 0, kind: Kind::of::<u64>(), ring: None }
    }
}

/// What the checker needs to know of a value's type after erasing it.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) renumber: fn(u64, &mut dyn FnMut(Ticket) -> Ticket) -> u64,
    pub(crate) rotate: fn(u64, &mut dyn FnMut(Cyclic) -> Cyclic) -> u64,
    pub(crate) show: fn(u64) -> String,
    pub(crate) domain: fn(&[Ticket]) -> Option<Vec<u64>>,
    pub(crate) tally: fn(u64) -> Option<i64>,
    pub(crate) queue: fn(u64) -> Option<Queue>,
    pub(crate) index: fn(u64) -> Option<Index>,
}

impl Kind {
    pub(crate) fn of<T: Value>() -> Kind {
        struct Show<T>(T);
        impl<T: Value> fmt::Display for Show<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.show(f)
            }
        }
        Kind {
            renumber: |word, f| T::of_word(word).map_tickets(f).to_word(),
            rotate: |word, f| T::of_word(word).map_cyclic(f).to_word(),
            show: |word| Show(T::of_word(word)).to_string(),
            domain: |tickets| Some(T::domain(tickets)?.into_iter().map(T::to_word).collect()),
            tally: |word| T::of_word(word).tally(),
            queue: |word| T::of_word(word).queue(),
            index: |word| T::of_word(word).index(),
        }
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Kind")
    }
}

/// A register of the algorithm under check.
#[derive(Debug)]
pub struct Handle<T> {
    pub(crate) register: u32,
    pub(crate) space: u64,
    of: PhantomData<fn() -> T>,
}

impl Space for Registers {
    type Mem = View;
    fn register<T: Value>(&mut self, name: Name, home: Home, init: T) -> Handle<T> {
        self.list.push(Register { name, home, init: init.to_word(), kind: Kind::of::<T>(), ring: None });
        Handle { register: self.list.len() as u32 - 1, space: self.space, of: PhantomData }
    }
    fn ring<T: Value>(&mut self, name: &'static str, len: usize, init: impl Fn(usize) -> T) -> Vec<Handle<T>> {
        let ring = Ring { first: self.list.len(), len };
        let handles = (0..len).map(|i| self.register(Name::new(name).index(i), Home::Nobody, init(i))).collect();
        self.list[ring.first..].iter_mut().for_each(|register| register.ring = Some(ring));
        handles
    }
}
