//! Loads that several machines make together, as shares of one schedule.
//!
//! Who commands and who makes a share are state machines without I/O, which are told what was heard and what time it is. Messages between
//! them are signed; [`command`] and [`serve`] carry them over NATS.

mod allowed;
mod coordinator;
mod key;
mod member;
mod message;
mod nats;
mod node;
mod offset;
mod outcome;
mod pieces;
mod seconds;
#[cfg(test)]
mod simulation;

pub use allowed::{Allowed, NoAddress};
pub use coordinator::Asked;
pub use key::{Key, TooShort, Unheeded};
pub use message::{MESSAGE_SCHEMA, Presence, Refusal};
pub use nats::{Command, NatsError, Place, Serve, command, serve};
pub use node::NodeNews;
pub use offset::Offset;
pub use outcome::{Contribution, Ended, Lost, Made, News, NodeName, Unmade, WhyLost};
