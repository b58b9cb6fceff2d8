use std::path::PathBuf;

use clap::Args;

use super::values::path;
use super::{GeneratorArgs, RequestArgs, ShownArgs, TlsArgs};

/// What one server is asked, and how it is launched: that of `diagnose` and `soak`.
#[derive(Debug, Args)]
pub(crate) struct OneServerArgs {
    /// The command that launches the server, without a shell
    #[arg(long, value_name = "COMMAND")]
    pub(crate) run: Option<String>,

    /// The command that builds it
    #[arg(long, value_name = "COMMAND", requires = "run")]
    pub(crate) build: Option<String>,

    /// Path to request [default: /; of a target /rest/hello]
    #[arg(long, value_name = "PATH", value_parser = path)]
    pub(crate) path: Option<String>,

    #[command(flatten)]
    pub(crate) request: RequestArgs,

    /// The status a good reply has [default: 200; of another method than GET any 2xx or 3xx]
    #[arg(long, value_name = "STATUS", value_parser = clap::value_parser!(u16).range(100..=599))]
    pub(crate) expect_status: Option<u16>,

    /// Path that is asked for until it answers 2xx or 3xx: then the server is ready [default: as in `bourdon compare`]
    #[arg(long, value_name = "PATH", value_parser = path)]
    pub(crate) ready: Option<String>,

    /// Environment variable of the server; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    pub(crate) set: Vec<(String, String)>,

    /// Seed of arrivals [default: a new one]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub(crate) seed: Option<u64>,

    /// Where the launches are recorded
    #[arg(long, value_name = "FOLDER", default_value = "runs")]
    pub(crate) runs: PathBuf,

    #[command(flatten)]
    pub(crate) tls: TlsArgs,

    #[command(flatten)]
    pub(crate) generator: GeneratorArgs,

    #[command(flatten)]
    pub(crate) shown: ShownArgs,
}

fn setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write NAME=VALUE".to_owned()),
    }
}
