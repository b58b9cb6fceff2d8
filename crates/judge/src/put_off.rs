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

    /// The more of each.
    pub(crate) fn or(self, other: Self) -> Self {
        PutOff {
            cpu: self.cpu.max(other.cpu),
            time: self.time.max(other.time),
            at_once_s: self.at_once_s.max(other.at_once_s),
            bursts: self.bursts.max(other.bursts),
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

/// What a target did once its load was over, where it was to be watched then.
#[derive(Debug, Clone)]
pub(crate) enum AtRest {
    /// It was not to be watched.
    Unasked,
    /// Nobody watched it to the end, or it was not done then.
    Unknown,
    /// In each of its launches that were watched.
    Seen(Vec<Rested>),
}

/// What a target did after one of its loads, in seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rested {
    /// CPU, without what it always does while others have their slices.
    used_s: f64,
    /// The most CPU in looks that follow each other, in each of which it was at work.
    at_once_s: f64,
    /// CPU in all of these.
    bursts_s: f64,
    /// CPU under load.
    own_s: f64,
    /// Under load.
    loaded_s: f64,
}

impl AtRest {
    /// Of one that was to be watched for so many seconds, in launches that are alone or not: who is has no pauses in which it could have
    /// done a part of that before.
    pub(crate) fn of(everywhere: &[&Launch], is_alone: bool, asked_s: f64) -> Self {
        if asked_s <= 0.0 || everywhere.is_empty() {
            return Self::Unasked;
        }
        let such = everywhere.iter().filter(|launch| launch.record.slices.is_empty() == is_alone);
        let seen = such.filter_map(|launch| Rested::of(launch));
        let (rests, all): (Vec<&Rest>, Vec<Rested>) = seen.unzip();
        // Of one that was not watched to the end it is the least.
        let is_known = rests.iter().any(|rest| rest.is_whole(asked_s)) && rests.iter().all(|rest| is_done(rest));
        if is_known { Self::Seen(all) } else { Self::Unknown }
    }

    /// What of it may be owed; whether all others were at work then, too, as who tidies up is.
    pub(crate) fn put_off(&self, are_others_at_work: bool) -> PutOff {
        match self {
            Self::Unasked => PutOff::NOTHING,
            Self::Unknown => PutOff::UNKNOWN,
            Self::Seen(all) => all.iter().map(|one| one.put_off(are_others_at_work)).fold(PutOff::NOTHING, PutOff::or),
        }
    }

    /// Whether it was at work in a look in each of its launches.
    pub(crate) fn is_at_work(&self) -> bool {
        matches!(self, Self::Seen(all) if all.iter().all(|one| one.bursts_s > 0.0))
    }
}

impl Rested {
    /// With what it was seen by; none of one that was not watched.
    fn of<'a>(launch: &Launch<'a>) -> Option<(&'a Rest, Self)> {
        let (seen, load) = (launch.record.observation.as_ref()?, launch.measured()?);
        let (rest, slices) = (seen.rest.as_ref()?, &launch.record.slices);
        // Of slices both are over their whole length, and what it always does while it idles is charged to it: evenly, and still at
        // the end, when it has nothing left to do.
        let length_s: f64 = slices::measured(slices).map(|slice| slice.length_s).sum();
        let loaded_s = if slices.is_empty() { load.window_s } else { length_s };
        let always = slices::cpus_while_idle(slices).min(median_cpus(rest)).min(cpus(last_of(rest)));
        let used_s = (rest.cpu_s() - always * rest.length_s()).max(0.0);
        let [at_once_s, bursts_s] = bursts_s(rest, slices.is_empty());
        Some((rest, Self { used_s, at_once_s, bursts_s, own_s: seen.cpu_s(), loaded_s }))
    }

    /// What others did may be the same after any load, and this be owed for each request: of a tail alone a little is left aside.
    fn put_off(&self, are_others_at_work: bool) -> PutOff {
        let Self { used_s, at_once_s, bursts_s, own_s, loaded_s } = *self;
        let tidies_up = are_others_at_work && used_s <= TIDYING_S;
        PutOff::of(used_s, if tidies_up { [0.0; 2] } else { [at_once_s, bursts_s] }, (own_s, loaded_s))
    }
}

/// Whether it was seen with all its processes, and had done all that it had to do: it was not at work for much of the time, nor for the
/// last of it.
fn is_done(rest: &Rest) -> bool {
    let is_seen = !rest.ended && !rest.unwaited;
    is_seen && cpus(&rest.steps) <= NEVER_DONE && cpus(last_of(rest)) <= NEVER_DONE
}

/// The last steps.
fn last_of(rest: &Rest) -> &[RestStep] {
    let last = (rest.steps.len() as f64 * LAST_PART).ceil() as usize;
    &rest.steps[rest.steps.len() - last..]
}

/// How many CPUs it used in these.
fn cpus(steps: &[RestStep]) -> f64 {
    let (cpu_s, length_s) =
        steps.iter().fold((0.0, 0.0), |(cpu_s, length_s), step| (cpu_s + step.cpu_s, length_s + step.length_s));
    if length_s > 0.0 { cpu_s / length_s } else { 0.0 }
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
