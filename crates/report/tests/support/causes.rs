//! Causes of every kind, as records and documents have them.

use model::*;

const NEED: ThreadNeed = ThreadNeed { thread: 1, busy: 0.5, starved: 0.1, waited: true };

/// One of each. A new one does not compile until it stands in the `match`, and so comes to be thought of here.
pub(crate) fn every_shortfall() -> Vec<Shortfall> {
    use Shortfall::{Attainable, HeldUp, Lacking, Late, StoodStill, Thread, TooLate};
    let all = vec![
        StoodStill { for_s: 1.0, window_s: 10.0 },
        Thread(NEED),
        Attainable(1.0),
        Lacking([(NotSent::OutOfPorts, 1)].into()),
        HeldUp(1),
        TooLate(1),
        Late(0.5),
    ];
    match all[0] {
        StoodStill { .. } | Thread(_) | Attainable(_) | Lacking(_) | HeldUp(_) | TooLate(_) | Late(_) => all,
    }
}

fn every_reason_for_no_reply() -> Vec<NoReplySeen> {
    use NoReplySeen::{AnsweredBefore, HungUp, NoConnections, NoHandshake, TlsFailed};
    let failed = model::TlsFailed { fault: Some(TlsFault::NotTls), why: String::new() };
    let all = vec![TlsFailed(failed), NoHandshake, HungUp, NoConnections, AnsweredBefore { replies: 1, until_s: 1.0 }];
    match all[0] {
        TlsFailed(_) | NoHandshake | HungUp | NoConnections | AnsweredBefore { .. } => all,
    }
}

fn silence() -> LongSilence {
    LongSilence { length_s: 1.0, at_least: true, from_s: Some(1.0), until_s: Some(2.0), others: 1 }
}

fn ceiling() -> DelayCeiling {
    DelayCeiling { per_s: 1.0, most_per_s: 1.0, handler_delay_s: 1.0, network_delay_s: 1.0, backend_workers: None }
}

pub(crate) fn every_limit() -> Vec<LimitCause> {
    use LimitCause::{
        AtLeast, Behind, Blind, Ceiling, Interrupted, NoReply, NothingDue, NothingRight, RateMissed, RateSent,
        ServerBound, Silence, Stopped, TargetBusy,
    };
    let (rate_per_s, generator, share) = (1.0, NEED, Some(0.5));
    let not_sent = || [(NotSent::Refused, 1)].into();
    let at_once = Some(AtOnce { service_us: 1.0, needed: 2, allowed: 1 });
    let no_reply = |seen| {
        let hanging = Some(Hanging { requests: 1, one_each: true });
        let failed = [(Failure::TimedOut, 1)].into();
        NoReply(model::NoReply { not_sent: not_sent(), failed, awaited: 1, sent_before: 1, hanging, seen: Some(seen) })
    };
    let why = |why| RateMissed { rate_per_s, sent: 1, scheduled: 2, why };
    let mut all = vec![
        NothingRight { bad_status: 1, bad_body: 1 },
        NothingDue { window_s: 1.0 },
        AtLeast(Shortfall::Thread(NEED)),
        Ceiling(ceiling()),
        TargetBusy(0.9),
        ServerBound { generator, connections: 1, answered: Answered::Always, shared_cpus: true },
        RateSent { rate_per_s, generator, too_late: 1, late_share: share, waited_share: share, trusted_per_s: share },
        Stopped { rate_per_s, not_sent: not_sent() },
        Behind { rate_per_s, not_sent: not_sent(), generator, at_once },
        Silence(silence()),
        Interrupted { after_s: 1.0 },
    ];
    all.extend(every_reason_for_no_reply().into_iter().map(no_reply));
    all.extend(every_shortfall().into_iter().map(Blind).chain(every_shortfall().into_iter().map(why)));
    match all[0] {
        NothingRight { .. } | NothingDue { .. } | NoReply(_) | AtLeast(_) | Blind(_) | Ceiling(_) | TargetBusy(_) => {}
        ServerBound { .. } | RateMissed { .. } | RateSent { .. } | Stopped { .. } | Behind { .. } | Silence(_) => {}
        Interrupted { .. } => {}
    }
    all
}

