//! What takes sureness away from a figure stands beside it, wherever the figure stands.

use super::*;

#[test]
fn failures_stand_beside_every_throughput_however_few_they_are() {
    let mut analysis = run("in-turn");
    analysis.claims.clear();
    let throughput = |group: &&model::RankGroup| group.metric == model::Metric::Throughput && group.leads;
    let leading = analysis.groups.iter().find(throughput).unwrap().clone();
    let first = leading.ranks.iter().find(|rank| rank.rank == Some(1)).unwrap().target.clone();
    for cell in &mut analysis.cells {
        if cell.levels.target() == first {
            cell.errors = 0.005;
            cell.launches[1].errors = Some(0.03);
        }
    }
    let failed = "requests/s, 0.5 % failed";
    let drawn = pictures(&Judged::Run(Box::new(analysis.clone())));
    let ranks = &drawn.iter().find(|picture| picture.file == "ranks-1.svg").unwrap().svg;
    assert!(ranks.contains("0.5 % failed"), "{ranks}");
    let page = read(&html(&Judged::Run(Box::new(analysis))));
    assert!(texts(&page, "#figures th[scope=col]").contains(&"failed".to_owned()));
    assert!(texts(&page, "#choice td").iter().any(|said| said.contains(failed)), "{:?}", texts(&page, "#choice td"));
    assert!(texts(&page, "#figures details td").contains(&"3 %".to_owned()), "the launch itself says so");
}

#[test]
fn a_tie_that_does_not_pass_on_is_said_wherever_the_first_are_named() {
    let mut analysis = support::tied_in_a_row(run("in-turn"));
    analysis.claims.clear();
    let conditions = analysis.groups.iter().find(|group| group.ranks.len() == 3).unwrap().conditions.clone();
    analysis.groups.retain(|group| group.conditions == conditions);
    analysis.cells.retain(|cell| cell.levels.conditions() == conditions);
    let page = read(&html(&Judged::Run(remarked(analysis.clone()).into())));
    let answer = texts(&page, ".answer").pop().unwrap();
    assert!(answer.contains("plain and computing serve the most, and serve as much as each other"), "{answer}");
    assert!(answer.contains("; computing is the same as third, too"), "{answer}");
    let chosen = texts(&page, "#choice td").join("; ");
    assert!(chosen.contains("; computing is the same within 5 % as third, too"), "{chosen}");
    let beneath = texts(&page, "#figures .notes li").join("; ");
    assert!(beneath.contains("the same as a pair, whatever their ranks: computing and third"), "{beneath}");

    let same = analysis.comparisons.iter_mut().filter(|pair| pair.verdict == model::ComparisonVerdict::Same);
    same.for_each(|pair| pair.verdict = model::ComparisonVerdict::Inconclusive);
    let page = read(&html(&Judged::Run(remarked(analysis).into())));
    let answer = texts(&page, ".answer").pop().unwrap();
    assert!(
        answer.contains("plain and computing serve the most, and are too close to call among themselves"),
        "{answer}"
    );
    assert!(answer.contains("; computing is too close to call with third, too"), "{answer}");
    let beneath = texts(&page, "#figures .notes li").join("; ");
    assert!(beneath.contains("too close to call as a pair, whatever their ranks: computing and third"), "{beneath}");
}

#[test]
fn what_differs_beside_the_server_is_the_first_caution() {
    let mut analysis = comparison("comparison");
    analysis.differences = support::causes::every_difference();
    let page = read(&html(&Judged::Comparison(Box::new(analysis))));
    let first = texts(&page, "header .alert.unsure").into_iter().next().unwrap();
    assert!(first.starts_with("Compared although more than the server differs: "), "{first}");
}

#[test]
fn a_lower_bound_is_one_in_tables_of_values_too() {
    let mut analysis = run("in-turn");
    for launch in analysis.cells.iter_mut().flat_map(|cell| &mut cell.launches) {
        launch.latency.exact_below_us = launch.quantile_us(0.99);
    }
    let judged = Judged::Run(Box::new(analysis));
    let drawn = pictures(&judged);
    let latency = drawn.iter().find(|picture| picture.file == "latency-1.svg").unwrap();
    assert!(latency.csv().1.contains("at least") && latency.svg.contains("data-at-least=\"p99"), "{}", latency.csv().1);
    let page = read(&html(&judged));
    let caption = |table: &ElementRef| text(table.select(&Selector::parse("caption").unwrap()).next().unwrap());
    let values = all(&page, "details.values table");
    let values =
        values.iter().find(|table| caption(table).starts_with("Values of: Latency by percentile, service")).unwrap();
    let cells: Vec<String> = values.select(&Selector::parse("td").unwrap()).map(text).collect();
    assert!(cells.iter().any(|cell| cell.starts_with("≥ ")), "{cells:?}");
}

#[test]
fn a_p99_of_a_second_that_is_a_bound_is_hollow_and_its_file_says_from_where() {
    let page = changed("few-at-once", |timeline| {
        for step in &mut timeline.steps {
            (step.p99_us, step.exact_below_us, step.latencies) = (Some(2_000.0), Some(1_000.0), Vec::new());
        }
    });
    let picture = text(all(&page, "#time figure")[0]);
    assert!(picture.contains("≥ 2.00 ms") && picture.contains("at least: unfinished requests"), "{picture}");
    assert!(!picture.contains("each reply counted"), "there is no map");
}

#[test]
fn names_from_right_to_left_do_not_change_places_with_figures() {
    let mut analysis = run("side-by-side");
    let name = "אבג";
    let was = analysis.cells[0].levels.target().to_owned();
    for cell in analysis.cells.iter_mut().filter(|cell| cell.levels.target() == was) {
        cell.levels = cell.levels.clone().with(model::Factor::Target, model::Level::Text(name.to_owned()));
    }
    let page = read(&html(&Judged::Run(Box::new(analysis))));
    // What is to be copied is as it was written.
    let copied: BTreeSet<String> = texts(&page, "pre").into_iter().collect();
    let shown = page.root_element().text().filter(|part| part.contains(name));
    let shown = shown.filter(|part| !copied.contains(&part.split_whitespace().collect::<Vec<_>>().join(" ")));
    let mut seen = 0;
    for part in shown {
        let apart = part.matches(&format!("\u{2068}{name}\u{2069}")).count();
        assert_eq!(apart, part.matches(name).count(), "{part}");
        seen += apart;
    }
    assert!(seen > 10, "{seen}");
}
