use std::path::Path;
use std::sync::Once;
use std::sync::atomic::AtomicBool;

use jiff::Zoned;
use judge::CalibrationPlanner;
use lab::{
    LabError, Perf, Prepared, ProcessLauncher, RunFolder, Session, SessionEnd, TrialTools, create_folder_durably,
    read_json, write_durably,
};
use model::{
    Addition, CALIBRATION_SCHEMA, Calibration, ENVIRONMENT_SCHEMA, Environment, Event, Fault, GeneratorLimits,
    Instrument, Load, Mix, Plan, ReplyExpectation, Request,
};
use observe::ProcSource;
use specimens::Kind;

use crate::args::{CalibrateArgs, CalibrateFormat, seed};
use crate::exit::{Exit, Failure};
use crate::experiment::{self, GeneratorAsked, Machine, OneLoad};
use crate::home;
use crate::interrupt::flag_on_interrupt;
use crate::open_files::reserve_files;
use crate::output::{say, style, write_out};
use crate::progress::StepLine;

/// Shapes of the closed loads: (connections, requests in flight on each). Open loads have that of the first.
const SHAPES: [(u32, u16); 3] = [(100, 1), (1_000, 1), (100, 16)];

/// Most connections of a calibration's loads.
const CONNECTIONS: u32 = 1_000;

/// What the null responder answers.
const PATH: &str = "/rest/hello";
const BODY: &[u8] = b"Hello world";

/// Part of each load that is not measured, of its window.
const WARM_UP: u64 = 5;

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
        lab::hold_scratch().map_err(|error| Failure::usage(format!("{error}; set TMPDIR to another folder")))?;
    let calibration = measure(args, scratch.path(), &stop)?;
    // What takes minutes to measure is not lost where it cannot be shown, or not be kept.
    let stored = calibration.limits.is_some().then(|| store(&calibration, &file));
    let shown = show(&calibration, args.format);
    let Some(stored) = stored else {
        say(format!("\n{}", useless(&file)));
        return shown.map(|()| Exit::Void);
    };
    stored?;
    if args.format == CalibrateFormat::Text {
        say(format!("\nkept in {}", file.display()));
    }
    shown.map(|()| Exit::Good)
}

fn show(calibration: &Calibration, format: CalibrateFormat) -> Result<(), Failure> {
    let distrusted: Vec<bool> = calibration.rates.iter().map(|step| judge::distrust(step).is_some()).collect();
    write_out(&match format {
        CalibrateFormat::Json => report::calibration_json(calibration),
        CalibrateFormat::Text => report::calibration_text(calibration, &distrusted, style()),
    })
}

fn measure(args: &CalibrateArgs, scratch: &Path, stop: &AtomicBool) -> Result<Calibration, Failure> {
    let plan = plan(args.duration, scratch).map_err(Failure::usage)?;
    let generator_cpu = plan.generator.cpus.first().copied().unwrap_or(0);
    let steps = StepLine::new();
    steps.show("clock and sleeps");
    let measured_at = Zoned::now();
    let (clock, sleep) = engine::time_precision(generator_cpu).map_err(Failure::usage)?;
    let ended = conduct(plan, scratch, &steps, stop).map_err(Failure::usage)?;
    if ended.interrupted {
        return Err(Failure::interrupted("interrupted; nothing was kept, an earlier calibration still holds"));
    }
    if let Some(failure) = ended.trials.iter().find_map(|trial| trial.failure.as_ref()) {
        return Err(Failure::unreachable(format!(
            "the null responder: {}\n{}",
            report::failed_words(&failure.why),
            failure.output
        )));
    }
    let begun = Calibration {
        schema: CALIBRATION_SCHEMA.to_owned(),
        measured_at,
        instrument: instrument(),
        responder_cpu: ended.plan.cells[0].target_cpus.first().copied(),
        generator_cpu,
        clock,
        sleep,
        ..Calibration::default()
    };
    Ok(judge::judge_calibration(begun, &ended.plan, &ended.trials))
}

