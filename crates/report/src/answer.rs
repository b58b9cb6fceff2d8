//! What a run says, in one sentence: the first thing that a reader sees.

use std::collections::BTreeMap;

use model::{Analysis, CellAnalysis, ClaimAnalysis, ClaimNote, ClaimVerdict, Withheld};

use crate::cell_words::with_failures;
use crate::format::{Spread, number, spread};
use crate::page::Tint;
use crate::place::Place;
use crate::rows::{Group, Row};
use crate::words::{self, latency, listed};

/// Of a run that has just begun, or was stopped before its first launch was over.
pub(crate) const NOTHING_YET: &str = "Not finished: nothing is measured yet.";

/// The answer of a run: what its claims came to, or who stands where. Nothing while there are too few launches for one.
pub(crate) fn of_run(analysis: &Analysis, groups: &[Group<'_>]) -> Option<(Tint, String)> {
    if analysis.trials.total == 0 && analysis.unfinished.is_some() {
        return Some((Tint::Unsure, NOTHING_YET.to_owned()));
    }
    if words::nothing_measured(analysis) {
        let said = match analysis.session.repeated.len() {
            _ if analysis.cells.iter().all(|cell| cell.set_aside == 0) => "No launch counts, so nothing can be said.",
            1 => "Measured only in a block that is set aside, because the machine was busy: no launch counts.",
            _ => "Measured only in blocks that are set aside, because the machine was busy: no launch counts.",
        };
        return Some((Tint::Bad, said.to_owned()));
    }
    if analysis.preliminary {
        return None;
    }
    if analysis.claims.is_empty() {
        return standing(groups).map(|text| (Tint::Bold, text));
    }
    let (tint, verdict) = verdict(&analysis.claims, analysis.cells.iter().any(|cell| cell.failing.bad));
    let supported = analysis.claims.iter().filter(|claim| claim.verdict == ClaimVerdict::Supported);
    let answers = supported.filter_map(|claim| claim.answers.as_deref());
    Some((tint, answers.chain([verdict.as_str()]).collect::<Vec<_>>().join(" ")))
}

/// `6 of 7 claims hold here, one is inconclusive.`
fn verdict(claims: &[ClaimAnalysis], is_bad: bool) -> (Tint, String) {
    let ends = Ends::of(claims);
    let settled = claims.len() - ends.inconclusive - ends.not_testable;
    let is_settled = settled > 0;
    // Where as many are settled, the rest says for itself what it wants.
    let others = ends.others(&if settled >= ends.inconclusive { String::new() } else { why_open(claims) });
    let others = others.join(", ");
    let text = match (ends.supported, claims.len()) {
        (1, 1) => "The claim holds here.".to_owned(),
        (0, 1) => format!("The claim {}.", others.trim_start_matches("one ")),
        (all, total) if all == total => format!("All {total} claims hold here."),
        (0, total) if !is_settled => format!("None of the {total} claims is settled here: {others}."),
        (0, total) => format!("None of the {total} claims holds here: {others}."),
        (1, total) => format!("1 of {total} claims holds here, {others}."),
        (some, total) => format!("{some} of {total} claims hold here, {others}."),
    };
    let tint = match ends.supported == claims.len() && !is_bad {
        true => Tint::Good,
        false if ends.contradicted > 0 => Tint::Bad,
        false => Tint::Unsure,
    };
    (tint, text)
}

/// How many claims ended how.
#[derive(Default)]
struct Ends {
    supported: usize,
    contradicted: usize,
    not_refuted: usize,
    inconclusive: usize,
    not_testable: usize,
}

impl Ends {
    fn of(claims: &[ClaimAnalysis]) -> Self {
        let mut ends = Ends::default();
        for claim in claims {
            *match claim.verdict {
                ClaimVerdict::Supported => &mut ends.supported,
                ClaimVerdict::Contradicted if claim.not_refuted.is_some() => &mut ends.not_refuted,
                ClaimVerdict::Contradicted => &mut ends.contradicted,
                ClaimVerdict::Inconclusive => &mut ends.inconclusive,
                ClaimVerdict::NotTestable => &mut ends.not_testable,
            } += 1;
        }
        ends
    }

    /// Those that are not supported: `one is contradicted`, `2 are inconclusive`, and why.
    fn others(&self, why: &str) -> Vec<String> {
        let inconclusive = ["is", "are"].map(|verb| format!("{verb} inconclusive{why}"));
        [
            (self.contradicted, ["is contradicted", "are contradicted"]),
            (self.inconclusive, inconclusive.each_ref().map(String::as_str)),
            (self.not_refuted, ["is not refuted on this few cores", "are not refuted on this few cores"]),
            (self.not_testable, ["is not tested here", "are not tested here"]),
        ]
        .into_iter()
        .filter_map(|(count, [one, many])| match count {
            0 => None,
            1 => Some(format!("one {one}")),
            count => Some(format!("{count} {many}")),
        })
        .collect()
    }
}

/// The commonest reason for which claims are inconclusive: ` (4 because the machine was busy)`.
fn why_open(claims: &[ClaimAnalysis]) -> String {
    let open: Vec<&ClaimAnalysis> = claims.iter().filter(|claim| claim.verdict == ClaimVerdict::Inconclusive).collect();
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    open.iter().filter_map(|claim| reason(claim)).for_each(|why| *reasons.entry(why).or_default() += 1);
    // Without this, six claims that a busy machine keeps open sound like six that failed.
    let agree = open.iter().filter(|claim| agrees(claim)).count();
    let who = if open.len() == 1 { String::new() } else { format!("{agree} of them ") };
    let agree = (agree > 0).then(|| format!("{who}supported by the figures alone"));
    match reasons.into_iter().max_by_key(|(_, claims)| *claims) {
        None => agree.map_or(String::new(), |agree| format!(" ({agree})")),
        Some((why, all)) if all == open.len() => {
            format!(", because {why}{}", agree.map_or(String::new(), |agree| format!(" ({agree})")))
        }
        Some((why, some)) => {
            format!(" ({some} because {why}{})", agree.map_or(String::new(), |agree| format!("; {agree}")))
        }
    }
}

/// Whether what was measured supports a claim that something else keeps open.
fn agrees(claim: &ClaimAnalysis) -> bool {
    let is_so = |note: &ClaimNote| matches!(note, ClaimNote::TakenBack { verdict: ClaimVerdict::Supported, .. });
    claim.notes.iter().any(is_so)
}

fn reason(claim: &ClaimAnalysis) -> Option<&'static str> {
    match claim.withheld {
        _ if claim.notes.iter().any(|note| matches!(note, ClaimNote::FewBlocks { .. })) => Some("too few blocks count"),
        None => claim.needs_blocks.map(|_| "the intervals are too wide"),
        Some(why) => why_withheld(why),
    }
}

