//! Conditions in words, and which of them a run's titles must say.

use std::collections::BTreeSet;

use model::{ALL_CPUS, Analysis, Cell, Factor, Level, LoadKey, RateInWords};

use crate::format::{counted, seconds, thousands};

/// Factors with words of their own, in the order in which a title says them.
const FIRST: [Factor; 5] = [
    Factor::HandlerDelay,
    Factor::Load(LoadKey::NetworkDelay),
    Factor::Load(LoadKey::Rate),
    Factor::Load(LoadKey::Connections),
    Factor::Load(LoadKey::Pipeline),
];

/// What a reply must be follows from what is asked; the target is not a condition.
const UNSAID: [Factor; 3] = [Factor::Target, Factor::Load(LoadKey::ExpectBody), Factor::Load(LoadKey::ExpectStatus)];

fn is_one_of(factors: &[Factor], name: &str) -> bool {
    Factor::from_id(name).is_some_and(|factor| factors.contains(&factor))
}

/// The conditions of a run: which factors distinguish its cells, and which go without saying.
pub(crate) struct Conditions {
    /// The factors that no title says.
    unsaid: Vec<String>,
    /// The factors that name a row, the one that changes least often from row to row first, where no two cells share
    /// their conditions; else a row is a target.
    row_factors: Option<Vec<String>>,
    /// What is to be known for all titles and rows, a sentence each.
    notes: Vec<String>,
}

impl Conditions {
    pub(crate) fn of(analysis: &Analysis) -> Self {
        let cells: Vec<&Cell> = analysis.cells.iter().map(|cell| &cell.levels).collect();
        let all: BTreeSet<&str> = cells.iter().flat_map(|cell| cell.factors()).collect();
        let all: Vec<&str> = all.into_iter().filter(|factor| !is_one_of(&UNSAID, factor)).collect();
        if all.iter().all(|factor| changes(&cells, factor) == 0) {
            return Self { unsaid: Vec::new(), row_factors: None, notes: Vec::new() };
        }
        let by_row = no_two_alike(&cells);
        // A title has room for what has words of its own.
        let is_said = |factor: &str| changes(&cells, factor) > 0 || (!by_row && is_one_of(&FIRST, factor));
        let (said, constant): (Vec<&str>, Vec<&str>) = all.iter().partition(|factor| is_said(factor));
        let sets = sets(&cells, said, analysis);
        let mut everywhere = cells.first().map_or(String::new(), |cell| conditions(&only(cell, &constant)));
        let several_targets = changes(&cells, Factor::Target.id()) > 0;
        if by_row && !several_targets {
            let target = cells.first().map_or("", |cell| cell.target());
            everywhere = if everywhere.is_empty() { target.to_owned() } else { format!("{target}, {everywhere}") };
        }
        let named = several_targets.then_some(Factor::Target.id()).into_iter().chain(sets.iter().map(|set| set[0]));
        let row_factors = by_row.then(|| named.map(str::to_owned).collect());
        let everywhere = (!everywhere.is_empty()).then(|| format!("In every cell: {everywhere}"));
        let together = sets.iter().filter_map(|set| said_together(&cells, set));
        let notes = everywhere.into_iter().chain(together).collect();
        let implied = sets.iter().flat_map(|set| &set[1..]);
        let unsaid = constant.iter().chain(implied).map(|factor| (*factor).to_owned()).collect();
        Self { unsaid, row_factors, notes }
    }

    /// What a cell's title says of its conditions; empty when only the target varies.
    pub(crate) fn title(&self, cell: &Cell) -> String {
        conditions(&self.said(cell))
    }

    /// The levels that a cell's title says.
    pub(crate) fn said(&self, cell: &Cell) -> Cell {
        without(&cell.conditions(), &self.unsaid)
    }

    /// The factors that name a row, where no two cells share their conditions; else a row is a target.
    pub(crate) fn row_factors(&self) -> Option<&[String]> {
        self.row_factors.as_deref()
    }

    /// What is to be known for all titles and rows, a sentence each.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }
}

