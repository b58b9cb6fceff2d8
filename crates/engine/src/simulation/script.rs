use std::slice::from_ref;

use model::{Clock, LoadSpec};
use rustix::io::Errno;

use super::{Language, Turns, VirtualClock, drive, first};
use crate::collector::{Listener, Passed};
use crate::demand::DRAIN_NS;
use crate::output::LoadOutput;
use crate::session::{LoadError, RunOptions};
use crate::wire::{Progress, Ready, Received, Wire};

/// How an attempt to connect ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connecting {
    /// The connection opens.
    Opens,
    /// The kernel refuses at once.
    RefusedAtOnce,
    /// The peer refuses.
    Refused,
    /// It never ends.
    Hangs,
}

/// What a peer does, whether it was asked anything or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// So many nanoseconds pass. What stands between two of these happens at once.
    Pass(u64),
    /// Bytes come on a slot's connection.
    Bytes(u32, Vec<u8>),
    /// The peer closes its side of a slot's connection.
    Close(u32),
    /// The peer resets a slot's connection.
    Reset(u32),
    /// The kernel takes bytes again on a slot's connection that refused some.
    Drain(u32),
}

/// A peer that follows a script: hostile input for the whole loop.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Script {
    /// How attempts to connect end, over and over; none: all open.
    pub connects: Vec<Connecting>,
    /// How many bytes each send takes, over and over; 0 takes none for now. None: all.
    pub sends: Vec<usize>,
    /// The error number that every send fails with; none where sends do not fail by themselves.
    pub send_error: Option<i32>,
    /// What happens, in order. Acts on slots that are not open are lost.
    pub acts: Vec<Act>,
    /// Whether the peer speaks TLS, so that its bytes come encrypted behind a handshake.
    pub behind_tls: bool,
    /// What the generator speaks, and the peer if it likes.
    pub language: Language,
}

#[derive(Debug, Clone, Default)]
struct Slot {
    generation: u32,
    connected: Option<Connecting>,
    inbox: Vec<u8>,
    ended: bool,
    reset: bool,
}

struct ScriptedWire {
    script: Script,
    clock: VirtualClock,
    slots: Vec<Slot>,
    connects: usize,
    sends: usize,
    acts: usize,
    ready: Vec<Ready>,
    /// How many of `ready` the last wait gave; the rest came since.
    given: usize,
}

impl ScriptedWire {
    fn edge(&mut self, slot: u32, readable: bool, writable: bool, hangup: bool) {
        let generation = self.slots[slot as usize].generation;
        self.ready.push(Ready { slot, generation, readable, writable, hangup });
    }

    fn act(&mut self, act: Act) {
        match act {
            Act::Pass(_) => {}
            Act::Bytes(slot, bytes) => self.on_open(slot, |slot| slot.inbox.extend_from_slice(&bytes), (true, false)),
            Act::Close(slot) => self.on_open(slot, |slot| slot.ended = true, (true, true)),
            Act::Reset(slot) => self.on_open(slot, |slot| slot.reset = true, (true, true)),
            Act::Drain(slot) => self.on_open(slot, |_| {}, (false, false)),
        }
    }

    fn on_open(&mut self, slot: u32, change: impl FnOnce(&mut Slot), (readable, hangup): (bool, bool)) {
        let slot = slot % self.slots.len() as u32;
        let target = &mut self.slots[slot as usize];
        if target.connected == Some(Connecting::Opens) && !target.ended && !target.reset {
            change(target);
            self.edge(slot, readable, true, hangup);
        }
    }
}

impl Wire for ScriptedWire {
    fn connect(&mut self, slot: u32, generation: u32) -> Result<(), Errno> {
        let outcome = in_turn(&self.script.connects, &mut self.connects).unwrap_or(Connecting::Opens);
        if outcome == Connecting::RefusedAtOnce {
            return Err(Errno::ADDRNOTAVAIL);
        }
        self.slots[slot as usize] = Slot { generation, connected: Some(outcome), ..Slot::default() };
        if outcome != Connecting::Hangs {
            self.edge(slot, false, true, outcome == Connecting::Refused);
        }
        Ok(())
    }

