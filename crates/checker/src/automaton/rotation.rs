//! Rotation: cyclic numbers are only counted on from, so it does not matter which of them is called 0.
//!
//! To *rotate* a state is to add the same to all its cyclic numbers, in registers and local states, and to move the contents
//! of each register of a ring to the one as far ahead. A search that forgets rotates each state so that one register, the
//! *pivot*, holds the number that it holds initially. So states that differ only by a rotation are one.
//!
//! This is exact if every step from a rotated state is the step from the state itself, rotated: then the two are bisimilar.
//! Each step that sees or makes a cyclic number is tested for that with every rotation, when it is learnt. If one does
//! something else, the search starts again without rotation.
use doorway_memory::{Cyclic, Pid};

use super::{
    Automaton, Local,
    execute::{Ran, run, unfounded},
};
use crate::{
    access::NO_REGISTER,
    error::Error,
    model::Model,
    program::Program,
    registers::{Kind, Register},
    view::{What, Word},
};

/// How states are rotated.
#[derive(Clone, Copy)]
pub(crate) struct Rotation {
    /// The modulus of the numbers that are rotated.
    of: usize,
    /// The register that holds the same number in all states.
    pivot: usize,
    /// That number.
    normal: Cyclic,
}

impl Rotation {
    /// The rotation by the first register that holds a cyclic number, if the model and the program allow for one.
    pub(super) fn of(program: &dyn Program, registers: &[Register], model: &Model) -> Option<Rotation> {
        let outcomes_are_looked_at = program.is_part() || program.assigns();
        let has_more = model.store_buffers || model.safe_registers || model.symmetric || model.cache.is_some();
        if !model.forgets || outcomes_are_looked_at || has_more || model.has_interruptions() {
            return None;
        }
        let mut initial = registers.iter().map(|register| first_in(register.kind, register.init)).enumerate();
        initial.find_map(|(pivot, number)| number.map(|normal| Rotation { of: normal.of(), pivot, normal }))
    }

    /// A word whose numbers were rotated.
    fn word(self, kind: Kind, word: u64, by: usize) -> u64 {
        // The words of other types may have more in them than the value.
        if !has_number(kind, word) {
            return word;
        }
        (kind.rotate)(word, &mut |number| if number.of() == self.of { number.plus(by) } else { number })
    }

    /// The register that a rotation moves the content of a register to.
    fn register(self, registers: &[Register], reg: usize, by: usize) -> usize {
        match registers[reg].ring {
            Some(ring) if ring.len == self.of => ring.first + (reg - ring.first + by) % ring.len,
            _ => reg,
        }
    }

    /// A rotated history.
    pub(crate) fn history(self, registers: &[Register], history: &[Word], by: usize) -> Vec<Word> {
        let rotated = |word: &Word| {
            let what = match word.what {
                What::Access(op, reg) if reg != NO_REGISTER => {
                    What::Access(op, self.register(registers, reg as usize, by) as u32)
                }
                what => what,
            };
            Word { bits: self.word(word.kind, word.bits, by), what, ..*word }
        };
        history.iter().map(rotated).collect()
    }

    /// The words of all registers, rotated.
    pub(crate) fn words(self, registers: &[Register], words: &[u64], by: usize) -> Vec<u64> {
        let mut rotated = words.to_vec();
        for (reg, (register, &word)) in std::iter::zip(registers, words).enumerate() {
            rotated[self.register(registers, reg, by)] = self.word(register.kind, word, by);
        }
        rotated
    }

    /// By how much a state is to be rotated whose registers hold these words.
    pub(crate) fn needed(self, registers: &[Register], words: &[u64]) -> usize {
        self.needed_for(registers[self.pivot].kind, words[self.pivot])
    }

    fn needed_for(self, kind: Kind, word: u64) -> usize {
        first_in(kind, word).map_or(0, |number| self.normal.ahead_of(number))
    }
}

/// The first cyclic number in a word.
fn first_in(kind: Kind, word: u64) -> Option<Cyclic> {
    let mut first = None;
    (kind.rotate)(word, &mut |number| {
        first = first.or(Some(number));
        number
    });
    first
}

fn has_number(kind: Kind, word: u64) -> bool {
    first_in(kind, word).is_some()
}

impl Automaton {
    pub(crate) fn rotation(&self) -> Option<Rotation> {
        self.rotation
    }

    /// Whether a step was learnt that is not the same after a rotation: the search has to start again without.
    pub(crate) fn cannot_rotate(&self) -> bool {
        self.cannot_rotate
    }

