//! One connection's session: what was received of a record, what is still to be sent, and rustls between them.

use model::TlsUse;
use rustix::io::Errno;
use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::unbuffered::{
    ConnectionState, EncodeError, EncryptError, InsufficientSizeError, UnbufferedStatus, WriteTraffic,
};
use rustls::{Error, HandshakeKind, ProtocolVersion};

use super::why::TlsFailure;
use crate::wire::{Received, Wire};

/// Bytes by which a record is longer than what it holds, at most (RFC 8446 §5.2, RFC 5246 §6.2.3).
const RECORD_OVERHEAD: usize = 256;

/// Bytes that one record holds at most.
const RECORD_BYTES: usize = 16 * 1024;

/// Bytes received at once in a handshake: a long chain of certificates takes several turns.
const HANDSHAKE_BYTES: usize = 16 * 1024;

/// Bytes that a peer may send until the handshake is over: many times the longest chain of certificates.
const LONGEST_HANDSHAKE_BYTES: usize = 1024 * 1024;

/// Memory that an idle session keeps of what it sent.
const KEPT_BYTES: usize = 4 * 1024;

/// The end came without the goodbye that TLS has for it: a reply that ends with its connection may have been cut.
const CUT_OFF: Stop = Stop::Errno(Errno::CONNABORTED);

/// Where a handshake stands.
pub(super) enum Step {
    /// The peer's next message is needed.
    Blocked,
    /// Requests can be sent.
    Open,
}

/// Why nothing more comes.
#[derive(Debug)]
pub(super) enum Stop {
    Errno(Errno),
    /// TLS has failed.
    Tls(TlsFailure),
    /// The peer has refused the handshake, which may have come to its end here, and why.
    Refused(String),
}

impl From<Errno> for Stop {
    fn from(errno: Errno) -> Self {
        Stop::Errno(errno)
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        let failure = TlsFailure::from(&error);
        match error {
            Error::AlertReceived(_) => Stop::Refused(failure.text),
            _ => Stop::Tls(failure),
        }
    }
}

pub(super) struct Session {
    tls: UnbufferedClientConnection,
    /// Received bytes of which no whole record could be made yet.
    torn: Vec<u8>,
    /// What the peer sent with the end of its handshake, decrypted.
    early: Vec<u8>,
    /// Encrypted bytes that the wire below has not taken, from `sent` on.
    pending: Vec<u8>,
    sent: usize,
    /// The peer has said that it sends no more.
    ended: bool,
    open: bool,
    /// Something has come that was no part of TLS itself: the peer, too, had done with the handshake.
    heard: bool,
    /// Received in the handshake.
    shaken_bytes: usize,
    /// What stopped the connection, until all that came before it has been received.
    stopped: Option<Stop>,
}

/// What came out of decrypting.
struct Decrypted {
    /// Bytes that were records, and are used up.
    taken: usize,
    /// Bytes that they held.
    bytes: usize,
    /// Why what follows cannot be decrypted.
    stopped: Option<Stop>,
}

impl Session {
    pub(super) fn new(tls: UnbufferedClientConnection) -> Self {
        let (torn, early, pending) = (Vec::new(), Vec::new(), Vec::new());
        Self {
            tls,
            torn,
            early,
            pending,
            sent: 0,
            ended: false,
            open: false,
            heard: false,
            shaken_bytes: 0,
            stopped: None,
        }
    }

    /// Whether the handshake has come to its end.
    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    pub(super) fn is_resumed(&self) -> bool {
        self.tls.handshake_kind() == Some(HandshakeKind::Resumed)
    }

