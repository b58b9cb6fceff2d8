//! What a reader must know of a claim's verdict, a sentence each.

use std::collections::BTreeSet;

use model::{Call, Cell, ClaimVerdict, Coldness, LoadModel, Mark, Metric};

use super::evaluate::{ClaimTest, Outcome, Scaled};
use crate::cells;
use crate::figures::{count, counted, percent};
use crate::guard::{self, Doubt, noise};
use crate::launch::Launch;
use crate::statistics::{Interval, correlation_limit, lag_one_autocorrelation, share_interval, trend};
use crate::thresholds::{BLOCKS_FOR_A_VERDICT, CONFIDENCE, SIGNIFICANCE};

/// Doubts that are told of a verdict that holds in spite of them, too.
const ALWAYS: [Doubt; 7] =
    [Doubt::Generator, Doubt::Unfinished, Doubt::Warming, Doubt::Lateness, Doubt::Failing, Doubt::Wrong, Doubt::Silent];

impl ClaimTest<'_> {
    pub(super) fn notes(&self, values: &[f64], scaled: &Scaled, found: &Outcome) -> Vec<String> {
        let mut notes = Vec::new();
        let unanswered = self.unanswered_notes();
        if unanswered.is_empty() {
            notes.extend(self.unused_notes(values.len()));
        }
        notes.extend(unanswered);
        notes.extend(self.cold_note());
        notes.extend(self.taken_back(found));
        notes.extend(self.cautions(&found.because));
        notes.extend(self.zero_notes());
        notes.extend(self.cores_note(found.verdict));
        notes.extend(self.reconstruction_notes(found.verdict));
        notes.extend(caution(scaled));
        notes
    }

    /// Blocks that are too few, or not all that there are.
    fn unused_notes(&self, used: usize) -> Vec<String> {
        let mut notes = Vec::new();
        let all = self.records.blocks().len();
        // Of a run that has too few this is said once, of all.
        if let Some(asked) = self.records.unfinished() {
            let measured = self.records.complete_blocks();
            notes.push(format!("no verdict yet: {measured} of {asked} blocks were measured"));
        } else if used < BLOCKS_FOR_A_VERDICT && self.records.complete_blocks() >= BLOCKS_FOR_A_VERDICT {
            notes.push(format!("preliminary: {}, six are needed", counted(used as u64, "block", "blocks")));
        }
        if used < all {
            let why = "a launch is void or missing, or a figure could not be estimated";
            notes.push(format!("{} of {all} blocks are not used: {why}", all - used));
        }
        notes
    }

    /// Why there is no figure where a server answered nothing.
    fn unanswered_notes(&self) -> Vec<String> {
        let note = |(cell, times): (usize, usize)| {
            let launches = counted(self.records.valid(cell).count() as u64, "launch", "launches");
            let place = self.place(cell);
            format!(
                "no verdict: {place} answered nothing right in {times} of {launches}, and leaving that out would favour it"
            )
        };
        self.unanswered().into_iter().map(note).collect()
    }

    /// What took back what the figures alone would say.
    fn taken_back(&self, found: &Outcome) -> Option<String> {
        let reasons: Vec<String> = found.because.iter().flat_map(|doubt| self.reasons(*doubt)).collect();
        (!reasons.is_empty())
            .then(|| format!("{} by the figures alone, but {}", found.plainly.words(), reasons.join("; ")))
    }

    /// What is in doubt and was said with no verdict: the verdict holds in spite of it.
    fn cautions(&self, said: &[Doubt]) -> Vec<String> {
        let unsaid = ALWAYS.into_iter().filter(|doubt| !said.contains(doubt) && self.is_in_doubt(*doubt));
        unsaid.flat_map(|doubt| self.reasons(doubt)).collect()
    }

    /// A doubt in words, a sentence for each figure that it is about.
    fn reasons(&self, doubt: Doubt) -> Vec<String> {
        let mut said: Vec<String> = Vec::new();
        for call in self.resolved.expectation.expression.calls() {
            let Some(cell) = self.cell(call) else { continue };
            let reason = self.reason(doubt, call, cell).filter(|reason| !said.contains(reason));
            said.extend(reason);
        }
        said
    }

    fn reason(&self, doubt: Doubt, call: &Call, cell: usize) -> Option<String> {
        let range = |block: &u32| guard::figure(self.records, (cell, *block), call.metric, &[doubt], CONFIDENCE);
        let widest = self.records.blocks().iter().find(|block| range(block).is_some_and(|r| r.low < r.high))?;
        let (place, metric) = (self.place(cell), call.metric.words());
        Some(match doubt {
            Doubt::Sample => return None,
            Doubt::Generator if call.metric == Metric::Throughput => {
                format!("the generator may have been the limit for {place}: its throughput is at least this")
            }
            Doubt::Generator => {
                format!("the generator may have been the limit for {place}: its {metric} is at most this")
            }
            Doubt::Ceiling => format!("{place} did all that the handler delay allows: it may be faster than that"),
            Doubt::Edges => {
                let edges = percent(guard::edges(self.records, cell, *widest)?);
                format!("{place} completed so few requests in the window that its edges weigh {edges}")
            }
            Doubt::Unfinished => format!("the {metric} of {place} is at least this: requests were still unfinished"),
            Doubt::Warming => {
                let faster = self.records.together(cell).gain.map(gain_words)?;
                format!("{place} was still getting faster, so a longer warm-up gives other figures ({faster})")
            }
            Doubt::Lateness => format!("the {metric} of {place} is the generator's as much as the server's"),
            Doubt::Noise => {
                let noisy = self.records.valid(cell).filter(|launch| launch.is(Mark::Noisy)).count();
                let launches = counted(self.records.valid(cell).count() as u64, "launch", "launches");
                let is_closed = self.records.plan.cells[cell].load.model == LoadModel::Closed;
                let why = match noise::is_bounded(call.metric, is_closed) {
                    true => "which alone could have made it".to_owned(),
                    false => format!("and how much that adds to its {metric} has no bound"),
                };
                format!("the machine was busy in {noisy} of {launches} of {place}, {why}")
            }
            Doubt::Failing => format!("more requests of {place} failed than may, and a failure may be quick and cheap"),
            Doubt::Wrong => format!("replies of {place} had wrong content"),
            Doubt::Silent => {
                let failing = self.records.together(cell).failing;
                let (of, what) = match failing.unserved {
                    0 => (failing.stopped, "stopped answering"),
                    unserved => (unserved, "served nothing"),
                };
                format!("{place} {what} in {}", counted(of, "launch", "launches"))
            }
        })
    }

    /// What no error in so many requests can mean.
    fn zero_notes(&self) -> Vec<String> {
        let calls = self.resolved.expectation.expression.calls().into_iter();
        let cells: BTreeSet<usize> =
            calls.filter(|call| call.metric == Metric::Errors).filter_map(|call| self.cell(call)).collect();
        let note = |cell: &usize| {
            let books = self.records.books(*cell);
            let share = share_interval(books.failures(), books.scheduled, CONFIDENCE)?;
            let most = format!("{:.1e}", share.high);
            let (place, n) = (self.place(*cell), count(books.scheduled));
            (books.failures() == 0)
                .then(|| format!("no failure in {n} requests of {place}: the share is at most {most}"))
        };
        cells.iter().filter_map(note).collect()
    }

    /// The cells of which the claim uses a figure under load.
    fn cells_under_load(&self) -> BTreeSet<usize> {
        let calls = self.resolved.expectation.expression.calls().into_iter();
        calls.filter(|call| !call.metric.is_before_load()).filter_map(|call| self.cell(call)).collect()
    }

    /// Whether a server had too little load before its window to be warm: then its figures are of no use to a claim, in
    /// whatever direction.
    pub(super) fn is_cold(&self) -> bool {
        self.cells_under_load().into_iter().any(|cell| cells::too_short_to_warm(self.records, cell).is_some())
    }

    fn cold_note(&self) -> Option<String> {
        let too_short = |cell| cells::too_short_to_warm(self.records, cell);
        let note = |cell: usize| Some(format!("{}: {}", self.place(cell), short_words(too_short(cell)?)));
        let notes: Vec<String> = self.cells_under_load().into_iter().filter_map(note).collect();
        let decides = if self.records.plan.quick { "the full form" } else { "a longer warm-up" };
        (!notes.is_empty()).then(|| format!("cold here: {decides} decides ({})", notes.join("; ")))
    }

    /// Why there is no quantile that the claim asks for: a launch has too few requests for it, or too many failed.
    pub(super) fn too_few_requests(&self) -> Option<String> {
        self.resolved.expectation.expression.calls().into_iter().find_map(|call| {
            let (needed, cell) = (call.metric.required_samples()?, self.cell(call)?);
            let (place, metric, short) = (self.place(cell), call.metric, self.records.short_of(cell, call.metric));
            let requests = |launch: &Launch| Some(launch.record.measurement.as_ref()?.latency_us.felt()?.count);
            let least = self.records.valid(cell).map(|launch| requests(launch).unwrap_or(0)).min()?;
            let of = counted(self.records.valid(cell).count() as u64, "launch", "launches");
            let lost = self.records.has_lost(cell, call.metric);
            if lost > 0 {
                let text = format!(
                    "the {metric} of {place} is not known: more requests failed than lie above it, in {lost} of {of}"
                );
                return Some(text);
            }
            let (needed, least) = (count(needed), count(least));
            let text =
                format!("a {metric} needs {needed} requests a launch; {place} had fewer in {short} of {of} ({least})");
            (short > 0).then_some(text)
        })
    }

    /// `go-gin`, with the conditions that the claim's cells do not share: `go-gin (connections = 100)`. Those that they
    /// share are said of the claim.
    fn place(&self, cell: usize) -> String {
        let levels = |cell: usize| self.records.plan.cells[cell].levels.conditions();
        let calls = self.resolved.expectation.expression.calls().into_iter();
        let cells: Vec<Cell> = calls.filter_map(|call| self.cell(call)).map(levels).collect();
        let mut own = levels(cell);
        own.0.retain(|factor, level| cells.iter().any(|other| other.get(factor) != Some(level)));
        let target = self.records.plan.cells[cell].levels.target();
        if own.0.is_empty() { target.to_owned() } else { format!("{target} ({own})") }
    }

    fn cores_note(&self, found: ClaimVerdict) -> Option<String> {
        let cores = self.too_few_cores(found)?;
        Some(format!("the claim is about {} cores; the machine of this run has {}", cores.about, cores.here))
    }

    fn reconstruction_notes(&self, found: ClaimVerdict) -> Vec<String> {
        let calls = self.resolved.expectation.expression.calls();
        let names: BTreeSet<&str> = calls.into_iter().map(|call| call.target.as_str()).collect();
        let is_model =
            |name: &&str| self.records.plan.target(name).is_some_and(|target| target.reconstruction.is_some());
        let words = |name: &str| match found {
            ClaimVerdict::Supported => format!("shown for the reconstruction {name}, not for the original code"),
            ClaimVerdict::Contradicted if self.too_few_cores(found).is_none() => {
                format!("contradicted by the reconstruction {name}, not by the original code")
            }
            _ => format!("{name} is a reconstruction, not the original code"),
        };
        names.into_iter().filter(is_model).map(words).collect()
    }
}

