//! How many files may be open at once: each connection is one.

use model::{counted, thousands};

use crate::exit::Failure;

/// Files that a generator needs besides its connections.
const SPARE_FILES: u64 = 64;

/// Raises the limit of open files as far as it is allowed.
pub(crate) fn raise_files() -> Result<(), Failure> {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit)
        .map_err(|error| Failure::usage(format!("cannot raise the limit of open files: {error}")))
}

/// Raises the limit of open files as far as it is allowed, and says beforehand when that is not enough. `files_each` is
/// what a connection needs, `asked_by` how fewer connections are asked for.
pub(crate) fn reserve_files(connections: u32, files_each: u64, asked_by: &str) -> Result<(), Failure> {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let needed = u64::from(connections) * files_each + SPARE_FILES;
    let mut limit = getrlimit(Resource::Nofile);
    let allowed = limit.maximum.unwrap_or(u64::MAX);
    if needed > allowed {
        let fewer = match allowed.saturating_sub(SPARE_FILES) / files_each.max(1) {
            0 => String::new(),
            most => format!("use at most {asked_by}{most}, or "),
        };
        let connections = counted(connections.into(), "connection needs", "connections need");
        return Err(Failure::usage(format!(
            "{connections} {} open files, and {} are allowed here; \
             {fewer}raise the limit (ulimit -Hn, or LimitNOFILE= in systemd)",
            thousands(needed),
            thousands(allowed)
        )));
    }
    if limit.current.is_some_and(|current| current < needed) {
        limit.current = Some(needed);
        setrlimit(Resource::Nofile, limit)
            .map_err(|error| Failure::usage(format!("cannot raise the limit of open files to {needed}: {error}")))?;
    }
    Ok(())
}
