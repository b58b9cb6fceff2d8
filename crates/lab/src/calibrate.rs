//! Measures the instrument itself: its clock, its sleeps, and what one generator thread can do against a server that
//! does nothing but answer.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::{LoadError, RunOptions, clock_precision, sleep_error};
use jiff::Zoned;
use model::{
    Arrivals, CALIBRATION_SCHEMA, Calibration, Ceiling, Extent, HttpVersion, LateCause, Load, LoadModel, LoadSpec,
    Measurement, Mix, RateStep, ReplyExpectation, Request, Runtime, SleepError, Target,
};

use crate::launch::{LaunchSpec, Launcher, Unlaunched};
use crate::trial::Loader;

/// Readings of the clock: 20 ms of them.
const CLOCK_READINGS: u64 = 1_000_000;

/// Lengths of sleep, in nanoseconds, and how often each: between the dues of 20,000, 1,000 and 100 requests a second.
const SLEEPS: [(u64, u64); 3] = [(50_000, 4_000), (1_000_000, 600), (10_000_000, 60)];

/// Shapes of the closed loads: (connections, requests in flight on each).
const SHAPES: [(u32, u16); 3] = [(100, 1), (1_000, 1), (100, 16)];

/// Connections of the open loads.
const RATE_CONNECTIONS: u32 = 100;

/// What the null responder answers.
const PATH: &str = "/rest/hello";
const BODY: &[u8] = b"Hello world";

/// Part of each load that is not measured, of its window.
const WARM_UP: u64 = 5;

/// What is measured next, for progress.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CalibrationStage {
    /// The clock and the sleeps.
    Time,
    /// A closed load.
    Ceiling {
        /// Connections.
        connections: u32,
        /// Requests in flight on each.
        pipeline: u16,
    },
    /// An open load.
    Rate {
        /// Requests a second.
        rate_per_s: f64,
    },
}

/// Why the instrument could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum CalibrationError {
    /// The null responder did not start.
    #[error("the null responder cannot be launched: {0}\n{1}")]
    Launch(String, String),
    /// The generator could not run.
    #[error(transparent)]
    Load(#[from] LoadError),
}

impl From<Unlaunched> for CalibrationError {
    fn from(why: Unlaunched) -> Self {
        match why {
            Unlaunched::Failed(failure) => CalibrationError::Launch(failure.text, failure.output),
            Unlaunched::Prevented(text) => CalibrationError::Launch(text, String::new()),
        }
    }
}

/// What a calibration is made with.
pub struct Calibrator<'a> {
    /// The null responder.
    pub responder: &'a Target,
    /// Starts it.
    pub launcher: &'a dyn Launcher,
    /// Makes load.
    pub load: Loader<'a>,
    /// Its CPU; none leaves it to the kernel.
    pub responder_cpu: Option<u32>,
    /// The generator's CPU.
    pub generator_cpu: u32,
    /// Window of each load.
    pub window_ns: u64,
    /// A folder for the responder's output.
    pub folder: &'a Path,
}

