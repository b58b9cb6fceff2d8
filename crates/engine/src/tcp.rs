use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::OwnedFd;

use model::NS_PER_S;
use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, ipproto, sockopt};

use crate::ports::{Ports, local_port_range};
use crate::wire::{EDGES_PER_WAIT, Progress, Ready, Received, Wire};

/// An address that connections come from.
struct Source {
    ip: IpAddr,
    /// Its ports in turn; none where the kernel does not say which there are.
    ports: Option<Ports>,
}

/// Ports that are tried before the choice is left to the kernel, which knows whether there is any.
const PORTS_TRIED: usize = 16;

/// Plain TCP over edge-triggered epoll.
pub(crate) struct TcpWire {
    address: SocketAddr,
    sources: Vec<Source>,
    quick_ack: bool,
    epoll: OwnedFd,
    sockets: Vec<Option<OwnedFd>>,
    events: Vec<epoll::Event>,
}

impl TcpWire {
    /// A wire with `slots` closed slots to one address, from `sources` in turn; whether it acknowledges at once what comes.
    pub(crate) fn new(address: SocketAddr, sources: &[IpAddr], slots: u32, quick_ack: bool) -> Result<Self, Errno> {
        let any = if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        let sources = if sources.is_empty() { &[any][..] } else { sources };
        let range = local_port_range();
        let ports = || range.clone().map(|range| Ports::new(range, address.port()));
        Ok(Self {
            address,
            sources: sources.iter().map(|ip| Source { ip: *ip, ports: ports() }).collect(),
            quick_ack,
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            sockets: (0..slots).map(|_| None).collect(),
            events: Vec::with_capacity(EDGES_PER_WAIT),
        })
    }

    /// A socket that connects, from a port that is not in use.
    fn begin(&mut self, slot: u32) -> Result<OwnedFd, Errno> {
        let at = slot as usize % self.sources.len();
        let ip = self.sources[at].ip;
        for _ in 0..PORTS_TRIED {
            let Some(port) = self.sources[at].ports.as_mut().and_then(Ports::take) else { break };
            match self.connect_from(SocketAddr::new(ip, port)) {
                Err(Errno::ADDRINUSE | Errno::ADDRNOTAVAIL) => {}
                done => return done,
            }
        }
        self.connect_from(SocketAddr::new(ip, 0))
    }

    fn connect_from(&self, source: SocketAddr) -> Result<OwnedFd, Errno> {
        let family = if self.address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP))?;
        sockopt::set_tcp_nodelay(&socket, true)?;
        if source.port() != 0 {
            // A port that waits out an earlier connection to another server is free for this one.
            sockopt::set_socket_reuseaddr(&socket, true)?;
        }
        if source.port() != 0 || !source.ip().is_unspecified() {
            rustix::net::bind(&socket, &source)?;
        }
        match rustix::net::connect(&socket, &self.address) {
            Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
            Err(errno) => Err(errno),
        }
    }

    /// Asks once more, where it is asked at all: a kernel forgets it when it sends. One that refuses delays as it does by itself.
    #[inline]
    fn acknowledge_at_once(&self, slot: u32) {
        if self.quick_ack
            && let Ok(socket) = self.socket(slot)
        {
            let _ = sockopt::set_tcp_quickack(socket, true);
        }
    }

    fn socket(&self, slot: u32) -> Result<&OwnedFd, Errno> {
        self.sockets[slot as usize].as_ref().ok_or(Errno::NOTCONN)
    }
}

impl Wire for TcpWire {
    fn connect(&mut self, slot: u32, generation: u32) -> Result<(), Errno> {
        let socket = self.begin(slot)?;
        let data = EventData::new_u64(u64::from(generation) << 32 | u64::from(slot));
        epoll::add(&self.epoll, &socket, data, EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET)?;
        self.sockets[slot as usize] = Some(socket);
        Ok(())
    }

    fn progress(&mut self, slot: u32) -> Result<Progress, Errno> {
        sockopt::socket_error(self.socket(slot)?)?.map(|()| Progress::Open)
    }

    fn send(&mut self, slot: u32, bytes: &[u8]) -> Result<usize, Errno> {
        let sent = rustix::net::send(self.socket(slot)?, bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT)?;
        self.acknowledge_at_once(slot);
        Ok(sent)
    }

    fn receive(&mut self, slot: u32, buffer: &mut [u8]) -> Result<Received, Errno> {
        let (bytes, _) = rustix::net::recv(self.socket(slot)?, &mut *buffer, RecvFlags::DONTWAIT)?;
        self.acknowledge_at_once(slot);
        Ok(Received { bytes, more: bytes == buffer.len() })
    }

    fn close(&mut self, slot: u32) {
        self.sockets[slot as usize] = None;
    }

    fn wait(&mut self, timeout_ns: u64) -> Result<usize, Errno> {
        self.events.clear();
        let timeout = Timespec { tv_sec: (timeout_ns / NS_PER_S) as i64, tv_nsec: (timeout_ns % NS_PER_S) as _ };
        match epoll::wait(&self.epoll, spare_capacity(&mut self.events), Some(&timeout)) {
            Ok(count) => Ok(count),
            // What cut the wait short may have lasted long, and edges have come meanwhile.
            Err(Errno::INTR) if timeout_ns > 0 => self.wait(0),
            Err(Errno::INTR) => Ok(0),
            Err(errno) => Err(errno),
        }
    }

    fn ready(&self, index: usize) -> Ready {
        let event = self.events[index];
        let (data, flags) = (event.data.u64(), event.flags);
        let hangup = flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR);
        Ready {
            slot: data as u32,
            generation: (data >> 32) as u32,
            readable: hangup || flags.contains(EventFlags::IN),
            writable: hangup || flags.contains(EventFlags::OUT),
            hangup,
        }
    }
}
