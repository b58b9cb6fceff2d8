//! Golden files of what a soak may say, with every verdict, rule and end.

#![allow(clippy::unwrap_used, reason = "a test ends there")]

mod support;

use model::{
    EndedWhen, Environment, Grower, HeapCountedBy, Judged, Kept, KeptTrend, LatencyCourse, Measured, Metric,
    ProcessEnd, Rule, RuleResult, Ruled, Soak, SoakCycle, SoakDeath, SoakEnd, SoakPart, Spell, TargetEnd, TrendVerdict,
    Unit, WhyMayGrow, soak_part,
};
use support::{PLAIN, assert_tidy};

fn figure(estimate: f64, unit: Unit) -> Measured {
    Measured { estimate: Some(estimate), low: Some(estimate * 0.95), high: Some(estimate * 1.05), unit }
}

fn trend(of: Kept, verdict: TrendVerdict, why: Option<WhyMayGrow>) -> KeptTrend {
    let bytes = matches!(of, Kept::Heap | Kept::Memory);
    let (each, unit) = if bytes { (532.0, Unit::Bytes) } else { (0.25, Unit::Units) };
    let is_there = matches!(verdict, TrendVerdict::Grows | TrendVerdict::GrowsWithTime | TrendVerdict::MayGrow);
    let (first, last) = if bytes { (14e6, 98e6) } else { (9.0, 1_200.0) };
    KeptTrend {
        of,
        by: (of == Kept::Heap).then_some(HeapCountedBy::Jvm),
        first,
        last,
        per_request: (verdict != TrendVerdict::TooShort).then(|| figure(each, unit)),
        idle_per_s: Some(if bytes { 860.0 } else { 0.01 }),
        visible_from: (!is_there).then_some(if bytes { 31.0 } else { 0.0002 }),
        verdict,
        why,
    }
}

fn cycle(at: u32) -> SoakCycle {
    let part = soak_part(at, 20);
    let loaded = f64::from(at) + 1.0 - if part == SoakPart::Again { 4.0 } else { 0.0 };
    let requests = (loaded.min(if part == SoakPart::Idle { 8.0 } else { 20.0 }) * 30_000.0) as u64;
    let kept = requests as f64 * 532.0;
    SoakCycle {
        part,
        at_s: 60.0 * (f64::from(at) + 1.0),
        requests,
        failed: if at == 9 { 0.07 } else { 0.0 },
        p50_us: (part != SoakPart::Idle).then_some(812.0),
        p99_us: (part != SoakPart::Idle).then_some(2_400.0),
        cpus_used: Some(0.41),
        kept: vec![(Kept::Heap, 5e6 + kept), (Kept::Memory, 14e6 + kept), (Kept::Threads, 12.0), (Kept::Unclosed, 0.0)],
    }
}

fn course(metric: Metric, times: f64) -> LatencyCourse {
    LatencyCourse { metric, first_us: 812.0, last_us: 812.0 * times, ratio: figure(times, Unit::None) }
}

/// A soak of a server that keeps bytes of each request.
fn leaking() -> Soak {
    let rule = |of, most, worst, broken: Vec<Spell>| RuleResult { rule: Rule { of, most }, worst, broken };
    let spell = |from_s: f64| Spell { from_s, to_s: from_s + 60.0, worst: 0.07 };
    Soak {
        schema: model::SOAK_SCHEMA.to_owned(),
        question: "Does `./server` stay as it is under load?".to_owned(),
        title: "`./server`".to_owned(),
        environment: Environment::default(),
        ended: SoakEnd::Complete,
        elapsed_s: Some(1_212.0),
        most_per_s: Some(1_012.0),
        most_cpus_used: Some(0.16),
        rate_per_s: Some(506.0),
        trends: vec![
            trend(Kept::Heap, TrendVerdict::Grows, None),
            trend(Kept::Memory, TrendVerdict::Grows, None),
            trend(Kept::Threads, TrendVerdict::Steady, None),
            trend(Kept::Unclosed, TrendVerdict::LevelledOff, None),
        ],
        growers: vec![
            Grower { name: "byte[]".to_owned(), bytes: 82e6, objects: Some(160_000.0), share: 0.97 },
            Grower { name: "java.lang.Object[]".to_owned(), bytes: 1.1e6, objects: None, share: 0.013 },
        ],
        latencies: vec![course(Metric::P50, 1.01), course(Metric::P99, 1.4)],
        rules: vec![
            rule(Ruled::Failed, 0.05, Some(0.07), vec![spell(540.0), spell(900.0)]),
            rule(Ruled::Established, 1_000.0, Some(32.0), Vec::new()),
            rule(Ruled::FullCollectionTime, 1.0, None, Vec::new()),
        ],
        died: None,
        cycles: (0..20).map(cycle).collect(),
    }
}