/// Why something is held back, in few words and whoever it is of; none where that takes more of them.
pub(crate) fn why_withheld(why: Withheld) -> Option<&'static str> {
    Some(match why {
        Withheld::Definition | Withheld::Rotation | Withheld::Zero => return None,
        Withheld::Disturbed | Withheld::Unbounded | Withheld::Rounds => "the machine was busy",
        Withheld::Uneven => "other programs used as much of the CPUs",
        Withheld::AtLeast => "the generator may have been the limit",
        Withheld::AtCeiling => "the handler delay allowed no more",
        Withheld::Edges => "edge effects are as large as the difference",
        Withheld::Beside => "two loads were on a server",
        Withheld::LittleCpu | Withheld::FewRequests | Withheld::FewCollections => "the windows were too short",
        Withheld::Warming | Withheld::Cold => "a server was not warm yet",
        Withheld::Censored => "requests were unfinished",
        Withheld::Failing => "requests failed",
        Withheld::Wrong => "replies were wrong",
        Withheld::Silent => "a server did not answer",
        Withheld::Unanswered => "requests had no reply",
        Withheld::SharedMemory => "memory that processes share is counted in part",
        Withheld::AskedRuntime => "asking a server's runtime takes memory in it",
        Withheld::Waking => "waking a server took extra CPU or time",
        Withheld::Pauses => "a server may put off work until the load pauses",
        Withheld::BetweenLooks => "a server's memory may have peaked between two samples",
        Withheld::AnotherTime => "the machine may have changed as much between the two",
        Withheld::LittleMemory => "a server's memory can differ by as much from one session to the next",
        Withheld::Unwaited => "CPU that processes of a server used may be missing",
        Withheld::Spill => "a server used CPU during other targets' slices",
        Withheld::Lateness => "much of a latency may be the generator's own",
    })
}

/// Who leads, where nothing was claimed.
fn standing(groups: &[Group<'_>]) -> Option<String> {
    let ranked: Vec<&Group> = groups.iter().filter(|group| group.is_ranked()).collect();
    match ranked[..] {
        [] => range(groups),
        [only] => leaders_of_one(only),
        _ => leaders_of_several(&ranked),
    }
}

/// `mine serves 9,214 requests/s (± 0.6 %).`, or from the least to the most where there are several cells of one target.
fn range(groups: &[Group<'_>]) -> Option<String> {
    let cells: Vec<&CellAnalysis> = groups.iter().flat_map(|group| &group.rows).map(|row| row.cell).collect();
    let target = cells.first()?.levels.target();
    let rates: Vec<f64> = cells.iter().filter_map(|cell| cell.throughput.estimate).collect();
    let (least, most) = (rates.iter().copied().reduce(f64::min)?, rates.iter().copied().reduce(f64::max)?);
    let at_least = if cells.iter().any(|cell| cell.at_least) { "at least " } else { "" };
    match cells[..] {
        _ if cells.iter().any(|cell| cell.levels.target() != target) => None,
        [only] => {
            let spread = spread(&only.throughput).map_or(String::new(), |spread| match spread {
                Spread::Even(half) => format!(" ({half})"),
                Spread::Ends(ends) => format!(" {ends}"),
            });
            let rate = format!("{at_least}{} requests/s{spread}", number(most));
            Some(format!("{target} serves {}.", with_failures(rate, only.errors)))
        }
        _ => {
            let (least, most) = (number(least), number(most));
            Some(format!("{target} serves {at_least}{least} to {most} requests/s, by its conditions."))
        }
    }
}

/// Those of a table that share the first rank.
fn leaders<'a>(group: &'a Group<'_>) -> Vec<&'a Row<'a>> {
    group.rows.iter().filter(|row| row.place.rank() == Some(1)).collect()
}

/// Those without a rank that serve well.
fn open_places<'a>(group: &'a Group<'_>) -> Vec<&'a Row<'a>> {
    group.rows.iter().filter(|row| is_open_place(row)).collect()
}

