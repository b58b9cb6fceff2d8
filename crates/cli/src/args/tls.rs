use std::path::PathBuf;

use clap::Args;

/// Whether servers are loaded over TLS, and whose word on their certificates is taken.
#[derive(Debug, Args)]
pub(crate) struct TlsArgs {
    /// Load over TLS: each server is given a certificate, and its key, in the files $TLS_CERT and $TLS_KEY
    #[arg(long)]
    pub(crate) tls: bool,

    /// Load over TLS, and check the servers' own certificate by those in this PEM file, as `bourdon load` does
    #[arg(long, value_name = "FILE", conflicts_with_all = ["insecure", "tls"])]
    pub(crate) ca: Option<PathBuf>,

    /// Load over TLS, and accept any certificate, without verifying the server
    #[arg(short = 'k', long, conflicts_with = "tls")]
    pub(crate) insecure: bool,
}
