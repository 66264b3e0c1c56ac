//! How the process begins: without what the standard library does before `main`.
//!
//! That reads `/proc/self/maps` to describe stack overflows and sets up a stack for their handler, a twentieth of the time
//! that `doorway run NAME true` takes. It also ignores SIGPIPE, after which nobody could tell whether the caller had.
#![allow(unsafe_code, reason = "the C library calls `main` by its name")]
use std::{ffi::c_int, fs::OpenOptions, mem, panic, process};

use rustix::{
    io::{Errno, fcntl_getfd},
    stdio,
};

/// The exit code after a panic, as the standard library has it.
const PANICKED: u8 = 101;

// SAFETY: no other function of the program has this name; the C library calls it once, with arguments that it need not
// take, and it does not unwind.
#[unsafe(no_mangle)]
extern "C" fn main() -> c_int {
    open_standard_streams();
    crate::run::ignore_broken_pipes();
    let code = panic::catch_unwind(crate::answer).unwrap_or(PANICKED);
    process::exit(code.into())
}

/// Opens `/dev/null` for each standard stream that the caller has closed. Otherwise the next file that is opened, perhaps
/// that of a semaphore, would take the number of the stream, and messages would be written into it.
fn open_standard_streams() {
    for stream in [stdio::stdin(), stdio::stdout(), stdio::stderr()] {
        if fcntl_getfd(stream) == Err(Errno::BADF) {
            // The lowest free number is the one of this stream, since those below it are open.
            let null = OpenOptions::new().read(true).write(true).open("/dev/null");
            mem::forget(null);
        }
    }
}