/// The factors in sets that change together, each set led by the one that the claims speak of; the set that changes
/// least often from cell to cell first.
fn sets<'a>(cells: &[&Cell], mut factors: Vec<&'a str>, analysis: &Analysis) -> Vec<Vec<&'a str>> {
    let is_claimed =
        |factor: &str| analysis.claims.iter().any(|claim| claim.expect.text.contains(&format!("{factor} =")));
    factors.sort_by_key(|factor| !is_claimed(factor));
    let mut sets: Vec<Vec<&str>> = Vec::new();
    for factor in factors {
        match sets.iter_mut().find(|set| change_together(cells, set[0], factor)) {
            Some(set) => set.push(factor),
            None => sets.push(vec![factor]),
        }
    }
    sets.sort_by_key(|set| changes(cells, set[0]));
    sets
}

fn no_two_alike(cells: &[&Cell]) -> bool {
    cells.iter().map(|cell| cell.conditions()).collect::<BTreeSet<_>>().len() == cells.len()
}

/// How often the level of a factor changes from one cell to the next.
fn changes(cells: &[&Cell], factor: &str) -> usize {
    cells.windows(2).filter(|pair| pair[0].get(factor) != pair[1].get(factor)).count()
}

/// Whether the level of each of two settings tells that of the other. What has words of its own is always said.
fn change_together(cells: &[&Cell], a: &str, b: &str) -> bool {
    let levels = |factor| cells.iter().map(|cell| cell.get(factor)).collect::<BTreeSet<_>>().len();
    let pairs = cells.iter().map(|cell| (cell.get(a), cell.get(b))).collect::<BTreeSet<_>>().len();
    ![a, b].iter().any(|factor| is_one_of(&FIRST, factor)) && levels(a) == pairs && levels(b) == pairs
}

/// `Together: a = 1 with b = 2; a = 3 with b = 4`.
fn said_together(cells: &[&Cell], set: &[&str]) -> Option<String> {
    let (_, others) = set.split_first().filter(|(_, others)| !others.is_empty())?;
    let (mut parts, mut said) = (Vec::new(), BTreeSet::new());
    for cell in cells {
        let (first, others) = (conditions(&only(cell, &set[..1])), conditions(&only(cell, others)));
        let part = format!("{first} with {others}");
        // Where one of them is not set, neither is.
        if !first.is_empty() && !others.is_empty() && said.insert(part.clone()) {
            parts.push(part);
        }
    }
    Some(format!("Together: {}", parts.join("; ")))
}

/// The cell without these factors.
pub(crate) fn without(cell: &Cell, factors: &[impl AsRef<str>]) -> Cell {
    let stays = |factor: &str| !factors.iter().any(|left| left.as_ref() == factor);
    Cell(cell.0.iter().filter(|(factor, _)| stays(factor)).map(|(f, l)| (f.clone(), l.clone())).collect())
}

pub(crate) fn only(cell: &Cell, factors: &[&str]) -> Cell {
    let level = |factor: &&str| Some(((*factor).to_owned(), cell.get(factor)?.clone()));
    Cell(factors.iter().filter_map(level).collect())
}

/// Conditions as a title: `10 ms handler delay, 100 connections`. What has no words of its own is `factor = level`.
pub(crate) fn conditions(cell: &Cell) -> String {
    let first = FIRST.iter().filter_map(|factor| Some((factor.id(), cell.level(*factor)?)));
    let said = |factor: &str| !is_one_of(&FIRST, factor) && !is_one_of(&UNSAID, factor);
    let rest = cell.0.iter().filter(|(factor, _)| said(factor));
    let parts: Vec<String> =
        first.chain(rest.map(|(factor, level)| (factor.as_str(), level))).map(|(f, l)| condition(f, l)).collect();
    parts.join(", ")
}

fn condition(name: &str, level: &Level) -> String {
    let said = Factor::from_id(name).and_then(|factor| in_words(factor, level));
    said.unwrap_or_else(|| format!("{name} = {level}"))
}

