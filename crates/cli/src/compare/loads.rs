//! Results that `bourdon load -o FILE` saved, read as what they are: one launch each of a server under one load. `compare` holds two
//! sides of them against each other, and `report` shows one.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use lab::RunRecord;
use model::{
    AskedLoad, BLOCKS_FOR_A_VERDICT, Blocks, Draft, Environment, Instrument, Load, Measurement, Metric, TRIAL_SCHEMA,
    Target, TrialRecord,
};

use crate::calibrate;
use crate::exit::Failure;
use crate::experiment::Server;
use crate::saved_load::{Saved, foreign, load_of, saved};

/// By how much the pause before one of two that are taken in turn may be another one than that before the other: by a second, or a tenth of the
/// time from load to load, whichever is more. A choice.
const MOST_UNLIKE: u128 = 10;
const MOST_UNLIKE_MS: u128 = 1_000;

/// What a load's server is called where a target needs a name.
const SERVER: &str = "server";

/// When a load was made.
#[derive(Debug, Clone, Copy)]
struct Times {
    began: Timestamp,
    /// With its window; what was waited for after it is not in it.
    ended: Timestamp,
}

/// The saved loads of one side, made into the record of a run.
pub(crate) struct Side {
    pub(crate) record: RunRecord,
    /// What was asked of each.
    pub(super) asked: AskedLoad,
    /// When each was made, in order.
    times: Vec<Times>,
    /// Where each was read, in that order.
    files: Vec<PathBuf>,
    /// Of those that lost some of those who made them, what that means.
    pub(crate) lost: Vec<String>,
}

/// Whether a path leads to a saved load, or to a folder of some, rather than to a recorded run.
pub(crate) fn are_there(path: &Path) -> bool {
    path.is_file() || (path.is_dir() && !path.join("plan.toml").exists() && !files_in(path).is_empty())
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "json") && path.is_file());
    files.sort();
    files
}

/// Whether saved loads have a metric: what is seen of the server itself they lack, for nobody watched it.
pub(super) fn hold(metric: Metric) -> bool {
    let seen_from_outside = [Metric::Throughput, Metric::ElapsedPerRequest, Metric::NeverServed, Metric::Errors];
    metric.is_latency() || seen_from_outside.contains(&metric)
}

impl Side {
    /// The loads of one side: a file, or all files of a folder that end in `.json`; `draft` makes a plan of its name, its target and its
    /// load.
    ///
    /// # Errors
    /// When one cannot be read, or asked for another load than the others.
    pub(crate) fn read(path: &Path, draft: &dyn Fn(&str, Vec<Target>, Load) -> Draft) -> Result<Side, Failure> {
        let files = if path.is_dir() { files_in(path) } else { vec![path.to_owned()] };
        let mut all: Vec<(PathBuf, Saved)> =
            files.into_iter().map(|file| Ok((file.clone(), saved(&file)?))).collect::<Result<_, Failure>>()?;
        all.sort_by_key(|(_, one)| one.started_at);
        let Some((first_file, first)) = all.first() else { return Err(foreign(path, "it holds no saved load")) };
        for (file, one) in &all[1..] {
            let (a, b) = (first_file.display(), file.display());
            if let Some(difference) = judge::asked_differently(&first.load, &one.load).first() {
                let difference = report::difference_between(difference, ["the first", "the second"]);
                return Err(Failure::usage(format!(
                    "{a} and {b} are on one side and asked for different loads ({difference}); keep them apart"
                )));
            }
            if first.instrument != one.instrument {
                return Err(Failure::usage(format!(
                    "{a} and {b} are on one side and were measured by different versions of bourdon or on different \
                     machines; keep them apart"
                )));
            }
        }
        let mut plan = plan(draft, path, &first.load, all.len())?;
        // Loads that were made here are judged by what was found of the generator here.
        if first.instrument == calibrate::instrument() {
            plan.generator.limits = calibrate::stored_limits();
        }
        let plan = plan.resolve().map_err(|fault| foreign(path, &fault.to_string()))?;
        let (asked, environment) = (first.load.clone(), environment(first));
        let times = all.iter().map(|(_, one)| {
            let lasted = Duration::try_from_secs_f64(one.load.warm_up_s + one.window_s).unwrap_or_default();
            Times { began: one.started_at, ended: one.started_at.saturating_add(lasted).unwrap_or(one.started_at) }
        });
        let times = times.collect();
        let files = all.iter().map(|(file, _)| file.clone()).collect();
        let lost = all.iter().filter_map(|(file, one)| one.flaw(file)).collect();
        let trials = all.into_iter().zip(1..).map(|((file, one), block)| trial(&file, one, block, &plan));
        let trials = trials.collect::<Result<_, _>>()?;
        Ok(Side { asked, times, files, lost, record: RunRecord { trials, environment, plan } })
    }

