//! Messages over NATS: what is said now goes as it is, at most once; what was brought is kept by the server (JetStream) until it was seen.

mod command;
mod serve;

use std::path::PathBuf;
use std::time::Duration;

use async_nats::{
    Client, ConnectError, ConnectErrorKind, ConnectOptions, Event, ServerAddr, ServerError, Subject, Subscriber,
};
use percent_encoding::percent_decode_str;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

pub use command::{Command, command};
pub use serve::{Serve, serve};

use crate::key::Key;
use crate::message::Address;

/// How long the first attempt to reach a server may take.
const CONNECTING: Duration = Duration::from_secs(5);

/// How often the server is asked whether it is there, so that a connection that is dead is known to be.
/// It takes three of them, which is less than after how long a node that says nothing is lost.
const PING_EVERY: Duration = Duration::from_millis(700);

/// How long after an attempt to connect the next one is made.
const AGAIN: Duration = Duration::from_millis(500);

/// Messages that wait to be read: what 200 nodes say in some seconds. Where the server lets strangers write to them, theirs may take as much memory, at
/// 1 MiB each.
const MOST_WAITING: usize = 1024;

/// How often state machines are told that time has passed.
const TICK: Duration = Duration::from_millis(20);

/// Where messages go through.
#[derive(Debug, Clone)]
pub struct Place {
    /// URL of a server, or of several, separated by commas.
    pub url: String,
    /// File of credentials, where it takes those.
    pub credentials: Option<PathBuf>,
    /// PEM file of certificates to trust instead of this machine's.
    pub ca: Option<PathBuf>,
    /// What the nodes are called together: commands reach those of one name.
    pub pool: String,
}

/// The same, and what those know that belong together.
struct Link {
    place: Place,
    key: Key,
}

/// Messages cannot be exchanged.
#[derive(Debug, thiserror::Error)]
pub enum NatsError {
    /// No server is reached, or it does not let us in.
    #[error("cannot reach {url}: {why}")]
    Connect {
        /// Where.
        url: String,
        /// Why.
        why: String,
        /// Whether it may be that it only is not there yet.
        may_come: bool,
    },
    /// It does not keep results.
    #[error("{url} does not keep results: {why}")]
    JetStream {
        /// Where.
        url: String,
        /// Why.
        why: String,
    },
    /// It does not let this user read or send what has to be read or sent.
    #[error("{url} refuses: {why}")]
    Refused {
        /// Whether it is who commands a load, and not a node.
        commands: bool,
        /// Where.
        url: String,
        /// Why, in the server's words.
        why: String,
    },
    /// The connection is gone for good.
    #[error("the connection to {0} is gone")]
    Gone(String),
    /// This machine cannot.
    #[error("messages cannot be exchanged: {0}")]
    Own(#[from] std::io::Error),
}

/// What becomes of the connection to the server.
#[derive(Debug)]
enum Change {
    /// Messages come and go.
    Up,
    /// They do not.
    Down,
    /// The server refused what was asked of it, in its words.
    Refused(String),
}

/// Who connects. What is answered to one the others need not be let read.
#[derive(Debug, Clone, Copy)]
enum Who {
    Node,
    Commander,
}

impl Who {
    fn inbox(self) -> &'static str {
        match self {
            Who::Node => "_INBOX.bourdon-node",
            Who::Commander => "_INBOX.bourdon-command",
        }
    }
}

impl Change {
    fn of(event: Event) -> Option<Self> {
        match event {
            Event::Connected => Some(Change::Up),
            Event::Disconnected | Event::Closed => Some(Change::Down),
            // Other errors of the server end the connection, which is made anew.
            Event::ServerError(ServerError::Other(why)) if why.to_lowercase().contains("permissions violation") => {
                Some(Change::Refused(why))
            }
            _ => None,
        }
    }
}

impl Place {
    /// Connects, and has answers sent to a place of `who`; what comes out tells what becomes of it.
    async fn connect(&self, who: Who) -> Result<(Client, UnboundedReceiver<Change>), NatsError> {
        let (changed, changes) = unbounded_channel();
        let told = move |event| {
            Change::of(event).into_iter().for_each(|change| _ = changed.send(change));
            async {}
        };
        let mut options = ConnectOptions::new()
            .name("bourdon")
            .custom_inbox_prefix(who.inbox())
            .ping_interval(PING_EVERY)
            .connection_timeout(CONNECTING)
            .reconnect_delay_callback(|_| AGAIN)
            .subscription_capacity(MOST_WAITING)
            .event_callback(told);
        if let Some(file) = &self.credentials {
            options = options.credentials_file(file).await.map_err(|error| self.unreached(&error))?;
        }
        if let Some(file) = &self.ca {
            options = options.add_root_certificates(file.clone()).require_tls(true);
        }
        let servers: Result<Vec<ServerAddr>, _> = self.url.split(',').map(str::parse).collect();
        let servers = servers.map_err(|error| self.unreached(&error))?;
        let mut named = servers.iter().filter(|server| server.has_user_pass());
        if let Some(first) = named.next() {
            // Only one can be said, and it would be said to all of them.
            if named.any(|other| (other.username(), other.password()) != (first.username(), first.password())) {
                return Err(
                    self.unreached(&"its servers are given different users; servers of one cluster have the same")
                );
            }
            options = let_in(options, first);
        }
        let client = options.connect(servers).await.map_err(|error| NatsError::Connect {
            url: self.shown(),
            why: error.to_string(),
            may_come: may_come(&error),
        })?;
        Ok((client, changes))
    }

