//! The cells of a run as rows that the terminal and Markdown lay out each in its way.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    Analysis, Cell, CellAnalysis, CellLatency, Coldness, ComparisonVerdict, Factor, Launches, Mark, MarkCause,
    MarkNote, Metric, Population, Rank, RankGroup, Unranked, Withheld, alike,
};

use crate::cell_words::{cpu, memory};
use crate::conditions::{Conditions, conditions};
use crate::format::{counted, number, percent, plus_minus};
use crate::mark_words::{mark_meaning, mark_words, note_words};
use crate::place::{Place, Tie};
use crate::rotation_words::launched;
use crate::withheld::because;
use crate::words::{at_least, bracketed, latency, words};

/// The targets under one set of conditions, best first; or, where no two cells share their conditions, the conditions
/// in the order of the plan.
pub(crate) struct Group<'a> {
    /// The conditions in words; empty when only the target varies, or where the conditions are the rows.
    pub(crate) title: String,
    /// What names a row: `target`, or the factors in which the cells differ.
    pub(crate) name_header: Vec<String>,
    /// `service p99`, or `service time` where rows name quantiles of their own.
    pub(crate) latency_header: String,
    pub(crate) rows: Vec<Row<'a>>,
}

pub(crate) struct Row<'a> {
    pub(crate) cell: &'a CellAnalysis,
    /// A text for each part of the group's `name_header`.
    pub(crate) name: Vec<String>,
    /// The conditions, where the group's title does not say them.
    pub(super) conditions: Cell,
    pub(crate) place: Place,
    /// Why it has no rank, where that is because the machine was busy.
    pub(crate) disturbed: Option<Withheld>,
    /// Why it has none, where its table has ranks.
    pub(crate) unranked: Option<Unranked>,
    /// Those that may be above it or below, where its rank is open.
    pub(crate) open: Vec<String>,
    /// Those of the same table of which it is not shown to do better or worse, as pairs.
    pub(crate) ties: Vec<Tie>,
    /// `9,214`, `≥ 45,678`.
    pub(crate) throughput: String,
    /// `± 0.6 %`, or empty.
    pub(crate) spread: String,
    pub(crate) of_ceiling: Option<String>,
    /// Share of the requests that failed.
    pub(crate) failed: String,
    pub(crate) latency: String,
    pub(crate) cpu: String,
    pub(crate) memory: String,
}

impl Group<'_> {
    /// The largest throughput, to which bars are scaled.
    pub(crate) fn best(&self) -> f64 {
        self.rows.iter().filter_map(|row| row.cell.throughput.estimate).fold(0.0, f64::max)
    }

    /// Said where the ranks are not those of the throughput.
    pub(crate) fn rank_note(&self) -> Option<&'static str> {
        (self.has_given_rate() && self.has_rank()).then_some("ranked by response p99, because the rate is fixed")
    }

    /// Whether the rate was given, so that what distinguishes the rows is how long the replies take.
    pub(crate) fn has_given_rate(&self) -> bool {
        self.rows.iter().any(|row| row.cell.latency_us.population == Population::Response)
    }

    pub(crate) fn is_ranked(&self) -> bool {
        self.rows.iter().any(|row| row.place != Place::Nowhere)
    }

    /// Whether one of them has a rank.
    pub(crate) fn has_rank(&self) -> bool {
        self.rows.iter().any(|row| row.place.rank().is_some())
    }

    pub(crate) fn has_ceiling(&self) -> bool {
        self.rows.iter().any(|row| row.of_ceiling.is_some())
    }

    /// Whether requests of some row failed.
    pub(crate) fn has_failures(&self) -> bool {
        self.rows.iter().any(|row| row.cell.errors > 0.0)
    }

    /// The marks in it, each with the rows that carry it and, where one figure says it, that figure.
    pub(crate) fn marks(&self) -> Vec<(Mark, String)> {
        let of = |mark: &Mark| {
            let marked = self.rows.iter().filter(|row| row.cell.marks.iter().any(|note| note.mark() == *mark));
            let rows: Vec<String> = marked.map(|row| marked_row(*mark, row)).collect();
            (!rows.is_empty()).then(|| (*mark, rows.join(if self.is_by_target() { ", " } else { "; " })))
        };
        Mark::ALL.iter().filter_map(of).collect()
    }

    /// How its launches were made; a sentence, or several where its rows differ.
    pub(crate) fn launched(&self) -> BTreeSet<String> {
        self.rows.iter().map(|row| launched(row.cell)).collect()
    }

    fn is_by_target(&self) -> bool {
        self.rows.iter().all(|row| row.conditions.0.is_empty())
    }
}

