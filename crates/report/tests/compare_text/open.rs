//! What a comparison leaves open, and what would settle it.

use super::*;

#[test]
fn where_nothing_is_settled_the_answer_says_how_far_the_primary_metric_is_known() {
    let mut analysis = revisions();
    analysis.gates.clear();
    for row in &mut analysis.rows {
        (row.verdict, row.withheld, row.seen) = (ComparisonVerdict::Inconclusive, None, None);
        row.ratio = Measured { estimate: Some(1.0), low: Some(0.98), high: Some(1.02), ..row.ratio };
    }
    let primary = analysis.rows.iter_mut().find(|row| Some(row.metric) == analysis.primary).unwrap();
    primary.ratio = Measured { estimate: Some(1.006), low: Some(0.997), high: Some(1.014), ..primary.ratio };
    let total = analysis.rows.len();
    let reach = "so anything from 0.3 % better to 1.4 % worse";
    let band = said(&analysis).split_once("nor that they are ").unwrap().1.split_once('.').unwrap().0.to_owned();
    assert_eq!(band, format!("the same within {} %", 100.0 * analysis.margin));
    let known = format!(
        "Undecided: CPU per request +0.6 % (-0.3 to +1.4), {reach}; {total} of {total} figures are inconclusive. For CPU per request this shows neither that the two differ \
         nor that they are {band}."
    );
    assert!(said(&analysis).contains(&known), "{}", said(&analysis));
    // Of what more is better of, the lower end is the worse one.
    let metric = analysis.primary.replace(Metric::Throughput);
    let row = analysis.rows.iter_mut().find(|row| row.metric == Metric::Throughput).unwrap();
    let ratio = row.ratio.clone();
    (row.ratio.estimate, row.ratio.low, row.ratio.high) = (Some(0.97), Some(0.9), Some(1.04));
    row.needs_blocks = Some(26);
    let text = said(&analysis);
    assert!(
        text.contains("throughput -3.0 % (-10.0 to +4.0), so anything from 4.0 % better to 10.0 % worse; "),
        "{text}"
    );
    assert!(text.contains("the same within 1 %; a verdict needs about 26 launches of each in all ("), "{text}");
    let row = analysis.rows.iter_mut().find(|row| row.metric == Metric::Throughput).unwrap();
    row.needs_blocks = Some(470);
    let text = said(&analysis);
    let many = "the same within 1 %; a verdict takes over 100 launches of each; a longer window (-d) may take fewer.";
    assert!(text.contains(many), "{text}");
    let row = analysis.rows.iter_mut().find(|row| row.metric == Metric::Throughput).unwrap();
    (analysis.primary, row.ratio, row.needs_blocks) = (metric, ratio, None);
    // What may be far worse is named beside it, though it may as well be better.
    let far = analysis.rows.iter_mut().find(|row| row.metric == Metric::P99).unwrap();
    let level = std::mem::replace(
        &mut far.ratio,
        Measured { estimate: Some(0.9), low: Some(0.5), high: Some(1.62), unit: model::Unit::Ratio },
    );
    let wide = "to 1.4 % worse; latency p99 -10 % (-50 to +62), so anything from 50 % better to 62 % worse; ";
    assert!(said(&analysis).contains(wide), "{}", said(&analysis));
    analysis.rows.iter_mut().find(|row| row.metric == Metric::P99).unwrap().ratio = level;
    // A leak is not hidden behind it.
    let memory = analysis.rows.iter_mut().find(|row| row.metric == Metric::PeakMemory).unwrap();
    let level = memory.ratio.clone();
    memory.ratio = Measured { estimate: Some(2.79), low: Some(2.5), high: Some(3.1), ..level.clone() };
    let leak = "Undecided: CPU per request +0.6 % (-0.3 to +1.4), so anything from 0.3 % better to 1.4 % worse; peak memory +179 % (+150 to +210); ";
    assert!(said(&analysis).contains(leak), "{}", said(&analysis));
    let memory = analysis.rows.iter_mut().find(|row| row.metric == Metric::PeakMemory).unwrap();
    memory.ratio = level;
    analysis.primary = None;
    assert!(said(&analysis).contains(&format!("Undecided: {total} of {total} figures")), "{}", said(&analysis));
}

