//! An exact set of states in little memory.
//!
//! After J. G. Cleary, *Compact hash tables using bidirectional linear probing*, IEEE Transactions on Computers 33(9),
//! 1984: a state's position in the table says part of what the state is, so that part need not be stored. The first
//! word of a state is mixed, by a bijection, into a number whose upper 32 bits determine the *home*, the slot where the
//! state belongs. A slot holds
//!
//! | | |
//! |---|---|
//! | 1 byte | 1 more than the distance from the home; 0 if the slot is empty |
//! | some bits | the remainder: as much of the mixed number as tells it from the others of that home |
//! | some bytes | the other words of the state, as they are |
//! | 1 to 4 bytes | the number of the state, if the states of the table are numbered: as many as a number below that of the homes takes |
//!
//! and the state can be computed from it. States with the same home and those displaced by them follow one another in
//! the order of their homes (*Robin Hood hashing*), so that no distance gets large though the table is nearly full.
use std::hint::black_box;

use crate::layout::{Layout, MAX_WORDS};

/// The upper bits of a mixed word, which determine its home.
const UPPER: u32 = 32;
/// The largest distance of a state from its home.
const FARTHEST: usize = 254;
/// The bits of a slot's head that hold the distance.
const DISTANCE: u32 = 8;
/// Of eight slots this number may be taken.
const TAKEN: usize = 7;
/// A table of at most this number of bytes is likely to stay in the cache of a core while states are inserted.
const CACHED: usize = 1 << 19;
/// A table of fewer homes doubles when it grows.
const SMALL: usize = 1 << 8;
/// The constants of the bijection: odd, and each with the number that undoes it modulo 2^64.
const FACTORS: [(u64, u64); 2] = [odd(0x9e37_79b9_7f4a_7c15), odd(0xd1b5_4a32_d192_ed03)];

/// An odd number and its inverse modulo 2^64, by Newton's iteration.
const fn odd(factor: u64) -> (u64, u64) {
    let mut inverse = factor;
    let mut bits = 3;
    while bits < u64::BITS {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(factor.wrapping_mul(inverse)));
        bits *= 2;
    }
    (factor, inverse)
}

/// An exact set of states.
#[derive(Default)]
pub(crate) struct Table {
    bytes: Vec<u8>,
    /// The number of homes. There are [`spare`](Self::spare) slots more.
    homes: usize,
    len: usize,
    /// Whether each state has a number, by the order in which they were inserted.
    numbered: bool,
    /// The words of a state.
    words: usize,
    /// The bits of the first word, at least [`UPPER`].
    first: u32,
    /// The bytes of each further word.
    further: [u8; MAX_WORDS],
    /// How many of the lowest of the [`UPPER`] bits tell the numbers of one home from each other.
    within: u32,
    head_bytes: usize,
    /// The bytes of a number; none if states are not numbered.
    number_bytes: usize,
    slot_bytes: usize,
}

/// How many slots follow the last home, which is also how far a state may be from its home.
fn spare(homes: usize) -> usize {
    FARTHEST.min(homes / 8 + 8)
}

/// A state whose first word has been mixed.
#[derive(Clone, Copy)]
struct Mixed<'a> {
    number: u64,
    further: &'a [u64],
}

/// A place in the table: where a state is, or where it is to be inserted.
enum Place {
    Found(usize),
    /// The slot, and the distance from the home.
    Free(usize, usize),
    /// Too far from its home.
    TooFar,
}

impl Table {
    /// An empty table for states of this layout.
    pub(crate) fn new(layout: &Layout, numbered: bool) -> Table {
        let first = layout.bits[0].max(UPPER);
        let mut further = [0; MAX_WORDS];
        for (bytes, bits) in std::iter::zip(&mut further, &layout.bits[1..]) {
            *bytes = bits.div_ceil(8) as u8;
        }
        // A head fits into 64 bits.
        let least = 1 << (first + DISTANCE).saturating_sub(u64::BITS).max(3);
        let shape = Table { words: layout.words, first, further, numbered, ..Table::default() };
        shape.empty(least)
    }