    /// Whether the loads were taken in turn: the first of both, the second of both, and so on, and none of the two usually after a longer pause.
    pub(super) fn in_turn(&self, other: &Side) -> bool {
        takes_turns(&self.times, &other.times) && !has_unlike_pauses(&self.times, &other.times)
    }

    /// Whether they were taken in turn, but one usually after a longer pause than the other: what the pause gives, or what is done in it, is in every
    /// ratio.
    pub(super) fn is_favoured_by_pauses(&self, other: &Side) -> bool {
        takes_turns(&self.times, &other.times) && has_unlike_pauses(&self.times, &other.times)
    }
}

/// Whether of two series the first of both, the second of both, and so on, lie apart.
fn takes_turns(one: &[Times], other: &[Times]) -> bool {
    let pairs: Vec<[Timestamp; 2]> = one.iter().zip(other).map(|(a, b)| [a.began, b.began]).collect();
    let apart = |pair: &[[Timestamp; 2]]| pair[0].iter().max() < pair[1].iter().min();
    one.len() == other.len() && pairs.len() > 1 && pairs.windows(2).all(apart)
}

/// Whether of two series that take turns one is the first of every pair, and the pause before it is usually another one than that before the
/// second.
fn has_unlike_pauses(one: &[Times], other: &[Times]) -> bool {
    let is_before = |(a, b): (&Times, &Times)| a.began < b.began;
    let (first, second) = match () {
        () if one.iter().zip(other).all(is_before) => (one, other),
        () if other.iter().zip(one).all(is_before) => (other, one),
        () => return false,
    };
    let usual = |from: &[Times], to: &[Times], pause: fn(&Times, &Times) -> i128| {
        median(from.iter().zip(to).map(|(from, to)| pause(from, to)).collect())
    };
    let pause = |from: &Times, to: &Times| to.began.duration_since(from.ended).as_millis();
    let begin_to_begin = |from: &Times, to: &Times| to.began.duration_since(from.began).as_millis();
    let [unlike, longer] = [pause, begin_to_begin].map(|time| {
        let (within, between) = (usual(first, second, time), usual(second, &first[1..], time));
        (within.abs_diff(between), within.max(between).unsigned_abs())
    });
    unlike.0 > MOST_UNLIKE_MS && unlike.0 * MOST_UNLIKE > longer.1
}

/// The middle value, of two in the middle the larger one; 0 of none.
fn median(mut values: Vec<i128>) -> i128 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// Refuses a load that is there twice, as a copy or a link: it was measured once. Of no two loads did each thread use the same CPU
/// time, to the nanosecond.
pub(super) fn refuse_copies(sides: [&Side; 2]) -> Result<(), Failure> {
    let of = |side| {
        let Side { files, record, .. }: &Side = side;
        files.iter().zip(record.trials.iter().map(|trial| &trial.measurement))
    };
    let all: Vec<(&PathBuf, &Option<Measurement>)> = sides.into_iter().flat_map(of).collect();
    let copy = |at: usize| Some((all[..at].iter().find(|(_, measured)| *measured == all[at].1)?.0, all[at].0));
    let Some((one, other)) = (0..all.len()).find_map(copy) else { return Ok(()) };
    Err(Failure::usage(format!(
        "{} and {} hold one and the same load, which was measured once; leave one of them out",
        one.display(),
        other.display()
    )))
}

