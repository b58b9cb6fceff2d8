//! How machines that make a load together find and trust each other.

use std::collections::BTreeSet;
use std::path::Path;

use nodes::{Key, NatsError, Place, Unheeded};

use crate::args::LinkArgs;
use crate::bounded;
use crate::exit::Failure;

/// How a key is made.
const MAKE_KEY: &str = "openssl rand -hex 32 > key";

/// Different messages that are not heeded before no more of them are said.
const MOST_SAID: usize = 50;

/// Messages that are not heeded: what is alike is said once, and the rest counted.
#[derive(Debug, Default)]
pub(crate) struct UnheededTally {
    said: BTreeSet<String>,
    count: usize,
    unsaid: usize,
}

impl UnheededTally {
    /// Counts one; gives what there is to say of it.
    pub(crate) fn take(&mut self, why: Unheeded, from: Option<&str>) -> Option<String> {
        let line = unheeded(why, from);
        self.count += 1;
        let is_new = self.said.len() < MOST_SAID && self.said.insert(line.clone());
        self.unsaid += usize::from(!is_new);
        is_new.then_some(line)
    }

    /// How many there were in all, where some were not said since this was asked.
    pub(crate) fn sum(&mut self) -> Option<String> {
        let unsaid = std::mem::take(&mut self.unsaid);
        (unsaid > 0).then(|| format!("ignored {} messages in all", self.count))
    }
}

/// Where messages go through.
pub(crate) fn place(url: &str, link: &LinkArgs) -> Result<Place, Failure> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if link.pool.is_empty() || !link.pool.chars().all(is_word) {
        return Err(Failure::usage(format!("--pool {}: a name has letters, digits, - and _", link.pool)));
    }
    let url = match url.strip_prefix('@') {
        Some(file) => bounded::read_text(Path::new(file)).map_err(|error| {
            Failure::usage(format!("cannot read {file}: {error}; it is to hold the URL of the server of messages"))
        })?,
        None => url.to_owned(),
    };
    let url = url.trim();
    if url.split(',').any(|url| url.trim().is_empty()) {
        return Err(Failure::usage(
            "the URL of the server of messages is empty; give one such as nats://10.0.0.1:4222",
        ));
    }
    let (credentials, ca) = (link.nats_creds.clone(), link.nats_ca.clone());
    Ok(Place { url: url.to_owned(), credentials, ca, pool: link.pool.clone() })
}

/// What all of them know.
pub(crate) fn key(link: &LinkArgs) -> Result<Key, Failure> {
    let Some(file) = &link.key else {
        return Err(Failure::usage(format!(
            "--key is missing: the file of a secret that all machines have ({MAKE_KEY}, then copy it)"
        )));
    };
    read(file)
}

fn read(file: &Path) -> Result<Key, Failure> {
    let shown = file.display();
    let secret = bounded::read_text(file)
        .map_err(|error| Failure::usage(format!("cannot read {shown}: {error}; make one with {MAKE_KEY}")))?;
    Key::new(secret.as_bytes()).map_err(|why| Failure::usage(format!("{shown}: {why}; make one with {MAKE_KEY}")))
}

/// Cause and cure where messages cannot be exchanged.
pub(crate) fn unlinked(error: &NatsError) -> Failure {
    let cure = match error {
        NatsError::Connect { .. } => "; is nats-server running there, and do user, password and certificates fit?",
        NatsError::JetStream { .. } => {
            "; start it with JetStream (nats-server -js), and let this user make streams; if it was away just now, try again"
        }
        NatsError::Refused { commands: false, .. } => {
            "; a node publishes to `bourdon.POOL.run.>` and `bourdon.POOL.results.>` of its --pool, and subscribes to `bourdon.POOL.nodes`, `bourdon.POOL.node.>` and `_INBOX.bourdon-node.>`, as deploy/kustomize/nats.conf lets it"
        }
        NatsError::Refused { commands: true, .. } => {
            "; who commands publishes to `bourdon.POOL.nodes`, `bourdon.POOL.node.>`, `$JS.API.>`, `$JS.ACK.>` and `$JS.FC.>`, and subscribes to `bourdon.POOL.run.>`, `bourdon.POOL.results.>` and `_INBOX.bourdon-command.>`, as deploy/kustomize/nats.conf lets it"
        }
        NatsError::Gone(_) | NatsError::Own(_) => "",
    };
    Failure::unreachable(format!("{error}{cure}"))
}

/// Why a message was not heeded.
fn unheeded(why: Unheeded, from: Option<&str>) -> String {
    // Whoever is not signed may call himself anything, also a line of this program's.
    let from = from.filter(|from| from.chars().all(|c| c.is_ascii_alphanumeric()));
    let said = if why == Unheeded::Unsigned { "that says it is of" } else { "of" };
    let from = from.map_or(String::new(), |from| format!(" {said} {from}"));
    let why = match why {
        Unheeded::TooLarge => "it is larger than any",
        Unheeded::Unsigned => "it is not signed with this key (is --key the same everywhere?)",
        Unheeded::Unknown => "it is of another version, or not a message of bourdon",
        Unheeded::OtherRun => "it is of another run, or for somebody else",
        Unheeded::Repeated => "it came before",
        Unheeded::Unexpected => "nobody is expected who is called so, or to say that",
        Unheeded::Contradiction => "it contradicts what was said before of the same second",
    };
    format!("ignored a message{from}: {why}")
}