    /// By how much a state is to be rotated after this value was written to a register.
    #[inline]
    pub(crate) fn rotation_after(&self, reg: usize, written: u32) -> u32 {
        match self.rotation {
            Some(rotation) if rotation.pivot == reg => {
                rotation.needed_for(self.registers[reg].kind, self.word(reg, written)) as u32
            }
            _ => 0,
        }
    }

    /// The registers whose contents rotations change.
    pub(crate) fn rotated_registers(&self) -> &[u32] {
        &self.cyclic
    }

    /// The register that a rotation moves the content of a register to.
    pub(crate) fn rotated_register(&self, reg: usize, by: u32) -> usize {
        self.rotation.map_or(reg, |rotation| rotation.register(&self.registers, reg, by as usize))
    }

    /// The id of a field's rotated content, in the field that it is moved to, if it has been computed before.
    #[inline]
    pub(crate) fn rotated(&self, field: u32, id: u32, by: u32) -> Option<u32> {
        self.rotated.get(&(field, id, by)).copied()
    }

    /// Takes note that a register can hold this word.
    pub(super) fn note_cyclic(&mut self, reg: usize, word: u64) {
        let Some(rotation) = self.rotation else { return };
        let moves = self.registers[reg].ring.is_some_and(|ring| ring.len == rotation.of);
        if (moves || has_number(self.registers[reg].kind, word))
            && let Err(at) = self.cyclic.binary_search(&(reg as u32))
        {
            self.cyclic.insert(at, reg as u32);
        }
    }

    pub(super) fn learn_rotation(&mut self, program: &dyn Program, field: u32, id: u32, by: u32) -> Result<(), Error> {
        let Some(rotation) = self.rotation.filter(|_| self.rotated(field, id, by).is_none()) else { return Ok(()) };
        let rotated = match (field as usize).checked_sub(self.n()) {
            None => {
                let Local { section, passages, ref history, .. } = *self.local(field as usize, id);
                let history = rotation.history(&self.registers, history, by as usize);
                self.local_id(program, field as usize, section, passages, history)?
            }
            Some(reg) => {
                let word = rotation.word(self.registers[reg].kind, self.word(reg, id), by as usize);
                self.value_id(self.rotated_register(reg, by), word, None).map_err(unfounded)?
            }
        };
        self.rotated.insert((field, id, by), rotated);
        Ok(())
    }

