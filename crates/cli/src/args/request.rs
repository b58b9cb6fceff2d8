use clap::Args;

use super::values::{header, method};

/// What `load` and `compare` let one say of a request beside its path.
#[derive(Debug, Args)]
pub(crate) struct RequestArgs {
    /// Method [default: GET; POST with --body]
    #[arg(short = 'X', long, value_parser = method)]
    pub(crate) method: Option<String>,

    /// Header, for instance 'Accept: text/html'; may be repeated
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE", value_parser = header)]
    pub(crate) headers: Vec<(String, String)>,

    /// Body, or @file
    #[arg(short = 'b', long, value_name = "TEXT|@FILE")]
    pub(crate) body: Option<String>,
}
