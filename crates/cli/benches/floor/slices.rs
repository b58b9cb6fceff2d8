//! The engine beside the floor in slices: within one process both have connections to one server, and load it in turn.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::AtomicBool;

use engine::{LoadOutput, RunOptions, SliceSpec, Sliced};
use judge::statistics::geometric_mean;
use model::{
    Arrivals, Extent, HttpVersion, LatencySummary, Load, LoadModel, LoadSpec, Mix, NS_PER_S, ReplyExpectation, Request,
};
use rustix::time::{ClockId, clock_gettime};

use crate::bare::Floor;

/// Connections of open loads.
const RATE_CONNECTIONS: u32 = 100;

/// Who has a slice, over and over.
const ORDER: [Who; 4] = [Who::Engine, Who::Floor, Who::Floor, Who::Engine];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Who {
    Engine,
    Floor,
}

/// A load that both are measured under.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bench {
    Closed {
        connections: u32,
        /// Requests in flight on each.
        pipeline: u16,
    },
    Open {
        rate_per_s: u64,
    },
}

impl Bench {
    pub(crate) fn connections(self) -> u32 {
        match self {
            Bench::Closed { connections, .. } => connections,
            Bench::Open { .. } => RATE_CONNECTIONS,
        }
    }

    /// As arguments.
    pub(crate) fn written(self) -> [String; 3] {
        match self {
            Bench::Closed { connections, pipeline } => {
                ["closed".to_owned(), connections.to_string(), pipeline.to_string()]
            }
            Bench::Open { rate_per_s } => ["open".to_owned(), rate_per_s.to_string(), "1".to_owned()],
        }
    }

    pub(crate) fn read(written: &[String]) -> Self {
        let number = |at: usize| written[at].parse::<u64>().unwrap();
        match written[0].as_str() {
            "closed" => Bench::Closed { connections: number(1) as u32, pipeline: number(2) as u16 },
            "open" => Bench::Open { rate_per_s: number(1) },
            other => panic!("no load is {other}"),
        }
    }

    fn spec(self, port: u16, source: Ipv4Addr) -> LoadSpec {
        let (model, pipeline) = match self {
            Bench::Closed { pipeline, .. } => (LoadModel::Closed, pipeline),
            Bench::Open { rate_per_s } => {
                (LoadModel::Open { rate_per_s: rate_per_s as f64, arrivals: Arrivals::Constant }, 1)
            }
        };
        let request = Request {
            method: "GET".into(),
            path: "/rest/hello".into(),
            host: format!("127.0.0.1:{port}"),
            headers: vec![],
            body: vec![],
            version: HttpVersion::Http11,
        };
        let expected = ReplyExpectation { status: Some(200), body: Some(b"Hello world".to_vec()) };
        LoadSpec {
            load: Load {
                mix: Mix::one(request, expected),
                model,
                connections: self.connections(),
                pipeline,
                keep_alive: true,
                timeout_ns: None,
                warm_up_ns: 0,
                extent: Extent::Window(0),
                network_delay_ns: 0,
            },
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
            start_spread_ns: 0,
            threads: 1,
            cpus: vec![],
            seed: 1,
            sources: vec![source.into()],
            tls: None,
            spin: false,
            quick_ack: false,
        }
    }
}

/// One launch: the figures of the engine ÷ those of the floor, of CPU per request, and of an open load of lateness p50 and p99.
pub(crate) fn launch(bench: Bench, port: u16, sources: [Ipv4Addr; 2], rounds: usize, slice_ns: u64) -> Vec<f64> {
    let (of_engine, of_floor) = (bench.spec(port, sources[0]), Floor::open(port, sources[1], bench));
    let mut turns = Turns {
        floor: of_floor,
        taken: 0,
        slices: rounds * ORDER.len(),
        slice_ns,
        cpu_s: [vec![], vec![]],
        begun_s: 0.0,
    };
    let stop = AtomicBool::new(false);
    let mut next = |sliced: Option<Sliced>| turns.next(sliced.as_ref());
    let outputs = engine::rotate(&[of_engine], RunOptions::default(), &stop, &mut next, &mut |_| {}).unwrap();
    let output = outputs.into_iter().next().flatten().unwrap();
    let [engine_s, floor_s] = turns.cpu_s.each_ref().map(|of| geometric_mean(of).unwrap());
    let mut figures = vec![engine_s / floor_s];
    if matches!(bench, Bench::Open { .. }) {
        let late = lateness_ns(&output).into_iter().zip(turns.floor.lateness_ns());
        figures.extend(late.map(|(engine_ns, floor_ns)| engine_ns / floor_ns));
    }
    figures
}

/// p50 and p99 of how late the engine's sends were; NaN where there were too few.
fn lateness_ns(output: &LoadOutput) -> [f64; 2] {
    let late = output.measurement.latency_us.lateness.as_ref();
    let us = |of: fn(&LatencySummary) -> Option<f64>| late.and_then(of).unwrap_or(f64::NAN);
    [us(|it| it.p50) * 1e3, us(|it| it.p99) * 1e3]
}

/// Whose turn it is.
struct Turns {
    floor: Floor,
    /// Slices so far, of both.
    taken: usize,
    /// How many there are; those of the first round do not count.
    slices: usize,
    slice_ns: u64,
    /// CPU seconds per reply of each slice that counts, the engine's and the floor's.
    cpu_s: [Vec<f64>; 2],
    /// What the process had used when the engine's slice began.
    begun_s: f64,
}

impl Turns {
    fn next(&mut self, sliced: Option<&Sliced>) -> Option<SliceSpec> {
        if let Some(slice) = sliced {
            let used_s = cpu_s() - self.begun_s;
            assert_eq!(slice.figures.failed + slice.figures.not_drained, 0, "all must have been answered");
            self.book(Who::Engine, used_s / slice.figures.replies as f64);
        }
        while self.taken < self.slices && ORDER[self.taken % ORDER.len()] == Who::Floor {
            let before_s = cpu_s();
            let replies = self.floor.slice(self.slice_ns);
            self.book(Who::Floor, (cpu_s() - before_s) / replies as f64);
        }
        let slice = SliceSpec { server: 0, counts: self.counts(), lead_in_ns: 0, window_ns: self.slice_ns, seed: 1 };
        self.begun_s = cpu_s();
        (self.taken < self.slices).then_some(slice)
    }

    fn book(&mut self, who: Who, per_reply_s: f64) {
        if self.counts() {
            self.cpu_s[who as usize].push(per_reply_s);
        }
        self.taken += 1;
        if self.taken == ORDER.len() {
            self.floor.begin_to_count();
        }
    }

    fn counts(&self) -> bool {
        self.taken >= ORDER.len()
    }
}

/// CPU seconds that this process has used.
fn cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / NS_PER_S as f64
}
