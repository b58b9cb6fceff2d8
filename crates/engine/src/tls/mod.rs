//! TLS over any wire: what the loop sends is encrypted, what the peer sends is decrypted, and the handshake is a part of
//! connecting.

mod certificate;
mod secure;
mod session;
mod sessions;
mod why;

use model::{TlsFault, TlsUse};
use rustix::io::Errno;

pub use secure::{Secure, TlsError};
use session::{Session, Step, Stop};
pub use why::TlsFailure;

use crate::wire::{Progress, REFUSED, Ready, Received, Wire};

/// Why a server that asks for a client's certificate ends the connection.
const NO_CERTIFICATE: &str = "the server asks for a client certificate, which bourdon cannot give";

/// The wire below, with a session for each slot that is connected.
pub(crate) struct Secured<W> {
    below: W,
    secure: Secure,
    sessions: Vec<Option<Box<Session>>>,
    /// What is received at once, to be decrypted; a torn record stays with its session.
    encrypted: Vec<u8>,
    seen: TlsUse,
}

impl<W: Wire> Secured<W> {
    pub(crate) fn new(below: W, secure: Secure, slots: u32) -> Self {
        let sessions = (0..slots).map(|_| None).collect();
        Self { below, secure, sessions, encrypted: Vec::new(), seen: TlsUse::default() }
    }

    /// Notes why TLS failed; to the loop it is one error.
    fn stopped(&mut self, stop: Stop) -> Errno {
        match stop {
            Stop::Errno(errno) => errno,
            Stop::Tls(TlsFailure { text, fault }) => {
                self.seen.failed += 1;
                if self.seen.first_failure.is_none() {
                    (self.seen.first_failure, self.seen.first_fault) = (Some(text), fault);
                }
                Errno::PROTO
            }
            Stop::Refused(why) => {
                let asked = self.secure.was_asked();
                let text = if asked { format!("{NO_CERTIFICATE} ({why})") } else { why };
                self.stopped(Stop::Tls(text.into()));
                REFUSED
            }
        }
    }

    /// Whatever ends a handshake is its failure.
    fn handshake_failed(&mut self, slot: u32, stop: Stop) -> Errno {
        self.sessions[slot as usize] = None;
        self.stopped(match stop {
            Stop::Errno(errno) => Stop::Tls(format!("the connection was lost in the handshake: {errno}").into()),
            stop => stop,
        });
        Errno::PROTO
    }

    /// The kernel is connected: the first message of the handshake goes out.
    fn begin(&mut self, slot: u32) -> Result<(), Errno> {
        let begun = self.secure.begin().and_then(|tls| {
            let mut session = Box::new(Session::new(tls));
            session.handshake().map(|_| session)
        });
        let mut session = begun.map_err(|error| self.stopped(error.into()))?;
        session.flush(slot, &mut self.below).map_err(|errno| self.handshake_failed(slot, errno.into()))?;
        self.sessions[slot as usize] = Some(session);
        Ok(())
    }

    fn note_agreement(seen: &mut TlsUse, session: &Session) {
        seen.handshakes += 1;
        seen.resumed += u64::from(session.is_resumed());
        if seen.version.is_none() {
            session.describe(seen);
        }
    }
}

/// Takes the handshake as far as it goes now; `AGAIN` where the peer's next message is needed.
fn shake_hands(session: &mut Session, slot: u32, below: &mut impl Wire) -> Result<(), Stop> {
    loop {
        let step = session.handshake();
        // Where it failed the peer is told why, if it still listens.
        let flushed = session.flush(slot, below);
        let step = step?;
        flushed?;
        match step {
            Step::Open => return Ok(()),
            Step::Blocked => session.receive_more(slot, below)?,
        }
    }
}

impl<W: Wire> Wire for Secured<W> {
    fn connect(&mut self, slot: u32, generation: u32) -> Result<(), Errno> {
        self.below.connect(slot, generation)
    }

    fn progress(&mut self, slot: u32) -> Result<Progress, Errno> {
        match self.below.progress(slot) {
            Ok(Progress::Open) => {}
            Err(errno) if self.sessions[slot as usize].is_some() => {
                return Err(self.handshake_failed(slot, errno.into()));
            }
            other => return other,
        }
        let Some(session) = &mut self.sessions[slot as usize] else {
            self.begin(slot)?;
            return Ok(Progress::Handshaking);
        };
        match shake_hands(session, slot, &mut self.below) {
            Ok(()) => {
                Self::note_agreement(&mut self.seen, session);
                Ok(Progress::Open)
            }
            Err(Stop::Errno(Errno::AGAIN)) => Ok(Progress::Handshaking),
            Err(stop) => Err(self.handshake_failed(slot, stop)),
        }
    }

    fn send(&mut self, slot: u32, bytes: &[u8]) -> Result<usize, Errno> {
        let Some(session) = &mut self.sessions[slot as usize] else { return Err(Errno::NOTCONN) };
        session.send(slot, &mut self.below, bytes).map_err(|stop| self.stopped(stop))?;
        Ok(bytes.len())
    }

    fn flush(&mut self, slot: u32) -> Result<(), Errno> {
        let Some(session) = &mut self.sessions[slot as usize] else { return Ok(()) };
        session.flush(slot, &mut self.below)?;
        self.below.flush(slot)
    }

    fn receive(&mut self, slot: u32, buffer: &mut [u8]) -> Result<Received, Errno> {
        let Some(session) = &mut self.sessions[slot as usize] else { return Err(Errno::NOTCONN) };
        self.encrypted.resize(buffer.len(), 0);
        session.receive(slot, &mut self.below, &mut self.encrypted, buffer).map_err(|stop| self.stopped(stop))
    }

    fn close(&mut self, slot: u32) {
        if let Some(mut session) = self.sessions[slot as usize].take() {
            if !session.is_open() {
                let text = "no TLS handshake completed in time".to_owned();
                self.stopped(Stop::Tls(TlsFailure { text, fault: Some(TlsFault::Unanswered) }));
            }
            session.say_goodbye(slot, &mut self.below);
        }
        self.below.close(slot);
    }

    fn wait(&mut self, timeout_ns: u64) -> Result<usize, Errno> {
        self.below.wait(timeout_ns)
    }

    fn ready(&self, index: usize) -> Ready {
        self.below.ready(index)
    }

    fn tls(&self) -> Option<TlsUse> {
        Some(self.seen.clone())
    }

    fn forget_tls(&mut self) {
        self.seen = TlsUse::default();
    }
}
