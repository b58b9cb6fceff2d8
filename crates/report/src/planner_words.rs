//! What a planner says, in words.

use model::{CellPlan, Done, Known, Purpose, counted};

use crate::diagnosis_words::{end_words, trying_words};
use crate::format::{number, percent};
use crate::reason_words::not_served;
use crate::soak_words;
use crate::words::listed;

/// Why no more trials are needed.
pub fn done_words(done: &Done) -> String {
    match done {
        Done::Planned { blocks, aside } => {
            format!("{}, as planned{}", counted((*blocks).into(), "block", "blocks"), aside_words(*aside))
        }
        Done::Capped { blocks, aside, known } => {
            let known = known.as_ref().map_or(String::new(), |known| format!("; {}", known_words(known)));
            format!("the cap of {blocks} blocks{}{known}", aside_words(*aside))
        }
        Done::Precise { blocks, known, asked } => {
            format!("{blocks} blocks: {} (asked: {})", known_words(known), percent(*asked))
        }
        Done::InVain { wrong, died, silent } => {
            let of =
                |those: &[String], said: &dyn Fn(String) -> String| (!those.is_empty()).then(|| said(listed(those)));
            let found = [
                of(wrong, &|those| format!("not one reply of {those} was right")),
                of(died, &|those| format!("{those} died in every launch")),
                of(silent, &|those| format!("{those} served nothing, or died, in every launch")),
            ];
            format!(
                "{}, and more blocks would show the same; fix the server or the expected reply, and start a new run",
                found.into_iter().flatten().collect::<Vec<_>>().join("; ")
            )
        }
        Done::NoRate(without) => {
            let why = without.iter().map(|(target, why)| format!("{target}: {}", not_served(why)));
            format!("a rate cannot be a share of zero capacity: {}", why.collect::<Vec<_>>().join("; "))
        }
        Done::Calibrated => "what can be trusted is known".to_owned(),
        Done::Diagnosed(end) => end_words(*end).to_owned(),
        Done::Soaked(end) => soak_words::end_words(*end).to_owned(),
        Done::LoadFailed { trial } => format!("the load of {trial} failed, and nothing follows from the others"),
        Done::Unsound(fault) => fault.to_string(),
        Done::Said(text) => text.clone(),
    }
}

fn aside_words(blocks: u32) -> String {
    if blocks == 0 { String::new() } else { format!(", not counting {blocks} set aside") }
}

fn known_words(known: &Known) -> String {
    let metrics: Vec<&str> = known.metrics.iter().map(|metric| metric.words()).collect();
    let are = if metrics.len() == 1 { "is" } else { "are" };
    // Below what the three significant digits of a histogram resolve it is only known to be so.
    let half_width = if known.half_width < 0.001 { "<0.1 %".to_owned() } else { percent(known.half_width) };
    format!("{} {are} known to ± {half_width} at 95 % by scatter alone", metrics.join(" and "))
}

/// What a cell was added for.
pub fn purpose_words(why: &Purpose, cell: &CellPlan) -> String {
    match why {
        Purpose::Trust => "whether this rate can be trusted".to_owned(),
        Purpose::Rate => format!("what {} serves in a closed load, for its rate", cell.levels.target()),
        Purpose::Diagnosis => cell.tried.as_ref().map_or(String::new(), trying_words),
        Purpose::Soak => match cell.load.rate_per_s() {
            Some(rate) if rate > 1.0 => format!("{} requests/s, in cycles", number(rate)),
            _ => "hardly any load, in cycles between these".to_owned(),
        },
        Purpose::Said(text) => text.clone(),
    }
}