    fn progress(&mut self, slot: u32) -> Result<Progress, Errno> {
        let refused = self.slots[slot as usize].connected == Some(Connecting::Refused);
        if refused { Err(Errno::CONNREFUSED) } else { Ok(Progress::Open) }
    }

    fn send(&mut self, slot: u32, bytes: &[u8]) -> Result<usize, Errno> {
        let target = &self.slots[slot as usize];
        if target.reset {
            return Err(Errno::PIPE);
        }
        if let Some(errno) = self.script.send_error {
            return Err(Errno::from_raw_os_error(errno));
        }
        let most = in_turn(&self.script.sends, &mut self.sends).unwrap_or(usize::MAX);
        if most == 0 { Err(Errno::AGAIN) } else { Ok(bytes.len().min(most)) }
    }

    fn receive(&mut self, slot: u32, buffer: &mut [u8]) -> Result<Received, Errno> {
        let target = &mut self.slots[slot as usize];
        let count = target.inbox.len().min(buffer.len());
        if count > 0 {
            buffer[..count].copy_from_slice(&target.inbox[..count]);
            target.inbox.drain(..count);
            return Ok(Received { bytes: count, more: count == buffer.len() });
        }
        match (target.reset, target.ended) {
            (true, _) => Err(Errno::CONNRESET),
            (_, true) => Ok(Received { bytes: 0, more: false }),
            _ => Err(Errno::AGAIN),
        }
    }

    fn close(&mut self, slot: u32) {
        self.slots[slot as usize].connected = None;
    }

    /// Gives the edges of all that happens until time passes; what is stale by the time it is looked at is among them.
    fn wait(&mut self, timeout_ns: u64) -> Result<usize, Errno> {
        let until_ns = self.clock.now_ns().saturating_add(timeout_ns);
        self.ready.drain(..std::mem::take(&mut self.given));
        loop {
            match self.script.acts.get_mut(self.acts) {
                Some(Act::Pass(_)) if !self.ready.is_empty() => break,
                Some(Act::Pass(left_ns)) => {
                    let step_ns = (until_ns - self.clock.now_ns()).min(*left_ns);
                    *left_ns -= step_ns;
                    self.clock.advance_to(self.clock.now_ns() + step_ns);
                    if *left_ns > 0 {
                        break;
                    }
                }
                Some(act) => {
                    let act = act.clone();
                    self.act(act);
                }
                None => {
                    if self.ready.is_empty() {
                        self.clock.advance_to(until_ns);
                    }
                    break;
                }
            }
            self.acts += 1;
        }
        self.given = self.ready.len();
        Ok(self.given)
    }

    fn ready(&self, index: usize) -> Ready {
        self.ready[index]
    }
}

/// The next of `all`, over and over.
fn in_turn<T: Copy>(all: &[T], so_far: &mut usize) -> Option<T> {
    let next = all.get(*so_far % all.len().max(1)).copied();
    *so_far += 1;
    next
}

/// Makes the load that `spec` describes on a peer that follows `script`, in virtual time and with one thread. With it
/// comes for how many nanoseconds it lasted beyond its window and its drain: 0, or it did not end on time.
///
/// # Errors
/// As [`crate::run`].
pub fn follow(spec: &LoadSpec, script: Script) -> Result<(LoadOutput, u64), LoadError> {
    let clock = VirtualClock::default();
    let slots = vec![Slot::default(); spec.connections as usize];
    let wire = ScriptedWire {
        script,
        clock: clock.clone(),
        slots,
        connects: 0,
        sends: 0,
        acts: 0,
        ready: Vec::new(),
        given: 0,
    };
    let (options, mut nobody) = (RunOptions::default(), |_: &Passed| {});
    let (speaks_tls, language) = (!wire.script.behind_tls, wire.script.language);
    let turns = Turns { loads: from_ref(spec), drain_ns: DRAIN_NS, rest_ns: 0 };
    let output = drive(&turns, language, (wire, speaks_tls), &clock, options, &mut Listener::of(&mut nobody))
        .map(first)?
        .conclude();
    let over_ns = clock.now_ns().saturating_sub(output.window_end_ns + DRAIN_NS);
    Ok((output, over_ns))
}
