//! Work distributed to threads.
use std::sync::{Mutex, PoisonError};

/// Calls `work` on every item, on up to `threads` threads.
pub(crate) fn each<I>(threads: usize, items: I, work: impl Fn(I::Item) + Sync)
where
    I: Iterator + Send,
{
    if threads <= 1 {
        return items.for_each(work);
    }
    let items = Mutex::new(items);
    let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
    let worker = || {
        while let Some(item) = next() {
            work(item);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(worker);
        }
        worker();
    });
}

/// Like [`each`], returning the results in the order of the items.
pub(crate) fn map<T: Send>(threads: usize, items: std::ops::Range<usize>, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let mut results: Vec<Option<T>> = items.clone().map(|_| None).collect();
    each(threads, items.zip(results.iter_mut()), |(item, result)| *result = Some(work(item)));
    results.into_iter().map(|result| result.expect("every item was worked on")).collect()
}
