//! The accesses of a process under check.
use std::{
    ops::ControlFlow::{self, Break, Continue},
    panic::Location,
};

use doorway_memory::{Claim, Index, Linked, Local, Memory, Narrow, Number, Pid, Ticket, Value};

use super::{Halt, IDLE_LIMIT, IDLE_WORDS_LIMIT, View, What};
use crate::{
    access::{NO_REGISTER, Op},
    error::Fault,
    model::Fences,
    registers::Handle,
};

impl Memory for View {
    type Halt = Halt;
    type Reg<T: Value> = Handle<T>;
    type Registers<T: Value> = Vec<Handle<T>>;

    fn read<T: Value>(&mut self, reg: &Handle<T>) -> Result<T, Halt> {
        self.access(Op::Read, reg, [0; 2], |word| (word, T::of_word(word)))
    }
    fn test<T: Value>(&mut self, reg: &Handle<T>, holds: impl FnOnce(T) -> bool) -> Result<bool, Halt> {
        self.access(Op::Test, reg, [0; 2], |word| (word, holds(T::of_word(word))))
    }
    fn write<T: Value>(&mut self, reg: &Handle<T>, value: T) -> Result<(), Halt> {
        let word = self.word_of(value);
        self.access(Op::Write, reg, [word, 0], |_| (word, ()))?;
        if self.setting.fences == Fences::Everywhere { self.fence() } else { Ok(()) }
    }
    fn fetch_add<T: Number>(&mut self, reg: &Handle<T>, by: T) -> Result<T, Halt> {
        self.access(Op::FetchAdd, reg, [by.to_word(), 0], |word| {
            (T::of_word(word.wrapping_add(by.to_word())).to_word(), T::of_word(word))
        })
    }
    fn swap<T: Value>(&mut self, reg: &Handle<T>, value: T) -> Result<T, Halt> {
        let new = self.word_of(value);
        self.access(Op::Swap, reg, [new, 0], |word| (new, T::of_word(word)))
    }
    fn compare_swap<T: Value>(&mut self, reg: &Handle<T>, old: T, new: T) -> Result<bool, Halt> {
        let (expected, wanted) = (self.word_of(old), self.word_of(new));
        self.access(Op::CompareSwap, reg, [expected, wanted], |word| {
            // The comparison is of values, not of words, so that comparisons of tickets are recorded.
            if T::of_word(word) == old { (wanted, true) } else { (word, false) }
        })
    }
    fn update<T: Value>(&mut self, reg: &Handle<T>, action: impl Fn(T) -> T) -> Result<T, Halt> {
        let mut lost = None;
        let old = self.access(Op::Update, reg, [0; 2], |word| {
            let new = action(T::of_word(word));
            lost = Some(new).filter(|&new| T::of_word(new.to_word()) != new);
            (new.to_word(), T::of_word(word))
        })?;
        match lost {
            Some(value) => Err(self.fault(Fault::NotAWord(format!("`{value:?}`")))),
            None => Ok(old),
        }
    }

    // The tag of a linked register is the set of processes that have loaded it since it was last written: a version
    // number would grow for ever. A process keeps only the value of a load, so that states do not differ in more.
    fn load_linked<T: Narrow>(&mut self, reg: &Handle<Linked<T>>) -> Result<Linked<T>, Halt> {
        let me = 1 << self.process;
        self.access(Op::LoadLinked, reg, [0; 2], |word| {
            let linked = Linked::<T>::of_word(word);
            (linked.with_tag(linked.tag() | me).to_word(), Linked::new(linked.value()))
        })
    }
    fn store_conditional<T: Narrow>(&mut self, reg: &Handle<Linked<T>>, _: Linked<T>, value: T) -> Result<bool, Halt> {
        let me = 1 << self.process << T::BITS;
        let new = Linked::new(value).to_word();
        self.access(
            Op::StoreConditional,
            reg,
            [new, me],
            |word| {
                if word & me != 0 { (new, true) } else { (word, false) }
            },
        )
    }
    fn validate<T: Narrow>(&mut self, reg: &Handle<Linked<T>>, _: Linked<T>) -> Result<bool, Halt> {
        let me = 1 << self.process << T::BITS;
        self.access(Op::Test, reg, [0; 2], |word| (word, word & me != 0))
    }
    fn write_linked<T: Narrow>(&mut self, reg: &Handle<Linked<T>>, value: T) -> Result<(), Halt> {
        self.access(Op::Update, reg, [0; 2], |_| (Linked::new(value).to_word(), ()))
    }
    fn read_linked<T: Narrow>(&mut self, reg: &Handle<Linked<T>>) -> Result<T, Halt> {
        self.access(Op::Read, reg, [0; 2], |word| (word, Linked::<T>::of_word(word).value()))
    }

