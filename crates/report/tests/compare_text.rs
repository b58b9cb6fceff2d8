//! Golden files of `bourdon compare`.

#[path = "compare_text/said.rs"]
mod said;
mod support;

use model::{
    CompareAnalysis, CompareForm, ComparisonVerdict, GateResult, GateVerdict, Judged, Measured, Metric, Waited,
    Withheld,
};
use report::{compare_markdown, compare_text};
use support::comparisons::{dying, failing, revisions, runs};
use support::{PLAIN, assert_tidy};

/// A comparison none of whose figures is shown to be worse: two moved against the new server for such a reason. Which figures
/// each reason holds back is for `judge`, and tested there; here each of them has its words.
fn held_back(why: Withheld) -> CompareAnalysis {
    let mut analysis = revisions();
    analysis.rows.retain(|row| !matches!(row.metric, Metric::CpuPerRequest | Metric::TimeToReady));
    for row in analysis.rows.iter_mut().filter(|row| row.metric != Metric::PeakMemory) {
        (row.verdict, row.needs_blocks) = (ComparisonVerdict::Inconclusive, None);
        (row.withheld, row.withheld_of) = (Some(why), vec![model::Arm::New]);
        row.seen = (row.metric != Metric::P50).then_some(ComparisonVerdict::Slower);
    }
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
    for (cpus, waited, cure) in [
        (8, None, "more threads or CPUs for the generator (-t)"),
        (2, None, "a machine with more CPUs, of which the generator gets several"),
        (2, Some(Waited::MoreThanBusy), "fewer other programs on this machine, which kept the generator from its CPUs"),
    ] {
        (analysis.environment.cpus, analysis.cells[1].cell.remarks.generator_waited) = (cpus, waited);
        let said = said(&analysis);
        assert!(
            said.contains(&format!(
                "but the generator may have been the limit of the new one; 1 the same, 1 inconclusive. What would settle it: \
                 {cure}."
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
    let reason = "but the new one served nothing inside a window, or stopped answering in one; 1 the same";
    assert!(silent.contains(reason) && !silent.contains("failed"), "{silent}");
    // One that is shown comes first, and what is open keeps its cure.
    let row = &mut analysis.rows[1];
    (row.verdict, row.withheld) = (ComparisonVerdict::Slower, None);
    let worse = said(&analysis);
    let first = "Yes: latency p50 +6.0 % (+4.9 to +7.1); 1 of 4 figures is worse, 2 seemed worse and inconclusive, \
                 1 the same.";
    assert!(worse.contains(first) && worse.contains("What would settle it: fewer other programs"), "{worse}");
}

#[test]
fn a_gate_on_a_quantile_that_nobody_has_says_how_many_requests_it_takes() {
    let mut analysis = failing();
    let gate = &mut analysis.gates[1];
    (gate.ratio.estimate, gate.withheld) = (None, None);
    assert!(
        said(&analysis).contains("p99<+10%: not measured, because it needs 368 requests in each launch. What would")
    );
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
fn who_fails_no_more_than_it_may_and_whom_clients_wait_for_is_told_as_that() {
    let mut analysis = revisions();
    let is_new = |of: &&mut model::ComparedCell| of.arm == model::Arm::New;
    let new = &mut analysis.cells.iter_mut().find(is_new).unwrap().cell;
    (new.errors, new.failing.allowed_share) = (0.004_1, 0.01);
    new.first_wrong = Some(model::WrongReply::new((Some(200), None), 500, Some((b"", 0))));
    let few =
        "0.41 % of the requests of new failed, of 1 % that may; the first: expected 200, got 500 with an empty body.";
    assert!(said(&analysis).contains(few), "{}", said(&analysis));
    analysis.cells.iter_mut().for_each(|of| of.cell.failing.allowed_share = 0.01);
    let new = &mut analysis.cells.iter_mut().find(is_new).unwrap().cell;
    (new.failing.hung_clients_share, new.failing.bad) = (0.5, true);
    let clients = "More than 1 % of the clients were left waiting (--allow-failures says how many may): new 50 %.";
    assert!(said(&analysis).contains(clients), "{}", said(&analysis));
    assert!(!said(&analysis).contains("of the requests failed"), "{}", said(&analysis));
    let new = &mut analysis.cells.iter_mut().find(is_new).unwrap().cell;
    (new.errors, new.failing.failed_share) = (0.4, 0.4);
    let both = "More than 1 % of the requests failed: new 40 %. More than 1 % of the clients were left waiting";
    assert!(said(&analysis).contains(both), "{}", said(&analysis));
}

#[test]
fn of_one_request_method_and_path_are_said_and_of_several_the_first() {
    let asked = |of: fn(usize) -> Vec<(&'static str, &'static str)>| {
        let mut analysis = revisions();
        for (at, of_arm) in analysis.cells.iter_mut().enumerate() {
            let line =
                |(method, path): (&str, &str)| model::RequestLine { method: method.to_owned(), path: path.to_owned() };
            let requests = of(at).into_iter().map(line).collect();
            of_arm.cell.load = Some(model::CellLoad { requests, connections: 50, rate_per_s: None });
        }
        said(&analysis)
    };
    let how = "50 connections, as fast as they are answered";
    assert!(asked(|_| vec![("GET", "/rest/hello")]).contains(&format!(" GET /rest/hello, {how}")));
    assert!(asked(|_| vec![("GET", "/a"), ("POST", "/b")]).contains(&format!(" GET /a and 1 other request, {how}")));
    let differ = asked(|at| if at == 0 { vec![("GET", "/a")] } else { vec![("GET", "/b")] });
    assert!(differ.contains(how) && !differ.contains("/a"), "{differ}");
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
        (&[Held], "; gate passed: GATE."),
        (&[Undecided], "; gate undecided: GATE."),
        (&[Broken], "; gate failed: GATE."),
        (&[Held, Held], "; all 2 gates passed."),
        (&[Held, Undecided, Undecided], "; 2 of 3 gates undecided."),
        (&[Broken, Undecided], "; 1 of 2 gates failed, 1 undecided."),
    ] {
        assert_eq!(first(gates), said.replace("GATE", &revisions().gates[0].gate));
    }
    let mut few = revisions();
    (few.blocks, few.preliminary, few.gates[1].verdict) = (2, true, Undecided);
    few.gates.truncate(2);
    few.gates.remove(0);
    let undecided = format!("; gate undecided: {}.", few.gates[0].gate);
    assert!(said(&few).contains(&format!("a verdict needs six{undecided} These figures carry no verdict.")));
    few.rows.clear();
    let nothing = said(&few);
    assert!(
        nothing.contains(&format!("Nothing could be compared: no figure is known of both{undecided}")),
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
    let band = said(&analysis).split_once("nor ").unwrap().1.split_once(" is shown").unwrap().0.to_owned();
    assert_eq!(band, format!("the same within {} %", 100.0 * analysis.margin));
    let known = format!(
        "Undecided: CPU per request +0.6 % (-0.3 to +1.4), {reach}; {total} of {total} figures are inconclusive. Neither a difference \
         nor {band} is shown."
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
    assert!(text.contains("is shown; throughput needs about 26 launches of each in all ("), "{text}");
    let row = analysis.rows.iter_mut().find(|row| row.metric == Metric::Throughput).unwrap();
    row.needs_blocks = Some(470);
    let text = said(&analysis);
    let many = "is shown; throughput needs more than 100 launches of each; a longer window (-d) may need fewer.";
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
        format!(" more) {}; {} needs more than 100.", names[0], names[3]),
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
fn a_figure_that_is_far_worse_than_the_primary_one_is_named_beside_it() {
    let mut analysis = revisions();
    let ratio = |estimate: f64| {
        let (low, high) = (Some(estimate - 0.01), Some(estimate + 0.01));
        Measured { estimate: Some(estimate), low, high, unit: model::Unit::Ratio }
    };
    for row in &mut analysis.rows {
        (row.verdict, row.withheld, row.seen) = (ComparisonVerdict::Same, None, None);
        let of = match row.metric {
            Metric::CpuPerRequest => 1.06,
            Metric::Throughput => 0.6,
            _ => continue,
        };
        (row.verdict, row.ratio) = (ComparisonVerdict::Slower, ratio(of));
    }
    let both = "Yes: CPU per request +6.0 % (+5.0 to +7.0); most of all throughput -40.0 % (-41.0 to -39.0); 2 of ";
    assert!(said(&analysis).contains(both), "{}", said(&analysis));
    let throughput = analysis.rows.iter_mut().find(|row| row.metric == Metric::Throughput).unwrap();
    throughput.ratio = ratio(0.92);
    let one = "Yes: CPU per request +6.0 % (+5.0 to +7.0); 2 of ";
    assert!(said(&analysis).contains(one), "{}", said(&analysis));
    // Where the primary one is open, it is not hidden behind the other.
    let primary = analysis.rows.iter_mut().find(|row| row.metric == Metric::CpuPerRequest).unwrap();
    primary.verdict = ComparisonVerdict::Inconclusive;
    let open = "Yes: throughput -8.0 % (-9.0 to -7.0); CPU per request +6.0 % (+5.0 to +7.0), inconclusive; 1 of ";
    assert!(said(&analysis).contains(open), "{}", said(&analysis));
    let primary = analysis.rows.iter_mut().find(|row| row.metric == Metric::CpuPerRequest).unwrap();
    primary.withheld = Some(model::Withheld::Definition);
    let withheld = "Yes: throughput -8.0 % (-9.0 to -7.0); CPU per request +6.0 % (+5.0 to +7.0), but ";
    assert!(said(&analysis).contains(withheld), "{}", said(&analysis));
}

#[test]
fn of_too_few_blocks_it_is_said_that_they_are_too_few() {
    let mut analysis = revisions();
    (analysis.blocks, analysis.preliminary) = (4, true);
    analysis.rows.truncate(1);
    analysis.gates.clear();
    let row = &mut analysis.rows[0];
    (row.verdict, row.needs_blocks, row.blocks) = (ComparisonVerdict::Inconclusive, Some(6), Some(4));
    let text = said(&analysis);
    assert!(text.contains("Too few blocks for a verdict (4 of 6): throughput -"));
    assert!(
        !text.contains("Holm")
            && text.contains("). About 6 launches of each in all (")
            && text.contains(" may settle it.")
            && !text.contains("Inconclusive:"),
        "{text}"
    );
    analysis.form = CompareForm::Loads;
    assert!(said(&analysis).contains("Too few loads for a verdict (4 of 6): throughput"));
    (analysis.form, analysis.blocks, analysis.unfinished) = (CompareForm::Commands, 9, Some(12));
    analysis.rows[0].blocks = None;
    let ended_early = said(&analysis);
    assert!(ended_early.contains("No verdict before the end (9 of 12 blocks): throughput"), "{ended_early}");
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
    analysis.rows[2].needs_blocks = Some(model::MOST_NEEDED_BLOCKS);
    analysis.gates.clear();
    assert_eq!(next(&analysis), None);
    assert!(text(&analysis).contains("To settle it takes more than 100 launches of each."));
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

#[test]
fn a_server_that_fails_on_a_busy_machine() {
    insta::assert_snapshot!(text(&failing()));
}

#[test]
fn a_server_that_dies_is_said_first_and_once_with_what_it_printed() {
    insta::assert_snapshot!(text(&dying()));
    let comment = compare_markdown(&dying());
    assert!(comment.contains("```text\nTraceback (most recent call last):\n  File"), "{comment}");
    let mut saved = dying();
    (saved.form, saved.void_trials[0].id) = (CompareForm::Loads, "4.json".to_owned());
    assert!(text(&saved).contains("\n4.json, b02-c02, new: died"), "by their files: {}", text(&saved));
}

fn text(analysis: &CompareAnalysis) -> String {
    let text = compare_text(analysis, PLAIN);
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
    assert!(text.contains(" %, latency p50 +"), "{text}");
    let breaks_a_number = |line: &str| line.trim_start().starts_with('%') || line.contains(" ,");
    assert!(!text.lines().any(breaks_a_number), "{text}");
    let comment = compare_markdown(&analysis);
    assert!(!comment.contains(" ,") && !comment.contains('\u{a0}'), "{comment}");
}

#[test]
fn of_two_long_commands_the_question_has_the_words_that_differ_and_the_notes_have_both() {
    let asked = |old: &str, new: &str| {
        let (old, new) = (format!("`{old}`"), format!("`{new}`"));
        let analysis = CompareAnalysis { form: CompareForm::Commands, old, new, ..revisions() };
        let said = said(&analysis);
        let question = said.split_once('?').unwrap().0.to_owned();
        (question, said.contains(&format!("Old: {}; new: {}.", analysis.old, analysis.new)))
    };
    let server = "/a/folder/with/a/long/name/server --listen $PORT";
    let (question, has_both) = asked(&format!("env A=1 {server}"), &format!("env A=2 {server}"));
    assert_eq!((question.as_str(), has_both), ("Is `… A=2 …` slower than `… A=1 …`", true));
    let (question, has_both) = asked(&format!("{server} --fast"), &format!("{server} --slow --really"));
    assert_eq!((question.as_str(), has_both), ("Is `… --slow --really` slower than `… --fast`", true));
    let (question, has_both) = asked(server, &format!("{server} --slow"));
    assert!(question.contains(&format!("`{server} --slow` slower than `{server}`")) && !has_both, "{question}");
    let (question, has_both) = asked("./server", "./server --slow");
    assert_eq!((question.as_str(), has_both), ("Is `./server --slow` slower than `./server`", false));
}

#[test]
fn of_servers_in_slices_that_wait_for_something_else_than_a_cpu_it_is_said_what_that_makes_of_their_cost() {
    let told = |cpus: f64, p50_us: f64, rate_per_s: Option<f64>| {
        let mut analysis = revisions();
        for of in &mut analysis.cells {
            of.cell.rotation = Some(model::Rotated::Together { rounds: 40, slice_s: 0.25 });
            of.cell.load = Some(model::CellLoad { requests: Vec::new(), connections: 50, rate_per_s });
            of.cell.throughput.estimate = Some(1_000.0);
            of.cell.cpu_us_per_request.estimate = Some(1_000.0 * cpus);
            of.cell.latency_us.p50.estimate = Some(p50_us);
        }
        let said = said(&analysis);
        said.contains("so they wait for something other than CPU") && said.contains("--no-rotation measures the latter")
    };
    assert!(told(0.2, 20_000.0, None));
    assert!(!told(0.8, 20_000.0, None), "its CPU is what they wait for");
    assert!(!told(0.2, 2_000.0, None) && !told(0.2, 20_000.0, Some(100.0)));
}
