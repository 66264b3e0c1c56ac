//! Output: results go to standard output, diagnostics to standard error. And the exit codes.
use std::{
    fmt,
    fs::{self, OpenOptions},
    io::{self, ErrorKind, Write},
    path::Path,
};

/// The exit code if everything asked for holds.
pub(crate) const HOLDS: u8 = 0;
/// The exit code if something fails that should hold.
pub(crate) const FAILS: u8 = 1;
/// The exit code if something is undecided, or the call was wrong.
pub(crate) const UNDECIDED: u8 = 2;

/// The result of a command: the text for standard output, and the exit code.
///
/// Text is printed only when the command has succeeded, so a failed command leaves standard output empty. Only `doorway
/// survey` prints lines before its end.
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) code: u8,
}

/// The reason why a command has no [`Answer`], as a message for standard error.
///
/// A message is in lower case, has names in backticks, and ends with what the user can do.
pub(crate) struct Failure(pub(crate) String);

impl<E: fmt::Display> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure(error.to_string())
    }
}

/// Writes a message to standard error, at once: other processes may write there too. If that fails, there is nobody left
/// to tell.
pub(crate) fn complain(message: &str) {
    let _ = io::stderr().write_all(format!("doorway: {message}\n").as_bytes());
}

impl Answer {
    /// Prints the text, and returns the exit code.
    pub(crate) fn print(self) -> Result<u8, Failure> {
        print(&self.text)?;
        Ok(self.code)
    }
}

/// Whether anybody reads standard output.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    Present,
    /// The reader has closed the pipe, as `head` does: not a failure.
    Gone,
}

/// Prints a text on standard output.
pub(crate) fn print(text: &str) -> Result<Reader, Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(Reader::Present),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Reader::Gone),
        Err(error) => Err(Failure(format!("cannot write to standard output: {error}; redirect it elsewhere"))),
    }
}

/// Fails if the file cannot be written. Called before a long computation whose result goes into the file.
pub(crate) fn try_writing(path: &Path) -> Result<(), Failure> {
    OpenOptions::new().append(true).create(true).open(path).map(|_| ()).map_err(|error| unwritable(path, &error))
}

/// Writes the text to a file, which it replaces.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(|error| unwritable(path, &error))
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure(format!("cannot write `{}`: {error}; give another path", path.display()))
}
