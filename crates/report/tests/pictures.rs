//! Golden files of pictures of what real runs come to, and what is drawn in them read back.

#![allow(clippy::unwrap_used, reason = "a test ends there")]

#[path = "pictures/drawn.rs"]
mod drawn;
#[path = "pictures/found.rs"]
mod found;
#[path = "pictures/places.rs"]
mod places;
#[path = "pictures/steadiness.rs"]
mod steadiness;
#[path = "pictures/styled.rs"]
mod styled;
mod support;

use std::collections::BTreeMap;

use drawn::{drawn, elements};
use model::{Analysis, CompareAnalysis, ComparisonVerdict, Factor, Judged, Level, Measured};
use report::{Picture, illustrated, pictures};
use support::judged;

fn named<'a>(pictures: &'a [Picture], file: &str) -> &'a str {
    &pictures.iter().find(|picture| picture.file == file).unwrap_or_else(|| panic!("no {file}")).svg
}

fn files(pictures: &[Picture]) -> Vec<&str> {
    pictures.iter().map(|picture| picture.file.as_str()).collect()
}

fn run(name: &str) -> Analysis {
    let Judged::Run(analysis) = judged(name) else { panic!("it is a run") };
    *analysis
}

fn comparison(name: &str) -> CompareAnalysis {
    let Judged::Comparison(analysis) = judged(name) else { panic!("it is a comparison") };
    *analysis
}

#[test]
fn pictures_of_a_run() {
    let drawn = pictures(&judged("side-by-side"));
    let tables =
        ["ranks-1.svg", "shift-1.svg", "latency-1.svg", "trials-1.svg", "ranks-2.svg", "latency-2.svg", "trials-2.svg"];
    assert_eq!(files(&drawn), [&["claims.svg"][..], &tables, &["finding-1.svg"]].concat());
    insta::assert_snapshot!("run_claims", named(&drawn, "claims.svg"));
    insta::assert_snapshot!("run_finding", named(&drawn, "finding-1.svg"));
    insta::assert_snapshot!("run_without_ranks", named(&drawn, "ranks-2.svg"));
    insta::assert_snapshot!("run_latency", named(&drawn, "latency-1.svg"));
    insta::assert_snapshot!("run_trials_with_twins", named(&drawn, "trials-1.svg"));
    insta::assert_snapshot!("run_trials_of_which_some_are_void", named(&drawn, "trials-2.svg"));
    assert_eq!(pictures(&judged("side-by-side")), drawn, "the same analysis gives the same bytes");
}

#[test]
fn pictures_of_a_run_whose_load_went_round() {
    let drawn = pictures(&judged("in-turn"));
    insta::assert_snapshot!("in_turn_ranks", named(&drawn, "ranks-1.svg"));
    insta::assert_snapshot!("in_turn_slices", named(&drawn, "trials-1.svg"));
}

#[test]
fn pictures_of_comparisons() {
    let alone = pictures(&judged("comparison"));
    insta::assert_snapshot!("comparison_changes", named(&alone, "changes-1.svg"));
    insta::assert_snapshot!("comparison_latency", named(&alone, "latency-1.svg"));
    insta::assert_snapshot!("comparison_shift", named(&alone, "shift-1.svg"));
    let rotating = pictures(&judged("rotating-comparison"));
    insta::assert_snapshot!("rotating_comparison_changes", named(&rotating, "changes-1.svg"));
}

#[test]
fn every_claim_is_drawn_as_it_was_measured() {
    let analysis = run("side-by-side");
    let measured = analysis.claims.iter().filter(|claim| claim.measured.estimate.is_some());
    let expected: Vec<_> = measured.map(|claim| (claim.name.clone(), claim.measured.clone())).collect();
    let all = pictures(&Judged::Run(analysis.into()));
    let svg = named(&all, "claims.svg");
    assert_eq!(drawn(svg), expected);
    let regions: Vec<_> = elements(svg, "shade").iter().filter_map(|region| region.get("data-to").cloned()).collect();
    assert_eq!(regions, ["0.1"], "the one that is claimed to be below something");
    assert_eq!(elements(svg, "published")[0]["data-published"], "0.05");
    for words in ["inconclusive", "not testable here", "not measured"] {
        assert!(svg.contains(&format!(">{words}<")), "{words}");
    }
}

