use model::*;

use crate::testing::{DIED, Session, cut, die, fail_at_launch, wrong_replies};

fn three() -> Session {
    let session = Session::new().cell("a", 100.0).cell("b", 120.0).cell("c", 100.2).noise(0.01).blocks(6);
    session.claim("throughput(a) / throughput(b) < 0.9").claim("p99(b) / p99(a) < 0.9")
}

fn json(analysis: &Analysis) -> String {
    serde_json::to_string(analysis).unwrap()
}

fn throughput_verdicts(analysis: &Analysis) -> Vec<ComparisonVerdict> {
    analysis.comparisons.iter().filter(|c| c.metric == Metric::Throughput).map(|c| c.verdict).collect()
}

#[test]
fn a_difference_is_found_and_a_tie_stays_a_tie() {
    use ComparisonVerdict::{Faster, Same, Slower};
    let analysis = three().analyse();
    assert_eq!(throughput_verdicts(&analysis), [Slower, Same, Faster]);
    assert_eq!((analysis.blocks, analysis.preliminary), (6, false));
    assert_eq!(analysis.claims.iter().map(|c| c.verdict).collect::<Vec<_>>(), [ClaimVerdict::Supported; 2]);
    assert_eq!(analysis.trials, TrialCount { total: 18, void: 0, ..TrialCount::default() });
    assert_eq!(analysis.elapsed_s, None);
}

/// The cold mark of a cell whose launches needed so many percent of their second halves' service time in their first; 0 of
/// one without a reply in that.
fn cold(percents: [u64; 6]) -> Option<MarkNote> {
    let session = Session::new().cell("a", 10_000.0).noise(0.0).blocks(6).window(9);
    let mut records = session.records();
    for (trial, percent) in records.iter_mut().zip(percents) {
        let first = &mut trial.measurement.as_mut().unwrap().in_window.halves[0];
        first.service_ns = first.service_ns / 100 * percent;
        first.completed *= u64::from(percent > 0);
    }
    let mut cell = crate::analyse(&session.plan(), &Environment::default(), &records).cells.remove(0);
    let place = cell.marks.iter().position(|note| note.mark() == Mark::Cold)?;
    Some(cell.marks.remove(place))
}

#[test]
fn a_server_that_is_still_getting_faster_is_cold() {
    let note = cold([118, 120, 122, 125, 120, 115]).unwrap();
    let MarkCause::Cold(Coldness::FasterBy { share, low, high }) = note.cause else { panic!("{note:?}") };
    assert_eq!([share, low, high].map(|share| (share * 100.0).round()), [20.0, 16.0, 24.0]);
    assert_eq!(cold([104, 105, 105, 104, 105, 105]), None, "no more than matters");
    assert_eq!(cold([118, 120, 122, 125, 90, 80]), None, "not in all");
    assert_eq!(cold([80, 81, 79, 80, 81, 79]), None, "slower");
    assert_eq!(cold([0; 6]), None, "a record without halves");
    assert!(cold([118, 120, 0, 125, 120, 115]).is_some(), "one of them has no reply in a half");
    assert_eq!(cold([118, 120, 0, 0, 0, 0]), None, "most of them have none");
}

#[test]
fn a_server_that_ended_under_load_is_bad_however_many_others_did_not() {
    let session = Session::new().cell("a", 100.0).cell("b", 120.0).twin();
    let mut records = session.records();
    let dead = records.iter_mut().filter(|trial| trial.cell == 0 && trial.block == 3);
    dead.for_each(die);
    let analysis = session.analyse_these(&records);
    let died: Vec<_> = analysis.cells.iter().map(|cell| (cell.failing.died, cell.died.clone())).collect();
    assert_eq!(died, [(2, Some(Died { of: 12, why: DIED.into(), printed: "out of memory".to_owned() })), (0, None)]);
    assert_eq!(analysis.cells.iter().map(|cell| cell.failing.bad).collect::<Vec<_>>(), [true, false]);
    let withheld = analysis.comparisons.iter().filter_map(|pair| pair.withheld).collect::<Vec<_>>();
    assert_eq!(withheld, [], "its figures are of the other launches");
    assert_eq!(analysis.void_trials.iter().map(|void| void.twin).collect::<Vec<_>>(), [false, true]);
    assert!(crate::answer_is_bad(&Judged::Run(Box::new(analysis))));
}

