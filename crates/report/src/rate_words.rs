//! Rates that follow from what was measured before a run.

use model::{Analysis, NotServed, RelativeRate};

use crate::conditions::Conditions;
use crate::format::number;
use crate::reason_words::{not_served, reason_words};

/// What the rates that are shares of capacity came to, a sentence each.
pub(crate) fn relative(analysis: &Analysis, conditions: &Conditions) -> Vec<String> {
    let lacks =
        |(target, why): (&String, &NotServed)| format!("; what {target} can serve is not known: {}", not_served(why));
    let sentence = |rate: &RelativeRate| {
        let served = |(target, served): (&String, &f64)| match rate.at_least.get(target) {
            Some(why) => format!("≥ {}/s from {target} ({})", number(*served), reason_words(why)),
            None => format!("{}/s from {target}", number(*served)),
        };
        let served: Vec<String> = rate.closed_per_s.iter().map(served).collect();
        let at = conditions.title(&rate.conditions);
        let at = if at.is_empty() { "The rate".to_owned() } else { at };
        let (rate_per_s, served) = (number(rate.rate_per_s), served.join(", "));
        let lacking: String = rate.without.iter().map(lacks).collect();
        format!("{at}: {rate_per_s} requests/s; a closed load before the run got {served}{lacking}")
    };
    analysis.relative_rates.iter().map(sentence).collect()
}
