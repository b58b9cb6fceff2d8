use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use lab::{CalibrationError, CalibrationStage, Calibrator, ProcessLauncher};
use model::{Calibration, GeneratorLimits, Instrument};
use observe::ProcSource;
use specimens::Kind;

use crate::args::{CalibrateArgs, CalibrateFormat};
use crate::exit::{Exit, Failure};
use crate::experiment;
use crate::home;
use crate::interrupt::flag_on_interrupt;
use crate::load::reserve_files;
use crate::output::{say, style, write_out};
use crate::progress::Steps;

/// Most connections of a calibration's loads.
const CONNECTIONS: u32 = 1_000;

/// The calibration's file in bourdon's folder of state.
const FILE: &str = "calibration.json";

/// `bourdon calibrate`.
pub(crate) fn run(args: &CalibrateArgs) -> Result<Exit, Failure> {
    reserve_files(CONNECTIONS, 1, "")?;
    let stop = flag_on_interrupt()?;
    let state = home::state()?;
    fs::create_dir_all(&state).map_err(|error| unwritable(&state, &error))?;
    let measured = measure(args, &state, &stop)?;
    let calibration = judge::judge_calibration(Calibration { instrument: instrument(), ..measured });
    let file = state.join(FILE);
    store(&calibration, &file)?;
    match args.format {
        CalibrateFormat::Json => write_out(&report::calibration_json(&calibration))?,
        CalibrateFormat::Text => {
            let distrusted: Vec<bool> = calibration.rates.iter().map(|step| judge::distrust(step).is_some()).collect();
            write_out(&report::calibration_text(&calibration, &distrusted, style()))?;
            say(format!("\nkept in {}", file.display()));
        }
    }
    Ok(if calibration.limits.is_some() { Exit::Good } else { Exit::Void })
}

fn measure(args: &CalibrateArgs, state: &Path, stop: &AtomicBool) -> Result<Calibration, Failure> {
    let cpus = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
    let responder = experiment::specimen(Kind::Clean, state);
    let launcher = ProcessLauncher { executable: home::executable()? };
    let calibrator = Calibrator {
        responder: &responder,
        launcher: &launcher,
        load: &engine::run,
        // The one with the generator's interrupts is no worse than another: both sides are on the same loopback.
        responder_cpu: (cpus > 1).then_some(0),
        generator_cpu: cpus - 1,
        window_ns: args.duration,
        folder: state,
    };
    let steps = Steps::new();
    let measured = calibrator.run(&judge::next_rate, stop, &mut |stage| steps.show(&words(stage)));
    steps.finish();
    match measured {
        Ok(Some(measured)) => Ok(measured),
        Ok(None) => Err(interrupted()),
        Err(CalibrationError::Launch(..)) if stop.load(Ordering::Relaxed) => Err(interrupted()),
        Err(error) => Err(Failure::unreachable(error)),
    }
}

fn interrupted() -> Failure {
    Failure::interrupted("interrupted; nothing was kept, an earlier calibration still holds")
}

fn words(stage: CalibrationStage) -> String {
    match stage {
        CalibrationStage::Time => "clock and sleeps".to_owned(),
        CalibrationStage::Ceiling { connections, pipeline: 1 } => format!("ceiling with {connections} connections"),
        CalibrationStage::Ceiling { connections, pipeline } => {
            format!("ceiling with {connections} connections, {pipeline} requests in flight on each")
        }
        CalibrationStage::Rate { rate_per_s } => {
            format!("open rate of {} a second", report::format::number(rate_per_s))
        }
    }
}

/// Written beside its place and then moved there, so that a kill leaves the old one or the new one.
fn store(calibration: &Calibration, file: &Path) -> Result<(), Failure> {
    let beside = file.with_extension("json.new");
    fs::write(&beside, report::calibration_json(calibration))
        .and_then(|()| fs::rename(&beside, file))
        .map_err(|error| unwritable(file, &error))
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    let path = path.display();
    Failure::usage(format!("cannot write {path}: {error}; set XDG_STATE_HOME to a folder that can be written"))
}

/// What the calibration that is kept says of one generator thread; none where there is none, or where it was made on
/// another machine, kernel or version.
pub(crate) fn stored_limits() -> Option<GeneratorLimits> {
    let text = fs::read_to_string(home::state().ok()?.join(FILE)).ok()?;
    let stored: Calibration = serde_json::from_str(&text).ok()?;
    (stored.instrument == instrument()).then_some(stored.limits)?
}

/// What measures here: this version of bourdon on this machine.
pub(crate) fn instrument() -> Instrument {
    let machine = observe::environment::read(&ProcSource::default(), Path::new("/sys"));
    Instrument {
        bourdon: env!("CARGO_PKG_VERSION").to_owned(),
        cpu: machine.cpu,
        cpus: machine.cpus,
        kernel: machine.kernel,
    }
}
