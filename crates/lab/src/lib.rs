//! Carries out what a planner asks: builds targets, launches them, loads them, watches them, stops them, and writes
//! down what was seen. It does not judge.

mod backend;
mod behind;
mod beside;
mod build;
mod census;
mod client;
mod contract;
mod deadline;
mod delay;
mod document;
mod durable;
mod elsewhere;
mod error;
mod expand;
mod fingerprint;
mod furnish;
mod heap;
mod held;
mod hint;
mod inspector;
mod lacking;
mod launch;
mod named;
mod own_tree;
mod patience;
mod perf;
mod placed;
mod prepare;
mod printed;
mod profiler;
mod programs;
mod record;
mod rest;
mod room;
mod running_server;
mod scrape;
mod scratch;
mod session;
mod site;
mod tls;
mod together;
mod trial;
mod watch;

pub use build::{BuildError, Builder, Built, on_path};
pub use contract::{Check, ContractBreach, Launch, check_contract};
pub use document::{read_json, read_toml, write_toml};
pub use durable::{
    check_writable, create_folder_durably, create_new_folder_durably, keep_from_git, write_durably, write_through_links,
};
pub use error::{FOLDER, LabError, cure, why};
pub use furnish::furnish;
pub use held::{Held, sweep};
pub use lacking::lacking_here;
pub use launch::{LaunchSpec, Launcher, ProcessLauncher, Running, Unlaunched};
pub use named::is_program;
pub use own_tree::is_of_another;
pub use perf::Perf;
pub use prepare::{Prepared, prepare, with_runtime};
pub use programs::Program;
pub use record::{Follower, Kept, RunFolder, RunRecord};
pub use running_server::RunningElsewhere;
pub use scratch::{hold_scratch, why_left};
pub use session::{Session, SessionEnd, Unstarted};
pub use site::write_site;
pub use trial::{Loader, Rotator, TrialTools};
