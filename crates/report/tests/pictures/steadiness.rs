//! How steady launches were.

use model::{Analysis, Course, Judged, LaunchCourse, Metric};
use report::pictures;

use super::drawn::elements;
use super::run;

#[test]
fn launches_that_were_not_level_are_drawn_with_the_seconds_at_which_they_changed() {
    let mut analysis = run("unsteady");
    let level = |levels: &[(f64, f64)], course| LaunchCourse {
        course,
        metric: Metric::Throughput,
        levels: levels.to_vec(),
        window_s: 10.0,
    };
    let launches = &mut analysis.cells[0].launches;
    launches.iter_mut().for_each(|launch| launch.course = Some(level(&[(0.0, 900.0)], Course::Flat)));
    let of = |analysis: &Analysis| {
        let all = pictures(&Judged::Run(Box::new(analysis.clone())));
        all.into_iter().find(|picture| picture.file.starts_with("steadiness"))
    };
    assert!(of(&analysis).is_none(), "there is nothing to see where each was level");
    let warm_up = level(&[(0.0, 450.0), (4.0, 900.0)], Course::WarmUp);
    analysis.cells[0].launches[1].course = Some(warm_up);
    let drawn = of(&analysis).unwrap();
    insta::with_settings!({ snapshot_path => "../snapshots" }, { insta::assert_snapshot!("steadiness", drawn.svg) });
    let first: Vec<String> = elements(&drawn.svg, "launch").into_iter().map(|of| of["data-first"].clone()).collect();
    assert_eq!(first[..2], ["1", "0.5"]);
}
