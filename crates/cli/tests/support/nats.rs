use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::wait_until;

/// A server of messages on a free port, with all that it keeps in a folder of its own. It ends with its owner.
pub(crate) struct Nats {
    running: Child,
    folder: tempfile::TempDir,
    pub(crate) port: u16,
}

/// Its settings, in its folder.
const SETTINGS: &str = "settings.conf";

/// Where `scale/setup.sh` puts it; none where there is no Go to build it with.
pub(crate) fn nats_program() -> Option<PathBuf> {
    let debug = Path::new(env!("CARGO_BIN_EXE_bourdon")).parent()?;
    let program = debug.parent()?.join("tools/nats-server");
    let has_go = || Command::new("go").arg("version").output().is_ok_and(|output| output.status.success());
    if !program.exists() && !has_go() {
        println!("NOT TESTED: there is no nats-server, and no Go to build it with");
        return None;
    }
    assert!(program.exists(), "{} is missing: run sh scale/setup.sh", program.display());
    Some(program)
}

impl Nats {
    /// None where it cannot be had, which has been said.
    pub(crate) fn start() -> Option<Self> {
        Self::with("")
    }

    /// The same with these settings.
    pub(crate) fn with(settings: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(SETTINGS), settings).unwrap();
        let (running, port) = launch(&nats_program()?, &folder, 0);
        Some(Self { running, folder, port })
    }

    /// With the users that `deploy/` gives it, whose passwords are nothing that a URL may hold as it is.
    pub(crate) fn of_deploy() -> Option<Self> {
        let shipped = include_str!("../../../../deploy/kustomize/nats.conf");
        Self::with(&shipped.replace("$NODE_PASSWORD", "node/1").replace("$COMMAND_PASSWORD", "command/1"))
    }

    /// Where one of these users, `node` or `command`, reaches it.
    pub(crate) fn url_of(&self, user: &str) -> String {
        self.url().replace("nats://", &["nats://", user, ":", user, "%2F1@"].concat())
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Kills it and starts it again on the same port after `while_away`, with what it had kept on disk or without.
    pub(crate) fn restart(&mut self, keeps: bool, while_away: impl FnOnce()) {
        self.end();
        if !keeps {
            std::fs::remove_dir_all(self.folder.path().join("jetstream")).unwrap();
        }
        while_away();
        (self.running, _) = launch(&nats_program().unwrap(), &self.folder, self.port);
    }

    fn end(&mut self) {
        let _ = self.running.kill();
        let _ = self.running.wait();
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        self.end();
    }
}

/// Starts it on a port, 0 for any; gives the one that it has once it takes connections.
fn launch(program: &Path, folder: &tempfile::TempDir, port: u16) -> (Child, u16) {
    let mut command = Command::new(program);
    let wanted = if port == 0 { "-1".to_owned() } else { port.to_string() };
    command.args(["-a", "127.0.0.1", "-p", &wanted, "-js", "-sd"]).arg(folder.path());
    command.arg("-c").arg(folder.path().join(SETTINGS));
    let mut running = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(running.stderr.take().unwrap()).lines();
    let mut port = None;
    for line in lines.by_ref() {
        let line = line.unwrap();
        let listens = line.split_once("Listening for client connections on 127.0.0.1:");
        port = listens.and_then(|(_, port)| port.trim().parse().ok()).or(port);
        if line.contains("Server is ready") {
            break;
        }
    }
    // It goes on to write, and would be held up if nobody read.
    std::thread::spawn(move || lines.for_each(drop));
    let port = port.unwrap_or_else(|| panic!("it did not say where it listens"));
    wait_until("it takes connections", || std::net::TcpStream::connect(("127.0.0.1", port)).ok());
    (running, port)
}
