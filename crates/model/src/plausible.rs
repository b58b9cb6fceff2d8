//! What a record must be to be judged. One that the lab or a load wrote is; one that is read may be damaged or made up.

use std::ops::RangeInclusive;

use serde_json::Value;

use crate::units::LONGEST_NS;
use crate::{
    ConnectionCounts, GeneratorUse, Interval, Latencies, LatencySummary, Measurement, NS_PER_S, Observation, Residence,
    Slice, Standstills, ThreadUse, TrialRecord,
};

/// The longest that anything is measured, in seconds.
const LONGEST_S: f64 = (LONGEST_NS / NS_PER_S) as f64;

/// The shortest that a clock tells from nothing, in seconds.
const SHORTEST_S: f64 = 1e-9;

/// Longest time that a histogram holds, with what its buckets round up, in µs.
const LONGEST_US: f64 = 1.01 * 3.6e9;

/// By how much a figure of a histogram may pass another of the same bucket.
const BUCKET: f64 = 1.002;

/// A share may be above 1 by what its arithmetic rounds.
const WHOLE: f64 = 1.000_001;

/// What no count and no other figure comes near.
const MOST: f64 = (1_u64 << 60) as f64;

/// More bytes than any machine has memory: 1 PiB.
const MOST_BYTES: f64 = (1_u64 << 50) as f64;

/// By how much a mean may be off, in µs, and as a share: it is rounded, and so are the values that it is of.
const MEAN_OFF: (f64, f64) = (1.0, 1.01);

/// CPU seconds that a thread may seem to have used beyond the time that passed: its two clocks are read one after the other.
const READING_S: f64 = 0.1;

/// More CPUs than Linux can use.
const MOST_CPUS: f64 = 8_192.0;

/// Why no machine has so many bytes of memory.
const NO_MEMORY: &str = "no machine has more than 1 PiB of memory";

/// Share of a window that a generator thread sees at least, and seconds by which it may see less than that, beside the times for
/// which it stood still: it may come up to 10 ms late to each window without one, and a slice is a window of 0.1 s at least.
const SEEN: (f64, f64) = (0.85, 0.01);

type Checked = Result<(), String>;

impl TrialRecord {
    /// The first figure that nobody can have measured, and why not; none in a record as it was written.
    pub fn fault(&self) -> Option<String> {
        self.check().err()
    }

    fn check(&self) -> Checked {
        let ready_ms = self.time_to_ready_ms.filter(|ms| *ms != 0.0);
        let rule = "a length in ms is 0, or from a nanosecond to a year";
        within("time_to_ready_ms", ready_ms, SHORTEST_S * 1e3..=LONGEST_S * 1e3, rule)?;
        self.measurement.iter().chain(&self.beside).try_for_each(Measurement::check)?;
        self.observation.as_ref().map_or(Ok(()), Observation::check)?;
        let mut slices = self.slices.iter().enumerate();
        slices.try_for_each(|(index, slice)| slice.check(&format!("slices[{index}].")))?;
        // Which figures there are, also in what is not looked at above, their written form knows.
        let written = |of: &str, part: serde_json::Result<Value>| bounded(of, &part.unwrap_or_default());
        written("", serde_json::to_value(&self.measurement))?;
        written("beside", serde_json::to_value(&self.beside))?;
        written("backend", serde_json::to_value(self.backend))?;
        written("observation", serde_json::to_value(&self.observation))?;
        written("slices", serde_json::to_value(&self.slices))
    }
}

/// Whether no figure within is larger than any that can be measured.
fn bounded(field: &str, value: &Value) -> Checked {
    let dot = if field.is_empty() { "" } else { "." };
    match value {
        Value::Number(number) => within(field, number.as_f64(), -MOST..=MOST, "nothing that is measured is so large"),
        Value::Array(values) => {
            values.iter().enumerate().try_for_each(|(at, value)| bounded(&format!("{field}[{at}]"), value))
        }
        Value::Object(fields) => {
            fields.iter().try_for_each(|(name, value)| bounded(&format!("{field}{dot}{name}"), value))
        }
        _ => Ok(()),
    }
}

/// Whether a figure is in its range; one that is absent is. `rule` says what the range is.
fn within(field: &str, value: impl Into<Option<f64>>, range: RangeInclusive<f64>, rule: &str) -> Checked {
    match value.into() {
        Some(value) if !range.contains(&value) => Err(format!("`{field}` is {}: {rule}", shown(value))),
        _ => Ok(()),
    }
}

/// A figure that may have any size.
fn shown(value: f64) -> String {
    match value.abs() {
        0.0 | 1e-6..1e9 => value.to_string(),
        _ => format!("{value:e}"),
    }
}

