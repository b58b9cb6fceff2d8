//! Small HTTP/1.1 and HTTP/1.0 servers with exactly one known defect, or none.
//!
//! A specimen is the known truth a load engine is tested against: what it does to which request is
//! fixed by its [`Settings`] and written down in its log, one [`Entry`] for each action.
//!
//! But for those that have the contract, all specimens are one single-threaded, event-driven server whose behaviour is a closed
//! [`Kind`]. [`start`] runs it in a thread of this process, [`serve`] in the calling thread.
//!
//! # What is answered
//!
//! | path          | reply                                                                |
//! |---------------|----------------------------------------------------------------------|
//! | `/rest/hello` | 200 `Hello world`                                                    |
//! | `/`           | 200 `Welcome!\n`                                                     |
//! | `/ping`       | 200 `{"message":"pong"}`; at once, never defective, never logged     |
//! | anything else | 404 `Not Found\n`                                                    |
//!
//! Everything but `/ping` is a *counted* request: it passes through the handler delay, can meet the
//! defect, and is logged. The path decides, not the method; a query is ignored. Input that is not
//! an answerable request is refused with 400 (malformed), 431 (head above 64 KiB) or 501 (`HEAD`,
//! `CONNECT`, chunked request bodies), then closed; refusals are neither counted nor logged, and nor is
//! anything a client sends after its own `Connection: close`. A client that has sent FIN is taken to
//! have gone: what it has not been sent by then it does not get.
//!
//! The kinds that [have the contract](Kind::has_contract) answer what targets/CONTRACT.md says instead, from a
//! thread for each connection. What they do is not logged.
//!
//! # How exact the log is
//!
//! Each counted request that the server acts on has one entry; `idle-close` adds a second one for
//! the close. An entry is made immediately *before* the bytes or the close it tells of are handed to
//! the kernel, so it lies between the client's send and the client's receive, and it is in
//! [`Server::log`] before the client can see its effect. A request whose client disconnects before
//! its delay is over has no entry.
//!
//! For a client that does not pipeline, the log of failures is exact. For one that does, requests
//! behind one that ended its connection (or that is never answered) have no entry, except after an
//! idle close, where each of them is logged as `close-before-reply`.

mod clock;
mod conn;
mod connections;
mod contract;
mod desk;
mod idleness;
mod kind;
mod log;
mod outcome;
mod reply;
mod request;
mod running;
mod schedule;
mod server;
mod settings;
#[cfg(test)]
mod tests;
mod ticket;

pub use kind::Kind;
pub use log::{Action, Entry, LogSink};
pub use running::{Server, serve, start};
pub use settings::{SettingError, Settings};