    /// Tests that a step is the same after every rotation.
    pub(super) fn check_rotations(
        &mut self,
        program: &dyn Program,
        (p, local): (Pid, u32),
        (history, word): (&[Word], u64),
        ran: &Ran,
    ) {
        let Some(rotation) = self.rotation else { return };
        let registers = &self.registers;
        let register = ran.access.and_then(|access| access.register());
        let words = history.iter().chain(&ran.history).map(|word| (word.kind, word.bits));
        let accessed = register.into_iter().flat_map(|reg| [word, ran.written].map(|word| (registers[reg].kind, word)));
        let mut all = words.chain(accessed);
        let in_ring = register.is_some_and(|reg| registers[reg].ring.is_some());
        if !in_ring && !all.any(|(kind, word)| has_number(kind, word)) {
            return;
        }
        let Local { section, passages, .. } = *self.local(p, local);
        let is_same = |by: usize| {
            let rotated = rotation.history(registers, history, by);
            let kind = register.map(|reg| registers[reg].kind);
            let turned = |word| kind.map_or(word, |kind| rotation.word(kind, word, by));
            let Ok(again) = run(program, p, section, passages, rotated, self.setting, turned(word)) else {
                return false;
            };
            let what = |ran: &Ran| ran.access.map(|access| access.what());
            let expected = rotation.history(registers, &ran.history, by);
            let moved = what(ran).map(|(op, reg)| match reg {
                NO_REGISTER => (op, reg),
                reg => (op, rotation.register(registers, reg as usize, by) as u32),
            });
            again.section == ran.section
                && again.passages == ran.passages
                && what(&again) == moved
                && (register.is_none() || again.written == turned(ran.written))
                && again.history.len() == expected.len()
                && std::iter::zip(&again.history, &expected).all(|(a, b)| (a.bits, a.what) == (b.bits, b.what))
        };
        // Where tickets are forgotten, a step has more variants.
        self.cannot_rotate |= self.has_tickets || !(1..rotation.of).all(is_same);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use doorway_algorithms::{Size, mutex::danek_golab_simple};
    use doorway_memory::{Exclusion, Memory, Property, Space};

    use super::*;
    use crate::{
        Registers, check,
        machine::Machine,
        scout::Random,
        soundness::{compare_forgetting, explore, states},
    };

    /// A lock whose tickets select the registers of a ring. `Absolute` ones also depend on which ticket is called 0.
    struct Places<M: Memory> {
        tickets: Tickets,
        next: M::Reg<Cyclic>,
        open: Vec<M::Reg<bool>>,
        visits: M::Reg<bool>,
    }

    #[derive(Clone, Copy, PartialEq)]
    enum Tickets {
        Relative,
        /// The holder of ticket 0 takes one more step.
        AbsoluteStep,
        /// The holder of ticket 0 writes another value.
        AbsoluteValue,
        /// After ticket 1 comes ticket 0, which skips one.
        AbsoluteNext,
        /// The holder of ticket 0 opens a place that is not the next.
        AbsoluteRegister,
    }

    const ABSOLUTE: [Tickets; 4] =
        [Tickets::AbsoluteStep, Tickets::AbsoluteValue, Tickets::AbsoluteNext, Tickets::AbsoluteRegister];

    impl<M: Memory> Places<M> {
        fn new(space: &mut impl Space<Mem = M>, tickets: Tickets) -> Self {
            Places {
                tickets,
                next: space.shared("next", Cyclic::new(0, 5)),
                open: space.ring("open", 5, |i| i == 0),
                visits: space.shared("visits", false),
            }
        }
    }

    impl<M: Memory> Exclusion<M> for Places<M> {
        type Place = Cyclic;
        type Inside = Cyclic;

        fn doorway(&self, m: &mut M, _: Pid) -> Result<Cyclic, M::Halt> {
            let skips = self.tickets == Tickets::AbsoluteNext;
            m.update(&self.next, |next| next.plus(if skips && next.index() == 3 { 2 } else { 1 }))
        }

        fn wait(&self, m: &mut M, _: Pid, &place: &Cyclic) -> Result<Cyclic, M::Halt> {
            m.spin(|m| m.test(&self.open[place.index()], |open| open))?;
            Ok(place)
        }

        fn exit(&self, m: &mut M, _: Pid, &place: &Cyclic) -> Result<(), M::Halt> {
            let is_zero = place.index() == 0;
            m.write(&self.open[place.index()], false)?;
            if self.tickets != Tickets::AbsoluteStep || is_zero {
                m.write(&self.visits, self.tickets == Tickets::AbsoluteValue && is_zero)?;
            }
            let far = self.tickets == Tickets::AbsoluteRegister && is_zero;
            m.write(&self.open[place.plus(if far { 2 } else { 1 }).index()], true)
        }
    }

    #[test]
    fn a_rotating_search_is_bisimilar_to_one_that_does_not_rotate() {
        let places = |tickets| compare_forgetting(&Model::new(2), |space| Places::new(space, tickets));
        let (graph, counts) = places(Tickets::Relative);
        assert!(graph.automaton.rotation().is_some());
        assert_eq!(counts, [17, 85], "each of five rotations is counted");
        for tickets in ABSOLUTE {
            let (graph, [fewer, all]) = places(tickets);
            assert!(graph.automaton.rotation().is_none(), "a step depends on which ticket is called 0");
            assert!(fewer <= all);
        }
        let (graph, counts) =
            compare_forgetting(&Model::new(2), |space| danek_golab_simple::new(space, Size { n: 2, k: 1 }));
        assert!(graph.automaton.rotation().is_some());
        assert_eq!(counts, [1_783, 39_575]);
    }

    /// A counterexample is executed with the numbers as they are.
    #[test]
    fn counterexamples_are_not_rotated() {
        for tickets in [Tickets::AbsoluteNext, Tickets::AbsoluteRegister, Tickets::Relative] {
            let make = |space: &mut Registers| Places::new(space, tickets);
            let [one, other] =
                [Model::new(3), Model::new(3).forget()].map(|m| check(&m, make).expect("it keeps the rules"));
            for property in
                [Property::Exclusion, Property::DeadlockFreedom, Property::StarvationFreedom, Property::Fcfs]
            {
                assert_eq!(one.fails(property), other.fails(property), "{property}");
            }
        }
    }

    #[test]
    fn random_executions_stay_among_the_rotated_states() {
        let model = Model::new(2).forget();
        let (program, registers, graph) = explore(&model, |space| danek_golab_simple::new(space, Size { n: 2, k: 1 }));
        let searched: BTreeSet<Vec<u32>> = states(&graph).map(|state| graph.contents(state)).collect();
        let mut random = Random(1);
        for _ in 0..5 {
            let mut machine = Machine::new(&program, &registers, &model);
            for step in 0..4_000 {
                machine.step(random.below(2)).expect("it keeps the rules");
                let state = machine.counted_as(&graph, &model).expect("every part of it is known");
                assert!(searched.contains(&state), "step {step}");
            }
        }
    }
}