/// A length of time in seconds. Between nothing and what a clock can tell there is none.
fn length(field: &str, seconds: impl Into<Option<f64>>) -> Checked {
    match seconds.into().filter(|seconds| *seconds != 0.0) {
        None => Ok(()),
        some => within(field, some, SHORTEST_S..=LONGEST_S, "a length in seconds is 0, or from a nanosecond to a year"),
    }
}

/// An amount of CPU time or of requests' time, of which there may be more than time passes.
fn amount(field: &str, seconds: impl Into<Option<f64>>) -> Checked {
    within(field, seconds, 0.0..=f64::MAX, "an amount of time is not negative")
}

fn share(field: &str, share: impl Into<Option<f64>>) -> Checked {
    within(field, share, 0.0..=WHOLE, "a share is from 0 to 1")
}

fn moment(field: &str, seconds: f64) -> Checked {
    within(field, seconds, -LONGEST_S..=LONGEST_S, "a load lasts a year at most")
}

/// Whether figures of a distribution are latencies and ascend.
fn ascending(of: &str, figures: &[(&str, Option<f64>)]) -> Checked {
    let mut before: Option<(&str, f64)> = None;
    for (name, us) in figures {
        within(&format!("{of}{name}"), *us, 0.0..=LONGEST_US, "in µs it cannot be a latency (0 to one hour)")?;
        if let (Some((smaller, least)), Some(us)) = (before, us)
            && us * BUCKET < least
        {
            let (us, least) = (shown(*us), shown(least));
            return Err(format!("`{of}{name}` is {us} µs, less than {smaller} with {least} µs: quantiles ascend"));
        }
        before = us.map(|us| (*name, us)).or(before);
    }
    Ok(())
}

impl Measurement {
    /// The first figure that nobody can have measured, and why not.
    pub fn fault(&self) -> Option<String> {
        self.check().err()
    }

    fn check(&self) -> Checked {
        length("window_s", self.window_s)?;
        length("slowest_reply_s", self.slowest_reply_s)?;
        let (ok, completed) = (self.in_window.ok, self.in_window.completed);
        if ok > completed {
            return Err(format!("`in_window.ok` is {ok}: no more replies are ok than are complete ({completed})"));
        }
        self.adds_up()?;
        self.lasted()?;
        self.latency_us.check("latency_us")?;
        self.standstills.as_ref().map_or(Ok(()), Standstills::check)?;
        self.residence.check("")?;
        self.generator.check()?;
        self.connections.check()?;
        let mut steps = self.steps.iter().enumerate();
        steps.try_for_each(|(index, step)| step.check(&format!("steps[{index}].")))
    }

    fn steps_in_window(&self) -> impl Iterator<Item = &Interval> {
        self.steps.iter().filter(|step| step.at_s >= 0.0)
    }

    /// Whether the replies of the window are those of its parts, and no latency is of more requests than there were.
    fn adds_up(&self) -> Checked {
        let (window, books) = (&self.in_window, &self.accounting);
        let steps = |count: fn(&Interval) -> u64| crate::sum(self.steps_in_window().map(count));
        let halves = crate::sum(window.halves.iter().map(|half| half.completed));
        let parts = [
            ("completed", window.completed, "steps", steps(|step| step.completed)),
            ("ok", window.ok, "steps", steps(|step| step.ok)),
            // Earlier versions did not keep halves.
            ("completed", window.completed, "halves", if halves == 0 { window.completed } else { halves }),
        ];
        if let Some((of, whole, parts, sum)) = parts.into_iter().find(|(_, whole, _, sum)| whole != sum) {
            return Err(format!("`in_window.{of}` is {whole}: the {parts} of the window come to {sum}"));
        }
        let latencies = [
            ("response", &self.latency_us.response, "scheduled", books.scheduled),
            ("service", &self.latency_us.service, "sent", books.sent),
        ];
        for (name, of, requests, most) in latencies {
            let counted = of.as_ref().map_or(0, |of| crate::sum([of.count, of.failed]));
            if counted > most {
                return Err(format!("`latency_us.{name}` is of {counted} requests: {most} were {requests}"));
            }
        }
        Ok(())
    }

    /// Whether the window is as long as its steps and the generator's threads saw it.
    fn lasted(&self) -> Checked {
        let last_s = self.steps_in_window().map(|step| step.at_s + step.length_s).fold(0.0, f64::max);
        within("window_s", self.window_s, last_s / WHOLE..=f64::MAX, "its steps last longer")?;
        let seen_s = self.generator.threads.iter().map(|thread| thread.wall_s).fold(last_s, f64::max);
        let most_s = seen_s / SEEN.0 + SEEN.1 + self.stood_still_s();
        let rule = "neither its steps nor a thread of the generator (`wall_s`) lasted so long";
        within("window_s", self.window_s, 0.0..=most_s, rule)
    }
}