    /// An empty table of this number of homes for states of the same layout.
    fn empty(&self, homes: usize) -> Table {
        let Table { words, first, further, numbered, .. } = *self;
        let within = UPPER - homes.ilog2();
        let head_bytes = (DISTANCE + within + first - UPPER).div_ceil(8) as usize;
        let further_bytes: usize = further.iter().map(|&bytes| usize::from(bytes)).sum();
        // There are fewer states than homes.
        let number_bytes = if numbered { (homes.ilog2() + 1).div_ceil(8) as usize } else { 0 };
        let slot_bytes = head_bytes + further_bytes + number_bytes;
        let slots = homes + spare(homes);
        // A head is read as eight bytes.
        let bytes = vec![0; slots * slot_bytes + 8];
        Table { bytes, homes, len: 0, numbered, words, first, further, within, head_bytes, number_bytes, slot_bytes }
    }

    /// The number of states.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The number of slots.
    pub(crate) fn slots(&self) -> usize {
        self.homes + self.spare()
    }

    /// The memory it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Adds a state, if it is new; returns whether it is, and its number if there are numbers.
    #[inline]
    pub(crate) fn insert(&mut self, state: &[u64]) -> (bool, u32) {
        let mixed = self.mix(state);
        loop {
            match self.place(mixed) {
                Place::Found(slot) => return (false, self.number(slot)),
                Place::Free(slot, distance) if self.len * 8 < self.homes * TAKEN && self.make_room(slot) => {
                    let number = self.len as u32;
                    self.put(slot, distance, mixed, number);
                    return (true, number);
                }
                _ => self.grow(),
            }
        }
    }

