//! A simulated peer behind TLS: what the loop sends is decrypted before it comes to the peer, what the peer says is
//! encrypted, and the handshake takes no time.

use std::io::{Read, Write};
use std::sync::Arc;

use rustix::io::Errno;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection};

use crate::wire::{Progress, Ready, Received, Wire};

/// A certificate and its key that nobody else uses, and that nobody trusts.
const SIMULATED: &[u8] = include_bytes!("simulated.pem");

/// Bytes that the peer says at once at most.
const SAID_AT_ONCE: usize = 16 * 1024;

pub(super) struct BehindTls<W> {
    peer: W,
    config: Arc<ServerConfig>,
    slots: Vec<Option<Slot>>,
    /// Edges that the handshake makes.
    own: Vec<Ready>,
    ready: Vec<Ready>,
}

struct Slot {
    generation: u32,
    tls: ServerConnection,
    /// Decrypted, and not yet taken by the peer.
    heard: Vec<u8>,
    /// Encrypted, and not yet received by the loop.
    said: Vec<u8>,
    /// What came was no TLS: nothing more is said.
    broken: bool,
}

impl<W: Wire> BehindTls<W> {
    pub(super) fn new(peer: W, slots: u32) -> Self {
        let certificate = CertificateDer::from_pem_slice(SIMULATED).expect("the file has a certificate");
        let key = PrivateKeyDer::from_pem_slice(SIMULATED).expect("the file has its key");
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("ring knows them")
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .expect("they belong together");
        let slots = (0..slots).map(|_| None).collect();
        Self { peer, config: Arc::new(config), slots, own: Vec::new(), ready: Vec::new() }
    }
}

impl Slot {
    fn new(generation: u32, config: &Arc<ServerConfig>) -> Self {
        let tls = ServerConnection::new(config.clone()).expect("the configuration is sound");
        Self { generation, tls, heard: Vec::new(), said: Vec::new(), broken: false }
    }

    /// Decrypts what the loop sent.
    fn hear(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && !self.broken {
            let taken = self.tls.read_tls(&mut bytes).map_err(drop);
            let processed = self.tls.process_new_packets().map_err(drop);
            self.broken = !matches!((taken, &processed), (Ok(1..), Ok(_)));
            // At its end it gives an error instead of bytes: there is no more now.
            self.tls.reader().read_to_end(&mut self.heard).ok();
        }
        self.write_out();
    }

    /// Encrypts what the peer said.
    fn say(&mut self, bytes: &[u8]) {
        self.tls.writer().write_all(bytes).expect("it takes whatever fits its buffer");
        self.write_out();
    }

    fn write_out(&mut self) {
        while self.tls.wants_write() {
            self.tls.write_tls(&mut self.said).expect("memory takes everything");
        }
    }
}

impl<W: Wire> Wire for BehindTls<W> {
    fn connect(&mut self, slot: u32, generation: u32) -> Result<(), Errno> {
        self.slots[slot as usize] = Some(Slot::new(generation, &self.config));
        self.peer.connect(slot, generation)
    }

    fn progress(&mut self, slot: u32) -> Result<Progress, Errno> {
        self.peer.progress(slot)
    }

    fn send(&mut self, slot: u32, bytes: &[u8]) -> Result<usize, Errno> {
        let Some(it) = &mut self.slots[slot as usize] else { return Err(Errno::NOTCONN) };
        it.hear(bytes);
        if !it.said.is_empty() {
            let generation = it.generation;
            self.own.push(Ready { slot, generation, readable: true, writable: true, hangup: false });
        }
        self.flush(slot)?;
        Ok(bytes.len())
    }

    /// What the peer did not take waits until it is writable.
    fn flush(&mut self, slot: u32) -> Result<(), Errno> {
        let Some(it) = &mut self.slots[slot as usize] else { return Err(Errno::NOTCONN) };
        while !it.heard.is_empty() {
            match self.peer.send(slot, &it.heard) {
                Ok(taken) => drop(it.heard.drain(..taken)),
                Err(Errno::AGAIN) => return Ok(()),
                Err(errno) => return Err(errno),
            }
        }
        Ok(())
    }

    fn receive(&mut self, slot: u32, buffer: &mut [u8]) -> Result<Received, Errno> {
        let Some(it) = &mut self.slots[slot as usize] else { return Err(Errno::NOTCONN) };
        if it.said.is_empty() && it.broken {
            return Ok(Received { bytes: 0, more: false });
        }
        if it.said.is_empty() {
            let mut plain = vec![0; SAID_AT_ONCE];
            let received = self.peer.receive(slot, &mut plain)?;
            if received.bytes == 0 {
                return Ok(received);
            }
            it.say(&plain[..received.bytes]);
        }
        let bytes = it.said.len().min(buffer.len());
        buffer[..bytes].copy_from_slice(&it.said[..bytes]);
        it.said.drain(..bytes);
        Ok(Received { bytes, more: true })
    }

    fn close(&mut self, slot: u32) {
        self.slots[slot as usize] = None;
        self.peer.close(slot);
    }

    fn wait(&mut self, timeout_ns: u64) -> Result<usize, Errno> {
        self.ready = std::mem::take(&mut self.own);
        if self.ready.is_empty() {
            let count = self.peer.wait(timeout_ns)?;
            self.ready.extend((0..count).map(|index| self.peer.ready(index)));
        }
        Ok(self.ready.len())
    }

    fn ready(&self, index: usize) -> Ready {
        self.ready[index]
    }
}
