//! Work that a target puts off until nobody asks it anything: a load that never pauses may never let it do that.

use model::{Metric, Rest, RestStep, Slice};

use crate::launch::Launch;
use crate::marks;
use crate::slices;
use crate::thresholds::{AT_WORK, CLOSING_S, LAST_PART, LATE_LOOK_S, NEVER_DONE, SPILL, TIDYING_S, TOUCHED_PART};

/// How much of that is in none of its figures, at most. Each is infinite where nobody knows how much was left to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PutOff {
    /// CPU seconds, for each that it used under load; 0 below a hundredth.
    cpu: f64,
    /// For what share of the time under load all requests would have waited for that; 0 below a hundredth.
    time: f64,
    /// For how long a request could have waited for it at once, in seconds.
    at_once_s: f64,
    /// For what share of the time under load some would have: what it did at once, however often.
    bursts: f64,
}

impl PutOff {
    const NOTHING: PutOff = PutOff { cpu: 0.0, time: 0.0, at_once_s: 0.0, bursts: 0.0 };
    const UNKNOWN: PutOff =
        PutOff { cpu: f64::INFINITY, time: f64::INFINITY, at_once_s: f64::INFINITY, bursts: f64::INFINITY };

    /// So many CPU seconds, of one that used `own_s` in `loaded_s` under load.
    fn of(used_s: f64, [at_once_s, bursts_s]: [f64; 2], (own_s, loaded_s): (f64, f64)) -> Self {
        let share = |used_s: f64, of_s: f64| if of_s > 0.0 { used_s / of_s } else { 0.0 };
        let told = |share: f64| if share > SPILL { share } else { 0.0 };
        let [cpu, time] = [own_s, loaded_s].map(|of_s| told(share(used_s, of_s)));
        PutOff { cpu, time, at_once_s, bursts: share(bursts_s, loaded_s) }
    }

    /// What a target that cannot go round used of a CPU in slices of others. By the quiet slices or by all, whichever show more, for
    /// its CPU time is by its own clocks.
    pub(crate) fn in_slices(everywhere: &[&Launch]) -> Self {
        let quiet = everywhere.iter().flat_map(|launch| slices::quiet(launch.measured(), launch.record));
        let all = everywhere.iter().flat_map(|launch| slices::measured(&launch.record.slices));
        Self::in_these(&quiet.collect::<Vec<_>>()).or(Self::in_these(&all.collect::<Vec<_>>()))
    }

    fn in_these(slices: &[&Slice]) -> Self {
        let sum = |of: fn(&Slice) -> f64| slices.iter().map(|slice| of(slice)).sum::<f64>();
        let (idle_cpu_s, idle_s) = (sum(|slice| slice.idle_cpu_s), sum(|slice| slice.idle_s));
        let own = (sum(|slice| slice.cpu_s), sum(|slice| slice.length_s));
        match idle_cpu_s {
            _ if own.0 <= 0.0 || idle_cpu_s <= SPILL * idle_s => Self::NOTHING,
            used_s if used_s > NEVER_DONE * idle_s => Self::UNKNOWN,
            // When it would do that alone nobody knows.
            _ => Self::of(sum(Slice::put_off_s), [f64::INFINITY; 2], own),
        }
    }

    /// What it used once its load was over, where it was to be watched for so many seconds: unknown where nobody did so to the end.
    pub(crate) fn at_rest(everywhere: &[&Launch], asked_s: f64) -> Self {
        if asked_s <= 0.0 || everywhere.is_empty() {
            return Self::NOTHING;
        }
        let mut is_whole = false;
        let seen = everywhere.iter().filter_map(|launch| {
            let (seen, load) = (launch.record.observation.as_ref()?, launch.measured()?);
            let (rest, slices) = (seen.rest.as_ref()?, &launch.record.slices);
            is_whole |= rest.is_whole(asked_s);
            if !is_done(rest) {
                return Some(Self::UNKNOWN);
            }
            // Of slices both are over their whole length, and what it always does while it idles is charged to it.
            let length_s: f64 = slices::measured(slices).map(|slice| slice.length_s).sum();
            let loaded_s = if slices.is_empty() { load.window_s } else { length_s };
            let always = slices::cpus_while_idle(slices).min(median_cpus(rest));
            let used_s = (rest.cpu_s() - always * rest.length_s()).max(0.0);
            Some(Self::of(used_s, bursts_s(rest, slices.is_empty()), (seen.cpu_s(), loaded_s)))
        });
        // Of one that was not watched to the end it is the least.
        let least = seen.reduce(Self::or);
        least.filter(|_| is_whole).unwrap_or(Self::UNKNOWN)
    }