impl Latencies {
    fn check(&self, of: &str) -> Checked {
        let all = [
            ("response", &self.response),
            ("total", &self.total),
            ("service", &self.service),
            ("lateness", &self.lateness),
            ("first_byte", &self.first_byte),
            ("connect", &self.connect),
            ("handshake", &self.handshake),
        ];
        let mut there = all.into_iter().filter_map(|(name, summary)| Some((name, summary.as_ref()?)));
        there.try_for_each(|(name, summary)| summary.check(&format!("{of}.{name}.")))
    }
}

impl LatencySummary {
    fn check(&self, of: &str) -> Checked {
        ascending(of, &[&[("min", self.min)], &self.quantiles()[..], &[("max", self.max)]].concat())?;
        for (name, us) in [("mean", self.mean), ("exact_below", self.exact_below)] {
            ascending(of, &[(name, us)])?;
        }
        let highest = self.max.map_or(f64::MAX, |max| (max + MEAN_OFF.0) * MEAN_OFF.1);
        within(&format!("{of}mean"), self.mean, 0.0..=highest, "no mean is above all values")?;
        let most = self.mean.map_or(f64::MAX, |mean| (mean + MEAN_OFF.0) * MEAN_OFF.1 * self.count.max(1) as f64);
        within(&format!("{of}max"), self.max, 0.0..=most, "no value is more than all together (mean × count)")
    }
}

impl Standstills {
    fn check(&self) -> Checked {
        length("standstills.sum_s", self.sum_s)?;
        length("standstills.longest_s", self.longest_s)?;
        for (index, span) in self.spans.iter().enumerate() {
            moment(&format!("standstills.spans[{index}].at_s"), span.at_s)?;
            length(&format!("standstills.spans[{index}].length_s"), span.length_s)?;
        }
        self.without_us.check("standstills.without_us")
    }
}

impl Residence {
    fn check(&self, of: &str) -> Checked {
        let field = |name: &str| format!("{of}residence.{name}");
        amount(&field("in_flight_s"), self.in_flight_s)?;
        amount(&field("requests_s"), self.requests_s)?;
        amount(&field("completed_s"), self.completed_s)
    }
}

impl GeneratorUse {
    fn check(&self) -> Checked {
        self.network_delay.as_ref().map_or(Ok(()), |delay| delay.check("network_delay"))?;
        let mut threads = self.threads.iter().enumerate();
        threads.try_for_each(|(index, thread)| thread.check(&format!("threads[{index}]")))
    }
}

impl ThreadUse {
    fn check(&self, of: &str) -> Checked {
        let field = |name: &str| format!("generator.{of}.{name}");
        length(&field("wall_s"), self.wall_s)?;
        let most = self.wall_s + READING_S;
        let rule = "a thread uses no more CPU than time passes (wall_s)";
        within(&field("cpu_s"), self.cpu_s, 0.0..=most, rule)?;
        amount(&field("run_delay_s"), self.run_delay_s)?;
        within(&field("longest_stall_us"), self.longest_stall_us, 0.0..=LONGEST_S * 1e6, "a load lasts a year at most")
    }
}

impl ConnectionCounts {
    fn check(&self) -> Checked {
        let rule = "no more connections are opened in the window than in the whole load (opened)";
        let inside = self.opened_in_window.map(|count| count as f64);
        within("connections.opened_in_window", inside, 0.0..=self.opened as f64, rule)?;
        share("connections.jain", self.jain)
    }
}

impl Interval {
    fn check(&self, of: &str) -> Checked {
        moment(&format!("{of}at_s"), self.at_s)?;
        length(&format!("{of}length_s"), self.length_s)?;
        ascending(of, &[("p50_us", self.p50_us), ("p99_us", self.p99_us), ("max_us", self.max_us)])?;
        ascending(of, &[("replied_max_us", self.replied_max_us), ("max_us", self.max_us)])?;
        ascending(of, &[("exact_below_us", self.exact_below_us), ("max_us", self.max_us)])
    }
}

