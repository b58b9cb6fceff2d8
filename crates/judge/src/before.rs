//! What came of the warm-up, where the window alone says little.

use model::{Hanging, Measurement, NoReplySeen, sum};

use crate::asked::Asked;

/// Requests that were sent in the warm-up.
pub(crate) fn sent(measured: &Measurement) -> u64 {
    sum(measured.steps.iter().filter(|step| step.at_s < 0.0).map(|step| step.sent))
}

/// That the server did answer in the warm-up, where it did.
pub(crate) fn answered(measured: &Measurement) -> Option<NoReplySeen> {
    let before = measured.steps.iter().filter(|step| step.at_s < 0.0);
    let replies = sum(before.map(|step| step.completed));
    let until_s = measured.answered_until_s.map_or(0.0, |until_s| -until_s);
    (replies > 0).then_some(NoReplySeen::AnsweredBefore { replies, until_s })
}

/// Requests of the warm-up that were still awaited when the load ended, where none was due in the window: they kept others from
/// being sent.
pub(crate) fn hanging(asked: &Asked<'_>, measured: &Measurement) -> Option<Hanging> {
    let old = measured.awaited.iter().filter(|it| it.youngest_s >= measured.window_s);
    let requests = sum(old.map(|it| it.requests));
    let one_each = asked.load.pipeline == 1 && requests == u64::from(asked.load.connections) && requests > 1;
    (requests > 0 && measured.accounting.scheduled == 0).then_some(Hanging { requests, one_each })
}
