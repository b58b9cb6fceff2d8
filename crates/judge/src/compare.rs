//! An old server against a new one: two targets of one run, launched in turn, or the targets of two runs.

mod differences;
mod gates;
mod needed;
mod replies;
mod row;

use std::collections::BTreeMap;

use model::{
    Arm, COMPARE_SCHEMA, Cell, CellPlan, CompareAnalysis, CompareForm, CompareRest, CompareRow, CutLoad, Draft,
    Environment, Gate, LaunchRecipe, MarkNote, Metric, Plan, RepeatedBlock, SameServer, SessionAnalysis, Target,
    TrialCount, TrialRecord, VoidTrial,
};

pub use differences::asked_differently;

use crate::pair::Pair;
use crate::records::Records;
use crate::statistics::{LogRatio, holm};
use crate::thresholds::{CONFIDENCE, DRIFT, MARGIN};
use crate::{analysis, session, shift};

/// What a new server is held against an old one by. One family: a session of equals must not look different only
/// because it is looked at in six ways. Errors are compared where there are any, and whatever a gate asks for.
const COMPARED: [Metric; 6] =
    [Metric::Throughput, Metric::P50, Metric::P99, Metric::CpuPerRequest, Metric::PeakMemory, Metric::TimeToReady];

/// What is known of one run.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// Its plan.
    pub plan: &'a Plan,
    /// Where it was made.
    pub environment: &'a Environment,
    /// Its trials.
    pub trials: &'a [TrialRecord],
}

/// How what was recorded at different times is held against each other.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'a> {
    /// Half width of the band in which the two count as the same, as a share.
    pub margin: f64,
    /// By how much, as a share, the machine may have been slower for the one than for the other.
    pub drift: f64,
    /// How much worse the new one may be.
    pub gates: &'a [Gate],
}

impl Default for Terms<'_> {
    fn default() -> Self {
        Terms { margin: MARGIN, drift: DRIFT, gates: &[] }
    }
}

/// Why two runs cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// No cell of the one is a cell of the other.
    #[error("the two runs have no cell in common: {old} against {new}; compare runs of the same experiment")]
    NothingInCommon {
        /// Targets and factors of the old run.
        old: String,
        /// Those of the new one.
        new: String,
    },
}

/// What the two targets of a plan that compares are, where they are one server: the same files, built and launched by the
/// same commands.
pub fn one_server(plan: &Draft) -> Option<SameServer> {
    let asked = plan.comparison.as_ref()?;
    let (old, new) = (plan.target(&asked.old)?, plan.target(&asked.new)?);
    let content = |target: &str| asked.revisions.iter().find(|of| of.target == target).map(|of| &of.content);
    let files = (content(&asked.old), content(&asked.new));
    let is_elsewhere =
        |target: &Target| (target.launch.cwd.clone(), target.build.as_ref().map(|build| build.cwd.clone()));
    let same_files = files.0 == files.1 && (files.0.is_some() || is_elsewhere(old) == is_elsewhere(new));
    (same_files && are_made_alike(old, new))
        .then(|| files.0.map_or(SameServer::Command, |files| SameServer::Revision(files.clone())))
}

/// Whether two targets are built and launched by the same commands, wherever their files are.
fn are_made_alike(old: &Target, new: &Target) -> bool {
    let made = |target: &Target| {
        let build = target.build.clone().map(|build| (build.run, build.env));
        let LaunchRecipe { run, env, .. } = target.launch.clone();
        (build, run, env, target.runtimes.clone(), target.settings.clone())
    };
    made(old) == made(new)
}

