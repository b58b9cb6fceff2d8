//! A server and its network in virtual time: the loop runs unchanged over it, so that what it must measure is known
//! exactly and a minute passes in milliseconds.

mod behind_tls;
pub mod echo;
mod script;
mod server;

use std::panic::resume_unwind;
use std::slice::from_ref;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};

use model::{Clock, LoadSpec};

use crate::clock::ThreadTimes;
use crate::collector::{Collector, Listener, Passed, Stopped};
use crate::demand::{DRAIN_NS, Demand};
use crate::http1::Http1;
use crate::output::{Brought, LoadOutput};
use crate::port::Port;
use crate::protocol::Protocol;
use crate::rotation::{SLICE_DRAIN_NS, SliceSpec, Sliced, go_round};
use crate::second::Felt;
use crate::session::{Home, LEAD_NS, LoadError, RunOptions, Share};
use crate::tls::{Secure, Secured};
use crate::wire::Wire;
use crate::worker::{OneLoad, Resting, Task};

use behind_tls::BehindTls;
use echo::Echo;
pub use script::{Act, Connecting, Script, follow};
pub use server::SimulatedServer;
use server::SimulatedWire;

/// A clock that only the simulation moves.
#[derive(Debug, Clone, Default)]
pub struct VirtualClock(Arc<AtomicU64>);

impl VirtualClock {
    fn advance_to(&self, at_ns: u64) {
        self.0.fetch_max(at_ns, Ordering::Relaxed);
    }
}