    /// The more of each.
    pub(crate) fn or(self, other: Self) -> Self {
        self.each(other, f64::max)
    }

    /// The less of each.
    pub(crate) fn and(self, other: Self) -> Self {
        self.each(other, f64::min)
    }

    /// What it is more than another, where that did no more at once than runtimes do that tidy up. Of what was used in all nothing is
    /// excused: that of the one may be owed for its requests, and that of the other be the same after any load.
    pub(crate) fn beyond(self, other: Self) -> Self {
        if other.at_once_s > TIDYING_S {
            return self;
        }
        let more = |own: f64, other: f64| if own.is_finite() { (own - other).max(0.0) } else { own };
        PutOff { at_once_s: more(self.at_once_s, other.at_once_s), bursts: more(self.bursts, other.bursts), ..self }
    }

    fn each(self, other: Self, of: impl Fn(f64, f64) -> f64) -> Self {
        PutOff {
            cpu: of(self.cpu, other.cpu),
            time: of(self.time, other.time),
            at_once_s: of(self.at_once_s, other.at_once_s),
            bursts: of(self.bursts, other.bursts),
        }
    }

    pub(crate) fn is_any(self) -> bool {
        self != Self::NOTHING
    }

    /// Of CPU per request, what it could be at most as a share of what was seen.
    pub(crate) fn most_cpu(self) -> f64 {
        1.0 + self.cpu
    }

    /// The same of a figure of which all requests make a part.
    pub(crate) fn most_time(self) -> f64 {
        1.0 + self.time
    }

    /// The same of a latency that a single hold-up makes: where more requests may have been held up than a tenth of those above it.
    pub(crate) fn most_of_tail(self, metric: Metric, value_us: f64) -> f64 {
        let is_touched = self.bursts > TOUCHED_PART * marks::share_above(metric);
        let held_up = if is_touched { 1.0 + 1e6 * self.at_once_s / value_us } else { 1.0 };
        held_up.max(self.most_time())
    }
}

/// Whether it was seen with all its processes, and had done all that it had to do: it was not at work for much of the time, nor for the
/// last of it.
fn is_done(rest: &Rest) -> bool {
    let cpus = |steps: &[RestStep]| {
        let (cpu_s, length_s) =
            steps.iter().fold((0.0, 0.0), |(cpu_s, length_s), step| (cpu_s + step.cpu_s, length_s + step.length_s));
        if length_s > 0.0 { cpu_s / length_s } else { 0.0 }
    };
    let last = (rest.steps.len() as f64 * LAST_PART).ceil() as usize;
    let is_seen = !rest.ended && !rest.unwaited;
    is_seen && cpus(&rest.steps) <= NEVER_DONE && cpus(&rest.steps[rest.steps.len() - last..]) <= NEVER_DONE
}

/// How many CPUs it used in half of the steps at most: what it does evenly.
fn median_cpus(rest: &Rest) -> f64 {
    let mut cpus: Vec<f64> = rest.steps.iter().map(|step| step.cpu_s / step.length_s.max(f64::MIN_POSITIVE)).collect();
    cpus.sort_by(f64::total_cmp);
    cpus.get(cpus.len() / 2).copied().unwrap_or(0.0)
}

/// CPU seconds that it used in steps in which it was at work: the most in steps that follow each other, and all. After a load of its own
/// its connections are closed, which is nobody's work.
fn bursts_s(rest: &Rest, is_alone: bool) -> [f64; 2] {
    // What it did at once does not become less by a look that came late.
    let is_at_work = |step: &RestStep| step.cpu_s > AT_WORK * step.length_s.min(LATE_LOOK_S);
    let mut since_s = 0.0;
    let closing = rest.steps.iter().take_while(|step| {
        let began_s = since_s;
        since_s += step.length_s;
        is_alone && began_s < CLOSING_S
    });
    let runs = rest.steps[closing.count()..].split(|step| !is_at_work(step));
    let runs = runs.map(|run| run.iter().map(|step| step.cpu_s).sum::<f64>());
    runs.fold([0.0, 0.0], |[most_s, all_s], run_s| [f64::max(most_s, run_s), all_s + run_s])
}