#[test]
fn every_change_is_drawn_as_it_was_compared() {
    for name in ["comparison", "rotating-comparison"] {
        let analysis = comparison(name);
        // Where it is held back, as far as doubts leave it open, which beyond a factor of 100 is not known.
        let known = |open: Measured| match (open.low, open.high) {
            (Some(low), Some(high)) if high > 100.0 * low => Measured { low: None, high: None, ..open },
            _ => open,
        };
        let measured = |row: &model::CompareRow| row.difference.clone().unwrap_or_else(|| row.ratio.clone());
        let value = |row: &model::CompareRow| {
            (row.metric.id().to_owned(), row.in_doubt.clone().map_or_else(|| measured(row), known))
        };
        // A figure for which all launches were too short has no mark.
        let is_drawn = |row: &&model::CompareRow| row.in_doubt.is_some() || measured(row).estimate.is_some();
        let expected: Vec<_> = analysis.rows.iter().filter(is_drawn).map(value).collect();
        let band = elements(named(&pictures(&Judged::Comparison(analysis.clone().into())), "changes-1.svg"), "shade");
        assert_eq!(band[0]["data-to"], (1.0 + analysis.margin).to_string());
        let svg = pictures(&Judged::Comparison(analysis.into()));
        assert_eq!(drawn(named(&svg, "changes-1.svg")), expected);
    }
}

/// The ratios of a shift as they are drawn.
fn of_shift(shift: &model::Shift) -> Vec<Measured> {
    shift.quantiles.iter().map(|known| known.ratio.clone()).collect()
}

#[test]
fn every_quantile_of_two_is_drawn_with_its_ratio() {
    let mut analysis = comparison("comparison");
    let ratios = |analysis: &CompareAnalysis| {
        let svg = named(&pictures(&Judged::Comparison(analysis.clone().into())), "shift-1.svg").to_owned();
        (drawn(&svg).into_iter().map(|(_, ratio)| ratio).collect::<Vec<_>>(), svg)
    };
    let (shown, svg) = ratios(&analysis);
    assert_eq!(shown, of_shift(&analysis.shifts[0]));
    assert!(shown.len() > 3 && svg.contains("not adjusted for their number"), "{svg}");
    let band = &elements(&svg, "shade")[0];
    assert_eq!(band["data-to"], (1.0 + analysis.margin).to_string());
    // What proves nothing is hollow, and says why.
    let solid = |svg: &str| elements(svg, "dot").iter().filter(|mark| mark.contains_key("cx")).count();
    let before = solid(&svg);
    let first = &mut analysis.shifts[0].quantiles;
    first.iter_mut().for_each(|known| (known.beyond, known.censored, known.withheld) = (10, false, None));
    first[0].withheld = Some(model::Withheld::Unbounded);
    first[1].censored = true;
    first[2].beyond = 9;
    let count = first.len();
    let (_, svg) = ratios(&analysis);
    assert_eq!(solid(&svg), count - 3 + 1, "and the one of the key; {before} before");
    for words in [
        "Hollow at p50: the machine was busy.",
        "Hollow at p75: requests were unfinished.",
        "Hollow at p90: fewer than 10",
    ] {
        assert!(svg.contains(words), "{words}");
    }
    assert!(elements(&svg, "few").len() == 1, "the line towards the one of few");
    analysis.shifts[0].quantiles[1].settled = true;
    let (_, svg) = ratios(&analysis);
    assert_eq!(solid(&svg), count - 2 + 1, "a verdict stands whatever they would have taken");
    assert!(svg.contains("Requests were unfinished at p75: however long") && !svg.contains("Hollow at p75"));
}

#[test]
fn two_targets_of_a_run_are_held_against_each_other_by_percentile() {
    let analysis = run("in-turn");
    let all = pictures(&judged("in-turn"));
    for (at, shift) in analysis.shifts.iter().enumerate() {
        let svg = named(&all, &format!("shift-{}.svg", at + 1));
        assert_eq!(drawn(svg).into_iter().map(|(_, ratio)| ratio).collect::<Vec<_>>(), of_shift(shift));
        assert!(svg.contains(&format!("{} ÷ {}", shift.a, shift.b)), "{svg}");
    }
    assert_eq!(analysis.shifts.len(), 2);
}