fn is_open_place(row: &Row<'_>) -> bool {
    row.place == Place::Open && row.cell.trials > 0 && !row.cell.failing.bad
}

fn names(rows: &[&Row<'_>]) -> String {
    listed(&rows.iter().map(|row| row.cell.levels.target().to_owned()).collect::<Vec<_>>())
}

fn leaders_of_one(group: &Group<'_>) -> Option<String> {
    let leaders = leaders(group);
    let (serve, serves, alike) = match group.has_given_rate() {
        true => ("answer soonest", "answers soonest", "answer as soon as each other"),
        false => ("serve the most", "serves the most", "serve as much as each other"),
    };
    let same = are_same(&leaders);
    let open = open_places(group);
    let said = match leaders[..] {
        [] => return first_is_open(group, serves),
        [first] => format!("{} {serves}: {}", names(&leaders), figure(first, group)),
        _ if leaders.len() + open.len() == group.rows.len() => {
            format!("{} {}", names(&leaders), if same { alike } else { "are too close to call" })
        }
        _ if same => format!("{} {serve}, and {alike}", names(&leaders)),
        _ => format!("{} {serve}, and are too close to call among themselves", names(&leaders)),
    };
    let close = close_to(&leaders);
    let stand = if open.len() == 1 { "stands" } else { "stand" };
    let open = if open.is_empty() { String::new() } else { format!("; where {} {stand} is open", names(&open)) };
    Some(format!("{said}{close}{open}."))
}

/// Whether each pair of these was shown to be the same.
fn are_same(leaders: &[&Row<'_>]) -> bool {
    leaders.iter().all(|row| row.ties.iter().filter(|tie| tie.shares_rank && tie.same).count() + 1 == leaders.len())
}

/// `; b is too close to call with third, too`: those of lower rank to which a leader is tied as a pair.
fn close_to(leaders: &[&Row<'_>]) -> String {
    let said = leaders.iter().flat_map(|row| {
        [(true, "the same as"), (false, "too close to call with")].map(|(same, what)| {
            let others: Vec<String> = row.tied_across_ranks(same).map(str::to_owned).collect();
            let said = || format!("; {} is {what} {}, too", row.cell.levels.target(), listed(&others));
            if others.is_empty() { String::new() } else { said() }
        })
    });
    said.collect()
}

/// Who may be first, where nobody is: those above the first that has a rank.
fn first_is_open(group: &Group<'_>, serves: &str) -> Option<String> {
    let has_rank = |row: &Row<'_>| row.place.rank().is_some();
    let first = group.rows.iter().position(has_rank).unwrap_or(group.rows.len());
    let open = group.rows[..first].iter().filter(|row| is_open_place(row));
    let open: Vec<String> = open.map(|row| row.cell.levels.target().to_owned()).collect();
    (open.len() > 1).then(|| format!("Whether {} {serves} is open.", words::either(&open)))
}

/// What the first of a table is ranked by.
fn figure(row: &Row<'_>, group: &Group<'_>) -> String {
    match group.rank_note() {
        Some(_) => {
            let p99 = &row.cell.latency_us;
            format!("response p99 {}", p99.p99.estimate.map_or("–".to_owned(), |us| latency(us, p99.censored)))
        }
        None => with_failures(format!("{} requests/s", row.throughput), row.cell.errors),
    }
}

/// `a is first under 3 of 5 sets of conditions, b under 2; ties count for each.`
fn leaders_of_several(groups: &[&Group<'_>]) -> Option<String> {
    let mut first: BTreeMap<&str, usize> = BTreeMap::new();
    let all: Vec<Vec<&Row>> = groups.iter().map(|group| leaders(group)).collect();
    all.iter().flatten().for_each(|row| *first.entry(row.cell.levels.target()).or_default() += 1);
    let mut first: Vec<(&str, usize)> = first.into_iter().collect();
    first.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    let ((name, times), others) = first.split_first()?;
    let others: String = others.iter().map(|(name, times)| format!(", {name} under {times}")).collect();
    let ties = if all.iter().any(|leaders| leaders.len() > 1) { "; ties count for each" } else { "" };
    let open = match groups.iter().filter(|group| !open_places(group).is_empty()).count() {
        0 => String::new(),
        open => format!("; under {open} of them a place is open"),
    };
    Some(format!("{name} is first under {times} of {} sets of conditions{others}{ties}{open}.", groups.len()))
}
