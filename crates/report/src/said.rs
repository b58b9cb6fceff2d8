//! Documents for other programs: beside the figures of a reason, a mark or a broken invariant stands what people read of them.

use std::fmt;

use model::{ClaimAnalysis, Died, Difference, InvariantCheck, MarkNote, NoProfile, Reason, RepeatedBlock};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::claim_notes::claim_notes;
use crate::difference_words::difference_words;
use crate::launch_words::failed_words;
use crate::mark_words::note_words;
use crate::profile_words::no_profile_words;
use crate::reason_words::{breach_words, reason_words, why_words};
use crate::to_json;

/// Where there are words already, they are those of a record.
const TEXT: &str = "text";

/// Where a claim's notes are.
const NOTES: &str = "notes";

/// The keys of which one is in each of these.
const TELLING: [&str; 8] = ["code", "mark", "breach", "trial", "what", "printed", "pprof", "perf"];

/// What has figures for which there are words.
#[derive(Deserialize)]
#[serde(untagged)]
enum Seen {
    Reason(Reason),
    Mark(MarkNote),
    Repeated(RepeatedBlock),
    Check(InvariantCheck),
    Difference(Difference),
    Died(Died),
    NoProfile(NoProfile),
}

/// A document whose keys keep their order.
enum Json {
    Object(Vec<(String, Json)>),
    Array(Vec<Json>),
    Plain(Value),
}

/// One pretty JSON document in which whatever has figures has its words, too, as the last field.
pub(crate) fn to_json_in_words(document: &impl Serialize) -> String {
    let text = to_json(document);
    let Ok(mut document) = serde_json::from_str(&text) else { return text };
    say(&mut document);
    to_json(&document)
}

fn say(json: &mut Json) {
    match json {
        Json::Object(fields) => {
            let words = words(fields);
            say_notes(fields);
            fields.iter_mut().for_each(|(_, value)| say(value));
            fields.extend(words.map(|words| (TEXT.to_owned(), Json::Plain(words.into()))));
        }
        Json::Array(values) => values.iter_mut().for_each(say),
        Json::Plain(_) => {}
    }
}

/// What a claim's notes say, beside each: one is worded by what the claim came to.
fn say_notes(fields: &mut [(String, Json)]) {
    let Some(at) = fields.iter().position(|(key, _)| key == NOTES) else { return };
    let Ok(claim) = serde_json::from_value::<ClaimAnalysis>(value(fields)) else { return };
    let Json::Array(notes) = &mut fields[at].1 else { return };
    for (note, words) in notes.iter_mut().zip(claim_notes(&claim)) {
        if let Json::Object(note) = note {
            note.push((TEXT.to_owned(), Json::Plain(words.into())));
        }
    }
}

fn value(fields: &[(String, Json)]) -> Value {
    let fields = fields.iter().map(|(key, value)| (key.clone(), serde_json::to_value(value).unwrap_or_default()));
    Value::Object(fields.collect())
}

fn words(fields: &[(String, Json)]) -> Option<String> {
    let has = |keys: &[&str]| fields.iter().any(|(key, _)| keys.contains(&key.as_str()));
    if !has(&TELLING) || has(&[TEXT]) {
        return None;
    }
    match serde_json::from_value(value(fields)).ok()? {
        Seen::Reason(reason) => Some(reason_words(&reason)),
        Seen::Mark(note) => Some(note_words(&note)),
        Seen::Repeated(block) => Some(why_words(&block.why)),
        Seen::Difference(difference) => Some(difference_words(&difference)),
        Seen::Died(died) => Some(failed_words(&died.why)),
        // Of another object that has such a key it says nothing.
        Seen::NoProfile(why) => Some(no_profile_words(&why)).filter(|words| !words.is_empty()),
        Seen::Check(check) => check.breach.as_ref().map(breach_words),
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Json::Object(fields) => to.collect_map(fields.iter().map(|(key, value)| (key, value))),
            Json::Array(values) => to.collect_seq(values),
            Json::Plain(value) => value.serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(InOrder)
    }
}

struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Json;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Plain(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Plain(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Plain(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Plain(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Plain(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Plain(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Json, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = from.next_element()? {
            values.push(value);
        }
        Ok(Json::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Json, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = from.next_entry()? {
            fields.push(field);
        }
        Ok(Json::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use model::{
        Aspect, Breach, EndedWhen, Invariant, MarkCause, NoPerf, ProcessEnd, TargetEnd, TrialStage, Why, WhyFailed,
    };

    use super::*;

    #[test]
    fn what_has_figures_has_words_and_those_of_a_record_stay() {
        let check =
            InvariantCheck::new(Invariant::InFlight, Some(Breach::InFlight { in_flight_s: 3.0, requests_s: 2.0 }));
        let repeated = RepeatedBlock {
            block: 2,
            arm: None,
            trial: "b02-c01".to_owned(),
            why: Why::Mark(MarkCause::Taken { cpus: 2, steal_share: None, others_share: Some(0.25) }),
        };
        let mark = MarkNote::new(MarkCause::CompletionsPerSlot(12.0));
        let end = |signal| {
            let how = ProcessEnd::Killed { signal, core_dumped: true };
            WhyFailed::from(TargetEnd { how, when: EndedWhen::UnderLoad, hints: Vec::new() })
        };
        let again = Reason::failed(TrialStage::NotTried, WhyFailed::NotAgain(Box::new(end(11))));
        let died = Died { of: 2, why: end(6), printed: String::new() };
        let recorded = Reason::said(TrialStage::Died, "exited with status 3".to_owned());
        let differs = Difference { what: Aspect::Kernel, old: Some("6.1".into()), new: None };
        let no_profile = NoProfile::from(NoPerf::NoTime);
        let written = to_json_in_words(&(check, repeated, mark, again, died, recorded, differs, no_profile));
        let written: Vec<Value> = serde_json::from_str(&written).unwrap();
        let words: Vec<&str> = written.iter().filter_map(|it| it[TEXT].as_str()).collect();
        let expected = [
            "requests in flight over the window 3.00 s, time of all requests inside it 2.00 s",
            "other processes used 25 % of the CPU time",
            "12.0 completions per connection slot",
            "not launched again: it was ended by signal 11 (SIGSEGV) and dumped core under load",
            "it was ended by signal 6 (SIGABRT) and dumped core under load",
            "exited with status 3",
            "kernel: old 6.1, new not known",
            "nothing of the window was left for `perf`",
        ];
        assert_eq!(words, expected);
        assert_eq!(written[0]["breach"]["in-flight"]["in_flight_s"], 3.0, "the figures stay");
        assert_eq!(written[4]["ended"]["how"]["killed"]["signal"], 6);
    }
}
