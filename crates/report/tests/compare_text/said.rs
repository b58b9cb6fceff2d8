//! The first sentences of a comparison, and its counts.

use model::{Cell, CompareRest, Level, Reason, ReplySizes, RevisionContent, Rotated, SameServer, UnslicedCause};

use super::support::comparisons::revisions_recorded;
use super::*;

#[test]
fn what_is_worse_and_no_speed_is_worse_at_the_first_word() {
    let mut analysis = revisions();
    analysis.rows.iter_mut().filter(|row| row.metric.is_speed()).for_each(|row| row.verdict = ComparisonVerdict::Same);
    let text = said(&analysis);
    let first = "slower than main (b74f097c1d)? Worse: CPU per request +5.7 % (+5.1 to +6.3); 1 of 6 figures is worse, 4 the \
                 same, 1 inconclusive; 1 of 3 gates failed";
    assert!(text.contains(first), "{text}");
}

#[test]
fn replies_that_differ_in_size_are_said_near_the_top() {
    let mut analysis = revisions();
    assert!(!said(&analysis).contains("differ in size"));
    let conditions = analysis.rows[0].conditions.clone();
    analysis.reply_sizes = vec![ReplySizes { conditions, old_bytes: 635.2, new_bytes: 137.0 }];
    let text = said(&analysis);
    let note = "The replies differ in size: 635\u{a0}B a reply of the old one and 137\u{a0}B of the new one, heads included. If that is not \
                the same answer, the two did different work. --expect-body compares each body.";
    let note = note.replace('\u{a0}', " ");
    assert!(text.contains(&note) && text.find(&note) < text.find("Worse: throughput"), "{text}");
    assert!(compare_markdown(&analysis).contains(&note), "{}", compare_markdown(&analysis));
    assert!(text.contains("? Yes, though replies differ in size: "), "{text}");
    analysis.rows.iter_mut().for_each(|row| row.verdict = ComparisonVerdict::Faster);
    assert!(
        said(&analysis).contains("? No, though replies differ in size: "),
        "a short wrong page is quick: {}",
        said(&analysis)
    );
    analysis.reply_sizes[0].conditions =
        Cell::default().with(model::Factor::Target, model::Level::Text("x".to_owned()));
    assert!(!said(&analysis).contains("though replies differ"), "under other conditions");
}

#[test]
fn the_launches_that_count_are_counted_and_those_that_were_made() {
    let mut analysis = revisions();
    let launched = |trials: u32, void: u32| (trials, void);
    let mut said = |old: (u32, u32), new: (u32, u32)| {
        for (of, (trials, void)) in analysis.cells.iter_mut().zip([old, new]) {
            (of.cell.trials, of.cell.void, of.cell.set_aside) = (trials, void, 0);
        }
        let text = said(&analysis);
        let notes = text.split("Notes old: main (b74f097c1d), new: feature (1a61e6f002) ").nth(1).unwrap();
        notes.split(", interleaved").next().unwrap().trim_start_matches("· ").to_owned()
    };
    assert_eq!(said(launched(12, 0), launched(12, 0)), "12 launches of each");
    assert_eq!(said(launched(8, 4), launched(6, 6)), "12 launches of each, 8 and 6 of them count");
    assert_eq!(said(launched(11, 1), launched(11, 1)), "12 launches of each, 11 of them count");
    assert_eq!(said(launched(1, 0), launched(0, 0)), "1 and 0 launches");
}

