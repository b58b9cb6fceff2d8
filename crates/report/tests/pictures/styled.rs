//! How pictures of launches over time look as files.

use super::*;
use report::pictures_of_launches;

/// The classes of shapes and letters: what has none of the rules of its own file is filled with black.
fn classes(svg: &str) -> std::collections::BTreeSet<String> {
    let shape = |line: &&str| ["<rect", "<path", "<line", "<circle", "<text"].iter().any(|shape| line.contains(shape));
    let class = |line: &str| Some(line.split_once("class=\"")?.1.split_once('"')?.0.to_owned());
    let of = |line: &str| class(line).unwrap_or_default().split(' ').map(str::to_owned).collect::<Vec<_>>();
    svg.lines().filter(shape).flat_map(of).filter(|class| !class.is_empty()).collect()
}

#[test]
fn every_class_in_a_picture_has_its_rule_in_the_same_file() {
    for name in ["side-by-side", "in-turn", "unsteady", "few-at-once", "rotating-comparison"] {
        let judged = judged(name);
        let drawn = [pictures(&judged), pictures_of_launches(&judged, &support::timelines(name))].concat();
        assert!(drawn.iter().any(|picture| picture.file.starts_with("time-")), "{:?}", files(&drawn));
        for picture in drawn {
            let (_, style) = picture.svg.split_once("<style>").unwrap();
            let (style, _) = style.split_once("</style>").unwrap();
            // What is for dark screens alone leaves paper black.
            let (style, _) = style.split_once("@media").unwrap();
            for class in classes(&picture.svg) {
                let rule = |end: &str| style.contains(&format!(".bourdon .{class}{end}"));
                let is_styled = rule("{") || ["text", "small", "strong"].contains(&class.as_str());
                assert!(is_styled, "{name}: {} has no rule for {class}", picture.file);
            }
        }
    }
}

#[test]
fn a_launch_over_time() {
    let drawn = pictures_of_launches(&judged("in-turn"), &support::timelines("in-turn"));
    insta::assert_snapshot!("launch_over_time", named(&drawn, "time-1-1.svg"));
}

#[test]
fn what_does_not_count_is_drawn_at_the_edge_of_the_scale_and_that_is_said() {
    let said = "What lies beyond the scale";
    let trials = |analysis: &Analysis| {
        let drawn = pictures(&Judged::Run(Box::new(analysis.clone())));
        named(&drawn, "trials-1.svg").to_owned()
    };
    let mut analysis = run("in-turn");
    let before = trials(&analysis);
    assert!(!before.contains(said));
    let series = elements(&before, "launch")[0]["data-series"].clone();
    let id = elements(&before, "launch")[0]["data-of"].clone();
    let launches = analysis.cells.iter_mut().flat_map(|cell| &mut cell.launches);
    let launch = launches.into_iter().find(|launch| launch.id == id && !launch.twin).unwrap();
    launch.used = model::LaunchUse::Void;
    launch.slices.clear();
    let far = launch.throughput.unwrap() / 10.0;
    launch.throughput = Some(far);
    let after = trials(&analysis);
    assert!(after.contains(said), "of {series}");
    let drawn = elements(&after, "launch").into_iter().find(|it| it["data-of"] == id).unwrap();
    assert_eq!((drawn["data-use"].as_str(), drawn["data-value"].parse()), ("void", Ok(far)), "its figure is as it was");
}