    /// Reads the homes of these states if the table is not likely to be in the cache, so that inserting them soon finds them there.
    /// These reads do not depend on each other, so the processor waits for memory once, not once for each state.
    #[inline]
    pub(crate) fn fetch<'a>(&self, states: impl Iterator<Item = &'a [u64]>) {
        if self.bytes.len() > CACHED {
            let first = |state| self.bytes[self.home(self.mix(state).number).0 * self.slot_bytes];
            black_box(states.map(first).fold(0, |all, byte| all ^ byte));
        }
    }

    /// The number of the state in a slot: the slot itself, if states are not numbered.
    #[inline]
    pub(crate) fn number(&self, slot: usize) -> u32 {
        if !self.numbered {
            return slot as u32;
        }
        let at = (slot + 1) * self.slot_bytes - self.number_bytes;
        let bytes: [u8; 4] = self.bytes[at..at + 4].try_into().expect("these are four");
        u32::from_le_bytes(bytes) & u32::MAX >> (u32::BITS - 8 * self.number_bytes as u32)
    }

    /// For each number the slot of its state.
    pub(crate) fn slots_by_number(&self) -> Vec<u32> {
        let mut slots = vec![0; self.len];
        for slot in (0..self.slots()).filter(|&slot| self.is_taken(slot)) {
            slots[self.number(slot) as usize] = slot as u32;
        }
        slots
    }

    /// The same states without numbers.
    pub(crate) fn without_numbers(&self) -> Table {
        let shape = Table { bytes: Vec::new(), numbered: false, ..*self };
        self.moved_to(shape.empty(self.homes)).expect("the distances are the same")
    }

    /// The slot of a state.
    #[inline]
    pub(crate) fn find(&self, state: &[u64]) -> Option<u32> {
        match self.place(self.mix(state)) {
            Place::Found(slot) => Some(slot as u32),
            _ => None,
        }
    }

    /// Whether there is a state in this slot.
    #[inline]
    pub(crate) fn is_taken(&self, slot: usize) -> bool {
        slot < self.slots() && self.bytes[slot * self.slot_bytes] != 0
    }

    /// Writes the state in a slot to the start of `state`; returns whether there is one.
    #[inline]
    pub(crate) fn get(&self, slot: usize, state: &mut [u64]) -> bool {
        let Some(number) = self.mixed(slot) else { return false };
        state[0] = number;
        self.read_further(slot, &mut state[1..]);
        state[0] = self.unmix(number, &state[1..self.words]);
        true
    }

    fn spare(&self) -> usize {
        spare(self.homes)
    }

    #[inline]
    fn mask(&self) -> u64 {
        u64::MAX >> (u64::BITS - self.first)
    }

    /// A number that depends on the further words of a state.
    #[inline]
    fn fold(&self, further: &[u64]) -> u64 {
        let folded = further.iter().fold(0_u64, |sum, &word| {
            let sum = (sum ^ word).wrapping_mul(FACTORS[1].0);
            sum ^ sum >> 29
        });
        folded & self.mask()
    }

    /// Mixes the first word: exclusive or with its own upper half and multiplication by an odd number, which can both be
    /// undone, twice.
    #[inline]
    fn mix<'a>(&self, state: &'a [u64]) -> Mixed<'a> {
        let further = &state[1..self.words];
        let start = state[0] ^ if further.is_empty() { 0 } else { self.fold(further) };
        let number = FACTORS.iter().fold(start, |number, (factor, _)| {
            (number ^ number >> self.first.div_ceil(2)).wrapping_mul(*factor) & self.mask()
        });
        Mixed { number, further }
    }

    /// The first word of a state, from the mixed one and the further words.
    #[inline]
    fn unmix(&self, number: u64, further: &[u64]) -> u64 {
        let start = FACTORS.iter().rev().fold(number, |number, (_, inverse)| {
            let product = number.wrapping_mul(*inverse) & self.mask();
            product ^ product >> self.first.div_ceil(2)
        });
        start ^ if further.is_empty() { 0 } else { self.fold(further) }
    }

    /// The home of a mixed number, and what tells it from the others of that home. Their upper bits are numbers that
    /// follow one another, so the lowest of these bits are enough.
    #[inline]
    fn home(&self, number: u64) -> (usize, u64) {
        let lower = self.first - UPPER;
        let home = ((number >> lower) * self.homes as u64) >> UPPER;
        (home as usize, number & self.remainders())
    }

    /// The bits of a mixed number that are stored.
    #[inline]
    fn remainders(&self) -> u64 {
        (1 << (self.first - UPPER + self.within)) - 1
    }

    /// The head of a slot: the distance in the lowest byte, then the remainder; 0 if the slot is empty.
    #[inline]
    fn head(&self, slot: usize) -> u64 {
        let at = slot * self.slot_bytes;
        let bytes: [u8; 8] = self.bytes[at..at + 8].try_into().expect("these are eight");
        u64::from_le_bytes(bytes) & u64::MAX >> (u64::BITS - 8 * self.head_bytes as u32)
    }

    /// Where a state is, or where it belongs.
    #[inline]
    fn place(&self, mixed: Mixed<'_>) -> Place {
        let (home, remainder) = self.home(mixed.number);
        for distance in 0..self.spare() {
            let slot = home + distance;
            let head = self.head(slot);
            let other = (head & ((1 << DISTANCE) - 1)) as usize;
            if other <= distance {
                return Place::Free(slot, distance); // empty, or of a later home
            }
            if head == remainder << DISTANCE | (distance as u64 + 1) && self.has_further(slot, mixed.further) {
                return Place::Found(slot);
            }
        }
        Place::TooFar
    }

    /// Moves the states from a slot up to the next empty one by one slot; returns whether that is possible.
    #[inline]
    fn make_room(&mut self, slot: usize) -> bool {
        let size = self.slot_bytes;
        let mut end = slot;
        while self.bytes[end * size] != 0 {
            if usize::from(self.bytes[end * size]) == self.spare() {
                return false;
            }
            end += 1;
        }
        self.bytes.copy_within(slot * size..end * size, (slot + 1) * size);
        for moved in slot + 1..=end {
            self.bytes[moved * size] += 1;
        }
        true
    }

    #[inline]
    fn put(&mut self, slot: usize, distance: usize, mixed: Mixed<'_>, number: u32) {
        let (_, remainder) = self.home(mixed.number);
        let mut at = slot * self.slot_bytes;
        self.write(at, self.head_bytes, remainder << DISTANCE | (distance as u64 + 1));
        at += self.head_bytes;
        for (i, &word) in mixed.further.iter().enumerate() {
            let bytes = usize::from(self.further[i]);
            self.write(at, bytes, word);
            at += bytes;
        }
        self.write(at, self.number_bytes, number.into());
        self.len += 1;
    }

    /// Writes a number of the given length in bytes.
    #[inline]
    fn write(&mut self, at: usize, bytes: usize, number: u64) {
        if bytes == 0 {
            return;
        }
        let eight: &mut [u8; 8] = (&mut self.bytes[at..at + 8]).try_into().expect("these are eight");
        let others = u64::from_le_bytes(*eight) & !(u64::MAX >> (u64::BITS - 8 * bytes as u32));
        *eight = (others | number).to_le_bytes();
    }

    /// Whether the state in a slot has these further words.
    #[inline]
    fn has_further(&self, slot: usize, further: &[u64]) -> bool {
        if further.is_empty() {
            return true;
        }
        let mut words = [0; MAX_WORDS];
        self.read_further(slot, &mut words);
        words[..further.len()] == *further
    }

    #[inline]
    fn read_further(&self, slot: usize, words: &mut [u64]) {
        let mut at = slot * self.slot_bytes + self.head_bytes;
        for (&bytes, word) in std::iter::zip(&self.further, words).take(self.words - 1) {
            let read: [u8; 8] = self.bytes[at..at + 8].try_into().expect("these are eight");
            *word = if bytes == 0 { 0 } else { u64::from_le_bytes(read) & u64::MAX >> (64 - 8 * u32::from(bytes)) };
            at += usize::from(bytes);
        }
    }

    /// The mixed number in a slot.
    #[inline]
    fn mixed(&self, slot: usize) -> Option<u64> {
        let head = self.head(slot);
        let home = slot - distance(head)?;
        Some(self.number_at(self.least(home), head))
    }

    /// The least mixed number of a home.
    #[inline]
    fn least(&self, home: usize) -> u64 {
        ((home as u64) << UPPER).div_ceil(self.homes as u64) << (self.first - UPPER)
    }

    /// The mixed number with this head: from the least one of its home the next one with this remainder.
    #[inline]
    fn number_at(&self, least: u64, head: u64) -> u64 {
        least + ((head >> DISTANCE).wrapping_sub(least) & self.remainders())
    }

    /// Moves all states into a larger table: by a quarter, as doubling would leave half of a large table empty.
    #[cold]
    fn grow(&mut self) {
        let more = if self.homes < SMALL { self.homes } else { self.homes / 4 };
        let sizes = std::iter::successors(Some(self.homes + more), |homes| Some(homes + more));
        let larger = sizes.flat_map(|homes| self.moved_to(self.empty(homes))).next();
        *self = larger.expect("with enough room all distances are small");
    }

    /// An empty table with the states of this one; none if one of them would be too far from its home.
    ///
    /// States are in the order of their homes, and in a larger table too, but for those that had one home here. So each of them
    /// is put behind the one before.
    fn moved_to(&self, mut larger: Table) -> Option<Table> {
        let (mut free, mut slot) = (0, 0);
        let mut of_one_home: Vec<(usize, u64, usize)> = Vec::new();
        while slot < self.slots() {
            let mut head = self.head(slot);
            let Some(first) = distance(head) else {
                slot += 1;
                continue;
            };
            let home = slot - first;
            let least = self.least(home);
            of_one_home.clear();
            while distance(head) == Some(slot - home) {
                let number = self.number_at(least, head);
                of_one_home.push((larger.home(number).0, number, slot));
                slot += 1;
                head = self.head(slot);
            }
            if of_one_home.len() > 1 {
                of_one_home.sort_by_key(|&(home, ..)| home);
            }
            for &(home, number, from) in &of_one_home {
                let to = home.max(free);
                if to - home >= larger.spare() {
                    return None;
                }
                larger.put_from(self, from, to, to - home, number);
                free = to + 1;
            }
        }
        Some(larger)
    }

    /// Puts the state that another table has in a slot.
    #[inline]
    fn put_from(&mut self, other: &Table, from: usize, to: usize, distance: usize, number: u64) {
        if self.words == 1 {
            return self.put(to, distance, Mixed { number, further: &[] }, other.number(from));
        }
        let mut further = [0; MAX_WORDS];
        other.read_further(from, &mut further);
        self.put(to, distance, Mixed { number, further: &further[..self.words - 1] }, other.number(from));
    }
}

