//! The record of a run: a folder, with files that are written whole and files that grow line by line.

mod additions;
mod folder;
mod journal;
mod owned;
mod read_trace;
mod trace;

pub use folder::{Kept, RunFolder, RunRecord};
pub use journal::Follower;
