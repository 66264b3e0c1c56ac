//! What goes to standard output, and what to standard error.
use std::{
    fmt,
    fs::{self, OpenOptions},
    io::{self, ErrorKind, Write},
    path::Path,
    process::ExitCode,
};

/// Everything asked for holds.
pub(crate) const HOLDS: u8 = 0;
/// Something fails that should hold.
pub(crate) const FAILS: u8 = 1;
/// It could not be decided, or the call was wrong.
pub(crate) const UNDECIDED: u8 = 2;

/// What a command has to say: all of it is printed, or nothing.
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) code: u8,
}

/// Why there is no answer: lower case, the thing in backticks, then the way out.
pub(crate) struct Trouble(pub(crate) String);

impl<E: fmt::Display> From<E> for Trouble {
    fn from(error: E) -> Trouble {
        Trouble(error.to_string())
    }
}

impl Answer {
    pub(crate) fn print(self) -> Result<ExitCode, Trouble> {
        let mut out = io::stdout().lock();
        match out.write_all(self.text.as_bytes()).and_then(|()| out.flush()) {
            // Whoever was reading has seen enough.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            Err(error) => {
                return Err(Trouble(format!("cannot write to standard output: {error}; write it somewhere else")));
            }
            Ok(()) => {}
        }
        Ok(ExitCode::from(self.code))
    }
}

/// Whether a file can be written: better known now than after a minute.
pub(crate) fn try_writing(path: &Path) -> Result<(), Trouble> {
    OpenOptions::new().append(true).create(true).open(path).map(|_| ()).map_err(|error| unwritable(path, &error))
}

pub(crate) fn write(path: &Path, text: &str) -> Result<(), Trouble> {
    fs::write(path, text).map_err(|error| unwritable(path, &error))
}

fn unwritable(path: &Path, error: &io::Error) -> Trouble {
    Trouble(format!("cannot write `{}`: {error}; write it somewhere else", path.display()))
}
