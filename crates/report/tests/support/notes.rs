use model::{Cell, ClaimDoubt, ClaimNote, ClaimVerdict, Coldness, FewCores, Level, Metric, Unit};

fn server() -> Cell {
    let levels = [("target", Level::Text("go-gin".to_owned())), ("connections", Level::Integer(100))];
    Cell(levels.map(|(factor, level)| (factor.to_owned(), level)).into())
}

pub(crate) fn every_doubt() -> Vec<ClaimDoubt> {
    let server = server();
    let of = |metric| (server.clone(), metric);
    let noise = |unbounded| ClaimDoubt::Noise { server: server.clone(), launches: 2, of: 6, unbounded };
    let gain = Coldness::FasterBy { share: 0.22, low: 0.14, high: 0.31 };
    let mut doubts: Vec<ClaimDoubt> = [of(Metric::Throughput), of(Metric::P99)]
        .map(|(server, metric)| ClaimDoubt::Generator { server, metric })
        .into();
    let (late, unfinished) = (of(Metric::P50), of(Metric::P999));
    doubts.extend([
        ClaimDoubt::Ceiling { server: server.clone() },
        ClaimDoubt::Edges { server: server.clone(), share: 0.1 },
        ClaimDoubt::Unfinished { server: unfinished.0, metric: unfinished.1 },
        ClaimDoubt::Warming { server: server.clone(), gain },
        ClaimDoubt::Lateness { server: late.0, metric: late.1 },
        noise(None),
        noise(Some(Metric::P99)),
        ClaimDoubt::Spill { server: server.clone(), cpus: 0.043 },
        ClaimDoubt::PutOff { server: server.clone(), share: 0.25 },
        ClaimDoubt::SharedMemory { server: server.clone(), metric: Metric::PeakMemory },
        ClaimDoubt::Waking { server: server.clone(), share: 0.25, waited: 0.1 },
        ClaimDoubt::Waking { server: server.clone(), share: 0.001, waited: 0.08 },
        ClaimDoubt::BetweenLooks { server: server.clone() },
        ClaimDoubt::AskedRuntime { server: server.clone() },
        ClaimDoubt::Unwaited { server: server.clone() },
        ClaimDoubt::Rounds { server: server.clone(), launches: 2, of: 6 },
        ClaimDoubt::Failing { server: server.clone() },
        ClaimDoubt::Wrong { server: server.clone() },
        ClaimDoubt::Pauses { server: server.clone() },
        ClaimDoubt::Unanswered { server: server.clone() },
        ClaimDoubt::Unserved { server: server.clone(), launches: 1 },
        ClaimDoubt::Stopped { server: server.clone(), launches: 6 },
    ]);
    doubts
}

pub(crate) fn every_note() -> Vec<ClaimNote> {
    let (server, metric) = (server(), Metric::P99);
    let cold = Coldness::WarmUp { given_s: 1.0, needed_s: 20.0 };
    let mut notes: Vec<ClaimNote> = every_doubt().into_iter().map(ClaimNote::Doubt).collect();
    let because = every_doubt().split_off(17);
    notes.extend([
        ClaimNote::Unfinished { measured: 3, asked: 6 },
        ClaimNote::LowRate { server: server.clone(), target: "a".to_owned(), per_s: 8_812.4 },
        ClaimNote::FewBlocks { used: 3, needed: 6 },
        ClaimNote::Unused { blocks: 1, of: 7 },
        ClaimNote::FewCores(FewCores { here: 2, about: 8 }),
        ClaimNote::Unanswered { server: server.clone(), launches: 1, of: 7 },
        ClaimNote::Cold { servers: vec![(server.clone(), cold)], quick: true },
        ClaimNote::TakenBack { verdict: ClaimVerdict::Contradicted, because },
        ClaimNote::NoFailure { server: server.clone(), requests: 6_000, most_share: 6.148e-4 },
        ClaimNote::Reconstruction("old-model".to_owned()),
        ClaimNote::Drift { change: -0.12, unit: Unit::Share },
        ClaimNote::Drift { change: 1_250.0, unit: Unit::Us },
        ClaimNote::Correlated { correlation: 0.8123 },
        ClaimNote::FewRequests { metric, server: server.clone(), needed: 3_688, least: 1_200, launches: 6, of: 12 },
        ClaimNote::FewCollections { server: server.clone(), needed: 10, least: 3, launches: 5, of: 6 },
        ClaimNote::Lost { metric, server, launches: 1, of: 1 },
        ClaimNote::Absent { target: "odd".to_owned(), reason: "no `go` on PATH".to_owned() },
        ClaimNote::Unfit("unknown target `c`; the targets are a, b".to_owned()),
    ]);
    notes
}
