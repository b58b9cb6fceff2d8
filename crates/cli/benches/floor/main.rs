//! What `bourdon load` costs above the floor of bare system calls, in rounds that alternate so that a machine whose
//! speed drifts moves both. Quote the ratios, never the microseconds.
//!
//! `make bench-floor`, or `cargo bench -p bourdon --bench floor -- [ROUNDS] [SECONDS]`. Under `cargo test` it runs once
//! and briefly, so that it cannot rot. The server is the clean specimen on the first CPU, over TLS nginx; the generators are
//! on the last.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark may panic, and prints its result")]

mod bare;
mod bare_tls;
mod nginx;

use std::cell::Cell;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};

use nginx::Nginx;
use reaper::{Guarded, Order};

const BOURDON: &str = env!("CARGO_BIN_EXE_bourdon");

/// Closed loads: (connections, requests in flight on each).
const SHAPES: [(u64, u64); 3] = [(100, 1), (100, 16), (5_000, 1)];

/// Open loads: requests a second, over 100 connections.
const RATES: [u64; 4] = [1_000, 10_000, 40_000, 100_000];
const RATE_CONNECTIONS: u64 = 100;

/// Connections over TLS: those that are kept, those of one request each, and how many of these there are at once.
const KEPT: u64 = 100;
const ONCE: u64 = 5_000;
const AT_ONCE: u64 = 100;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let number = |at: usize| arguments[at].parse::<u64>().unwrap();
    let source = || arguments[2].parse::<Ipv4Addr>().unwrap();
    match arguments.first().map(String::as_str) {
        Some("closed") => {
            println!("{}", bare::closed(number(1) as u16, source(), number(3) as usize, number(4) as usize, number(5)));
        }
        Some("open") => {
            let (sent, p50_ns, p99_ns) =
                bare::open(number(1) as u16, source(), number(3) as usize, number(4), number(5));
            println!("{sent} {p50_ns} {p99_ns}");
        }
        Some("kept") => println!("{}", bare_tls::kept(number(1) as u16, source(), number(3) as usize, number(4))),
        Some("once") => {
            println!("{}", bare_tls::once(number(1) as u16, source(), number(3) as usize, number(4) as usize));
        }
        _ if std::env::args().any(|argument| argument == "--bench") => {
            let given = |at: usize, default| if arguments.len() > at { number(at) } else { default };
            let (rounds, ms) = (given(0, 10), given(1, 3) * 1000);
            measure(rounds, ms, &SHAPES, &RATES);
            measure_tls(rounds, ms, ONCE);
        }
        _ => {
            measure(1, 100, &SHAPES[..2], &RATES[..1]);
            measure_tls(1, 100, 20);
        }
    }
}

fn measure(rounds: u64, ms: u64, shapes: &[(u64, u64)], rates: &[u64]) {
    let cpu = std::thread::available_parallelism().unwrap().get() - 1;
    let (mut server, port) = serve();
    let bench = Bench { port, ms, cpu, runs: Cell::new(0) };
    for (connections, pipeline) in shapes {
        let ratios = (0..rounds).map(|_| [bench.closed(*connections, *pipeline)]).collect();
        println!("{connections} connections, {pipeline} in flight on each: CPU {}", spread(ratios)[0]);
    }
    for rate in rates {
        let ratios = (0..rounds).map(|_| bench.open(*rate)).collect();
        let [p50, p99, cpu, sent] = spread(ratios);
        println!("{rate} requests/s: lateness p50 {p50}, p99 {p99}; CPU {cpu}; sent ÷ scheduled {sent}");
    }
    server.end();
}

