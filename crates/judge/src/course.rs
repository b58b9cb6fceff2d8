//! How a launch went over its window: level, warming up, slowing down, or never settled (Barrett et al., *Virtual
//! machine warmup blows hot and cold*, OOPSLA'17).

use model::{
    Changed, Course, Interval, LaunchCourse, MarkCause, MarkNote, Measurement, Metric, Observation, ObservedSecond,
    Slice, WindowCourse,
};

use crate::statistics::{change_points, mean};
use crate::steps;
use crate::thresholds::{COURSE_SECONDS, CPU_CHANGE, CPU_TO_CLASSIFY_S, P99_CHANGE, SETTLED_SHARE, THROUGHPUT_CHANGE};

/// The course of one launch.
#[derive(Debug, Clone, PartialEq)]
pub struct Went {
    /// Which.
    pub course: Course,
    /// Seconds of the window before the part that counts as steady; none where no part does.
    pub steady_from_s: Option<f64>,
    /// Whether its last level is worse than an earlier one.
    is_worse_at_the_end: bool,
    /// The figure that went so.
    metric: Metric,
    /// Its levels, each with the second of the window from which it lasts.
    levels: Vec<(f64, f64)>,
}

/// Classifies a launch by its throughput, its p99, and the target's CPU per request, second by second; the worst of them
/// counts. None where the window has too few whole seconds.
pub(crate) fn classify(measured: &Measurement, observed: Option<&Observation>, slices: &[Slice]) -> Option<Went> {
    let seen = observed.map_or(&[][..], |seen| &seen.seconds);
    by_replies(measured, slices).chain(by_cpu(measured, seen)).reduce(worse)
}

/// By what the replies alone show: throughput, then p99.
fn by_replies(measured: &Measurement, slices: &[Slice]) -> impl Iterator<Item = Went> {
    let seconds = steps::whole(measured, slices);
    let seconds = if seconds.len() >= COURSE_SECONDS { seconds } else { Vec::new() };
    let rates = seconds.iter().map(|second| (second.at_s, second.ok as f64 / second.length_s)).collect();
    let by_rate = Series { metric: Metric::Throughput, change: THROUGHPUT_CHANGE, more_is_better: true, points: rates };
    let tail = |second: &Interval| Some((second.at_s, second.p99_us?));
    let tails: Option<Vec<(f64, f64)>> = seconds.iter().map(tail).collect();
    let by_tail = |points| Series { metric: Metric::P99, change: P99_CHANGE, more_is_better: false, points };
    [Some(by_rate), tails.map(by_tail)].into_iter().flatten().filter_map(|series| series.classify())
}

/// By CPU per request: CPU alone would follow throughput.
fn by_cpu(measured: &Measurement, seen: &[ObservedSecond]) -> Option<Went> {
    let both = steps::with_seen(measured, seen);
    if both.len() < COURSE_SECONDS || both.iter().any(|(_, seen)| seen.cpu_s < CPU_TO_CLASSIFY_S) {
        return None;
    }
    let cost = |(second, seen): &(Interval, ObservedSecond)| (second.at_s, 1e6 * seen.cpu_s / second.ok.max(1) as f64);
    let points = both.iter().map(cost).collect();
    Series { metric: Metric::CpuPerRequest, change: CPU_CHANGE, more_is_better: false, points }.classify()
}

/// The worse course; of two alike the one that settles later.
fn worse(one: Went, other: Went) -> Went {
    let key = |went: &Went| (went.course, went.steady_from_s.unwrap_or(0.0));
    if key(&other) > key(&one) { other } else { one }
}

/// One figure, step by step.
struct Series {
    metric: Metric,
    /// Relative change below which two levels are the same.
    change: f64,
    more_is_better: bool,
    /// When each step begins, in seconds of the window, and the figure in it. Steps may be missing.
    points: Vec<(f64, f64)>,
}

impl Series {
    /// None where a level has no logarithm: nothing was answered in it.
    fn classify(&self) -> Option<Went> {
        let values: Vec<f64> = self.points.iter().map(|(_, value)| *value).collect();
        let levels = self.levels(&values);
        let (last, earlier) = levels.split_last()?;
        if values.iter().any(|value| *value <= 0.0) {
            return None;
        }
        let better_than_last =
            |level: &&Level| self.differ(level.mean, last.mean) && self.better(level.mean, last.mean);
        let settled = (values.len() - last.from) as f64 >= SETTLED_SHARE * values.len() as f64;
        let course = match earlier.iter().find(better_than_last) {
            _ if earlier.is_empty() => Course::Flat,
            _ if !settled => Course::Unsteady,
            Some(_) => Course::SlowDown,
            None => Course::WarmUp,
        };
        let steady = matches!(course, Course::Flat | Course::WarmUp);
        Some(Went {
            course,
            steady_from_s: steady.then_some(self.begin(last)),
            is_worse_at_the_end: earlier.iter().any(|level| better_than_last(&level)),
            metric: self.metric,
            levels: levels.iter().map(|level| (self.begin(level), level.mean)).collect(),
        })
    }