#[test]
fn a_cell_gives_its_figures_over_launches() {
    let analysis = three().analyse();
    let cell = &analysis.cells[1];
    let throughput = &cell.throughput;
    assert!((throughput.estimate.unwrap() - 120.0).abs() < 2.0 && throughput.relative_half_width().unwrap() < 0.02);
    assert_eq!((cell.trials, cell.void, cell.errors), (6, 0, 0.0));
    assert_eq!((cell.latency_us.population.id(), cell.latency_us.censored), ("service", false));
    assert!((cell.target_busy.unwrap() - 0.03).abs() < 1e-12 && (cell.generator_busy.unwrap() - 0.43).abs() < 1e-12);
    assert_eq!(cell.of_ceiling, None);
    let held: Vec<Option<u32>> = cell.invariants.iter().map(|check| check.held_in).collect();
    assert_eq!(held, [Some(6); 4], "no ceiling without a delay");
    let delayed = Session::new().delayed("a", 100, 10, 9_200.0).blocks(1).analyse();
    assert!((delayed.cells[0].of_ceiling.unwrap() - 0.92).abs() < 0.05);
    assert_eq!((delayed.cells[0].throughput.low, delayed.preliminary), (None, true));
}

#[test]
fn a_void_trial_is_left_out_and_named() {
    let session = three().blocks(7);
    let mut records = session.records();
    wrong_replies(&mut records[3 * 2 + 1], 12);
    fail_at_launch(&mut records[0]);
    let analysis = session.analyse_these(&records);
    let named: Vec<(&str, &str)> = analysis.void_trials.iter().map(|v| (v.id.as_str(), v.reason.code().id())).collect();
    assert_eq!(named, [("b01-c01", "launch"), ("b03-c02", "correctness")]);
    assert_eq!(analysis.trials, TrialCount { total: 21, void: 2, not_up: 1, not_tried: 0 });
    assert_eq!((analysis.cells[1].trials, analysis.cells[1].void, analysis.blocks), (6, 1, 7));
    let broken = analysis.cells[1].invariants.iter().find(|check| !check.holds).unwrap();
    assert_eq!(broken.trial.as_deref(), Some("b03-c02"));
    assert!(matches!(broken.breach, Some(Breach::Content { bad_body: 12, .. })), "{broken:?}");
    assert_eq!(analysis.cells[1].errors, 0.0, "of the valid launches");
}

#[test]
fn a_block_in_which_nothing_came_up_is_no_evidence_and_the_dead_take_none_from_the_others() {
    let session = three();
    let mut records = session.records();
    records.iter_mut().filter(|trial| trial.block > 4 || trial.cell == 2).for_each(fail_at_launch);
    let analysis = session.analyse_these(&records);
    assert_eq!((analysis.blocks, analysis.preliminary), (4, true));
    assert_eq!(analysis.trials, TrialCount { total: 18, void: 10, not_up: 10, not_tried: 0 });
    assert_eq!(analysis.trials.up(), 8);
    let mut records = session.records();
    records.iter_mut().filter(|trial| trial.cell == 2).for_each(fail_at_launch);
    assert_eq!(session.analyse_these(&records).blocks, 6);
}

