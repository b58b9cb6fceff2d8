//! Golden files of `bourdon run` and `bourdon report`.

#![allow(clippy::unwrap_used, reason = "a test ends there")]

mod support;

use std::collections::BTreeSet;

use model::{
    Analysis, CellBehind, ClaimAnalysis, ClaimNote, ClaimVerdict, Coldness, ComparisonVerdict, Growth, Judged,
    Launches, MOST_NEEDED_BLOCKS, MarkCause, MarkNote, Metric, Rotated, Unit, Whole, Withheld,
};
use report::{Style, run_markdown, run_text};
use support::{COLOURED, PLAIN, assert_tidy, runs};

fn text(analysis: &Analysis) -> String {
    let text = styled(analysis, PLAIN);
    assert_tidy(&text, PLAIN.width);
    text
}

/// The text of an analysis, which a test may have changed, with what `judge` says beside its figures.
fn styled(analysis: &Analysis, style: Style) -> String {
    run_text(&runs::remarked(analysis.clone()), style)
}

#[test]
fn full() {
    insta::assert_snapshot!(text(&runs::full()));
}

#[test]
fn each_table_says_how_its_launches_were_made_where_they_differ() {
    let mut analysis = runs::full();
    let conditions = analysis.cells[0].levels.conditions();
    let together = Some(Rotated::Together { rounds: 40, slice_s: 0.25 });
    let planned = |why: Whole| Some(Rotated::Planned(why));
    analysis.cells.iter_mut().for_each(|cell| cell.rotation = planned(Whole::HandlerDelay));
    let flat = |text: &str| text.replace('\u{a0}', " ").split_whitespace().collect::<Vec<_>>().join(" ");
    let times = |analysis: &Analysis, words: &str| {
        [text(analysis), run_markdown(analysis)].map(|page| flat(&page).matches(words).count())
    };
    let delayed = "Each launch was alone: with a handler delay, slices are not the same load as one long window";
    assert_eq!(times(&analysis, delayed), [1, 1], "one sentence for all");
    let of_first = analysis.cells.iter_mut().filter(|cell| cell.levels.conditions() == conditions);
    of_first.for_each(|cell| cell.rotation.clone_from(&together));
    let others: BTreeSet<_> = analysis.cells.iter().map(|cell| cell.levels.conditions()).collect();
    assert_eq!(times(&analysis, delayed), [others.len() - 1; 2]);
    let round = "Launches rotated: all targets ran at the same time while the load rotated among them, in 40 slices of";
    assert_eq!(times(&analysis, round), [1, 1]);
    // Each reason has words of its own.
    let words: BTreeSet<String> = Whole::ALL
        .iter()
        .map(|why| {
            analysis.cells.iter_mut().for_each(|cell| cell.rotation = planned(*why));
            let page = run_markdown(&analysis);
            page.lines().find(|line| line.contains("Each launch was alone: ")).unwrap().to_owned()
        })
        .collect();
    assert_eq!(words.len(), Whole::ALL.len());
}

#[test]
fn full_in_colour() {
    insta::assert_snapshot!(run_text(&runs::full(), COLOURED));
}

#[test]
fn preliminary() {
    insta::assert_snapshot!(text(&runs::preliminary()));
}

#[test]
fn a_run_that_lacks_blocks_says_how_to_get_them() {
    let analysis = Analysis { blocks: 7, unfinished: Some(96), ..runs::preliminary() };
    assert!(text(&analysis).contains("Not finished: 7 complete blocks of 96."), "{}", text(&analysis));
    let next = report::next_step(&Judged::Run(Box::new(analysis)), "bourdon run --resume R");
    assert_eq!(next.as_deref(), Some("The rest of 96 blocks: bourdon run --resume R"));
}

#[test]
fn of_what_was_not_measured_it_is_not_said_that_it_is_preliminary() {
    let mut analysis = runs::preliminary();
    for cell in &mut analysis.cells {
        cell.throughput.estimate = None;
    }
    for shown in [text(&analysis), run_markdown(&analysis)] {
        assert!(
            shown.contains("No launch counts, so nothing can be said.") && !shown.contains("Preliminary"),
            "{shown}"
        );
    }
}

#[test]
fn open_rate_with_one_table() {
    insta::assert_snapshot!(text(&runs::open_rate()));
}

