//! What `bourdon load` costs above the floor: the CPU per request of bare system calls and of bourdon, in rounds that
//! alternate so that a machine whose speed drifts moves both. Quote the ratio, never the microseconds.
//!
//! `make bench-floor`, or `cargo bench -p bourdon --bench floor -- [ROUNDS] [SECONDS]`. Under `cargo test` it runs once
//! and briefly, so that it cannot rot. The server is the clean specimen on the first CPU, the generators are on the last.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark may panic, and prints its result")]

use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, Command, Stdio};

use engine::MonotonicClock;
use model::{Clock, NS_PER_S};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, ipproto, sockopt};

const BOURDON: &str = env!("CARGO_BIN_EXE_bourdon");

/// (connections, requests in flight on each).
const SHAPES: [(usize, usize); 3] = [(100, 1), (100, 16), (5_000, 1)];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    if arguments.first().is_some_and(|word| word == "floor") {
        let [port, connections, pipeline, ms] = [1, 2, 3, 4].map(|at: usize| arguments[at].parse::<u64>().unwrap());
        println!("{}", floor(port as u16, connections as usize, pipeline as usize, ms));
        return;
    }
    let measuring = std::env::args().any(|argument| argument == "--bench");
    let given = |at: usize, default: u64| arguments.get(at).map_or(default, |text| text.parse().unwrap());
    let (rounds, ms) = if measuring { (given(0, 5), given(1, 3) * 1000) } else { (1, 100) };
    let shapes = if measuring { &SHAPES[..] } else { &SHAPES[..2] };
    let cpus = std::thread::available_parallelism().unwrap().get();
    let (mut server, port) = serve();
    for (connections, pipeline) in shapes {
        let mut ratios: Vec<f64> = (0..rounds).map(|_| round(port, *connections, *pipeline, ms, cpus - 1)).collect();
        ratios.sort_by(f64::total_cmp);
        let (median, low, high) = (ratios[ratios.len() / 2], ratios[0], ratios[ratios.len() - 1]);
        println!("{connections} connections, {pipeline} in flight: {median:.3} × the floor ({low:.3} to {high:.3})");
    }
    // Closing its pipe makes the reaper end the specimen.
    drop(server.stdin.take());
    server.wait().unwrap();
}

/// The clean specimen on the first CPU, and its port.
fn serve() -> (Child, u16) {
    let mut reaper = Command::new(BOURDON)
        .args(["reaper", "--cpus=0", "--", BOURDON, "specimen", "clean"])
        .env("PORT", "0")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(reaper.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let port = line.trim_end().rsplit(':').next().unwrap().parse().unwrap();
    (reaper, port)
}

/// CPU per request of bourdon ÷ that of the floor, one after the other.
fn round(port: u16, connections: usize, pipeline: usize, ms: u64, cpu: usize) -> f64 {
    let own = std::env::current_exe().unwrap();
    let numbers = [u64::from(port), connections as u64, pipeline as u64, ms].map(|number| number.to_string());
    let (bare, bare_cpu) = cost(pinned(cpu).arg(own).arg("floor").args(numbers));
    let url = format!("http://127.0.0.1:{port}/rest/hello");
    let load = format!(
        "load -t1 -c{connections} -d{ms}ms --warm-up 0s --pipeline {pipeline} --expect-status 200 --format json {url}"
    );
    let (document, cpu_s) = cost(pinned(cpu).arg(BOURDON).args(load.split(' ')).args(["--expect-body", "Hello world"]));
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    let completed = document["accounting"]["completed"].as_f64().unwrap();
    let floor_completed: f64 = bare.trim().parse().unwrap();
    assert!(completed > 0.0 && floor_completed > 0.0, "both must have been answered");
    (cpu_s / completed) / (bare_cpu / floor_completed)
}

fn pinned(cpu: usize) -> Command {
    let mut command = Command::new("taskset");
    command.args(["-c", &cpu.to_string()]);
    command
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

/// The floor: sends and receives alone. It parses and records nothing, and counts replies by their known length.
fn floor(port: u16, connections: usize, pipeline: usize, ms: u64) -> u64 {
    const REPLY: usize =
        "HTTP/1.1 200 OK\r\nServer: specimen\r\nContent-Type: text/plain\r\nContent-Length: 11\r\n\r\nHello world"
            .len();
    let batch = format!("GET /rest/hello HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n").repeat(pipeline);
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let poll = epoll::create(epoll::CreateFlags::CLOEXEC).unwrap();
    let sockets: Vec<_> = (0..connections)
        .map(|index| {
            let socket = rustix::net::socket_with(
                AddressFamily::INET,
                SocketType::STREAM,
                SocketFlags::CLOEXEC,
                Some(ipproto::TCP),
            )
            .unwrap();
            rustix::net::connect(&socket, &address).unwrap();
            sockopt::set_tcp_nodelay(&socket, true).unwrap();
            epoll::add(&poll, &socket, EventData::new_u64(index as u64), EventFlags::IN).unwrap();
            rustix::net::send(&socket, batch.as_bytes(), SendFlags::NOSIGNAL).unwrap();
            socket
        })
        .collect();
    let (mut received, mut requests) = (vec![0; connections], 0);
    let (mut buffer, mut events) = (vec![0; 256 * 1024], Vec::with_capacity(512));
    let end_ns = MonotonicClock.now_ns() + ms * NS_PER_S / 1000;
    while MonotonicClock.now_ns() < end_ns {
        events.clear();
        epoll::wait(&poll, rustix::buffer::spare_capacity(&mut events), None).unwrap();
        for event in &events {
            let index = event.data.u64() as usize;
            received[index] += rustix::net::recv(&sockets[index], &mut buffer[..], RecvFlags::DONTWAIT).unwrap().0;
            if received[index] >= REPLY * pipeline {
                received[index] -= REPLY * pipeline;
                requests += pipeline as u64;
                rustix::net::send(&sockets[index], batch.as_bytes(), SendFlags::NOSIGNAL).unwrap();
            }
        }
    }
    requests
}