    /// The levels between change points, those merged that differ by less than matters.
    fn levels(&self, values: &[f64]) -> Vec<Level> {
        let mut starts = vec![0];
        starts.extend(change_points(values));
        let mut levels: Vec<Level> = Vec::new();
        for (place, from) in starts.iter().enumerate() {
            let to = starts.get(place + 1).copied().unwrap_or(values.len());
            let joined = levels.last().map_or(*from, |before| before.from);
            let (own, with) = (mean(&values[*from..to]), mean(&values[joined..to]));
            match (levels.last_mut(), own, with) {
                (Some(before), Some(own), Some(with)) if !self.differ(before.mean, own) => before.mean = with,
                (_, Some(own), _) => levels.push(Level { from: *from, mean: own }),
                _ => {}
            }
        }
        levels
    }

    /// The second of the window in which a level begins; the first has nothing before it.
    fn begin(&self, level: &Level) -> f64 {
        if level.from == 0 { 0.0 } else { self.points[level.from].0 }
    }

    fn differ(&self, one: f64, other: f64) -> bool {
        one.max(other) > one.min(other) * (1.0 + self.change)
    }

    fn better(&self, one: f64, other: f64) -> bool {
        if self.more_is_better { one > other } else { one < other }
    }
}

/// A stretch of steps at one level.
struct Level {
    from: usize,
    mean: f64,
}

/// Said of a load whose server got slower, and stayed so or became slower still: by its throughput if that shows it.
pub(crate) fn got_slower(measured: &Measurement) -> Option<MarkNote> {
    let went = by_replies(measured, &[]).find(|went| went.is_worse_at_the_end)?;
    Some(MarkNote::new(MarkCause::Course(went.over(Changed::SlowDown, measured))))
}

/// The mark of a launch that was not level.
pub(crate) fn mark(went: &Went, measured: &Measurement) -> Option<MarkNote> {
    let changed = Changed::of(went.course)?;
    Some(MarkNote::new(MarkCause::Course(went.over(changed, measured))))
}

impl Went {
    /// The same as an analysis tells it of each launch.
    pub(crate) fn of_launch(&self, measured: &Measurement) -> LaunchCourse {
        let Went { course, metric, levels, .. } = self.clone();
        LaunchCourse { course, metric, levels, window_s: measured.window_s }
    }

    fn over(&self, changed: Changed, measured: &Measurement) -> WindowCourse {
        let Went { metric, levels, steady_from_s, .. } = self.clone();
        WindowCourse { went: changed, metric, levels, steady_from_s, window_s: measured.window_s }
    }
}

/// Ok replies a second over the steady part; none where there is none.
pub(crate) fn steady_throughput(went: &Went, measured: &Measurement) -> Option<f64> {
    let from = went.steady_from_s?;
    let seconds = steps::whole(measured, &[]);
    let rates: Vec<f64> =
        seconds.iter().filter(|second| second.at_s >= from - 0.01).map(|s| s.ok as f64 / s.length_s).collect();
    mean(&rates)
}

#[cfg(test)]
mod tests {
    use model::Mark;

    use super::*;
    use crate::testing::normal;

    /// A window whose seconds have these rates and p99 (in ms), each with 1 % of noise.
    fn window(levels: &[(f64, f64)]) -> Measurement {
        let mut rng = fastrand::Rng::with_seed(11);
        let mut noise = || (0.01 * normal(&mut rng)).exp();
        let second = |(at, (rate, p99_ms)): (usize, &(f64, f64))| Interval {
            at_s: at as f64,
            length_s: 1.0,
            ok: (rate * noise()) as u64,
            p99_us: Some(p99_ms * 1e3 * noise()),
            ..Interval::default()
        };
        let steps = levels.iter().enumerate().map(second).collect();
        Measurement { window_s: levels.len() as f64, steps, ..Measurement::default() }
    }

    fn course(levels: &[(f64, f64)]) -> (Course, Option<f64>) {
        let went = classify(&window(levels), None, &[]).unwrap();
        (went.course, went.steady_from_s)
    }

    fn at(seconds: usize, rate: f64, p99_ms: f64) -> Vec<(f64, f64)> {
        vec![(rate, p99_ms); seconds]
    }