pub(crate) fn every_mark() -> Vec<MarkCause> {
    use MarkCause::{
        BusyRounds, Ceiling, Cold, CompletionsPerSlot, Correlated, Course, Drift, Failures, Growth, Hung, Itself, Late,
        Limit, LowRate, NotDrained, OpenedLate, Reopened, Silence, Spill, Taken, Touched, Unserved,
    };
    let measured = Measured { estimate: Some(1.0), low: None, high: None, unit: Unit::Ratio };
    let figure = TouchedFigure { metric: Metric::P99, us: Some(1.0), least_us: Some(0.5) };
    let elsewhere = Some(SpentElsewhere { what: Elsewhere::Connecting, share: 0.5 });
    let reopened = model::Reopened { connections: 1, opened: 2, replies: 1, said: 1, idle: 1, in_place: 1 };
    let failed = FailedRequests {
        scheduled: 1,
        not_sent: [(NotSent::Refused, 1)].into(),
        failed: [(Failure::TimedOut, 1)].into(),
        bad_status: 1,
        bad_body: 1,
    };
    let course = WindowCourse {
        went: Changed::WarmUp,
        metric: Metric::P50,
        levels: vec![(0.0, 1.0)],
        steady_from_s: Some(1.0),
        window_s: 2.0,
    };
    let all = vec![
        Limit(LimitCause::AtLeast(Shortfall::Thread(NEED))),
        Late(vec![(Metric::P99, 1.0)]),
        Touched(model::Touched { stood: Some((1, 1.0)), requests: 1, scheduled: 2, figures: vec![figure] }),
        Silence(silence()),
        Reopened(reopened),
        OpenedLate { metric: Metric::P99, us: 1.0 },
        Unserved { never: 1, connections: 2, served_share: Some(0.5), elsewhere },
        Hung { requests: 1, one_each: true, oldest_s: 1.0, slowest_s: 1.0 },
        NotDrained { requests: 1, waited_us: 1.0 },
        CompletionsPerSlot(1.0),
        LowRate { target: "a".to_owned(), per_s: 1.0 },
        Spill { cpus: 0.1 },
        BusyRounds { busy: 4, rounds: 12 },
        Ceiling(ceiling()),
        Taken { cpus: 1, steal_share: Some(0.1), others_share: Some(0.1) },
        Itself(vec![("a".to_owned(), Metric::P99, measured)]),
        Cold(Coldness::FasterBy { share: 0.1, low: 0.1, high: 0.1 }),
        Cold(Coldness::WarmUp { given_s: 1.0, needed_s: 2.0 }),
        Course(course),
        Growth(model::Growth { levelled_off: false, bytes: 1, bytes_per_request: Some(1.0) }),
        Drift { blocks: 6, p: 0.01 },
        Correlated { blocks: 6, correlation: 0.9, by_chance: 0.1, p: 0.01 },
        Failures(failed),
    ];
    match all[0] {
        Limit(_) | Late(_) | Touched(_) | Silence(_) | Reopened(_) | Unserved { .. } | Hung { .. } | Failures(_) => {}
        CompletionsPerSlot(_) | Ceiling(_) | Taken { .. } | Itself(_) | Cold(_) | Course(_) | Growth(_) => {}
        Drift { .. } | Correlated { .. } | OpenedLate { .. } | Spill { .. } | BusyRounds { .. } | LowRate { .. } => {}
        NotDrained { .. } => {}
    }
    all
}

pub(crate) fn every_breach() -> Vec<Breach> {
    use Breach::{Completions, Content, Cpus, Imbalance, InFlight, SlicePart, SliceSum, TooLong};
    let books = [
        model::Imbalance::Scheduled { scheduled: 1, sent: 1, not_sent: 1 },
        model::Imbalance::Completed { completed: 1, replies: 2 },
        model::Imbalance::Sent { sent: 1, replies: 1, failed: 1, in_flight_at_end: 1 },
    ];
    let mut all: Vec<Breach> = books.into_iter().map(Imbalance).collect();
    all.extend([
        InFlight { in_flight_s: 1.0, requests_s: 2.0 },
        TooLong { metric: Metric::P99, divisor: 100.0, least_us: 2.0, mean_us: 1.0 },
        Completions { completed: 2, most: 1, delay_s: 1.0 },
        Content { replies: 1, bad_body: 1, malformed: 1, unasked: 1 },
        SliceSum { of: SliceFigure::Ok, slices: 1.0, measured: 2.0 },
        SlicePart { round: 1, of: SliceFigure::Completed, part: 2.0, whole: 1.0 },
        Cpus { used: 1.8, given: 1 },
    ]);
    match all[0] {
        Imbalance(_) | InFlight { .. } | TooLong { .. } | Completions { .. } | Content { .. } => all,
        SliceSum { .. } | SlicePart { .. } | Cpus { .. } => all,
    }
}