#[test]
fn a_cell_whose_replies_are_all_wrong_shows_its_errors() {
    let session = three();
    let mut records = session.records();
    for trial in records.iter_mut().filter(|trial| trial.cell == 0) {
        let all = trial.measurement.as_ref().unwrap().accounting.ok;
        wrong_replies(trial, all);
    }
    let analysis = session.analyse_these(&records);
    assert_eq!((analysis.cells[0].trials, analysis.cells[0].errors), (0, 1.0));
    let group = analysis.groups.iter().find(|group| group.metric == Metric::Throughput).unwrap();
    assert_eq!(
        group.ranks.last().unwrap(),
        &Rank { rank: None, tied: false, target: "a".to_owned(), unranked: Some(Unranked::Failed), open: Vec::new() }
    );
}

#[test]
fn of_two_records_of_one_launch_the_one_that_was_made_later_counts_whatever_the_clock_said() {
    let session = Session::new().cell("a", 100.0).noise(0.0).blocks(1);
    let mut records = session.records();
    let mut later = Session::new().cell("a", 200.0).noise(0.0).blocks(1).records().remove(0);
    records[0].started_at = "2026-11-20T10:00:39Z".parse().unwrap();
    records.push(later.clone());
    for began in ["2026-11-20T10:00:39.5Z", "2026-11-20T09:00:00Z", "2026-11-20T11:00:00Z"] {
        later.started_at = began.parse().unwrap();
        records[1] = later.clone();
        let throughput = session.analyse_these(&records).cells.remove(0).throughput;
        assert!((throughput.estimate.unwrap() - 200.0).abs() < 1e-6, "{began}: {throughput:?}");
    }
}

#[test]
fn a_mark_is_a_cells_when_half_of_its_launches_have_it_and_noise_when_one_has() {
    let session = three();
    let marks = |launches: usize, change: fn(&mut TrialRecord)| {
        let mut records = session.records();
        records.iter_mut().filter(|trial| trial.cell == 0).take(launches).for_each(change);
        session.analyse_these(&records).cells.remove(0).marks
    };
    let unserved = |trial: &mut TrialRecord| trial.measurement.as_mut().unwrap().connections.never_served = 1;
    assert_eq!(marks(2, unserved), []);
    assert_eq!(marks(3, unserved)[0].mark(), Mark::Unserved);
    let stolen = |trial: &mut TrialRecord| trial.observation.as_mut().unwrap().host.steal_share = 0.03;
    let taken = MarkCause::Taken { cpus: 1, steal_share: Some(0.03), others_share: None };
    let launches = Some(Launches { with: 1, of: 6, told: "b01-c01".to_owned() });
    assert_eq!(marks(1, stolen), [MarkNote { launches, ..MarkNote::new(taken) }]);
}

#[test]
fn the_figures_of_a_cells_mark_are_those_of_one_launch_that_shows_what_it_is_about() {
    let session = Session::new().cell("a", 10_000.0);
    let mut records = session.records();
    let ids: Vec<String> = records.iter().filter(|trial| trial.cell == 0).map(|trial| trial.id.clone()).collect();
    for (at, trial) in records.iter_mut().filter(|trial| trial.cell == 0).enumerate() {
        let latency = &mut trial.measurement.as_mut().unwrap().latency_us;
        latency.response = latency.service.clone();
        // The first launch shows the mark for its p99.9 only, where all others do for their p90 and p99 as well.
        let late = crate::testing::lateness(1.0, 100_000);
        let us = Some(1e6);
        latency.lateness = Some(match at {
            0 => LatencySummary { p9999: us, ..late },
            _ => LatencySummary { p9999: us, p999: us, p99: us, ..late },
        });
    }
    let note =
        session.analyse_these(&records).cells.remove(0).marks.into_iter().find(|note| note.mark() == Mark::Lateness);
    let note = note.unwrap();
    assert_eq!(note.metrics, [Metric::P90, Metric::P95, Metric::P99, Metric::P999]);
    assert_eq!(note.launches, Some(Launches { with: 6, of: 6, told: ids[1].clone() }));
}