#[test]
fn who_did_not_keep_up_with_a_rate_is_told_before_the_tables() {
    let mut analysis = runs::open_rate();
    let launches = Launches { with: 2, of: 6, told: "b02-c01".to_owned() };
    analysis.cells[0].behind = Some(CellBehind { launches, rate_per_s: 1_000.0, sent_per_s: 446.0 });
    let said =
        "The server did not keep up with the rate: mine in 2 of 6 launches, at worst 446 of 1,000 requests/s sent.";
    let first = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").find(said);
    assert!(first(&text(&analysis)).is_some_and(|at| at < 100), "{}", text(&analysis));
    assert!(first(&run_markdown(&analysis)).is_some(), "{}", run_markdown(&analysis));
}

#[test]
fn where_no_metric_distinguishes_the_targets_nobody_is_ranked() {
    let mut open = runs::open_rate();
    assert!(text(&open).contains(" 2  the-other-one"));
    open.groups.iter_mut().for_each(|group| group.leads = false);
    let shown = text(&open);
    assert!(shown.contains("\n  the-other-one") && !shown.contains("ranked by"), "{shown}");
}

#[test]
fn where_nobody_has_a_rank_it_is_not_said_what_ranks_are_by() {
    let mut open = runs::open_rate();
    assert!(text(&open).contains("ranked by response p99"));
    for rank in open.groups.iter_mut().flat_map(|group| &mut group.ranks) {
        (rank.rank, rank.tied) = (None, false);
    }
    for shown in [text(&open), run_markdown(&open)] {
        assert!(!shown.contains("ranked by"), "{shown}");
    }
}

#[test]
fn who_has_no_rank_may_stand_before_the_first_and_is_told_why_there_is_none() {
    let mut analysis = Analysis { claims: Vec::new(), ..runs::open_rate() };
    for cell in &mut analysis.cells {
        cell.latency_us.population = model::Population::Service;
    }
    analysis.groups.iter_mut().for_each(|group| group.leads = group.metric == Metric::Throughput);
    // Both have the same rate, but for chance.
    analysis.groups[0].ranks.sort_by_key(|rank| rank.target != "mine");
    let [first, other] = &mut analysis.groups[0].ranks[..] else { panic!("there are two") };
    (first.tied, other.rank, other.tied) = (false, None, false);
    let other = &mut analysis.cells[1];
    (other.at_least, other.throughput.estimate) = (true, Some(9_998.0));
    let shown = |analysis: &Analysis| {
        let all = styled(analysis, Style { verbose: true, ..PLAIN });
        all.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let served = report::format::quantity(analysis.cells[0].throughput.estimate.unwrap(), Unit::RequestsPerS);
    let said = format!("mine serves the most: {served}; where the-other-one-with-a-long-name stands is open.");
    assert!(shown(&analysis).contains(&said), "{}", shown(&analysis));
    assert!(shown(&analysis).contains("only a lower bound is known"));
    analysis.cells[1].at_least = false;
    let [first, other] = &mut analysis.groups[0].ranks[..] else { panic!("there are two") };
    (first.rank, first.open) = (None, vec![other.target.clone()]);
    let said = "Whether mine or the-other-one-with-a-long-name serves the most is open.";
    assert!(shown(&analysis).contains(said), "{}", shown(&analysis));
    assert!(shown(&analysis).contains("for mine: whether it is above or below the-other-one-with-a-long-name is open"));
    let first = &mut analysis.groups[0].ranks[0];
    (first.rank, first.open) = (Some(1), Vec::new());
    let cold = Coldness::FasterBy { share: 0.45, low: 0.4, high: 0.5 };
    analysis.cells[1].marks.push(MarkNote::new(MarkCause::Cold(cold)));
    assert!(shown(&analysis).contains("it was not warm yet"));
    analysis.cells[1].failing.bad = true;
    let bad = shown(&analysis);
    assert!(bad.contains("mine serves the most: ") && bad.contains("it failed, as is said above"), "{bad}");
}

#[test]
fn a_claim_that_is_held_back_says_what_would_settle_it() {
    let mut full = runs::full();
    let open = full.claims.iter_mut().find(|claim| claim.verdict == ClaimVerdict::Inconclusive).unwrap();
    (open.needs_blocks, open.withheld) = (None, Some(Withheld::Disturbed));
    for shown in [text(&full), run_markdown(&full)] {
        assert!(shown.contains("what would settle it: fewer other programs on this machine"), "{shown}");
    }
}

#[test]
fn a_rate_without_conditions_is_called_the_rate() {
    let shown = text(&runs::open_rate());
    assert!(
        shown.contains("\nThe rate: ") && shown.contains(" requests/s; a closed load before the run got"),
        "{shown}"
    );
}

#[test]
fn nobody_is_asked_for_more_blocks_than_can_be_made() {
    let mut full = runs::full();
    full.claims[0].needs_blocks = Some(MOST_NEEDED_BLOCKS);
    let shown = text(&full);
    assert!(shown.contains("too close to the threshold: 1,000 blocks or more"), "{shown}");
    assert!(!shown.contains("--blocks 1"), "{shown}");
}

#[test]
fn one_target_under_many_conditions_is_one_table() {
    insta::assert_snapshot!(text(&runs::one_target()));
    insta::assert_snapshot!("one_target_markdown", run_markdown(&runs::one_target()));
}

#[test]
fn markdown_full() {
    let markdown = run_markdown(&runs::full());
    assert_tidy(&markdown, usize::MAX);
    insta::assert_snapshot!(markdown);
}

#[test]
fn markdown_preliminary() {
    insta::assert_snapshot!(run_markdown(&runs::preliminary()));
}

#[test]
fn what_was_never_launched_is_not_called_void() {
    let bare = |trial: &model::TrialRecord| trial.cell >= 4 && trial.levels.target() == "go-iris";
    let mut died = runs::full_recorded();
    died.trials.iter_mut().filter(|trial| bare(trial)).for_each(|trial| runs::die(trial, ""));
    assert!(text(&died.run()).contains(" void  "));
    died.trials.retain(|trial| !bare(trial));
    let shown = text(&died.run());
    assert!(shown.contains(" not run  ") && !shown.contains(" void  "), "{shown}");
}

#[test]
fn launches_of_one_cell_that_are_void_for_one_cause_are_one_line() {
    let mut it = runs::full_recorded();
    it.trials.iter_mut().for_each(|trial| trial.failure = None);
    let bare = |trial: &&mut model::TrialRecord| trial.cell >= 4;
    for (block, wrong) in [(4, 5), (8, 7)] {
        it.trials_of("go-gin", &[block]).filter(bare).for_each(|trial| runs::reply_wrongly(trial, [wrong, 0]));
    }
    let shown = text(&it.run());
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("3 of 81 trials are void: blocks 3, 4 and 8, go-gin ("), "{shown}");
    assert!(words.contains("correctness: in block 3: wrong content among ") && !words.contains("7 with a wrong body"));
}

