mod readiness;

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use engine::{MonotonicClock, local_port_range};
use model::{
    Clock, EndedWhen, Hint, Instead, NotReady, NotStarted, ProcessEnd, Runtime, Target, TargetEnd, TargetTls, Tls,
    TrialFailure, TrialStage, Waiting, WhyFailed,
};
use observe::Family;
use reaper::{Ended, Guarded, Order};

use crate::behind::UPSTREAM;
use crate::document;
use crate::expand::{Variables, callable, expand};
use crate::furnish::{DATA_FILE, WORK_FILE};
use crate::hint;
use crate::named::named;
use crate::placed::place_anew;
use crate::printed::tail;
use crate::scratch::{scratch_folder, sweep_scratch};
use crate::tls;

/// Targets listen from here on: above what well-known services use.
const FIRST_PORT: u16 = 10_000;

/// Ports that are tried before the error that none is free.
const PORT_TRIES: u32 = 1_000;

/// Everything a launch needs.
#[derive(Debug, Clone)]
pub struct LaunchSpec<'a> {
    /// The target.
    pub target: &'a Target,
    /// Its built file, where it has one.
    pub binary: Option<&'a Path>,
    /// The runtime it was built with.
    pub runtime: &'a Runtime,
    /// Environment that carries the settings of its cell.
    pub settings: &'a BTreeMap<String, String>,
    /// CPUs it may use; empty leaves it to the kernel.
    pub cpus: &'a [u32],
    /// Whether it is to serve TLS.
    pub tls: bool,
    /// Whether it is given `$ADMIN_PORT`, on which to serve its runtime's figures.
    pub admin: bool,
    /// Where its output goes.
    pub output: &'a Path,
}

/// Why a target does not run.
#[derive(Debug, Clone, PartialEq)]
pub enum Unlaunched {
    /// It does not start, exits, or does not get ready in time; with the last lines of its output.
    Failed(TrialFailure),
    /// What bourdon itself needs for it is missing: a file, a folder, a process, a port. That says nothing about it.
    Prevented(String),
    /// Nobody waits for it any more.
    Interrupted,
}

/// Starts targets. A test puts a fake in its place.
pub trait Launcher {
    /// Starts a target and waits until it is ready. `tell` gets what keeps it waiting, once that is known.
    ///
    /// # Errors
    /// When it does not run, by its own fault or by what is missing here.
    fn launch(
        &self,
        spec: &LaunchSpec<'_>,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(Waiting),
    ) -> Result<Box<dyn Running>, Unlaunched>;
}

/// A target that runs. Dropping it ends it.
pub trait Running {
    /// Where it listens.
    fn address(&self) -> SocketAddr;
    /// The name under which it is asked, with its port.
    fn host(&self) -> String {
        self.address().to_string()
    }
    /// How it is spoken to there, where that is TLS.
    fn tls(&self) -> Option<&Tls> {
        None
    }
    /// Where its runtime figures can be had.
    fn admin_address(&self) -> Option<SocketAddr>;
    /// Its processes; none for a fake.
    fn family(&self) -> Option<Family>;
    /// From its start to its first good answer, in milliseconds; none where nobody knows, for bourdon stood still meanwhile.
    fn time_to_ready_ms(&self) -> Option<f64>;
    /// How it ended, if it has: by itself, or with what guards it.
    fn ended(&mut self) -> Option<ProcessEnd>;
    /// Asks it to end, and does not wait for it: of several that do not end by themselves none waits for those before it.
    fn ask_to_stop(&mut self) {}
    /// Ends it with everything it started: TERM, then KILL. Returns when nothing of it runs; gives its scratch folder,
    /// where something in that cannot be removed.
    fn stop(self: Box<Self>) -> Option<PathBuf>;
}

/// Starts targets as processes, each under a reaper of its own.
#[derive(Debug, Clone)]
pub struct ProcessLauncher {
    executable: PathBuf,
}

impl ProcessLauncher {
    /// Of the running executable, whose hidden subcommand `reaper` is used. What killed launches have left goes.
    pub fn new(executable: PathBuf) -> Self {
        sweep_scratch();
        Self { executable }
    }
}

struct Process {
    guarded: Guarded,
    address: SocketAddr,
    tls: Option<Tls>,
    admin_address: Option<SocketAddr>,
    family: Family,
    time_to_ready_ms: Option<f64>,
}