impl Clock for VirtualClock {
    fn now_ns(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What generator and peer speak.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Language {
    /// HTTP/1.
    #[default]
    Http1,
    /// The protocol of [`echo`].
    Echo,
}

/// Makes the load that `spec` describes on a simulated server, in virtual time and with one thread.
///
/// # Errors
/// As [`crate::run`].
pub fn simulate(
    spec: &LoadSpec,
    server: SimulatedServer,
    options: RunOptions,
    progress: &mut dyn FnMut(&Passed),
) -> Result<LoadOutput, LoadError> {
    bring_simulated(spec, server, options, progress).map(Brought::conclude)
}

/// The same, still to be put together with others.
pub(crate) fn bring_simulated(
    spec: &LoadSpec,
    server: SimulatedServer,
    options: RunOptions,
    progress: &mut dyn FnMut(&Passed),
) -> Result<Brought, LoadError> {
    let turns = Turns { loads: from_ref(spec), drain_ns: DRAIN_NS, rest_ns: 0 };
    bring_turns(&turns, server, options, &mut Listener::of(progress)).map(first)
}

/// Makes one thread's share of a load, which begins after [`LEAD_NS`] of virtual time; `stopped` is told what [`crate::bring_share`] tells.
///
/// # Errors
/// As [`crate::bring_share`].
pub fn simulate_share(
    spec: &LoadSpec,
    thread: u32,
    server: SimulatedServer,
    stopped: &mut dyn FnMut(u64, Brought),
) -> Result<Brought, LoadError> {
    let options = RunOptions { share: Some(Share { first_thread: thread, threads: 1 }), ..RunOptions::default() };
    let turns = Turns { loads: from_ref(spec), drain_ns: DRAIN_NS, rest_ns: 0 };
    let mut stopped = |told: Stopped| stopped(told.seconds, Brought::stopped(told));
    let mut listener = Listener { second: &mut |_| {}, stopped: Some(&mut stopped) };
    bring_turns(&turns, server, options, &mut listener).map(first)
}

/// Loads that follow each other on the same connections: what each asks for differs in its time and its seed alone.
#[derive(Debug, Clone, Copy)]
pub struct Turns<'a> {
    /// The loads, of which there is one at least.
    pub loads: &'a [LoadSpec],
    /// How long the end of each waits for replies.
    pub drain_ns: u64,
    /// How long nothing happens between two.
    pub rest_ns: u64,
}

/// Makes loads one after the other on the same connections to a simulated server, in virtual time and with one thread.
///
/// # Errors
/// As [`crate::run`].
pub fn simulate_turns(
    turns: &Turns<'_>,
    server: SimulatedServer,
    options: RunOptions,
    progress: &mut dyn FnMut(&Passed),
) -> Result<Vec<LoadOutput>, LoadError> {
    let brought = bring_turns(turns, server, options, &mut Listener::of(progress))?;
    Ok(brought.into_iter().map(Brought::conclude).collect())
}

fn bring_turns(
    turns: &Turns<'_>,
    server: SimulatedServer,
    options: RunOptions,
    listener: &mut Listener<'_>,
) -> Result<Vec<Brought>, LoadError> {
    let (clock, language) = (VirtualClock::default(), server.language);
    let wire = wire_to(server, &turns.loads[0], &clock);
    drive(turns, language, (wire, false), &clock, options, listener)
}

/// The wire to a server that is asked for this.
fn wire_to(server: SimulatedServer, spec: &LoadSpec, clock: &VirtualClock) -> SimulatedWire {
    let requests = match server.language {
        Language::Http1 => crate::http1::encoded(spec).collect(),
        Language::Echo => spec.mix.requests().iter().map(|one| one.request.body.clone()).collect(),
    };
    SimulatedWire::new(server, requests, spec.connections, clock.clone())
}

/// What the only load of some turns brought.
fn first(brought: Vec<Brought>) -> Brought {
    brought.into_iter().next().expect("there is a load")
}

/// The loop over a peer in virtual time, over TLS where the load asks for it. A peer that does not speak TLS itself is then
/// put behind it.
fn drive(
    turns: &Turns<'_>,
    language: Language,
    peer: (impl Wire + Send, bool),
    clock: &VirtualClock,
    options: RunOptions,
    listener: &mut Listener<'_>,
) -> Result<Vec<Brought>, LoadError> {
    match language {
        Language::Http1 => drive_speaking(
            turns,
            Http1::new(&turns.loads[0], options.threads(&turns.loads[0]).start),
            peer,
            clock,
            options,
            listener,
        ),
        Language::Echo => drive_speaking(
            turns,
            Echo::new(&turns.loads[0], options.threads(&turns.loads[0]).start),
            peer,
            clock,
            options,
            listener,
        ),
    }
}

fn drive_speaking<P: Protocol<Conversation: Send> + Send>(
    turns: &Turns<'_>,
    protocol: P,
    (peer, speaks_tls): (impl Wire + Send, bool),
    clock: &VirtualClock,
    options: RunOptions,
    listener: &mut Listener<'_>,
) -> Result<Vec<Brought>, LoadError> {
    let spec = &turns.loads[0];
    let secured = spec.tls.as_ref().map(Secure::speaking::<P>).transpose()?;
    match secured {
        None => work(turns, protocol, peer, clock, options, listener),
        Some(secure) if speaks_tls => {
            work(turns, protocol, Secured::new(peer, secure, spec.connections), clock, options, listener)
        }
        Some(secure) => {
            let behind = BehindTls::new(peer, spec.connections);
            work(turns, protocol, Secured::new(behind, secure, spec.connections), clock, options, listener)
        }
    }
}

/// What one thread does, in either language over any of these wires, while its seconds are collected here, one by one.
fn work<P: Protocol<Conversation: Send> + Send>(
    turns: &Turns<'_>,
    protocol: P,
    wire: impl Wire + Send,
    clock: &VirtualClock,
    options: RunOptions,
    listener: &mut Listener<'_>,
) -> Result<Vec<Brought>, LoadError> {
    let (stop, served) = (AtomicBool::new(false), AtomicBool::new(options.is_shared(&turns.loads[0])));
    let thread = options.threads(&turns.loads[0]).start;
    let task = Task { spec: &turns.loads[0], thread, stop: &stop, lost: &stop, served: &served };
    let mut resting = Resting::opened(task, protocol, wire, clock.clone())?;
    let (mut all, mut begin_ns) = (Vec::new(), clock.now_ns());
    for spec in turns.loads {
        let one = One { spec, begin_ns, drain_ns: turns.drain_ns, step_s: spec.step_s(), options };
        let (home, rested) = one.load(resting, &stop, listener.again())?;
        resting = rested;
        all.push(home.brought);
        clock.advance_to(clock.now_ns() + turns.rest_ns);
        begin_ns = clock.now_ns() + LEAD_NS;
    }
    Ok(all)
}

/// One load in virtual time.
struct One<'a> {
    spec: &'a LoadSpec,
    begin_ns: u64,
    drain_ns: u64,
    step_s: u64,
    options: RunOptions,
}

