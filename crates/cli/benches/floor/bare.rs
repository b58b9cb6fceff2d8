//! The floor: bare system calls that parse and check nothing, and count replies by their known length.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;

use engine::MonotonicClock;
use hdrhistogram::Histogram;
use model::{Clock, NS_PER_S};
use rustix::event::Timespec;
use rustix::event::epoll::{self, Event, EventData, EventFlags};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, ipproto, sockopt};

use crate::slices::Bench;

/// Length of the clean specimen's reply.
const REPLY: usize =
    "HTTP/1.1 200 OK\r\nServer: specimen\r\nContent-Type: text/plain\r\nContent-Length: 11\r\n\r\nHello world".len();

/// Open connections under one epoll.
struct Bare {
    poll: OwnedFd,
    sockets: Vec<OwnedFd>,
    /// Bytes of the reply under way, by connection.
    received: Vec<usize>,
    events: Vec<Event>,
    buffer: Vec<u8>,
    request: String,
}

impl Bare {
    fn open(port: u16, source: Ipv4Addr, connections: usize) -> Self {
        let poll = epoll::create(epoll::CreateFlags::CLOEXEC).unwrap();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let connect = |index: usize| {
            let (family, flags) = (AddressFamily::INET, SocketFlags::CLOEXEC);
            let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP)).unwrap();
            rustix::net::bind(&socket, &SocketAddr::from((source, 0))).unwrap();
            rustix::net::connect(&socket, &address).unwrap();
            sockopt::set_tcp_nodelay(&socket, true).unwrap();
            epoll::add(&poll, &socket, EventData::new_u64(index as u64), EventFlags::IN).unwrap();
            socket
        };
        let sockets = (0..connections).map(connect).collect();
        Bare {
            poll,
            sockets,
            received: vec![0; connections],
            events: Vec::with_capacity(512),
            buffer: vec![0; 256 * 1024],
            request: format!("GET /rest/hello HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"),
        }
    }

    fn send(&self, index: usize, batch: &str) {
        rustix::net::send(&self.sockets[index], batch.as_bytes(), SendFlags::NOSIGNAL).unwrap();
    }

    fn wait(&mut self, timeout: Option<&Timespec>) -> usize {
        self.events.clear();
        epoll::wait(&self.poll, rustix::buffer::spare_capacity(&mut self.events), timeout).unwrap()
    }

    /// Receives on the connection of an event; gives it once `bytes` have come.
    fn receive(&mut self, event: usize, bytes: usize) -> Option<usize> {
        let index = self.events[event].data.u64() as usize;
        let received = rustix::net::recv(&self.sockets[index], &mut self.buffer[..], RecvFlags::DONTWAIT).unwrap().0;
        self.received[index] += received;
        (self.received[index] >= bytes).then(|| {
            self.received[index] -= bytes;
            index
        })
    }
}

/// The floor under a load: connections that stay open from slice to slice.
pub(crate) struct Floor {
    bare: Bare,
    load: Bench,
    free: VecDeque<usize>,
    /// How late sends were in the slices that count, in nanoseconds.
    late_ns: Histogram<u64>,
}

impl Floor {
    pub(crate) fn open(port: u16, source: Ipv4Addr, load: Bench) -> Self {
        rustix::thread::set_current_timer_slack(NonZeroU64::new(1)).unwrap();
        let bare = Bare::open(port, source, load.connections() as usize);
        let late_ns = Histogram::<u64>::new_with_bounds(1, 60 * NS_PER_S, 3).unwrap();
        Self { bare, load, free: (0..load.connections() as usize).collect(), late_ns }
    }

    /// One slice, up to the reply to its last request; gives the number of replies.
    pub(crate) fn slice(&mut self, window_ns: u64) -> u64 {
        match self.load {
            Bench::Closed { pipeline, .. } => self.closed(pipeline.into(), window_ns),
            Bench::Open { rate_per_s } => self.at_rate(rate_per_s, window_ns),
        }
    }

    /// Forgets what was late so far.
    pub(crate) fn begin_to_count(&mut self) {
        self.late_ns.reset();
    }

    /// p50 and p99 of how late sends were, in nanoseconds.
    pub(crate) fn lateness_ns(&self) -> [f64; 2] {
        [0.5, 0.99].map(|quantile| self.late_ns.value_at_quantile(quantile) as f64)
    }

    /// Each connection sends a batch when the last one was answered.
    fn closed(&mut self, pipeline: usize, window_ns: u64) -> u64 {
        let bare = &mut self.bare;
        let batch = bare.request.repeat(pipeline);
        let end_ns = MonotonicClock.now_ns() + window_ns;
        let mut in_flight = bare.sockets.len();
        (0..in_flight).for_each(|index| bare.send(index, &batch));
        let mut requests = 0;
        let mut is_over = false;
        while in_flight > 0 {
            for event in 0..bare.wait(None) {
                let Some(index) = bare.receive(event, REPLY * pipeline) else { continue };
                requests += pipeline as u64;
                if is_over { in_flight -= 1 } else { bare.send(index, &batch) }
            }
            is_over = MonotonicClock.now_ns() >= end_ns;
        }
        requests
    }

    /// Sends at due times without spinning.
    fn at_rate(&mut self, rate_per_s: u64, window_ns: u64) -> u64 {
        let Self { bare, free, late_ns, .. } = self;
        let request = bare.request.clone();
        let start_ns = MonotonicClock.now_ns();
        let count = rate_per_s * window_ns / NS_PER_S;
        let due = |n: u64| start_ns + n * NS_PER_S / rate_per_s;
        let mut sent = 0;
        while sent < count || free.len() < bare.sockets.len() {
            let now_ns = MonotonicClock.now_ns();
            if sent < count
                && due(sent) <= now_ns
                && let Some(index) = free.pop_front()
            {
                late_ns.saturating_record(now_ns - due(sent));
                bare.send(index, &request);
                sent += 1;
                continue;
            }
            // With no connection free, or all sent, only a reply can help.
            let left_ns = if free.is_empty() || sent == count { NS_PER_S } else { due(sent) - now_ns };
            let timeout = Timespec { tv_sec: (left_ns / NS_PER_S) as i64, tv_nsec: (left_ns % NS_PER_S) as i64 };
            for event in 0..bare.wait(Some(&timeout)) {
                free.extend(bare.receive(event, REPLY));
            }
        }
        sent
    }
}
