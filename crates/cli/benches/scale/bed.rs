//! A server of messages, nodes, servers under load, and the load that is commanded, all on this machine.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::support::Nats;

pub(crate) const BOURDON: &str = env!("CARGO_BIN_EXE_bourdon");

/// A script in the project's folder.
pub(crate) fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-euc", script]).current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).stdin(Stdio::null());
    command
}

/// Ends with its owner.
pub(crate) struct Running(pub(crate) Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What a load needs.
pub(crate) struct Bed {
    nats: Nats,
    folder: tempfile::TempDir,
    nodes: Vec<Running>,
    servers: Vec<Running>,
    /// Files that each process may have open; none for as many as this one.
    files: Option<u64>,
}

impl Bed {
    /// Whether there is a server of messages, or one can be built.
    pub(crate) fn can_be() -> bool {
        Nats::of_deploy().is_some()
    }

    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("key"), "a secret of all of them").unwrap();
        Self { nats: Nats::of_deploy().unwrap(), folder, nodes: Vec::new(), servers: Vec::new(), files: None }
    }

    /// One in which each process may have so many files open.
    pub(crate) fn limited(files: u64) -> Self {
        Self { files: Some(files), ..Self::new() }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = match self.files {
            None => Command::new(BOURDON),
            Some(files) => {
                let mut command = Command::new("prlimit");
                command.arg(format!("--nofile={files}:{files}")).arg(BOURDON);
                command
            }
        };
        command.args(arguments).env("XDG_STATE_HOME", "/dev/null").stdin(Stdio::null());
        command
    }

    /// Where a user of the server of messages reaches it, and the secret of all.
    fn link(&self, user: &str) -> [String; 2] {
        [self.nats.url_of(user), self.folder.path().join("key").display().to_string()]
    }

    /// A file in its folder.
    pub(crate) fn file(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    pub(crate) fn node(&mut self, options: &[&str]) {
        let [nats, key] = self.link("node");
        let mut command = self.command(&[&["node", "--nats", &nats, "--key", &key], options].concat());
        self.nodes.push(Running(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()));
    }

    pub(crate) fn end_nodes(&mut self) {
        self.nodes.clear();
    }

    /// Kills a node; gives when.
    pub(crate) fn kill_one(&mut self) -> SystemTime {
        let mut node = self.nodes.pop().unwrap();
        node.0.kill().unwrap();
        SystemTime::now()
    }

    /// Starts a server on a free port of an address; gives its URL.
    pub(crate) fn server(&mut self, address: &str) -> String {
        let mut command = self.command(&["specimen", "clean"]);
        command.env("PORT", "0").env("ADDRESS", address).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut server = Running(command.spawn().unwrap());
        let mut said = String::new();
        BufReader::new(server.0.stderr.take().unwrap()).read_line(&mut said).unwrap();
        let at = said.trim().rsplit(' ').next().unwrap();
        self.servers.push(server);
        format!("http://{at}/rest/hello")
    }

    pub(crate) fn restart_nats(&mut self, after: Duration) {
        self.nats.restart(true, || std::thread::sleep(after));
    }

    pub(crate) fn begin(&self, url: &str, options: &[&str]) -> Load {
        let [nats, key] = self.link("command");
        let arguments = [&["load", url, "--nodes", &nats, "--key", &key, "--format", "json"], options].concat();
        Load::begin(&mut self.command(&arguments))
    }

    pub(crate) fn load(&self, url: &str, options: &[&str]) -> Load {
        self.begin(url, options).end()
    }
}

/// A load, under way or done.
pub(crate) struct Load {
    running: Running,
    errors: BufReader<std::process::ChildStderr>,
    stderr: String,
    document: Value,
}

impl Load {
    pub(crate) fn begin(command: &mut Command) -> Self {
        let mut running = Running(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
        let errors = BufReader::new(running.0.stderr.take().unwrap());
        Self { running, errors, stderr: String::new(), document: Value::Null }
    }

    /// Waits until it says this.
    pub(crate) fn said(&mut self, words: &str) {
        while !self.stderr.contains(words) {
            let read = self.errors.read_line(&mut self.stderr).unwrap();
            assert!(read > 0, "it ended without `{words}`: {}", self.stderr);
        }
    }

    pub(crate) fn end(self) -> Self {
        self.end_with(&[0])
    }

    /// Waits for its end, which has one of these statuses.
    pub(crate) fn end_with(mut self, statuses: &[i32]) -> Self {
        let mut stdout = self.running.0.stdout.take().unwrap();
        let reading = std::thread::spawn(move || {
            let mut text = String::new();
            stdout.read_to_string(&mut text).unwrap();
            text
        });
        self.errors.read_to_string(&mut self.stderr).unwrap();
        let (text, status) = (reading.join().unwrap(), self.running.0.wait().unwrap().code());
        assert!(status.is_some_and(|status| statuses.contains(&status)), "{status:?}: {}", self.stderr);
        self.document = if text.is_empty() { Value::Null } else { serde_json::from_str(&text).unwrap() };
        self
    }

    pub(crate) fn stderr(&self) -> &str {
        &self.stderr
    }

    fn get(&self, path: &str) -> &Value {
        self.document.pointer(&format!("/{path}")).unwrap_or(&Value::Null)
    }

    pub(crate) fn count(&self, path: &str) -> u64 {
        self.get(path).as_u64().unwrap_or_else(|| panic!("no {path}"))
    }

    /// A figure of each node.
    pub(crate) fn parts(&self, name: &str) -> Vec<f64> {
        self.get("merged").as_array().unwrap().iter().map(|part| part[name].as_f64().unwrap()).collect()
    }

    /// What each node says of itself.
    pub(crate) fn texts(&self, name: &str) -> Vec<String> {
        self.get("merged").as_array().unwrap().iter().map(|part| part[name].as_str().unwrap().to_owned()).collect()
    }

    /// Waits until it says when it begins; gives that.
    pub(crate) fn begins(&mut self) -> SystemTime {
        self.said("all begin in");
        let now = SystemTime::now();
        let (_, after) = self.stderr.rsplit_once("all begin in ").unwrap();
        let (ms, unit) = after.split_once(' ').unwrap();
        assert!(unit.starts_with("ms"), "{after}");
        now + Duration::from_millis(ms.parse().unwrap())
    }

    /// Whole seconds that are left of a load of which nodes were lost; none where it brought nothing.
    pub(crate) fn partial_seconds(&self) -> u64 {
        self.get("partial/whole_seconds").as_u64().unwrap_or(0)
    }

    pub(crate) fn number(&self, path: &str) -> f64 {
        self.get(path).as_f64().unwrap_or_else(|| panic!("no {path}"))
    }
}
