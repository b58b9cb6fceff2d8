//! What a reader must know of a claim's verdict.

use std::collections::BTreeSet;

use model::{Call, Cell, ClaimDoubt, ClaimNote, Coldness, Factor, Metric, Unit};

use super::evaluate::{ClaimTest, Outcome, Scaled};
use crate::cells;
use crate::guard::{self, Doubt, noise};
use crate::launch::Launch;
use crate::rates::bounded_base;
use crate::slices;
use crate::statistics::{correlation_limit, lag_one_autocorrelation, share_interval, trend};
use crate::thresholds::{BLOCKS_FOR_A_VERDICT, CONFIDENCE, SIGNIFICANCE, SLICE_COLLECTIONS};

/// Doubts that are told of a verdict that holds in spite of them, too.
const ALWAYS: [Doubt; 7] =
    [Doubt::Generator, Doubt::Unfinished, Doubt::Warming, Doubt::Lateness, Doubt::Failing, Doubt::Wrong, Doubt::Silent];

impl ClaimTest<'_> {
    pub(super) fn notes(&self, values: &[f64], scaled: &Scaled, found: &Outcome) -> Vec<ClaimNote> {
        let mut notes = Vec::new();
        let unanswered = self.unanswered_notes();
        if unanswered.is_empty() {
            notes.extend(self.unused_notes(values.len()));
        }
        notes.extend(unanswered);
        notes.extend(self.cold_note());
        notes.extend(self.low_rates());
        notes.extend(self.taken_back(found));
        notes.extend(self.cautions(&found.because));
        notes.extend(self.zero_notes());
        notes.extend(self.too_few_cores(found.verdict).map(ClaimNote::FewCores));
        notes.extend(self.reconstructions().map(ClaimNote::Reconstruction));
        notes.extend(self.caution(scaled));
        notes
    }

    /// Blocks that are too few, or not all that there are.
    fn unused_notes(&self, used: usize) -> Vec<ClaimNote> {
        let mut notes = Vec::new();
        let (all, complete) = (self.records.blocks().len(), self.records.complete_blocks());
        // Of a run that has too few this is said once, of all.
        if let Some(asked) = self.records.unfinished() {
            let measured = complete.min(self.records.whole_blocks()) as u32;
            notes.push(ClaimNote::Unfinished { measured, asked });
        } else if used < BLOCKS_FOR_A_VERDICT && complete >= BLOCKS_FOR_A_VERDICT {
            notes.push(ClaimNote::FewBlocks { used: used as u32, needed: BLOCKS_FOR_A_VERDICT as u32 });
        }
        if used < all {
            notes.push(ClaimNote::Unused { blocks: (all - used) as u32, of: all as u32 });
        }
        notes
    }

    /// Why there is no figure where a server answered nothing.
    fn unanswered_notes(&self) -> Vec<ClaimNote> {
        let note = |(cell, launches): (usize, usize)| ClaimNote::Unanswered {
            server: self.server(cell),
            launches: launches as u64,
            of: self.launches(cell),
        };
        self.unanswered().into_iter().map(note).collect()
    }

    /// What took back what the figures alone would say.
    fn taken_back(&self, found: &Outcome) -> Option<ClaimNote> {
        let because: Vec<ClaimDoubt> = found.because.iter().flat_map(|doubt| self.reasons(*doubt)).collect();
        (!because.is_empty()).then_some(ClaimNote::TakenBack { verdict: found.plainly, because })
    }

    /// What is in doubt and was said with no verdict: the verdict holds in spite of it.
    fn cautions(&self, said: &[Doubt]) -> Vec<ClaimNote> {
        let unsaid = ALWAYS.into_iter().filter(|doubt| !said.contains(doubt) && self.is_in_doubt(*doubt));
        unsaid.flat_map(|doubt| self.reasons(doubt)).map(ClaimNote::Doubt).collect()
    }

    /// A doubt of each figure that it is about.
    fn reasons(&self, doubt: Doubt) -> Vec<ClaimDoubt> {
        let mut said: Vec<ClaimDoubt> = Vec::new();
        for call in self.resolved.expectation.expression.calls() {
            let Some(cell) = self.cell(call) else { continue };
            let reason = self.reason(doubt, call, cell).filter(|reason| !said.contains(reason));
            said.extend(reason);
        }
        said
    }

    fn reason(&self, doubt: Doubt, call: &Call, cell: usize) -> Option<ClaimDoubt> {
        let range =
            |block: &u32| guard::figure(self.records, (self.side(cell), *block), call.metric, &[doubt], CONFIDENCE);
        let widest = self.records.blocks().iter().find(|block| range(block).is_some_and(|r| r.low < r.high))?;
        let (server, metric) = (self.server(cell), call.metric);
        Some(match doubt {
            Doubt::Sample | Doubt::Resolution => return None,
            Doubt::Generator => ClaimDoubt::Generator { server, metric },
            Doubt::Ceiling => ClaimDoubt::Ceiling { server },
            Doubt::Edges => ClaimDoubt::Edges { server, share: guard::edges(self.records, cell, *widest)? },
            Doubt::Unfinished => ClaimDoubt::Unfinished { server, metric },
            Doubt::Warming => ClaimDoubt::Warming { server, gain: cells::faster_by(self.records.together(cell).gain?) },
            Doubt::Lateness => ClaimDoubt::Lateness { server, metric },
            Doubt::Noise => {
                let noisy = self.records.valid(cell).filter(|launch| launch.is_disturbed(metric)).count();
                let is_closed = !self.records.plan.cells[cell].load.model.has_schedule();
                let unbounded = (!noise::is_bounded(metric, is_closed)).then_some(metric);
                ClaimDoubt::Noise { server, launches: noisy as u64, of: self.launches(cell), unbounded }
            }
            Doubt::Spill => {
                let launch = self.records.launch(cell, *widest)?;
                let is_closed = !self.records.plan.cells[cell].load.model.has_schedule();
                let put_off = guard::put_off(launch, (metric, launch.value(metric)?), is_closed);
                let is_most = put_off.high / put_off.low > (range(widest)?.high / range(widest)?.low).sqrt();
                match is_most {
                    true => ClaimDoubt::PutOff { server, share: guard::share_put_off(launch) },
                    false => ClaimDoubt::Spill { server, cpus: launch.rounds.as_ref()?.spill },
                }
            }
            Doubt::Waking => {
                let launch = self.records.launch(cell, *widest)?;
                let (share, waited) = (guard::share_of_waking(launch), guard::share_of_waiting(launch));
                ClaimDoubt::Waking { server, share, waited }
            }
            Doubt::Pauses => ClaimDoubt::Pauses { server },
            Doubt::BetweenLooks => ClaimDoubt::BetweenLooks { server },
            Doubt::SharedMemory => ClaimDoubt::SharedMemory { server, metric },
            Doubt::AskedRuntime => ClaimDoubt::AskedRuntime { server },
            Doubt::Unwaited => ClaimDoubt::Unwaited { server },
            Doubt::Rounds => {
                let launches = self.records.valid(cell).filter(|launch| launch.lacks_rounds()).count() as u64;
                ClaimDoubt::Rounds { server, launches, of: self.launches(cell) }
            }
            Doubt::Failing => ClaimDoubt::Failing { server },
            Doubt::Wrong => ClaimDoubt::Wrong { server },
            Doubt::Unanswered => ClaimDoubt::Unanswered { server },
            Doubt::Silent => match self.records.together(cell).failing {
                failing if failing.unserved > 0 => ClaimDoubt::Unserved { server, launches: failing.unserved },
                failing => ClaimDoubt::Stopped { server, launches: failing.stopped },
            },
        })
    }

    /// What no error in so many requests can mean.
    fn zero_notes(&self) -> Vec<ClaimNote> {
        let calls = self.resolved.expectation.expression.calls().into_iter();
        let cells: BTreeSet<usize> =
            calls.filter(|call| call.metric == Metric::Errors).filter_map(|call| self.cell(call)).collect();
        let note = |cell: &usize| {
            let books = self.records.books(*cell);
            let (server, requests) = (self.server(*cell), books.ended());
            let share = share_interval(books.failures(), requests, CONFIDENCE)?;
            (books.failures() == 0).then_some(ClaimNote::NoFailure { server, requests, most_share: share.high })
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

    fn cold_note(&self) -> Option<ClaimNote> {
        let cold = |cell| Some((self.server(cell), cells::too_short_to_warm(self.records, cell)?));
        let servers: Vec<(Cell, Coldness)> = self.cells_under_load().into_iter().filter_map(cold).collect();
        (!servers.is_empty()).then_some(ClaimNote::Cold { servers, quick: self.records.plan.quick })
    }

    /// The cells whose rate may be a smaller share of capacity than was asked for.
    fn low_rates(&self) -> Vec<ClaimNote> {
        let note = |cell| {
            let (target, per_s) = bounded_base(self.records.plan, cell)?;
            Some(ClaimNote::LowRate { server: self.server(cell), target: target.to_owned(), per_s })
        };
        self.cells_under_load().into_iter().filter_map(note).collect()
    }

    /// Why there is no quantile that the claim asks for: a launch has too few requests for it, or too many failed.
    pub(super) fn too_few_requests(&self) -> Option<ClaimNote> {
        self.resolved.expectation.expression.calls().into_iter().find_map(|call| {
            let (needed, cell) = (call.metric.required_samples()?, self.cell(call)?);
            let (server, metric, of) = (self.server(cell), call.metric, self.launches(cell));
            let requests = |launch: &Launch| Some(launch.record.measurement.as_ref()?.latency_us.felt()?.count);
            let least = self.records.valid(cell).map(|launch| requests(launch).unwrap_or(0)).min()?;
            let [short, lost] =
                [self.records.short_of(cell, metric), self.records.has_lost(cell, metric)].map(|n| n as u64);
            match (short, lost) {
                (0, 0) => None,
                (launches, 0) if metric == Metric::P99 && self.fewest_collections(cell).is_some() => {
                    let (needed, least) = (SLICE_COLLECTIONS as u64, self.fewest_collections(cell)? as u64);
                    Some(ClaimNote::FewCollections { server, needed, least, launches, of })
                }
                (launches, 0) => Some(ClaimNote::FewRequests { metric, server, needed, least, launches, of }),
                (_, launches) => Some(ClaimNote::Lost { metric, server, launches, of }),
            }
        })
    }

    /// The fewest garbage collections that are known to have come within a launch's slices, where they are too few for a p99.
    fn fewest_collections(&self, cell: usize) -> Option<f64> {
        let lacking = self.records.valid(cell).filter(|launch| launch.lacks_collections());
        lacking.filter_map(|launch| slices::collections(&launch.record.slices)).reduce(f64::min)
    }

    /// A cell's target, with the conditions that the claim's cells do not share. Those that they share are said of the
    /// claim.
    fn server(&self, cell: usize) -> Cell {
        let levels = |cell: usize| &self.records.plan.cells[cell].levels;
        let calls = self.resolved.expectation.expression.calls().into_iter();
        let cells: Vec<&Cell> = calls.filter_map(|call| self.cell(call)).map(levels).collect();
        let mut own = levels(cell).clone();
        own.0.retain(|factor, level| {
            factor == Factor::Target.id() || cells.iter().any(|other| other.get(factor) != Some(level))
        });
        own
    }

    /// Launches of a cell that count.
    fn launches(&self, cell: usize) -> u64 {
        self.records.valid(cell).count() as u64
    }

    /// The targets of the claim that are not the original code.
    fn reconstructions(&self) -> impl Iterator<Item = String> {
        let calls = self.resolved.expectation.expression.calls();
        let names: BTreeSet<&str> = calls.into_iter().map(|call| call.target.as_str()).collect();
        let is_model =
            |name: &&str| self.records.plan.target(name).is_some_and(|target| target.reconstruction.is_some());
        names.into_iter().filter(is_model).map(str::to_owned)
    }

    /// Whether the blocks drift or resemble their neighbours: the t interval is then too narrow.
    fn caution(&self, scaled: &Scaled) -> Option<ClaimNote> {
        let (values, n) = (&scaled.values, scaled.values.len());
        if n < BLOCKS_FOR_A_VERDICT {
            return None;
        }
        if let Some(found) = trend(values).filter(|trend| trend.p_value < SIGNIFICANCE) {
            let change = found.slope * (n - 1) as f64;
            return Some(match scaled.log {
                true => ClaimNote::Drift { change: change.exp_m1(), unit: Unit::Share },
                false => ClaimNote::Drift { change, unit: self.resolved.expectation.expression.unit() },
            });
        }
        let correlation = lag_one_autocorrelation(values).filter(|r| *r > correlation_limit(n))?;
        Some(ClaimNote::Correlated { correlation })
    }
}