/// Two targets of one run, new against old, under every set of conditions that both have.
pub fn compare_targets(run: Run<'_>, old: &str, new: &str, gates: &[Gate]) -> CompareAnalysis {
    let records = Records::new(run.plan, run.trials);
    let named =
        |group: &[usize], name: &str| group.iter().copied().find(|cell| run.plan.cells[*cell].levels.target() == name);
    let are_revisions = run.plan.comparison.as_ref().is_some_and(|asked| !asked.revisions.is_empty());
    // Launched by other commands two revisions may be two different servers: one worker and eight.
    let both = run.plan.target(old).zip(run.plan.target(new));
    let alike = are_revisions && both.is_some_and(|(old, new)| are_made_alike(old, new));
    let pairs: Vec<Pair> = run
        .plan
        .by_conditions()
        .iter()
        .filter_map(|group| {
            let (old, new) = ((&records, named(group, old)?), (&records, named(group, new)?));
            let margin = run.plan.margin;
            Some(Pair { old, new, paired: true, alike, margin, drift: 0.0, among_targets: false })
        })
        .collect();
    let title = |name: &str| run.plan.target(name).map_or(name, |target| target.title.as_str()).to_owned();
    let void_trials = analysis::void_trials(&records);
    let cells: Vec<usize> = pairs.iter().flat_map(|pair| [pair.old.1, pair.new.1]).collect();
    let blocks = records.blocks_of(&cells).min(records.whole_blocks());
    let of_experiment = run.plan.comparison.as_ref().is_some_and(|asked| asked.of_experiment);
    CompareAnalysis {
        form: if of_experiment { CompareForm::Experiment } else { CompareForm::Commands },
        interleaved: true,
        blocks: blocks as u32,
        preliminary: !records.are_enough(blocks),
        blocks_before: analysis::blocks_before(run.plan).collect(),
        seed: Some(run.plan.seed),
        same: one_server(run.plan),
        session: session::analyse(&records),
        trials: analysis::count(records.all().len(), &void_trials),
        void_trials,
        ..judge(run, &pairs, (title(old), title(new)), gates)
    }
}

/// The cells that two runs share, new against old. Launches of different runs do not belong together, so their ratio
/// has Welch's interval instead of that of paired blocks.
///
/// # Errors
/// When they share none.
pub fn compare_runs(
    old: Run<'_>,
    new: Run<'_>,
    names: (String, String),
    asked: Terms<'_>,
) -> Result<CompareAnalysis, CompareError> {
    let [before, after] = [old, new].map(|run| Records::new(run.plan, run.trials).compared());
    let common = common_cells(old.plan, new.plan);
    let target = |cell: usize| new.plan.cells[cell].levels.target();
    let among_targets = common.windows(2).any(|two| target(two[0].1) != target(two[1].1));
    let pair = |(a, b): (usize, usize)| Pair {
        old: (&before, a),
        new: (&after, b),
        paired: false,
        alike: false,
        margin: asked.margin,
        drift: asked.drift,
        among_targets,
    };
    let pairs: Vec<Pair> = common.into_iter().map(pair).collect();
    if pairs.is_empty() {
        let cells = |plan: &Plan| plan.cells.first().map_or("no cell".to_owned(), |cell| cell.levels.to_string());
        return Err(CompareError::NothingInCommon { old: cells(old.plan), new: cells(new.plan) });
    }
    let void =
        |(arm, records)| analysis::void_trials(records).into_iter().map(move |of| VoidTrial { arm: Some(arm), ..of });
    let void_trials: Vec<VoidTrial> = [(Arm::Old, &before), (Arm::New, &after)].into_iter().flat_map(void).collect();
    let cells = |of: fn(&Pair) -> usize| pairs.iter().map(of).collect::<Vec<usize>>();
    let (old_cells, new_cells) = (cells(|pair| pair.old.1), cells(|pair| pair.new.1));
    let of = |records: &Records, cells: &[usize]| records.blocks_of(cells).min(records.whole_blocks());
    let blocks = of(&before, &old_cells).min(of(&after, &new_cells));
    Ok(CompareAnalysis {
        interleaved: false,
        blocks: blocks as u32,
        preliminary: ![&before, &after].iter().all(|records| records.are_enough(blocks)),
        blocks_before: analysis::blocks_before(old.plan).chain(analysis::blocks_before(new.plan)).collect(),
        seed: None,
        session: both(session::analyse(&before), session::analyse(&after)),
        trials: analysis::count(before.all().len() + after.all().len(), &void_trials),
        void_trials,
        differences: differences::between(old, new, &common_cells(old.plan, new.plan)),
        margin: asked.margin,
        drift: Some(asked.drift).filter(|drift| *drift > 0.0),
        ..judge(new, &pairs, names, asked.gates)
    })
}