/// The load as a plan like any other, with one target and a block for each file.
fn plan(
    draft: &dyn Fn(&str, Vec<Target>, Load) -> Draft,
    path: &Path,
    asked: &AskedLoad,
    blocks: usize,
) -> Result<Draft, Failure> {
    let load = load_of(asked).map_err(|why| foreign(path, &why))?;
    let server =
        Server { name: SERVER, title: SERVER, run: SERVER, build: None, cwd: Path::new("."), ready: "/", tls: None };
    let server = server.target().map_err(Failure::usage)?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut draft = draft(&name, vec![server], load);
    let blocks = u32::try_from(blocks).unwrap_or(u32::MAX);
    // More than the least may have been looked at before, as a run that may end early is.
    (draft.blocks, draft.repeats, draft.rotation) =
        (Blocks { min: blocks.min(BLOCKS_FOR_A_VERDICT), max: blocks }, 0, None);
    Ok(draft)
}

/// A file as a launch.
fn trial(path: &Path, saved: Saved, block: u32, plan: &model::Plan) -> Result<TrialRecord, Failure> {
    let record = TrialRecord {
        schema: TRIAL_SCHEMA.to_owned(),
        id: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        block,
        position: 1,
        cell: 0,
        twin: false,
        levels: plan.cells[0].levels.clone(),
        started_at: saved.started_at,
        ended_at: None,
        time_to_ready_ms: None,
        measurement: Some(saved.into()),
        beside: None,
        backend: None,
        observation: None,
        failure: None,
        slices: Vec::new(),
    };
    match record.fault() {
        Some(fault) => Err(foreign(path, &fault)),
        None => Ok(record),
    }
}

fn environment(saved: &Saved) -> Environment {
    let Instrument { bourdon, cpu, cpus, kernel } = saved.instrument.clone();
    let started_at = saved.started_at.to_zoned(TimeZone::UTC);
    Environment { started_at, bourdon, cpu, cpus, kernel, ..Environment::default() }
}

#[cfg(test)]
mod tests {
    use engine::RunOptions;
    use engine::simulation::{SimulatedServer, simulate};
    use model::{Arrivals, Extent, LoadModel, LoadSpec, Mix, NS_PER_S, ReplyExpectation, Request};

    use super::*;
    use crate::request::OK;

    /// A second at 500 requests a second on one connection, after as long a warm-up, of a server that stops for most of both
    /// and does not answer as it should.
    fn spec() -> LoadSpec {
        let expect = ReplyExpectation { status: Some(OK), body: Some(b"well".to_vec()) };
        LoadSpec {
            load: Load {
                mix: Mix::one(Request { host: "localhost".to_owned(), ..Request::get("/") }, expect),
                model: LoadModel::Open { rate_per_s: 500.0, arrivals: Arrivals::Constant },
                connections: 1,
                pipeline: 1,
                keep_alive: true,
                timeout_ns: None,
                network_delay_ns: 0,
                warm_up_ns: NS_PER_S,
                extent: Extent::Window(NS_PER_S),
            },
            address: ([127, 0, 0, 1], 80).into(),
            tls: None,
            sources: Vec::new(),
            start_spread_ns: 0,
            threads: 1,
            cpus: Vec::new(),
            spin: false,
            quick_ack: false,
            seed: 42,
        }
    }

    /// What a load on this server measured, and the document that is saved of it.
    fn measured(spec: &LoadSpec, server: SimulatedServer) -> (Measurement, String) {
        let measured = simulate(spec, server, RunOptions::default(), &mut |_| {}).unwrap().measurement;
        let validity = judge::judge_load(spec, None, 0.0, &measured);
        let (url, started_at, instrument) = ("", Timestamp::UNIX_EPOCH, Instrument::default());
        let origin =
            report::Origin { url, started_at, instrument, merged: &[], partial: None, not_one_load: None, part: None };
        let document = report::load_json(report::asked_load(spec), &validity, &measured, &measured.steps, &origin);
        (measured, document)
    }

