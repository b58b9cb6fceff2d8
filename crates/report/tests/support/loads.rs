//! Loads as the engine measures them: its loop runs over a simulated server in virtual time, and `judge` judges what comes
//! out. Only what the simulation does not have is written by hand: how busy the generator's thread was.

use std::net::SocketAddr;
use std::sync::LazyLock;

use engine::RunOptions;
use engine::simulation::{Act, Connecting, Script, SimulatedServer, follow, simulate};
use model::{
    Arrivals, Extent, HttpVersion, LoadModel, LoadSpec, Measurement, Mix, NS_PER_S, ReplyExpectation, Request, Tls,
    Trust, Validity,
};

pub(crate) const URL: &str = "http://127.0.0.1:8080/rest/hello";

const MS: u64 = 1_000_000;
const BODY: &str = "Hello world";

/// A load with all that its outputs are made from.
#[derive(Clone)]
pub(crate) struct Load {
    pub(crate) spec: LoadSpec,
    pub(crate) validity: Validity,
    pub(crate) measured: Measurement,
}

impl Load {
    /// A load whose generator was so busy, judged.
    fn new(spec: LoadSpec, mut measured: Measurement, busy: f64) -> Load {
        for thread in &mut measured.generator.threads {
            (thread.cpu_s, thread.run_delay_s) = (busy * thread.wall_s, Some(0.003 * thread.wall_s));
        }
        Load::judged(spec, measured)
    }

    pub(crate) fn judged(spec: LoadSpec, measured: Measurement) -> Load {
        let validity = judge::judge_load(&spec, None, judge::thresholds::ALLOWED_FAILURES, &measured);
        Load { spec, validity, measured }
    }
}

fn spec(model: LoadModel, connections: u32) -> LoadSpec {
    LoadSpec {
        load: model::Load {
            mix: Mix::one(
                Request {
                    method: "GET".to_owned(),
                    path: "/rest/hello".to_owned(),
                    host: "127.0.0.1:8080".to_owned(),
                    headers: Vec::new(),
                    body: Vec::new(),
                    version: HttpVersion::Http11,
                },
                ReplyExpectation { status: Some(200), body: Some(BODY.into()) },
            ),
            model,
            connections,
            pipeline: 1,
            keep_alive: true,
            timeout_ns: None,
            warm_up_ns: NS_PER_S,
            extent: Extent::Window(10 * NS_PER_S),
            network_delay_ns: 0,
        },
        address: SocketAddr::from(([127, 0, 0, 1], 8080)),
        start_spread_ns: 0,
        threads: 1,
        cpus: vec![1],
        seed: 42,
        sources: vec![],
        tls: None,
        spin: false,
        quick_ack: false,
    }
}

/// A load on a server that takes so long, and every seventh time longer.
fn simulated(spec: LoadSpec, service_ns: u64, busy: f64, change: impl FnOnce(&mut SimulatedServer)) -> Load {
    let mut server = SimulatedServer::new(service_ns, BODY);
    (server.connect_ns, server.slow) = (61_000, Some((7, service_ns / 3)));
    change(&mut server);
    let output = simulate(&spec, server, RunOptions::default(), &mut |_| {}).expect("the load is one");
    Load::new(spec, output.measurement, busy)
}

/// A closed load on which nothing is to be remarked.
pub(crate) fn closed() -> Load {
    static LOAD: LazyLock<Load> = LazyLock::new(|| simulated(spec(LoadModel::Closed, 100), 20 * MS, 0.43, |_| {}));
    LOAD.clone()
}

/// A load over TLS whose certificate nobody looked at.
pub(crate) fn insecure() -> Load {
    let tls = Some(Tls { server_name: "localhost".into(), trust: Trust::Anyone, resumption: true });
    let mut load = simulated(spec(LoadModel::Closed, 4).with(|it| it.tls = tls), 20 * MS, 0.03, |_| {});
    let seen = load.measured.tls.as_mut().expect("it was over TLS");
    (seen.resumed, seen.failed) = (3, 2);
    seen.first_failure = Some("peer is incompatible: none of its groups is known".into());
    load
}

