//! An algorithm and its size, as asked for on the command line; errors name the flags to change.
use clap::Args;
use doorway_algorithms::{About, Kind, Remedy, Size, SizeError, registry};
use doorway_checker::{MAX_PROCESSES, Model};

use crate::output::Failure;

/// Finds an algorithm by name.
pub(crate) fn find(name: &str) -> Result<&'static About, Failure> {
    registry::find(name).map_err(|unknown| {
        Failure(match unknown.near() {
            Some(near) => format!("{unknown}; did you mean `{near}`?"),
            None => format!("{unknown}; `doorway list` shows them all"),
        })
    })
}

/// Finds a lock by name; `why` says what a part has not.
pub(crate) fn find_lock(name: &str, why: &str) -> Result<&'static About, Failure> {
    let about = find(name)?;
    if about.kind == Kind::Part {
        return Err(Failure(format!("`{}` is a part and has no {why}; try a lock, such as `bakery`", about.name)));
    }
    Ok(about)
}

/// The number of processes.
#[derive(Args, Clone, Copy)]
pub(crate) struct Processes {
    /// Number of processes
    #[arg(short)]
    pub(crate) n: Option<usize>,
}

/// The number of processes and the capacity.
#[derive(Args, Clone, Copy)]
pub(crate) struct Sizes {
    #[command(flatten)]
    pub(crate) processes: Processes,
    /// Capacity: maximum number of holders at once
    #[arg(short)]
    pub(crate) k: Option<usize>,
}

impl Sizes {
    /// The size to check.
    pub(crate) fn of(self, about: &'static About) -> Result<Size, Failure> {
        self.processes.with_k(about, self.k)
    }
}

impl Processes {
    /// The size to check, with capacity `k`.
    pub(crate) fn with_k(self, about: &'static About, k: Option<usize>) -> Result<Size, Failure> {
        let size = about.size(self.n, k).map_err(unsupported)?;
        if size.n > MAX_PROCESSES {
            return Err(Failure(format!(
                "`{}` can be checked for at most {MAX_PROCESSES} processes, not {}; try -n {}",
                about.name,
                size.n,
                about.default_n.max(4)
            )));
        }
        Ok(size)
    }
}

/// The error for a size that an algorithm does not support, with the flag to change.
pub(crate) fn unsupported(error: SizeError) -> Failure {
    Failure(match error.remedy() {
        Remedy::N(n) => format!("{error}; try -n {n}"),
        Remedy::K(k) => format!("{error}; try -k {k}"),
        Remedy::DefaultN => format!("{error}; leave out -n"),
        Remedy::DefaultK => format!("{error}; leave out -k"),
        Remedy::Another => format!("{error}; for more try `filter` or `bakery`"),
    })
}

/// The name and the size, as results begin.
pub(crate) fn title(about: &About, size: Size) -> String {
    let k = if about.kind == Kind::KExclusion { format!(" k={}", size.k) } else { String::new() };
    format!("{} n={}{k}", about.name, size.n)
}

/// The model of a size, with a limit on the passages of each process.
pub(crate) fn model(size: Size, passages: Option<u32>) -> Model {
    let model = Model::new(size.n).k(size.k);
    match passages {
        Some(passages) => model.passages(passages),
        None => model,
    }
}
