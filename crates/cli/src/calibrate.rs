use std::path::Path;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use lab::{
    CalibrationError, CalibrationStage, Calibrator, LabError, ProcessLauncher, create_folder_durably, read_json,
    write_durably,
};
use model::{CALIBRATION_SCHEMA, Calibration, GeneratorLimits, Instrument};
use observe::ProcSource;
use specimens::Kind;

use crate::args::{CalibrateArgs, CalibrateFormat};
use crate::exit::{Exit, Failure};
use crate::experiment;
use crate::home;
use crate::interrupt::flag_on_interrupt;
use crate::open_files::reserve_files;
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
    let file = state.join(FILE);
    let possible = create_folder_durably(&state);
    possible
        .unwrap_or_else(|error| say(format!("note: what is measured will be shown, and {}", unkept(&state, &error))));
    let scratch =
        tempfile::tempdir().map_err(|error| Failure::usage(format!("{error}; set TMPDIR to another folder")))?;
    let measured = measure(args, scratch.path(), &stop)?;
    let calibration = judge::judge_calibration(Calibration { instrument: instrument(), ..measured });
    show(&calibration, args.format)?;
    store(&calibration, &file)?;
    if args.format == CalibrateFormat::Text {
        say(format!("\nkept in {}", file.display()));
    }
    Ok(if calibration.limits.is_some() { Exit::Good } else { Exit::Void })
}

fn show(calibration: &Calibration, format: CalibrateFormat) -> Result<(), Failure> {
    let distrusted: Vec<bool> = calibration.rates.iter().map(|step| judge::distrust(step).is_some()).collect();
    write_out(&match format {
        CalibrateFormat::Json => report::calibration_json(calibration),
        CalibrateFormat::Text => report::calibration_text(calibration, &distrusted, style()),
    })
}

fn measure(args: &CalibrateArgs, folder: &Path, stop: &AtomicBool) -> Result<Calibration, Failure> {
    let cpus = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
    let responder = experiment::specimen(Kind::Clean, folder);
    let launcher = ProcessLauncher { executable: home::executable() };
    let calibrator = Calibrator {
        responder: &responder,
        launcher: &launcher,
        load: &engine::run,
        // The one with the generator's interrupts is no worse than another: both sides are on the same loopback.
        responder_cpu: (cpus > 1).then_some(0),
        generator_cpu: cpus - 1,
        window_ns: args.duration,
        folder,
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

fn store(calibration: &Calibration, file: &Path) -> Result<(), Failure> {
    create_folder_durably(file.parent().unwrap_or(file))
        .and_then(|()| write_durably(file, report::calibration_json(calibration).as_bytes()))
        .map_err(|error| Failure::usage(unkept(file, &error)))
}

fn unkept(path: &Path, error: &std::io::Error) -> String {
    let (path, why) = (path.display(), lab::why(error));
    format!("not kept in {path}: {why}; set XDG_STATE_HOME to a folder that can be written")
}

/// What the calibration that is kept says of one generator thread; none where there is none, or where it was made on
/// another machine, kernel or version.
pub(crate) fn stored_limits() -> Option<GeneratorLimits> {
    let file = home::state().ok()?.join(FILE);
    let stored = read_calibration(&file).unwrap_or_else(|error| {
        say(format!("note: the stored calibration is ignored: {error}; make another with bourdon calibrate"));
        None
    })?;
    let why = unusable(&stored, &instrument());
    if let Some(why) = &why {
        static SAID: Once = Once::new();
        SAID.call_once(|| say(format!("note: {why}; make another with bourdon calibrate")));
    }
    stored.limits.filter(|_| why.is_none())
}

/// Why nothing can be taken from a calibration here.
fn unusable(stored: &Calibration, here: &Instrument) -> Option<String> {
    let date: String = stored.measured_at.chars().take(10).collect();
    if stored.instrument != *here {
        return Some(format!(
            "the calibration of {date} was made on another machine or kernel, or by another version of bourdon, so the \
             generator's limits are not known here"
        ));
    }
    stored.limits.is_none().then(|| {
        format!(
            "the calibration of {date} found no open rate that can be trusted, so the generator's limits are not known; \
             look for what else runs on this machine"
        )
    })
}

fn read_calibration(file: &Path) -> Result<Option<Calibration>, LabError> {
    match read_json(file, CALIBRATION_SCHEMA) {
        Err(error) if error.is_missing() => Ok(None),
        read => read.map(Some),
    }
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
