//! A log kept outside of etcd, and what must be true of it.
use std::sync::{Mutex, MutexGuard};

/// What happened, in the order in which it was seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    /// A process that joined the queue at this revision has entered, with this index and token.
    Enters(i64, usize, u64),
    /// It is about to leave.
    Leaves(i64),
}

/// The log of one semaphore.
#[derive(Default, Debug)]
pub(crate) struct Log(Mutex<Vec<Event>>);

impl Log {
    pub(crate) fn note(&self, event: Event) {
        self.lock().push(event);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Event>> {
        self.0.lock().unwrap()
    }

    /// At most k holders at once, with different indices; tokens that grow with each index; entries in the order of
    /// arrival, except that of the k processes which may enter at once any may be first.
    pub(crate) fn judge(&self, k: usize, entries: usize) {
        let log = self.lock();
        let mut inside: Vec<(i64, usize)> = Vec::new();
        let mut tokens = vec![0; k];
        let mut arrivals: Vec<i64> = log
            .iter()
            .filter_map(|event| match event {
                Event::Enters(arrival, ..) => Some(*arrival),
                Event::Leaves(_) => None,
            })
            .collect();
        assert_eq!(arrivals.len(), entries, "every process has entered");
        arrivals.sort_unstable();
        for &event in log.iter() {
            match event {
                Event::Enters(arrival, index, token) => {
                    assert!(inside.len() < k, "more than {k} holders");
                    assert!(index < k && inside.iter().all(|&(_, other)| other != index), "index {index} is taken");
                    assert!(
                        token > tokens[index],
                        "the token {token} of index {index} is not larger than {}",
                        tokens[index]
                    );
                    tokens[index] = token;
                    let before = arrivals.iter().position(|&other| other == arrival).expect("it is listed");
                    assert!(before < k, "{before} processes that arrived earlier have not entered");
                    arrivals.remove(before);
                    inside.push((arrival, index));
                }
                Event::Leaves(arrival) => inside.retain(|&(other, _)| other != arrival),
            }
        }
    }
}