/// Says when the blocks drift or resemble their neighbours: the t interval is then too narrow.
fn caution(scaled: &Scaled) -> Option<String> {
    let (values, n) = (&scaled.values, scaled.values.len());
    if n < BLOCKS_FOR_A_VERDICT {
        return None;
    }
    let narrow = "the interval may be too narrow";
    if let Some(found) = trend(values).filter(|trend| trend.p_value < SIGNIFICANCE) {
        let change = found.slope * (n - 1) as f64;
        let change = if scaled.log { percent(change.exp_m1()) } else { format!("{change:.3}") };
        return Some(format!("the value drifts over the session, by {change} from first to last block: {narrow}"));
    }
    let correlation = lag_one_autocorrelation(values).filter(|r| *r > correlation_limit(n))?;
    Some(format!("neighbouring blocks resemble each other (lag-1 correlation {correlation:.2}): {narrow}"))
}

fn gain_words(gain: Interval) -> String {
    let gain = gain.map(|gain| gain - 1.0);
    let [faster, low, high] = [gain.estimate, gain.low, gain.high].map(percent);
    format!("{faster} faster in the second half of the window than in the first ({low} to {high})")
}

fn short_words(cold: Coldness) -> String {
    let Coldness::WarmUp { given_s, needed_s } = cold else { return String::new() };
    let [given, needed] = [given_s, needed_s].map(|seconds| model::format_duration((seconds * 1e9) as u64));
    format!("{given} of load before the window, of the {needed} that it needs")
}
