//! What would settle what is open: how many blocks, how long they take, and the command that asks for them.

use model::{
    Analysis, BLOCKS_FOR_A_VERDICT, CellAnalysis, ClaimAnalysis, ClaimVerdict, CompareAnalysis, CompareRow,
    ComparisonVerdict, GateResult, GateVerdict, MOST_NEEDED_BLOCKS,
};

use crate::format::{counted, elapsed, thousands};
use crate::words::listed;

/// The blocks that a run or a comparison has.
pub(crate) struct Blocks {
    have: u32,
    /// How many a verdict needs, or the run was to have.
    asked: u32,
    /// Whether the run was to have more, however many a verdict needs.
    is_unfinished: bool,
    /// What one took, where that is known.
    block_s: Option<f64>,
    /// Whether they are loads that somebody saved.
    of_loads: bool,
    /// What they are called: `blocks`, or of what is not paired `launches of each`.
    words: [&'static str; 2],
}

impl Blocks {
    pub(crate) fn of_run(analysis: &Analysis) -> Self {
        Blocks {
            have: analysis.blocks,
            asked: asked(analysis.unfinished),
            is_unfinished: analysis.unfinished.is_some(),
            block_s: each_s(analysis.elapsed_s, analysis.blocks, analysis.session.repeated.len()),
            of_loads: false,
            words: ["block", "blocks"],
        }
    }

    pub(crate) fn of_comparison(analysis: &CompareAnalysis) -> Self {
        Blocks {
            have: analysis.blocks,
            asked: asked(analysis.unfinished),
            is_unfinished: analysis.unfinished.is_some(),
            block_s: each_s(analysis.elapsed_s, analysis.blocks, analysis.session.repeated.len()),
            of_loads: analysis.is_of_loads(),
            words: match (analysis.is_of_loads(), analysis.interleaved) {
                (true, _) => ["load of each", "loads of each"],
                (false, _) => ["launch of each", "launches of each"],
            },
        }
    }

    /// `Too few blocks for a verdict (4 of 6)`, where that is so; `No verdict before the end (9 of 12 blocks)`.
    pub(crate) fn too_few(&self) -> Option<String> {
        self.too_few_count(self.have)
    }

    /// The same of a figure that rests on some of them: in others a launch is void, or has no such figure.
    pub(crate) fn too_few_of(&self, counted: Option<u32>) -> Option<String> {
        self.too_few_count(counted.unwrap_or(self.have))
    }

    fn too_few_count(&self, have: u32) -> Option<String> {
        let (asked, many) = (self.asked, if self.of_loads { "loads" } else { "blocks" });
        match have {
            0..BLOCKS_FOR_A_VERDICT => Some(format!("Too few {many} for a verdict ({have} of {asked})")),
            _ if self.is_unfinished => Some(format!("No verdict before the end ({have} of {asked} {many})")),
            _ => None,
        }
    }

    /// `needs about 9 blocks in all (5 min 12 s more)`, going by the time that the blocks took so far.
    pub(crate) fn needed(&self, blocks: u32) -> String {
        let [one, many] = self.words;
        if blocks >= MOST_NEEDED_BLOCKS {
            return format!("needs {} {many} or more", thousands(blocks.into()));
        }
        format!("needs about {} in all{}", counted(about(blocks).into(), one, many), self.more(blocks))
    }

    /// The same of the figure that matters most: beyond what anybody waits for, with what else may help.
    pub(crate) fn needed_for_one(&self, blocks: u32, longer: String) -> String {
        if blocks <= MOST_TOLD {
            return self.needed(blocks);
        }
        format!("takes over {MOST_TOLD} {}; {longer} may take fewer", self.words[1])
    }

    /// ` (5 min 12 s more)`
    fn more(&self, blocks: u32) -> String {
        let more = self.block_s.map(|block_s| block_s * f64::from(blocks.saturating_sub(self.have)));
        more.map_or(String::new(), |seconds| format!(" ({} more)", about_elapsed(seconds)))
    }