/// The distance from the home that a head tells, if the slot is taken.
#[inline]
fn distance(head: u64) -> Option<usize> {
    ((head & ((1 << DISTANCE) - 1)) as usize).checked_sub(1)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Marsaglia's xorshift.
    fn random(state: &mut u64) -> u64 {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        *state
    }

    fn layout(bits: &[u32]) -> Layout {
        Layout { fields: Vec::new(), words: bits.len(), bits: bits.to_vec() }
    }

    /// The states in a table, with their numbers; each is found in its slot.
    fn held(table: &Table) -> BTreeMap<Vec<u64>, u32> {
        let mut held = BTreeMap::new();
        for slot in 0..table.slots() {
            let mut state = vec![0; table.words];
            assert_eq!(table.get(slot, &mut state), table.is_taken(slot));
            if table.is_taken(slot) {
                assert_eq!(table.find(&state), Some(slot as u32));
                held.insert(state, table.number(slot));
            }
        }
        assert_eq!(held.len(), table.len());
        held
    }

    #[test]
    fn mixing_can_be_undone() {
        let mut seed = 1;
        for bits in [1, 17, 31, 32, 33, 48, 63, 64] {
            let table = Table::new(&layout(&[bits, 9]), false);
            for _ in 0..1000 {
                let state = [random(&mut seed) >> (64 - bits), random(&mut seed) >> 55];
                let mixed = table.mix(&state);
                assert_eq!(table.unmix(mixed.number, mixed.further), state[0], "{bits} bits");
            }
        }
    }

    /// The states are those of a set of the standard library: dense ones, sparse ones, and all that differ in one word
    /// only; each can be found, and is what its slot says.
    #[test]
    fn a_table_holds_exactly_the_states_inserted() {
        let mut seed = 1;
        for bits in [&[12][..], &[32], &[40], &[61], &[64], &[64, 0], &[20, 8], &[64, 64], &[59, 33, 64, 1]] {
            for spread in [0, 24, 52] {
                let mut table = Table::new(&layout(bits), true);
                let mut states: BTreeMap<Vec<u64>, u32> = BTreeMap::new();
                for _ in 0..20_000 {
                    let word = |bits: &u32| (random(&mut seed) >> spread).checked_shr(64 - bits).unwrap_or(0);
                    let state: Vec<u64> = bits.iter().map(word).collect();
                    let next = states.len() as u32;
                    let number = *states.entry(state.clone()).or_insert(next);
                    assert_eq!(table.insert(&state), (number == next, number));
                }
                assert_eq!(table.len(), states.len());
                assert_eq!(held(&table), states, "{bits:?} bits");
                let mut state = vec![0; bits.len()];
                for (number, slot) in table.slots_by_number().into_iter().enumerate() {
                    assert!(table.get(slot as usize, &mut state));
                    assert_eq!(states[&state], number as u32);
                }
                let plain = table.without_numbers();
                assert!(held(&plain).keys().eq(states.keys()) && plain.bytes() < table.bytes());
                let same = |(state, &slot): (&Vec<u64>, &u32)| table.find(state) == Some(slot);
                assert!(held(&plain).iter().all(same), "states keep their slots");
                for _ in 0..1000 {
                    let word = |bits: &u32| random(&mut seed).checked_shr(64 - bits).unwrap_or(0);
                    let state: Vec<u64> = bits.iter().map(word).collect();
                    assert_eq!(table.find(&state).is_some(), states.contains_key(&state));
                }
            }
        }
    }

    #[test]
    fn a_table_grows_when_a_state_would_be_too_far_from_its_home() {
        let mut table = Table::new(&layout(&[64]), false);
        let homes = table.homes;
        // At first all of these numbers have one home.
        let numbers = (0..300).map(|number| number << 45);
        assert_eq!(table.home(299 << 45).0, 0);
        for (before, number) in numbers.clone().enumerate() {
            assert!(table.insert(&[table.unmix(number, &[])]).0);
            assert!(before < spare(homes) || table.homes > homes);
        }
        assert!(numbers.clone().all(|number| table.find(&[table.unmix(number, &[])]).is_some()));
    }
}
