//! Memory of processes, of which a page that n share counts an nth in each: in part for every target that lives beside. And in rotation, what
//! asking a runtime takes in it.

use model::{MemoryCount, Metric};

use super::Side;
use crate::launch::Launch;
use crate::records::Records;

/// Whether memory that processes share counts in part in a launch: in rotation with other targets; and alone, with every process of the machine
/// that has the same pages (libraries, an interpreter), where it stands beside launches of one process, whose pages count whole.
pub(super) fn counts_in_part(records: &Records, side: Side, launch: &Launch, metric: Metric) -> bool {
    let is_proportional = matches!(metric, Metric::PssAtRest | Metric::PssAfter);
    let count = |launch: &Launch| launch.record.observation.as_ref().map(model::Observation::memory_count);
    let has_whole = |cell: usize| records.valid(cell).any(|launch| count(launch) == Some(MemoryCount::Resident));
    // Of two runs the other one's cells are in records of its own, and figures that count unlike things are not compared.
    let against = side.against.filter(|_| !records.is_one_of_two);
    let is_beside_whole = || [Some(side.cell), against].into_iter().flatten().any(has_whole);
    let alone = || !is_proportional && count(launch) == Some(MemoryCount::Proportional) && is_beside_whole();
    most_bytes(launch, metric).is_some() && (launch.rounds.is_some() || alone())
}

/// The most that a figure of memory would be of a launch that lived alone, in bytes: its resident pages, each in each of its
/// processes. What was seen is the least, for who is alone shares with fewer. None of other metrics, and where nobody looked.
pub(super) fn most_bytes(launch: &Launch, metric: Metric) -> Option<f64> {
    let seen = launch.record.observation.as_ref()?;
    let bytes = match metric {
        Metric::PeakMemory => seen.peak_memory_bytes,
        Metric::MemoryAtRest | Metric::PssAtRest => seen.memory_at_rest_bytes,
        Metric::MemoryAfter | Metric::PssAfter => seen.memory_after_bytes?,
        _ => return None,
    };
    Some(bytes as f64)
}

