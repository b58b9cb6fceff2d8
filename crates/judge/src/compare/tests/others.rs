//! What others can have cost a launch, or spared it.

use super::*;

const COSTS: &str = "cpu_per_request<-5%, switches_per_request<-5%";

/// A new server of which a request costs so many times as much as of the old one, while others used 0.4 of two CPUs in the
/// launches of one of them.
fn costs(factor: f64, disturbed: usize) -> CompareAnalysis {
    let session = session(100.0, 100.0, 0.005);
    let (plan, mut trials) = (session.plan(), session.records());
    for trial in &mut trials {
        let times = if trial.cell == 0 { factor } else { 1.0 };
        let seen = trial.observation.as_mut().unwrap();
        seen.cpu_user_s *= times;
        (seen.voluntary_switches, seen.involuntary_switches) = (Some((1e5 * times) as u64), Some(0));
        if trial.cell == disturbed {
            disturb(trial, 0.2);
        }
    }
    let run = Run { plan: &plan, environment: &Environment::default(), trials: &trials };
    compare_targets(run, "old", "new", &parse_gates(COSTS).unwrap())
}

/// Who is held up finds several requests waiting when it wakes, and one wake-up serves them all.
#[test]
fn a_busy_machine_may_have_made_a_request_cheaper() {
    let of = |found: &CompareAnalysis, metric| (row(found, metric).verdict, row(found, metric).withheld);
    let open = |why| (ComparisonVerdict::Inconclusive, Some(why));
    let (disturbed, unbounded) = (open(Withheld::Disturbed), open(Withheld::Unbounded));
    let cheaper = costs(0.85, 0);
    assert_eq!(of(&cheaper, Metric::CpuPerRequest), disturbed);
    assert_eq!(of(&cheaper, Metric::SwitchesPerRequest), unbounded);
    assert!(cheaper.gates.iter().all(|gate| gate.verdict == GateVerdict::Undecided), "{:?}", cheaper.gates);
    let dearer = costs(1.2, 1);
    assert_eq!(of(&dearer, Metric::CpuPerRequest), disturbed, "the old one only looked cheap");
    assert_eq!(of(&dearer, Metric::SwitchesPerRequest), unbounded);
    let half = (ComparisonVerdict::Faster, None);
    assert_eq!(of(&costs(0.5, 0), Metric::CpuPerRequest), half, "0.4 of a CPU do not spare half of the cost");
}

/// Others use one CPU of four while the new server, at 1 ÷ 1.3 of the rate, has no time left that they could have taken: they
/// may have had the other thread of its core all the same.
#[test]
fn who_uses_all_of_its_cpu_suffers_from_who_is_beside_it() {
    let busy = session(100.0 / 1.3, 100.0, 0.005).target_busy(1.0).generator_busy(0.9);
    let found = altered(&busy, "cpu_per_request<+3%", &ALL, |trial| {
        trial.observation.as_mut().unwrap().host = HostUse { cpus: 4, steal_share: 0.0, others_share: 0.25 };
    });
    for metric in [Metric::Throughput, Metric::P50, Metric::CpuPerRequest] {
        let found = row(&found, metric);
        let disturbed = (ComparisonVerdict::Inconclusive, Some(Withheld::Disturbed));
        assert_eq!((found.verdict, found.withheld), disturbed, "{metric}");
    }
    assert_eq!(found.gates[0].verdict, GateVerdict::Undecided);
}

/// Of a server's four CPUs its one thread uses 0.6 of one, and half a CPU of others may have been that one.
#[test]
fn a_server_of_one_thread_loses_what_others_take_of_one_cpu() {
    let slower = session(70.0, 100.0, 0.005).target_busy(0.6);
    let found = altered(&slower, "p50<+5%", &ALL, |trial| {
        let (seen, measured) = (trial.observation.as_mut().unwrap(), trial.measurement.as_mut().unwrap());
        (seen.host, seen.cpus) = (HostUse { cpus: 8, steal_share: 0.0, others_share: 0.06 }, 4);
        measured.generator.threads = vec![measured.generator.threads[0]; 4];
    });
    let throughput = row(&found, Metric::Throughput);
    assert_eq!((throughput.verdict, throughput.withheld), (ComparisonVerdict::Inconclusive, Some(Withheld::Disturbed)));
    assert_eq!(found.gates[0].verdict, GateVerdict::Undecided);
}
