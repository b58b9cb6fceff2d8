//! What came of the warm-up, where the window alone says little.

use model::{Measurement, sum};

use crate::asked::Asked;
use crate::figures::{counted, micros};

/// What can be said where the books are empty: they are about what was due in the window alone.
pub(crate) fn none_due(measured: &Measurement) -> String {
    let before = measured.steps.iter().filter(|second| second.at_s < 0.0);
    match sum(before.map(|second| second.sent)) {
        0 => "none was sent".to_owned(),
        sent => {
            let requests = counted(sent, "request", "requests");
            format!("none was due in the window, and of the {requests} sent in the warm-up none was answered in it")
        }
    }
}

/// That the server did answer in the warm-up, where it did.
pub(crate) fn answered(measured: &Measurement) -> String {
    let before = measured.steps.iter().filter(|step| step.at_s < 0.0);
    match sum(before.map(|step| step.completed)) {
        0 => String::new(),
        replies => {
            let requests = counted(replies, "request", "requests");
            let before_s = measured.answered_until_s.map_or(0.0, |until_s| -until_s);
            let when = if before_s > 0.0 { micros(before_s * 1e6) } else { "less than a second".to_owned() };
            format!("; the server answered {requests} in the warm-up, until {when} before the window")
        }
    }
}

/// Requests of the warm-up that were still awaited when the load ended, where none was due in the window: they kept others from
/// being sent.
pub(crate) fn hanging(asked: &Asked<'_>, measured: &Measurement) -> Option<String> {
    let old = measured.awaited.iter().filter(|it| it.youngest_s >= measured.window_s);
    let requests = sum(old.map(|it| it.requests));
    let each = if asked.load.pipeline == 1 && requests == u64::from(asked.load.connections) && requests > 1 {
        ", one on each connection,"
    } else {
        ""
    };
    let have = if requests == 1 { "has" } else { "have" };
    (requests > 0 && measured.accounting.scheduled == 0).then(|| {
        let waiting = counted(requests, "request", "requests");
        format!("{waiting}{each} {have} had no reply since the warm-up, and kept every other from being sent")
    })
}
