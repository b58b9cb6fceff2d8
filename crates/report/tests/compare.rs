//! Golden files of `bourdon compare`.

#[path = "compare/said.rs"]
mod said;
mod support;

use model::{
    Arm, Aspect, COMPARE_SCHEMA, Cell, CompareAnalysis, CompareForm, CompareRow, ComparedCell, ComparisonVerdict, Died,
    Difference, EndedWhen, Environment, Failing, GateResult, GateVerdict, Judged, Level, MarkCause, MarkNote, Measured,
    Metric, ProcessEnd, Quiet, Reason, RepeatedBlock, SessionAnalysis, TargetEnd, TrialCount, TrialStage, Unit,
    VoidTrial, Waited, Why, Withheld,
};
use report::{compare_markdown, compare_text};
use support::marks::{failures, note, taken};
use support::runs::delayed_cells;
use support::{PLAIN, assert_tidy, local};

fn measured(estimate: f64, half: f64, unit: Unit) -> Measured {
    let (low, high) = (Some(estimate * (1.0 - half)), Some(estimate * (1.0 + half)));
    Measured { estimate: Some(estimate), low, high, unit }
}

fn row(metric: Metric, old: f64, new: f64, half: f64, verdict: ComparisonVerdict) -> CompareRow {
    let side = |value| measured(value, half, metric.unit());
    let conditions = Cell::default();
    let ratio = measured(new / old, half, Unit::Ratio);
    CompareRow {
        metric,
        conditions,
        old: side(old),
        new: side(new),
        ratio,
        difference: None,
        p_adjusted: Some(0.004),
        verdict,
        withheld: None,
        withheld_of: Vec::new(),
        seen: None,
        quiet: None,
        needs_blocks: None,
    }
}

fn machine() -> Environment {
    Environment {
        cpu: "AMD EPYC".to_owned(),
        cpus: 2,
        kernel: "6.18.0".to_owned(),
        started_at: local("2026-11-21T12:00:00+01:00"),
        ..Environment::default()
    }
}

fn revisions() -> CompareAnalysis {
    let mut rows = vec![
        row(Metric::Throughput, 8_120.0, 7_702.0, 0.006, ComparisonVerdict::Slower),
        row(Metric::P50, 5_900.0, 6_230.0, 0.009, ComparisonVerdict::Slower),
        row(Metric::P99, 11_200.0, 12_100.0, 0.14, ComparisonVerdict::Inconclusive),
        row(Metric::CpuPerRequest, 118.0, 124.6, 0.004, ComparisonVerdict::Slower),
        row(Metric::PeakMemory, 18_400_000.0, 18_390_000.0, 0.002, ComparisonVerdict::Same),
        row(Metric::TimeToReady, 81.0, 60.0, 0.02, ComparisonVerdict::Faster),
    ];
    rows[2].needs_blocks = Some(41);
    let gate = |gate: &str, row: &CompareRow, verdict| GateResult {
        gate: gate.to_owned(),
        metric: row.metric,
        conditions: Cell::default(),
        ratio: row.ratio.clone(),
        difference: row.difference.clone(),
        verdict,
        withheld: row.withheld,
        withheld_of: row.withheld_of.clone(),
        needs_blocks: row.needs_blocks,
    };
    let why = Why::Mark(taken(0.39));
    let repeated = RepeatedBlock { block: 2, arm: None, trial: "b02-c01".to_owned(), why };
    CompareAnalysis {
        schema: COMPARE_SCHEMA.to_owned(),
        old: "main (b74f097c1d)".to_owned(),
        new: "feature (1a61e6f002)".to_owned(),
        form: CompareForm::Commands,
        cut: Vec::new(),
        interleaved: true,
        blocks: 7,
        preliminary: false,
        blocks_before: Vec::new(),
        unfinished: None,
        margin: 0.05,
        primary: Some(Metric::CpuPerRequest),
        seed: Some(42),
        environment: machine(),
        same: None,
        differences: Vec::new(),
        gates: vec![
            gate("cpu_per_request<+3%", &rows[3], GateVerdict::Broken),
            gate("p99<+10%", &rows[2], GateVerdict::Undecided),
            gate("peak_memory<+5%", &rows[4], GateVerdict::Held),
        ],
        rows,
        reply_sizes: Vec::new(),
        cells: Vec::new(),
        session: SessionAnalysis {
            itself: Vec::new(),
            repeated: vec![repeated],
            marks: vec![MarkNote::new(MarkCause::Drift { blocks: 7, p: 0.021 })],
        },
        trials: TrialCount { total: 24, void: 0, ..TrialCount::default() },
        void_trials: Vec::new(),
        elapsed_s: Some(104.0),
    }
}