/// The null responder under closed loads of one generator thread; open ones are added.
fn plan(window_ns: u64, scratch: &Path) -> Result<Plan, Fault> {
    let mix = Mix::one(Request::get(PATH), ReplyExpectation { status: Some(200), body: Some(BODY.to_vec()) });
    let load = Load::closed(mix, CONNECTIONS, window_ns / WARM_UP, window_ns);
    let asked = OneLoad {
        name: "calibration",
        question: "Up to which rate can one generator thread be trusted on this machine?".to_owned(),
        seed: seed(None),
        margin: 0.0,
        precise: Vec::new(),
        precision: 0.0,
        rotation: None,
        blocks: Some(1),
        allow_failures: None,
        generator: GeneratorAsked { threads: Some(1), ..GeneratorAsked::default() },
        machine: Machine { cpus: std::thread::available_parallelism().map_or(1, |count| count.get() as u32) },
        targets: vec![experiment::specimen(Kind::Clean, scratch)],
        load,
        tls_resume: false,
    };
    let mut draft = asked.draft();
    let shaped = |(connections, pipeline)| {
        let mut cell = draft.cells[0].clone();
        (cell.load.connections, cell.load.pipeline) = (connections, pipeline);
        // The one with the generator's interrupts is not worse than another: both sides are on the same loopback.
        cell.target_cpus.truncate(1);
        cell
    };
    draft.cells = SHAPES.map(shaped).to_vec();
    draft.resolve()
}

/// Makes the loads in a run folder that is not kept.
fn conduct(plan: Plan, scratch: &Path, steps: &StepLine, stop: &AtomicBool) -> Result<SessionEnd, LabError> {
    let (mut cells, mut planner) = (plan.cells.clone(), CalibrationPlanner::new(&plan));
    let environment = Environment { schema: ENVIRONMENT_SCHEMA.to_owned(), ..Environment::default() };
    let mut folder = RunFolder::create(scratch, "calibration", &plan, &environment)?;
    let launcher = ProcessLauncher::new(home::executable());
    let (prepared, perf) = (Prepared::default(), Perf::default());
    let tools = TrialTools {
        launcher: &launcher,
        load: &engine::run,
        rotate: &engine::rotate,
        prepared: &prepared,
        perf: &perf,
    };
    let session = Session { plan, folder: &mut folder, done: Vec::new(), tools, keep_going: false };
    session.run(&mut planner, stop, &mut |event| match event {
        Event::Added { addition: Addition::Cell { cell, .. } } => cells.push((**cell).clone()),
        Event::TrialStarted { spec, .. } => steps.show(&words(&cells[spec.cell].load)),
        _ => {}
    })
}

fn words(load: &Load) -> String {
    match (load.rate_per_s(), load.connections, load.pipeline) {
        (Some(rate_per_s), ..) => format!("open rate of {} a second", report::format::number(rate_per_s)),
        (None, connections, 1) => format!("ceiling with {connections} connections"),
        (None, connections, pipeline) => {
            format!("ceiling with {connections} connections, {pipeline} requests in flight on each")
        }
    }
}

fn store(calibration: &Calibration, file: &Path) -> Result<(), Failure> {
    create_folder_durably(file.parent().unwrap_or(file))
        .and_then(|()| write_durably(file, report::calibration_json(calibration).as_bytes()))
        .map_err(|error| Failure::usage(unkept(file, &error)))
}

/// What holds where nothing was found that can be trusted: an earlier calibration may have been made on a quieter machine.
fn useless(file: &Path) -> String {
    let earlier = read_calibration(file).ok().flatten().filter(|earlier| earlier.limits.is_some());
    let holds = earlier.map_or("the generator's limits stay unknown".to_owned(), |earlier| {
        format!("the calibration of {} still holds", earlier.measured_at.date())
    });
    format!("not kept, because no rate could be trusted: {holds}; calibrate again when the machine is idle")
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
    let date = stored.measured_at.date();
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
    match read_json(file, &[CALIBRATION_SCHEMA]) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_nothing_leaves_an_earlier_calibration_in_force() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(FILE);
        assert!(useless(&file).contains("the generator's limits stay unknown"));
        let limits =
            Some(GeneratorLimits { ceiling_per_s: 20.0, pipelined_ceiling_per_s: 20.0, open_rate_per_s: 10.0 });
        let earlier = Calibration { schema: CALIBRATION_SCHEMA.to_owned(), limits, ..Calibration::default() };
        store(&earlier, &file).unwrap();
        assert!(useless(&file).contains("the calibration of 1970-01-01 still holds"), "{}", useless(&file));
    }
}