impl Calibrator<'_> {
    /// Measures everything. `next_rate` says, from the open loads made so far, at which rate to make the next; none
    /// ends it. Gives none when `stop` was set before the end. What follows from the figures is left to be judged.
    ///
    /// # Errors
    /// When the responder or the generator cannot run.
    pub fn run(
        &self,
        next_rate: &dyn Fn(&[RateStep]) -> Option<f64>,
        stop: &AtomicBool,
        progress: &mut dyn FnMut(CalibrationStage),
    ) -> Result<Option<Calibration>, CalibrationError> {
        progress(CalibrationStage::Time);
        let mut made = Calibration {
            schema: CALIBRATION_SCHEMA.to_owned(),
            measured_at: Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
            responder_cpu: self.responder_cpu,
            generator_cpu: self.generator_cpu,
            clock: clock_precision(CLOCK_READINGS),
            sleep: self.sleeps()?,
            ..Calibration::default()
        };
        let runtime = Runtime::default();
        let cpus: Vec<u32> = self.responder_cpu.into_iter().collect();
        let spec = LaunchSpec {
            target: self.responder,
            binary: None,
            runtime: &runtime,
            settings: &BTreeMap::new(),
            cpus: &cpus,
            tls: false,
            output: &self.folder.join("responder.log"),
        };
        let responder = self.launcher.launch(&spec, stop, &mut |_| ())?;
        let loaded = self.loads(responder.address(), next_rate, stop, progress, &mut made);
        responder.stop();
        loaded?;
        Ok((!stop.load(Ordering::Relaxed)).then_some(made))
    }

    fn sleeps(&self) -> Result<Vec<SleepError>, LoadError> {
        SLEEPS.iter().map(|(asked_ns, count)| sleep_error(*asked_ns, *count, self.generator_cpu)).collect()
    }

    fn loads(
        &self,
        address: SocketAddr,
        next_rate: &dyn Fn(&[RateStep]) -> Option<f64>,
        stop: &AtomicBool,
        progress: &mut dyn FnMut(CalibrationStage),
        made: &mut Calibration,
    ) -> Result<(), LoadError> {
        for (connections, pipeline) in SHAPES {
            progress(CalibrationStage::Ceiling { connections, pipeline });
            let measured = self.measure(address, LoadModel::Closed, connections, pipeline, stop)?;
            made.ceilings.push(ceiling(connections, pipeline, &measured));
        }
        while let Some(rate_per_s) = next_rate(&made.rates).filter(|_| !stop.load(Ordering::Relaxed)) {
            progress(CalibrationStage::Rate { rate_per_s });
            let model = LoadModel::Open { rate_per_s, arrivals: Arrivals::Constant };
            let measured = self.measure(address, model, RATE_CONNECTIONS, 1, stop)?;
            made.rates.push(rate_step(rate_per_s, &measured));
        }
        Ok(())
    }

    fn measure(
        &self,
        address: SocketAddr,
        model: LoadModel,
        connections: u32,
        pipeline: u16,
        stop: &AtomicBool,
    ) -> Result<Measurement, LoadError> {
        let spec = LoadSpec {
            load: Load {
                mix: Mix::one(
                    Request {
                        method: "GET".to_owned(),
                        path: PATH.to_owned(),
                        host: address.to_string(),
                        headers: Vec::new(),
                        body: Vec::new(),
                        version: HttpVersion::Http11,
                    },
                    ReplyExpectation { status: Some(200), body: Some(BODY.to_vec()) },
                ),
                model,
                connections,
                pipeline,
                keep_alive: true,
                timeout_ns: None,
                warm_up_ns: self.window_ns / WARM_UP,
                extent: Extent::Window(self.window_ns),
                network_delay_ns: 0,
            },
            address,
            start_spread_ns: 0,
            threads: 1,
            cpus: vec![self.generator_cpu],
            seed: 1,
            sources: Vec::new(),
            tls: None,
            spin: false,
        };
        Ok((self.load)(&spec, RunOptions::default(), stop, &mut |_| {})?.measurement)
    }
}

fn ceiling(connections: u32, pipeline: u16, measured: &Measurement) -> Ceiling {
    Ceiling {
        connections,
        pipeline,
        requests_per_s: measured.requests_per_s(),
        cpu_us_per_request: measured.generator_cpu_us_per_request(),
        busy: measured.generator.busiest_thread(),
    }
}

fn rate_step(rate_per_s: f64, measured: &Measurement) -> RateStep {
    let books = &measured.accounting;
    let late = |cause| books.sent_late.get(&cause).copied().unwrap_or(0);
    let lateness = measured.latency_us.lateness.as_ref();
    RateStep {
        rate_per_s,
        scheduled: books.scheduled,
        sent: books.sent,
        late_generator: late(LateCause::Generator),
        late_no_connection: late(LateCause::NoConnection),
        lateness_p50_us: lateness.and_then(|lateness| lateness.p50),
        lateness_p99_us: lateness.and_then(|lateness| lateness.p99),
        cpu_us_per_request: measured.generator_cpu_us_per_request(),
        busy: measured.generator.busiest_thread(),
    }
}