/// Two runs under two conditions, one of which was never measured.
fn runs() -> CompareAnalysis {
    let at = |row: CompareRow, connections| CompareRow {
        conditions: Cell([("connections".to_owned(), Level::Integer(connections))].into()),
        ..row
    };
    let none = || Measured { estimate: None, low: None, high: None, unit: Unit::Ratio };
    let mut unmeasured = at(row(Metric::P99, 1.0, 1.0, 0.0, ComparisonVerdict::Inconclusive), 1_000);
    (unmeasured.old, unmeasured.ratio) = (none(), none());
    CompareAnalysis {
        old: "runs/2026-11-20-mine".to_owned(),
        new: "runs/2026-11-21-mine".to_owned(),
        form: CompareForm::Runs,
        interleaved: false,
        blocks: 4,
        preliminary: true,
        blocks_before: Vec::new(),
        seed: None,
        differences: vec![Difference { what: Aspect::Kernel, old: Some("6.1".into()), new: Some("6.18".into()) }],
        rows: vec![
            at(row(Metric::Throughput, 8_120.0, 8_090.0, 0.06, ComparisonVerdict::Inconclusive), 100),
            unmeasured,
        ],
        gates: vec![GateResult {
            gate: "cpu_per_request<+3%".to_owned(),
            metric: Metric::CpuPerRequest,
            conditions: Cell::default(),
            ratio: none(),
            difference: None,
            verdict: GateVerdict::Undecided,
            withheld: None,
            withheld_of: Vec::new(),
            needs_blocks: None,
        }],
        session: SessionAnalysis::default(),
        ..revisions()
    }
}

/// A new server of whose requests a third fails, on a busy machine.
fn failing() -> CompareAnalysis {
    let mut analysis = revisions();
    let none = Measured { estimate: None, low: None, high: None, unit: Unit::Ratio };
    let mut errors = row(Metric::Errors, 0.0, 0.36, 0.01, ComparisonVerdict::Slower);
    (errors.old, errors.ratio) = (measured(0.0, 0.0, Unit::Share), none);
    errors.difference = Some(measured(0.36, 0.01, Unit::Share));
    let mut busy = row(Metric::P99, 11_200.0, 15_000.0, 0.05, ComparisonVerdict::Inconclusive);
    (busy.withheld, busy.withheld_of) = (Some(Withheld::Unbounded), vec![Arm::New]);
    busy.quiet = Some(Quiet { blocks: 3, ratio: measured(1.32, 0.04, Unit::Ratio) });
    busy.seen = Some(ComparisonVerdict::Slower);
    let gate = |gate: &str, row: &CompareRow, verdict| GateResult {
        gate: gate.to_owned(),
        metric: row.metric,
        conditions: Cell::default(),
        ratio: row.ratio.clone(),
        difference: row.difference.clone(),
        verdict,
        withheld: row.withheld,
        withheld_of: row.withheld_of.clone(),
        needs_blocks: row.needs_blocks,
    };
    analysis.gates =
        vec![gate("errors<+1%", &errors, GateVerdict::Broken), gate("p99<+10%", &busy, GateVerdict::Undecided)];
    analysis.rows = vec![row(Metric::Throughput, 8_120.0, 5_202.0, 0.006, ComparisonVerdict::Slower), busy, errors];
    let [old, mut new] = [Arm::Old, Arm::New].map(|arm| ComparedCell { arm, cell: delayed_cells().remove(0) });
    new.cell.errors = 0.36;
    new.cell.first_wrong = Some(model::WrongReply::new((None, None), 503, Some((b"Service Unavailable\n", 0))));
    new.cell.failing =
        Failing { failed_share: 0.36, allowed_share: 0.01, wrong_content: 0, bad: true, ..Failing::default() };
    let closed = failures(152_345, model::Failure::ClosedBeforeReply, 54_844);
    new.cell.marks = vec![note(taken(0.3), 2), note(closed, 6)];
    analysis.cells = vec![old, new];
    analysis
}

