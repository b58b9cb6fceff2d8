//! The experiments of a diagnosis as a table.

use model::{Diagnosis, Tried};

use crate::experiment_words::experiment_words;
use crate::format::{bytes, duration_us, number, percent, thousands};

/// What a figure is shown as that is not there, and what says that nothing is wrong.
const NOTHING: [&str; 3] = ["–", "0", "0 %"];

/// CPUs taken by others from which on a row tells them.
const MUCH_TAKEN: f64 = 0.3;

/// The table of what was tried: its header, each with whether it is a figure, and its rows. A figure that is nothing in all of them is left
/// out.
pub(crate) fn table(diagnosis: &Diagnosis) -> (Vec<(&'static str, bool)>, Vec<Vec<String>>) {
    let all: Vec<Vec<(&str, String)>> = diagnosis.tried.iter().map(row).collect();
    let is_shown = |at: usize| at == 0 || all.iter().any(|row| !NOTHING.contains(&&*row[at].1));
    let columns = all.first().map_or(0, Vec::len);
    let shown: Vec<usize> = (0..columns).filter(|at| is_shown(*at)).collect();
    let header = shown.iter().map(|at| (all[0][*at].0, *at > 0)).collect();
    let cells = |row: &Vec<(&str, String)>| shown.iter().map(|at| row[*at].1.clone()).collect();
    (header, all.iter().map(cells).collect())
}

fn row(tried: &Tried) -> Vec<(&'static str, String)> {
    let nothing = || NOTHING[0].to_owned();
    let time = |us: Option<f64>| us.map_or_else(nothing, duration_us);
    let what = experiment_words(&tried.trying.experiment);
    let taken = tried.cpus_taken.filter(|taken| *taken >= MUCH_TAKEN);
    let beside = match (tried.valid, taken) {
        (false, _) => " (void)".to_owned(),
        (true, Some(taken)) => format!(" (others: {} CPUs)", number(taken)),
        (true, None) => String::new(),
    };
    vec![
        ("experiment", format!("{what}{beside}")),
        ("requests/s", tried.requests_per_s.map_or_else(nothing, number)),
        ("took", time(tried.service_us)),
        ("slowest", time(tried.slowest_us)),
        ("CPUs", tried.cpus_used.map_or_else(nothing, number)),
        ("unserved", tried.unserved.map_or_else(nothing, thousands)),
        ("failed", tried.failed.map_or_else(nothing, percent)),
        ("memory", tried.grown_bytes.map_or_else(nothing, |grown| format!("+{}", bytes(grown.max(0.0))))),
    ]
}
