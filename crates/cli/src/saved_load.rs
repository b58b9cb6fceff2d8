//! Files that `bourdon load -o FILE` saved.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use ::report::Partial;
use ::report::format::counted;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use engine::{Brought, MonotonicClock};
use jiff::Timestamp;
use model::{
    Accounting, AskedLoad, Awaited, Clock, ConnectionCounts, FailureCount, GeneratorUse, Instrument, Interval,
    Latencies, Load, Measurement, Mix, ReplyExpectation, Request, Residence, Silence, Standstills, ThreadUse, TlsUse,
    WindowCount, WrongReply,
};
use serde::Deserialize;

use crate::bounded;
use crate::exit::Failure;
use crate::request::OK;

/// Largest file that is read: the seconds of a month.
const LONGEST: u64 = 64 << 20;

/// Schema of loads whose reasons are in words: figures are all that is read here.
const EARLIER_SCHEMA: &str = "bourdon.load/1";

/// What each file begins with.
#[derive(Deserialize)]
struct Head {
    schema: String,
}

/// One file: what a trial's measurement holds, too, and what was asked for.
#[derive(Deserialize)]
pub(crate) struct Saved {
    #[serde(default)]
    pub(crate) url: String,
    #[serde(deserialize_with = "model::read_moment")]
    pub(crate) started_at: Timestamp,
    #[serde(default)]
    pub(crate) instrument: Instrument,
    pub(crate) load: AskedLoad,
    pub(crate) window_s: f64,
    interrupted: bool,
    accounting: Accounting,
    failures: Vec<FailureCount>,
    #[serde(default)]
    bad_statuses: BTreeMap<u16, u64>,
    first_wrong: Option<WrongReply>,
    in_window: WindowCount,
    latency_us: Latencies,
    standstills: Option<Standstills>,
    #[serde(default)]
    silences: Vec<Silence>,
    answered_until_s: Option<f64>,
    slowest_reply_s: Option<f64>,
    #[serde(default)]
    awaited: Vec<Awaited>,
    residence: Residence,
    generator: Generator,
    connections: ConnectionCounts,
    tls: Option<TlsUse>,
    intervals: Vec<Interval>,
    /// Where nodes that made it were lost.
    partial: Option<Partial>,
    /// Where it is not the one load that was asked of nodes: why.
    not_one_load: Option<String>,
    /// What it takes to be put together with others; none in older files.
    part: Option<String>,
}

/// What the generator used; its threads are called otherwise there than in a trial.
#[derive(Deserialize)]
struct Generator {
    thread_use: Vec<ThreadUse>,
}

impl From<Saved> for Measurement {
    fn from(saved: Saved) -> Self {
        Measurement {
            window_s: saved.window_s,
            interrupted: saved.interrupted,
            accounting: saved.accounting,
            failures: saved.failures,
            bad_statuses: saved.bad_statuses,
            first_wrong: saved.first_wrong,
            // A saved load has a single request, and no network delay.
            by_request: Vec::new(),
            in_window: saved.in_window,
            latency_us: saved.latency_us,
            standstills: saved.standstills,
            silences: saved.silences,
            answered_until_s: saved.answered_until_s,
            slowest_reply_s: saved.slowest_reply_s,
            awaited: saved.awaited,
            residence: saved.residence,
            generator: GeneratorUse { threads: saved.generator.thread_use, network_delay: None, backend: None },
            connections: saved.connections,
            tls: saved.tls,
            steps: saved.intervals,
        }
    }
}

impl Saved {
    /// Of a load that is not what was asked of those who made it: why, and what the figures are of then.
    pub(crate) fn flaw(&self, path: &Path) -> Option<String> {
        if let Some(why) = &self.not_one_load {
            return Some(format!(
                "{} is not the load that was asked for: {}",
                path.display(),
                why.replace(char::is_control, " ")
            ));
        }
        let Partial { whole_seconds, lost } = self.partial.as_ref()?;
        let names: Vec<String> = lost.iter().map(|it| ::report::node_name(&it.host, &it.node)).collect();
        Some(format!(
            "{} is of a load that lost {} ({}), and its figures are of its first {} alone",
            path.display(),
            counted(lost.len() as u64, "node", "nodes"),
            names.join(", "),
            counted(*whole_seconds, "second", "seconds")
        ))
    }