    /// What the peers agreed on.
    pub(super) fn describe(&self, seen: &mut TlsUse) {
        seen.version = self.tls.protocol_version().map(|version| match version {
            ProtocolVersion::TLSv1_2 => "TLS 1.2".to_owned(),
            ProtocolVersion::TLSv1_3 => "TLS 1.3".to_owned(),
            other => format!("{other:?}"),
        });
        seen.cipher = self.tls.negotiated_cipher_suite().map(|suite| format!("{:?}", suite.suite()));
        seen.group = self.tls.negotiated_key_exchange_group().map(|group| format!("{:?}", group.name()));
        seen.alpn = self.tls.alpn_protocol().map(|name| String::from_utf8_lossy(name).into_owned());
    }

    /// Takes the handshake as far as what has been received allows.
    pub(super) fn handshake(&mut self) -> Result<Step, Error> {
        loop {
            let UnbufferedStatus { discard, state } = self.tls.process_tls_records(&mut self.torn);
            let step = match state {
                Ok(ConnectionState::EncodeTlsData(mut data)) => {
                    append(&mut self.pending, KEPT_BYTES, |room| data.encode(room).map_err(too_small))?;
                    None
                }
                Ok(ConnectionState::TransmitTlsData(data)) => {
                    data.done();
                    None
                }
                Ok(ConnectionState::ReadTraffic(mut traffic)) => {
                    while let Some(record) = traffic.next_record() {
                        self.early.extend_from_slice(record?.payload);
                        self.heard = true;
                    }
                    None
                }
                Ok(ConnectionState::WriteTraffic(_)) => Some(Step::Open),
                Ok(ConnectionState::PeerClosed | ConnectionState::Closed) => return Err(closed()),
                Ok(_) => Some(Step::Blocked),
                Err(error) => {
                    self.torn.drain(..discard);
                    take_alert(&mut self.tls, &mut self.torn, &mut self.pending);
                    return Err(error);
                }
            };
            self.torn.drain(..discard);
            if let Some(step) = step {
                self.open = matches!(step, Step::Open);
                return Ok(step);
            }
        }
    }

    /// Receives more of the peer's handshake; an end is an error of the handshake.
    pub(super) fn receive_more(&mut self, slot: u32, below: &mut impl Wire) -> Result<(), Stop> {
        let held = self.torn.len();
        self.torn.resize(held + HANDSHAKE_BYTES, 0);
        let received = below.receive(slot, &mut self.torn[held..]);
        let bytes = received.map_or(0, |received| received.bytes);
        self.torn.truncate(held + bytes);
        self.shaken_bytes += bytes;
        if self.shaken_bytes > LONGEST_HANDSHAKE_BYTES {
            return Err(Stop::Tls("the handshake is longer than 1 MiB".to_owned().into()));
        }
        if received?.bytes == 0 { Err(closed().into()) } else { Ok(()) }
    }

    /// Encrypts and sends as much as goes now; `AGAIN` while something is still to be sent. From then on the bytes are
    /// taken: what goes wrong with them is told when all that the peer has said is received.
    pub(super) fn send(&mut self, slot: u32, below: &mut impl Wire, bytes: &[u8]) -> Result<(), Stop> {
        self.has_failed()?;
        if !self.flush(slot, below)? {
            return Err(Errno::AGAIN.into());
        }
        if let Err(error) = self.encrypt(bytes) {
            self.stopped = Some(error.clone().into());
            return Err(error.into());
        }
        if let Err(errno) = self.flush(slot, below) {
            self.stopped = Some(errno.into());
        }
        Ok(())
    }

    /// Once TLS has failed it stays so: rustls must not be asked again.
    fn has_failed(&self) -> Result<(), Stop> {
        match &self.stopped {
            Some(Stop::Tls(why)) => Err(Stop::Tls(why.clone())),
            Some(Stop::Refused(why)) => Err(Stop::Refused(why.clone())),
            _ => Ok(()),
        }
    }

    fn encrypt(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let room = bytes.len() + RECORD_OVERHEAD * (1 + bytes.len() / RECORD_BYTES);
        self.write(|traffic, pending| {
            append(pending, room, |room| traffic.encrypt(bytes, room).map_err(too_small_to_encrypt))
        })
    }