fn said(soak: Soak) -> String {
    let text = report::text(&Judged::Soak(Box::new(soak)), PLAIN);
    assert_tidy(&text, PLAIN.width);
    text
}

#[test]
fn a_leak() {
    let all = Judged::Soak(Box::new(leaking()));
    insta::assert_snapshot!("soak_text", said(leaking()));
    insta::assert_snapshot!("soak_markdown", report::markdown(&all));
    insta::assert_snapshot!("soak_json", report::json(&all));
    let page = report::html(&all, &[]);
    assert!(page.contains("532 B") && page.contains("Alive on the heap") && page.contains("<svg"), "{page}");
    let pictures = report::pictures(&all);
    insta::assert_snapshot!("soak_picture", pictures[0].csv().1);
}

#[test]
fn it_is_said_where_nobody_knows_whether_replies_became_slower() {
    let unknown = "ten cycles of each load";
    assert!(!said(leaking()).contains(unknown));
    let text = said(Soak { latencies: Vec::new(), ..leaking() });
    assert!(text.contains("Not seen here") && text.contains(unknown), "{text}");
}

#[test]
fn every_verdict_and_end_in_its_words() {
    let verdicts = TrendVerdict::ALL.iter().filter(|verdict| **verdict != TrendVerdict::MayGrow);
    let verdicts = verdicts.flat_map(|verdict| Kept::ALL.iter().map(|of| trend(*of, *verdict, None)));
    let may = WhyMayGrow::ALL.iter().map(|why| trend(Kept::Memory, TrendVerdict::MayGrow, Some(*why)));
    let rules = Ruled::ALL.iter().map(|of| RuleResult {
        rule: Rule { of: *of, most: 0.5 },
        worst: Some(0.25),
        broken: Vec::new(),
    });
    let all = Soak { trends: verdicts.chain(may).collect(), rules: rules.collect(), ..leaking() };
    insta::assert_snapshot!("every_soak_text", said(all));
    let only = |trends: Vec<KeptTrend>, ended| Soak {
        trends,
        ended,
        latencies: vec![course(Metric::P50, 1.0)],
        rules: Vec::new(),
        growers: Vec::new(),
        cycles: (0..3).map(cycle).collect(),
        ..leaking()
    };
    let first_lines = |soak: Soak| said(soak).split("\n\n").next().unwrap().to_owned();
    let end = TargetEnd { how: ProcessEnd::Exited(3), when: EndedWhen::UnderLoad, hints: Vec::new() };
    let died = SoakDeath { why: end.into(), cycles: 3, printed: "fatal: no luck left".to_owned() };
    let answers = [
        only(vec![trend(Kept::Memory, TrendVerdict::Steady, None)], SoakEnd::Complete),
        only(vec![trend(Kept::Memory, TrendVerdict::Steady, None)], SoakEnd::Unfinished),
        only(vec![trend(Kept::Memory, TrendVerdict::MayGrow, Some(WhyMayGrow::NotAgain))], SoakEnd::Unfinished),
        only(vec![trend(Kept::Memory, TrendVerdict::TooShort, None)], SoakEnd::Unfinished),
        only(
            vec![trend(Kept::Threads, TrendVerdict::Steady, None), trend(Kept::Memory, TrendVerdict::TooShort, None)],
            SoakEnd::Complete,
        ),
        Soak { died: Some(died), ..only(Vec::new(), SoakEnd::Died) },
        Soak { cycles: Vec::new(), ..only(Vec::new(), SoakEnd::NothingMeasured) },
    ];
    insta::assert_snapshot!("soak_answers", answers.map(first_lines).join("\n\n"));
}
