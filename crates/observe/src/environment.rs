use std::collections::BTreeMap;
use std::path::Path;

use model::Environment;
use rustix::process::{Resource, getrlimit};
use rustix::system::uname;

use crate::ProcSource;
use crate::parse::{cpu_list_length, labelled};
use crate::proc_source::Reader;

/// Settings that move what is measured here: ports, backlogs, the re-use of ports, timers, where threads run, memory.
const SYSCTLS: [&str; 14] = [
    "kernel.numa_balancing",
    "kernel.sched_autogroup_enabled",
    "kernel.timer_migration",
    "net.core.netdev_max_backlog",
    "net.core.somaxconn",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_abort_on_overflow",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_max_syn_backlog",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.tcp_tw_reuse",
    "vm.overcommit_memory",
    "vm.swappiness",
];

/// What the machine says of itself. Left empty for the caller: `schema`, `started_at`, `bourdon`, `command_line`,
/// `toolchains`. `sys_root` is `/sys`, or a captured folder. The kernel's release and the limit of open files are
/// those of the calling process, whatever the folders.
pub fn read(proc: &ProcSource, sys_root: &Path) -> Environment {
    let mut proc = Reader::new(&proc.root);
    let mut sys = Reader::new(sys_root);
    Environment {
        cpu: cpu_model(&mut proc),
        cpus: cpus_online(&mut sys, &mut proc),
        governor: sys.text(format_args!("devices/system/cpu/cpu0/cpufreq/scaling_governor")),
        smt: sys.text(format_args!("devices/system/cpu/smt/active")).map(|active| active == "1"),
        memory_bytes: memory_bytes(&mut proc),
        kernel: uname().release().to_string_lossy().into_owned(),
        // No limit at all is told as the largest number.
        open_files: getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX),
        sysctls: sysctls(&mut proc),
        ..Environment::default()
    }
}

fn cpu_model(proc: &mut Reader) -> String {
    let info = proc.text(format_args!("cpuinfo")).unwrap_or_default();
    let model = info.lines().find_map(|line| {
        let (label, value) = line.split_once(':')?;
        (label.trim() == "model name").then(|| value.trim().to_owned())
    });
    // Arm kernels name no model.
    model.unwrap_or_else(|| uname().machine().to_string_lossy().into_owned())
}

fn cpus_online(sys: &mut Reader, proc: &mut Reader) -> u32 {
    let listed = sys.text(format_args!("devices/system/cpu/online")).and_then(|list| cpu_list_length(&list));
    listed.unwrap_or_else(|| {
        let info = proc.text(format_args!("cpuinfo")).unwrap_or_default();
        let count = info.lines().filter(|line| line.starts_with("processor")).count();
        u32::try_from(count).unwrap_or(u32::MAX)
    })
}

fn memory_bytes(proc: &mut Reader) -> u64 {
    let kibibytes = proc.read(format_args!("meminfo")).and_then(|info| labelled(info, b"MemTotal:"));
    kibibytes.unwrap_or(0) * 1024
}

fn sysctls(proc: &mut Reader) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for name in SYSCTLS {
        let path = name.replace('.', "/");
        if let Some(value) = proc.text(format_args!("sys/{path}")) {
            found.insert(name.to_owned(), value.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    fn write(root: &Path, files: &[(&str, &str)]) {
        for (path, text) in files {
            let path: PathBuf = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    #[test]
    fn a_captured_machine() {
        let folder = tempfile::tempdir().unwrap();
        let (proc, sys) = (folder.path().join("proc"), folder.path().join("sys"));
        write(
            &proc,
            &[
                ("cpuinfo", "processor\t: 0\nmodel name\t: AMD EPYC 9B45\n"),
                ("meminfo", "MemTotal:        4096 kB\nMemFree: 1 kB\n"),
                ("sys/net/ipv4/ip_local_port_range", "32768\t60999\n"),
                ("sys/net/core/somaxconn", "4096\n"),
            ],
        );
        write(
            &sys,
            &[
                ("devices/system/cpu/online", "0-1\n"),
                ("devices/system/cpu/smt/active", "0\n"),
                ("devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n"),
            ],
        );
        let seen = read(&ProcSource::new(proc), &sys);
        assert_eq!((seen.cpu.as_str(), seen.cpus, seen.memory_bytes), ("AMD EPYC 9B45", 2, 4096 * 1024));
        assert_eq!((seen.governor.as_deref(), seen.smt), (Some("performance"), Some(false)));
        assert_eq!(seen.sysctls["net.ipv4.ip_local_port_range"], "32768 60999");
        assert_eq!(seen.sysctls.len(), 2);
        assert!(seen.open_files > 0 && !seen.kernel.is_empty());
        assert!(seen.schema.is_empty() && seen.toolchains.is_empty());
    }

    #[test]
    fn a_machine_that_says_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let seen = read(&ProcSource::new(folder.path()), folder.path());
        assert_eq!((seen.cpus, seen.governor, seen.smt, seen.memory_bytes), (0, None, None, 0));
    }
}
