//! What became of a load's connections.

use model::{LoadSpec, Measurement};

use crate::format::{counted, decimals, thousands};
use crate::page::unbroken;
use crate::words::errno;

/// `opened 100; 472 to 482 replies on each, median 477; fairness (Jain) 1.000 of 1`.
pub(crate) fn connections(spec: &LoadSpec, measured: &Measurement) -> String {
    let counts = &measured.connections;
    let opened = thousands(counts.opened);
    let mut text = match counts.opened_in_window {
        Some(inside) if (1..counts.opened).contains(&inside) => {
            format!("opened {} in the window, {opened} in all", thousands(inside))
        }
        _ => format!("opened {opened}"),
    };
    // Of those that follow each other in one place, replies are counted together.
    let slots = u64::from(spec.connections);
    let each = if counts.opened > slots {
        text.push_str(&format!(", {} at a time", thousands(slots)));
        "in each place"
    } else {
        "on each"
    };
    for (name, count) in [
        ("closed while idle", counts.closed_idle),
        ("closed with a reply", counts.closed_by_reply),
        ("closed for unrequested replies", counts.unasked_replies),
    ] {
        if count > 0 {
            text.push_str(&format!(", {} {name}", thousands(count)));
        }
    }
    if counts.connect_failed > 0 {
        // Not all are in the books of requests, which the reader may compare.
        let attempts = counted(counts.connect_failed, "attempt to connect", "attempts to connect");
        text.push_str(&format!(", {attempts} failed in all, warm-up included"));
        if let Some(number) = counts.connect_errno {
            text.push_str(&format!(" (the first: {})", errno(number)));
        }
    }
    let [min, median] = [counts.completed_min, counts.completed_median].map(thousands);
    let most = counted(counts.completed_max, "reply", "replies");
    let served = if counts.completed_min == counts.completed_max {
        format!("{most} {each}")
    } else {
        format!("{min} to {most} {each}, median {median}")
    };
    let jain = counts.jain.map_or(String::new(), |jain| {
        format!("; {}", unbroken(&format!("fairness (Jain) {} of 1", decimals(jain, 3))))
    });
    let without = match counts.never_served {
        0 => String::new(),
        some => format!(", {} without a whole reply in the window", thousands(some)),
    };
    format!("{text}{without}; {served}{jain}")
}