impl Slice {
    fn check(&self, of: &str) -> Checked {
        let field = |name: &str| format!("{of}{name}");
        moment(&field("at_s"), self.at_s)?;
        for (name, seconds) in [("length_s", self.length_s), ("window_s", self.window_s), ("idle_s", self.idle_s)] {
            length(&field(name), seconds)?;
        }
        if self.ok > self.completed {
            let (ok, completed) = (self.ok, self.completed);
            return Err(format!("`{of}ok` is {ok}: no more replies are ok than are complete ({completed})"));
        }
        let halves = self.halves.map(|halves| crate::sum(halves.iter().map(|half| half.completed)));
        if halves.is_some_and(|halves| halves != self.completed) {
            let (completed, halves) = (self.completed, halves.unwrap_or_default());
            return Err(format!(
                "`{of}halves` have {halves} replies: together they have all that are complete ({completed})"
            ));
        }
        ascending(of, &[("p50_us", self.p50_us), ("p99_us", self.p99_us)])?;
        self.residence.iter().try_for_each(|residence| residence.check(of))?;
        let cpu = |name: &str, cpu_s: Option<f64>, length_s: f64| {
            amount(&field(name), cpu_s)?;
            let rule = "it is more than 8,192 CPUs have in that time";
            within(&field(name), cpu_s, 0.0..=(length_s + READING_S) * MOST_CPUS, rule)
        };
        cpu("cpu_s", Some(self.cpu_s), self.length_s)?;
        cpu("idle_cpu_s", Some(self.idle_cpu_s), self.idle_s)?;
        if let Some(woke) = &self.prelude {
            length(&field("prelude.length_s"), woke.length_s)?;
            cpu("prelude.cpu_s", Some(woke.cpu_s), woke.length_s)?;
        }
        cpu("neighbours_cpu_s", self.neighbours_cpu_s, self.length_s)?;
        amount(&field("generator_run_delay_s"), self.generator_run_delay_s)?;
        share(&field("steal_share"), self.steal_share)?;
        share(&field("others_share"), self.others_share)
    }
}

impl Observation {
    fn check(&self) -> Checked {
        length("observation.window_s", self.window_s)?;
        amount("observation.cpu_user_s", self.cpu_user_s)?;
        amount("observation.cpu_system_s", self.cpu_system_s)?;
        self.used_cpu()?;
        self.had_memory()?;
        share("observation.host.steal_share", self.host.steal_share)?;
        share("observation.host.others_share", self.host.others_share)?;
        for (index, step) in self.rest.iter().flat_map(|rest| &rest.steps).enumerate() {
            let field = |name: &str| format!("observation.rest.steps[{index}].{name}");
            length(&field("length_s"), step.length_s)?;
            amount(&field("cpu_s"), step.cpu_s)?;
            let rule = "it is more than 8,192 CPUs have in that time";
            within(&field("cpu_s"), step.cpu_s, 0.0..=(step.length_s + READING_S) * MOST_CPUS, rule)?;
        }
        if let Some(profile) = &self.profile {
            share("observation.profile.share", profile.share)?;
            let mut functions = profile.functions.iter();
            functions
                .try_for_each(|function| share("observation.profile.functions.flat_share", function.flat_share))?;
        }
        for (index, second) in self.seconds.iter().enumerate() {
            let field = |name: &str| format!("observation.seconds[{index}].{name}");
            moment(&field("at_s"), second.at_s)?;
            length(&field("length_s"), second.length_s)?;
            amount(&field("cpu_s"), second.cpu_s)?;
            within(&field("memory_bytes"), second.memory_bytes as f64, 0.0..=MOST_BYTES, NO_MEMORY)?;
        }
        Ok(())
    }

    /// Whether the CPUs of a machine can have had that much time. How many this one has is not known: a target may run on others than
    /// those that bourdon may use.
    fn used_cpu(&self) -> Checked {
        let most = (self.window_s + READING_S) * MOST_CPUS;
        let rule = "with `cpu_user_s` it is more than 8,192 CPUs have in `window_s`";
        within("observation.cpu_system_s", self.cpu_s(), 0.0..=most, rule)
    }

    /// Whether a machine can have that much memory.
    fn had_memory(&self) -> Checked {
        let all = [
            ("memory_at_rest_bytes", Some(self.memory_at_rest_bytes)),
            ("memory_after_bytes", self.memory_after_bytes),
            ("pss_at_rest_bytes", self.pss_at_rest_bytes),
            ("pss_after_bytes", self.pss_after_bytes),
            ("peak_memory_bytes", Some(self.peak_memory_bytes)),
            ("peak_at_most_bytes", self.peak_at_most_bytes),
            ("peak_pss_bytes", self.peak_pss_bytes),
        ];
        let known = |bytes: Option<u64>| bytes.map(|bytes| bytes as f64);
        let mut all = all.into_iter();
        all.try_for_each(|(name, bytes)| {
            within(&format!("observation.{name}"), known(bytes), 0.0..=MOST_BYTES, NO_MEMORY)
        })
    }
}