#[test]
fn the_same_records_in_any_order_give_the_same_bytes() {
    let session = three().blocks(8);
    let mut records = session.records();
    let first = json(&session.analyse_these(&records));
    assert_eq!(first, json(&session.analyse_these(&records)));
    records.reverse();
    assert_eq!(first, json(&session.analyse_these(&records)));
    fastrand::Rng::with_seed(1).shuffle(&mut records);
    assert_eq!(first, json(&session.analyse_these(&records)));
}

#[test]
fn a_run_that_was_stopped_or_never_began_is_analysed_as_it_is() {
    let nothing = three().analyse_these(&[]);
    assert_eq!((nothing.blocks, nothing.preliminary, nothing.comparisons.len()), (0, true, 0));
    assert_eq!((nothing.cells[0].throughput.estimate, nothing.groups.len()), (None, 0));
    let session = three();
    let mut records = session.records();
    records.truncate(7);
    let partial = session.analyse_these(&records);
    assert_eq!((partial.blocks, partial.cells[0].trials, partial.cells[1].trials), (2, 3, 2));
    let mut foreign = session.records();
    foreign[0].levels = Cell::default();
    assert_eq!(session.analyse_these(&foreign).trials.total, 17, "a record of no cell is left out");
}

#[test]
fn zero_throughput_is_a_figure() {
    let session = three();
    let mut records = session.records();
    for trial in records.iter_mut().filter(|trial| trial.cell == 0) {
        trial.measurement = Some(Measurement { window_s: 10.0, ..Default::default() });
    }
    let analysis = session.analyse_these(&records);
    assert_eq!(analysis.cells[0].throughput.estimate, Some(0.0));
    assert_eq!(throughput_verdicts(&analysis).len(), 1, "only b and c have a ratio");
}

#[test]
fn profiles_are_pooled_by_their_samples_and_a_launch_without_one_is_told() {
    let session = three();
    let mut records = session.records();
    let of_a = records.iter_mut().filter(|trial| trial.cell == 0);
    let by = [ProfiledBy::Pprof, ProfiledBy::Perf];
    for ((trial, (samples, flat_share)), by) in of_a.zip([(300, 0.5), (100, 0.1)]).zip(by) {
        let function = |name: &str, flat_share| ProfiledFunction { name: name.to_owned(), flat_share };
        trial.observation.as_mut().unwrap().profile = Some(Profile {
            by,
            samples,
            share: Some(flat_share),
            functions: vec![function("futex", flat_share), function("serve", 0.2)],
        });
    }
    let last = records.iter_mut().rfind(|trial| trial.cell == 0).unwrap();
    last.observation.as_mut().unwrap().no_profile = Some(NoPprof::NoAdminPort.into());
    let analysis = session.analyse_these(&records);
    let profile = analysis.cells[0].profile.as_ref().unwrap();
    assert_eq!((profile.launches, profile.samples, &profile.no_profile), (2, 400, &Some(NoPprof::NoAdminPort.into())));
    assert_eq!(profile.by, by, "the launches differ, and that is told");
    let shares: Vec<(&str, f64)> = profile.functions.iter().map(|f| (f.name.as_str(), f.flat_share)).collect();
    assert_eq!(shares, [("futex", 0.4), ("serve", 0.2)]);
    assert_eq!((profile.share.unit, profile.share.estimate.is_some()), (model::Unit::Share, true));
    assert_eq!(analysis.cells[1].profile, None);
}