impl Launcher for ProcessLauncher {
    fn launch(
        &self,
        spec: &LaunchSpec<'_>,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(Waiting),
    ) -> Result<Box<dyn Running>, Unlaunched> {
        let tried = match self.try_launch(spec, stop, tell) {
            Err(failed) if failed.bereft && !stop.load(Ordering::Relaxed) => {
                tell(Waiting::Again);
                self.try_launch(spec, stop, tell)
            }
            tried => tried,
        };
        match tried {
            Ok(process) => Ok(Box::new(process)),
            Err(failed) => Err(failed.why.of_launch(spec, failed.waited_ns)),
        }
    }
}

/// A launch that came to nothing.
struct Failed {
    why: Unready,
    waited_ns: u64,
    /// Whether somebody took away what guarded it. Where the target did that itself, it does so each time.
    bereft: bool,
}

/// Why a process is not ready.
enum Unready {
    /// Something is missing here.
    Here(String),
    /// Nobody waits for it any more.
    Interrupted,
    /// It was not started, as the system says.
    NotStarted(String),
    /// It runs, and does not answer as it should.
    Not {
        seen: Instead,
        /// In so long; none where no waiting mends that.
        within_ns: Option<u64>,
        /// Whether somebody has ever heard it on its port.
        heard: bool,
    },
    /// It ended; whether somebody had heard it there.
    Ended(ProcessEnd, bool),
}

impl Unready {
    /// Of a process that came to an end; whether somebody had heard it on its port.
    fn of_end(ended: Ended, heard: bool) -> Self {
        match ended {
            Ended::Unguarded(why) => Unready::Here(why),
            Ended::NotStarted(why) => Unready::NotStarted(why),
            Ended::Ran(how) => Unready::Ended(how, heard),
        }
    }

    /// Of a launch, after its target was waited for so long.
    fn of_launch(self, spec: &LaunchSpec<'_>, waited_ns: u64) -> Unlaunched {
        let recipe = &spec.target.launch;
        let output = tail(spec.output);
        let is_given = spec.tls && spec.target.tls == Some(TargetTls::Given);
        let certificate = || hint::certificate(recipe, &output).filter(|_| !is_given);
        let hints = |hint: Option<Hint>| -> Vec<Hint> { hint.into_iter().chain(certificate()).collect() };
        let shell = || hint::shell(&recipe.run).map(Hint::Shell);
        let (stage, why): (_, WhyFailed) = match self {
            Unready::Here(text) => return Unlaunched::Prevented(text),
            Unready::Interrupted => return Unlaunched::Interrupted,
            Unready::NotStarted(error) => (TrialStage::Launch, NotStarted { error, hints: hints(shell()) }.into()),
            Unready::Not { seen, within_ns, heard } => {
                // That it is not told its port is not why one that was heard there is not ready.
                let hints = hints(if heard { shell() } else { hint::server(recipe) });
                (TrialStage::Ready, NotReady { seen, within_ns, hints }.into())
            }
            Unready::Ended(how, heard) => {
                let hint = hint::ended(how, recipe, heard || !output.is_empty());
                let is_its_own = matches!(how, ProcessEnd::Exited(_));
                let hints = if is_its_own { hints(hint) } else { hint.into_iter().collect() };
                (TrialStage::Ready, TargetEnd { how, when: EndedWhen::BeforeReady, hints }.into())
            }
        };
        let waited_ms = Some(waited_ns / 1_000_000);
        Unlaunched::Failed(TrialFailure { stage, why, output, waited_ms })
    }
}

impl ProcessLauncher {
    fn try_launch(
        &self,
        spec: &LaunchSpec<'_>,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(Waiting),
    ) -> Result<Process, Failed> {
        let named = named(&spec.target.launch);
        place_anew(named.iter().map(|(_, path)| path.as_path()).chain(spec.binary));
        let start_ns = MonotonicClock.now_ns();
        let failed = |why, bereft| Failed { why, bereft, waited_ns: MonotonicClock.now_ns().saturating_sub(start_ns) };
        let mut process = self.start(spec).map_err(|why| failed(why, false))?;
        match process.wait_until_ready(&spec.target.launch, stop, tell) {
            Ok(()) => Ok(process),
            Err(why) => Err(failed(why, process.guarded.is_bereft())),
        }
    }