/// A comparison none of whose figures is shown to be worse: two moved against the new server for such a reason.
fn held_back(why: Withheld) -> CompareAnalysis {
    let mut analysis = revisions();
    analysis.cells = [Arm::Old, Arm::New].map(|arm| ComparedCell { arm, cell: delayed_cells().remove(0) }).into();
    let open = ComparisonVerdict::Inconclusive;
    analysis.rows = [(Metric::Throughput, 2_761.0), (Metric::P50, 9_000.0), (Metric::P99, 12_000.0)]
        .map(|(metric, new)| CompareRow {
            withheld: Some(why),
            withheld_of: vec![Arm::New],
            seen: Some(ComparisonVerdict::Slower),
            ..row(metric, 8_120.0, new, 0.006, open)
        })
        .into();
    analysis.rows[1].seen = None;
    analysis.rows.push(row(Metric::PeakMemory, 18_400_000.0, 18_390_000.0, 0.002, ComparisonVerdict::Same));
    analysis.gates.clear();
    analysis
}

/// The text in one line.
fn said(analysis: &CompareAnalysis) -> String {
    compare_text(analysis, PLAIN).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn what_moved_against_it_and_is_not_settled_comes_first_with_the_cure() {
    let mut analysis = held_back(Withheld::AtLeast);
    for (waited, cure) in [
        (None, "more threads or CPUs for the generator (-t)"),
        (Some(Waited::MoreThanBusy), "fewer other programs on this machine, which kept the generator from its CPUs"),
    ] {
        analysis.cells[1].cell.remarks.generator_waited = waited;
        let said = said(&analysis);
        assert!(
            said.contains(&format!(
                "Not shown: 2 of 4 figures moved against the new one, most of all throughput -66.0 % (-66.2 to -65.8), but the \
                 generator may have been the limit of the new one; 1 the same, 1 inconclusive. What would settle it: {cure}."
            )),
            "{said}"
        );
        assert!(!said.contains("is worse") && said.matches("What would settle it").count() == 1, "{said}");
    }
    let warming = said(&held_back(Withheld::Warming));
    assert!(
        warming.contains(
            "but the new one was still getting faster; 1 the same, 1 inconclusive. What would settle it: a longer warm-up (--warm-up 5s)."
        ),
        "{warming}"
    );
    let mut long = held_back(Withheld::Warming);
    long.cells.iter_mut().for_each(|of| of.cell.remarks.warm_up_to_try_s = 1000.0);
    assert!(said(&long).contains("(--warm-up 1000s)"), "as it can be typed: {}", said(&long));
    let silent = said(&held_back(Withheld::Silent));
    let reason = "but the new one served nothing in a launch, or stopped answering in one; 1 the same";
    assert!(silent.contains(reason) && !silent.contains("failed"), "{silent}");
    // One that is shown comes first, and what is open keeps its cure.
    analysis.rows[1] = row(Metric::P50, 5_900.0, 6_230.0, 0.009, ComparisonVerdict::Slower);
    let worse = said(&analysis);
    let first = "Yes: 1 of 4 figures is worse, 2 moved against the new one and inconclusive, 1 the same.";
    assert!(worse.contains(first) && worse.contains("What would settle it: fewer other programs"), "{worse}");
}

#[test]
fn a_gate_on_a_quantile_that_nobody_has_says_how_many_requests_it_takes() {
    let mut analysis = failing();
    let gate = &mut analysis.gates[1];
    (gate.ratio.estimate, gate.withheld) = (None, None);
    assert!(said(&analysis).contains("p99<+10%: not measured, for it needs 368 requests in each launch. What would"));
    (analysis.gates[1].gate, analysis.gates[1].metric) = ("peak_memory<+10%".to_owned(), Metric::PeakMemory);
    assert!(said(&analysis).contains("peak_memory<+10%: not measured old"), "{}", said(&analysis));
}

#[test]
fn shares_are_the_same_within_points() {
    let mut analysis = failing();
    let errors = analysis.rows.iter_mut().find(|row| row.metric == Metric::Errors).unwrap();
    errors.verdict = ComparisonVerdict::Same;
    let said = said(&analysis);
    assert!(said.contains("The same within 1 point: errors.") && !said.contains("The same within 5 %"), "{said}");
}

#[test]
fn what_became_of_the_gates_is_in_the_first_sentence() {
    let first = |verdicts: &[GateVerdict]| {
        let mut analysis = revisions();
        let gate = analysis.gates[0].clone();
        analysis.gates = verdicts.iter().map(|verdict| GateResult { verdict: *verdict, ..gate.clone() }).collect();
        let text = said(&analysis);
        text.split("1 inconclusive").nth(1).unwrap().split(" Worse").next().unwrap().to_owned()
    };
    use GateVerdict::{Broken, Held, Undecided};
    for (gates, said) in [
        (&[][..], "."),
        (&[Held], "; the gate holds."),
        (&[Undecided], "; the gate is undecided."),
        (&[Broken], "; the gate is broken."),
        (&[Held, Held], "; all 2 gates hold."),
        (&[Held, Undecided, Undecided], "; 2 of 3 gates are undecided."),
        (&[Broken, Undecided], "; 1 of 2 gates is broken, 1 undecided."),
    ] {
        assert_eq!(first(gates), said);
    }
    let mut few = revisions();
    (few.blocks, few.preliminary, few.gates[1].verdict) = (2, true, Undecided);
    few.gates.truncate(2);
    few.gates.remove(0);
    assert!(said(&few).contains("a verdict needs six; the gate is undecided. These figures carry no verdict."));
    few.rows.clear();
    let nothing = said(&few);
    assert!(
        nothing.contains("Nothing could be compared: no figure is known of both; the gate is undecided."),
        "{nothing}"
    );
    assert!(!nothing.contains("Preliminary"), "{nothing}");
}

#[test]
fn an_interval_wider_than_the_margin_is_not_close_but_not_settled() {
    let of = |low: f64, high: f64| {
        let mut analysis = revisions();
        let throughput = &mut analysis.rows[0];
        throughput.verdict = ComparisonVerdict::Inconclusive;
        throughput.ratio = Measured { low: Some(low), high: Some(high), ..throughput.ratio.clone() };
        compare_text(&analysis, PLAIN)
    };
    let wide = of(0.8, 6.25);
    assert!(wide.contains("Inconclusive: throughput") && wide.contains("(-20 to +525)"), "{wide}");
    assert!(of(0.94, 1.01).contains("Inconclusive: throughput "));
}

#[test]
fn of_too_few_blocks_it_is_said_that_they_are_too_few() {
    let mut analysis = revisions();
    (analysis.blocks, analysis.preliminary) = (4, true);
    analysis.rows.truncate(1);
    analysis.gates.clear();
    let row = &mut analysis.rows[0];
    (row.verdict, row.needs_blocks) = (ComparisonVerdict::Inconclusive, Some(6));
    let text = said(&analysis);
    assert!(text.contains("Too few blocks for a verdict (4 of 6): throughput -5.1 % (-5.7 to -4.6), needs about 6"));
    assert!(!text.contains("Inconclusive:"), "{text}");
    analysis.form = CompareForm::Loads;
    assert!(said(&analysis).contains("Too few loads for a verdict (4 of 6): throughput"));
}

#[test]
fn what_is_open_says_what_would_settle_it() {
    let mut analysis = revisions();
    analysis.cells = [Arm::Old, Arm::New].map(|arm| ComparedCell { arm, cell: delayed_cells().remove(0) }).into();
    analysis.gates[1].needs_blocks = Some(14);
    let text = said;
    let said = text(&analysis);
    let open = "Inconclusive: latency p99 +8 % (-7 to +23), needs about 41 blocks (7 min 22 s more).";
    assert!(said.contains(open), "{said}");
    assert!(said.contains("p99<+10%: +8 % (-7 to +23); needs about 14 blocks (1 min 31 s more)"), "{said}");
    let next = |analysis: &CompareAnalysis| {
        report::next_step(&Judged::Comparison(Box::new(analysis.clone())), "bourdon run --resume R")
    };
    assert_eq!(next(&analysis).as_deref(), Some("More blocks for p99<+10%: bourdon run --resume R --blocks 14"));
    analysis.rows[2].needs_blocks = Some(model::MOST_NEEDED_BLOCKS);
    analysis.gates.clear();
    assert_eq!(next(&analysis), None);
    assert!(text(&analysis).contains("needs 1,000 blocks or more."));
    (analysis.rows[2].needs_blocks, analysis.interleaved, analysis.elapsed_s) = (Some(41), false, None);
    assert!(text(&analysis).contains("needs about 41 blocks of each."));
    analysis.form = CompareForm::Loads;
    assert!(text(&analysis).contains("needs about 41 loads of each."));
    (analysis.form, analysis.interleaved) = (CompareForm::Commands, true);
    (analysis.blocks, analysis.preliminary) = (2, true);
    assert_eq!(
        next(&analysis).as_deref(),
        Some("More blocks: bourdon run --resume R --blocks 41"),
        "not 6, which say less"
    );
    analysis.rows[2].needs_blocks = None;
    assert_eq!(next(&analysis).as_deref(), Some("More blocks: bourdon run --resume R --blocks 6"));
}

#[test]
fn a_server_that_fails_on_a_busy_machine() {
    insta::assert_snapshot!(text(&failing()));
}

/// How a server ended under load.
const DIED: TargetEnd = TargetEnd { how: ProcessEnd::Exited(3), when: EndedWhen::UnderLoad, hint: None };

/// A new server that died in each of its launches.
fn dying() -> CompareAnalysis {
    let mut analysis = failing();
    let died = |of, printed: &str| Some(Died { of, why: DIED.into(), printed: printed.to_owned() });
    let new = &mut analysis.cells[1].cell;
    new.failing.died = 4;
    new.died = died(4, "Traceback (most recent call last):\n  File \"server.py\", line 9\nMemoryError");
    (new.trials, new.void, new.first_wrong, new.marks) = (0, 4, None, Vec::new());
    new.levels = Cell([("target".to_owned(), Level::Text("feature".to_owned()))].into());
    let levels = new.levels.clone();
    analysis.cells[0].cell.failing.died = 1;
    analysis.cells[0].cell.died = died(2, "");
    analysis.void_trials = [(1, false), (1, true), (2, false), (2, true)]
        .map(|(block, twin)| VoidTrial {
            id: format!("b0{block}-c01{}", if twin { "-twin" } else { "" }),
            arm: None,
            block,
            twin,
            levels: levels.clone(),
            reason: Reason::failed(TrialStage::Died, DIED.into()),
        })
        .into();
    analysis.trials = TrialCount { total: 6, void: 4, ..TrialCount::default() };
    analysis.rows.clear();
    analysis.gates.clear();
    (analysis.blocks, analysis.preliminary) = (2, true);
    analysis
}

#[test]
fn a_server_that_dies_is_said_first_and_once_with_what_it_printed() {
    insta::assert_snapshot!(text(&dying()));
    let comment = compare_markdown(&dying());
    assert!(comment.contains("```text\nTraceback (most recent call last):\n  File"), "{comment}");
    let mut saved = dying();
    (saved.form, saved.void_trials[0].id) = (CompareForm::Loads, "4.json".to_owned());
    assert!(text(&saved).contains("\n4.json, b02-c01, feature: died"), "by their files: {}", text(&saved));
}

fn text(analysis: &CompareAnalysis) -> String {
    let mut analysis = analysis.clone();
    analysis.cells.iter_mut().for_each(|it| judge::remark_cell(&mut it.cell));
    let text = compare_text(&analysis, PLAIN);
    assert_tidy(&text, PLAIN.width);
    text
}

#[test]
fn two_revisions() {
    insta::assert_snapshot!(text(&revisions()));
}

#[test]
fn two_runs_that_differ_in_more_than_the_server() {
    insta::assert_snapshot!(text(&runs()));
}

#[test]
fn as_a_comment() {
    insta::assert_snapshot!(compare_markdown(&revisions()));
}

#[test]
fn without_an_interval_a_comma_follows_the_number_and_no_line_begins_with_its_unit() {
    let mut analysis = revisions();
    (analysis.blocks, analysis.preliminary) = (1, true);
    for row in &mut analysis.rows {
        row.verdict = ComparisonVerdict::Inconclusive;
        (row.ratio.low, row.ratio.high, row.needs_blocks) = (None, None, None);
    }
    let text = compare_text(&analysis, PLAIN);
    assert!(text.contains("throughput -5.1 %, latency p50 +5.6 %, "), "{text}");
    let breaks_a_number = |line: &str| line.trim_start().starts_with('%') || line.contains(" ,");
    assert!(!text.lines().any(breaks_a_number), "{text}");
    let comment = compare_markdown(&analysis);
    assert!(!comment.contains(" ,") && !comment.contains('\u{a0}'), "{comment}");
}