#[test]
fn who_did_not_go_round_is_said_before_the_figures_and_who_did_in_the_notes() {
    let mut analysis = revisions();
    let mut said = |rotation: &Rotated| {
        analysis.cells.iter_mut().for_each(|of| of.cell.rotation = Some(rotation.clone()));
        (said(&analysis), compare_markdown(&analysis).replace('\u{a0}', " "))
    };
    let cause = UnslicedCause::ConnectionsEnd { idle: 2, said: 0 };
    let reason = Reason::from(cause);
    let (text, markdown) = said(&Rotated::Seen { target: Some("new".to_owned()), reason: reason.clone() });
    let alone = "Each launch was alone, because of new: cannot rotate with other targets: the server ends connections: 2 \
                 while they were idle.";
    assert!(text.contains(alone) && text.find(alone) < text.find("Worse: throughput"), "{text}");
    assert!(markdown.contains(alone), "{markdown}");
    let margin = "The margin of 1 % is meant for launches in slices: alone, launches may need a wider one (--margin).";
    assert!(text.contains(margin) && markdown.contains(margin), "{text}");
    let (text, _) = said(&Rotated::Seen { target: None, reason });
    assert!(text.contains("Each launch was alone: cannot rotate with other targets: the server"), "{text}");
    let (text, _) = said(&Rotated::Together { rounds: 20, slice_s: 0.25 });
    let together = "in 20 slices of about 250 ms per launch.";
    assert!(!text.contains("is meant for launches in slices"), "{text}");
    assert!(text.contains(together) && text.find("Notes") < text.find(together), "{text}");
}

#[test]
fn a_server_that_fails_every_launch_is_not_launched_again_by_the_same_plan() {
    let mut analysis = failing();
    analysis.unfinished = Some(6);
    let next = |analysis: &CompareAnalysis| {
        report::next_step(&Judged::Comparison(Box::new(analysis.clone())), "bourdon run --resume R")
    };
    assert_eq!(next(&analysis).as_deref(), Some("The rest of 6 blocks: bourdon run --resume R"));
    analysis.ended_in_vain = true;
    assert_eq!(next(&analysis), None);
    fn of(analysis: &mut CompareAnalysis, arm: model::Arm) -> &mut model::CellAnalysis {
        &mut analysis.cells.iter_mut().find(|of| of.arm == arm).unwrap().cell
    }
    of(&mut analysis, model::Arm::New).failing.wrong_content = 0;
    of(&mut analysis, model::Arm::New).throughput.estimate = Some(0.0);
    let refuses = "Ended early: the new one gave no reply with an expected status in any launch; ";
    assert!(said(&analysis).contains(refuses), "{}", said(&analysis));
    of(&mut analysis, model::Arm::New).failing.unserved = 2;
    of(&mut analysis, model::Arm::New).failing.wrong_content = 1;
    let both = "Ended early: the new one served nothing right, or died, in every launch; ";
    assert!(said(&analysis).contains(both), "{}", said(&analysis));
    of(&mut analysis, model::Arm::New).failing.wrong_content = 0;
    let silent = "Ended early: the new one served nothing, or died, in every launch; ";
    let text = said(&analysis);
    assert!(text.contains(silent) && text.contains(". More launches would show the same."), "{text}");
    let [old, new] = [model::Arm::Old, model::Arm::New].map(|arm| of(&mut analysis, arm).throughput.estimate);
    (of(&mut analysis, model::Arm::Old).throughput.estimate, of(&mut analysis, model::Arm::New).throughput.estimate) =
        (new, old);
    of(&mut analysis, model::Arm::Old).failing.died = 2;
    let old = "Ended early: the old one served nothing, or died, in every launch; ";
    assert!(said(&analysis).contains(old), "a new one that was silent once served: {}", said(&analysis));
}