    /// What it takes to be put together with others.
    ///
    /// # Errors
    /// When it was saved by an older version, or is not what was saved.
    pub(crate) fn brought(&self, path: &Path) -> Result<Brought, Failure> {
        let file = path.display();
        let Some(part) = &self.part else {
            return Err(Failure::usage(format!(
                "{file} does not hold the distributions that it takes to be merged (`part`); save the load again with bourdon load -o"
            )));
        };
        let bytes = STANDARD.decode(part).map_err(|error| foreign(path, &format!("`part`: {error}")))?;
        Brought::from_bytes(&bytes).map_err(|error| foreign(path, &format!("`part`: {error}")))
    }
}

/// This moment on the clock of the day and on the engine's, in nanoseconds.
pub(crate) fn now() -> (Timestamp, u64) {
    (Timestamp::now(), MonotonicClock.now_ns())
}

/// What a load brought on the engine's clock, as it is saved with it: on the clock of the day, in nanoseconds since 1970, by a moment on both. Two
/// processes of one machine then agree on when it was, and two machines as far as their clocks do.
pub(crate) fn encoded(brought: Brought, (day, engine_ns): (Timestamp, u64)) -> String {
    let by_ns = day.as_nanosecond() - i128::from(engine_ns);
    encoded_as_it_is(&brought.moved(i64::try_from(by_ns).unwrap_or(0)))
}

/// The same of one that is on that clock already.
pub(crate) fn encoded_as_it_is(brought: &Brought) -> String {
    STANDARD.encode(brought.to_bytes())
}

/// Reads a saved load.
///
/// # Errors
/// When it cannot be read, or is none.
pub(crate) fn saved(path: &Path) -> Result<Saved, Failure> {
    let unreadable = |error: &dyn std::fmt::Display| Failure::usage(format!("cannot read {}: {error}", path.display()));
    let mut text = String::new();
    let file = bounded::open(path).map_err(|error| unreadable(&error))?;
    file.take(LONGEST + 1).read_to_string(&mut text).map_err(|error| unreadable(&error))?;
    if text.len() as u64 > LONGEST {
        return Err(foreign(path, "it is larger than 64 MiB"));
    }
    let why = |error: serde_json::Error| match error.is_data() {
        true => error.to_string(),
        false => format!("line {}, column {} is not of one", error.line(), error.column()),
    };
    let Head { schema } = serde_json::from_str(&text).map_err(|error| foreign(path, &why(error)))?;
    if ![report::LOAD_SCHEMA, EARLIER_SCHEMA].contains(&schema.as_str()) {
        return Err(foreign(path, &format!("its schema is `{schema}`, not `{}`", report::LOAD_SCHEMA)));
    }
    serde_json::from_str(&text).map_err(|error| foreign(path, &why(error)))
}

/// Why a file is not a saved load.
pub(crate) fn foreign(path: &Path, why: &str) -> Failure {
    Failure::usage(format!("{} is not a saved load: {why}; save one with bourdon load -o FILE", path.display()))
}

/// What was asked, as the load of a plan: without headers and bodies, which a document does not keep whole. Or why it can be none.
pub(crate) fn load_of(asked: &AskedLoad) -> Result<Load, String> {
    let times = [("timeout_s", asked.timeout_s), ("warm_up_s", Some(asked.warm_up_s)), ("window_s", asked.window_s)];
    if let Some((name, seconds)) = times.into_iter().find(|(_, seconds)| seconds.is_some_and(|it| it < 0.0)) {
        return Err(format!("`load.{name}` is {}: a time is not negative", seconds.unwrap_or_default()));
    }
    let request = Request { method: asked.method.clone(), ..Request::get(&asked.path) };
    Ok(Load {
        mix: Mix::one(request, ReplyExpectation { status: Some(OK), body: None }),
        model: asked.model,
        connections: asked.connections,
        pipeline: asked.pipeline,
        keep_alive: asked.keep_alive,
        timeout_ns: asked.timeout_ns(),
        network_delay_ns: 0,
        warm_up_ns: asked.warm_up_ns(),
        extent: asked.extent().ok_or("it says neither for how long it was to be measured nor how many requests")?,
    })
}
