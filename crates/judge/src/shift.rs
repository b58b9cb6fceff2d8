//! The latencies of two cells percentile by percentile, for whoever wants to see where they differ.

use std::collections::BTreeMap;

use model::{
    Arm, CellLaunch, ComparisonVerdict, LaunchUse, Measured, Metric, QuantileShift, REQUIRED_SAMPLES, Shift, Unit,
    Withheld, bucket_width_us,
};

use crate::cell_launches;
use crate::guard::End;
use crate::pair::Pair;
use crate::records::Records;
use crate::statistics::{mean, paired, unpaired};

/// The latencies by which servers are judged.
const JUDGED: [Metric; 4] = [Metric::P50, Metric::P90, Metric::P99, Metric::P999];

/// Wherever two targets of a run share their conditions and no third does: the one that its plan names later against the other.
pub(crate) fn of_two(records: &Records) -> Vec<Shift> {
    let of = |cells: Vec<usize>| {
        let [old, new] = cells[..] else { return None };
        let name = |cell: usize| records.plan.cells[cell].levels.target();
        let pair = Pair {
            old: (records, old),
            new: (records, new),
            paired: true,
            alike: false,
            margin: records.plan.margin,
            drift: 0.0,
            among_targets: false,
        };
        of(&pair, (name(new), name(old)))
    };
    records.plan.by_conditions().into_iter().filter_map(of).collect()
}

/// The new one of a pair against the old one; none without a quantile that all launches of both have.
pub(crate) fn of(pair: &Pair, (a, b): (&str, &str)) -> Option<Shift> {
    let launches = [Arm::Old, Arm::New].map(|arm| {
        let (records, cell) = pair.side(arm);
        let mut launches = cell_launches::of(records, cell);
        launches.retain(|launch| launch.used == LaunchUse::Counts && !launch.twin);
        launches
    });
    let rows = JUDGED.map(|metric| {
        let p = pair.change(metric, pair.confidence()).map(|found| found.p);
        (metric, pair.row(metric, p))
    });
    let withheld = rows.each_ref().map(|(metric, row)| (*metric, row.withheld));
    let is_settled = |q: f64| {
        rows.iter().any(|(metric, row)| metric.quantile() == Some(q) && row.verdict != ComparisonVerdict::Inconclusive)
    };
    let quantile = |(q, _): &(f64, u64)| {
        let [old, new] = launches.each_ref().map(|all| points(all, *q));
        let (old, new) = (old?, new?);
        Some(QuantileShift {
            q: *q,
            ratio: ratio(pair, &old, &new)?,
            beyond: launches.iter().flatten().map(|launch| beyond(launch, *q)).min()?,
            settled: is_settled(*q),
            censored: launches.iter().flatten().any(|launch| is_bound(launch, *q)),
            withheld: around(*q, &withheld),
        })
    };
    let quantiles: Vec<QuantileShift> = REQUIRED_SAMPLES.iter().filter_map(quantile).collect();
    let (conditions, a, b) = (pair.place(), a.to_owned(), b.to_owned());
    (!quantiles.is_empty()).then_some(Shift { conditions, a, b, quantiles })
}

/// The logarithm of a quantile by block; none where a launch has none, for those of some alone would be of the ones with more requests.
fn points(launches: &[CellLaunch], q: f64) -> Option<BTreeMap<u32, f64>> {
    let point = |launch: &CellLaunch| Some((launch.block, launch.quantile_us(q).filter(|us| *us > 0.0)?.ln()));
    launches.iter().map(point).collect()
}

/// The quantiles at an end of their buckets.
fn at(points: &BTreeMap<u32, f64>, end: End) -> BTreeMap<u32, f64> {
    let moved = |us: f64| match end {
        End::Least => us - bucket_width_us(us),
        End::Most => us,
    };
    points.iter().map(|(block, log)| (*block, moved(log.exp()).ln())).collect()
}

fn ratio(pair: &Pair, old: &BTreeMap<u32, f64>, new: &BTreeMap<u32, f64>) -> Option<Measured> {
    let confidence = pair.confidence();
    let of = |new: &BTreeMap<u32, f64>, old: &BTreeMap<u32, f64>| {
        if pair.paired {
            let differences: Vec<f64> = new.iter().filter_map(|(block, value)| Some(value - old.get(block)?)).collect();
            return (mean(&differences), paired(&differences, confidence));
        }
        let [new, old] = [new, old].map(|points| points.values().copied().collect::<Vec<f64>>());
        (mean(&new).zip(mean(&old)).map(|(new, old)| new - old), unpaired(&new, &old, confidence))
    };
    let (seen, found) = of(new, old);
    let [(_, least), (_, most)] = [End::Least, End::Most].map(|end| of(&at(new, end), &at(old, end.other())));
    let interval = found.map(|found| found.spanning(least, most).interval.map(f64::exp));
    Some(Measured {
        estimate: Some(seen?.exp()),
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
        unit: Unit::Ratio,
    })
}

fn beyond(launch: &CellLaunch, q: f64) -> u64 {
    // 1 − 0.9 is a little less than a tenth.
    (launch.latency.count as f64 * (1.0 - q) + 1e-6) as u64
}

fn is_bound(launch: &CellLaunch, q: f64) -> bool {
    launch.quantile_us(q).is_some_and(|us| launch.latency.is_lower_bound(us))
}

