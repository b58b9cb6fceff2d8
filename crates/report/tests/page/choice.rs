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
    let page = html(&Judged::Run(analysis.clone().into()));
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
    assert_eq!((memory.len(), memory[0][1].as_str()), (1, "undecided"), "the same under all conditions stands once");
    assert_eq!(memory[0][2].matches("; ").count() + 1, groups(model::Metric::PeakMemory).count());
    let tied = of("least CPU a request").swap_remove(0).swap_remove(1);
    let parts: Vec<&str> = tied.split([' ', '(', ')']).filter(|part| !part.is_empty()).collect();
    let [a, cpu_of_a, "µs", "and", b, cpu_of_b, "µs", "are", "tied"] = parts[..] else { panic!("{parts:?}") };
    assert_eq!([a, b], ["computing", "plain"], "no order among ties");
    assert!([cpu_of_a, cpu_of_b].iter().all(|figure| figure.parse().is_ok_and(|cpu: f64| cpu > 0.0)), "{tied}");
    let section = markdown(&Judged::Run(analysis.clone().into()));
    assert!(section.contains("### Which one here?") && section.contains(&tied));
    analysis.preliminary = true;
    assert!(!html(&Judged::Run(analysis.into())).contains("Which one here"), "there are no ranks yet");
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
    let page = read(&report::html(&Judged::Run(analysis.into()), &[]));
    let start = rows_of(&page, "#choice tbody tr").into_iter().find(|row| row[0] == "quickest start").unwrap();
    let mut both = [close, open];
    both.sort();
    assert_eq!(start[1], format!("undecided between {} and {}", both[0], both[1]));
}
