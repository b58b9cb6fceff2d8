//! The page of a record, as a browser without scripts reads it.

#![allow(clippy::unwrap_used, reason = "a test ends there")]

mod support;

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::{Analysis, ClaimVerdict, CompareAnalysis, ComparisonVerdict, Judged, LaunchUse};
use report::{html, markdown, pictures};
use scraper::{ElementRef, Html, Selector};
use sha2::{Digest, Sha256};
use support::judged;

fn read(page: &str) -> Html {
    Html::parse_document(page)
}

fn all<'a>(page: &'a Html, selector: &str) -> Vec<ElementRef<'a>> {
    page.select(&Selector::parse(selector).unwrap()).collect()
}

fn text(element: ElementRef<'_>) -> String {
    element.text().collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
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
    let rows = texts(&page, "details tbody tr");
    let launches: Vec<_> = analysis.cells.iter().flat_map(|cell| &cell.launches).collect();
    assert_eq!(rows.len(), launches.len());
    let void = launches.iter().filter(|launch| launch.used == LaunchUse::Void).count();
    assert!(void > 0);
    assert_eq!(rows.iter().filter(|row| row.ends_with("void")).count(), void);
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
fn nothing_is_loaded_and_nothing_runs_but_its_own_style() {
    for name in ["side-by-side", "comparison"] {
        let page = html(&judged(name));
        let parsed = read(&page);
        for forbidden in
            ["script", "link", "iframe", "object", "embed", "img", "base", "form", "a[href]", "use", "image"]
        {
            assert!(all(&parsed, forbidden).is_empty(), "{forbidden}");
        }
        let attributes = all(&parsed, "*").into_iter().flat_map(|element| element.value().attrs().collect::<Vec<_>>());
        for (name, value) in attributes {
            assert!(!name.starts_with("on") && name != "style" && name != "src" && name != "href", "{name}={value}");
        }
        let styles = all(&parsed, "style");
        assert_eq!(styles.len(), 1);
        let digest = STANDARD.encode(Sha256::digest(styles[0].text().collect::<String>()));
        let policy = all(&parsed, "meta[http-equiv]")[0].value().attr("content").unwrap().to_owned();
        assert!(policy.starts_with("default-src 'none'; ") && policy.contains(&format!("style-src 'sha256-{digest}'")));
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
    assert!(all(&parsed, "script, img").is_empty());
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
    assert_eq!(header[1..6], ["old", "new", "change", "95 % interval", "verdict"]);
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