/// An open load on a server that stood still for two seconds and a fifth.
pub(crate) fn open_with_stall() -> Load {
    static LOAD: LazyLock<Load> = LazyLock::new(|| {
        let open = LoadModel::Open { rate_per_s: 1_000.0, arrivals: Arrivals::Constant };
        let spec = spec(open, 100).with(|it| {
            it.timeout_ns = Some(1_500 * MS);
            it.extent = Extent::Window(30 * NS_PER_S);
        });
        simulated(spec, 1_200_000, 0.09, |server| server.stall = Some((5 * NS_PER_S, 2_200 * MS)))
    });
    LOAD.clone()
}

/// Three seconds at 100 requests a second of a server that never answers every so many-th.
pub(crate) fn open_with_hung(every: u64) -> Load {
    let open = LoadModel::Open { rate_per_s: 100.0, arrivals: Arrivals::Constant };
    let spec = spec(open, 10).with(|it| (it.warm_up_ns, it.extent) = (0, Extent::Window(3 * NS_PER_S)));
    simulated(spec, 10 * MS, 0.02, |server| server.slow = Some((every, 3_600 * NS_PER_S)))
}

/// Four seconds of a server that refuses from the second on.
pub(crate) fn open_that_dies() -> Load {
    let open = LoadModel::Open { rate_per_s: 200.0, arrivals: Arrivals::Constant };
    let spec =
        spec(open, 50).with(|it| (it.warm_up_ns, it.extent, it.keep_alive) = (0, Extent::Window(4 * NS_PER_S), false));
    simulated(spec, 50 * MS, 0.02, |server| server.refuses_from = Some(NS_PER_S))
}

/// A closed load with replies that are wrong and requests that fail in several ways.
pub(crate) fn with_failures() -> Load {
    static LOAD: LazyLock<Load> = LazyLock::new(|| {
        let spec = spec(LoadModel::Closed, 10);
        let (output, _) = follow(&spec, failing()).expect("the load is one");
        Load::new(spec, output.measurement, 0.43)
    });
    LOAD.clone()
}

/// A peer that answers nine of ten connections every 20 ms, now and then not as it should.
fn failing() -> Script {
    use Connecting::{Opens, Refused, RefusedAtOnce};
    let reply = |status: &str, body: &str| {
        format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
    };
    let good = reply("200 OK", BODY);
    let on = |round: u32, slot: u32| match round * 9 + slot {
        n if n % 97 == 5 => vec![Act::Bytes(slot, reply("503 Service Unavailable", "Service Unavailable\n"))],
        n if n % 400 == 33 => vec![Act::Bytes(slot, reply("404 Not Found", ""))],
        n if n % 300 == 77 => vec![Act::Bytes(slot, reply("200 OK", "Hello w0rld"))],
        n if n % 500 == 111 => vec![Act::Reset(slot)],
        n if n % 700 == 222 => vec![Act::Bytes(slot, good[..30].to_vec()), Act::Close(slot)],
        1_234 => vec![Act::Bytes(slot, [good.clone(), good.clone()].concat())],
        _ => vec![Act::Bytes(slot, good.clone())],
    };
    let round = |round: u32| std::iter::once(Act::Pass(20 * MS)).chain((0..9).flat_map(move |slot| on(round, slot)));
    let again = [Refused, Opens, RefusedAtOnce, Opens, Opens];
    Script {
        connects: [Opens; 10].into_iter().chain(again).collect(),
        acts: (0..600).flat_map(round).collect(),
        ..Script::default()
    }
}

/// A closed load whose generator had no CPU left.
pub(crate) fn at_least() -> Load {
    let Load { spec, measured, .. } = closed();
    Load::new(spec, measured, 0.996)
}

/// A load whose books do not balance.
pub(crate) fn void() -> Load {
    let Load { spec, mut measured, .. } = closed();
    measured.accounting.ok -= 7;
    Load::judged(spec, measured)
}

/// A load to which nothing ever answered.
pub(crate) fn no_reply() -> Load {
    simulated(spec(LoadModel::Closed, 100), 20 * MS, 0.01, |server| server.refuses_from = Some(0))
}