    fn fence(&mut self) -> Result<(), Halt> {
        if self.setting.fences.count(Location::caller()) {
            return self.perform(Op::Fence, NO_REGISTER, [0; 2], |_| (0, ()));
        }
        self.line = None; // it was the fence's
        Ok(())
    }

    fn barrier(&mut self) -> Result<(), Halt> {
        if self.setting.fences.count(Location::caller()) {
            return self.perform(Op::Barrier, NO_REGISTER, [0; 2], |_| (0, ()));
        }
        self.line = None; // it was the barrier's
        Ok(())
    }

    fn turns<S: Local, B: Local>(
        &mut self,
        state: S,
        body: impl Fn(&mut Self, S) -> Result<ControlFlow<B, S>, Halt>,
    ) -> Result<B, Halt> {
        if self.halted {
            return Err(self.halt());
        }
        let start = self.at;
        let mut state = match self.history.get(start).map(|word| word.what) {
            None => {
                self.mark(What::Continued);
                state.save(self);
                state
            }
            Some(What::Continued) => {
                self.at += 1;
                S::load(self)
            }
            Some(What::Broken) => {
                self.at += 1;
                return Ok(B::load(self));
            }
            Some(_) => return Err(self.fault(Fault::Nondeterminism)),
        };
        loop {
            self.idle += 1;
            if self.idle > IDLE_LIMIT || self.idle_words > IDLE_WORDS_LIMIT {
                return Err(self.fault(Fault::EndlessTurns(self.idle - 1)));
            }
            let turn = body(self, state)?;
            if self.halted {
                return Err(self.halt());
            }
            self.forget_after(start);
            match turn {
                Break(result) => {
                    self.mark(What::Broken);
                    result.save(self);
                    return Ok(result);
                }
                Continue(next) => {
                    self.mark(What::Continued);
                    next.save(self);
                    state = next;
                }
            }
        }
    }

    // The loops over `0..n` are those of the interface, except that their state tells that it has an index.
    fn fold<S: Local>(
        &mut self,
        n: usize,
        state: S,
        body: impl Fn(&mut Self, S, usize) -> Result<S, Halt>,
    ) -> Result<S, Halt> {
        self.turns((Index::first_of(n), state), |m, (i, state)| {
            m.begin_turn(n)?;
            Ok(if i.at < n { Continue((i.next(), body(m, state, i.at)?)) } else { Break(state) })
        })
    }

    fn all(&mut self, n: usize, holds: impl Fn(&mut Self, usize) -> Result<bool, Halt>) -> Result<bool, Halt> {
        self.turns(Index::first_of(n), |m, i| {
            m.begin_turn(n)?;
            match i.at < n {
                true => Ok(if holds(m, i.at)? { Continue(i.next()) } else { Break(false) }),
                false => Ok(Break(true)),
            }
        })
    }

    fn until<T: Value>(&mut self, reg: &Handle<T>, holds: impl Fn(T) -> bool + Sync) -> Result<(), Halt> {
        // Every turn has the same line, in the paper and in the source.
        let (line, place) = (self.line.take(), Location::caller());
        self.spin(|m| {
            m.own(reg)?;
            m.access_at(place, line, Op::Test, reg.register, [0; 2], |word| (word, holds(T::of_word(word))))
        })
    }

    fn claim(&mut self, names: &[Handle<Claim>], p: Pid) -> Result<(usize, Ticket), Halt> {
        // As in `until`; and a process keeps its token only, so that states do not differ in more.
        let (line, place) = (self.line.take(), Location::caller());
        self.turns(0, |m, i: usize| {
            m.own(&names[i])?;
            let token = m.access_at(place, line, Op::Update, names[i].register, [0; 2], |word| {
                let name = Claim::of_word(word);
                (name.claimed(p).to_word(), name.next_token())
            })?;
            Ok(token.map_or(Continue((i + 1) % names.len()), |token| Break((i, token))))
        })
    }

    fn at(&mut self, line: &'static str) -> &mut Self {
        self.line = Some(line);
        self
    }
}
