//! The queue of `fischer-queue-copied`: a sequence of processes, of which the first ones have names, and the words of a
//! copy of it.
use alloc::vec::Vec;
use core::fmt;

use doorway_memory::{Local, Pid, Sink, Source, Value};

/// The number of entries in a word of a copy.
pub(crate) const PER_WORD: usize = 2;

/// The queue: its capacity, and the processes in order of arrival.
///
/// The processes that have a name are the first ones: names are assigned in order of arrival.
///
/// ```
/// use doorway_algorithms::blocks::named_queue::Queue;
/// let mut queue = Queue::new(1);
/// assert_eq!((queue.arrive(5), queue.arrive(3)), (Some(0), None));
/// queue.remove(5);
/// assert_eq!(queue.name(3), Some(0));
/// ```
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Queue {
    pub(crate) k: usize,
    pub(crate) entries: Vec<Entry>,
    /// Whether it is not the queue that was read.
    pub(crate) is_changed: bool,
}

/// A process in the queue.
///
/// See [`Queue::entries`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The process.
    pub process: Pid,
    /// Its name, once it has one: it may enter then.
    pub name: Option<usize>,
}

impl Queue {
    /// An empty queue with this capacity.
    #[must_use]
    pub fn new(k: usize) -> Queue {
        Queue { k, ..Queue::default() }
    }

    /// The capacity.
    #[must_use]
    pub fn k(&self) -> usize {
        self.k
    }

    /// The processes in order of arrival; those that have a name come first.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The number of processes that have a name: the first ones.
    #[must_use]
    pub fn named(&self) -> usize {
        self.entries.iter().take_while(|entry| entry.name.is_some()).count()
    }

    /// The process' name, if it is in the queue and has one.
    #[must_use]
    pub fn name(&self, process: Pid) -> Option<usize> {
        self.entries.iter().find(|entry| entry.process == process)?.name
    }

    /// Appends a process, and returns its name if it has one at once.
    pub fn arrive(&mut self, process: Pid) -> Option<usize> {
        self.entries.push(Entry { process, name: None });
        self.assign();
        self.entries.last()?.name
    }

    /// Removes a process, whether it has a name or not. Does nothing if it is not there.
    pub fn remove(&mut self, process: Pid) {
        self.retain(|entry| entry.process != process);
    }

    /// Removes the processes of which `stays` is false.
    pub fn retain(&mut self, mut stays: impl FnMut(Entry) -> bool) {
        let length = self.entries.len();
        self.entries.retain(|&entry| stays(entry));
        if self.entries.len() < length {
            self.assign();
        }
    }

    /// Changes the capacity. Processes that have a name keep it, also if there are more than `k` of them now.
    pub fn resize(&mut self, k: usize) {
        self.k = k;
        self.assign();
    }

    /// Line 8 of `fischer-queue-copied`, its second half.
    fn assign(&mut self) {
        let mut named = self.named();
        while named < self.k.min(self.entries.len()) {
            let is_free = |name: &usize| self.entries[..named].iter().all(|entry| entry.name != Some(*name));
            self.entries[named].name = (0..self.k).find(is_free);
            named += 1;
        }
        self.is_changed = true;
    }

    pub(crate) fn head(&self) -> Word {
        let k = self.k as u16;
        Word(HEAD | u64::from(!k) << 32 | (self.entries.len() as u64) << 16 | u64::from(k))
    }
}

impl Local for Queue {
    fn save(&self, to: &mut impl Sink) {
        to.put(self.head());
        self.entries.iter().for_each(|&entry| to.put(Word::of(&[entry])));
    }
    fn load(from: &mut impl Source) -> Self {
        let (k, length) = from.take::<Word>().k_and_length().expect("the first word is a head");
        let entry = |_| from.take::<Word>().entries().next().expect("a word has an entry");
        Queue { k, entries: (0..length).map(entry).collect(), ..Queue::default() }
    }
}

/// A word of a copy: its head, with k and the number of entries, or two entries.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Word(pub(crate) u64);

/// The bit that tells a head from entries.
const HEAD: u64 = 1 << 63;

