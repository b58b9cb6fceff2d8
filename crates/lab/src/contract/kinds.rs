//! `/work`: that a target does each kind of work that it says it can.

use model::WorkKind;

use super::{Check, DELAY, EARLY, TEXT, Wanted, ask, reply, shortest};
use crate::client::Probe;
use crate::furnish::{WORK_KEYS, work_value};
use crate::tls::Place;

const ENDPOINT: &str = "/work";

/// What the work `cpu` gives for the first and the last key: 100,000 rounds of a 32-bit xorshift generator.
const COMPUTED: [(u32, &str); 2] = [(1, "3083738941"), (WORK_KEYS, "3655363837")];

/// The points of one kind of work.
pub(super) fn kind(place: &Place, kind: WorkKind) -> Vec<Check> {
    let keys = [1, 10, WORK_KEYS];
    let wanted = |key: u32| match kind {
        WorkKind::Cpu => COMPUTED.iter().find(|(computed, _)| *computed == key).map(|(_, body)| (*body).to_owned()),
        WorkKind::Http => Some(hello(key)),
        WorkKind::Sleep | WorkKind::File | WorkKind::Sqlite => Some(work_value(key)),
    };
    let gives = |key| {
        let (path, body) = (format!("/work?key={key}"), wanted(key)?);
        let probe = Probe { path: &path, expect: super::expecting(200, Some(&body)), ..Probe::default() };
        let name = format!("GET {path} gives {body:?} by the work `{}`", kind.id());
        Some(Check { endpoint: ENDPOINT, name, breach: ask(place, &probe, Some(TEXT)) })
    };
    let mut checks: Vec<Check> = keys.into_iter().filter_map(gives).collect();
    let refused = |key: &str| reply(place, ENDPOINT, &format!("/work?key={key}"), Wanted::refusal(400));
    checks.extend([refused("0"), refused(&(WORK_KEYS + 1).to_string()), refused("many")]);
    checks.extend((kind == WorkKind::Sleep).then(|| waits(place)));
    checks
}

fn waits(place: &Place) -> Check {
    let breach = match shortest(place, "/work?key=1") {
        Ok(shortest) if shortest + EARLY >= DELAY => None,
        Ok(shortest) => Some(format!("answered after {shortest:.1?}").into()),
        Err(breach) => Some(*breach),
    };
    Check { endpoint: ENDPOINT, name: format!("GET /work really waits {DELAY:?} by the work `sleep`"), breach }
}

fn hello(key: u32) -> String {
    format!("hello, {key}!\n")
}