/// Saved loads, old against new, as [`compare_runs`] does it: each counts as one launch. `in_turn` says whether they
/// were taken in turn.
///
/// # Errors
/// As those of [`compare_runs`].
pub fn compare_loads(
    old: Run<'_>,
    new: Run<'_>,
    names: (String, String),
    asked: Terms<'_>,
    in_turn: bool,
) -> Result<CompareAnalysis, CompareError> {
    let mut cut = Vec::new();
    let [before, after] = [(Arm::Old, old), (Arm::New, new)].map(|(arm, run)| {
        let mut trials = run.trials.to_vec();
        cut.extend(trials.iter_mut().filter_map(|trial| as_far_as_it_ran(arm, trial)));
        trials
    });
    let (old, new) = (Run { trials: &before, ..old }, Run { trials: &after, ..new });
    let asked = Terms { drift: if in_turn { 0.0 } else { asked.drift }, ..asked };
    let found = compare_runs(old, new, names, asked)?;
    // On which CPUs their servers ran no load knows.
    let session = SessionAnalysis { cpus: None, ..found.session };
    Ok(CompareAnalysis { form: CompareForm::Loads, interleaved: in_turn, cut, session, ..found })
}

/// Takes a load that was stopped in its window for what it is: a whole one with a shorter window. How short is too short the
/// intervals show, as of loads that asked for no more.
fn as_far_as_it_ran(arm: Arm, trial: &mut TrialRecord) -> Option<CutLoad> {
    let stopped = trial.measurement.as_mut().filter(|measured| measured.interrupted && measured.window_s > 0.0)?;
    stopped.interrupted = false;
    Some(CutLoad { arm, id: trial.id.clone(), window_s: stopped.window_s })
}

/// Cells with the same levels; where there are none and each run has a single target, those with the same conditions.
fn common_cells(old: &Plan, new: &Plan) -> Vec<(usize, usize)> {
    let matching = |key: fn(&Cell) -> Cell| -> Vec<(usize, usize)> {
        // Of several that are alike the first.
        let known: BTreeMap<Cell, usize> =
            new.cells.iter().enumerate().rev().map(|(at, cell)| (key(&cell.levels), at)).collect();
        let find = |(index, cell): (usize, &CellPlan)| Some((index, *known.get(&key(&cell.levels))?));
        old.cells.iter().enumerate().filter_map(find).collect()
    };
    let same_levels = matching(Cell::clone);
    let single = old.targets.len() == 1 && new.targets.len() == 1;
    if same_levels.is_empty() && single { matching(Cell::conditions) } else { same_levels }
}

fn judge(run: Run<'_>, pairs: &[Pair<'_>], (old, new): (String, String), gates: &[Gate]) -> CompareAnalysis {
    let primary = run.plan.comparison.as_ref().and_then(|asked| asked.primary);
    let rows = rows(pairs, gates, primary);
    let gates = gates.iter().flat_map(|gate| gates::held(gate, pairs, &rows)).collect();
    let shifts = pairs.iter().filter_map(|pair| shift::of(pair, (&new, &old))).collect();
    CompareAnalysis {
        schema: COMPARE_SCHEMA.to_owned(),
        shifts,
        old,
        new,
        margin: run.plan.margin,
        primary,
        environment: run.environment.clone(),
        rows,
        reply_sizes: pairs.iter().filter_map(Pair::reply_sizes).collect(),
        cells: pairs.iter().flat_map(Pair::cells).collect(),
        gates,
        form: CompareForm::Runs,
        cut: Vec::new(),
        drift: None,
        rest: rest(pairs),
        interleaved: false,
        blocks: 0,
        preliminary: true,
        blocks_before: Vec::new(),
        unfinished: pairs.iter().filter_map(Pair::unfinished).max(),
        ended_in_vain: pairs.iter().any(Pair::is_in_vain),
        seed: None,
        same: None,
        differences: Vec::new(),
        session: SessionAnalysis::default(),
        trials: TrialCount::default(),
        void_trials: Vec::new(),
        elapsed_s: None,
    }
}

