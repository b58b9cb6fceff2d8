//! Golden files of `bourdon compare`.

#[path = "compare_text/closed.rs"]
mod closed;
#[path = "compare_text/open.rs"]
mod open;
#[path = "compare_text/said.rs"]
mod said;
mod support;

use model::{
    CompareAnalysis, CompareForm, CompareRow, ComparisonVerdict, GateResult, GateVerdict, Judged, Measured, Metric,
    Reason, Rotated, UnslicedCause, Waited, Withheld,
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

/// A ratio that is known to a point of a hundred.
fn ratio(estimate: f64) -> Measured {
    let (low, high) = (Some(estimate - 0.01), Some(estimate + 0.01));
    Measured { estimate: Some(estimate), low, high, unit: model::Unit::Ratio }
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
                "but the generator may have been the limit of the new one; 2 inconclusive. What would settle it: \
                 {cure}."
            )),
            "{said}"
        );
        assert!(!said.contains("is worse") && said.matches("What would settle it").count() == 1, "{said}");
    }
    let warming = said(&held_back(Withheld::Warming));
    assert!(
        warming.contains(
            "but the new one was still getting faster; 2 inconclusive. What would settle it: a longer warm-up (--warm-up 5s)."
        ),
        "{warming}"
    );
    let mut long = held_back(Withheld::Warming);
    long.cells.iter_mut().for_each(|of| of.cell.remarks.warm_up_to_try_s = 1000.0);
    assert!(said(&long).contains("(--warm-up 1000s)"), "as it can be typed: {}", said(&long));
    let silent = said(&held_back(Withheld::Silent));
    let reason = "but the new one served nothing inside a window, or stopped answering in one; 2 inconclusive";
    assert!(silent.contains(reason) && !silent.contains("failed"), "{silent}");
    // One that is shown comes first, and what is open keeps its cure.
    let row = &mut analysis.rows[1];
    (row.verdict, row.withheld) = (ComparisonVerdict::Slower, None);
    let worse = said(&analysis);
    let first = "Yes: latency p50 +6.0 % (+4.8 to +7.2); 1 of 4 figures is worse, 2 more seemed worse but are in doubt (most of all";
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
        text.split("2 inconclusive").nth(1).unwrap().split(" Worse").next().unwrap().to_owned()
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
fn a_figure_that_is_far_worse_than_the_primary_one_is_named_beside_it() {
    let mut analysis = revisions();
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
    let open = "The primary figure is open: CPU per request +6.0 % (+5.0 to +7.0), inconclusive.";
    let worse = "Yes: throughput -8.0 % (-9.0 to -7.0); 1 of ";
    assert!(said(&analysis).contains(worse) && said(&analysis).contains(open), "{}", said(&analysis));
    let primary = analysis.rows.iter_mut().find(|row| row.metric == Metric::CpuPerRequest).unwrap();
    primary.withheld = Some(model::Withheld::Definition);
    let withheld = "The primary figure is open: CPU per request +6.0 % (+5.0 to +7.0), but ";
    assert!(said(&analysis).contains(withheld), "{}", said(&analysis));
}

#[test]
fn a_difference_of_less_than_the_margin_may_be_how_two_builds_were_linked() {
    let mut analysis = revisions();
    let with = |analysis: &mut CompareAnalysis, of: f64| {
        for row in &mut analysis.rows {
            (row.verdict, row.withheld, row.seen) = (ComparisonVerdict::Same, None, None);
            if row.metric == Metric::CpuPerRequest {
                (row.verdict, row.ratio) = (ComparisonVerdict::Slower, ratio(of));
            }
        }
        said(analysis)
    };
    let margin = analysis.margin;
    let small = with(&mut analysis, 1.0 + margin / 2.0);
    assert!(small.contains("though not by chance alone: CPU per request +"), "{small}");
    assert!(!with(&mut analysis, 1.0 + 2.0 * margin).contains("by chance alone"));
}

