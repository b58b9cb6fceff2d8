use std::net::TcpListener;
use std::path::PathBuf;

use specimens::{Kind, LogSink, Settings};

use crate::args::SpecimenArgs;
use crate::exit::{Exit, Failure};
use crate::output::say;

/// The port when the environment names none.
const DEFAULT_PORT: &str = "8080";

/// Runs one specimen on `$PORT` until it is ended. Its settings come from the environment, as any target's do.
pub(crate) fn run(args: &SpecimenArgs) -> Result<Exit, Failure> {
    let kind =
        Kind::from_name(&args.name).ok_or_else(|| Failure::usage(format!("no specimen is called `{}`", args.name)))?;
    let settings = Settings::from_env(kind).map_err(Failure::usage)?;
    let text = std::env::var("PORT").unwrap_or_else(|_| DEFAULT_PORT.to_owned());
    let port: u16 = text
        .parse()
        .map_err(|_| Failure::usage(format!("PORT=`{text}` is not a port; set PORT to 0 or a free port")))?;
    let listener = TcpListener::bind(("127.0.0.1", port))
        .map_err(|error| Failure::unreachable(format!("cannot listen on port {port}: {error}")))?;
    if let Ok(address) = listener.local_addr() {
        say(format!("{} listens on {address}", kind.name()));
    }
    let log = std::env::var_os("LOG_FILE").map_or(LogSink::None, |path| LogSink::File(PathBuf::from(path)));
    specimens::serve(listener, settings, log).map_err(Failure::unreachable)?;
    Ok(Exit::Good)
}
