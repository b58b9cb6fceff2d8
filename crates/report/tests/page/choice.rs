//! Which server serves a need best.

use super::*;

/// The rows of a table of the page.
fn rows_of(page: &Html, selector: &str) -> Vec<Vec<String>> {
    let cells = Selector::parse("th, td").unwrap();
    all(page, selector).into_iter().map(|row| row.select(&cells).map(text).collect()).collect()
}

#[test]
fn who_serves_a_need_best_is_who_has_the_first_rank_and_nobody_where_that_is_open() {
    let mut analysis = run("in-turn");
    let named = |group: &model::RankGroup, rank: u32| {
        let mut first: Vec<String> =
            group.ranks.iter().filter(|one| one.rank == Some(rank)).map(|one| one.target.clone()).collect();
        first.sort();
        first
    };
    for group in &mut analysis.groups {
        let open = group.metric == model::Metric::PeakMemory;
        let tied = group.metric == model::Metric::CpuPerRequest;
        for (at, rank) in group.ranks.iter_mut().enumerate() {
            rank.rank = (!open).then_some(if tied { 1 } else { at as u32 + 1 });
            rank.tied = tied;
        }
    }
    let page = html(&Judged::Run(remarked(analysis.clone()).into()));
    let shown = rows_of(&read(&page), "#choice tbody tr");
    let of = |need: &str| shown.iter().filter(|row| row[0].contains(need)).cloned().collect::<Vec<_>>();
    let groups = |metric| analysis.groups.iter().filter(move |group| group.metric == metric);
    for group in groups(model::Metric::Throughput) {
        let first = named(group, 1);
        assert!(
            of("most requests a second").iter().any(|row| row[1].starts_with(&format!("{}: ", first[0]))),
            "{shown:?}"
        );
    }
    let memory = of("least memory");
    assert_eq!(memory.len(), groups(model::Metric::PeakMemory).count());
    let are_open = memory.iter().all(|row| row[1].starts_with("undecided between ") && row[1].contains(" and plain ("));
    assert!(are_open, "those that may be first are named with their figures: {memory:?}");
    let tied = of("least CPU a request").swap_remove(0).swap_remove(1);
    let parts: Vec<&str> = tied.split([' ', '(', ')']).filter(|part| !part.is_empty()).collect();
    let [a, cpu_of_a, "µs", "and", b, cpu_of_b, "µs", "are", "too", "close", "to", "call"] = parts[..] else {
        panic!("{parts:?}")
    };
    assert_eq!([a, b], ["computing", "plain"], "no order among ties");
    assert!([cpu_of_a, cpu_of_b].iter().all(|figure| figure.parse().is_ok_and(|cpu: f64| cpu > 0.0)), "{tied}");
    let mut same = analysis.clone();
    same.comparisons.iter_mut().for_each(|of| of.verdict = model::ComparisonVerdict::Same);
    let shown_same = html(&Judged::Run(remarked(same).into()));
    let of_cpu =
        rows_of(&read(&shown_same), "#choice tbody tr").into_iter().find(|row| row[0] == "least CPU a request");
    assert!(of_cpu.is_some_and(|row| row[1].contains(" µs) are the same within ")), "that was shown: {shown_same}");
    let section = markdown(&Judged::Run(remarked(analysis.clone()).into()));
    assert!(section.contains("### Which one here?") && section.contains(&tied));
    analysis.preliminary = true;
    assert!(!html(&Judged::Run(remarked(analysis).into())).contains("Which one here"), "there are no ranks yet");
}

#[test]
fn who_is_too_close_to_one_whose_place_is_open_may_be_best_and_who_is_worse_may_not() {
    use model::ComparisonVerdict::{Faster, Inconclusive};
    let mut analysis = run("unsteady");
    let group = analysis.groups.iter_mut().find(|group| group.metric == model::Metric::TimeToReady).unwrap();
    let [close, open, worse] = [0, 1, 2].map(|at: usize| group.ranks[at].target.clone());
    for rank in &mut group.ranks {
        rank.rank = None;
        rank.open = if rank.target == open {
            vec![worse.clone()]
        } else if rank.target == worse {
            vec![open.clone()]
        } else {
            Vec::new()
        };
    }
    group.ranks.truncate(3);
    let conditions = group.conditions.clone();
    let of_group = |of: &&mut model::Comparison| of.metric == model::Metric::TimeToReady && of.conditions == conditions;
    for of in analysis.comparisons.iter_mut().filter(of_group) {
        let pair = [&of.a, &of.b];
        of.verdict = if pair.contains(&&close) && pair.contains(&&worse) { Faster } else { Inconclusive };
        if of.verdict == Faster {
            (of.a, of.b) = (close.clone(), worse.clone());
        }
    }
    let page = read(&report::html(&Judged::Run(remarked(analysis).into()), &[]));
    let start = rows_of(&page, "#choice tbody tr").into_iter().find(|row| row[0] == "quickest start").unwrap();
    let mut both = [close, open];
    both.sort();
    let named: Vec<&str> = start[1].split([' ', '(', ')']).filter(|part| !part.is_empty()).collect();
    let ["undecided", "between", first, _, "ms", "and", second, _, "ms"] = named[..] else { panic!("{named:?}") };
    assert_eq!([first, second], [both[0].as_str(), both[1].as_str()]);
}

