//! `doorway explore` and `doorway report`: the page.
use std::{
    fs,
    io::ErrorKind,
    path::PathBuf,
    process::{Command, Stdio},
    time::Instant,
};

use clap::Args;
use doorway_algorithms::{About, registry};
use doorway_explorer::{Report, serve};
use serde_json::Value;

use crate::{
    limits::Limits,
    lookup::find,
    output::{self, Answer, Failure, HOLDS, complain},
    survey,
};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The algorithm to begin with; without it, the catalogue
    name: Option<String>,
    /// The port to listen on; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
    /// Opens the page in the browser
    #[arg(long)]
    open: bool,
}

#[derive(Args)]
pub(crate) struct ReportArguments {
    /// The file to write
    file: PathBuf,
    /// The algorithms that it is about; without them, the whole catalogue
    names: Vec<String>,
    /// Adds charts of what `doorway bench --json` printed into this file
    #[arg(long, value_name = "FILE")]
    bench: Option<PathBuf>,
    #[command(flatten)]
    limits: Limits,
}

/// Serves the page until the process is ended.
pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let about = arguments.name.as_deref().map(find).transpose()?;
    let server = serve(arguments.port).map_err(|error| {
        let port = arguments.port;
        Failure(match error.kind() {
            ErrorKind::AddrInUse => format!("port {port} is in use; give another `--port`, or leave it out"),
            ErrorKind::PermissionDenied => format!("port {port} may not be used; give one above 1023, or leave it out"),
            _ => format!("cannot listen on port {port}: {error}; give another `--port`"),
        })
    })?;
    let place = about.map_or(String::new(), |about| format!("#/algorithm/{}", about.name));
    let address = format!("http://{}/{place}", server.address());
    complain(&format!("serving {address} until Ctrl-C; only this machine can open it"));
    if arguments.open {
        open(&address);
    }
    server.run()?;
    Ok(Answer { text: String::new(), code: HOLDS })
}

/// Lets the desktop open an address.
fn open(address: &str) {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let started = Command::new(program).arg(address).stdin(Stdio::null()).stdout(Stdio::null()).spawn();
    if let Err(error) = started {
        complain(&format!("cannot run `{program}`: {error}; open the address yourself"));
    }
}

/// Writes the report.
pub(crate) fn report(arguments: &ReportArguments) -> Result<Answer, Failure> {
    let start = Instant::now();
    let chosen: Vec<&'static About> = match arguments.names.as_slice() {
        [] => registry::all().to_vec(),
        names => names.iter().map(|name| find(name)).collect::<Result<_, _>>()?,
    };
    output::try_writing(&arguments.file)?;
    let mut report = Report::default();
    if let Some(path) = &arguments.bench {
        report.set_bench(bench(path)?);
    }
    let (surveyed, others): (Vec<&'static About>, Vec<_>) = chosen.iter().partition(|about| about.is_surveyed());
    let is_complete = survey::each(&surveyed, &arguments.limits, |row| {
        report.add(row)?;
        Ok(true)
    })?;
    if !is_complete {
        let file = arguments.file.display();
        return Err(Failure(format!(
            "interrupted; nothing was written to `{file}`, run it again or name fewer algorithms"
        )));
    }
    others.into_iter().for_each(|about| report.add_unchecked(about));
    let html = report.html();
    output::write(&arguments.file, &html)?;
    let (count, size) = (chosen.len(), html.len() as f64 / 1e6);
    let (seconds, file) = (start.elapsed().as_secs_f64(), arguments.file.display());
    let s = if count == 1 { "" } else { "s" };
    let text = format!("{file}: {count} algorithm{s}, {size:.1} MB, in {seconds:.1} s; open it in a browser\n");
    Ok(Answer { text, code: HOLDS })
}

fn bench(path: &PathBuf) -> Result<Value, Failure> {
    let file = path.display();
    let text = fs::read_to_string(path)
        .map_err(|error| Failure(format!("cannot read `{file}`: {error}; give another path")))?;
    serde_json::from_str(&text)
        .map_err(|error| Failure(format!("`{file}` is not what `doorway bench --json` prints: {error}; write it anew")))
}