    #[test]
    fn the_four_courses_are_told_apart() {
        let (slow, fast) = (at(4, 8_000.0, 5.0), at(8, 10_000.0, 5.0));
        assert_eq!(course(&at(12, 10_000.0, 5.0)), (Course::Flat, Some(0.0)));
        assert_eq!(course(&[slow.clone(), fast.clone()].concat()), (Course::WarmUp, Some(4.0)));
        assert_eq!(course(&[fast.clone(), slow.clone()].concat()), (Course::SlowDown, None));
        assert_eq!(course(&[at(10, 10_000.0, 5.0), at(2, 8_000.0, 5.0)].concat()), (Course::Unsteady, None));
        assert_eq!(course(&[at(8, 10_000.0, 5.0), at(8, 10_000.0, 9.0)].concat()), (Course::SlowDown, None));
        assert_eq!(course(&[at(6, 10_000.0, 9.0), at(8, 10_000.0, 5.0)].concat()), (Course::WarmUp, Some(6.0)));
    }

    /// The seconds of a level window, in which the target used so much CPU (s) and memory (MiB).
    fn seen(levels: &[(f64, u64)]) -> (Measurement, Observation) {
        let second = |(at, (cpu_s, mebibytes)): (usize, &(f64, u64))| ObservedSecond {
            at_s: at as f64,
            cpu_s: *cpu_s,
            memory_bytes: mebibytes << 20,
            ..ObservedSecond::default()
        };
        let seconds = levels.iter().enumerate().map(second).collect();
        (window(&at(levels.len(), 10_000.0, 5.0)), Observation { seconds, ..Observation::default() })
    }

    #[test]
    fn the_targets_cpu_counts_too_and_its_memory_does_not() {
        let course = |levels: &[(f64, u64)]| {
            let (measured, observed) = seen(levels);
            let went = classify(&measured, Some(&observed), &[]).unwrap();
            (went.course, went.steady_from_s)
        };
        let of = |seconds: usize, cpu_s: f64, mebibytes: u64| vec![(cpu_s, mebibytes); seconds];
        assert_eq!(course(&of(12, 0.9, 20)), (Course::Flat, Some(0.0)));
        assert_eq!(course(&[of(4, 0.9, 20), of(8, 0.6, 20)].concat()), (Course::WarmUp, Some(4.0)));
        assert_eq!(course(&[of(6, 0.6, 20), of(6, 0.9, 20)].concat()), (Course::SlowDown, None));
        assert_eq!(course(&[of(4, 0.05, 20), of(8, 0.1, 20)].concat()).0, Course::Flat, "a few ticks say nothing");
        assert_eq!(course(&[of(4, 0.9, 20), of(8, 0.9, 40)].concat()), (Course::Flat, Some(0.0)));
        assert_eq!(course(&[of(13, 0.9, 20), of(3, 0.9, 40)].concat()), (Course::Flat, Some(0.0)));
    }

    #[test]
    fn a_step_that_was_cut_shifts_no_other() {
        // The target needs 20 % more CPU and serves 20 % more from second 8 on: CPU per request is level.
        let levels = [at(8, 8_000.0, 5.0), at(8, 10_000.0, 5.0)].concat();
        let cpu: Vec<(f64, u64)> = levels.iter().map(|(rate, _)| (rate / 1e4, 20)).collect();
        let (_, observed) = seen(&cpu);
        for cut in [None, Some(2)] {
            let mut measured = window(&levels);
            cut.into_iter().for_each(|cut: usize| measured.steps[cut].length_s = 0.98);
            assert_eq!(by_cpu(&measured, &observed.seconds).map(|went| went.course), Some(Course::Flat), "{cut:?}");
            let went = classify(&measured, Some(&observed), &[]).unwrap();
            assert_eq!((went.course, went.steady_from_s), (Course::WarmUp, Some(8.0)), "{cut:?}");
        }
    }

    #[test]
    fn a_small_change_is_none_and_a_short_window_says_nothing() {
        assert_eq!(course(&[at(6, 10_000.0, 5.0), at(6, 9_700.0, 5.0)].concat()).0, Course::Flat);
        assert_eq!(classify(&window(&at(9, 10_000.0, 5.0)), None, &[]), None);
        assert_eq!(
            classify(&window(&at(12, 0.0, 5.0)), None, &[]).map(|went| went.course),
            Some(Course::Flat),
            "by p99 alone"
        );
    }

    #[test]
    fn the_steady_figure_leaves_the_warm_up_out() {
        let warming = window(&[at(4, 8_000.0, 5.0), at(8, 10_000.0, 5.0)].concat());
        let went = classify(&warming, None, &[]).unwrap();
        let steady = steady_throughput(&went, &warming).unwrap();
        assert!((steady - 10_000.0).abs() < 100.0, "{steady}");
        let note = mark(&went, &warming).unwrap();
        assert_eq!(note.mark(), Mark::WarmUp);
        assert!(
            report::note_words(&note)
                .ends_with("from second 4; steady after 33 % of the window: 4 s more of warm-up would leave that out"),
            "{note:?}"
        );
        let slowing = window(&[at(8, 10_000.0, 5.0), at(4, 8_000.0, 5.0)].concat());
        assert_eq!(steady_throughput(&classify(&slowing, None, &[]).unwrap(), &slowing), None);
    }
}