#[test]
fn memory_is_drawn_against_connections_launch_by_launch() {
    let analysis = run("few-at-once");
    let all = pictures(&judged("few-at-once"));
    let svg = named(&all, "memory.svg");
    insta::assert_snapshot!("few_at_once_memory", svg);
    let counts = |launch: &&model::CellLaunch| launch.used == model::LaunchUse::Counts && !launch.twin;
    let figure = |bytes: Option<u64>| bytes.map(|bytes| (bytes as f64).to_string());
    let mut expected: Vec<_> = analysis
        .cells
        .iter()
        .flat_map(|cell| cell.launches.iter().filter(counts).map(move |launch| (cell, launch)))
        .map(|(cell, launch)| {
            let connections = cell.levels.get("connections").unwrap().to_string();
            let [peak, rest] = [launch.peak_memory_bytes, launch.memory_at_rest_bytes].map(figure);
            (launch.id.clone(), connections, peak, rest)
        })
        .collect();
    let mut shown: Vec<_> = elements(svg, "launch")
        .into_iter()
        .map(|it| {
            let [peak, rest] = ["data-peak", "data-rest"].map(|name| it.get(name).cloned());
            (it["data-of"].clone(), it["data-connections"].clone(), peak, rest)
        })
        .collect();
    [&mut shown, &mut expected].into_iter().for_each(|list| list.sort());
    assert!(!shown.is_empty());
    assert_eq!(shown, expected);
    assert!(
        !svg.contains(" a connection ("),
        "windows of 2 s do not tell memory that grows from what connections take"
    );
    let mut told = analysis.clone();
    let bytes =
        model::Measured { estimate: Some(4_096.0), low: Some(2_048.0), high: Some(8_192.0), unit: model::Unit::Bytes };
    told.memory_slopes.iter_mut().for_each(|slope| slope.bytes = bytes.clone());
    let all = pictures(&Judged::Run(told.into()));
    let shown = named(&all, "memory.svg").matches("4.00 KiB a connection (2.00 KiB to 8.00 KiB)").count();
    assert_eq!(shown, analysis.memory_slopes.len());
}

#[test]
fn every_value_of_a_picture_is_in_its_csv() {
    for name in ["side-by-side", "in-turn", "rotating-comparison"] {
        for picture in pictures(&judged(name)) {
            let (file, text) = picture.csv();
            assert_eq!(file, picture.file.replace(".svg", ".csv"));
            let mut lines = csv::Reader::from_reader(text.as_bytes());
            let header = lines.headers().unwrap().clone();
            let records: Vec<csv::StringRecord> = lines.records().map(Result::unwrap).collect();
            let units = header.iter().filter(|name| name.ends_with(')')).count();
            assert!(units > 0 && header.get(0) == Some("of"), "{header:?}");
            for (of, value) in drawn(&picture.svg) {
                let column = |name: &str| {
                    let wanted = format!("{name} ({})", value.unit.id());
                    header.iter().position(|known| known == wanted)
                };
                let has = |record: &csv::StringRecord, name: &str, figure: Option<f64>| match column(name) {
                    Some(at) => record[at] == figure.map_or(String::new(), |figure| figure.to_string()),
                    None => figure.is_none(),
                };
                let is_it = |record: &&csv::StringRecord| {
                    record[0] == *of
                        && has(record, "estimate", value.estimate)
                        && has(record, "95 % low", value.low)
                        && has(record, "95 % high", value.high)
                };
                assert_eq!(records.iter().filter(is_it).count(), 1, "{} has no {of}: {text}", picture.file);
            }
            let marks = ["value", "launch", "published"].map(|class| elements(&picture.svg, class).len());
            let slices = elements(&picture.svg, "speck").iter().filter(|it| it.contains_key("data-of")).count();
            assert_eq!(records.len(), marks.iter().sum::<usize>() + slices, "{}", picture.file);
        }
    }
}

#[test]
fn every_target_is_drawn_with_its_paired_ratio_to_the_first() {
    let analysis = run("in-turn");
    let of = |pair: &&model::Comparison| pair.metric == model::Metric::Throughput;
    let pairs: Vec<&model::Comparison> = analysis.comparisons.iter().filter(of).collect();
    let all = pictures(&judged("in-turn"));
    for (at, pair) in pairs.iter().enumerate() {
        let drawn = drawn(named(&all, &format!("ranks-{}.svg", at + 1)));
        let [(reference, one), (other, ratio)] = &drawn[..] else { panic!("two targets") };
        assert_eq!(one.estimate, Some(1.0), "{reference} against itself");
        let upside_down = |value: Option<f64>| value.map(|value| 1.0 / value);
        let Measured { estimate, low, high, .. } = pair.ratio;
        let expected = if pair.a == *other {
            [estimate, low, high]
        } else {
            [upside_down(estimate), upside_down(high), upside_down(low)]
        };
        assert_eq!([ratio.estimate, ratio.low, ratio.high], expected, "{other} against {reference}");
    }
}