#[test]
fn memory_that_still_grew_is_at_least_what_it_was() {
    let mut run = runs::full();
    let growth = Growth { levelled_off: false, bytes: 24 << 20, bytes_per_request: Some(4_096.0) };
    run.cells[0].marks.push(MarkNote::new(MarkCause::Growth(growth)));
    let shown = text(&run);
    let target = run.cells[0].levels.target();
    assert!(shown.contains(&format!("growing: {target} (by 24.0 MiB, 4.00 KiB a request)")), "{shown}");
    assert!(shown.lines().any(|line| line.contains(target) && line.contains("≥") && line.ends_with("MiB")), "{shown}");
    assert!(!shown.contains("growing: memory grew inside") && shown.contains("had not levelled off"), "{shown}");
}

#[test]
fn what_was_not_measured_did_not_go_well_either() {
    let mut stopped = runs::preliminary();
    stopped.blocks = 0;
    (stopped.cells[0].failing.bad, stopped.cells[0].errors) = (true, 0.02);
    let other = &mut stopped.cells[1];
    (other.trials, other.set_aside, other.throughput.estimate) = (0, 1, None);
    let shown = text(&stopped);
    let row = shown.lines().find(|line| line.contains("set aside")).unwrap();
    assert!(row.contains('–') && !row.contains("0 %"), "{shown}");
    assert!(shown.contains("no complete block") && !shown.contains("0 launches"), "{shown}");
}