#[test]
fn rows_of_several_targets_name_them() {
    let mut analysis = revisions();
    let at = |target: &str| Cell([("target".to_owned(), Level::Text(target.to_owned()))].into());
    analysis.rows.truncate(2);
    (analysis.rows[0].conditions, analysis.rows[1].conditions) = (at("go-gin"), at("go-iris"));
    analysis.gates.truncate(1);
    analysis.gates[0].conditions = at("go-iris");
    let text = said(&analysis);
    for words in [") of go-gin, latency p50", "cpu_per_request<+3% of go-iris: ", "go-iris old new"] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn what_both_sides_are_where_they_are_one_server_is_said() {
    let commit = RevisionContent::Commit("0123456789abcdef".to_owned());
    for (same, what) in [
        (SameServer::Revision(commit), "commit 0123456789"),
        (SameServer::Revision(RevisionContent::WorkingTree("digest".to_owned())), "the working tree"),
        (SameServer::Command, "one command in one folder"),
    ] {
        let text = said(&CompareAnalysis { same: Some(same), ..revisions() });
        assert!(text.contains(&format!("Both sides are the same server ({what}): whatever differs")), "{text}");
    }
}

#[test]
fn nothing_has_no_sign_and_a_change_that_is_not_known_says_why() {
    let mut analysis = revisions();
    let same = ComparisonVerdict::Same;
    for (row, (estimate, half)) in analysis.rows[1..3].iter_mut().zip([(0.9996, 0.3), (0.9, 0.99)]) {
        let (low, high) = (Some(estimate * (1.0 - half)), Some(estimate * (1.0 + half)));
        row.ratio = Measured { estimate: Some(estimate), low, high, ..row.ratio.clone() };
        (row.verdict, row.withheld) = (same, None);
    }
    let text = compare_text(&analysis, PLAIN);
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let change = |metric: &str| text.lines().map(words).find(|line| line.starts_with(metric)).unwrap();
    assert!(change("latency p50").contains("ms 0 % ("), "{text}");
    assert!(change("latency p99").contains("not known (launches differ too much)"), "{text}");
}

#[test]
fn what_would_settle_several_figures_is_said_once() {
    let mut analysis = held_back(Withheld::Disturbed);
    analysis.rows[1].withheld = Some(Withheld::Unbounded);
    let said = compare_text(&analysis, PLAIN);
    assert_eq!(said.matches("fewer other programs").count(), 1, "{said}");
}

#[test]
fn what_would_settle_it_is_asked_for_in_the_words_of_whoever_asked() {
    let mut analysis = held_back(Withheld::AtCeiling);
    analysis.reply_sizes = vec![ReplySizes { conditions: Cell::default(), old_bytes: 635.0, new_bytes: 137.0 }];
    for (form, cures, body) in [
        (
            CompareForm::Commands,
            ["more threads or CPUs for the generator (-t)", "more connections (-c)", "a longer window (-d)"],
            "--expect-body compares",
        ),
        (
            CompareForm::Experiment,
            [
                "more threads or CPUs for the generator (-t)",
                "more connections (`connections`)",
                "a longer window (`window`)",
            ],
            "`expect_body` compares",
        ),
        (
            CompareForm::Runs,
            [
                "repeat both runs with more threads or CPUs for the generator",
                "repeat both runs with more connections",
                "repeat both runs with a longer window",
            ],
            "the two did different work. ",
        ),
        (
            CompareForm::Loads,
            [
                "repeat both loads (bourdon load) with more threads or CPUs for the generator (-t)",
                "repeat both loads (bourdon load) with more connections (-c)",
                "repeat both loads (bourdon load) with a longer window (-d)",
            ],
            "--expect-body compares",
        ),
    ] {
        (analysis.form, analysis.environment.cpus) = (form, 8);
        for (why, cure) in [Withheld::AtLeast, Withheld::AtCeiling, Withheld::FewRequests].into_iter().zip(cures) {
            analysis.rows.iter_mut().filter(|row| row.withheld.is_some()).for_each(|row| row.withheld = Some(why));
            let said = said(&analysis);
            assert!(said.contains(&format!("What would settle it: {cure}.")), "{cure}: {said}");
            assert!(said.contains(body), "{said}");
        }
    }
}

#[test]
fn a_warm_up_is_asked_for_as_it_can_be_typed() {
    for (form, cure) in [
        (CompareForm::Commands, "a longer warm-up (--warm-up 5s)"),
        (CompareForm::Experiment, "a longer warm-up (`warm_up` of 5s)"),
        (CompareForm::Runs, "repeat both runs with a longer warm-up, such as 5s"),
        (CompareForm::Loads, "repeat both loads (bourdon load) with a longer warm-up (--warm-up 5s)"),
    ] {
        let said = said(&CompareAnalysis { form, ..held_back(Withheld::Warming) });
        assert!(said.contains(&format!("What would settle it: {cure}.")), "{said}");
    }
}

#[test]
fn a_figure_that_rests_on_fewer_blocks_than_there_are_says_so_and_how_to_get_them() {
    let mut recorded = revisions_recorded();
    let of_new: Vec<_> = recorded.trials_of("new", &[1, 3]).collect();
    of_new.into_iter().for_each(|trial| trial.measurement.as_mut().unwrap().accounting.sent += 1);
    let analysis = recorded.comparison();
    assert_eq!((analysis.blocks, analysis.preliminary), (6, false), "they were measured");
    let text = said(&analysis);
    assert!(text.contains("Too few blocks for a verdict (4 of 6): throughput "), "{text}");
    assert!(!text.contains("Inconclusive: "), "{text}");
    assert!(text.contains("; too few blocks for a verdict (4 of 6)"), "of a gate: {text}");
    // Whatever the figures, two blocks more are needed than did not count.
    let next = |analysis: &CompareAnalysis| {
        report::next_step(&Judged::Comparison(Box::new(analysis.clone())), "bourdon run --resume R").unwrap()
    };
    let mut bare = analysis.clone();
    bare.gates.clear();
    bare.rows.iter_mut().for_each(|row| row.needs_blocks = None);
    assert_eq!(next(&bare), "More blocks: bourdon run --resume R --blocks 8");
    // One figure alone may lack them.
    let mut one = revisions();
    let row = one.rows.iter_mut().find(|row| row.metric == Metric::TimeToReady).unwrap();
    (row.verdict, row.blocks, row.needs_blocks) = (ComparisonVerdict::Inconclusive, Some(5), None);
    assert!(said(&one).contains("Too few blocks for a verdict (5 of 6): time to ready "), "{}", said(&one));
    one.gates.clear();
    one.rows.iter_mut().for_each(|row| row.needs_blocks = None);
    assert_eq!(next(&one), "More blocks: bourdon run --resume R --blocks 7");
}

#[test]
fn what_went_to_nothing_is_worse_most_of_all_with_both_figures() {
    let mut analysis = revisions();
    let row = analysis.rows.iter_mut().find(|row| row.metric == Metric::Throughput).unwrap();
    (row.verdict, row.withheld) = (ComparisonVerdict::Slower, None);
    (row.old.estimate, row.new.estimate) = (Some(3_885.0), Some(0.0));
    (row.ratio.estimate, row.ratio.low, row.ratio.high) = (None, None, None);
    let text = said(&analysis);
    assert!(text.contains("most of all throughput, 3,885 to 0 requests/s; "), "{text}");
}

#[test]
fn a_small_share_that_is_worse_for_there_being_any_has_no_band_of_the_same_in_its_picture() {
    let drawn = |old: f64, low: f64| {
        let mut analysis = failing();
        let row = analysis.rows.iter_mut().find(|row| row.metric == Metric::Errors).unwrap();
        (row.verdict, row.old.estimate) = (ComparisonVerdict::Slower, Some(old));
        let difference = row.difference.as_mut().unwrap();
        (difference.estimate, difference.low, difference.high) = (Some(low + 0.001), Some(low), Some(low + 0.002));
        let pictures = report::pictures(&Judged::Comparison(Box::new(analysis)));
        pictures.into_iter().find(|picture| picture.file.starts_with("changes")).unwrap().svg
    };
    let small = drawn(0.0, 0.002);
    assert!(small.contains("so any failures are a difference") && !small.contains("of shares: within"), "{small}");
    for other in [drawn(0.0, 0.2), drawn(0.02, 0.005)] {
        assert!(!other.contains("so any failures are") && other.contains("of shares: within"), "{other}");
    }
}

#[test]
fn for_how_long_servers_were_watched_after_a_load_is_said() {
    let text = said(&CompareAnalysis {
        rest: Some(CompareRest { length_s: 2.54, old_cpu_s: 0.028, new_cpu_s: 0.0 }),
        ..revisions()
    });
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Each server was watched for 2.5 s after a load"), "{text}");
    assert!(text.contains("the old one was then seen to use up to 28.0 ms of CPU, the new one no CPU, and"), "{text}");
    let text = said(&CompareAnalysis { rest: None, ..revisions() });
    assert!(text.contains("The servers were not both watched after their loads"), "{text}");
}