fn marked_row(mark: Mark, row: &Row<'_>) -> String {
    let cell = row.cell;
    let note = cell.marks.iter().find(|note| note.mark() == mark);
    let figure = match mark {
        Mark::Errors => Some(percent(cell.errors)),
        Mark::Noisy => note.and_then(|note| note.launches.as_ref()).map(in_launches),
        Mark::WarmUp => cell.course.steady_throughput.as_ref().and_then(|steady| {
            let (rate, cut) = (steady.estimate?, cell.course.cut?);
            Some(format!("{} steady after at most {} of the window", number(rate), percent(cut)))
        }),
        Mark::Generator => generator_figure(cell),
        Mark::Cold | Mark::Silent | Mark::Hung | Mark::NotDrained | Mark::Growing | Mark::LevelledOff => {
            note.map(figures)
        }
        _ => None,
    };
    let name = match conditions(&row.conditions) {
        said if said.is_empty() => cell.levels.target().to_owned(),
        said => said,
    };
    figure.map(|figure| format!("{name} ({figure})")).unwrap_or(name)
}

/// `1 of 6 launches`.
fn in_launches(Launches { with, of, .. }: &Launches) -> String {
    format!("{with} of {}", counted((*of).into(), "launch", "launches"))
}

/// The figures that a mark's name is followed by.
fn figures(note: &MarkNote) -> String {
    match &note.cause {
        MarkCause::Cold(Coldness::FasterBy { share, .. }) => {
            format!("{} faster in the second half of its windows", percent(*share))
        }
        MarkCause::Silence(_) | MarkCause::Hung { .. } | MarkCause::NotDrained { .. } => note_words(note),
        cause => mark_words(cause),
    }
}

/// What made the generator the limit.
fn generator_figure(cell: &CellAnalysis) -> Option<String> {
    let starved = cell.generator_starved.filter(|_| cell.remarks.generator_waited.is_some());
    let waiting = starved.map_or(String::new(), |share| format!(", {} waiting for a CPU", percent(share)));
    Some(format!("{} busy{waiting}", percent(cell.generator_busy?)))
}

/// Why there is no rank where the machine was busy, and what would settle it.
pub(crate) fn disturbed(groups: &[Group<'_>]) -> Option<String> {
    let of = |group: &Group<'_>| {
        let rows: Vec<&str> =
            group.rows.iter().filter(|row| row.disturbed.is_some()).map(|row| row.cell.levels.target()).collect();
        (!rows.is_empty()).then(|| format!("{}{}", rows.join(", "), bracketed(&group.title)))
    };
    let who: Vec<String> = groups.iter().filter_map(of).collect();
    let why = groups.iter().flat_map(|group| &group.rows).find_map(|row| row.disturbed)?;
    Some(format!(
        "No rank for {}: {}. What would settle it: fewer other programs on this machine.",
        who.join("; "),
        because(why, &[])
    ))
}

/// What the marks below the tables mean, once each.
pub(crate) fn legends(groups: &[Group<'_>]) -> Vec<String> {
    let seen: Vec<Mark> = groups.iter().flat_map(Group::marks).map(|(mark, _)| mark).collect();
    let said = Mark::ALL.iter().filter(|mark| seen.contains(mark));
    said.map(|mark| format!("{}: {}", words(mark.id()), mark_meaning(*mark))).collect()
}

/// The cells as tables: one for each set of conditions that several targets share; where none is shared, one for all.
pub(crate) fn groups<'a>(analysis: &'a Analysis, conditions: &Conditions) -> Vec<Group<'a>> {
    if let Some(factors) = conditions.row_factors() {
        return by_conditions(analysis, factors, conditions);
    }
    let rankings = rankings(analysis);
    let together = alike(analysis.cells.iter().map(|cell| cell.levels.conditions()));
    let cells = |places: Vec<usize>| places.into_iter().map(|place| &analysis.cells[place]).collect();
    together.into_iter().map(|places| by_target(cells(places), &rankings, conditions)).collect()
}