#[test]
fn what_the_machine_alone_could_have_made_is_no_tie_and_is_said_once_with_its_cure() {
    let mut analysis = Analysis { claims: Vec::new(), ..runs::full() };
    assert!(text(&analysis).contains("= tied") && !text(&analysis).contains("No rank for"));
    // Which reason holds which pair back is for `judge`, and tested there.
    let conditions = analysis.groups[0].conditions.clone();
    let mut held_back = |why: Withheld| {
        let rates = analysis.comparisons.iter_mut().filter(|pair| pair.metric == Metric::Throughput);
        for pair in rates.filter(|pair| pair.conditions == conditions && pair.b != "go-iris-2016") {
            (pair.verdict, pair.withheld) = (ComparisonVerdict::Inconclusive, Some(why));
        }
        analysis.groups[0].ranks[..3].iter_mut().for_each(|rank| (rank.rank, rank.tied) = (None, false));
        text(&analysis)
    };
    assert!(held_back(Withheld::Disturbed).contains("this alone could have made or hidden the difference"));
    assert!(held_back(Withheld::Unbounded).contains("no limit to how much that can change this figure"));
    for shown in [styled(&analysis, Style { verbose: true, width: 400, ..PLAIN }), run_markdown(&analysis)] {
        let said = ": the machine was busy, and there is no limit to how much that can change this figure";
        assert_eq!(shown.matches(said).count(), 1, "{shown}");
        assert_eq!(shown.matches("fewer other programs").count(), 1, "{shown}");
        assert!(shown.contains("No rank for ") && !shown.contains("fewer than six launches count"), "{shown}");
    }
    let whole = runs::full();
    analysis.groups.clone_from(&whole.groups);
    assert!(!text(&analysis).contains("No rank for"), "what has its rank needs no other pair");
}

#[test]
fn what_was_measured_in_a_block_that_is_set_aside_is_not_called_not_run() {
    let mut analysis = runs::preliminary();
    for cell in &mut analysis.cells {
        (cell.trials, cell.void, cell.set_aside, cell.throughput.estimate) = (0, 0, 1, None);
    }
    analysis.session.repeated = runs::full().session.repeated;
    for shown in [text(&analysis), run_markdown(&analysis)] {
        assert!(shown.contains("Measured only in a block that is set aside, because the machine was busy"), "{shown}");
        assert!(shown.contains("1 block set aside because the machine was busy: b02"), "nobody ran it again: {shown}");
        for wrong in ["not run", "Nothing was measured", "repeated"] {
            assert!(!shown.contains(wrong), "{wrong}: {shown}");
        }
    }
}

#[test]
fn every_width_is_kept_to_by_wrapping_and_by_shorter_bars() {
    for width in [82, 90, 120] {
        assert_tidy(&run_text(&runs::full(), Style { colour: false, width, verbose: false }), width);
    }
}

#[test]
fn a_blank_says_why_and_memory_what_it_counts() {
    let mut analysis = runs::open_rate();
    let none = |unit| model::Measured { estimate: None, low: None, high: None, unit };
    let cell = &mut analysis.cells[1];
    (cell.cpu_us_per_request, cell.latency_us.p99) = (none(Unit::Us), none(Unit::Us));
    cell.latency_us.few_collections = true;
    cell.memory_count = model::MemoryCount::Proportional;
    analysis.groups[1].ranks[1].rank = None;
    let cell = &mut analysis.cells[0];
    (cell.cpu_us_per_request, cell.target_busy, cell.peak_memory_bytes) = (none(Unit::Us), None, none(Unit::Bytes));
    insta::assert_snapshot!(styled(&analysis, Style { verbose: true, ..PLAIN }));
    let brief = text(&analysis);
    assert!(brief.contains("With -v: why a figure") && !brief.contains("was not watched"), "{brief}");
    let whole = text(&analysis);
    analysis.cells[1].memory_count = model::MemoryCount::ProportionalAtLeast;
    let at_least = text(&analysis);
    let marked = |page: &str| page.matches('≥').count();
    assert_eq!(marked(&at_least), marked(&whole) + 1, "beside others it is at least this: {at_least}");
    let mut lacking = runs::open_rate();
    let whole = text(&lacking);
    lacking.cells[1].cpu_at_least = true;
    let lacking = text(&lacking);
    assert_eq!(marked(&lacking), marked(&whole) + 1, "its CPU: {lacking}");
    assert!(lacking.contains("CPU/request of the-other-one-with-a-long-name: child processes"), "{lacking}");
}

#[test]
fn a_name_of_any_length_is_told() {
    let mut analysis = runs::open_rate();
    let cell = &mut analysis.cells[0];
    let name = model::Level::Text("A".repeat(70_000));
    cell.levels = cell.levels.clone().with(model::Factor::Target, name);
    let told = run_text(&analysis, PLAIN);
    assert!(told.contains(&"A".repeat(40)), "as much of it as fits: {told}");
}

/// The second line of a run: what its claims came to.
fn answer(claims: &[ClaimAnalysis]) -> String {
    let run = Analysis { claims: claims.to_vec(), ..runs::open_rate() };
    text(&run).lines().nth(1).unwrap().to_owned()
}

