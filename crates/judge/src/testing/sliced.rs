use std::collections::BTreeMap;
use std::rc::Rc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use model::*;

use super::measured::{SHAPE, felt_in, half_of, part, summarised};
use super::seen;

/// How long a target is warmed up in its first turn, in seconds.
const WARM_UP_S: f64 = 1.0;

/// Cuts a trial's load into so many slices, which share evenly what was measured.
pub(crate) fn cut(trial: &mut TrialRecord, rounds: u32) {
    let measured = trial.measurement.as_ref().unwrap();
    let (window_s, completed) = (measured.window_s / f64::from(rounds), measured.in_window.completed);
    let parts: Vec<(f64, u64)> = (0..rounds).map(|number| (window_s, part(completed, rounds, number))).collect();
    cut_in(trial, &parts);
}

/// Makes a trial's load one in slices of these lengths in seconds and numbers of replies, each after a lead-in of a tenth of it,
/// beside another target that does the same; between them neither uses CPU. Before the first are its two turns of warm-up.
pub(crate) fn cut_in(trial: &mut TrialRecord, parts: &[(f64, u64)]) {
    let cpus = trial.observation.as_ref().map_or(0.0, Observation::cpus_used);
    let measured = trial.measurement.as_mut().unwrap();
    let around_us = measured.latency_us.service.as_ref().and_then(|service| service.mean).unwrap();
    let per_s = measured.in_window.completed as f64 / measured.window_s;
    let warm_up = [WARM_UP_S, parts[0].0].map(|window_s| (0, window_s, 0.0, (per_s * window_s) as u64));
    let counting =
        (1..).zip(parts).map(|(round, (window_s, completed))| (round, *window_s, 0.1 * window_s, *completed));
    let mut at_s = 0.0;
    let mut slice = |(round, window_s, lead_in_s, completed): (u32, f64, f64, u64)| {
        let length_s = lead_in_s + window_s;
        let made = Slice {
            round,
            position: 1,
            at_s,
            length_s,
            window_s,
            completed,
            ok: completed,
            accounting: Some(Accounting {
                scheduled: completed,
                sent: completed,
                completed,
                ok: completed,
                ..Accounting::default()
            }),
            residence: Some(Residence { in_flight_s: window_s, requests_s: window_s, completed_s: window_s }),
            halves: Some([0, 1].map(|half| half_of(part(completed, 2, half), around_us))),
            replies: completed + (completed as f64 * lead_in_s / window_s) as u64,
            prelude: (round > 0).then(|| Prelude {
                length_s: lead_in_s,
                replies: (completed as f64 * lead_in_s / window_s) as u64,
                cpu_s: cpus * lead_in_s,
                ..Prelude::default()
            }),
            cpu_s: cpus * length_s,
            idle_s: 1.9 * window_s,
            neighbours_cpu_s: Some(0.0),
            generator_run_delay_s: Some(0.003 * length_s),
            ..Slice::default()
        };
        at_s += length_s + made.idle_s;
        made
    };
    trial.slices = warm_up.into_iter().chain(counting).map(&mut slice).collect();
    measured.steps = steps(&trial.slices);
    let window_s = parts.iter().map(|(window_s, _)| window_s).sum();
    measured.residence =
        residence(measured.residence.in_flight_s / measured.window_s, window_s, parts.len(), around_us);
    measured.window_s = window_s;
    count(measured, parts.iter().map(|(_, completed)| completed).sum());
    let seen = trial.observation.take();
    trial.observation = seen.map(|seen| seen::in_slices(&trial.slices, seen.cpus, seen.host));
    // Most slices have as many as others.
    let mut shapes = BTreeMap::new();
    let mut shape =
        |count: u64| shapes.entry(count).or_insert_with(|| Rc::new(Felt::of(shaped(around_us, count)))).clone();
    feel_by(trial, |slice| shape(slice.completed));
    let preludes = trial.slices.iter_mut().filter_map(|slice| slice.prelude.as_mut());
    preludes.for_each(|prelude| prelude.felt = Some(shape(prelude.replies).encoded.clone()));
}

/// What so many requests in flight come to. The end of each window cuts one off on every connection, as a mean in its middle.
fn residence(in_flight: f64, window_s: f64, windows: usize, service_us: f64) -> Residence {
    let requests_s = in_flight * window_s;
    let cut_off_s = in_flight * windows as f64 * service_us / 2e6;
    Residence { in_flight_s: requests_s, requests_s, completed_s: (requests_s - cut_off_s).max(0.0) }
}

/// Makes it a load with so many replies, all as expected. Its connections were opened before its first slice, and are counted alone.
fn count(measured: &mut Measurement, replies: u64) {
    let bytes_each = measured.in_window.ok_bytes / measured.in_window.ok.max(1);
    let books = &mut measured.accounting;
    (books.scheduled, books.sent, books.completed, books.ok) = (replies, replies, replies, replies);
    let window = &mut measured.in_window;
    (window.completed, window.ok, window.ok_bytes) = (replies, replies, replies * bytes_each);
    measured.latency_us.connect = None;
}

