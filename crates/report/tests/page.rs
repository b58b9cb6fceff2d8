//! The page of a record, as a browser without scripts reads it. What its script does is tested in one: `browser/`.

#![allow(clippy::unwrap_used, reason = "a test ends there")]

#[path = "page/certainty.rs"]
mod certainty;
#[path = "page/choice.rs"]
mod choice;
mod support;

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::{
    Analysis, CellProfile, ClaimVerdict, CompareAnalysis, ComparisonVerdict, Factor, Judged, LaunchUse, Level, LoadKey,
    Measured, ProfiledBy, ProfiledFunction, StackNode, Timeline, Unit,
};
use report::{markdown, pictures};
use scraper::{ElementRef, Html, Selector};
use sha2::{Digest, Sha256};
use support::runs::remarked;
use support::{judged, timelines};

fn read(page: &str) -> Html {
    Html::parse_document(page)
}

fn all<'a>(page: &'a Html, selector: &str) -> Vec<ElementRef<'a>> {
    page.select(&Selector::parse(selector).unwrap()).collect()
}

fn text(element: ElementRef<'_>) -> String {
    element.text().collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The page of a record without its launches over time.
fn html(judged: &Judged) -> String {
    report::html(judged, &[])
}

fn texts(page: &Html, selector: &str) -> Vec<String> {
    all(page, selector).into_iter().map(text).collect()
}

fn run(name: &str) -> Analysis {
    let Judged::Run(analysis) = judged(name) else { panic!("it is a run") };
    *analysis
}

fn comparison(name: &str) -> CompareAnalysis {
    let Judged::Comparison(analysis) = judged(name) else { panic!("it is a comparison") };
    *analysis
}

/// The cells of the tables of figures in a Markdown document, without what Markdown needs around a text.
fn markdown_figures(of: &Judged) -> Vec<String> {
    let document = markdown(of);
    let mut is_of_figures = false;
    let mut cells = Vec::new();
    for line in document.lines() {
        is_of_figures = line.starts_with('|') && (is_of_figures || line.contains("CPU/request"));
        if is_of_figures && !line.contains("---") {
            cells.extend(line.trim_matches('|').split(" | ").map(|cell| cell.trim().replace(['*', '`', '\\'], "")));
        }
    }
    cells
}

#[test]
fn a_page_says_what_the_terminal_says() {
    for name in ["side-by-side", "few-at-once", "in-turn", "unsteady"] {
        let analysis = run(name);
        let page = read(&html(&judged(name)));
        assert_eq!(texts(&page, "h1"), std::slice::from_ref(&analysis.question));
        assert_eq!(texts(&page, "title").first(), Some(&analysis.question), "that of the document");
        assert_eq!(texts(&page, ".claim").len(), analysis.claims.len());
        for (claim, shown) in analysis.claims.iter().zip(texts(&page, ".claim")) {
            assert!(shown.contains(&claim.says) && shown.contains(&claim.expect.text), "{shown}");
            let word = match claim.verdict {
                ClaimVerdict::Supported => "supported",
                ClaimVerdict::Contradicted => "contradicted",
                ClaimVerdict::Inconclusive => "inconclusive",
                ClaimVerdict::NotTestable => "not testable",
            };
            assert!(shown.starts_with(word), "{shown}");
        }
        // Whatever stands in a table of Markdown stands in one of the page.
        let shown: BTreeSet<String> = texts(&page, "#figures td, #figures th").into_iter().collect();
        let figures = markdown_figures(&judged(name));
        assert!(figures.len() > 10, "{name}");
        for cell in figures.iter().filter(|cell| !cell.is_empty()) {
            assert!(shown.contains(cell), "{name}: {cell} is not among {shown:?}");
        }
    }
}

#[test]
fn every_launch_is_listed_and_who_does_not_count_says_so() {
    let analysis = run("side-by-side");
    let page = read(&html(&judged("side-by-side")));
    let rows = texts(&page, "details:not(.values) tbody tr");
    let launches: Vec<_> = analysis.cells.iter().flat_map(|cell| &cell.launches).collect();
    assert_eq!(rows.len(), launches.len());
    let void = launches.iter().filter(|launch| launch.used == LaunchUse::Void).count();
    assert!(void > 0);
    let uses = texts(&page, "details:not(.values) tbody tr td:first-of-type");
    assert_eq!(uses.iter().filter(|used| *used == "void").count(), void, "{uses:?}");
    let named = texts(&page, "#void li").join(" ");
    assert!(analysis.void_trials.iter().all(|trial| named.contains(trial.levels.target())), "{named}");
}

#[test]
fn every_picture_stands_in_the_page_as_it_is_drawn() {
    for name in ["side-by-side", "rotating-comparison"] {
        let page = html(&judged(name));
        let drawn = pictures(&judged(name));
        assert!(!drawn.is_empty());
        let parsed = read(&page);
        assert_eq!(all(&parsed, "figure svg").len(), drawn.len());
        for picture in &drawn {
            let alone = Html::parse_document(&picture.svg);
            let marks = |of: &Html| -> Vec<String> {
                all(of, "svg .value")
                    .iter()
                    .map(|mark| format!("{:?}", mark.value().attrs().collect::<BTreeSet<_>>()))
                    .collect()
            };
            let title = texts(&alone, "svg > title");
            let within = all(&parsed, "figure").into_iter().find(|figure| {
                figure.select(&Selector::parse("svg > title").unwrap()).map(text).collect::<Vec<_>>() == title
            });
            let within = Html::parse_fragment(&within.unwrap().html());
            assert_eq!(marks(&within), marks(&alone), "{}", picture.file);
        }
    }
}

#[test]
fn a_table_of_many_values_says_how_many_more_the_csv_has() {
    let mut many = run("side-by-side");
    for cell in &mut many.cells {
        let launches = cell.launches.clone();
        let later = (1..20).flat_map(|round| launches.iter().cloned().map(move |of| (round, of)));
        cell.launches.extend(later.map(|(round, of)| model::CellLaunch { block: of.block + 10 * round, ..of }));
    }
    let page = read(&html(&Judged::Run(Box::new(many))));
    let mut cut = 0;
    for values in all(&page, "details.values") {
        let select =
            |selector: &str| -> Vec<ElementRef<'_>> { values.select(&Selector::parse(selector).unwrap()).collect() };
        let rows = select("tbody tr").len();
        let csv: String = select("pre")[0].text().collect();
        let csv = csv::Reader::from_reader(csv.as_bytes()).into_records().count();
        let more =
            select("p").iter().find_map(|it| text(*it).split(' ').next()?.replace(',', "").parse::<usize>().ok());
        assert_eq!(rows + more.unwrap_or(0), csv, "{}", text(values));
        assert_eq!((rows, more != Some(0)), (csv.min(40), true));
        cut += usize::from(more.is_some());
    }
    assert!(cut > 0, "a picture of its launches has more");
}

#[test]
fn pictures_of_many_tables_are_to_be_opened_and_those_of_few_stand_open() {
    let of = |conditions: u64| {
        let mut made = run("side-by-side");
        let like = std::mem::take(&mut made.cells);
        let under = |connections: u64, cell: &model::CellAnalysis| {
            let levels = cell.levels.clone().with(Factor::Load(LoadKey::Connections), Level::Integer(connections));
            model::CellAnalysis { levels, ..cell.clone() }
        };
        made.cells = (1..=conditions).flat_map(|at| like.iter().map(move |cell| under(at, cell))).collect();
        let page = read(&html(&Judged::Run(Box::new(made))));
        let count = |selector: &str| all(&page, selector).len();
        (count("#figures section > .pictures figure"), count("#figures section > details > .pictures figure"))
    };
    let (few, many) = (of(1), of(7));
    assert!(few.0 > 0 && few.1 == 0, "{few:?}");
    assert_eq!(many, (0, 7 * few.0));
}

#[test]
fn nothing_is_loaded_and_nothing_runs_but_its_own_script() {
    for name in ["side-by-side", "comparison"] {
        let page = report::html(&judged(name), &timelines(name));
        let parsed = read(&page);
        for forbidden in
            ["link", "iframe", "object", "embed", "img", "base", "form", "a[href]:not([href^='#'])", "use", "image"]
        {
            assert!(all(&parsed, forbidden).is_empty(), "{forbidden}");
        }
        let attributes = all(&parsed, "*").into_iter().flat_map(|element| element.value().attrs().collect::<Vec<_>>());
        for (name, value) in attributes {
            let leads_away = name == "src" || (name == "href" && !value.starts_with('#'));
            assert!(!name.starts_with("on") && name != "style" && !leads_away, "{name}={value}");
        }
        let styles = all(&parsed, "style");
        assert_eq!(styles.len(), 1);
        let digest = STANDARD.encode(Sha256::digest(styles[0].text().collect::<String>()));
        let policy = all(&parsed, "meta[http-equiv]")[0].value().attr("content").unwrap().to_owned();
        assert!(policy.starts_with("default-src 'none'; ") && policy.contains(&format!("style-src 'sha256-{digest}'")));
        let scripts = all(&parsed, "script:not([type])");
        assert_eq!((scripts.len(), all(&parsed, "script").len()), (1, 2), "its own, and data");
        let digest = STANDARD.encode(Sha256::digest(scripts[0].text().collect::<String>()));
        assert!(policy.contains(&format!("; script-src 'sha256-{digest}'; ")), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert!(!styles[0].text().collect::<String>().contains("url("), "nor does the style");
    }
}

#[test]
fn what_others_wrote_is_text() {
    let hostile = "</title><script>alert(1)</script><img src=x onerror=alert(1)>\u{202e}\u{1b}[31m&amp;";
    let mut analysis = run("side-by-side");
    analysis.question = hostile.to_owned();
    for claim in &mut analysis.claims {
        (claim.says, claim.name) = (hostile.to_owned(), hostile.to_owned());
    }
    analysis.environment.command_line = vec![hostile.to_owned(), "x".repeat(10_000)];
    analysis.environment.cpu = hostile.to_owned();
    let command = ["bourdon", "compare", "--run", "python3 server.py", "--gate", "p99<+5%"];
    let page = html(&Judged::Run(Box::new(analysis.clone())));
    analysis.environment.command_line = command.map(str::to_owned).to_vec();
    let typed = texts(&read(&html(&Judged::Run(Box::new(analysis)))), "#setting pre");
    assert_eq!(typed, ["bourdon compare --run 'python3 server.py' --gate 'p99<+5%'"], "to be pasted");
    let parsed = read(&page);
    assert_eq!((all(&parsed, "script").len(), all(&parsed, "img").len()), (1, 0));
    assert!(!page.contains('\u{202e}') && !page.contains('\u{1b}'));
    assert!(texts(&parsed, "h1")[0].starts_with("</title><script>alert(1)</script>"), "{:?}", texts(&parsed, "h1"));
    assert!(texts(&parsed, "#setting pre")[0].contains(&"x".repeat(10_000)), "a command can be taken from it whole");
}

#[test]
fn a_server_against_itself_has_no_winner_by_colour_or_word() {
    let mut analysis = comparison("comparison");
    for row in &mut analysis.rows {
        (row.verdict, row.withheld, row.seen) = (ComparisonVerdict::Same, None, None);
    }
    analysis.gates.clear();
    let page = read(&html(&Judged::Comparison(Box::new(analysis))));
    assert!(!texts(&page, ".summary li").is_empty());
    assert!(all(&page, ".summary .good, .summary .bad, .summary .unsure").is_empty());
    for word in ["faster", "slower", "better", "worse"] {
        assert!(texts(&page, ".summary li, #figures td").iter().all(|said| !said.contains(word)), "{word}");
    }
}

#[test]
fn a_comparison_begins_with_its_answer_and_keeps_old_and_new_in_order() {
    let page = read(&html(&judged("comparison")));
    let header = texts(&page, "#figures th[scope=col]");
    assert_eq!(header[1..6], ["verdict", "change", "95 % interval", "old", "new"]);
    let order: Vec<String> =
        all(&page, "main > *").iter().map(|part| part.value().id().unwrap_or(part.value().name()).to_owned()).collect();
    assert_eq!(order.first().map(String::as_str), Some("header"));
    assert_eq!(order.last().map(String::as_str), Some("setting"));
    assert_eq!(texts(&page, "header .answer").len(), 1);
}

#[test]
fn one_block_is_said_to_be_preliminary_where_the_answer_would_be() {
    let mut analysis = run("side-by-side");
    (analysis.preliminary, analysis.blocks) = (true, 1);
    let page = read(&html(&Judged::Run(Box::new(analysis))));
    assert!(all(&page, ".answer").is_empty());
    assert!(
        texts(&page, "header .alert").iter().any(|said| said.starts_with("Preliminary")),
        "{:?}",
        texts(&page, "header")
    );
}

/// What is drawn of a panel of each launch: its figures, step by step.
fn drawn(page: &Html, panel: &str) -> Vec<(String, Vec<Option<f64>>)> {
    let of = |element: ElementRef| {
        let attribute = |name| element.value().attr(name).unwrap().to_owned();
        (attribute("data-of"), attribute("data-values").split(' ').map(|value| value.parse().ok()).collect())
    };
    all(page, &format!("#time [data-panel={panel}]")).into_iter().map(of).collect()
}

#[test]
fn one_launch_of_each_cell_is_drawn_over_time_with_the_figures_of_the_record() {
    for name in ["side-by-side", "in-turn", "comparison", "rotating-comparison"] {
        let timelines = timelines(name);
        let page = read(&report::html(&judged(name), &timelines));
        let known = |id: &str| timelines.iter().find(|timeline| timeline.trial == id).unwrap();
        let of_page = drawn(&page, "p99");
        assert!(!of_page.is_empty());
        for (id, values) in of_page {
            assert_eq!(values, known(&id).steps.iter().map(|step| step.p99_us).collect::<Vec<_>>(), "{name} {id}");
        }
        for (id, values) in drawn(&page, "throughput") {
            let rates = known(&id).steps.iter().map(|step| (!step.is_warm_up()).then(|| step.ok_per_s()));
            assert_eq!(values, rates.collect::<Vec<_>>(), "{name} {id}");
        }
    }
}

#[test]
fn the_drawn_launch_is_the_middle_one_and_counts() {
    let (analysis, timelines) = (run("side-by-side"), timelines("side-by-side"));
    let page = read(&report::html(&judged("side-by-side"), &timelines));
    let shown: Vec<String> = drawn(&page, "throughput").into_iter().map(|(id, _)| id).collect();
    assert_eq!(shown.len(), analysis.cells.len());
    for cell in &analysis.cells {
        let counts = |it: &&model::CellLaunch| it.used == LaunchUse::Counts && !it.twin;
        let mut rates: Vec<f64> = cell.launches.iter().filter(counts).filter_map(|it| it.throughput).collect();
        rates.sort_by(f64::total_cmp);
        let chosen = cell.launches.iter().find(|launch| shown.contains(&launch.id)).unwrap();
        match rates.get(rates.len().saturating_sub(1) / 2) {
            Some(middle) => assert_eq!(chosen.throughput, Some(*middle)),
            None => assert_eq!(chosen.used, LaunchUse::Void, "crossed out below"),
        }
    }
}

/// The steps of each launch, changed.
fn changed(name: &str, change: impl Fn(&mut Timeline)) -> Html {
    let mut timelines = timelines(name);
    timelines.iter_mut().for_each(change);
    read(&report::html(&judged(name), &timelines))
}

#[test]
fn a_missing_second_is_a_gap_and_nothing_in_a_second_is_zero() {
    let seconds = |at: &[f64]| {
        let page = changed("few-at-once", |timeline| {
            let step = |at_s: &f64| model::TimelineStep { at_s: *at_s, length_s: 1.0, ok: 0, ..Default::default() };
            timeline.steps = at.iter().map(step).collect();
        });
        let panel = all(&page, "#time [data-panel=throughput]")[0];
        let lines = panel.select(&Selector::parse("path").unwrap()).count();
        (lines, panel.value().attr("data-values").unwrap().to_owned())
    };
    assert_eq!(seconds(&[0.0, 1.0, 2.0]), (1, "0 0 0".to_owned()));
    assert_eq!(seconds(&[0.0, 2.0]), (2, "0 0".to_owned()));
}

#[test]
fn each_reply_is_in_the_map_and_failed_requests_stand_beside_the_throughput() {
    let page = changed("few-at-once", |timeline| {
        for step in timeline.steps.iter_mut().filter(|step| !step.is_warm_up()) {
            (step.latencies, step.failures) = (vec![(40, 1), (41, 1_000)], 3);
        }
    });
    let picture = all(&page, "#time figure")[0];
    let count = |selector: &str| picture.select(&Selector::parse(selector).unwrap()).count();
    assert_eq!((count("path.heat-1"), count("path.heat-8")), (1, 1), "a lone reply is not lost beside a thousand");
    assert_eq!(count("[data-failures=\"3\"]"), 1);
}

#[test]
fn a_void_launch_is_crossed_out_with_its_reason() {
    let mut analysis = run("side-by-side");
    let void = analysis.void_trials.first().unwrap().clone();
    for launch in analysis.cells.iter_mut().flat_map(|cell| &mut cell.launches) {
        launch.used = if launch.id == void.id { LaunchUse::Void } else { LaunchUse::SetAside };
    }
    let timelines: Vec<Timeline> = timelines("side-by-side").into_iter().filter(|it| it.trial == void.id).collect();
    let page = read(&report::html(&Judged::Run(Box::new(analysis)), &timelines));
    let pictures = all(&page, "#time figure");
    assert_eq!(pictures.len(), 1);
    let lines = pictures[0].select(&Selector::parse("line.cross").unwrap()).count();
    let panels = pictures[0].select(&Selector::parse(".over-time").unwrap()).count();
    assert!(lines > 0 && lines.is_multiple_of(2) && panels > 0);
    assert!(text(pictures[0]).contains("void: "), "{}", text(pictures[0]));
}

#[test]
fn a_page_without_data_stays_small_and_one_of_a_great_run_leaves_out_what_it_says() {
    assert!(html(&judged("few-at-once")).len() < 1_500_000);
    let page = changed("side-by-side", |timeline| {
        let counts: Vec<(i16, u64)> = (0..200).map(|bucket| (bucket, 1 + 99 * (bucket as u64 % 2))).collect();
        let step = |at: i32| model::TimelineStep {
            at_s: f64::from(at),
            length_s: 1.0,
            latencies: counts.clone(),
            ..Default::default()
        };
        timeline.steps = (0..900).map(step).collect();
    });
    let said = texts(&page, "#time .notes li");
    assert!(
        said.iter().any(|said| said.starts_with("From block ") && said.contains("how many replies took how long")),
        "{said:?}"
    );
    assert!(page.html().len() < 12_000_000);
}

#[test]
fn of_two_launches_with_one_name_the_later_is_offered_once() {
    use std::io::Read;
    let page = read(&report::html(&judged("in-turn"), &timelines("in-turn")));
    let packed = STANDARD.decode(text(all(&page, "#timelines")[0])).unwrap();
    let mut json = String::new();
    flate2::read::GzDecoder::new(packed.as_slice()).read_to_string(&mut json).unwrap();
    let data: serde_json::Value = serde_json::from_str(&json).unwrap();
    let launches: Vec<_> =
        data["cells"].as_array().unwrap().iter().flat_map(|cell| cell["launches"].as_array().unwrap()).collect();
    let names: BTreeSet<&str> = launches.iter().map(|launch| launch["id"].as_str().unwrap()).collect();
    assert_eq!(names.len(), launches.len());
    let is_void = |name: &str| launches.iter().find(|launch| launch["id"] == name).unwrap()["is_void"] == true;
    assert!(["b02-c03", "b02-c04"].iter().all(|name| names.contains(name) && !is_void(name)), "made again alone");
}

#[test]
fn a_profile_with_stacks_is_drawn_and_two_are_held_against_each_other() {
    let mut analysis = run("unsteady");
    let profile = CellProfile {
        by: vec![ProfiledBy::Pprof],
        launches: 1,
        samples: 100,
        share: Measured { estimate: None, low: None, high: None, unit: Unit::Share },
        functions: vec![ProfiledFunction { name: "main.<b>serve".to_owned(), flat_share: 0.75 }],
        no_profile: None,
    };
    let mut timelines = Vec::new();
    for (cell, (samples, us)) in analysis.cells.iter_mut().zip([(75, 10.0), (60, 20.0)]) {
        cell.profile = Some(profile.clone());
        cell.cpu_us_per_request.estimate = Some(us);
        let (mut stacks, mut most) = (StackNode::default(), 9);
        stacks.add(["main", "main.<b>serve"], samples, &mut most);
        stacks.add(["main"], 100 - samples, &mut most);
        let counts = cell.launches.iter().find(|launch| launch.used == LaunchUse::Counts && !launch.twin).unwrap();
        timelines.push(Timeline { trial: counts.id.clone(), stacks: Some(stacks), ..Timeline::default() });
    }
    analysis.cells.truncate(2);
    let page = read(&report::html(&Judged::Run(Box::new(analysis.clone())), &timelines));
    assert_eq!(all(&page, "#profile svg").len(), 2);
    let said = texts(&page, "#profile svg title");
    assert!(
        said.contains(&"main.<b>serve: 75 %".to_owned()) && said.contains(&"main.<b>serve: 60 %".to_owned()),
        "{said:?}"
    );
    let cells = |page: &Html| texts(page, "#profile section:last-child tbody :is(th, td)");
    // A smaller share of more time is more time.
    assert_eq!(
        cells(&page),
        ["main", "2.50 µs", "8.00 µs", "+5.50 µs", "main.<b>serve", "7.50 µs", "12.00 µs", "+4.50 µs"]
    );
    analysis.cells[1].cpu_us_per_request.estimate = None;
    let page = read(&report::html(&Judged::Run(Box::new(analysis)), &timelines));
    assert_eq!(cells(&page), ["main", "25 %", "40 %", "+15.0 points", "main.<b>serve", "75 %", "60 %", "-15.0 points"]);
}
