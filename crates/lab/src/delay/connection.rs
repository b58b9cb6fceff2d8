use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown, sockopt};

/// Bytes of one direction above which no more are read.
const MOST_HELD: usize = 256 * 1024;

/// How one direction ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The sender has sent all it will send.
    Finished,
    /// The connection is gone.
    Reset,
}

/// Bytes on their way in one direction.
#[derive(Debug, Default)]
struct Way {
    /// Pieces as they were read, each with the time at which it goes on.
    held: VecDeque<(u64, Vec<u8>)>,
    /// Bytes of the first piece that have gone on.
    gone: usize,
    bytes: usize,
    /// What follows the last piece, and when.
    end: Option<(u64, End)>,
    /// Whether the end has been passed on.
    closed: bool,
}

impl Way {
    fn is_open(&self) -> bool {
        self.end.is_none()
    }
}

/// What becomes of a connection after it was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// It goes on.
    Open,
    /// Both directions are finished.
    Finished,
    /// Both ends are to be reset.
    Reset,
}

/// A connection of the generator and the one to the target that belongs to it; index 0 is the generator's.
pub(super) struct Connection {
    sockets: [OwnedFd; 2],
    readable: [bool; 2],
    writable: [bool; 2],
    /// From the socket of the same index to the other.
    ways: [Way; 2],
    /// Whether the side that opened it has asked, and nothing has come back since.
    asked: bool,
    turns: Turns,
}

/// How often the side that opened a connection has asked, and how often something came back after that.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Turns {
    pub(super) asked: u64,
    pub(super) answered: u64,
}

impl Connection {
    pub(super) fn new(sockets: [OwnedFd; 2]) -> Self {
        let (readable, writable, ways) = ([false; 2], [false; 2], Default::default());
        Self { sockets, readable, writable, ways, asked: false, turns: Turns::default() }
    }

    /// The turns since this was last called.
    pub(super) fn take_turns(&mut self) -> Turns {
        std::mem::take(&mut self.turns)
    }

    /// Whether an answer is owed.
    pub(super) fn is_asked(&self) -> bool {
        self.asked
    }

    pub(super) fn ready(&mut self, side: usize, readable: bool, writable: bool) {
        self.readable[side] |= readable;
        self.writable[side] |= writable;
    }

    /// Sends what is due, and reads what has come. `hold` gives the time at which what is read now goes on.
    pub(super) fn pump(&mut self, now_ns: u64, buffer: &mut [u8], hold: &mut dyn FnMut() -> u64) -> Next {
        for from in [0, 1] {
            if let Err(_gone) = self.send_due(from, now_ns) {
                self.receiver_is_gone(from, hold());
            }
            self.read(from, buffer, hold);
        }
        let reset = |way: &Way| way.end.is_some_and(|(due_ns, end)| end == End::Reset && due_ns <= now_ns);
        match &self.ways {
            ways if ways.iter().any(reset) => Next::Reset,
            ways if ways.iter().all(|way| way.closed) => Next::Finished,
            _ => Next::Open,
        }
    }

    fn send_due(&mut self, from: usize, now_ns: u64) -> Result<(), Errno> {
        let (way, to) = (&mut self.ways[from], 1 - from);
        while let Some((_, piece)) = way.held.front().filter(|(due_ns, _)| self.writable[to] && *due_ns <= now_ns) {
            let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
            match rustix::net::send(&self.sockets[to], &piece[way.gone..], flags) {
                Ok(count) => {
                    way.gone += count;
                    way.bytes -= count;
                    if way.gone == piece.len() {
                        way.held.pop_front();
                        way.gone = 0;
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => self.writable[to] = false,
                Err(gone) => return Err(gone),
            }
        }
        let finished = way.end.is_some_and(|(due_ns, end)| end == End::Finished && due_ns <= now_ns);
        if finished && way.held.is_empty() && !way.closed {
            way.closed = true;
            rustix::net::shutdown(&self.sockets[to], Shutdown::Write)?;
        }
        Ok(())
    }

    /// The socket that bytes went to is reset, and the sender learns it after the delay.
    fn receiver_is_gone(&mut self, from: usize, learnt_ns: u64) {
        let way = &mut self.ways[from];
        way.held.clear();
        (way.gone, way.bytes, way.closed) = (0, 0, true);
        way.end.get_or_insert((learnt_ns, End::Finished));
        if !matches!(self.ways[1 - from].end, Some((_, End::Reset))) {
            self.ways[1 - from].end = Some((learnt_ns, End::Reset));
        }
    }

    fn read(&mut self, from: usize, buffer: &mut [u8], hold: &mut dyn FnMut() -> u64) {
        let way = &mut self.ways[from];
        while self.readable[from] && way.is_open() && way.bytes < MOST_HELD {
            let read = rustix::net::recv(&self.sockets[from], &mut *buffer, RecvFlags::DONTWAIT);
            match read.map(|(count, _)| count) {
                Ok(0) => way.end = Some((hold(), End::Finished)),
                Ok(count) => {
                    way.held.push_back((hold(), buffer[..count].to_vec()));
                    way.bytes += count;
                    if self.asked != (from == 0) {
                        self.asked = from == 0;
                        *(if self.asked { &mut self.turns.asked } else { &mut self.turns.answered }) += 1;
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => self.readable[from] = false,
                Err(_) => way.end = Some((hold(), End::Reset)),
            }
        }
    }

    /// Resets both ends.
    pub(super) fn reset(self) {
        self.sockets.into_iter().for_each(reset);
    }
}

/// Closes a socket with a reset in place of a FIN.
pub(super) fn reset(socket: OwnedFd) {
    let _ = sockopt::set_socket_linger(&socket, Some(Duration::ZERO));
}