/// The ranks under a set of conditions, and who is in a pair that proves nothing because of noise.
struct Ranking<'a> {
    metric: Metric,
    ranks: Ranks<'a>,
    disturbed: BTreeMap<&'a str, Withheld>,
    /// The pairs with no verdict of one above the other, and whether they were shown to be the same.
    ties: Vec<([&'a str; 2], bool)>,
}

impl Ranking<'_> {
    fn open(&self, target: &str) -> Vec<String> {
        self.ranks.get(target).map_or_else(Vec::new, |(_, rank)| rank.open.clone())
    }

    fn ties(&self, target: &str) -> Vec<Tie> {
        let rank = |target: &str| self.ranks.get(target).and_then(|(_, rank)| rank.rank);
        let of_it = self.ties.iter().filter_map(|([a, b], same)| match () {
            () if *a == target => Some((*b, *same)),
            () if *b == target => Some((*a, *same)),
            () => None,
        });
        let tie = |(other, same): (&str, bool)| {
            let shares_rank = rank(target)? == rank(other)?;
            Some(Tie { target: other.to_owned(), same, shares_rank })
        };
        of_it.filter_map(tie).collect()
    }

    fn unranked(&self, target: &str) -> Option<Unranked> {
        self.ranks.get(target).and_then(|(_, rank)| rank.unranked)
    }

    /// Where a target stands, and whether noise is why it has no rank.
    fn of(&self, target: &str) -> (Place, Option<Withheld>) {
        let known = self.ranks.get(target).and_then(|(_, rank)| Some((rank.rank?, rank.tied)));
        match known {
            Some((rank, tied)) => (Place::Rank { rank, tied }, None),
            None => (Place::Open, self.disturbed.get(target).copied()),
        }
    }
}

fn rankings<'a>(analysis: &'a Analysis) -> BTreeMap<&'a Cell, Ranking<'a>> {
    let ranking = |group: &'a RankGroup| Ranking {
        metric: group.metric,
        ranks: ranks(group),
        disturbed: BTreeMap::new(),
        ties: Vec::new(),
    };
    let leading = analysis.groups.iter().filter(|group| group.leads);
    let mut rankings: BTreeMap<&Cell, Ranking> = leading.map(|group| (&group.conditions, ranking(group))).collect();
    for pair in analysis.comparisons.iter().filter(|pair| pair.is_undecided()) {
        let ranking = rankings.get_mut(&pair.conditions).filter(|ranking| ranking.metric == pair.metric);
        let same = pair.verdict == ComparisonVerdict::Same;
        ranking.into_iter().for_each(|ranking| ranking.ties.push(([&pair.a, &pair.b], same)));
    }
    for pair in analysis.comparisons.iter().filter(|pair| pair.seen != Some(ComparisonVerdict::Same)) {
        let Some(why) = pair.withheld.filter(|why| why.is_noise()) else { continue };
        let ranking = rankings.get_mut(&pair.conditions).filter(|ranking| ranking.metric == pair.metric);
        if let Some(ranking) = ranking.filter(|_| !analysis.preliminary) {
            ranking.disturbed.extend([&pair.a, &pair.b].map(|target| (target.as_str(), why)));
        }
    }
    rankings
}

fn by_target<'a>(
    mut cells: Vec<&'a CellAnalysis>,
    rankings: &BTreeMap<&Cell, Ranking>,
    conditions: &Conditions,
) -> Group<'a> {
    let at = cells.first().map_or_else(Cell::default, |cell| cell.levels.conditions());
    let ranking = rankings.get(&at);
    sort(&mut cells, ranking.map(|ranking| &ranking.ranks));
    let quantiles = Quantiles::of(&cells);
    let row = |cell: &&'a CellAnalysis| {
        let (place, disturbed) = ranking.map_or_else(Default::default, |ranking| ranking.of(cell.levels.target()));
        let open = ranking.map_or_else(Vec::new, |ranking| ranking.open(cell.levels.target()));
        let unranked = ranking.and_then(|ranking| ranking.unranked(cell.levels.target()));
        Row {
            place,
            disturbed,
            unranked,
            open,
            ties: ranking.map_or_else(Vec::new, |ranking| ranking.ties(cell.levels.target())),
            ..row(cell, vec![cell.levels.target().to_owned()], Cell::default(), &quantiles)
        }
    };
    Group {
        title: conditions.title(&at),
        name_header: vec![Factor::Target.id().to_owned()],
        rows: cells.iter().map(row).collect(),
        latency_header: quantiles.header,
    }
}