#[test]
fn the_answer_comes_first() {
    let claims = runs::full().claims;
    let of = |verdict| claims.iter().find(|claim| claim.verdict == verdict).unwrap().clone();
    let [held, refuted, open, untestable] = ClaimVerdict::ALL.map(of);
    let wide = open.clone();
    for (claims, said) in [
        (vec![held.clone()], "The claim holds here."),
        (vec![refuted.clone()], "The claim is contradicted."),
        (vec![untestable.clone()], "The claim is not tested here."),
        (vec![held.clone(), held.clone()], "All 2 claims hold here."),
        (vec![held.clone(), held.clone(), open.clone()], "2 of 3 claims hold here, one is inconclusive."),
        (
            vec![open.clone(), held, open],
            "1 of 3 claims holds here, 2 are inconclusive, because the intervals are too wide.",
        ),
        (
            vec![refuted, untestable.clone()],
            "None of the 2 claims holds here: one is contradicted, one is not tested here.",
        ),
    ] {
        assert_eq!(answer(&claims), said);
    }
    let answering = |claim: &ClaimAnalysis| ClaimAnalysis { answers: Some("One does.".to_owned()), ..claim.clone() };
    let [held, open] = [&of(ClaimVerdict::Supported), &wide].map(answering);
    assert_eq!(answer(&[held, open.clone()]), "One does. 1 of 2 claims holds here, one is inconclusive.");
    assert!(answer(&[open]).starts_with("The claim is inconclusive"), "what is not shown answers nothing");
    let [mut busy, mut limited] = [wide.clone(), wide.clone()];
    (busy.withheld, busy.needs_blocks) = (Some(Withheld::Disturbed), None);
    (limited.withheld, limited.needs_blocks) = (Some(Withheld::AtLeast), None);
    let settled = |claims: &[ClaimAnalysis]| {
        let run = Analysis { claims: claims.to_vec(), ..runs::open_rate() };
        styled(&run, Style { width: 400, ..PLAIN }).lines().nth(1).unwrap().to_owned()
    };
    for (claims, said) in [
        (vec![wide.clone()], "The claim is inconclusive, because the intervals are too wide."),
        (vec![busy.clone()], "The claim is inconclusive, because the machine was busy."),
        (
            vec![busy.clone(), limited, busy.clone(), untestable],
            "None of the 4 claims is settled here: 3 are inconclusive (2 because the machine was busy), one is not tested here.",
        ),
        (
            vec![busy.clone(), busy],
            "None of the 2 claims is settled here: 2 are inconclusive, because the machine was busy.",
        ),
    ] {
        assert_eq!(settled(&claims), said);
    }
    assert!(answer(&[]).starts_with("mine answers soonest: response p99 "), "{}", answer(&[]));
}

#[test]
fn in_how_many_launches_a_server_stopped_is_said_with_when_it_first_did() {
    let stopped = |stopped, said: &str| {
        let mut analysis = runs::full();
        let failing = &mut analysis.cells[0].failing;
        (failing.stopped, failing.stopped_at_s, failing.unanswered, failing.bad) = (stopped, Some(8.0), 160, true);
        let shown = text(&analysis).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains(said), "{shown}");
    };
    stopped(1, " in 1 launch, after 8 s, 160 requests without a whole reply.");
    stopped(2, " in 2 launches, the first after 8 s, 160 requests without a whole reply.");
}

#[test]
fn what_several_claims_have_in_common_is_said_once() {
    let mut full = runs::full();
    full.claims
        .iter_mut()
        .take(2)
        .for_each(|claim| claim.notes.push(ClaimNote::Said("it is a reconstruction".to_owned())));
    let shown = text(&full);
    assert_eq!(shown.matches("it is a reconstruction").count(), 1, "{shown}");
    assert!(shown.contains("\n [1] it is a reconstruction\n") && shown.matches(" [1]\n").count() == 2, "{shown}");
}

#[test]
fn the_parts_come_in_the_order_in_which_they_matter() {
    for shown in [text(&runs::full()), run_markdown(&runs::full())] {
        let places =
            ["3 of 7 claims hold", "Claims of smallnest", "service p99", "Looks serialised", "Notes", "seed 42"];
        let places = places.map(|part| shown.find(part).unwrap_or_else(|| panic!("no {part} in {shown}")));
        assert!(places.is_sorted(), "{places:?} in {shown}");
    }
}