/// Whatever a target can do instead of being ready, with every hint.
pub(crate) fn every_not_ready() -> Vec<NotReady> {
    use Instead::{Elsewhere, Failed, NoReply, Silent, Status};
    let path = || "/ping".to_owned();
    let at = vec!["127.0.0.1:81".parse().unwrap(), "[::1]:82".parse().unwrap()];
    let all = [
        Silent,
        Status { path: path(), status: 503 },
        NoReply { path: path(), within_ns: 1_000_000_000 },
        Failed { path: path(), error: "refused".to_owned(), fault: Some(TlsFault::NotTls) },
        Elsewhere { at, port: 80, stranger: true },
    ];
    match all[0] {
        Silent | Status { .. } | NoReply { .. } | Failed { .. } | Elsewhere { .. } => {}
    }
    let not_ready = |seen| NotReady { seen, within_ns: Some(2_000_000_000), hints: every_hint() };
    all.map(not_ready).into()
}

fn every_hint() -> Vec<Hint> {
    use Hint::{Beside, NoCertificate, NoPort, Said, Shell};
    use NeedsShell::{Variables, Word};
    let variables = Variables { set: "A=1".to_owned(), program: "server".to_owned(), more: true };
    let all = vec![Shell(Word("&&".to_owned())), Shell(variables), NoPort, NoCertificate, Beside(2)];
    match all[0] {
        Shell(Word(_) | Variables { .. }) | NoPort | NoCertificate | Beside(_) | Said(_) => all,
    }
}

/// Why targets are not loaded, but for words of earlier versions.
pub(crate) fn every_failure() -> Vec<WhyFailed> {
    use EndedWhen::{BeforeLoad, BeforeReady, BetweenSlices, UnderLoad};
    let not_started = NotStarted { error: "No such file".to_owned(), hints: every_hint() };
    let end = |when| TargetEnd { how: ProcessEnd::Exited(3), when, hints: every_hint() };
    let mut all = vec![not_started.clone().into(), WhyFailed::NotAgain(Box::new(not_started.into()))];
    all.extend(every_not_ready().into_iter().map(WhyFailed::from));
    all.extend([BeforeReady, BeforeLoad, BetweenSlices, UnderLoad].map(|when| end(when).into()));
    match all[0] {
        WhyFailed::NotStarted(_) | WhyFailed::NotReady(_) | WhyFailed::Ended(_) | WhyFailed::NotAgain(_) => all,
        WhyFailed::Text(_) => panic!(),
    }
}

fn every_unsliced() -> Vec<UnslicedCause> {
    use UnslicedCause::{
        ConnectionsEnd, DearAfterIdling, FailsAfterIdling, FallsBehind, FellSilent, FewReplies, SlowAfterIdling,
        SlowDrain, Unsettled,
    };
    let all = vec![
        SlowDrain { p99_us: Some(1.0), waited_us: 2.0, not_drained: 1 },
        FellSilent { round: 7, not_drained: 15 },
        FewReplies { round: 1, replies: 1, needed: 2 },
        ConnectionsEnd { idle: 1, said: 1 },
        SlowAfterIdling { slower: 0.5, slices: 12, neighbours_cpus: None },
        SlowAfterIdling { slower: 0.5, slices: 12, neighbours_cpus: Some(0.05) },
        DearAfterIdling { dearer: 1.5, slices: 12 },
        FailsAfterIdling { failed: 1, replies: 2 },
        Unsettled { slower: 0.5, slices: 12 },
        FallsBehind { due: 2, replies: 1 },
    ];
    match all[0] {
        SlowDrain { .. } | FewReplies { .. } | ConnectionsEnd { .. } | SlowAfterIdling { .. } => all,
        DearAfterIdling { .. } | FailsAfterIdling { .. } | Unsettled { .. } => all,
        FallsBehind { .. } | FellSilent { .. } => all,
    }
}

