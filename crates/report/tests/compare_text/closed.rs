//! What is said of figures of a closed load, in which two servers were not asked alike.

use super::*;

#[test]
fn who_is_quicker_only_beside_slow_replies_in_a_closed_load_is_told_so() {
    let mut analysis = revisions();
    for row in &mut analysis.rows {
        let (verdict, of) = match row.metric {
            Metric::P50 => (ComparisonVerdict::Faster, 0.2),
            Metric::P99 => (ComparisonVerdict::Slower, 20.0),
            _ => (ComparisonVerdict::Same, 1.0),
        };
        (row.verdict, row.withheld, row.seen, row.ratio) = (verdict, None, None, ratio(of));
    }
    let note = "leaves the server to the others: that latency p50 -80.0 % (-81.0 to -79.0) may be no more than that.";
    assert!(said(&analysis).contains(note), "{}", said(&analysis));
    for of in &mut analysis.cells {
        of.cell.load.as_mut().unwrap().rate_per_s = Some(100.0);
    }
    assert!(!said(&analysis).contains("leaves the server to the others"), "{}", said(&analysis));
}

#[test]
fn who_is_cheaper_while_asked_more_often_in_a_closed_load_that_leaves_it_idle_is_told_so() {
    let mut analysis = revisions();
    for row in &mut analysis.rows {
        let (verdict, of) = match row.metric {
            Metric::CpuPerRequest => (ComparisonVerdict::Faster, 0.9),
            Metric::Throughput => (ComparisonVerdict::Faster, 1.5),
            _ => (ComparisonVerdict::Same, 1.0),
        };
        (row.verdict, row.withheld, row.seen, row.ratio) = (verdict, None, None, ratio(of));
    }
    let busy = |analysis: &mut model::CompareAnalysis, share: f64| {
        analysis.cells.iter_mut().for_each(|of| of.cell.target_busy = Some(share));
    };
    let note = "CPU per request -10.0 % (-11.0 to -9.0), with throughput +50.0 % (+49.0 to +51.0), may be partly that.";
    busy(&mut analysis, 0.6);
    analysis.session.cpus.as_mut().unwrap().targets = Some(vec![0]);
    assert!(
        said(&analysis).contains("Neither server was busy all the time (60 % and 60 % of its CPU)"),
        "{}",
        said(&analysis)
    );
    assert!(said(&analysis).contains(note), "{}", said(&analysis));
    busy(&mut analysis, 0.95);
    assert!(!said(&analysis).contains("busy all the time"), "{}", said(&analysis));
    busy(&mut analysis, 0.6);
    let row = analysis.rows.iter_mut().find(|row| row.metric == Metric::Throughput).unwrap();
    row.ratio = ratio(1.15);
    assert!(
        !said(&analysis).contains("busy all the time"),
        "no more than the cheaper requests give: {}",
        said(&analysis)
    );
    let row = analysis.rows.iter_mut().find(|row| row.metric == Metric::Throughput).unwrap();
    (row.verdict, row.ratio) = (ComparisonVerdict::Slower, ratio(0.6));
    assert!(!said(&analysis).contains("busy all the time"), "asked less often, and cheaper: {}", said(&analysis));
    let row = analysis.rows.iter_mut().find(|row| row.metric == Metric::Throughput).unwrap();
    (row.verdict, row.ratio) = (ComparisonVerdict::Same, ratio(1.5));
    assert!(!said(&analysis).contains("busy all the time"), "{}", said(&analysis));
}
