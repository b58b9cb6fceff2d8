//! Makes load and keeps time.
//!
//! Protocols and connections are state machines without I/O; one loop drives them over a [`Wire`] under a
//! [`model::Clock`], so that the same loop runs over sockets and, in tests, over a simulated server in virtual time.

mod awaited;
mod calibration;
mod clock;
mod collector;
mod connection;
mod demand;
mod draw;
mod http1;
mod in_flight;
mod interval_log;
mod joint;
mod ledger;
mod outcome;
mod output;
mod part;
mod port;
mod ports;
mod protocol;
mod raw_log;
mod rotation;
mod run;
mod schedule;
mod second;
mod serial;
mod session;
mod silence;
pub mod simulation;
mod standstill;
mod steps;
mod summary;
mod tcp;
mod tls;
mod transfer;
mod wire;
mod worker;

pub use calibration::time_precision;
pub use clock::{MonotonicClock, thread_cpu_ns};
pub use collector::Passed;
pub use http1::{Advance, HeadCache, MAX_HEAD_BYTES, MAX_HEADERS, ReplyReader, over_limit};
pub use interval_log::IntervalLog;
pub use outcome::not_connected;
pub use output::{Brought, LoadOutput};
pub use ports::local_port_range;
pub use protocol::Reply;
pub use rotation::{SLICE_DRAIN_NS, SliceSpec, Sliced, rotate};
pub use run::{ToldOfShare, bring, bring_share, run};
pub use schedule::Schedule;
pub use session::{LoadError, RunOptions, Share, prepare_thread};
pub use tls::{Secure, TlsError, TlsFailure};
pub use transfer::{PART_SCHEMA, TransferError};
pub use wire::{Progress, Ready, Received, Wire};
