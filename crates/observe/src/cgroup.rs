//! For how long a quota of CPU kept a process from running: that of its control group, and of those around it.

use std::path::{Path, PathBuf};

use crate::parse::labelled;

/// Where control groups are: of the second version, and the controller of CPUs of the first.
const UNIFIED: &str = "/sys/fs/cgroup";
const CONTROLLERS: [&str; 2] = ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"];

/// The controller of CPUs, as the first version names it.
const CPU: &str = "cpu";

/// Seconds that the groups of a process were kept from running so far, added up over those around it, from its `/proc/PID/cgroup`; none where no group tells.
pub(crate) fn throttled_s(cgroup: &[u8]) -> Option<f64> {
    let text = String::from_utf8_lossy(cgroup);
    let mut roots = text.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        match controllers {
            "" => Some((vec![UNIFIED], path.to_owned())),
            named if named.split(',').any(|one| one == CPU) => Some((CONTROLLERS.to_vec(), path.to_owned())),
            _ => None,
        }
    });
    roots.find_map(|(roots, path)| roots.into_iter().find_map(|root| below(Path::new(root), &path)))
}

/// What the groups from this one up to the root have been kept for.
fn below(root: &Path, path: &str) -> Option<f64> {
    let group = PathBuf::from(path.trim_start_matches('/'));
    let around = group.ancestors().filter(|group| !group.as_os_str().is_empty());
    around
        .filter_map(|group| of(&std::fs::read(root.join(group).join("cpu.stat")).ok()?))
        .reduce(|one, other| one + other)
}

/// From a `cpu.stat`: in microseconds in the second version, in nanoseconds in the first.
fn of(stat: &[u8]) -> Option<f64> {
    let us = labelled(stat, b"throttled_usec ").map(|us| us as f64 / 1e6);
    us.or_else(|| labelled(stat, b"throttled_time ").map(|ns| ns as f64 / 1e9))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_tell_for_how_long() {
        assert_eq!(of(b"usage_usec 9\nnr_periods 4\nnr_throttled 2\nthrottled_usec 1500000\n"), Some(1.5));
        assert_eq!(of(b"nr_periods 4\nnr_throttled 2\nthrottled_time 250000000\n"), Some(0.25));
        assert_eq!(of(b"usage_usec 9\n"), None);
        assert_eq!(throttled_s(b"0::/\n"), None, "the root has no quota");
        assert_eq!(throttled_s(b"nonsense"), None);
    }
}