    /// Writes where rustls is ready for it. It must see the bytes of which it has not yet made a whole message.
    fn write(
        &mut self,
        write: impl FnOnce(&mut WriteTraffic<'_, ClientConnectionData>, &mut Vec<u8>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        loop {
            let UnbufferedStatus { discard, state } = self.tls.process_tls_records(&mut self.torn);
            match state? {
                ConnectionState::WriteTraffic(mut traffic) => {
                    let written = write(&mut traffic, &mut self.pending);
                    self.torn.drain(..discard);
                    return written;
                }
                ConnectionState::EncodeTlsData(mut data) => {
                    append(&mut self.pending, KEPT_BYTES, |room| data.encode(room).map_err(too_small))?;
                }
                ConnectionState::TransmitTlsData(data) => data.done(),
                _ => return Err(Error::General("the server has closed the connection".to_owned())),
            }
            self.torn.drain(..discard);
        }
    }

    /// Sends what is pending; gives whether that is all.
    pub(super) fn flush(&mut self, slot: u32, below: &mut impl Wire) -> Result<bool, Errno> {
        while self.sent < self.pending.len() {
            match below.send(slot, &self.pending[self.sent..]) {
                Ok(bytes) => self.sent += bytes,
                Err(Errno::AGAIN) => return Ok(false),
                Err(errno) => return Err(errno),
            }
        }
        self.pending.clear();
        self.pending.shrink_to(KEPT_BYTES);
        self.sent = 0;
        Ok(true)
    }

    /// Receives once and decrypts. `encrypted` is as long as `buffer`, so that what it holds has room there.
    pub(super) fn receive(
        &mut self,
        slot: u32,
        below: &mut impl Wire,
        encrypted: &mut [u8],
        buffer: &mut [u8],
    ) -> Result<Received, Stop> {
        if !self.early.is_empty() {
            let bytes = self.early.len().min(buffer.len());
            buffer[..bytes].copy_from_slice(&self.early[..bytes]);
            self.early.drain(..bytes);
            return Ok(Received { bytes, more: true });
        }
        self.has_failed()?;
        if self.ended {
            return Ok(Received { bytes: 0, more: false });
        }
        let held = self.torn.len();
        if held == encrypted.len() {
            let why = || Stop::Tls("a message is torn into too many records".to_owned().into());
            self.stopped = Some(why());
            return Err(why());
        }
        let received = match below.receive(slot, &mut encrypted[held..]) {
            Ok(Received { bytes: 0, .. }) => return Err(self.stopped.take().unwrap_or(CUT_OFF)),
            Err(Errno::INTR) => return Err(Errno::INTR.into()),
            Err(errno) => return Err(self.stopped.take().unwrap_or(Stop::Errno(errno))),
            Ok(received) => received,
        };
        encrypted[..held].copy_from_slice(&self.torn);
        let all = held + received.bytes;
        let Decrypted { taken, bytes, stopped } = self.decrypt(&mut encrypted[..all], buffer);
        self.torn.clear();
        self.torn.extend_from_slice(&encrypted[taken..all]);
        self.heard |= bytes > 0;
        // What was decrypted is the loop's before any error is.
        let flushed = self.flush(slot, below).err().map(Stop::Errno);
        self.stopped = stopped.or(self.stopped.take()).or(flushed);
        // Messages of TLS itself bring nothing for the loop, and whoever sends them without end has no longer a turn.
        let more = bytes == 0 || received.more || self.ended || self.stopped.is_some();
        Ok(Received { bytes, more })
    }