/// The same over TLS, against bare rustls.
fn measure_tls(rounds: u64, ms: u64, once: u64) {
    let Some(nginx) = Nginx::start() else {
        return println!("TLS: left out, for nginx is not on PATH");
    };
    let cpu = std::thread::available_parallelism().unwrap().get() - 1;
    let bench = Bench { port: nginx.port, ms, cpu, runs: Cell::new(0) };
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

struct Bench {
    port: u16,
    ms: u64,
    /// The generators' CPU.
    cpu: usize,
    /// Runs so far.
    runs: Cell<u8>,
}

impl Bench {
    /// CPU per request of bourdon ÷ that of the floor, one after the other.
    fn closed(&self, connections: u64, pipeline: u64) -> f64 {
        let (bare, bare_cpu_s) = self.bare("closed", connections, pipeline);
        let shape = format!("-c{connections} --pipeline {pipeline}");
        let (document, cpu_s) = self.bourdon(&shape);
        let completed = document["accounting"]["completed"].as_f64().unwrap();
        assert!(completed > 0.0 && bare[0] > 0.0, "both must have been answered");
        (cpu_s / completed) / (bare_cpu_s / bare[0])
    }

    fn kept_over_tls(&self) -> f64 {
        let [port, source] = [self.port.to_string(), self.next_source().to_string()];
        let [connections, ms] = [KEPT, self.ms].map(|number| number.to_string());
        let (replies, bare_cpu_s) = self.floor(&["kept", &port, &source, &connections, &ms]);
        let (document, cpu_s) = self.bourdon_over("https", &format!("--insecure -d{ms}ms -c{connections}"));
        (cpu_s / document["accounting"]["completed"].as_f64().unwrap()) / (bare_cpu_s / replies[0])
    }

    fn once_over_tls(&self, connections: u64) -> f64 {
        let [port, source] = [self.port.to_string(), self.next_source().to_string()];
        let [all, at_once] = [connections, AT_ONCE].map(|number| number.to_string());
        let (replies, bare_cpu_s) = self.floor(&["once", &port, &source, &all, &at_once]);
        assert_eq!(replies[0], connections as f64);
        let shape = format!("--insecure --no-keepalive -n{all} -c{at_once}");
        let (document, cpu_s) = self.bourdon_over("https", &shape);
        assert_eq!(document["accounting"]["completed"].as_f64(), Some(connections as f64));
        cpu_s / bare_cpu_s
    }

    /// Lateness p50, p99 and CPU per request of bourdon ÷ those of the floor; and what bourdon sent ÷ what was due.
    fn open(&self, rate: u64) -> [f64; 4] {
        let (bare, bare_cpu_s) = self.bare("open", RATE_CONNECTIONS, rate);
        let (document, cpu_s) = self.bourdon(&format!("-c{RATE_CONNECTIONS} -R{rate}"));
        let figure = |path: &str| document.pointer(path).and_then(serde_json::Value::as_f64);
        let [scheduled, sent] = ["scheduled", "sent"].map(|name| figure(&format!("/accounting/{name}")).unwrap());
        // A window of a tenth of a second has too few requests for a p99.
        let late = |name: &str, bare_ns: f64| {
            figure(&format!("/latency_us/lateness/{name}")).map_or(f64::NAN, |us| us * 1e3 / bare_ns)
        };
        [late("p50", bare[1]), late("p99", bare[2]), (cpu_s / sent) / (bare_cpu_s / bare[0]), sent / scheduled]
    }

    /// The floor's figures, and the CPU seconds it used.
    fn bare(&self, model: &str, first: u64, second: u64) -> (Vec<f64>, f64) {
        let (port, source) = (self.port.to_string(), self.next_source().to_string());
        let [first, second, ms] = [first, second, self.ms].map(|number| number.to_string());
        self.floor(&[model, &port, &source, &first, &second, &ms])
    }

    fn floor(&self, arguments: &[&str]) -> (Vec<f64>, f64) {
        let (text, cpu_s) = cost(self.pinned(std::env::current_exe().unwrap()).args(arguments));
        (text.split_whitespace().map(|word| word.parse().unwrap()).collect(), cpu_s)
    }

    /// The document of a load that checks every reply, and the CPU seconds it used.
    fn bourdon(&self, shape: &str) -> (serde_json::Value, f64) {
        self.bourdon_over("http", &format!("-d{}ms {shape}", self.ms))
    }

    fn bourdon_over(&self, scheme: &str, shape: &str) -> (serde_json::Value, f64) {
        let url = format!("{scheme}://127.0.0.1:{}/rest/hello", self.port);
        let source = self.next_source();
        let load = format!("load --warm-up 0s --expect-status 200 --format json --source {source} {shape} {url}");
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