    fn start(&self, spec: &LaunchSpec<'_>) -> Result<Process, Unready> {
        let (port, admin_port) = free_ports().map_err(|error| Unready::Here(format!("no port can be had: {error}")))?;
        // The reaper makes it and removes it, for it outlives even a bourdon that is killed.
        let scratch = scratch_folder();
        let tls = spoken(spec).map_err(Unready::Here)?;
        let is_given = tls.is_some() && spec.target.tls == Some(TargetTls::Given);
        let files = is_given.then(|| tls::variables(&scratch)).transpose().map_err(Unready::Here)?;
        let mut variables = self.variables(spec, port, admin_port, &scratch);
        variables.extend(files.iter().flatten().filter(|(name, _)| tls::GIVEN_FILES.contains(name)).cloned());
        let words = spec.target.launch.run.iter().map(|word| expand(word, &variables).into()).collect();
        let order = Order::new(words, spec.cpus, Some(&scratch));
        let output = document::open_or_make(spec.output, OpenOptions::new().write(true).truncate(true))
            .map_err(|error| Unready::Here(format!("nothing can be kept of what it prints: {error}")))?;
        let guarded = Guarded::start(&self.executable, &order, output, |command| {
            command.current_dir(&spec.target.launch.cwd);
            // What bourdon itself happens to have of the kind is not for the target.
            for name in tls::VARIABLES {
                command.env_remove(name);
            }
            // Nor is a setting, whose level is what the record says.
            for setting in spec.target.settings.values() {
                command.env_remove(&setting.env);
            }
            command.envs(spec.target.launch.env.iter().map(|(name, value)| (name, expand(value, &variables))));
            command.envs(&spec.runtime.env).envs(spec.settings);
            command.env("PORT", port.to_string());
            match spec.admin {
                true => command.env("ADMIN_PORT", admin_port.to_string()),
                false => command.env_remove("ADMIN_PORT"),
            };
            command.env("SCRATCH", &scratch);
            command.env("DATA_FILE", scratch.join(DATA_FILE)).env("WORK_FILE", scratch.join(WORK_FILE));
            command.envs(files.iter().flatten().map(|(name, value)| (name, value)));
        });
        let guarded = guarded.map_err(|ended| Unready::of_end(ended, false))?;
        let address = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        Ok(Process {
            guarded,
            address: address(port),
            tls,
            admin_address: spec.admin.then(|| address(admin_port)),
            family: Family::of(0),
            time_to_ready_ms: None,
        })
    }

    fn variables(&self, spec: &LaunchSpec<'_>, port: u16, admin_port: u16, scratch: &Path) -> Variables {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let mut variables = Variables::from([
            ("PORT", port.to_string()),
            ("ADMIN_PORT", admin_port.to_string()),
            ("BOURDON", text(&callable(&self.executable))),
            ("SCRATCH", text(scratch)),
        ]);
        variables.extend(spec.binary.map(|binary| ("TARGET_BIN", text(binary))));
        variables.extend(spec.settings.get(UPSTREAM).map(|address| (UPSTREAM, address.clone())));
        variables
    }
}

impl Running for Process {
    fn address(&self) -> SocketAddr {
        self.address
    }

    fn tls(&self) -> Option<&Tls> {
        self.tls.as_ref()
    }

    fn admin_address(&self) -> Option<SocketAddr> {
        self.admin_address
    }

    fn family(&self) -> Option<Family> {
        Some(self.family)
    }

    fn time_to_ready_ms(&self) -> Option<f64> {
        self.time_to_ready_ms
    }

    fn ended(&mut self) -> Option<ProcessEnd> {
        match self.guarded.ended()? {
            Ended::Ran(how) => Some(*how),
            // It was ready, so it ran.
            Ended::NotStarted(_) | Ended::Unguarded(_) => Some(ProcessEnd::Unknown),
        }
    }

    fn ask_to_stop(&mut self) {
        self.guarded.ask_to_end();
    }

    fn stop(mut self: Box<Self>) -> Option<PathBuf> {
        self.guarded.end();
        self.guarded.left().map(Path::to_owned)
    }
}

/// How a target is to be spoken to, where that is TLS.
fn spoken(spec: &LaunchSpec<'_>) -> Result<Option<Tls>, String> {
    let no_tls = || format!("`{}` does not say that it can serve TLS", spec.target.name);
    spec.tls.then(|| tls::spoken(spec.target.tls.as_ref().ok_or_else(no_tls)?)).transpose()
}

/// Two ports that nothing listens on now, and that no outgoing connection takes before a slow target listens: below
/// the range from which the kernel gives those away, at random, for another bourdon may be looking too.
fn free_ports() -> std::io::Result<(u16, u16)> {
    let first_given_away = local_port_range().map_or(FIRST_PORT, |range| *range.start());
    let mut listeners = Vec::new();
    for _ in 0..PORT_TRIES {
        let port = if first_given_away > FIRST_PORT { fastrand::u16(FIRST_PORT..first_given_away) } else { 0 };
        match TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            Err(error) if error.kind() == ErrorKind::AddrInUse => {}
            bound => listeners.push(bound?),
        }
        if let [one, other] = &listeners[..] {
            return Ok((one.local_addr()?.port(), other.local_addr()?.port()));
        }
    }
    Err(ErrorKind::AddrInUse.into())
}