#[test]
fn what_several_open_figures_need_is_told_together_and_an_interval_beyond_0_says_why_it_is_open() {
    let mut analysis = revisions();
    analysis.gates.clear();
    let needs = [Some(38), Some(26), Some(26), Some(500)];
    for (row, needs) in analysis.rows.iter_mut().zip(needs.into_iter().chain(std::iter::repeat(None))) {
        (row.verdict, row.withheld, row.seen, row.needs_blocks) = (ComparisonVerdict::Inconclusive, None, None, needs);
        row.ratio = Measured { estimate: Some(1.0), low: Some(0.9), high: Some(1.1), ..row.ratio };
    }
    let text = said(&analysis);
    let names: Vec<&str> = analysis.rows.iter().map(|row| row.metric.words()).collect();
    let told = [
        "About 26 launches of each in all (".to_owned(),
        format!(" more) may settle {} and {}, 38 (", names[1], names[2]),
        format!(" more) {}; {} takes over 100.", names[0], names[3]),
    ];
    assert!(told.iter().all(|part| text.contains(part)), "{text}");
    assert!(!text.contains("Holm"), "{text}");
    analysis.rows[1].ratio =
        Measured { estimate: Some(1.02), low: Some(1.01), high: Some(1.04), ..analysis.rows[1].ratio };
    assert!(!said(&analysis).contains("Holm"), "an interval that leaves 0 out may be open for want of launches");
    analysis.rows[1].open_as_one_of = Some(5);
    let why = format!(
        "The interval of {} just leaves 0 out, which one of 5 figures tested at once may do by chance (Holm's correction)",
        names[1],
    );
    assert!(said(&analysis).contains(&why), "{}", said(&analysis));
}

#[test]
fn what_is_open_says_what_would_settle_it() {
    let mut analysis = revisions();
    let open = analysis.rows.iter_mut().find(|row| row.metric == Metric::P99).unwrap();
    (open.verdict, open.withheld, open.needs_blocks) = (ComparisonVerdict::Inconclusive, None, Some(41));
    (analysis.gates[1].verdict, analysis.gates[1].needs_blocks) = (GateVerdict::Undecided, Some(14));
    let text =
        |analysis: &CompareAnalysis| compare_text(analysis, PLAIN).split_whitespace().collect::<Vec<_>>().join(" ");
    let said = text(&analysis);
    for part in [
        "Inconclusive: latency p99 +",
        "). About 41 launches of each in all (",
        "); needs about 14 launches of each in all (",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let next = |analysis: &CompareAnalysis| {
        report::next_step(&Judged::Comparison(Box::new(analysis.clone())), "bourdon run --resume R")
    };
    assert_eq!(next(&analysis).as_deref(), Some("More blocks for p99<+10%: bourdon run --resume R --blocks 14"));
    // Once its gates are decided it is about the primary metric.
    let mut decided = analysis.clone();
    decided.gates.iter_mut().for_each(|gate| (gate.verdict, gate.needs_blocks) = (GateVerdict::Held, None));
    decided.primary = Some(Metric::P99);
    let more = "More blocks for latency p99: bourdon run --resume R --blocks 41";
    assert_eq!(next(&decided).as_deref(), Some(more));
    decided.rows.iter_mut().for_each(|row| row.needs_blocks = None);
    assert_eq!(next(&decided), None);
    analysis.rows[2].needs_blocks = Some(model::MOST_NEEDED_BLOCKS);
    analysis.gates.clear();
    assert_eq!(next(&analysis), None);
    assert!(text(&analysis).contains("To settle it takes over 100 launches of each."));
    (analysis.rows[2].needs_blocks, analysis.interleaved, analysis.elapsed_s) = (Some(41), false, None);
    assert!(text(&analysis).contains("About 41 launches of each in all may settle it."));
    analysis.form = CompareForm::Loads;
    assert!(text(&analysis).contains("About 41 loads of each in all may settle it."));
    (analysis.form, analysis.interleaved) = (CompareForm::Commands, true);
    (analysis.blocks, analysis.preliminary) = (2, true);
    analysis.rows.iter_mut().for_each(|row| row.blocks = Some(2));
    analysis.cells.iter_mut().for_each(|of| (of.cell.trials, of.cell.void) = (2, 0));
    assert_eq!(
        next(&analysis).as_deref(),
        Some("More blocks: bourdon run --resume R --blocks 41"),
        "not 6, which say less"
    );
    analysis.rows[2].needs_blocks = None;
    assert_eq!(next(&analysis).as_deref(), Some("More blocks: bourdon run --resume R --blocks 6"));
}