impl One<'_> {
    /// Makes it on a thread of its own; gives the connections back.
    fn load<'a, P: Protocol<Conversation: Send> + Send, W: Wire + Send>(
        &self,
        resting: Resting<'a, P, W, VirtualClock>,
        stop: &AtomicBool,
        listener: Listener<'_>,
    ) -> Result<(Home, Resting<'a, P, W, VirtualClock>), LoadError> {
        let One { spec, begin_ns, options, .. } = *self;
        let mut collector = Collector::new(Felt::of(spec), self.step_s, 1, self.options.histograms);
        let (full, seconds) = mpsc::channel();
        let (port, empty) = Port::in_step(Felt::of(spec), full);
        let (threads, checkpoints) = (options.threads(spec), listener.stopped.is_some());
        let demand = Demand::new(spec, threads.start, begin_ns);
        let turn = OneLoad { demand, drain_ns: self.drain_ns, port, checkpoints };
        let result = std::thread::scope(|scope| {
            let thread = scope.spawn(move || resting.serve(turn, ThreadTimes::default));
            collector.collect(&seconds, &[empty], listener);
            thread.join().unwrap_or_else(|panic| resume_unwind(panic))
        });
        let (part, rested) = result?;
        let (totals, stopped) = (collector.totals(), stop.load(Ordering::Relaxed).then_some(threads));
        Ok((Home { begin_ns, totals, brought: Brought::new(spec, vec![part], collector, stopped) }, rested))
    }
}

/// Makes slices that go round among simulated servers, which speak one language, in virtual time and with one thread.
///
/// # Errors
/// As [`crate::rotate`].
///
/// # Panics
/// As [`crate::rotate`].
pub fn simulate_rotation(
    loads: &[LoadSpec],
    servers: Vec<SimulatedServer>,
    options: RunOptions,
    stop: &AtomicBool,
    next: &mut dyn FnMut(Option<Sliced>) -> Option<SliceSpec>,
    progress: &mut dyn FnMut(&Passed),
) -> Result<Vec<Option<LoadOutput>>, LoadError> {
    let round = Round { loads, options, stop, clock: VirtualClock::default() };
    match servers[0].language {
        Language::Http1 => round.speaking(Http1::new, servers, next, progress),
        Language::Echo => round.speaking(Echo::new, servers, next, progress),
    }
}

/// What slices in virtual time go round among.
struct Round<'a> {
    loads: &'a [LoadSpec],
    options: RunOptions,
    stop: &'a AtomicBool,
    clock: VirtualClock,
}

impl<'a> Round<'a> {
    /// Over TLS where the load of a server asks for it, which then all do.
    fn speaking<P: Protocol<Conversation: Send> + Send>(
        &self,
        protocol: fn(&'a LoadSpec, u32) -> P,
        servers: Vec<SimulatedServer>,
        next: &mut dyn FnMut(Option<Sliced>) -> Option<SliceSpec>,
        progress: &mut dyn FnMut(&Passed),
    ) -> Result<Vec<Option<LoadOutput>>, LoadError> {
        let wires = self.loads.iter().zip(servers).map(|(spec, server)| (spec, wire_to(server, spec, &self.clock)));
        if self.loads[0].tls.is_none() {
            return self.go(protocol, wires.map(|(_, wire)| wire).collect(), next, progress);
        }
        let secured = wires.filter_map(|(spec, wire)| {
            let secure = Secure::speaking::<P>(spec.tls.as_ref()?);
            let slots = spec.connections;
            Some(secure.map(|secure| Secured::new(BehindTls::new(wire, slots), secure, slots)))
        });
        self.go(protocol, secured.collect::<Result<_, _>>()?, next, progress)
    }

    fn go<P: Protocol<Conversation: Send> + Send, W: Wire + Send>(
        &self,
        protocol: fn(&'a LoadSpec, u32) -> P,
        wires: Vec<W>,
        next: &mut dyn FnMut(Option<Sliced>) -> Option<SliceSpec>,
        progress: &mut dyn FnMut(&Passed),
    ) -> Result<Vec<Option<LoadOutput>>, LoadError> {
        let Round { loads, options, stop, ref clock } = *self;
        let served: Vec<AtomicBool> = loads.iter().map(|_| AtomicBool::new(false)).collect();
        let mut seats = Vec::new();
        for ((spec, wire), served) in loads.iter().zip(wires).zip(&served) {
            let task = Task { spec, thread: 0, stop, lost: stop, served };
            seats.push(Some(Resting::opened(task, protocol(spec, 0), wire, clock.clone())?));
        }
        go_round(loads, stop, next, &mut |server, spec, step_s| {
            let resting = seats[server].take().expect("a thread gives its connections back");
            let begin_ns = clock.now_ns() + LEAD_NS;
            let one = One { spec, begin_ns, drain_ns: SLICE_DRAIN_NS, step_s, options };
            let (home, rested) = one.load(resting, stop, Listener::of(progress))?;
            seats[server] = Some(rested);
            Ok(home)
        })
    }
}
