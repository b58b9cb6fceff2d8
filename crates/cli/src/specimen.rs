use std::net::{IpAddr, TcpListener};
use std::path::PathBuf;

use specimens::{Kind, LogSink, Settings};

use crate::args::SpecimenArgs;
use crate::exit::{Exit, Failure};
use crate::output::say;

/// Where it listens when the environment does not say.
const DEFAULT_PORT: &str = "8080";
const DEFAULT_ADDRESS: &str = "127.0.0.1";

/// Runs one specimen on `$PORT` until it is ended. Its settings come from the environment, as any target's do.
pub(crate) fn run(args: &SpecimenArgs) -> Result<Exit, Failure> {
    let kind =
        Kind::from_name(&args.name).ok_or_else(|| Failure::usage(format!("no specimen is called `{}`", args.name)))?;
    let settings = Settings::from_env(kind).map_err(Failure::usage)?;
    let setting = |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| default.to_owned());
    let (text, address) = (setting("PORT", DEFAULT_PORT), setting("ADDRESS", DEFAULT_ADDRESS));
    let port: u16 = text
        .parse()
        .map_err(|_| Failure::usage(format!("PORT=`{text}` is not a port; set PORT to 0 or a free port")))?;
    let address: IpAddr = address
        .parse()
        .map_err(|_| Failure::usage(format!("ADDRESS=`{address}` is not an address of this machine")))?;
    let listener = TcpListener::bind((address, port))
        .map_err(|error| Failure::unreachable(format!("cannot listen on port {port}: {error}")))?;
    if let Ok(address) = listener.local_addr() {
        say(format!("{} listens on {address}", kind.name()));
    }
    let log = std::env::var_os("LOG_FILE").map_or(LogSink::None, |path| LogSink::File(PathBuf::from(path)));
    specimens::serve(listener, settings, log).map_err(Failure::unreachable)?;
    Ok(Exit::Good)
}
