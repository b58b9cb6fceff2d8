//! What the end-to-end tests of `bourdon load` share: the program, its JSON document, specimens and a recording server.
#![allow(dead_code, unused_imports, reason = "each test binary uses its own part of the vocabulary")]

mod document;
pub(crate) mod interval_log;
mod liar;
mod nats;
mod program;
mod recorder;
mod specimen;
mod stall;

pub(crate) use document::Document;
pub(crate) use liar::Liar;
pub(crate) use nats::{Nats, nats_program};
pub(crate) use program::{Ended, Running, bourdon, load, on_a_shell, spawn, without_a_reader};
pub(crate) use recorder::Recorder;
pub(crate) use specimen::{Closed, Specimen};
pub(crate) use stall::Replay;

#[path = "../wait/mod.rs"]
mod wait;

pub(crate) use wait::wait_until;
