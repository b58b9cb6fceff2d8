//! What the engine costs above the floor of bare system calls. Quote the ratios, never the microseconds.
//!
//! `make bench-floor`, or `cargo bench -p bourdon --bench floor -- [LAUNCHES] [ROUNDS]`. A launch is one process in which the
//! engine and the floor load the clean specimen in turn, in slices of 300 ms and so many rounds of four; a machine whose speed
//! drifts moves both. Over TLS whole loads alternate with those of bare rustls, on nginx. The servers are on the first CPU, the
//! generators on the last. Under `cargo test` it runs once and briefly, so that it cannot rot.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark may panic, and prints its result")]

mod bare;
mod bare_tls;
mod nginx;
mod slices;

use std::cell::Cell;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};

use judge::statistics::geometric_interval;
use judge::thresholds::CONFIDENCE;
use model::NS_PER_S;
use nginx::Nginx;
use reaper::{Guarded, Order};
use slices::Bench;

const BOURDON: &str = env!("CARGO_BIN_EXE_bourdon");

const LOADS: [Bench; 7] = [
    Bench::Closed { connections: 100, pipeline: 1 },
    Bench::Closed { connections: 100, pipeline: 16 },
    Bench::Closed { connections: 5_000, pipeline: 1 },
    Bench::Open { rate_per_s: 1_000 },
    Bench::Open { rate_per_s: 10_000 },
    Bench::Open { rate_per_s: 40_000 },
    Bench::Open { rate_per_s: 100_000 },
];

const SLICE_MS: u64 = 300;

/// How long a load over TLS is.
const TLS_MS: u64 = 3_000;

/// Connections over TLS: those that are kept, those of one request each, and how many of these there are at once.
const KEPT: u64 = 100;
const ONCE: u64 = 5_000;
const AT_ONCE: u64 = 100;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let number = |at: usize| arguments[at].parse::<u64>().unwrap();
    let source = || arguments[2].parse::<Ipv4Addr>().unwrap();
    match arguments.first().map(String::as_str) {
        Some("launch") => {
            let sources = [2, 3].map(|at| arguments[at].parse::<Ipv4Addr>().unwrap());
            let (rounds, slice_ns) = (number(4) as usize, number(5) * NS_PER_S / 1000);
            let figures = slices::launch(Bench::read(&arguments[6..]), number(1) as u16, sources, rounds, slice_ns);
            println!("{}", figures.iter().map(f64::to_string).collect::<Vec<_>>().join(" "));
        }
        Some("kept") => println!("{}", bare_tls::kept(number(1) as u16, source(), number(3) as usize, number(4))),
        Some("once") => {
            println!("{}", bare_tls::once(number(1) as u16, source(), number(3) as usize, number(4) as usize));
        }
        _ if std::env::args().any(|argument| argument == "--bench") => {
            let given = |at: usize, default| if arguments.len() > at { number(at) } else { default };
            let launches = given(0, 6);
            measure(launches, given(1, 10), SLICE_MS, &LOADS);
            measure_tls(launches, TLS_MS, ONCE);
        }
        _ => {
            measure(1, 2, 50, &[LOADS[0], LOADS[1], LOADS[4]]);
            measure_tls(1, 100, 20);
        }
    }
}

fn measure(launches: u64, rounds: u64, slice_ms: u64, loads: &[Bench]) {
    let (mut server, port) = serve();
    let bench = Alternating::on(port, slice_ms);
    for load in loads {
        let made: Vec<Vec<f64>> = (0..launches).map(|_| bench.launch(*load, rounds)).collect();
        let figures = ["CPU per request", "lateness p50", "lateness p99"].into_iter().enumerate();
        let told = |(at, name): (usize, &str)| {
            let ratios: Option<Vec<f64>> = made.iter().map(|launch| launch.get(at).copied()).collect();
            Some(format!("{name} {}", interval(&ratios?)))
        };
        println!("{load:?}: {}", figures.filter_map(told).collect::<Vec<_>>().join(", "));
    }
    server.end();
}

/// A ratio over launches, with its 95 % interval where there are two or more.
fn interval(ratios: &[f64]) -> String {
    let told = geometric_interval(ratios, CONFIDENCE)
        .map(|it| format!("{:.3} ({:.3} to {:.3})", it.estimate, it.low, it.high));
    told.unwrap_or_else(|| format!("{:.3}", ratios[0]))
}

/// The same over TLS, against bare rustls.
fn measure_tls(rounds: u64, ms: u64, once: u64) {
    let Some(nginx) = Nginx::start() else {
        return println!("TLS: left out, for nginx is not on PATH");
    };
    let bench = Alternating::on(nginx.port, ms);
    let kept = (0..rounds).map(|_| [bench.kept_over_tls()]).collect();
    println!("TLS, {KEPT} connections: CPU {}", spread(kept)[0]);
    let once_each = (0..rounds).map(|_| [bench.once_over_tls(once)]).collect();
    println!("TLS, {once} connections of one request each, {AT_ONCE} at once: CPU {}", spread(once_each)[0]);
}