/// Reasons of every kind, those in words among them.
pub(crate) fn every_reason() -> Vec<Reason> {
    use DistrustCause::{Late, Sent, Waited};
    let mut all: Vec<Reason> = every_limit().into_iter().map(Reason::from).collect();
    all.extend(every_mark().into_iter().map(|cause| MarkNote::new(cause).into()));
    all.extend(every_breach().into_iter().filter_map(|breach| Reason::broken(vec![breach])));
    all.extend([Late(0.1), Waited(0.1), Sent(0.9)].map(Reason::from));
    all.extend(every_failure().into_iter().map(|why| Reason::failed(TrialStage::Ready, why)));
    all.extend(every_unsliced().into_iter().map(Reason::from));
    all.push(Reason::said(TrialStage::Died, "exited with status 3".to_owned()));
    match all[0].why {
        Why::Text(_) | Why::Limit(_) | Why::Mark(_) | Why::Broken(_) | Why::Distrusted(_) | Why::NotStarted(_) => all,
        Why::NotReady(_) | Why::Ended(_) | Why::NotAgain(_) | Why::Unsliced(_) => all,
    }
}

/// Why there is no CPU profile, by each that could have taken one.
pub(crate) fn every_no_profile() -> Vec<NoProfile> {
    use NoPerf::{Failed, GivenUp, Late, NoProcess, NoTime, NotAllowed, NotInstalled, NotStarted, Unreadable};
    use NoPprof::{NoAdminPort, SomethingElse, Status, Unanswered};
    let why = || "why".to_owned();
    let pprof = vec![NoAdminPort, Status(404), SomethingElse, Unanswered(why()), NoPprof::Unreadable(why())];
    match pprof[0] {
        NoAdminPort | Status(_) | SomethingElse | Unanswered(_) | NoPprof::Unreadable(_) => {}
    }
    let perf = vec![
        NoProcess,
        NoTime,
        NotInstalled,
        NotStarted(why()),
        NotAllowed(Some(3)),
        Failed { how: ProcessEnd::Exited(1), said: why() },
        Late(10),
        Unreadable(why()),
        GivenUp,
    ];
    match perf[0] {
        NoProcess | NoTime | NotInstalled | NotStarted(_) | NotAllowed(_) => {}
        Failed { .. } | Late(_) | Unreadable(_) | GivenUp => {}
    }
    pprof.into_iter().map(NoProfile::from).chain(perf.into_iter().map(NoProfile::from)).collect()
}

/// Two runs that differ in everything.
pub(crate) fn every_difference() -> Vec<Difference> {
    use Aspect::*;
    let all = [
        Bourdon,
        Cpu,
        Cpus,
        Kernel,
        Governor,
        Smt,
        Memory,
        Sysctl("net.core.somaxconn".to_owned()),
        Toolchain("a".to_owned()),
        TargetCpus,
        GeneratorThreads,
        GeneratorCpus,
        Spin,
        Nodes,
        Ladder,
        Rotation,
        Path,
        Method,
        Load,
        Connections,
        Pipeline,
        KeepAlive,
        TimeOut,
        Window,
        NetworkDelay,
        WarmUp,
        Tls,
        TlsResume,
        Runtime,
        HandlerDelay,
        RateShare,
        Arrivals,
        Profile,
        Admin,
        Beside,
        Backend,
        QuickAck,
        Census,
        Mix,
        HttpVersion,
        Headers,
        BodyBytes,
        ExpectedStatus,
        ExpectedBody,
        TlsServerName,
        TlsTrust,
    ];
    match all[0] {
        Bourdon | Cpu | Cpus | Kernel | Governor | Smt | Memory | Sysctl(_) | Toolchain(_) | TargetCpus => {}
        GeneratorThreads | GeneratorCpus | Spin | Nodes | Ladder | Rotation | Path | Method | Load | Connections => {}
        Pipeline | KeepAlive | TimeOut | Window | NetworkDelay | WarmUp | Tls | TlsResume | Runtime => {}
        HandlerDelay | RateShare | Arrivals | Profile | Admin | Beside | Backend | QuickAck | Census | Mix => {}
        HttpVersion | Headers | BodyBytes | ExpectedStatus | ExpectedBody | TlsServerName | TlsTrust => {}
    }
    all.map(|what| Difference { what, old: Some("so".into()), new: None }).into()
}
