use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::outcome::kinds;
use crate::{NS_PER_S, Trust};

/// A server under test and how to build, launch and recognise it. Paths are absolute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// The word used in experiments.
    pub name: String,
    /// Name for people.
    pub title: String,
    /// Implementation language.
    #[serde(default)]
    pub language: String,
    /// Framework and version.
    #[serde(default)]
    pub framework: String,
    /// One sentence.
    #[serde(default)]
    pub about: String,
    /// Set when this is bourdon's own model of something that no longer runs; said wherever it appears.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reconstruction: Option<String>,
    /// The endpoints of the contract that it serves, where it does not serve all; empty stands for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub serves: Vec<String>,
    /// The tool without which it cannot be built.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toolchain: Option<Toolchain>,
    /// How it is built; absent when there is nothing to build.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<BuildRecipe>,
    /// How it is launched.
    pub launch: LaunchRecipe,
    /// How it serves TLS where a cell asks for that; none where it cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<TargetTls>,
    /// Settings it understands, by factor name.
    #[serde(default)]
    pub settings: BTreeMap<String, Setting>,
    /// Runtimes it can be built with, by name.
    #[serde(default)]
    pub runtimes: BTreeMap<String, Runtime>,
}

impl Target {
    /// A target of which nothing is known but its name and how it is launched.
    pub fn of(name: &str, launch: LaunchRecipe) -> Target {
        Target {
            name: name.to_owned(),
            title: name.to_owned(),
            language: String::new(),
            framework: String::new(),
            about: String::new(),
            reconstruction: None,
            serves: Vec::new(),
            tls: None,
            toolchain: None,
            build: None,
            launch,
            settings: BTreeMap::new(),
            runtimes: BTreeMap::new(),
        }
    }

    /// Whether it serves an endpoint of the contract, named as there: `/hello/:name`.
    pub fn serves(&self, endpoint: &str) -> bool {
        self.serves.is_empty() || self.serves.iter().any(|served| served == endpoint)
    }

    /// The environment of a runtime; none is known of the toolchain on PATH unless the target says so.
    pub fn runtime(&self, name: &str) -> Runtime {
        self.runtimes.get(name).cloned().unwrap_or_default()
    }
}

/// What a target is, by its own description.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetInfo {
    /// The target.
    pub target: String,
    /// Framework and version; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub framework: String,
    /// One sentence.
    pub about: String,
}

/// The endpoint that names what serves a request.
pub const WHOAMI: &str = "/whoami";

/// The endpoints of targets/CONTRACT.md.
pub const ENDPOINTS: [&str; 11] = [
    "/",
    "/rest/hello",
    "/index",
    "/hello/:name",
    "/user/:id",
    "/ping",
    "/submit",
    "/hash",
    WHOAMI,
    "/work",
    "/metrics",
];

/// The runtime that stands for the toolchain on PATH.
pub const CURRENT_RUNTIME: &str = "current";

/// How a target serves TLS. Where no cell asks for it, it is launched without `TLS_CERT` and `TLS_KEY` and serves plainly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetTls {
    /// With the certificate and the key that it is given as the files `TLS_CERT` and `TLS_KEY` name.
    Given,
    /// With a certificate of its own, which is checked like this.
    Own(Trust),
}

/// A tool looked for on PATH.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Toolchain {
    /// Its command.
    pub command: String,
    /// The command line that prints its version.
    pub version: String,
    /// Where to get it.
    pub get: String,
}

/// How a target is built.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildRecipe {
    /// Words of the command; `$TARGET_BIN` stands for the file to make.
    pub run: Vec<String>,
    /// Where it runs.
    pub cwd: PathBuf,
    /// Files and folders that the result depends on.
    #[serde(default)]
    pub inputs: Vec<PathBuf>,
    /// Additional environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}

/// How a target is launched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchRecipe {
    /// Words of the command; `$PORT`, `$ADMIN_PORT` and `$TARGET_BIN` are filled in.
    pub run: Vec<String>,
    /// Where it runs.
    pub cwd: PathBuf,
    /// Additional environment; values may use the same variables.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Path that answers 2xx or 3xx once the target is ready; empty where nobody named one: then `/` answers, with any status below 500.
    pub ready: String,
    /// Path on `$ADMIN_PORT` under which the runtime tells of itself in the Prometheus text format; none where it does
    /// not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metrics: Option<String>,
    /// How long it may take until then, in nanoseconds.
    #[serde(default = "default_ready_within_ns")]
    pub ready_within_ns: u64,
    /// How long it must be under load to be warm, in nanoseconds: compiled, its pool filled. 0 where it does not say.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub warm_within_ns: u64,
}

fn is_zero(ns: &u64) -> bool {
    *ns == 0
}

/// How long a target may take to become ready unless it says otherwise: a JVM on a busy machine needs tens of seconds.
pub const READY_WITHIN_NS: u64 = 60 * NS_PER_S;

fn default_ready_within_ns() -> u64 {
    READY_WITHIN_NS
}

/// A setting a target understands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// Environment variable that carries it.
    pub env: String,
    /// What its values are.
    #[serde(rename = "type")]
    pub kind: SettingKind,
    /// Value when nothing is asked.
    #[serde(default)]
    pub default: String,
    /// All that it may be, of a text of which that is known; else empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
}

/// The setting that says who makes the JSON of a reply.
pub const RENDERING: &str = "rendering";

/// The setting that says whose code makes the digests of a target, by its name.
pub const DIGEST: &str = "digest";

/// The setting that says which kind of work a target does, by its name.
pub const WORK: &str = "work";

kinds! {
    /// What a target at work does for a request.
    WorkKind {
        /// It waits.
        Sleep = "sleep",
        /// It computes.
        Cpu = "cpu",
        /// It reads a file.
        File = "file",
        /// It asks an embedded database.
        Sqlite = "sqlite",
        /// It asks another server.
        Http = "http",
    }
}

/// What the values of a setting are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SettingKind {
    /// A duration with a unit.
    Duration,
    /// A whole number.
    Integer,
    /// Any text.
    Text,
}

/// A runtime a target can be built and launched with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runtime {
    /// Environment that selects it, for the build and the launch.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}
