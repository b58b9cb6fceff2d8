use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::Args;
use nodes::Allowed;

use super::values::{at_least_one, positive_duration};

const NODE_EXAMPLES: &str = "\
Example, with one nats-server (nats-server -js) that all machines reach. Once:
  openssl rand -hex 32 > key             every machine gets a copy
on each machine that makes load:
  bourdon node --nats nats://10.0.0.1 --key key --allow 10.0.0.7:8080
and where you want the result:
  bourdon load --nodes nats://10.0.0.1 --key key --workers 2 -c 2000 -R 100k \\
               http://10.0.0.7:8080/

A node makes load only where it is told by somebody who has the key, only of
addresses that --allow names, and of one run at a time.";

#[derive(Debug, Args)]
#[command(after_help = NODE_EXAMPLES)]
pub(crate) struct NodeArgs {
    /// Server of messages: nats://[user:password@]host[:port], or tls://; several are separated by commas; @FILE reads it from
    /// a file, where no list of processes shows it
    #[arg(long, value_name = "URL|@FILE")]
    pub(crate) nats: String,

    #[command(flatten)]
    pub(crate) link: LinkArgs,

    /// What it may load: an address or a network, with or without a port; may be repeated [default: this machine alone]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) allow: Vec<Allowed>,

    /// Address that its connections come from; several, separated by commas, are used in turn, each with its own ports
    #[arg(long, value_name = "ADDRESS,…", value_delimiter = ',')]
    pub(crate) source: Vec<IpAddr>,

    /// End after the first load, with status 1 if it began no share of it, or that failed
    #[arg(long)]
    pub(crate) once: bool,

    /// Let its clock be so much ahead of the machine's, in seconds, to see that it makes no difference
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, allow_negative_numbers = true, hide = true)]
    pub(crate) clock_ahead: f64,

    /// Write into this folder how long each reply was waited for, to try the merged distribution against
    #[arg(long, value_name = "FOLDER", hide = true)]
    pub(crate) raw_log: Option<PathBuf>,
}

/// How machines that make a load together find and trust each other.
#[derive(Debug, Clone, Args)]
pub(crate) struct LinkArgs {
    /// File of the secret that all of them know; a message that is not signed with it is not heeded
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,

    /// Name of the nodes that belong together, where several sets share one server of messages
    #[arg(long, value_name = "NAME", default_value = "main")]
    pub(crate) pool: String,

    /// File of NATS credentials (.creds)
    #[arg(long, value_name = "FILE")]
    pub(crate) nats_creds: Option<PathBuf>,

    /// PEM file of certificates to trust for the server of messages; TLS is required then
    #[arg(long, value_name = "FILE")]
    pub(crate) nats_ca: Option<PathBuf>,
}

/// Which nodes make a load.
#[derive(Debug, Clone, Args)]
pub(crate) struct NodesArgs {
    /// Have loads made by nodes (`bourdon node`) that wait at this server of messages; connections, rates and numbers of
    /// requests are of all together, -t is of each
    #[arg(long, value_name = "URL|@FILE", requires = "key")]
    pub(crate) nodes: Option<String>,

    /// How many nodes make one [default, of a single load: all that answer within 2 s]
    #[arg(long, value_name = "N", requires = "nodes", value_parser = at_least_one::<u32>)]
    pub(crate) workers: Option<u32>,

    /// How long nodes are waited for
    #[arg(long, value_name = "TIME", requires = "nodes", default_value = "30s", allow_hyphen_values = true, value_parser = positive_duration)]
    pub(crate) gather: u64,

    #[command(flatten)]
    pub(crate) link: LinkArgs,
}

/// Which servers nodes load.
#[derive(Debug, Args)]
pub(crate) struct ServersArgs {
    /// Addresses of several servers that answer for this URL, which the nodes load in turn [default: the URL's own]
    #[arg(long, value_name = "ADDRESS:PORT,…", requires = "nodes", value_delimiter = ',')]
    pub(crate) servers: Vec<SocketAddr>,
}
