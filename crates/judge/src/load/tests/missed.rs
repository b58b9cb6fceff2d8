//! Who is to blame for a rate that was missed.

use super::*;

#[test]
fn a_missed_rate_is_blamed_on_who_missed_it() {
    let waiting = NotSent::WaitingAtEnd;
    for (rate, unsent, expected) in [
        (10_000.0, unsent(waiting, 5_000, 0.2), is(Verdict::Valid, "server-behind")),
        (10_000.0, unsent(waiting, 50, 0.2), is(Verdict::Valid, "rate-reached")),
        (10_000.0, unsent(waiting, 5_000, 0.85), is(Verdict::Void, "rate-not-reached")),
        (2e6, unsent(waiting, 5_000, 0.2), is(Verdict::Void, "rate-not-reached")),
        (10_000.0, unsent(waiting, 100_000, 0.2), is(Verdict::Valid, "no-reply")),
        (10_000.0, unsent(NotSent::Refused, 100_000, 0.9), is(Verdict::Valid, "no-reply")),
        (10_000.0, unsent(NotSent::Refused, 5_000, 0.9), is(Verdict::Valid, "server-behind")),
        // For a few of them the generator was too late when the load ended, which is not the server's doing.
        (10_000.0, unsent(NotSent::LateAtEnd, 900, 0.2), is(Verdict::Valid, "rate-reached")),
        (10_000.0, unsent(NotSent::LateAtEnd, 5_000, 0.2), is(Verdict::Void, "rate-not-reached")),
    ] {
        assert_eq!(word(&open(rate), &unsent), expected, "{rate} {:?}", unsent.accounting);
    }
}

#[test]
fn a_few_that_left_late_are_no_reason_for_many_that_never_left() {
    let mut measured = unsent(NotSent::WaitingAtEnd, 50_000, 0.2);
    measured.generator.threads[0].run_delay_s = None;
    measured.accounting.sent_late.insert(LateCause::Generator, 1_800);
    assert_eq!(word(&open(10_000.0), &measured), is(Verdict::Valid, "server-behind"));
    measured.accounting.sent_late.insert(LateCause::Generator, 30_000);
    assert_eq!(word(&open(10_000.0), &measured), is(Verdict::Void, "rate-not-reached"));
}

#[test]
fn requests_that_wait_for_a_stalled_server_are_not_charged_to_a_generator_that_is_late_for_fewer() {
    let wall_s = measurement(100.0, 10_000.0, 0.2).generator.threads[0].wall_s;
    let found = |late: u64, waited_for_cpu: Option<f64>| {
        let mut measured = unsent(NotSent::WaitingAtEnd, 5_000, 0.2);
        measured.accounting.sent_late.insert(LateCause::Generator, late);
        // What waited earlier and was sent says nothing of what never was.
        measured.accounting.sent_late.insert(LateCause::NoConnection, 20_000);
        let thread = measured.generator.threads[0];
        let other = ThreadUse { run_delay_s: waited_for_cpu.map(|share| share * wall_s), cpu_s: 0.0, ..thread };
        measured.generator.threads = vec![ThreadUse { run_delay_s: Some(0.0), ..thread }, other];
        word(&open(10_000.0), &measured)
    };
    let [servers, generators] = [is(Verdict::Valid, "server-behind"), is(Verdict::Void, "rate-not-reached")];
    assert_eq!(found(4_200, Some(0.0)), servers);
    assert_eq!(found(5_200, Some(0.0)), generators);
    // Who waits for a CPU, or may, reads replies late, too.
    assert_eq!([found(4_200, Some(0.2)), found(4_200, None)], [generators, generators]);
}