    /// `About 26 launches of each in all (1 min 19 s more) may settle CPU per request, 38 (2 min 26 s more) throughput; latency
    /// p99 takes over 100`, of how many what needs, the fewest first.
    pub(crate) fn may_settle(&self, needed: &[(u32, Vec<String>)]) -> Option<String> {
        let [one, many] = self.words;
        let (few, rest) = needed.split_at(needed.partition_point(|(blocks, _)| *blocks <= MOST_TOLD));
        let rest: Vec<String> = rest.iter().flat_map(|(_, names)| names.clone()).collect();
        let said = few.iter().enumerate().map(|(place, (blocks, names))| {
            let count = counted((*blocks).into(), one, many);
            let launches = if place == 0 { format!("About {count} in all") } else { blocks.to_string() };
            let may = if place == 0 { " may settle" } else { "" };
            format!("{launches}{}{may} {}", self.more(*blocks), listed(names))
        });
        let said = said.collect::<Vec<_>>().join(", ");
        match (few.is_empty(), rest.is_empty()) {
            (true, true) => None,
            (_, true) => Some(said),
            (true, _) => Some(format!("To settle {} takes over {MOST_TOLD} {many}", listed(&rest))),
            _ => {
                let take = if rest.len() == 1 { "takes" } else { "take" };
                Some(format!("{said}; {} {take} over {MOST_TOLD}", listed(&rest)))
            }
        }
    }
}

/// More blocks than these are not counted one by one.
const MOST_TOLD: u32 = 100;

/// An estimate of so many blocks, no more exact than it is.
fn about(blocks: u32) -> u32 {
    if blocks <= MOST_TOLD { blocks } else { blocks.div_ceil(10) * 10 }
}

/// A length of time as exact as an estimate is: from ten minutes on in minutes.
fn about_elapsed(seconds: f64) -> String {
    elapsed(if seconds < 600.0 { seconds } else { (seconds / 60.0).round() * 60.0 }).replace(" min 0 s", " min")
}

/// How many blocks a verdict takes: six, or all that were asked for, where the run is not at its end.
pub(crate) fn asked(unfinished: Option<u32>) -> u32 {
    unfinished.unwrap_or(0).max(BLOCKS_FOR_A_VERDICT)
}

/// Blocks beside those that a verdict takes, should not all count.
const SPARE: u32 = 2;

/// Said before the first launch of a plan that has too few blocks for a verdict, and how many it takes.
pub fn too_few_blocks(blocks: u32) -> String {
    let blocks = counted(blocks.into(), "block gives", "blocks give");
    let enough = BLOCKS_FOR_A_VERDICT + SPARE;
    format!("{blocks} figures and no verdict, which needs {BLOCKS_FOR_A_VERDICT} that count: --blocks {enough}")
}

/// What a block took, in seconds. Those that were launched again took as long.
fn each_s(elapsed_s: Option<f64>, blocks: u32, repeated: usize) -> Option<f64> {
    let launched = blocks as usize + repeated;
    elapsed_s.filter(|_| launched > 0).map(|seconds| seconds / launched as f64)
}

/// How a run would get the blocks that it lacks, or that its open claims need.
pub(crate) fn of_run(analysis: &Analysis, resume: &str) -> Option<String> {
    if let Some(asked) = analysis.unfinished {
        return (!analysis.ended_in_vain).then(|| rest(asked, resume));
    }
    let needed = analysis.claims.iter().filter_map(|claim| claim.needs_blocks);
    let counted = analysis.claims.iter().filter(|claim| lacks_blocks(claim)).map(|claim| claim.blocks);
    line(needed, "", enough(&analysis.cells, analysis.blocks, counted), resume)
}

/// The same of a comparison that was launched: for its gates, as long as some are undecided, for they are what was asked; else for its primary metric.
pub(crate) fn of_comparison(analysis: &CompareAnalysis, resume: &str) -> Option<String> {
    if let Some(asked) = analysis.unfinished {
        return (!analysis.ended_in_vain).then(|| rest(asked, resume));
    }
    let open: Vec<&GateResult> = analysis.gates.iter().filter(|gate| gate.needs_blocks.is_some()).collect();
    let is_decided = analysis.gates.iter().all(|gate| gate.verdict != GateVerdict::Undecided);
    let needed: Vec<u32> = match analysis.same {
        _ if !is_decided => open.iter().filter_map(|gate| gate.needs_blocks).collect(),
        // More launches of one server against itself show nothing but noise.
        Some(_) => Vec::new(),
        None => {
            let of = |rows: &mut dyn Iterator<Item = &CompareRow>| {
                rows.filter_map(|row| row.needs_blocks).collect::<Vec<u32>>()
            };
            let primary = of(&mut analysis.rows.iter().filter(|row| Some(row.metric) == analysis.primary));
            // What the comparison is about comes first, and all of it.
            match primary.iter().max() {
                Some(most) => (*most <= MOST_TOLD).then_some(*most).into_iter().collect(),
                None if analysis.gates.is_empty() => {
                    of(&mut analysis.rows.iter()).into_iter().filter(|needed| *needed <= MOST_TOLD).collect()
                }
                None => Vec::new(),
            }
        }
    };
    let gates: Vec<String> = open.iter().map(|gate| gate.gate.clone()).collect();
    let of_primary = analysis.primary.filter(|_| !analysis.gates.is_empty() && !needed.is_empty());
    let what = match (gates.is_empty(), of_primary) {
        (false, _) => format!(" for {}", listed(&gates)),
        (true, Some(primary)) => format!(" for {}", primary.words()),
        (true, None) => String::new(),
    };
    let is_asked = |row: &&CompareRow| {
        let asks = |gate: &GateResult| gate.metric == row.metric && gate.verdict == GateVerdict::Undecided;
        match analysis.gates[..] {
            [] => row.verdict == ComparisonVerdict::Inconclusive,
            _ => analysis.gates.iter().any(asks),
        }
    };
    let settleable = |row: &&CompareRow| row.withheld.is_none() && row.is_measured();
    let counted = analysis.rows.iter().filter(is_asked).filter(settleable).filter_map(|row| row.blocks);
    let cells = analysis.cells.iter().map(|of| &of.cell);
    line(needed.into_iter(), &what, enough(cells, analysis.blocks, counted), resume)
}

/// How many blocks make enough of them count for a verdict, where so far fewer do: those that do not count are to be made once
/// more. Nothing where no launch counts.
fn enough<'a>(
    cells: impl IntoIterator<Item = &'a CellAnalysis>,
    blocks: u32,
    counted: impl Iterator<Item = u32>,
) -> Option<u32> {
    let cells: Vec<&CellAnalysis> = cells.into_iter().collect();
    let begun = cells.iter().map(|cell| cell.trials + cell.void).max()?;
    let fewest = counted.chain([blocks]).min()?;
    let is_short = fewest < BLOCKS_FOR_A_VERDICT && cells.iter().any(|cell| cell.trials > 0);
    is_short.then(|| BLOCKS_FOR_A_VERDICT + begun.saturating_sub(fewest))
}

/// Whether more blocks may be what a claim lacks.
fn lacks_blocks(claim: &ClaimAnalysis) -> bool {
    claim.verdict == ClaimVerdict::Inconclusive && claim.withheld.is_none() && claim.blocks > 0
}

fn rest(asked: u32, resume: &str) -> String {
    format!("The rest of {}: {resume}", counted(asked.into(), "block", "blocks"))
}

/// `enough` are as many as a verdict takes at least, where there are fewer.
fn line(needed: impl Iterator<Item = u32>, what: &str, enough: Option<u32>, resume: &str) -> Option<String> {
    let mut needed: Vec<u32> = needed.filter(|blocks| *blocks < MOST_NEEDED_BLOCKS).collect();
    // What is said to need more is not sent for less.
    if needed.is_empty() {
        needed.extend(enough);
    }
    needed.sort_unstable();
    needed.dedup();
    let (least, others) = needed.split_first()?;
    let all = others.last().map_or(String::new(), |most| format!(" ({most} for all of it)"));
    Some(format!("More blocks{what}{all}: {resume} --blocks {least}"))
}
