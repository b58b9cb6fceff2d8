//! What makes an answer a bad one. It stands before everything else.

use model::{Analysis, CellAnalysis, CellBehind, Died, Mark};

use crate::conditions::Conditions;
use crate::format::{counted, number, percent, percent_beside, seconds, thousands};
use crate::launch_words::failed_words;
use crate::markdown::{block, escape};
use crate::page::{Page, Tint};
use crate::plain::shortened;
use crate::words::bracketed;
use crate::wrong_reply::sentence;

/// A sentence, with what a server printed last, where the sentence is about its end.
pub(crate) struct Bad {
    text: String,
    printed: String,
}

impl Bad {
    fn new(text: String) -> Self {
        Bad { text, printed: String::new() }
    }

    pub(crate) fn on(&self, page: &mut Page) {
        page.paragraph(0, Tint::Bad, &self.text);
        let most = page.width() - 2;
        self.printed.lines().for_each(|line| page.line(Tint::Plain, &format!("  {}", shortened(line, most))));
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// What a server printed last; empty where the sentence is about something else.
    pub(crate) fn printed(&self) -> &str {
        &self.printed
    }

    pub(crate) fn markdown(&self) -> String {
        let text = format!("> **{}**", escape(&self.text));
        if self.printed.is_empty() { text } else { format!("{text}\n\n{}", block(&self.printed)) }
    }
}

/// What went wrong, with the cells in which it did. `More than 1 % of the requests failed: mine (100 connections) 48 %.`
pub(crate) fn of_cells(named: &[(String, &CellAnalysis)]) -> Vec<Bad> {
    // What came of a server's end is not told as well, where there is nothing else.
    let figures = |cell: &CellAnalysis| cell.trials > 0 || cell.died.is_none();
    let clients = |cell: &CellAnalysis| figures(cell) && cell.failing.is_of_clients();
    let failing = |cell: &CellAnalysis| figures(cell) && cell.failing.is_of_requests();
    let hung = |cell: &CellAnalysis| cell.failing.hung_share > 0.0;
    let wrong = |cell: &CellAnalysis| cell.failing.wrong_content > 0;
    let stopped = |cell: &CellAnalysis| figures(cell) && cell.failing.stopped_at_s.is_some();
    let unserved = |cell: &CellAnalysis| figures(cell) && cell.failing.unserved > 0;
    let those = |is_meant: &dyn Fn(&CellAnalysis) -> bool, figure: &dyn Fn(&CellAnalysis) -> String| {
        let meant = named.iter().filter(|(_, cell)| is_meant(cell));
        meant.map(|(name, cell)| format!("{name}{}", figure(cell))).collect::<Vec<String>>()
    };
    let firsts = named.iter().filter(|(_, cell)| cell.failing.bad).filter_map(|(name, cell)| {
        Some(Bad::new(format!("The first wrong reply of {name}: {}.", sentence(cell.first_wrong.as_ref()?))))
    });
    let allowed = named.first().map_or(0.0, |(_, cell)| cell.failing.allowed_share);
    let sentences = [
        (
            match named.iter().any(|(_, cell)| failing(cell) && hung(cell)) {
                true => format!("More than {} of the requests failed or never got a whole reply", percent(allowed)),
                false => format!("More than {} of the requests failed", percent(allowed)),
            },
            those(&failing, &|cell| match hung(cell) {
                true => format!(" {} failed and {} hung", percent(cell.errors), percent(cell.failing.hung_share)),
                false => format!(" {}", percent_beside(cell.errors, allowed)),
            }),
        ),
        (
            format!(
                "More than {} of the clients were left waiting (--allow-failures says how many may)",
                percent(allowed)
            ),
            those(&clients, &|cell| format!(" {}", percent(cell.failing.hung_clients_share))),
        ),
        (
            "Replies with wrong content".to_owned(),
            those(&wrong, &|cell| format!(" {}", thousands(cell.failing.wrong_content))),
        ),
        (
            "The server stopped answering inside a window".to_owned(),
            those(&stopped, &|cell| {
                let after = cell.failing.stopped_at_s.map_or(String::new(), seconds);
                let requests = counted(cell.failing.unanswered, "request", "requests");
                let launches = counted(cell.failing.stopped, "launch", "launches");
                let first = if cell.failing.stopped > 1 { "the first " } else { "" };
                let is_busy = cell.marks.iter().any(|note| note.mark() == Mark::Noisy);
                let busy = if is_busy { "; other programs used much of this machine in its launches" } else { "" };
                format!(" in {launches}, {first}after {after}, {requests} without a whole reply{busy}")
            }),
        ),
        (
            "Nothing was served inside a window".to_owned(),
            those(&unserved, &|cell| format!(" in {}", counted(cell.failing.unserved, "launch", "launches"))),
        ),
    ];
    let sentences = sentences.into_iter().filter(|(_, places)| !places.is_empty());
    let sentences = sentences.map(|(words, places)| Bad::new(format!("{words}: {}.", places.join(", "))));
    died(named).into_iter().chain(sentences).chain(firsts).collect()
}

/// `The server died: new in each of its 2 launches (it exited with status 3 under load).`
fn died(named: &[(String, &CellAnalysis)]) -> Vec<Bad> {
    let mut said: Vec<Bad> = Vec::new();
    for (name, cell) in named {
        let Some(died) = &cell.died else { continue };
        let Died { of, why, printed } = died;
        let launches = match (cell.failing.died, u64::from(*of)) {
            (1, 1) => "its only launch".to_owned(),
            (all, of) if all >= of => format!("each of its {of} launches"),
            (some, of) => format!("{some} of its {of} launches"),
        };
        let is_known = said.iter().any(|before| before.printed == *printed);
        let printed = if is_known { String::new() } else { printed.clone() };
        let last = if printed.is_empty() { "" } else { " It printed last:" };
        said.push(Bad {
            text: format!("The server died: {name} in {launches} ({}).{last}", failed_words(why)),
            printed,
        });
    }
    said
}

/// Who did not keep up with its rate, which is a result and no failure: `The server did not keep up with the rate: mine in 2
/// of 6 launches, at worst 446 of 1,000 requests/s sent.`
pub(crate) fn behind(named: &[(String, &CellAnalysis)]) -> Option<String> {
    let of = |(name, cell): &(String, &CellAnalysis)| {
        let CellBehind { launches, rate_per_s, sent_per_s } = cell.behind.as_ref()?;
        let (with, of) = (launches.with, counted(launches.of.into(), "launch", "launches"));
        let worst = if launches.with > 1 { "at worst " } else { "" };
        let (sent, asked) = (number(*sent_per_s), number(*rate_per_s));
        Some(format!("{name} in {with} of {of}, {worst}{sent} of {asked} requests/s sent"))
    };
    let those: Vec<String> = named.iter().filter_map(of).collect();
    (!those.is_empty()).then(|| format!("The server did not keep up with the rate: {}.", those.join("; ")))
}

/// Who failed no more than it may, which a table hides in a share that is the same within so many points: `0.41 % of the requests of new
/// failed, of 1 % that may; the first: expected 200, got 500 with an empty body.`
pub(crate) fn few(named: &[(String, &CellAnalysis)]) -> Vec<String> {
    let of = |(name, cell): &(String, &CellAnalysis)| {
        let first = sentence(cell.first_wrong.as_ref().filter(|_| cell.errors > 0.0 && !cell.failing.bad)?);
        let allowed = percent(cell.failing.allowed_share);
        Some(format!(
            "{} of the requests of {name} failed, of {allowed} that may; the first: {first}.",
            percent(cell.errors)
        ))
    };
    named.iter().filter_map(of).collect()
}

/// The cells of a run with the names that these sentences use.
pub(crate) fn named<'a>(analysis: &'a Analysis, conditions: &Conditions) -> Vec<(String, &'a CellAnalysis)> {
    let name = |cell: &CellAnalysis| format!("{}{}", cell.levels.target(), bracketed(&conditions.title(&cell.levels)));
    analysis.cells.iter().map(|cell| (name(cell), cell)).collect()
}

/// Those of a run.
pub(crate) fn of_run(analysis: &Analysis, conditions: &Conditions) -> Vec<Bad> {
    of_cells(&named(analysis, conditions))
}
