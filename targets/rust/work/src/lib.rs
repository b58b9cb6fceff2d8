//! Everything the Rust targets have in common: what each endpoint answers, the settings, the admin server, and how
//! a target starts and stops. A target's own program adds only its framework, so that a difference between two
//! targets is a difference between their frameworks.

mod admin;
mod reply;
mod run;
mod settings;
mod tls;

pub use reply::{JSON, Pong, Reply, SUBMIT_LIMIT, TEXT, User, Work};
pub use run::{Stop, run};
pub use settings::Settings;
pub use tls::SecuredListener;