/// What is held back of the nearest quantiles that are judged: between two of them each.
fn around(q: f64, judged: &[(Metric, Option<Withheld>)]) -> Option<Withheld> {
    let at = |metric: Metric| metric.quantile().unwrap_or(f64::NAN);
    let below = judged.iter().rev().find(|(metric, _)| at(*metric) <= q);
    let above = judged.iter().find(|(metric, _)| at(*metric) >= q);
    below.and_then(|(_, withheld)| *withheld).or_else(|| above.and_then(|(_, withheld)| *withheld))
}

#[cfg(test)]
mod tests {
    use model::{Environment, Metric, TrialRecord};

    use super::*;
    use crate::compare::{Run, Terms, compare_runs, compare_targets};
    use crate::testing::Session;

    fn session() -> Session {
        Session::new().cell("old", 100.0).cell("new", 140.0).noise(0.02).blocks(7)
    }

    fn at(shift: &Shift, metric: Metric) -> &QuantileShift {
        shift.quantiles.iter().find(|known| Some(known.q) == metric.quantile()).unwrap()
    }

    #[test]
    fn a_quantile_that_has_a_row_has_its_ratio() {
        let (plan, trials) = (session().plan(), session().records());
        let environment = Environment::default();
        let run = |trials| Run { plan: &plan, environment: &environment, trials };
        let others = session().seed(9).records();
        let in_turn = compare_targets(run(&trials), "old", "new", &[]);
        let apart =
            compare_runs(run(&trials), run(&others), ("a".to_owned(), "b".to_owned()), Terms::default()).unwrap();
        for analysis in [in_turn, apart] {
            for metric in [Metric::P50, Metric::P99] {
                let rows = analysis.rows.iter().filter(|row| row.metric == metric);
                for row in rows {
                    let shift = analysis.shifts.iter().find(|shift| shift.conditions == row.conditions).unwrap();
                    let (shown, rows) = (&at(shift, metric).ratio, &row.ratio);
                    assert!(shown.low.is_some());
                    for (shown, rows) in
                        [(shown.estimate, rows.estimate), (shown.low, rows.low), (shown.high, rows.high)]
                    {
                        assert!((shown.unwrap() / rows.unwrap() - 1.0).abs() < 1e-9, "{metric}: {shown:?} {rows:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn of_a_run_two_targets_are_held_against_each_other_and_not_three() {
        let two = session().analyse();
        assert_eq!(two.shifts.len(), 1);
        assert_eq!((two.shifts[0].a.as_str(), two.shifts[0].b.as_str()), ("new", "old"));
        assert!(session().cell("third", 10.0).analyse().shifts.is_empty());
    }

    /// A comparison with something done to every trial of the new server.
    fn altered(change: impl Fn(&mut TrialRecord)) -> Shift {
        let (plan, mut trials) = (session().plan(), session().records());
        trials.iter_mut().filter(|trial| plan.cells[trial.cell].levels.target() == "new").for_each(change);
        let run = Run { plan: &plan, environment: &Environment::default(), trials: &trials };
        compare_targets(run, "old", "new", &[]).shifts.remove(0)
    }

    #[test]
    fn what_proves_nothing_is_said_quantile_by_quantile() {
        let plain = altered(|_| {});
        assert!(plain.quantiles.iter().all(|known| known.withheld.is_none() && !known.censored));
        assert!(at(&plain, Metric::P99).settled);
        let cut = altered(|trial| {
            let measured = trial.measurement.as_mut().unwrap();
            let felt = measured.latency_us.response.as_mut().or(measured.latency_us.service.as_mut()).unwrap();
            felt.exact_below = felt.p99;
        });
        assert!(at(&cut, Metric::P99).censored && !at(&cut, Metric::P50).censored);
        let wrong = altered(|trial| {
            if trial.block == 3 {
                crate::testing::wrong_replies(trial, 1);
            }
        });
        assert!(wrong.quantiles.iter().all(|known| known.withheld == Some(Withheld::Wrong)), "{wrong:?}");
        assert!(wrong.quantiles.iter().all(|known| !known.settled));
    }

    #[test]
    fn a_launch_without_a_quantile_takes_it_from_all() {
        let known = |shift: &Shift| shift.quantiles.iter().map(|known| known.q).collect::<Vec<f64>>();
        let whole = known(&altered(|_| {}));
        assert!(whole.contains(&0.99));
        let one = known(&altered(|trial| {
            let measured = trial.measurement.as_mut().unwrap();
            let felt = measured.latency_us.response.as_mut().or(measured.latency_us.service.as_mut()).unwrap();
            if trial.block == 2 {
                felt.p95 = None;
            }
        }));
        assert_eq!(one, whole.into_iter().filter(|q| *q != 0.95).collect::<Vec<f64>>());
    }

    #[test]
    fn between_two_that_are_judged_a_quantile_has_what_is_held_back_of_either() {
        let judged = [(Metric::P50, None), (Metric::P90, None), (Metric::P99, Some(Withheld::FewCollections))];
        let of = |q| around(q, &judged);
        assert_eq!([0.5, 0.75, 0.9].map(of), [None; 3]);
        assert_eq!([0.95, 0.99, 0.999].map(of), [Some(Withheld::FewCollections); 3]);
    }
}