impl Word {
    /// `None` in the initial copy, and if the word was damaged: a head also contains the complement of k.
    pub(crate) fn k_and_length(self) -> Option<(usize, usize)> {
        let [k, length, complement] = [0, 16, 32].map(|shift| (self.0 >> shift) as u16);
        (self.0 & HEAD != 0 && k == !complement).then_some((k.into(), length.into()))
    }

    /// An entry takes 32 bits: the process, and its name plus 1.
    pub(crate) fn of(entries: &[Entry]) -> Word {
        let half = |entry: &Entry| (entry.process as u64) << 16 | entry.name.map_or(0, |name| name as u64 + 1);
        Word(entries.iter().rev().fold(0, |word, entry| word << 32 | half(entry)))
    }

    pub(crate) fn entries(self) -> impl Iterator<Item = Entry> {
        (0..PER_WORD).map(move |i| {
            let half = self.0 >> (32 * i);
            Entry { process: (half >> 16 & 0x7fff) as Pid, name: (half as u16 as usize).checked_sub(1) }
        })
    }
}

impl Value for Word {
    #[inline(always)]
    fn to_word(self) -> u64 {
        self.0
    }
    #[inline(always)]
    fn of_word(word: u64) -> Self {
        Word(word)
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((k, length)) = self.k_and_length() {
            return write!(f, "{length} in the queue, k = {k}");
        }
        let mut list = f.debug_list();
        for Entry { process, name } in self.entries() {
            match name {
                Some(name) => list.entry(&format_args!("{process} named {name}")),
                None => list.entry(&process),
            };
        }
        list.finish()
    }
}

#[cfg(test)]
mod tests {
    use alloc::{collections::BTreeSet, vec};

    use super::*;

    const N: usize = 4;
    const MAX_K: usize = 3;

    type State = (usize, Vec<(Pid, Option<usize>)>);

    fn state(queue: &Queue) -> State {
        (queue.k, queue.entries.iter().map(|entry| (entry.process, entry.name)).collect())
    }

    /// Every change is one step, so it is enough to look at sequences of changes: all that arrivals, departures and
    /// resizes can make of a queue of four processes with k up to 3.
    #[test]
    fn every_sequence_of_arrivals_departures_and_resizes_keeps_the_order_and_the_capacity() {
        let mut known = BTreeSet::from([state(&Queue::new(1))]);
        let mut new: Vec<Queue> = vec![Queue::new(1)];
        while let Some(queue) = new.pop() {
            let mut changed = Vec::new();
            for p in 0..N {
                let mut next = queue.clone();
                match queue.entries.iter().any(|entry| entry.process == p) {
                    true => next.remove(p),
                    false => assert_eq!(next.arrive(p), next.name(p)),
                }
                changed.push(next);
            }
            for k in 1..=MAX_K {
                let mut next = queue.clone();
                next.resize(k);
                changed.push(next);
            }
            for next in changed {
                is_right(&queue, &next);
                if known.insert(state(&next)) {
                    new.push(next);
                }
            }
        }
        assert_eq!(known.len(), 1875);
    }

    fn is_right(before: &Queue, after: &Queue) {
        let count = after.entries.iter().filter(|entry| entry.name.is_some()).count();
        assert_eq!(after.named(), count);
        assert!(after.entries[..count].iter().all(|entry| entry.name.is_some()), "names are given in order of arrival");
        let names: BTreeSet<usize> = after.entries.iter().filter_map(|entry| entry.name).collect();
        assert_eq!(names.len(), count, "no two processes have the same name");
        assert!(count >= after.k.min(after.entries.len()), "no capacity is unused while a process waits");
        for entry in &after.entries {
            match before.name(entry.process) {
                None => {
                    assert!(entry.name.is_none_or(|name| name < after.k) && (entry.name.is_none() || count <= after.k))
                }
                kept => assert_eq!(entry.name, kept, "a process keeps its name"),
            }
        }
        let order = |queue: &Queue, other: &Queue| -> Vec<Pid> {
            let is_in_both = |process: &Pid| other.entries.iter().any(|entry| entry.process == *process);
            queue.entries.iter().map(|entry| entry.process).filter(is_in_both).collect()
        };
        assert_eq!(order(before, after), order(after, before), "the order of arrival stays");
    }
}
