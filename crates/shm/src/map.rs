//! Memory that other processes see, and memory that a forked child does not: all that is unsafe about the mappings.
#![allow(unsafe_code, reason = "maps memory and looks at it as atomics, which is safe to use from elsewhere")]
use std::{
    fs::File,
    io,
    ptr::{self, NonNull},
    sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, mmap_anonymous, munmap};

/// A mapped file, or some pages of our own.
#[derive(Debug)]
pub(crate) struct Map {
    start: NonNull<AtomicU64>,
    bytes: usize,
}

// SAFETY: it is a range of atomics, which threads may share; nothing in it depends on the thread that mapped it.
unsafe impl Send for Map {}
// SAFETY: as above.
unsafe impl Sync for Map {}

impl Map {
    /// The file's first `bytes`, shared with whoever maps them too.
    pub(crate) fn of_file(file: &File, bytes: usize) -> io::Result<Map> {
        // SAFETY: the kernel chooses an address where nothing of ours is.
        let start =
            unsafe { mmap(ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, file, 0) }?;
        Map::of(start, bytes)
    }

    fn of(start: *mut core::ffi::c_void, bytes: usize) -> io::Result<Map> {
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Map { start, bytes })
    }

    /// The word at this index.
    ///
    /// # Panics
    /// If the mapping has no such word.
    #[inline(always)]
    pub(crate) fn word(&self, index: usize) -> &AtomicU64 {
        assert!(index < self.bytes / 8, "a word outside of the mapping");
        // SAFETY:
        // - aligned: `mmap` returns whole pages, and 8 divides their size;
        // - in bounds: just asserted;
        // - alive: `drop` unmaps, and the reference borrows `self`;
        // - shared: other processes write these bytes. Atomics allow that, any bytes are an `AtomicU64`, and no `&mut` to
        //   them is ever made.
        // Not covered: a process that truncates the file; we then get SIGBUS.
        unsafe { self.start.add(index).as_ref() }
    }

    /// The first half of the word at this index. Who uses it never uses the word.
    pub(crate) fn half(&self, index: usize) -> &AtomicU32 {
        let word = ptr::from_ref(self.word(index)).cast::<AtomicU32>();
        // SAFETY: as for the word, whose first half it is; by what is asked of the caller no byte is accessed in two sizes.
        unsafe { &*word }
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: it is our mapping, and references to it borrow `self`. That it fails would be a mistake of ours, and leaks it.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

/// Some words of a mapping: the registers. A copy of the address, so that an access is one instruction and a comparison.
#[derive(Debug)]
pub(crate) struct Words {
    start: NonNull<AtomicU64>,
    len: usize,
    /// Keeps the mapping.
    _of: std::sync::Arc<Map>,
}

// SAFETY: as for the mapping.
unsafe impl Send for Words {}
// SAFETY: as for the mapping.
unsafe impl Sync for Words {}

impl Words {
    /// The words of `map` from `first` on.
    ///
    /// # Panics
    /// If the mapping has not so many.
    pub(crate) fn of(map: &std::sync::Arc<Map>, first: usize, len: usize) -> Words {
        assert!(len > 0 && first + len <= map.bytes / 8, "registers outside of the mapping");
        Words { start: NonNull::from(map.word(first)), len, _of: map.clone() }
    }

    /// The word at this index.
    #[inline(always)]
    pub(crate) fn get(&self, index: usize) -> &AtomicU64 {
        assert!(index < self.len, "a register of another memory");
        // SAFETY: within the mapping, as asserted here and in `of`; alive, since `_of` keeps the mapping; the rest as in
        // `Map::word`.
        unsafe { self.start.add(index).as_ref() }
    }
}

/// Whether we are still the process that made this: a page that the kernel wipes in a forked child. Asking takes no system call.
///
/// ```
/// let ours = doorway_shm::Ours::new()?;
/// assert!(ours.is_true());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Ours(Map);

impl Ours {
    /// True in this process, and in no child of it.
    ///
    /// # Errors
    /// If there is no memory.
    ///
    /// See [`Ours`].
    pub fn new() -> io::Result<Ours> {
        const PAGE: usize = 4096;
        // SAFETY: the kernel chooses an address where nothing of ours is.
        let start =
            unsafe { mmap_anonymous(ptr::null_mut(), PAGE, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)? };
        // SAFETY: it is the page just mapped, and nobody has seen it yet.
        unsafe { madvise(start, PAGE, Advice::LinuxWipeOnFork)? };
        let page = Map::of(start, PAGE)?;
        page.word(0).store(1, Relaxed);
        Ok(Ours(page))
    }

    /// Whether we are the process that made it.
    ///
    /// See [`Ours`].
    #[must_use]
    #[inline(always)]
    pub fn is_true(&self) -> bool {
        self.0.word(0).load(Relaxed) == 1
    }
}