/// A level in the words that its factor has for it; none where it has none.
fn in_words(factor: Factor, level: &Level) -> Option<String> {
    let flag = |on: &str, off: &str| level.flag().map(|flag| if flag { on.to_owned() } else { off.to_owned() });
    match (factor, level) {
        (Factor::HandlerDelay, _) => Some(match level.duration_ns()? {
            0 => "no handler delay".to_owned(),
            ns => format!("{} handler delay", short_duration(ns)),
        }),
        (Factor::Profile, _) => flag("under a CPU profile", "no CPU profile"),
        (Factor::Beside, _) => flag("with the other load beside", "no other load"),
        (Factor::BackendDelay, _) => Some(format!("backend of {}", short_duration(level.duration_ns()?))),
        (Factor::BackendWorkers, Level::Integer(count)) => {
            Some(format!("{} at once", counted(*count, "worker", "workers")))
        }
        (Factor::BackendRefuses, _) => flag("others refused", "others wait"),
        (Factor::Admin, _) => flag("with an admin server", "no admin server"),
        (Factor::TargetCpus, Level::Integer(count)) => Some(format!("target on {}", counted(*count, "CPU", "CPUs"))),
        (Factor::TargetCpus, Level::Text(text)) => (text == ALL_CPUS).then(|| "target on all CPUs".to_owned()),
        (Factor::Target | Factor::Runtime | Factor::BackendWorkers, _) => None,
        (Factor::Load(key), _) => load_in_words(key, level),
    }
}

fn load_in_words(key: LoadKey, level: &Level) -> Option<String> {
    let flag = |on: &str, off: &str| level.flag().map(|flag| if flag { on.to_owned() } else { off.to_owned() });
    match (key, level) {
        (LoadKey::Rate, Level::Integer(rate)) => Some(format!("{} requests/s asked", thousands(*rate))),
        (LoadKey::Rate, Level::Text(_)) => Some(match level.rate_in_words()? {
            RateInWords::Closed => "closed load".to_owned(),
            RateInWords::OfClosed(percent) => format!("{percent} % of a closed load's rate asked"),
        }),
        (LoadKey::NetworkDelay, _) => Some(match level.duration_ns()? {
            0 => "no network delay".to_owned(),
            ns => format!("{} of network", short_duration(ns)),
        }),
        (LoadKey::Connections, Level::Integer(count)) => Some(counted(*count, "connection", "connections")),
        (LoadKey::Pipeline, Level::Integer(1)) => Some("no pipelining".to_owned()),
        (LoadKey::Pipeline, Level::Integer(depth)) => Some(format!("{depth} pipelined")),
        (LoadKey::Tls, _) => flag("over TLS", "no TLS"),
        (LoadKey::TlsResume, _) => flag("sessions resumed", "full handshakes"),
        _ => None,
    }
}

/// A duration that was typed, without digits that were not: `10 ms`, `1.5 s`.
fn short_duration(ns: u64) -> String {
    seconds(ns as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_in_words() {
        let cell = |levels: &[(&str, Level)]| {
            Cell(levels.iter().map(|(factor, level)| ((*factor).to_owned(), level.clone())).collect())
        };
        let text = |text: &str| Level::Text(text.to_owned());
        let delayed = [("connections", Level::Integer(100)), ("handler_delay", text("10ms")), ("target", text("a"))];
        assert_eq!(conditions(&cell(&delayed)), "10 ms handler delay, 100 connections");
        let far = [("handler_delay", text("0ms")), ("network_delay", text("20ms")), ("profile", text("true"))];
        assert_eq!(conditions(&cell(&far)), "no handler delay, 20 ms of network, under a CPU profile");
        let near = [("network_delay", text("0ms")), ("profile", text("false"))];
        assert_eq!(conditions(&cell(&near)), "no network delay, no CPU profile");
        let secured = [("tls", text("true")), ("tls_resume", text("false"))];
        assert_eq!(conditions(&cell(&secured)), "over TLS, full handshakes");
        let others = [("gc", text("off")), ("handler_delay", text("0ms")), ("target_cpus", text("all"))];
        assert_eq!(conditions(&cell(&others)), "no handler delay, gc = off, target on all CPUs");
        let open =
            [("rate", Level::Integer(5000)), ("connections", Level::Integer(1)), ("pipeline", Level::Integer(16))];
        assert_eq!(conditions(&cell(&open)), "5,000 requests/s asked, 1 connection, 16 pipelined");
        let half = [("rate", text("50% of closed")), ("connections", Level::Integer(10))];
        assert_eq!(conditions(&cell(&half)), "50 % of a closed load's rate asked, 10 connections");
        assert_eq!(conditions(&cell(&[("target", text("a"))])), "");
    }
}