    #[test]
    fn a_load_that_does_not_agree_with_itself_is_refused() {
        let (_, document) = measured(&spec(), SimulatedServer::new(1_000, "well"));
        let document: serde_json::Value = serde_json::from_str(&document).unwrap();
        let fault = |path: &str, value: serde_json::Value| {
            let mut document = document.clone();
            *document.pointer_mut(path).unwrap() = value;
            let saved: Saved = serde_json::from_value(document).unwrap();
            Measurement::from(saved).fault().unwrap_or_default()
        };
        assert_eq!(fault("/window_s", 1.0.into()), "", "as it is");
        let long = "`window_s` is 2: neither its steps nor a thread of the generator (`wall_s`) lasted so long";
        assert_eq!(fault("/window_s", 2.0.into()), long);
        assert_eq!(fault("/window_s", 0.5.into()), "`window_s` is 0.5: its steps last longer");
        assert_eq!(fault("/in_window/ok", 0.into()), "`in_window.ok` is 0: the steps of the window come to 500");
        let more = "`in_window.completed` is 1000: the steps of the window come to 500";
        assert_eq!(fault("/in_window/completed", 1_000.into()), more);
        let half = "`in_window.completed` is 500: the halves of the window come to 251";
        assert_eq!(fault("/in_window/halves/0/completed", 1.into()), half);
        let none = "`in_window.completed` is 500: the steps of the window come to 0";
        assert_eq!(fault("/intervals", serde_json::json!([])), none);
        let of_more = "`latency_us.service` is of 1000 requests: 500 were sent";
        assert_eq!(fault("/latency_us/service/count", 1_000.into()), of_more);
    }

    #[test]
    fn a_saved_load_holds_all_that_was_measured() {
        let spec = spec();
        let server =
            SimulatedServer { stall: Some((NS_PER_S / 2, 2 * NS_PER_S)), ..SimulatedServer::new(1_000, "ill") };
        let (measured, document) = measured(&spec, server);
        assert!(measured.answered_until_s.is_some() && measured.first_wrong.is_some(), "{measured:?}");
        assert!(!measured.silences.is_empty() && !measured.steps.is_empty(), "{measured:?}");
        assert!(measured.slowest_reply_s.is_some(), "{measured:?}");
        let saved: Saved = serde_json::from_str(&document).unwrap();
        let asked = load_of(&saved.load).unwrap();
        assert_eq!(Load { mix: spec.mix.clone(), ..asked }, spec.load);
        assert_eq!(Measurement::from(saved), measured);
    }

    /// Loads that begin at these seconds and last so many.
    fn at(seconds: &[i64], lasting: i64) -> Vec<Times> {
        let second = |second: i64| Timestamp::from_second(1_800_000_000 + second).unwrap();
        seconds.iter().map(|begun| Times { began: second(*begun), ended: second(begun + lasting) }).collect()
    }

    #[test]
    fn who_is_usually_asked_after_the_pause_is_not_asked_in_turn() {
        let even = [at(&[0, 24, 48], 11), at(&[12, 36, 60], 11)];
        let paused = [at(&[0, 84, 168], 11), at(&[12, 96, 180], 11)];
        let swapped = [at(&[0, 96, 168], 11), at(&[12, 84, 180], 11)];
        // As many requests of a server that takes longer for them.
        let slower = [at(&[0, 37, 74], 20), at(&[21, 58, 95], 15)];
        for [one, other] in [&even, &paused, &swapped, &slower] {
            assert!(takes_turns(one, other) && takes_turns(other, one));
        }
        assert!(!has_unlike_pauses(&even[0], &even[1]), "no pause");
        assert!(!has_unlike_pauses(&slower[0], &slower[1]), "no pause");
        assert!(has_unlike_pauses(&paused[0], &paused[1]) && has_unlike_pauses(&paused[1], &paused[0]));
        assert!(!has_unlike_pauses(&swapped[0], &swapped[1]), "each is the first once or more");
        assert!(!takes_turns(&at(&[0, 12, 24], 11), &at(&[36, 48, 60], 11)));
    }
}