/// The least that a figure of memory would be of a launch in slices whose runtime nobody had asked, in bytes: what it was before its load.
/// None of other metrics, and where nobody asked.
pub(super) fn least_bytes(launch: &Launch, metric: Metric) -> Option<f64> {
    let seen = launch.record.observation.as_ref()?;
    launch.rounds.as_ref()?;
    seen.runtime.filter(|told| told.looks > 0)?;
    match metric {
        Metric::PeakMemory | Metric::MemoryAfter => Some(seen.memory_at_rest() as f64),
        Metric::PssAfter => Some(seen.pss_at_rest_bytes.unwrap_or(0) as f64),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use model::{
        Analysis, ClaimAnalysis, ClaimVerdict, CompareAnalysis, CompareRow, Comparison, ComparisonVerdict, Environment,
        GateVerdict, MemoryCount, RuntimeUse, TrialRecord, Withheld, parse_gates,
    };

    use super::*;
    use crate::testing::{Session, cut};
    use crate::{Run, Terms, analyse, compare_runs, compare_targets};

    /// What was seen of a target in each launch, in MB: its processes, its memory where a shared page counts in parts, and in each; and
    /// the most that it can have been between two looks.
    #[derive(Clone, Copy)]
    struct Seen {
        processes: u32,
        proportional: Option<u64>,
        resident: u64,
        at_most: Option<u64>,
    }

    const fn several(proportional: u64, resident: u64) -> Seen {
        Seen { processes: 4, proportional: Some(proportional), resident, at_most: Some(proportional) }
    }

    const fn one(resident: u64) -> Seen {
        Seen { processes: 1, proportional: None, resident, at_most: Some(resident) }
    }

    /// The launches of `old` and `new`, together or alone; their memory scatters by 1 %.
    fn records(session: &Session, [old, new]: [Seen; 2], together: bool) -> Vec<TrialRecord> {
        let mut records = session.records();
        for (at, trial) in (0..).zip(&mut records) {
            if together {
                cut(trial, 10);
            }
            let seen = if trial.cell == 0 { old } else { new };
            let scattered = |mb: u64| mb * (1_000_000 + 5_000 * (at % 3));
            let into = trial.observation.as_mut().unwrap();
            into.processes_max = seen.processes;
            into.peak_memory_bytes = scattered(seen.resident);
            into.memory_at_rest_bytes = into.peak_memory_bytes;
            into.peak_pss_bytes = seen.proportional.map(scattered);
            into.peak_at_most_bytes = seen.at_most.map(scattered);
            let is_old = seen.processes > 1 && seen.proportional.is_none();
            into.peak_unbounded = seen.at_most.is_none() && !is_old;
            into.pss_at_rest_bytes = Some(scattered(seen.proportional.unwrap_or(seen.resident * 9 / 10)));
        }
        records
    }

    fn session() -> Session {
        Session::new().cell("old", 5_000.0).cell("new", 5_000.0).noise(0.005)
    }

    fn compared(seen: [Seen; 2], together: bool, gate: &str) -> CompareAnalysis {
        let (session, environment) = (session(), Environment::default());
        let (plan, trials) = (session.plan(), records(&session, seen, together));
        let run = Run { plan: &plan, environment: &environment, trials: &trials };
        compare_targets(run, "old", "new", &parse_gates(gate).unwrap())
    }

    fn row(analysis: &CompareAnalysis) -> &CompareRow {
        analysis.rows.iter().find(|row| row.metric == Metric::PeakMemory).unwrap()
    }

    fn analysed(session: &Session, seen: [Seen; 2], together: bool) -> Analysis {
        analyse(&session.plan(), &Environment::default(), &records(session, seen, together))
    }

    fn comparison(analysis: &Analysis) -> &Comparison {
        analysis.comparisons.iter().find(|found| found.metric == Metric::PeakMemory).unwrap()
    }

    use ComparisonVerdict::{Faster, Inconclusive, Same, Slower};

    const SHARED: (ComparisonVerdict, Option<Withheld>) = (Inconclusive, Some(Withheld::SharedMemory));

    #[test]
    fn a_row_of_memory_that_counts_in_part_for_others_says_only_what_no_sharing_undoes() {
        let found = |seen, together| {
            let analysis = compared(seen, together, "peak_memory<+5%");
            let row = row(&analysis);
            ((row.verdict, row.withheld), analysis.gates[0].verdict)
        };
        // As one server against itself, of which one has a twin to share its program with.
        let alike = [several(20, 44), several(18, 44)];
        assert_eq!(found(alike, true), (SHARED, GateVerdict::Undecided));
        assert_eq!(found(alike, false), ((Faster, None), GateVerdict::Held), "each launched alone");
        assert_eq!(found([several(20, 44), several(50, 90)], true), ((Slower, None), GateVerdict::Broken));
        assert_eq!(found([one(44), several(18, 40)], true), ((Faster, None), GateVerdict::Held));
        assert_eq!(found([one(30), several(18, 40)], true), (SHARED, GateVerdict::Undecided));
        assert_eq!(found([one(30), several(18, 40)], false), (SHARED, GateVerdict::Undecided), "a helper beside it");
        assert_eq!(found([several(18, 40), one(30)], false), (SHARED, GateVerdict::Undecided));
        assert_eq!(found([one(44), several(18, 40)], false), ((Faster, None), GateVerdict::Held));
        assert_eq!(
            found([one(30), one(30)], true),
            ((Same, None), GateVerdict::Held),
            "one process has its pages whole"
        );
    }

    #[test]
    fn what_asking_a_runtime_may_have_taken_makes_no_difference_of_memory() {
        let found_of = |asked: Option<u32>, together: bool, at_rest: u64, refuses: bool| {
            let (session, environment) = (session(), Environment::default());
            let (plan, mut trials) = (session.plan(), records(&session, [one(40), one(50)], together));
            for trial in trials.iter_mut().filter(|trial| trial.cell == 1) {
                let seen = trial.observation.as_mut().unwrap();
                seen.runtime = asked.map(|looks| RuntimeUse { looks, ..RuntimeUse::default() });
                (seen.memory_at_rest_bytes, seen.pss_at_rest_bytes) = (at_rest * 1_000_000, Some(at_rest * 1_000_000));
                let tenth = trial.measurement.as_ref().unwrap().in_window.completed / 10;
                crate::testing::wrong_replies(trial, if refuses { tenth } else { 0 });
                let books = &mut trial.measurement.as_mut().unwrap().accounting;
                (books.bad_status, books.bad_body) = (books.bad_body, 0);
            }
            let run = Run { plan: &plan, environment: &environment, trials: &trials };
            let analysis = compare_targets(run, "old", "new", &parse_gates("peak_memory<+5%").unwrap());
            let row = row(&analysis);
            ((row.verdict, row.withheld), analysis.gates[0].verdict)
        };
        let found = |asked, together, at_rest| found_of(asked, together, at_rest, false);
        let (more, open) = (
            ((Slower, None), GateVerdict::Broken),
            ((Inconclusive, Some(Withheld::AskedRuntime)), GateVerdict::Undecided),
        );
        assert_eq!(found(Some(40), true, 30), open, "between 30 and 50 MB, beside 40");
        assert_eq!(found(Some(40), true, 45), more, "it had 45 before anybody asked");
        assert_eq!(found(Some(0), true, 30), more, "it never answered");
        assert_eq!(found(None, true, 30), more);
        assert_eq!(found(Some(40), false, 30), more, "alone it is not asked at the edges of slices");
        assert_eq!(found_of(Some(40), true, 30, true), open, "nor does it need more for requests that it refuses");
        assert_eq!(found_of(Some(40), true, 45, true), more);
    }

    #[test]
    fn two_servers_do_not_differ_by_as_little_memory_as_one_does_from_itself() {
        let found = |bytes: u64, more: u64| {
            let (session, environment) = (session(), Environment::default());
            let (plan, mut trials) = (session.plan(), session.records());
            for (at, trial) in (0..).zip(&mut trials) {
                let seen = trial.observation.as_mut().unwrap();
                seen.peak_memory_bytes = bytes + 1_000 * (at % 3) + more * trial.cell as u64;
                seen.peak_at_most_bytes = Some(seen.peak_memory_bytes);
            }
            let gates = parse_gates("peak_memory<+2%").unwrap();
            let run = Run { plan: &plan, environment: &environment, trials: &trials };
            let analysis = compare_targets(run, "old", "new", &gates);
            let (row, all) = (row(&analysis).clone(), analyse(&plan, &environment, &trials));
            let gate = (analysis.gates[0].verdict, analysis.gates[0].withheld);
            ((row.verdict, row.withheld, row.seen), comparison(&all).withheld, gate)
        };
        let little = Some(Withheld::LittleMemory);
        let open = (GateVerdict::Undecided, little);
        const SMALL: u64 = 4_000_000;
        assert_eq!(found(SMALL, 1_000), ((Inconclusive, little, Some(Same)), little, open), "nor are they the same");
        assert_eq!(found(SMALL, 400_000), ((Inconclusive, little, Some(Slower)), little, open), "a tenth");
        assert_eq!(found(SMALL, 900_000), ((Slower, None, None), None, (GateVerdict::Broken, None)));
        assert_eq!(found(50 * SMALL, 1_000), ((Same, None, None), None, (GateVerdict::Held, None)));
    }

    #[test]
    fn a_row_that_is_held_back_says_how_far_that_leaves_it_open() {
        let open = |[old, new]: [Seen; 2], together| {
            let analysis = compared([old, new], together, "peak_memory<+5%");
            let open = row(&analysis).in_doubt.clone();
            open.map(|open| [open.low, open.high].map(|end| end.map(|ratio| (ratio * 10.0).round() / 10.0)))
        };
        let (old, new) = (several(20, 44), several(18, 44));
        assert_eq!(open([old, new], true), Some([Some(0.4), Some(2.2)]), "18 to 44 ÷ 20 to 44");
        assert_eq!(open([old, new], false), None);
        let unbounded = |seen: Seen| Seen { at_most: None, ..seen };
        assert_eq!(open([one(30), unbounded(one(20))], true), Some([Some(0.7), None]));
        assert_eq!(open([unbounded(one(30)), unbounded(one(30))], true), Some([None, None]));
    }

    #[test]
    fn what_no_look_saw_takes_back_what_it_could_have_turned() {
        let found = |[old, new]: [Seen; 2], together| {
            let analysis = compared([old, new], together, "peak_memory<+5%");
            let row = row(&analysis);
            ((row.verdict, row.withheld), analysis.gates[0].verdict)
        };
        let up_to = |seen: Seen, at_most: Option<u64>| Seen { at_most, ..seen };
        let open = ((Inconclusive, Some(Withheld::BetweenLooks)), GateVerdict::Undecided);
        let (old, new) = (several(20, 44), several(18, 44));
        assert_eq!(found([old, up_to(new, Some(19))], false), ((Faster, None), GateVerdict::Held));
        assert_eq!(found([old, up_to(new, Some(25))], false), open);
        assert_eq!(found([old, up_to(several(40, 44), Some(90))], false), ((Slower, None), GateVerdict::Broken));
        assert_eq!(found([up_to(old, None), up_to(new, None)], false), open, "processes came and went");
        assert_eq!(found([one(30), up_to(one(30), None)], true), open);
        assert_eq!(found([one(30), up_to(one(40), None)], true), ((Slower, None), GateVerdict::Broken));
        assert_eq!(found([one(30), up_to(one(20), None)], true), open);
    }

    #[test]
    fn nor_do_comparisons_and_ranks_of_a_run() {
        let found = |seen, together| {
            let analysis = analysed(&session(), seen, together);
            let group = analysis.groups.iter().find(|group| group.metric == Metric::PeakMemory).unwrap();
            let ranks: Vec<Option<u32>> = group.ranks.iter().map(|rank| rank.rank).collect();
            let comparison = comparison(&analysis);
            ((comparison.verdict, comparison.withheld), ranks)
        };
        let alike = [several(20, 44), several(18, 44)];
        assert_eq!(found(alike, true), (SHARED, vec![None, None]));
        assert_eq!(found(alike, false).1, [Some(1), Some(2)]);
        assert_eq!(found([several(20, 44), several(50, 90)], true), ((Faster, None), vec![Some(1), Some(2)]));
        assert_eq!(found([one(30), several(18, 40)], false), (SHARED, vec![None, None]), "alone, beside one process");
    }

    #[test]
    fn unlike_counts_are_not_too_close_to_call_where_they_scatter() {
        let ranks = |seen| {
            let mut trials = records(&session(), seen, false);
            for (trial, percent) in
                trials.iter_mut().filter(|trial| trial.cell == 1).zip([90, 112, 95, 108].iter().cycle())
            {
                let seen = trial.observation.as_mut().unwrap();
                let all =
                    [Some(&mut seen.peak_memory_bytes), seen.peak_pss_bytes.as_mut(), seen.peak_at_most_bytes.as_mut()];
                all.into_iter().flatten().for_each(|bytes| *bytes = *bytes * percent / 100);
            }
            let analysis = analyse(&session().plan(), &Environment::default(), &trials);
            let comparison = comparison(&analysis);
            assert_eq!((comparison.verdict, comparison.withheld), (Inconclusive, None), "by its figures alone");
            let group = analysis.groups.iter().find(|group| group.metric == Metric::PeakMemory).unwrap();
            group.ranks.iter().map(|rank| rank.rank).collect::<Vec<_>>()
        };
        assert_eq!(ranks([one(30), several(29, 60)]), [None, None]);
        assert_eq!(ranks([several(30, 60), several(29, 60)]), [Some(1), Some(1)]);
        // What one of them is beside takes no tie from the others.
        let mut trials = records(&session().cell("least", 5_000.0), [several(300, 600); 2], false);
        trials.iter_mut().filter(|trial| trial.cell == 2).for_each(|trial| {
            let seen = trial.observation.as_mut().unwrap();
            (seen.processes_max, seen.peak_pss_bytes, seen.peak_memory_bytes) = (1, None, 30_000_000);
            seen.peak_at_most_bytes = Some(seen.peak_memory_bytes);
        });
        for (trial, percent) in trials.iter_mut().filter(|trial| trial.cell == 1).zip([90, 112, 95, 108].iter().cycle())
        {
            let seen = trial.observation.as_mut().unwrap();
            let all = [
                &mut seen.peak_memory_bytes,
                seen.peak_pss_bytes.as_mut().unwrap(),
                seen.peak_at_most_bytes.as_mut().unwrap(),
            ];
            all.into_iter().for_each(|bytes| *bytes = *bytes * percent / 100);
        }
        let analysis = analyse(&session().cell("least", 5_000.0).plan(), &Environment::default(), &trials);
        let group = analysis.groups.iter().find(|group| group.metric == Metric::PeakMemory).unwrap();
        let ranks: Vec<(&str, Option<u32>)> = group.ranks.iter().map(|rank| (&*rank.target, rank.rank)).collect();
        assert_eq!(ranks[0], ("least", Some(1)));
        assert_eq!([ranks[1].1, ranks[2].1], [Some(2); 2]);
    }

    #[test]
    fn nor_do_claims() {
        let claims = |claims: &[&str], together| -> Vec<(ClaimVerdict, Option<Withheld>)> {
            let session = claims.iter().fold(session(), |session, claim| session.claim(claim));
            let of = |claim: &ClaimAnalysis| (claim.verdict, claim.withheld);
            analysed(&session, [several(20, 44), one(30)], together).claims.iter().map(of).collect()
        };
        let (sure, open) =
            ((ClaimVerdict::Supported, None), (ClaimVerdict::Inconclusive, Some(Withheld::SharedMemory)));
        let asked = [
            "peak_memory(old) < 25MB",
            "peak_memory(old) < 50MB",
            "peak_memory(old) > 15MB",
            "peak_memory(old) / peak_memory(new) < 0.8",
            "peak_memory(new) < 32MB",
            "memory_at_rest(old) < 25MB",
            "pss_at_rest(new) < 28MB",
            "pss_at_rest(new) > 25MB",
        ];
        assert_eq!(claims(&asked, true), [open, sure, sure, open, sure, open, open, sure]);
        assert_eq!(
            claims(&asked, false),
            [sure, sure, sure, open, sure, sure, sure, sure],
            "one process beside several"
        );
    }

    #[test]
    fn what_is_shown_says_that_it_is_at_least_so_much() {
        let counts = |together| {
            let analysis = analysed(&session(), [several(20, 44), one(30)], together);
            [0, 1].map(|cell: usize| analysis.cells[cell].memory_count)
        };
        assert_eq!(counts(true), [MemoryCount::ProportionalAtLeast, MemoryCount::Resident]);
        assert_eq!(counts(false), [MemoryCount::Proportional, MemoryCount::Resident]);
    }

    #[test]
    fn of_an_old_record_what_counts_in_each_process_is_not_held_against_one() {
        let summed = Seen { processes: 4, proportional: None, resident: 44, at_most: None };
        let found = |seen| {
            let analysis = analysed(&session(), seen, false);
            let group = analysis.groups.iter().find(|group| group.metric == Metric::PeakMemory).unwrap();
            (comparison(&analysis).verdict, comparison(&analysis).withheld, group.ranks[0].rank)
        };
        assert_eq!(found([summed, one(30)]), (Inconclusive, Some(Withheld::Definition), None));
        assert_eq!(found([summed, Seen { resident: 88, ..summed }]), (Faster, None, Some(1)), "like for like");
    }

    #[test]
    fn of_two_runs_each_is_asked_for_cells_of_its_own() {
        // The server stands first in the one and second in the other, where one of a single process is first.
        let (old, new) = (Session::new().cell("b", 5_000.0), Session::new().cell("a", 5_000.0).cell("b", 5_000.0));
        let trials = |session: &Session, cells| records(&session.clone().noise(0.005), cells, false);
        let mut mixed = trials(&old, [one(30); 2]);
        let (before, after) = (trials(&old, [several(20, 44); 2]), trials(&new, [one(30), several(20, 44)]));
        let (old, new, environment) = (old.plan(), new.plan(), Environment::default());
        let run = |plan, trials| Run { plan, environment: &environment, trials };
        let terms = Terms { drift: 0.0, ..Terms::default() };
        let found = |first, second| {
            let found = compare_runs(first, second, ("x".to_owned(), "y".to_owned()), terms).unwrap();
            let memory = found.rows.iter().filter(|row| row.metric == Metric::PeakMemory);
            memory.map(|row| (row.verdict, row.withheld)).collect::<Vec<_>>()
        };
        assert_eq!(found(run(&old, &before), run(&new, &after)), [(Same, None)]);
        assert_eq!(found(run(&new, &after), run(&old, &before)), [(Same, None)]);
        // Where it was one process in most launches, and several in one, its figures count unlike things.
        mixed[0] = before[0].clone();
        let unlike = [(Inconclusive, Some(Withheld::Definition))];
        assert_eq!(found(run(&old, &mixed), run(&new, &after)), unlike);
    }
}