/// What the servers did after their loads under all conditions; none where one was not watched under some.
fn rest(pairs: &[Pair<'_>]) -> Option<CompareRest> {
    let of_arm = |(records, cell): (&Records, usize)| {
        let rests = records.everywhere(cell).filter_map(|launch| launch.record.observation.as_ref()?.rest.as_ref());
        let seen = rests.map(|rest| (rest.length_s(), rest.cpu_s()));
        seen.reduce(|(length_s, cpu_s), of| (f64::max(length_s, of.0), f64::max(cpu_s, of.1)))
    };
    let of_pair = |pair: &Pair| {
        let ((old_s, old_cpu_s), (new_s, new_cpu_s)) = (of_arm(pair.old)?, of_arm(pair.new)?);
        Some(CompareRest { length_s: old_s.min(new_s), old_cpu_s, new_cpu_s })
    };
    let all: Option<Vec<CompareRest>> = pairs.iter().map(of_pair).collect();
    all?.into_iter().reduce(|a, b| CompareRest {
        length_s: a.length_s.min(b.length_s),
        old_cpu_s: a.old_cpu_s.max(b.old_cpu_s),
        new_cpu_s: a.new_cpu_s.max(b.new_cpu_s),
    })
}

/// The rows, and what Holm makes of them: of the primary metric alone, and of all others together. Without a primary one all
/// are one family.
fn rows(pairs: &[Pair<'_>], gates: &[Gate], primary: Option<Metric>) -> Vec<CompareRow> {
    let asked = |metric: Metric| primary == Some(metric) || gates.iter().any(|gate| gate.metric == metric);
    let compared = |metric: &Metric| COMPARED.contains(metric) || *metric == Metric::Errors || asked(*metric);
    // That neither server fails shows in the absence of the row, unless a gate asks.
    let told = |pair: &Pair, metric: Metric| match metric {
        Metric::Errors => asked(metric) || pair.fails(),
        _ => pair.has(metric),
    };
    let metrics = || Metric::ALL.iter().copied().filter(compared);
    let all = pairs.iter().flat_map(|pair| metrics().map(move |metric| (pair, metric)));
    let measured: Vec<(&Pair, Metric, Option<LogRatio>)> = all
        .filter(|(pair, metric)| told(pair, *metric))
        .map(|(pair, metric)| (pair, metric, pair.change(metric, CONFIDENCE)))
        .collect();
    let p_values = |is_primary: bool| -> Vec<f64> {
        let family = measured.iter().filter(|(_, metric, _)| (Some(*metric) == primary) == is_primary);
        family.filter_map(|(.., found)| Some(found.as_ref()?.p)).collect()
    };
    let families = [false, true].map(|is_primary| holm(&p_values(is_primary)));
    let mut adjusted = families.each_ref().map(|family| family.iter().copied());
    let row = |(pair, metric, found): (&Pair, Metric, Option<LogRatio>)| {
        let family = usize::from(Some(metric) == primary);
        let p_adjusted = found.as_ref().and_then(|_| adjusted[family].next());
        let row = pair.row(metric, p_adjusted);
        let tests = families[family].iter().filter(|other| p_adjusted.is_some_and(|own| **other >= own)).count();
        if found.is_none() {
            return row;
        }
        let row = pair.with_needs(row, tests);
        let open_as_one_of = pair.is_open_for_the_others(&row).then_some(families[family].len() as u32);
        CompareRow { open_as_one_of, ..row }
    };
    measured.into_iter().map(row).collect()
}

/// What two sessions say of themselves, each with its run.
fn both(old: SessionAnalysis, new: SessionAnalysis) -> SessionAnalysis {
    let cpus = old.cpus.clone().filter(|_| old.cpus == new.cpus);
    let mut all = SessionAnalysis { cpus, ..SessionAnalysis::default() };
    for (arm, session) in [(Some(Arm::Old), old), (Some(Arm::New), new)] {
        all.repeated.extend(session.repeated.into_iter().map(|it| RepeatedBlock { arm, ..it }));
        all.marks.extend(session.marks.into_iter().map(|note| MarkNote { arm, ..note }));
    }
    all
}

#[cfg(test)]
mod tests;
