//! The floor under TLS: rustls over bare system calls. It verifies the handshake's signature, as every client does, and
//! nothing of the certificate; a reply has come when its last bytes are those of the body.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use engine::MonotonicClock;
use model::{Clock, NS_PER_S};
use rustix::event::epoll::{self, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, ipproto, sockopt};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, UnbufferedClientConnection};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::unbuffered::{ConnectionState, UnbufferedStatus};
use rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};

/// The body of every reply.
const BODY: &[u8] = b"Hello world";

/// Takes any certificate.
#[derive(Debug)]
struct Anyone(Arc<CryptoProvider>);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

fn config() -> Arc<ClientConfig> {
    let provider = Arc::new(ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anyone(provider)))
        .with_no_client_auth();
    config.resumption = Resumption::disabled();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Arc::new(config)
}

/// One connection.
struct Session {
    socket: OwnedFd,
    tls: UnbufferedClientConnection,
    /// The beginning of a record whose rest has not come.
    torn: Vec<u8>,
    asked: bool,
}

/// What is shared by all of them.
struct Client {
    config: Arc<ClientConfig>,
    poll: OwnedFd,
    address: SocketAddr,
    source: Ipv4Addr,
    received: Vec<u8>,
    to_send: Vec<u8>,
    request: String,
}

impl Client {
    fn new(port: u16, source: Ipv4Addr) -> Self {
        Client {
            config: config(),
            poll: epoll::create(epoll::CreateFlags::CLOEXEC).unwrap(),
            address: (Ipv4Addr::LOCALHOST, port).into(),
            source,
            received: vec![0; 256 * 1024],
            to_send: vec![0; 64 * 1024],
            request: format!("GET /rest/hello HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"),
        }
    }

    fn connect(&mut self, index: usize) -> Session {
        let (family, flags) = (AddressFamily::INET, SocketFlags::CLOEXEC);
        let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP)).unwrap();
        sockopt::set_socket_reuseaddr(&socket, true).unwrap();
        rustix::net::bind(&socket, &SocketAddr::from((self.source, 0))).unwrap();
        rustix::net::connect(&socket, &self.address).unwrap();
        sockopt::set_tcp_nodelay(&socket, true).unwrap();
        epoll::add(&self.poll, &socket, EventData::new_u64(index as u64), EventFlags::IN).unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let tls = UnbufferedClientConnection::new(self.config.clone(), name).unwrap();
        let mut session = Session { socket, tls, torn: Vec::new(), asked: false };
        self.advance(&mut session, 0);
        session
    }

    /// Receives what has come for a session; gives whether a reply has.
    fn receive(&mut self, session: &mut Session) -> bool {
        let held = session.torn.len();
        self.received[..held].copy_from_slice(&session.torn);
        session.torn.clear();
        match rustix::net::recv(&session.socket, &mut self.received[held..], RecvFlags::DONTWAIT) {
            Ok((bytes, _)) => self.advance(session, held + bytes),
            Err(Errno::AGAIN) => false,
            Err(errno) => panic!("{errno}"),
        }
    }

    /// Takes a session as far as the bytes that were received for it allow: it asks as soon as it may.
    fn advance(&mut self, session: &mut Session, bytes: usize) -> bool {
        let (mut taken, mut replied) = (0, false);
        loop {
            let UnbufferedStatus { discard, state } = session.tls.process_tls_records(&mut self.received[taken..bytes]);
            let more = match state.unwrap() {
                ConnectionState::EncodeTlsData(mut data) => {
                    let length = data.encode(&mut self.to_send).unwrap();
                    send(&session.socket, &self.to_send[..length]);
                    true
                }
                ConnectionState::TransmitTlsData(data) => {
                    data.done();
                    true
                }
                ConnectionState::ReadTraffic(mut traffic) => {
                    while let Some(record) = traffic.next_record() {
                        replied |= record.unwrap().payload.ends_with(BODY);
                    }
                    session.asked &= !replied;
                    true
                }
                ConnectionState::WriteTraffic(mut traffic) if !session.asked && !replied => {
                    let length = traffic.encrypt(self.request.as_bytes(), &mut self.to_send).unwrap();
                    send(&session.socket, &self.to_send[..length]);
                    session.asked = true;
                    false
                }
                _ => false,
            };
            taken += discard;
            if !more {
                session.torn.extend_from_slice(&self.received[taken..bytes]);
                return replied;
            }
        }
    }

    fn wait(&self, events: &mut Vec<Event>) {
        events.clear();
        epoll::wait(&self.poll, rustix::buffer::spare_capacity(events), None).unwrap();
    }
}

fn send(socket: &OwnedFd, bytes: &[u8]) {
    assert_eq!(rustix::net::send(socket, bytes, SendFlags::NOSIGNAL), Ok(bytes.len()));
}

/// Each connection asks when it was answered; gives the number of replies.
pub(crate) fn kept(port: u16, source: Ipv4Addr, connections: usize, ms: u64) -> u64 {
    let mut client = Client::new(port, source);
    let mut sessions: Vec<Session> = (0..connections).map(|index| client.connect(index)).collect();
    let (mut events, mut requests) = (Vec::with_capacity(512), 0);
    let end_ns = MonotonicClock.now_ns() + ms * NS_PER_S / 1000;
    while MonotonicClock.now_ns() < end_ns {
        client.wait(&mut events);
        for event in &events {
            let session = &mut sessions[event.data.u64() as usize];
            if client.receive(session) {
                requests += 1;
                client.advance(session, 0);
            }
        }
    }
    requests
}

/// So many connections in all, each of one request, `at_once` at a time; gives the number of replies.
pub(crate) fn once(port: u16, source: Ipv4Addr, connections: usize, at_once: usize) -> u64 {
    let mut client = Client::new(port, source);
    let mut sessions: Vec<Option<Session>> = (0..connections).map(|_| None).collect();
    let mut left: VecDeque<usize> = (0..connections).collect();
    let (mut events, mut requests, mut open) = (Vec::with_capacity(512), 0, 0);
    while requests < connections as u64 {
        while open < at_once
            && let Some(index) = left.pop_front()
        {
            sessions[index] = Some(client.connect(index));
            open += 1;
        }
        client.wait(&mut events);
        for event in &events {
            let index = event.data.u64() as usize;
            if sessions[index].as_mut().is_some_and(|session| client.receive(session)) {
                requests += 1;
                open -= 1;
                sessions[index] = None;
            }
        }
    }
    requests
}
