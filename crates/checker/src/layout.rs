//! States packed into words, each field as wide as its contents so far require.
use crate::automaton::Automaton;

/// The position of a field in a state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    word: u32,
    shift: u32,
    mask: u64,
}

impl Field {
    #[inline]
    pub(crate) fn get(self, state: &[u64]) -> u32 {
        ((state[self.word as usize] >> self.shift) & self.mask) as u32
    }

    #[inline]
    pub(crate) fn set(self, state: &mut [u64], id: u32) {
        let word = &mut state[self.word as usize];
        *word = *word & !(self.mask << self.shift) | u64::from(id) << self.shift;
    }
}

/// The most words that a state can be packed into.
pub(crate) const MAX_WORDS: usize = 16;

/// The positions of all fields.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) fields: Vec<Field>,
    pub(crate) words: usize,
    /// How many bits of each word are used.
    pub(crate) bits: Vec<u32>,
}

impl Layout {
    /// The narrowest layout for the contents met so far, with room for a quarter more local states, most of which are
    /// yet to come.
    pub(crate) fn of(automaton: &Automaton) -> Layout {
        let widths = (0..automaton.fields()).map(|field| {
            let contents = automaton.contents(field);
            let grows = field < automaton.n() || field >= automaton.n() + automaton.registers.len();
            if grows { bits_for(contents + contents / 4) } else { bits_for(contents) }
        });
        let (mut word, mut used) = (0, 0);
        let mut bits = Vec::new();
        let fields = widths
            .map(|width| {
                // A field does not straddle two words.
                if used + width > u64::BITS {
                    bits.push(used);
                    (word, used) = (word + 1, 0);
                }
                let field = Field { word, shift: used.min(u64::BITS - 1), mask: (1_u64 << width) - 1 };
                used += width;
                field
            })
            .collect();
        bits.push(used);
        Layout { fields, words: bits.len(), bits }
    }

    /// Whether every content that the automaton knows fits.
    pub(crate) fn holds(&self, automaton: &Automaton) -> bool {
        self.fields.iter().enumerate().all(|(i, field)| automaton.contents(i) as u64 <= field.mask + 1)
    }

    /// A state of these contents.
    pub(crate) fn pack(&self, contents: &[u32]) -> Vec<u64> {
        let mut state = vec![0; self.words];
        std::iter::zip(&self.fields, contents).for_each(|(field, &id)| field.set(&mut state, id));
        state
    }

    /// A state in another layout.
    pub(crate) fn convert(&self, to: &Layout, state: &[u64]) -> [u64; MAX_WORDS] {
        let mut converted = [0; MAX_WORDS];
        for (from, to) in std::iter::zip(&self.fields, &to.fields) {
            to.set(&mut converted, from.get(state));
        }
        converted
    }
}

/// The number of bits in which `things` things can be numbered.
fn bits_for(things: usize) -> u32 {
    things.max(1).next_power_of_two().trailing_zeros()
}