#[test]
fn ties_that_do_not_pass_on_have_brackets_that_overlap() {
    let mut analysis = support::tied_in_a_row(run("in-turn"));
    let all = pictures(&Judged::Run(analysis.clone().into()));
    let svg = named(&all, "ranks-1.svg");
    insta::assert_snapshot!("ranks_tied_in_a_row", svg);
    assert_eq!(elements(svg, "tie").len(), 2);
    for words in ["the same: plain, computing<", "the same: computing, third<", ">1= computing<", ">3 third<"] {
        assert!(svg.contains(words), "{words}");
    }
    assert_eq!(drawn(svg).len(), 3);

    let open = analysis.comparisons.iter_mut().find(|pair| [&*pair.a, &*pair.b] == ["computing", "third"]).unwrap();
    open.verdict = ComparisonVerdict::Inconclusive;
    let all = pictures(&Judged::Run(analysis.into()));
    for words in
        ["the same: plain, computing<", "too close to call: computing, third<", "the same, or too close to call"]
    {
        assert!(named(&all, "ranks-1.svg").contains(words), "{words}");
    }
}

#[test]
fn every_launch_is_drawn_with_what_becomes_of_it() {
    for name in ["side-by-side", "in-turn"] {
        let analysis = run(name);
        let all = pictures(&judged(name));
        let (mut shown, mut slices) = (Vec::new(), Vec::new());
        for svg in [1, 2].map(|table| named(&all, &format!("trials-{table}.svg"))) {
            let of = |it: BTreeMap<String, String>| (it["data-of"].clone(), it.get("data-value").cloned());
            let launches = elements(svg, "launch").into_iter();
            shown.extend(launches.map(|it| (it["data-use"].clone(), of(it))));
            slices.extend(elements(svg, "speck").into_iter().filter(|it| it.contains_key("data-of")).map(of));
        }
        let launches = || analysis.cells.iter().flat_map(|cell| &cell.launches);
        let value = |value: Option<f64>| value.map(|value| value.to_string());
        let mut expected: Vec<_> =
            launches().map(|it| (it.used.id().to_owned(), (it.id.clone(), value(it.throughput)))).collect();
        let slice = |it: &model::LaunchSlice, id: &str| (format!("{id} round {}", it.round), value(it.throughput));
        let mut of_slices: Vec<_> =
            launches().flat_map(|it| it.slices.iter().map(move |one| slice(one, &it.id))).collect();
        [&mut shown, &mut expected].into_iter().for_each(|list| list.sort());
        [&mut slices, &mut of_slices].into_iter().for_each(|list| list.sort());
        assert_eq!(shown, expected, "{name}");
        assert_eq!(slices, of_slices, "{name}");
        let void = shown.iter().filter(|(used, _)| used == "void").count();
        assert_eq!(void, analysis.trials.void as usize, "{name}");
    }
}

#[test]
fn every_quantile_is_drawn_as_it_was_measured() {
    let analysis = comparison("comparison");
    let all = pictures(&judged("comparison"));
    let svg = named(&all, "latency-1.svg");
    let whole = analysis.cells.iter().flat_map(|of| &of.cell.quantiles).map(|known| known.us.clone());
    assert_eq!(drawn(svg).into_iter().map(|(_, value)| value).collect::<Vec<_>>(), whole.collect::<Vec<_>>());
    let known = |launch: &model::CellLaunch| {
        let each = launch.latency.quantiles.iter().map(|known| known.us.to_string());
        (launch.id.clone(), each.collect::<Vec<_>>())
    };
    let counted = analysis.cells.iter().flat_map(|of| &of.cell.launches);
    let counted = counted.filter(|launch| launch.used == model::LaunchUse::Counts && !launch.twin);
    let names = ["p50", "p75", "p90", "p95", "p99", "p99.9", "p99.99"];
    let quantiles = |it: &BTreeMap<String, String>| {
        names.iter().filter_map(|name| it.get(&format!("data-{name}")).cloned()).collect::<Vec<_>>()
    };
    let shown = elements(svg, "launch").into_iter().map(|it| (it["data-of"].clone(), quantiles(&it)));
    assert_eq!(shown.collect::<Vec<_>>(), counted.map(known).collect::<Vec<_>>());
}

#[test]
fn a_latency_that_is_a_lower_bound_in_one_launch_is_one_over_all() {
    let mut analysis = comparison("comparison");
    let cell = &mut analysis.cells[0].cell;
    let launch = cell.launches.iter_mut().find(|it| it.used == model::LaunchUse::Counts && !it.twin).unwrap();
    launch.latency.exact_below_us = launch.quantile_us(0.99);
    let before = pictures(&judged("comparison"));
    let after = pictures(&Judged::Comparison(Box::new(analysis)));
    let [before, after] = [&before, &after].map(|all| named(all, "latency-1.svg"));
    // A quantile that all launches have below that is known.
    assert!(!before.contains('≥') && !after.contains("p50: ≥"), "{after}");
    assert!(after.contains(">p99 ≥ ") && after.contains("p99: ≥ "), "{after}");
    let open = |svg: &str| elements(svg, "open").len();
    assert!(open(after) >= open(before) + 2, "of the launch, and over all");
}

