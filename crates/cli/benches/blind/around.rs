//! What there is beside a server that is diagnosed: another that it asks, a program that takes its CPU, a quota.

use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::BOURDON;
use crate::cases::Around;
use crate::hog::Hog;

/// The group of a server that may use half a CPU, by the version of control groups that this machine has.
const FIRST_VERSION: &str = "/sys/fs/cgroup/cpu";
const SECOND_VERSION: &str = "/sys/fs/cgroup";

/// It is there for as long as this is.
pub(crate) enum Surroundings {
    Nothing,
    Upstream(Server),
    BusyMachine { _hog: Hog },
    Quota(Quota),
}

impl Surroundings {
    pub(crate) fn of(around: Around) -> Self {
        match around {
            Around::Nothing => Surroundings::Nothing,
            Around::Upstream => {
                Surroundings::Upstream(Server::start(&[BOURDON.to_owned(), "specimen".to_owned(), "clean".to_owned()]))
            }
            Around::BusyMachine => Surroundings::BusyMachine { _hog: Hog::start() },
            Around::Quota => Surroundings::Quota(Quota::make()),
        }
    }

    /// The command of a server that is started in them.
    pub(crate) fn command(&self, run: String) -> String {
        match self {
            Surroundings::Quota(quota) => format!("{} {run}", quota.script.display()),
            _ => run,
        }
    }

    /// Where that is which the server asks.
    pub(crate) fn upstream(&self) -> Option<SocketAddr> {
        match self {
            Surroundings::Upstream(server) => Some(server.address),
            _ => None,
        }
    }
}

/// A server of this program's own, which ends with it.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    child: Child,
}

impl Server {
    /// Starts a server on a free port and waits until it can be reached.
    pub(crate) fn start(words: &[String]) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).env("PORT", address.port().to_string());
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mut server = Self { address, child };
        while TcpStream::connect(address).is_err() {
            assert!(server.child.try_wait().unwrap().is_none(), "{words:?} ended before it could be reached");
            std::thread::sleep(Duration::from_millis(10));
        }
        server
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A control group that may use half a CPU, and a script that starts a command in it.
pub(crate) struct Quota {
    group: PathBuf,
    script: PathBuf,
    _folder: TempDir,
}

impl Quota {
    fn make() -> Self {
        let is_first = Path::new(FIRST_VERSION).join("cpu.cfs_quota_us").exists();
        let root = Path::new(if is_first { FIRST_VERSION } else { SECOND_VERSION });
        let group = root.join(format!("bourdon-blind-{}", std::process::id()));
        std::fs::create_dir_all(&group).unwrap();
        let (file, half) = if is_first { ("cpu.cfs_quota_us", "50000") } else { ("cpu.max", "50000 100000") };
        std::fs::write(group.join(file), half).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("in-the-group");
        let mut written = std::fs::OpenOptions::new().create_new(true).write(true).mode(0o755).open(&script).unwrap();
        writeln!(written, "#!/bin/sh\necho $$ > {}\nexec \"$@\"", group.join("cgroup.procs").display()).unwrap();
        Self { group, script, _folder: folder }
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        // Of what ended just now the kernel may still know.
        for _ in 0..100 {
            if std::fs::remove_dir(&self.group).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
