//! Documents for other programs: beside the figures of a reason, a mark or a broken invariant stands what people read of them.

use std::collections::BTreeMap;

use model::{
    Analysis, Calibration, CellAnalysis, CellProfile, ClaimAnalysis, CompareAnalysis, ComparedCell, Diagnosed,
    Diagnosis, Died, Difference, Excluded, Finding, InvariantCheck, KeptTrend, LatencyCourse, MarkNote, NoProfile,
    NotServed, Open, Reason, RelativeRate, RepeatedBlock, Rotated, RuleResult, SessionAnalysis, Soak, Suspicion, Tried,
    Unexplained, Validity, VoidTrial,
};
use serde::Serialize;

use crate::claim_notes::claim_notes;
use crate::diagnosis_words;
use crate::difference_words::difference_words;
use crate::launch_words::failed_words;
use crate::mark_words::note_words;
use crate::ordered_json::Json;
use crate::profile_words::no_profile_words;
use crate::reason_words::{breach_words, not_served, reason_words, why_words};
use crate::soak_words;
use crate::suspect_words;
use crate::suspicion_words::suspicion_words;
use crate::to_json;
use crate::words::finding_title;

/// What has words in a document beside its figures, or has such parts.
pub(crate) trait Said {
    /// Puts the words into `json`, which is this as it is written.
    fn say(&self, json: &mut Json);
}

/// One pretty JSON document in which whatever has figures has its words, too, as the last field.
pub(crate) fn to_json_in_words(document: &(impl Serialize + Said)) -> String {
    in_words(document).map_or_else(|text| text, |json| to_json(&json))
}

/// The same of a document that has words itself: the answer.
pub(crate) fn to_json_with_answer(document: &(impl Serialize + Said), answer: String) -> String {
    in_words(document).map_or_else(
        |text| text,
        |mut json| {
            json.put(answer);
            to_json(&json)
        },
    )
}

fn in_words(document: &(impl Serialize + Said)) -> Result<Json, String> {
    let text = to_json(document);
    let mut json = serde_json::from_str(&text).map_err(|_| text)?;
    document.say(&mut json);
    Ok(json)
}

/// What has words of its own, and which.
macro_rules! sentences {
    ($($type:ty => $words:expr,)*) => {
        $(impl Said for $type {
            fn say(&self, json: &mut Json) {
                json.put($words(self));
            }
        })*
    };
}

sentences! {
    Reason => reason_words,
    MarkNote => note_words,
    RepeatedBlock => |block: &RepeatedBlock| why_words(&block.why),
    NotServed => not_served,
    Difference => difference_words,
    Died => |died: &Died| failed_words(&died.why),
    NoProfile => no_profile_words,
    Finding => finding_title,
    Suspicion => suspicion_words,
    Diagnosed => |found: &Diagnosed| diagnosis_words::title(&found.fault),
    Excluded => suspect_words::excluded,
    Open => suspect_words::open,
    Unexplained => suspect_words::unexplained,
    KeptTrend => soak_words::title,
    LatencyCourse => soak_words::latency,
    RuleResult => soak_words::rule,
    Tried => |tried: &Tried| diagnosis_words::trying_words(&tried.trying),
}

/// Which fields of a part of a document have words, or parts that have; behind the semicolon all that have none. A new field does
/// not compile until it stands in one of the two.
macro_rules! parts {
    ($($type:ident { $($said:ident),+; $($plain:ident),* })*) => {
        $(impl Said for $type {
            fn say(&self, json: &mut Json) {
                let $type { $($said,)+ $($plain: _,)* } = self;
                $(within(json, stringify!($said), $said);)+
            }
        })*
    };
}

parts! {
    Analysis {
        relative_rates, cells, claims, findings, session, void_trials;
        schema, name, question, source, quick, preliminary, unfinished, ended_in_vain, blocks, blocks_before, of_loads, seed, margin, elapsed_s,
        environment, absent, reconstructions, targets, comparisons, shifts, memory_slopes, groups, rank_chance, choices, claims_by_chance,
        trials
    }
    CompareAnalysis {
        differences, cells, session, void_trials;
        schema, old, new, interleaved, form, cut, blocks, blocks_before, preliminary, unfinished, ended_in_vain, margin, drift, rest, primary, seed,
        environment, same, rows, shifts, reply_sizes, gates, trials, elapsed_s
    }
    CellAnalysis {
        rotation, profile, died, invariants, marks, suspicions;
        levels, load, trials, void, set_aside, warm_up_s, window_s, throughput, at_least, course, of_ceiling, latency_us,
        cpu_us_per_request, cpu_at_least, target_busy, generator_busy, generator_starved, peak_memory_bytes, peak_at_least, memory_count,
        time_to_ready_ms, behind, handshakes, beside, backend, errors, failing, first_wrong, remarks, quantiles,
        launches
    }
    Diagnosis { findings, excluded, open, unexplained, tried; schema, question, title, environment, ended, elapsed_s }
    Soak {
        trends, latencies, rules;
        schema, question, title, environment, ended, elapsed_s, most_per_s, most_cpus_used, rate_per_s, growers, died, cycles
    }
    CellProfile { no_profile; by, launches, samples, share, functions }
    SessionAnalysis { repeated, marks; itself, cpus }
    VoidTrial { reason; id, arm, block, twin, levels }
    RelativeRate { without, at_least; conditions, rate_per_s, closed_per_s }
    Validity { reasons, suspicions; verdict, failing }
    Calibration {
        beyond;
        schema, measured_at, instrument, responder_cpu, generator_cpu, clock, sleep, ceilings, rates, limits
    }
}

/// Puts the words of one part where that stands; what is left out of a document has none.
pub(crate) fn within(json: &mut Json, key: &str, of: &impl Said) {
    if let Some(json) = json.at(key) {
        of.say(json);
    }
}

impl<T: Said> Said for Option<T> {
    fn say(&self, json: &mut Json) {
        self.iter().for_each(|of| of.say(json));
    }
}

impl<T: Said> Said for Vec<T> {
    fn say(&self, json: &mut Json) {
        self.iter().zip(json.items()).for_each(|(of, json)| of.say(json));
    }
}

impl<T: Said> Said for BTreeMap<String, T> {
    fn say(&self, json: &mut Json) {
        self.iter().for_each(|(key, of)| within(json, key, of));
    }
}

impl Said for ComparedCell {
    fn say(&self, json: &mut Json) {
        let ComparedCell { arm: _, cell } = self;
        cell.say(json);
    }
}

impl Said for InvariantCheck {
    fn say(&self, json: &mut Json) {
        self.breach.iter().for_each(|breach| json.put(breach_words(breach)));
    }
}

impl Said for Rotated {
    fn say(&self, json: &mut Json) {
        match self {
            Rotated::Seen { target: _, reason } => {
                json.at("seen").into_iter().for_each(|json| within(json, "reason", reason))
            }
            Rotated::Together { .. } | Rotated::Planned(_) => {}
        }
    }
}

/// Its notes have words, one of them by what the claim came to.
impl Said for ClaimAnalysis {
    fn say(&self, json: &mut Json) {
        let notes = json.at("notes").into_iter().flat_map(Json::items);
        notes.zip(claim_notes(self)).for_each(|(note, words)| note.put(words));
    }
}