#[test]
fn what_is_worse_does_not_hide_that_the_primary_figure_is_better() {
    let mut analysis = revisions();
    analysis.gates.clear();
    for row in &mut analysis.rows {
        let (verdict, of) = match row.metric {
            Metric::CpuPerRequest => (ComparisonVerdict::Faster, 0.72),
            Metric::PeakMemory => (ComparisonVerdict::Slower, 1.05),
            _ => (ComparisonVerdict::Same, 1.0),
        };
        (row.verdict, row.ratio, row.withheld, row.seen) = (verdict, ratio(of), None, None);
    }
    let both = "Worse: peak memory +5.0 % (+4.0 to +6.0); but CPU per request -28.0 % (-29.0 to -27.0), better; 1 of ";
    assert!(said(&analysis).contains(both), "{}", said(&analysis));
    assert!(!said(&analysis).contains("at the same rate"), "{}", said(&analysis));
    let throughput = analysis.rows.iter_mut().find(|row| row.metric == Metric::Throughput).unwrap();
    (throughput.verdict, throughput.ratio) = (ComparisonVerdict::Faster, ratio(1.39));
    let note =
        "The new one answered more requests in the same time (throughput +39.0 % (+38.0 to +40.0)), and memory that";
    assert!(said(&analysis).contains(note), "{}", said(&analysis));
    let memory = analysis.rows.iter_mut().find(|row| row.metric == Metric::PeakMemory).unwrap();
    memory.verdict = ComparisonVerdict::Inconclusive;
    let open = "Better, as far as this shows: CPU per request -28.0 % (-29.0 to -27.0), better; ";
    assert!(said(&analysis).contains(open), "{}", said(&analysis));
}

#[test]
fn one_server_on_both_sides_is_not_called_worse_than_itself() {
    let mut analysis = revisions();
    analysis.gates.clear();
    analysis
        .rows
        .iter_mut()
        .for_each(|row| (row.verdict, row.withheld, row.seen) = (ComparisonVerdict::Same, None, None));
    analysis.same = Some(model::SameServer::Command);
    assert!(said(&analysis).contains("none of 6 figures is worse"), "{}", said(&analysis));
    analysis.rows[0].verdict = ComparisonVerdict::Slower;
    let text = said(&analysis);
    assert!(text.contains("Both sides are the same server, and throughput -5.9 % "), "{text}");
    assert!(text.contains("1 of 6 figures came out as different") && !text.contains("Yes: "), "{text}");
}

#[test]
fn launches_in_slices_that_no_longer_count_are_said_to_be_there() {
    let mut analysis = revisions();
    (analysis.trials.total, analysis.unfinished) = (0, Some(6));
    assert!(said(&analysis).contains("nothing is measured yet"), "{}", said(&analysis));
    let reason = Reason::from(UnslicedCause::ConnectionsEnd { idle: 3, said: 0 });
    analysis.cells[1].cell.rotation = Some(Rotated::Seen { target: Some("new".to_owned()), reason });
    let text = "Not finished: launches in slices do not count (cannot rotate with other targets: the server ends connections: 3 while they were idle), and none alone is made yet;";
    assert!(said(&analysis).contains(text), "{}", said(&analysis));
}

#[test]
fn requests_that_fail_are_named_before_what_they_cost_in_throughput() {
    let mut analysis = revisions();
    analysis.gates.clear();
    let point = |estimate: f64, unit| Measured { estimate: Some(estimate), low: None, high: None, unit };
    let errors = CompareRow {
        metric: Metric::Errors,
        difference: Some(point(0.03, model::Unit::Share)),
        ..analysis.rows[0].clone()
    };
    for row in &mut analysis.rows {
        let is_throughput = row.metric == Metric::Throughput;
        row.verdict = if is_throughput { ComparisonVerdict::Slower } else { ComparisonVerdict::Same };
        (row.ratio, row.withheld, row.seen) =
            (point(if is_throughput { 0.97 } else { 1.0 }, model::Unit::Ratio), None, None);
    }
    analysis.rows.push(CompareRow { verdict: ComparisonVerdict::Slower, withheld: None, seen: None, ..errors });
    let text = said(&analysis);
    assert!(text.contains("Worse: most of all errors +3.0 points"), "{text}");
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