    fn unreached(&self, error: &dyn std::fmt::Display) -> NatsError {
        NatsError::Connect { url: self.shown(), why: error.to_string(), may_come: false }
    }

    /// The URL without what is secret in it.
    fn shown(&self) -> String {
        let shown = |url: &str| match (url.split_once("://"), url.rsplit_once('@')) {
            (Some((scheme, _)), Some((_, host))) => [scheme, "://", host].concat(),
            (None, Some((_, host))) => host.to_owned(),
            _ => url.to_owned(),
        };
        self.url.split(',').map(shown).collect::<Vec<_>>().join(",")
    }
}

impl Link {
    async fn hear(&self, client: &Client, subject: Subject) -> Result<Subscriber, NatsError> {
        client.subscribe(subject).await.map_err(|_| self.gone())
    }

    fn gone(&self) -> NatsError {
        NatsError::Gone(self.place.shown())
    }

    /// Where a message to an address is published. Where a commander hears nobody can write who has not the key: the server lets many
    /// write there, and few read.
    fn subject(&self, address: &Address) -> Subject {
        let proof = |run: &str| [".", &self.key.proof(run)].concat();
        self.written(address, proof)
    }

    /// Where strangers would write to the commander of a run: as above, but for what they cannot know.
    fn subjects_of_strangers(&self, run: &str) -> [Subject; 2] {
        let results = Address::Results { run: run.to_owned(), session: "*".to_owned(), id: String::new() };
        [Address::Run(run.to_owned()), results].map(|address| self.written(&address, |_| String::new()))
    }

    /// Whether what the server refuses is to hear strangers: it names the subject in quotes, which for others is longer.
    fn is_of_strangers(&self, run: &str, why: &str) -> bool {
        self.subjects_of_strangers(run).iter().any(|subject| why.contains(&["\"", subject, "\""].concat()))
    }

    fn written(&self, address: &Address, proof: impl Fn(&str) -> String) -> Subject {
        let pool = &self.place.pool;
        match address {
            Address::Nodes => format!("bourdon.{pool}.nodes"),
            Address::Node(session) => format!("bourdon.{pool}.node.{session}"),
            Address::Run(run) => format!("bourdon.{pool}.run.{run}{}", proof(run)),
            Address::Results { run, session, .. } => format!("bourdon.{pool}.results.{run}{}.{session}", proof(run)),
        }
        .into()
    }
}

/// Says who we are where the URL does, which the client leaves to its user: a user and a password, or a token.
fn let_in(options: ConnectOptions, server: &ServerAddr) -> ConnectOptions {
    let of = |text: Option<&str>| percent_decode_str(text.unwrap_or_default()).decode_utf8_lossy().into_owned();
    match server.password() {
        Some(password) => options.user_and_password(of(server.username()), of(Some(password))),
        None => options.token(of(server.username())),
    }
}

/// Whether a server that is not reached may be later. One whose certificate does not fit is there.
fn may_come(error: &ConnectError) -> bool {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<std::io::Error>());
    let is_wrong = source.is_some_and(|error| error.kind() == std::io::ErrorKind::InvalidData);
    matches!(error.kind(), ConnectErrorKind::Io | ConnectErrorKind::Dns | ConnectErrorKind::TimedOut) && !is_wrong
}

/// A runtime for messages alone: load has threads of its own.
fn runtime() -> Result<tokio::runtime::Runtime, NatsError> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(url: &str) -> Place {
        Place { url: url.to_owned(), credentials: None, ca: None, pool: "x".to_owned() }
    }

    #[test]
    fn a_password_is_not_shown() {
        assert_eq!(place("nats://me:secret@host:4222,tls://b").shown(), "nats://host:4222,tls://b");
        assert_eq!(place("token@host").shown(), "host");
    }

    #[test]
    fn one_server_is_not_told_the_password_of_another() {
        let url = "nats://me:secret@127.0.0.1:1,nats://me:other@127.0.0.1:2";
        let refused = runtime().unwrap().block_on(place(url).connect(Who::Node)).unwrap_err();
        assert!(refused.to_string().contains("different users"), "{refused}");
    }
}
