//! Runs a command so that nothing of it outlives bourdon, whoever is killed, and so that nothing it prints fills a disk.
//!
//! Whatever bourdon starts, it starts here: a server, a build, git, a compiler that is asked for its version.
//!
//! bourdon holds a [`Guarded`]. Behind it stand two processes outside of bourdon's own tree: a warden, and below it a
//! reaper, whose child the command is. Each is a child subreaper, so that whatever loses its parent becomes its child;
//! each reads a socket whose other end only bourdon has, and ends everything below it when that closes. The reaper reads
//! what the command prints. The warden outlives the reaper, and makes and removes the scratch folder. The command is
//! killed by the kernel when its reaper goes, and whatever it starts carries the launch in its environment, by which
//! bourdon finds it should both be killed.
//!
//! No step has a second thread: where there are no threads or processes left, starting the next step is what fails.

mod ask;
mod children;
mod clock;
mod end;
mod guard;
mod guarded;
mod order;
mod output;
mod removal;
mod said;
mod signals;
mod steps;
mod watch;

pub use ask::{Answer, Question, Unanswered, ask};
pub use children::signal_descendants;
pub use guarded::{Ended, Guarded, Started};
pub use order::{ITSELF, Order};
pub use removal::remove_folder;
pub use signals::{is_ignored, let_signals_come};
pub use steps::{Furnish, MORE_PROCESSES, run};