/// A step for the lead-in of the first slice that counts, and one for each of them.
fn steps(slices: &[Slice]) -> Vec<Interval> {
    let counting = || slices.iter().filter(|slice| slice.round > 0);
    let counted = |at_s: f64, length_s: f64, replies: u64| Interval {
        at_s,
        length_s,
        completed: replies,
        ok: replies,
        sent: replies,
        ..Interval::default()
    };
    let lead_in = counting().next().map(|it| counted(-1.0, it.length_s - it.window_s, it.replies - it.completed));
    let mut passed_s = 0.0;
    let step = |slice: &Slice| {
        let at_s = passed_s;
        passed_s += slice.window_s;
        counted(at_s, slice.window_s, slice.completed)
    };
    lead_in.into_iter().chain(counting().map(step)).collect()
}

/// Gives a trial's slices these felt latencies by round, in µs, and the trial what they come to; what woke it for them tells none.
pub(crate) fn feel(trial: &mut TrialRecord, of_round: impl Fn(u32) -> Vec<f64>) {
    trial.slices.iter_mut().filter_map(|slice| slice.prelude.as_mut()).for_each(|prelude| prelude.felt = None);
    feel_by(trial, |slice| Rc::new(Felt::of(recorded(&of_round(slice.round)))));
}

/// Gives the requests that woke a target for a slice these felt latencies, in µs.
pub(crate) fn woke(slice: &mut Slice, us: &[f64]) {
    slice.prelude.iter_mut().for_each(|prelude| prelude.felt = Some(encoded(&recorded(us))));
}

fn recorded(us: &[f64]) -> Histogram<u64> {
    let mut felt = histogram();
    us.iter().for_each(|us| felt.record((us * 1e3 / TICK_NS as f64) as u64).unwrap());
    felt
}

/// What was felt in a slice.
struct Felt {
    all: Histogram<u64>,
    encoded: String,
    /// None where it had no reply.
    figures: Option<LatencySummary>,
}

impl Felt {
    fn of(all: Histogram<u64>) -> Felt {
        Felt { encoded: encoded(&all), figures: summary_of(Members::Sent, &all), all }
    }
}

fn feel_by(trial: &mut TrialRecord, mut felt_of: impl FnMut(&Slice) -> Rc<Felt>) {
    let measured = trial.measurement.as_mut().unwrap();
    let mut steps = measured.steps.iter_mut().filter(|step| step.at_s >= 0.0);
    let mut whole = histogram();
    for slice in &mut trial.slices {
        let felt = felt_of(slice);
        let figures = felt.figures.as_ref();
        slice.p50_us = figures.and_then(|felt| felt.p50);
        slice.p99_us = figures.and_then(|felt| felt.p99);
        slice.felt = figures.map(|_| felt.encoded.clone());
        if slice.round == 0 {
            continue;
        }
        whole.add(&felt.all).unwrap();
        if let Some((figures, step)) = figures.zip(steps.next()) {
            slice.halves = slice.halves.map(|halves| halves.map(|half| half_of(half.completed, figures.mean.unwrap())));
            *step = felt_in(*step, figures);
        }
    }
    measured.in_window.halves = halves(&trial.slices);
    let latencies = &mut measured.latency_us;
    latencies.service = summary_of(Members::Sent, &whole);
    latencies.first_byte = summary_of(Members::Completed, &whole);
    measured.slowest_reply_s = latencies.service.as_ref().and_then(|service| service.max).map(|us| us / 1e6);
}

/// The halves of all that was measured: those of half of the slices each.
fn halves(slices: &[Slice]) -> [HalfCount; 2] {
    let all: Vec<HalfCount> =
        slices.iter().filter(|slice| slice.round > 0).filter_map(|slice| slice.halves).flatten().collect();
    let (first, second) = all.split_at(all.len() / 2);
    [first, second].map(|part| HalfCount {
        completed: part.iter().map(|half| half.completed).sum(),
        service_ns: part.iter().map(|half| half.service_ns).sum(),
        response_ns: part.iter().map(|half| half.response_ns).sum(),
    })
}

/// The slice of a round that counts.
pub(crate) fn slice(trial: &mut TrialRecord, round: u32) -> &mut Slice {
    trial.slices.iter_mut().find(|slice| slice.round == round).unwrap()
}

fn histogram() -> Histogram<u64> {
    Histogram::new(3).unwrap()
}

fn encoded(felt: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(felt, &mut bytes).unwrap();
    STANDARD.encode(bytes)
}

/// So many requests that took about so long, as [`super::summary`] has them.
fn shaped(around_us: f64, count: u64) -> Histogram<u64> {
    let bins = count.min(1_000) as u32;
    let mut felt = histogram();
    for bin in 0..bins {
        let us = around_us * factor((f64::from(bin) + 0.5) / f64::from(bins));
        felt.record_n((us * 1e3 / TICK_NS as f64).round() as u64, part(count, bins, bin)).unwrap();
    }
    felt
}

/// How far a quantile lies from the mean, between those that are known.
fn factor(q: f64) -> f64 {
    let above = SHAPE.iter().position(|(at, _)| *at >= q).unwrap_or(SHAPE.len() - 1).max(1);
    let ((from, low), (to, high)) = (SHAPE[above - 1], SHAPE[above]);
    low + (high - low) * (q - from) / (to - from)
}

fn summary_of(population: Members, felt: &Histogram<u64>) -> Option<LatencySummary> {
    let at = |q: f64| {
        Some(
            if q == 0.0 { felt.min() } else { felt.value_at_quantile(q).min(felt.max()) } as f64 * TICK_NS as f64 / 1e3,
        )
    };
    (!felt.is_empty()).then(|| summarised(population, felt.len(), felt.mean() * TICK_NS as f64 / 1e3, at))
}