    fn decrypt(&mut self, encrypted: &mut [u8], buffer: &mut [u8]) -> Decrypted {
        let mut all = Decrypted { taken: 0, bytes: 0, stopped: None };
        loop {
            let UnbufferedStatus { discard, state } = self.tls.process_tls_records(&mut encrypted[all.taken..]);
            let done = match state {
                Ok(ConnectionState::ReadTraffic(mut traffic)) => {
                    while let Some(Ok(record)) = traffic.next_record() {
                        let record = record.payload;
                        buffer[all.bytes..all.bytes + record.len()].copy_from_slice(record);
                        all.bytes += record.len();
                    }
                    Ok(false)
                }
                Ok(ConnectionState::EncodeTlsData(mut data)) => {
                    append(&mut self.pending, KEPT_BYTES, |room| data.encode(room).map_err(too_small)).map(|()| false)
                }
                Ok(ConnectionState::TransmitTlsData(data)) => {
                    data.done();
                    Ok(false)
                }
                Ok(ConnectionState::PeerClosed) => {
                    self.ended = true;
                    Ok(false)
                }
                Ok(_) => Ok(true),
                Err(error) => Err(error),
            };
            all.taken += discard;
            match done {
                Ok(false) => {}
                Ok(true) => return all,
                Err(error) => {
                    take_alert(&mut self.tls, &mut encrypted[all.taken..], &mut self.pending);
                    let stop = match error.into() {
                        Stop::Refused(why) if self.heard || all.bytes > 0 => Stop::Tls(why.into()),
                        stop => stop,
                    };
                    return Decrypted { stopped: Some(stop), ..all };
                }
            }
        }
    }

    /// Tells the peer that nothing more comes, as far as it still listens.
    pub(super) fn say_goodbye(&mut self, slot: u32, below: &mut impl Wire) {
        if !self.open || self.ended || self.stopped.is_some() || !self.pending.is_empty() {
            return;
        }
        let said = self.write(|traffic, pending| {
            append(pending, RECORD_OVERHEAD, |room| traffic.queue_close_notify(room).map_err(too_small_to_encrypt))
        });
        if said.is_ok() {
            self.flush(slot, below).ok();
        }
    }
}

/// After an error: what the peer is to be told. `left` is what rustls has not used up of what was received.
fn take_alert(tls: &mut UnbufferedClientConnection, left: &mut [u8], pending: &mut Vec<u8>) {
    if let Ok(ConnectionState::EncodeTlsData(mut data)) = tls.process_tls_records(left).state {
        append(pending, KEPT_BYTES, |room| data.encode(room).map_err(too_small)).ok();
    }
}

/// The peer ended the connection where TLS had not come to an end.
fn closed() -> Error {
    Error::General("the server closed the connection in the handshake".to_owned())
}

/// Appends what `write` puts into the room it is given, or into as much as it says that it needs.
fn append(
    to: &mut Vec<u8>,
    room: usize,
    mut write: impl FnMut(&mut [u8]) -> Result<usize, Result<InsufficientSizeError, Error>>,
) -> Result<(), Error> {
    let held = to.len();
    to.resize(held + room, 0);
    let written = match write(&mut to[held..]) {
        Err(Ok(InsufficientSizeError { required_size })) => {
            to.resize(held + required_size, 0);
            write(&mut to[held..])
        }
        other => other,
    };
    to.truncate(held + *written.as_ref().unwrap_or(&0));
    match written {
        Ok(_) => Ok(()),
        Err(Ok(_)) => Err(Error::General("a record is longer than rustls says".to_owned())),
        Err(Err(error)) => Err(error),
    }
}

fn too_small(error: EncodeError) -> Result<InsufficientSizeError, Error> {
    match error {
        EncodeError::InsufficientSize(needed) => Ok(needed),
        EncodeError::AlreadyEncoded => Err(Error::General("a message was sent twice".to_owned())),
    }
}

fn too_small_to_encrypt(error: EncryptError) -> Result<InsufficientSizeError, Error> {
    match error {
        EncryptError::InsufficientSize(needed) => Ok(needed),
        EncryptError::EncryptExhausted => Err(Error::EncryptError),
    }
}