#[test]
fn a_server_that_fell_behind_its_rate_is_told_by_its_worst_launch() {
    let session = Session::new().cell("a", 1_000.0).noise(0.0).blocks(6);
    let mut draft = session.draft();
    draft.cells[0].load.model = LoadModel::Open { rate_per_s: 1_000.0, arrivals: Arrivals::Constant };
    let plan = draft.resolve().unwrap();
    let behind = |sent: &[u64]| {
        let mut records = session.records();
        for (trial, sent) in records.iter_mut().zip(sent) {
            let books = &mut trial.measurement.as_mut().unwrap().accounting;
            books.not_sent.insert(NotSent::WaitingAtEnd, books.scheduled - sent);
            (books.sent, books.completed, books.ok) = (*sent, *sent, *sent);
        }
        crate::analyse(&plan, &Environment::default(), &records).cells.remove(0).behind
    };
    assert_eq!(behind(&[]), None);
    let launches = Launches { with: 2, of: 6, told: "b02-c01".to_owned() };
    let expected = CellBehind { launches, rate_per_s: 1_000.0, sent_per_s: 446.0 };
    assert_eq!(behind(&[6_520, 4_460]), Some(expected));
}

#[test]
fn the_figures_of_a_mark_are_those_of_the_launch_that_has_most_of_it() {
    let session = Session::new().cell("a", 1_000.0).noise(0.0).blocks(6);
    let mut records = session.records();
    for (trial, others) in records.iter_mut().zip([0.3, 0.9, 0.5]) {
        trial.observation.as_mut().unwrap().host.others_share = others;
    }
    let cell = session.analyse_these(&records).cells.remove(0);
    let note = cell.marks.iter().find(|note| note.mark() == Mark::Noisy).unwrap();
    assert_eq!(note.launches.as_ref().unwrap().told, "b02-c01");
    let said = report::note_words(note);
    assert!(said.contains("90 %") && said.contains("in 3 of 6 launches; figures of the worst, b02-c01"), "{said}");
}

#[test]
fn targets_are_ranked_by_throughput_and_at_a_given_rate_by_their_p99_unless_that_is_the_generators() {
    let leading = |change: &dyn Fn(&mut CellAnalysis)| {
        let mut analysis = three().analyse();
        analysis.cells.iter_mut().for_each(change);
        crate::comparisons::choose_leaders(&mut analysis.groups, &analysis.cells);
        let leading = analysis.groups.into_iter().filter(|group| group.leads);
        leading.map(|group| group.metric).collect::<Vec<_>>()
    };
    let open = |cell: &mut CellAnalysis| cell.latency_us.population = Population::Response;
    let late = |cell: &mut CellAnalysis| cell.marks.push(MarkNote::new(MarkCause::Late(Vec::new())));
    let is_one = |group: &RankGroup| group.leads == (group.metric == Metric::Throughput);
    assert!(three().analyse().groups.iter().all(is_one));
    assert_eq!(leading(&late), [Metric::Throughput]);
    assert_eq!(leading(&open), [Metric::P99]);
    assert_eq!(
        leading(&|cell| {
            open(cell);
            late(cell);
        }),
        []
    );
}

#[test]
fn the_window_and_the_warm_up_of_launches_in_slices_are_those_that_they_had() {
    let session = Session::new().cell("a", 1_000.0).cell("b", 1_000.0).warm_within(20).blocks(2);
    let mut draft = session.draft();
    draft.rotation = Some(Rotation { slice_ns: NS_PER_S / 4, lead_in_ns: 20_000_000, rounds: None });
    draft.cells.iter_mut().for_each(|cell| cell.load.extent = Extent::Window(600_000_000));
    let plan = draft.resolve().unwrap();
    let lasted = |records: &[TrialRecord]| {
        let cells = crate::analyse(&plan, &Environment::default(), records).cells;
        cells.iter().map(|cell| (cell.warm_up_s, cell.window_s)).collect::<Vec<_>>()
    };
    assert_eq!(lasted(&[]), [(20.0, 1.0), (1.0, 1.0)], "in pairs of slices");
    let mut records = session.records();
    records.iter_mut().for_each(|trial| cut(trial, 4));
    assert_eq!(lasted(&records), [(20.0, 10.0), (1.0, 10.0)]);
    records[0].measurement.as_mut().unwrap().connections.closed_idle = 1;
    assert_eq!(lasted(&records), [(1.0, 0.6), (1.0, 0.6)], "each alone, as planned");
}
