//! The header of the file: the numbers from which the layout follows.
use std::{fs, io, os::unix::fs::FileExt, path::Path};

use crate::{Error, MAX_SLOTS, Plan, region::Layout};

/// "doorway", and a byte that does not occur in text.
const MAGIC: u64 = u64::from_le_bytes(*b"doorway\xdb");

/// The format version. `docs/shared-file.md` says when to increase it.
const VERSION: u64 = 2;

/// The number of words in the header: those that never change, and their checksum.
const HEADER: usize = 8;

/// The largest number of registers that a header may mention: far above what any algorithm has.
const MAX_REGISTERS: u64 = 1 << 20;

/// What is wrong with a file whose number of registers is not that of the algorithm.
pub(crate) const OTHER_ALGORITHM: &str = "is for another algorithm";

/// The header of a file: what is fixed when the file is created.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    /// The capacity at first.
    pub(crate) k: usize,
    pub(crate) slots: usize,
    /// The number of registers at home at no slot, and at each slot.
    pub(crate) shared: usize,
    pub(crate) per_slot: usize,
    /// A random number that identifies the file.
    pub(crate) id: u64,
}

impl Header {
    /// The layout of the file.
    pub(crate) fn layout(&self) -> Layout {
        Layout { slots: self.slots, shared: self.shared, per_slot: self.per_slot }
    }

    /// Whether the file has the registers of this plan.
    pub(crate) fn fits(&self, plan: &Plan) -> bool {
        (self.shared, self.per_slot) == (plan.initial_values().len(), plan.per_slot())
    }

    /// The bytes with which the file begins.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let numbers = [self.k, self.slots, self.shared, self.per_slot].map(|number| number as u64);
        let [k, slots, shared, per_slot] = numbers;
        let mut words = [MAGIC, VERSION, k, slots, shared, per_slot, self.id, 0];
        words[HEADER - 1] = checksum(&words[..HEADER - 1]);
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Reads and checks the header. `File::new` compares the number of registers with the algorithm's.
    pub(crate) fn read(file: &fs::File, path: &Path) -> Result<Header, Error> {
        let garbage = |why| Error::Garbage { path: path.to_owned(), why };
        let mut bytes = [0; 8 * HEADER];
        match file.read_exact_at(&mut bytes, 0) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(garbage("is too short for a semaphore"));
            }
            read => read.map_err(|source| Error::Io { path: path.to_owned(), doing: "read", source })?,
        }
        let mut words = [0; HEADER];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        }
        let [magic, version, k, slots, shared, per_slot, id, sum] = words;
        if magic != MAGIC {
            return Err(garbage("is not a semaphore"));
        }
        if version != VERSION {
            return Err(Error::Version { path: path.to_owned(), file: version, supported: VERSION });
        }
        if sum != checksum(&words[..HEADER - 1]) {
            return Err(garbage("is damaged: its checksum is wrong"));
        }
        if !(1..slots).contains(&k) || slots > MAX_SLOTS as u64 {
            return Err(garbage("is damaged: its capacity or number of slots is out of range"));
        }
        if shared.max(per_slot) > MAX_REGISTERS {
            return Err(garbage(OTHER_ALGORITHM));
        }
        let [k, slots, shared, per_slot] = [k, slots, shared, per_slot].map(|number| number as usize);
        Ok(Header { k, slots, shared, per_slot, id })
    }
}

/// The Fowler-Noll-Vo hash (FNV-1a) of the words' bytes.
fn checksum(words: &[u64]) -> u64 {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use std::{env, process};

    use super::*;

    /// Reads a header from a file that consists of it.
    fn read(header: Header, name: &str) -> Result<Header, Error> {
        let path = env::temp_dir().join(format!("doorway-header-{name}-{}", process::id()));
        fs::write(&path, header.bytes()).unwrap();
        let read = Header::read(&fs::File::open(&path).unwrap(), &path);
        fs::remove_file(path).unwrap();
        read
    }

    #[test]
    fn a_header_is_read_as_it_was_written() {
        let header = Header { k: 3, slots: 64, shared: 1, per_slot: 66, id: 7 };
        let found = read(header, "same").unwrap();
        assert_eq!((found.k, found.slots, found.shared, found.per_slot, found.id), (3, 64, 1, 66, 7));
        assert_eq!(header.bytes()[..9], *b"doorway\xdb\x02");
    }

    /// The size of such a file overflows.
    #[test]
    fn a_number_of_registers_out_of_range_is_refused() {
        let error = read(Header { k: 1, slots: 2, shared: 1, per_slot: usize::MAX, id: 0 }, "range").unwrap_err();
        assert!(matches!(error, Error::Garbage { why: OTHER_ALGORITHM, .. }), "{error}");
    }
}
