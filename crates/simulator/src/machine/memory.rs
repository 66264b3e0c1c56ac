//! The machine as a memory: every access, and the loops that a process is replayed into.
use std::{
    marker::PhantomData,
    mem,
    ops::ControlFlow::{self, Break, Continue},
};

use doorway_memory::{Home, Local, Memory, Name, Number, Source, Space, Value};

use super::{
    Change, Halt, Machine, Reg,
    tape::{ENDED, Header, Words},
};
use crate::registers::Kind;

impl Space for Machine {
    type Mem = Machine;

    fn register<T: Value>(&mut self, _: Name, home: Home, init: T) -> Reg<T> {
        Reg(self.registers.add(home, init.to_word()), PhantomData)
    }
}

impl Memory for Machine {
    type Halt = Halt;
    type Reg<T: Value> = Reg<T>;
    type Registers<T: Value> = Vec<Reg<T>>;

    #[inline]
    fn read<T: Value>(&mut self, reg: &Reg<T>) -> Result<T, Halt> {
        self.access(reg.0, |_| Kind::Read, |word| Change { written: word, returned: word }).map(T::of_word)
    }

    #[inline]
    fn test<T: Value>(&mut self, reg: &Reg<T>, holds: impl FnOnce(T) -> bool) -> Result<bool, Halt> {
        let change = |word| Change { written: word, returned: u64::from(holds(T::of_word(word))) };
        self.access(reg.0, |_| Kind::Read, change).map(|word| word == 1)
    }

    #[inline]
    fn write<T: Value>(&mut self, reg: &Reg<T>, value: T) -> Result<(), Halt> {
        self.access(reg.0, |_| Kind::Write, |_| Change { written: value.to_word(), returned: 0 }).map(|_| ())
    }

    #[inline]
    fn fetch_add<T: Number>(&mut self, reg: &Reg<T>, by: T) -> Result<T, Halt> {
        let sum = |word: u64| T::of_word(word.wrapping_add(by.to_word())).to_word();
        self.access(reg.0, |_| Kind::Write, |word| Change { written: sum(word), returned: word }).map(T::of_word)
    }

    #[inline]
    fn swap<T: Value>(&mut self, reg: &Reg<T>, value: T) -> Result<T, Halt> {
        self.access(reg.0, |_| Kind::Write, |word| Change { written: value.to_word(), returned: word }).map(T::of_word)
    }

    #[inline]
    fn compare_swap<T: Value>(&mut self, reg: &Reg<T>, old: T, new: T) -> Result<bool, Halt> {
        let hits = |word| T::of_word(word) == old;
        let kind = |word| if hits(word) { Kind::Write } else { Kind::FailedCas };
        let change = |word| Change { written: new.to_word(), returned: u64::from(hits(word)) };
        self.access(reg.0, kind, change).map(|word| word == 1)
    }

    #[inline]
    fn update<T: Value>(&mut self, reg: &Reg<T>, action: impl Fn(T) -> T) -> Result<T, Halt> {
        let change = |word| Change { written: action(T::of_word(word)).to_word(), returned: word };
        self.access(reg.0, |_| Kind::Write, change).map(T::of_word)
    }

    fn fence(&mut self) -> Result<(), Halt> {
        Ok(())
    }

    fn barrier(&mut self) -> Result<(), Halt> {
        Ok(())
    }

    fn turns<S: Local, B: Local>(
        &mut self,
        mut state: S,
        body: impl Fn(&mut Self, S) -> Result<ControlFlow<B, S>, Halt>,
    ) -> Result<B, Halt> {
        let start = self.at;
        match self.tape.words.get(start) {
            Some(&ENDED) => {
                self.at += 1;
                return Ok(B::load(&mut Replay(self)));
            }
            Some(_) => {
                self.at += 1;
                state = S::load(&mut Replay(self));
            }
            None => {
                let header = self.tape.header().word();
                self.tape.words.push(header);
                state.save(&mut Words(&mut self.tape.words));
                self.at = self.tape.words.len();
            }
        }
        loop {
            match body(self, state)? {
                Break(end) => {
                    let words = &mut self.tape.words;
                    words.truncate(start);
                    words.push(ENDED);
                    end.save(&mut Words(words));
                    self.at = words.len();
                    return Ok(end);
                }
                Continue(next) => {
                    let mut saved = mem::take(&mut self.scratch);
                    saved.clear();
                    next.save(&mut Words(&mut saved));
                    let header = Header::of_word(self.tape.words[start]);
                    // The encoding of a state tells where it ends, so it is enough to compare a prefix.
                    let is_same = self.tape.words[start + 1..].starts_with(&saved);
                    let is_spin = is_same && header.writes == self.tape.writes;
                    let is_suspended = is_spin && self.suspend(header.log as usize);
                    if is_spin {
                        // The next iteration reads the same registers again.
                        self.tape.log.truncate(header.log as usize);
                        self.tape.overtaken = self.tape.overtaken.min(header.log);
                        self.fresh_from = self.fresh_from.min(header.log as usize);
                    }
                    let header = self.tape.header().word();
                    let words = &mut self.tape.words;
                    words.truncate(start);
                    words.push(header);
                    words.extend_from_slice(&saved);
                    self.at = words.len();
                    self.scratch = saved;
                    if is_suspended {
                        return Err(Halt);
                    }
                    state = next;
                }
            }
        }
    }
}

/// Loads the state or the result of a loop from the tape of the running process.
struct Replay<'a>(&'a mut Machine);

impl Source for Replay<'_> {
    #[inline]
    fn take<T: Value>(&mut self) -> T {
        let word = self.0.tape.words[self.0.at];
        self.0.at += 1;
        T::of_word(word)
    }
}
