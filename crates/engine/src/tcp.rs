use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;

use model::NS_PER_S;
use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, ipproto, sockopt};

use crate::wire::{Ready, Wire};

/// Edges fetched by one wait; more stay with the kernel until the next.
const EVENTS_PER_WAIT: usize = 512;

/// Plain TCP over edge-triggered epoll.
pub(crate) struct TcpWire {
    address: SocketAddr,
    sources: Vec<IpAddr>,
    epoll: OwnedFd,
    sockets: Vec<Option<OwnedFd>>,
    events: Vec<epoll::Event>,
}

impl TcpWire {
    /// A wire with `slots` closed slots to one address, from `sources` in turn.
    pub(crate) fn new(address: SocketAddr, sources: &[IpAddr], slots: u32) -> Result<Self, Errno> {
        Ok(Self {
            address,
            sources: sources.to_vec(),
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            sockets: (0..slots).map(|_| None).collect(),
            events: Vec::with_capacity(EVENTS_PER_WAIT),
        })
    }

    fn socket(&self, slot: u32) -> Result<&OwnedFd, Errno> {
        self.sockets[slot as usize].as_ref().ok_or(Errno::NOTCONN)
    }
}

impl Wire for TcpWire {
    fn connect(&mut self, slot: u32, generation: u32) -> Result<(), Errno> {
        let family = if self.address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP))?;
        sockopt::set_tcp_nodelay(&socket, true)?;
        if !self.sources.is_empty() {
            let source = self.sources[slot as usize % self.sources.len()];
            rustix::net::bind(&socket, &SocketAddr::new(source, 0))?;
        }
        match rustix::net::connect(&socket, &self.address) {
            Ok(()) | Err(Errno::INPROGRESS) => {}
            Err(errno) => return Err(errno),
        }
        let data = EventData::new_u64(u64::from(generation) << 32 | u64::from(slot));
        epoll::add(&self.epoll, &socket, data, EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET)?;
        self.sockets[slot as usize] = Some(socket);
        Ok(())
    }

    fn connected(&mut self, slot: u32) -> Result<(), Errno> {
        sockopt::socket_error(self.socket(slot)?)?
    }

    fn send(&mut self, slot: u32, bytes: &[u8]) -> Result<usize, Errno> {
        rustix::net::send(self.socket(slot)?, bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT)
    }

    fn receive(&mut self, slot: u32, buffer: &mut [u8]) -> Result<usize, Errno> {
        rustix::net::recv(self.socket(slot)?, buffer, RecvFlags::DONTWAIT).map(|(count, _)| count)
    }

    fn close(&mut self, slot: u32) {
        self.sockets[slot as usize] = None;
    }

    fn wait(&mut self, timeout_ns: u64) -> Result<usize, Errno> {
        self.events.clear();
        let timeout = Timespec { tv_sec: (timeout_ns / NS_PER_S) as i64, tv_nsec: (timeout_ns % NS_PER_S) as _ };
        match epoll::wait(&self.epoll, spare_capacity(&mut self.events), Some(&timeout)) {
            Ok(count) => Ok(count),
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