/// A table for each population of latencies, which are not to be compared with each other.
fn by_conditions<'a>(analysis: &'a Analysis, factors: &[String], conditions: &Conditions) -> Vec<Group<'a>> {
    let mut populations: Vec<Population> = Vec::new();
    for cell in &analysis.cells {
        if !populations.contains(&cell.latency_us.population) {
            populations.push(cell.latency_us.population);
        }
    }
    let name = |cell: &CellAnalysis| {
        let level = |factor: &String| cell.levels.get(factor).map_or("–".to_owned(), ToString::to_string);
        factors.iter().map(level).collect()
    };
    let group = |population: Population| {
        let of_population = |cell: &&CellAnalysis| cell.latency_us.population == population;
        let cells: Vec<&CellAnalysis> = analysis.cells.iter().filter(of_population).collect();
        let quantiles = Quantiles::of(&cells);
        let row = |cell: &&'a CellAnalysis| row(cell, name(cell), conditions.said(&cell.levels), &quantiles);
        Group {
            title: String::new(),
            name_header: factors.to_vec(),
            rows: cells.iter().map(row).collect(),
            latency_header: quantiles.header,
        }
    };
    populations.into_iter().map(group).collect()
}

/// Which latencies the rows of a table show.
struct Quantiles {
    all_have_p99: bool,
    header: String,
}

impl Quantiles {
    fn of(cells: &[&CellAnalysis]) -> Self {
        let mut measured = cells.iter().filter(|cell| cell.trials > 0);
        let all_have_p99 = measured.all(|cell| cell.latency_us.p99.estimate.is_some());
        let population = cells.first().map_or("", |cell| cell.latency_us.population.id());
        Self { all_have_p99, header: format!("{population} {}", if all_have_p99 { "p99" } else { "time" }) }
    }
}

/// The ranks by target, each with its place in the table.
type Ranks<'a> = BTreeMap<&'a str, (usize, &'a Rank)>;

fn ranks(ranking: &RankGroup) -> Ranks<'_> {
    ranking.ranks.iter().enumerate().map(|(place, rank)| (rank.target.as_str(), (place, rank))).collect()
}

/// By rank; where there is none, by throughput.
fn sort(cells: &mut [&CellAnalysis], ranks: Option<&Ranks>) {
    let place = |cell: &CellAnalysis| {
        let ranked = ranks.and_then(|ranks| ranks.get(cell.levels.target()));
        ranked.map_or(usize::MAX, |(place, _)| *place)
    };
    let rate = |cell: &CellAnalysis| cell.throughput.estimate.unwrap_or(-1.0);
    cells.sort_by(|a, b| place(a).cmp(&place(b)).then(rate(b).total_cmp(&rate(a))));
}

/// A row without a rank.
fn row<'a>(cell: &'a CellAnalysis, name: Vec<String>, conditions: Cell, quantiles: &Quantiles) -> Row<'a> {
    let throughput = match cell.throughput.estimate {
        Some(rate) => at_least(cell.at_least, number(rate)),
        None if cell.void == 0 && cell.set_aside > 0 => "set aside".to_owned(),
        // Stopped before its first launch, or in a block that was not completed.
        None if cell.void == 0 => "not run".to_owned(),
        None => "void".to_owned(),
    };
    Row {
        cell,
        name,
        conditions,
        place: Place::default(),
        open: Vec::new(),
        ties: Vec::new(),
        unranked: None,
        disturbed: None,
        throughput,
        spread: plus_minus(&cell.throughput).unwrap_or_default(),
        of_ceiling: cell.of_ceiling.map(percent),
        // Of launches that do not count nothing is said to have gone well.
        failed: match cell.throughput.estimate {
            None if cell.errors == 0.0 => "–".to_owned(),
            _ => percent(cell.errors),
        },
        latency: quantile(&cell.latency_us, quantiles.all_have_p99),
        cpu: cpu(cell),
        memory: memory(cell),
    }
}

/// The highest quantile that could be estimated, with its name unless the header says it.
fn quantile(latency_us: &CellLatency, all_have_p99: bool) -> String {
    let quantiles = [("p99", &latency_us.p99), ("p90", &latency_us.p90), ("p50", &latency_us.p50)];
    let highest = quantiles.into_iter().find_map(|(name, value)| Some((name, value.estimate?)));
    match highest {
        None => "–".to_owned(),
        Some((_, us)) if all_have_p99 => latency(us, latency_us.censored),
        Some((name, us)) => format!("{name} {}", latency(us, latency_us.censored)),
    }
}