#[test]
fn whose_lower_quantile_is_above_another_p99_has_no_lower_one() {
    use model::{ComparisonVerdict, Measured, Metric};
    let mut analysis = run("in-turn");
    let group = analysis.groups.iter_mut().find(|group| group.metric == Metric::P99).unwrap();
    group.ranks.iter_mut().for_each(|rank| (rank.rank, rank.open) = (None, Vec::new()));
    let [quick, slow] = [0, 1].map(|at: usize| group.ranks[at].target.clone());
    let conditions = group.conditions.clone();
    let of_group = |of: &&mut model::Comparison| of.metric == Metric::P99 && of.conditions == conditions;
    analysis.comparisons.iter_mut().filter(of_group).for_each(|of| of.verdict = ComparisonVerdict::Inconclusive);
    for cell in analysis.cells.iter_mut().filter(|cell| cell.levels.conditions() == conditions) {
        let us = |value: f64| Measured {
            estimate: Some(value),
            low: Some(0.9 * value),
            high: Some(1.1 * value),
            ..cell.latency_us.p99.clone()
        };
        let (known, higher) = (us(10_000.0), us(20_000.0));
        cell.latency_us.censored = cell.levels.target() == slow;
        if cell.latency_us.censored {
            let none = Measured { estimate: None, low: None, high: None, ..known };
            (cell.latency_us.p90, cell.latency_us.p99) = (higher, none);
        } else {
            cell.latency_us.p99 = known;
        }
    }
    let shown = |analysis: &Analysis| {
        let page = html(&Judged::Run(remarked(analysis.clone()).into()));
        let rows = rows_of(&read(&page), "#choice tbody tr").into_iter();
        rows.filter(|row| row[0].starts_with("lowest p99")).map(|mut row| row.swap_remove(1)).collect::<Vec<_>>()
    };
    let (first, why) = (format!("{quick}: 10.0 ms"), format!("; p90 of {slow} is higher already"));
    let all = shown(&analysis);
    assert!(all.iter().any(|said| said.starts_with(&first) && said.ends_with(&why)), "{all:?}");
    // One that may be lower is not out.
    for cell in &mut analysis.cells {
        cell.latency_us.p90.low = cell.latency_us.p90.low.map(|low_us| low_us.min(10_500.0));
    }
    assert!(shown(&analysis).iter().all(|said| !said.contains("higher already")), "{:?}", shown(&analysis));
}

#[test]
fn who_serves_next_to_nothing_is_named_together_with_the_best_of_the_others() {
    let mut analysis = run("in-turn");
    let is_closed = |cell: &&model::CellAnalysis| cell.latency_us.population == model::Population::Service;
    let closed = analysis.cells.iter().find(is_closed).unwrap().levels.conditions();
    let is_it = |group: &&mut model::RankGroup| group.metric == model::Metric::PeakMemory && group.conditions == closed;
    let group = analysis.groups.iter_mut().find(is_it).unwrap();
    for (at, rank) in group.ranks.iter_mut().enumerate() {
        (rank.rank, rank.tied) = (Some(at as u32 + 1), false);
    }
    let (first, second) = (group.ranks[0].target.clone(), group.ranks[1].target.clone());
    let conditions = group.conditions.clone();
    let chosen = |analysis: &Analysis| {
        let page = read(&html(&Judged::Run(remarked(analysis.clone()).into())));
        let rows = rows_of(&page, "#choice tbody tr").into_iter();
        rows.filter(|row| row[0] == "least memory" && row[1].starts_with(&format!("{first}: "))).collect::<Vec<_>>()
    };
    let of_others = "; of those that serve at least half as much as the quickest: ";
    let rates = |analysis: &mut Analysis, rate: &dyn Fn(&str) -> f64| {
        for cell in analysis.cells.iter_mut().filter(|cell| cell.levels.conditions() == conditions) {
            cell.throughput.estimate = Some(rate(cell.levels.target()));
        }
    };
    rates(&mut analysis, &|target| if target == first { 60.0 } else { 100.0 });
    let said = chosen(&analysis);
    assert!(said.iter().any(|row| row[1].contains(" 60.0 requests/s") && !row[1].contains(of_others)), "{said:?}");
    rates(&mut analysis, &|target| if target == first { 1.0 } else { 100.0 });
    let said = chosen(&analysis);
    assert!(said.iter().any(|row| row[1].contains(&format!("{of_others}{second} ("))), "{said:?}");
    // Where the second has no rank, it may be better than who comes behind it.
    let mut open = analysis.clone();
    let of_group =
        |group: &&mut model::RankGroup| group.metric == model::Metric::PeakMemory && group.conditions == conditions;
    let group = open.groups.iter_mut().find(of_group).unwrap();
    group.ranks.push(model::Rank { target: "behind".to_owned(), rank: Some(3), ..group.ranks[1].clone() });
    let of_second =
        |cell: &&model::CellAnalysis| cell.levels.conditions() == conditions && cell.levels.target() == second;
    let mut behind = open.cells.iter().find(of_second).unwrap().clone();
    behind.levels = behind.levels.with(model::Factor::Target, model::Level::Text("behind".to_owned()));
    open.cells.push(behind);
    assert!(chosen(&open).iter().any(|row| row[1].contains(&format!("{of_others}{second} ("))), "{:?}", chosen(&open));
    open.groups.iter_mut().find(of_group).unwrap().ranks[1].rank = None;
    assert!(chosen(&open).iter().all(|row| !row[1].contains(of_others)), "{:?}", chosen(&open));
    // One alone under its conditions leaves nothing to choose, and of fewer than all it is said which they are.
    analysis.cells.retain(|cell| {
        cell.levels.conditions() != conditions || [&first, &second].contains(&&cell.levels.target().to_owned())
    });
    analysis.groups.iter_mut().filter(|group| group.conditions == conditions).for_each(|group| group.ranks.truncate(2));
    assert!(chosen(&analysis).iter().any(|row| row.last().unwrap().ends_with(" only)")), "{:?}", chosen(&analysis));
    analysis.cells.retain(|cell| cell.levels.conditions() != conditions || cell.levels.target() == first);
    assert!(!chosen(&analysis).iter().any(|row| row[1].contains(" 1.00 requests/s")));
}