#[test]
fn a_preliminary_run_says_so_in_its_pictures() {
    let mut analysis = run("side-by-side");
    (analysis.preliminary, analysis.blocks) = (true, 2);
    for picture in pictures(&Judged::Run(analysis.into())) {
        assert!(picture.svg.contains("Preliminary: 2 complete blocks"), "{}", picture.svg);
    }
    let mut analysis = comparison("comparison");
    analysis.blocks = 2;
    let all = pictures(&Judged::Comparison(analysis.into()));
    assert!(named(&all, "changes-1.svg").contains("Too few blocks for a verdict (2 of 6)"));
}

#[test]
fn hostile_names_are_text_and_the_whole_of_a_long_one_is_in_a_title() {
    let hostile = ["</text><script>alert(1)</script>", "a\u{202e}b\u{1b}[31m\u{0}", "אבג דהו", "\"'&<>]]>"];
    for name in hostile.iter().map(|name| (*name).to_owned()).chain(["x".repeat(10_000)]) {
        let mut analysis = run("side-by-side");
        analysis.question = name.clone();
        analysis.claims.iter_mut().for_each(|claim| (claim.says, claim.name) = (name.clone(), name.clone()));
        let rename = |target: &mut String| {
            if target == "serialised" {
                target.clone_from(&name);
            }
        };
        for cell in &mut analysis.cells {
            let mut target = cell.levels.target().to_owned();
            rename(&mut target);
            cell.levels = cell.levels.clone().with(Factor::Target, Level::Text(target));
        }
        analysis.comparisons.iter_mut().for_each(|pair| [&mut pair.a, &mut pair.b].into_iter().for_each(rename));
        analysis.findings.iter_mut().for_each(|finding| rename(&mut finding.target));
        analysis.groups.iter_mut().flat_map(|group| &mut group.ranks).for_each(|rank| rename(&mut rank.target));
        for picture in pictures(&Judged::Run(analysis.into())) {
            let svg = &picture.svg;
            assert!(!elements(svg, "bourdon").is_empty() && !svg.contains("<script"), "{svg}");
            assert!(!svg.contains(['\u{202e}', '\u{1b}', '\u{0}']), "{svg}");
            let shown = |line: &&str| line.trim_start().starts_with("<text") && line.chars().count() > 300;
            assert!(
                !svg.lines().any(|line| shown(&line)),
                "a line is too long to be shown: {:?}",
                svg.lines().find(shown)
            );
            let title = |line: &str| line.trim_start().starts_with("<title>") && line.contains(&name);
            assert!(name.len() < 10_000 || svg.lines().any(title), "the whole of it");
        }
    }
}

#[test]
fn every_picture_tells_what_it_shows_and_asks_for_nothing_from_elsewhere() {
    for name in ["side-by-side", "in-turn", "comparison", "rotating-comparison"] {
        for picture in pictures(&judged(name)) {
            let Picture { svg, says, .. } = &picture;
            assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
            assert!(svg.contains("role=\"img\"") && svg.contains("<title>") && !says.is_empty());
            assert_eq!(svg.matches("<desc>").count(), 1);
            for foreign in ["href", "url(", "@import", "<image", "<foreignObject", "<script", "NaN", "inf\""] {
                assert!(!svg.contains(foreign), "{foreign} in {svg}");
            }
        }
    }
}

#[test]
fn markdown_shows_each_picture_once_below_its_table() {
    for name in ["side-by-side", "in-turn", "comparison"] {
        let judged = judged(name);
        let drawn = pictures(&judged);
        let page = illustrated(&judged, "my charts (1)/", &drawn);
        for picture in &drawn {
            let address = format!("](my%20charts%20%281%29/{})", picture.file);
            assert_eq!(page.matches(&address).count(), 1, "{page}");
            let (before, _) = page.split_once(&address).unwrap();
            let above = before.rsplit("\n\n").nth(1).unwrap();
            let is_of_a_table = !matches!(picture.file.as_str(), "memory.svg" | "finding-1.svg");
            assert!(!is_of_a_table || above.starts_with('|') || above.starts_with('!'), "{above}");
        }
        let images = page.lines().filter(|line| line.starts_with("![")).count();
        assert_eq!(images, drawn.len());
        let without: Vec<&str> = page.split("\n\n").filter(|part| !part.starts_with("![")).collect();
        assert_eq!(without.join("\n\n"), report::markdown(&judged), "nothing else differs");
    }
}