/// Median and range of each figure over the rounds.
fn spread<const N: usize>(rounds: Vec<[f64; N]>) -> [String; N] {
    std::array::from_fn(|at| {
        let mut values: Vec<f64> = rounds.iter().map(|round| round[at]).collect();
        values.sort_by(f64::total_cmp);
        format!("{:.3} ({:.3} to {:.3})", values[values.len() / 2], values[0], values[values.len() - 1])
    })
}

/// The clean specimen on the first CPU, and its port.
fn serve() -> (Guarded, u16) {
    let (output, its_output) = std::io::pipe().unwrap();
    let order = Order::new([BOURDON, "specimen", "clean"].map(OsString::from).to_vec(), &[0], None);
    let its_output = File::from(OwnedFd::from(its_output));
    let any_port = |command: &mut Command| {
        command.env("PORT", "0");
    };
    let server = Guarded::start(Path::new(BOURDON), &order, its_output, any_port).unwrap();
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line).unwrap();
    let port = line.trim_end().rsplit(':').next().unwrap().parse().unwrap();
    (server, port)
}

struct Alternating {
    port: u16,
    /// How long a slice is, or a load over TLS.
    ms: u64,
    /// The generators' CPU.
    cpu: usize,
    /// Runs so far.
    runs: Cell<u8>,
}

impl Alternating {
    fn on(port: u16, ms: u64) -> Self {
        let cpu = std::thread::available_parallelism().unwrap().get() - 1;
        Self { port, ms, cpu, runs: Cell::new(0) }
    }

    /// The ratios of one launch.
    fn launch(&self, load: Bench, rounds: u64) -> Vec<f64> {
        let port = self.port.to_string();
        let sources = [self.next_source(), self.next_source()].map(|source| source.to_string());
        let [rounds, ms] = [rounds, self.ms].map(|number| number.to_string());
        let own = ["launch", &port, &sources[0], &sources[1], &rounds, &ms];
        let load = load.written();
        let (ratios, _) = self.floor(&own.into_iter().chain(load.iter().map(String::as_str)).collect::<Vec<_>>());
        ratios
    }

    /// CPU per request of bourdon ÷ that of bare rustls, one after the other.
    fn kept_over_tls(&self) -> f64 {
        let [port, source] = [self.port.to_string(), self.next_source().to_string()];
        let [connections, ms] = [KEPT, self.ms].map(|number| number.to_string());
        let (replies, bare_cpu_s) = self.floor(&["kept", &port, &source, &connections, &ms]);
        let (document, cpu_s) = self.bourdon_over_tls(&format!("-d{ms}ms -c{connections}"));
        (cpu_s / document["accounting"]["completed"].as_f64().unwrap()) / (bare_cpu_s / replies[0])
    }

    fn once_over_tls(&self, connections: u64) -> f64 {
        let [port, source] = [self.port.to_string(), self.next_source().to_string()];
        let [all, at_once] = [connections, AT_ONCE].map(|number| number.to_string());
        let (replies, bare_cpu_s) = self.floor(&["once", &port, &source, &all, &at_once]);
        assert_eq!(replies[0], connections as f64);
        let (document, cpu_s) = self.bourdon_over_tls(&format!("--no-keepalive -n{all} -c{at_once}"));
        assert_eq!(document["accounting"]["completed"].as_f64(), Some(connections as f64));
        cpu_s / bare_cpu_s
    }

    fn floor(&self, arguments: &[&str]) -> (Vec<f64>, f64) {
        let (text, cpu_s) = cost(self.pinned(std::env::current_exe().unwrap()).args(arguments));
        (text.split_whitespace().map(|word| word.parse().unwrap()).collect(), cpu_s)
    }

    /// The document of a load that checks every reply, and the CPU seconds it used.
    fn bourdon_over_tls(&self, shape: &str) -> (serde_json::Value, f64) {
        let url = format!("https://127.0.0.1:{}/rest/hello", self.port);
        let source = self.next_source();
        let load =
            format!("load --warm-up 0s --expect-status 200 --format json --insecure --source {source} {shape} {url}");
        let arguments = load.split(' ').chain(["--expect-body", "Hello world"]);
        let (text, cpu_s) = cost(self.pinned(BOURDON.into()).args(arguments));
        (serde_json::from_str(&text).unwrap(), cpu_s)
    }

    /// A local address of its own for each run: thousands of ports that wait out an earlier run are in nobody's way.
    fn next_source(&self) -> Ipv4Addr {
        let [.., high, low] = std::process::id().to_be_bytes();
        let run = self.runs.get().wrapping_add(1);
        self.runs.set(run);
        Ipv4Addr::new(127, high | 128, low, run)
    }

    fn pinned(&self, program: std::path::PathBuf) -> Command {
        let mut command = Command::new("taskset");
        command.args(["-c", &self.cpu.to_string()]).arg(program);
        command
    }
}

/// Runs a command to its end; gives what it printed and the CPU seconds it used.
fn cost(command: &mut Command) -> (String, f64) {
    let before = children_cpu_s();
    let output = command.stderr(Stdio::inherit()).output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), children_cpu_s() - before)
}

/// CPU seconds of all children that were waited for (fields 16 and 17 of /proc/self/stat, in ticks of 10 ms).
fn children_cpu_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    let ticks: u64 = fields.split(' ').skip(13).take(2).map(|field| field.parse::<u64>().unwrap()).sum();
    ticks as f64 / rustix::param::clock_ticks_per_second() as f64
}
