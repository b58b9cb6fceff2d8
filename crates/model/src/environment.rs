use std::collections::BTreeMap;

use jiff::Zoned;
use serde::{Deserialize, Serialize};

/// Schema number of `environment.json`.
pub const ENVIRONMENT_SCHEMA: &str = "bourdon.environment/1";

/// The machine and the software a run was made with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Version of this document's shape.
    pub schema: String,
    /// When the run began, RFC 3339 with offset.
    #[serde(with = "crate::moment::local")]
    pub started_at: Zoned,
    /// Version of bourdon.
    pub bourdon: String,
    /// The command line as typed.
    pub command_line: Vec<String>,
    /// CPU model.
    pub cpu: String,
    /// CPUs online.
    pub cpus: u32,
    /// Frequency governor, where there is one.
    pub governor: Option<String>,
    /// Whether simultaneous multithreading is on, where the kernel says.
    pub smt: Option<bool>,
    /// Total memory in bytes.
    pub memory_bytes: u64,
    /// Kernel release.
    pub kernel: String,
    /// Limit of open files.
    pub open_files: u64,
    /// Kernel settings that matter, by name; those that cannot be read are missing.
    pub sysctls: BTreeMap<String, String>,
    /// Version of each target's toolchain, by target.
    pub toolchains: BTreeMap<String, String>,
    /// Digest of what each target's build made, by target; missing in records of earlier versions.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub programs: BTreeMap<String, String>,
    /// Names of environment variables that runtimes obey and that were set: every server had them. Records of earlier versions do not tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<String>,
}
