//! Memory shared with other processes, and memory that a forked child does not inherit: all unsafe code about mappings.
#![allow(unsafe_code, reason = "maps memory and exposes it as atomics, which other modules can use safely")]
use std::{
    fs::File,
    io,
    ptr::{self, NonNull},
    sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, mmap_anonymous, munmap};

/// A mapped file, or anonymous pages.
#[derive(Debug)]
pub(crate) struct Map {
    start: NonNull<AtomicU64>,
    bytes: usize,
}

// SAFETY: a map is a range of atomics, which threads may share; nothing in it depends on the thread that mapped it.
unsafe impl Send for Map {}
// SAFETY: as above.
unsafe impl Sync for Map {}

impl Map {
    /// Maps the first `bytes` bytes of the file, shared with every other process that maps them. The file may be shorter
    /// yet.
    ///
    /// If it is not writable, a write raises SIGSEGV.
    pub(crate) fn of_file(file: &File, bytes: usize, is_writable: bool) -> io::Result<Map> {
        let protection = if is_writable { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::READ };
        // SAFETY: the kernel chooses an unused range of addresses.
        let start = unsafe { mmap(ptr::null_mut(), bytes, protection, MapFlags::SHARED, file, 0) }?;
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
        assert!(index < self.bytes / 8, "the word is outside the mapping");
        // SAFETY:
        // - aligned: `mmap` returns whole pages, and 8 divides their size;
        // - in bounds: just asserted;
        // - alive: only `drop` unmaps, and the reference borrows `self`;
        // - shared: other processes write these bytes. Atomics allow that, any bytes are a valid `AtomicU64`, and no
        //   `&mut` to them is ever made.
        // Not covered: beyond the end of the file an access raises SIGBUS. `Region` accesses only what there is room for;
        // if a process truncates the file, that is less.
        unsafe { self.start.add(index).as_ref() }
    }

    /// The first half of the word at this index. A caller that uses the half must never use the word.
    pub(crate) fn half(&self, index: usize) -> &AtomicU32 {
        let word = ptr::from_ref(self.word(index)).cast::<AtomicU32>();
        // SAFETY: as for the word, whose first half it is; callers promise that no byte is accessed in two sizes.
        unsafe { &*word }
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: `self` owns the mapping, and references to it borrow `self`. A failure would be a bug, and leaks
        // the mapping.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

/// Detects that the current process is a forked child of the process that created the detector.
///
/// It is a page that the kernel wipes in a forked child, so the test takes no system call.
///
/// ```
/// let detector = doorway_shm::ForkDetector::new()?;
/// assert!(detector.is_original_process());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct ForkDetector(Map);

impl ForkDetector {
    /// A detector whose original process is the current one.
    ///
    /// # Errors
    /// If no memory can be mapped.
    ///
    /// See [`ForkDetector`].
    pub fn new() -> io::Result<ForkDetector> {
        const PAGE: usize = 4096;
        // SAFETY: the kernel chooses an unused range of addresses.
        let start =
            unsafe { mmap_anonymous(ptr::null_mut(), PAGE, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)? };
        // SAFETY: the range is the page just mapped, which nothing refers to yet.
        unsafe { madvise(start, PAGE, Advice::LinuxWipeOnFork)? };
        let page = Map::of(start, PAGE)?;
        page.word(0).store(1, Relaxed);
        Ok(ForkDetector(page))
    }

    /// Whether the current process is the one that created the detector.
    ///
    /// See [`ForkDetector`].
    #[must_use]
    #[inline(always)]
    pub fn is_original_process(&self) -> bool {
        self.0.word(0).load(Relaxed) == 1
    }
}
