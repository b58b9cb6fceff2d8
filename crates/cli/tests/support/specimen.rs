use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::fd::OwnedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::net::sockopt::set_socket_reuseaddr;
use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket};
use specimens::{Action, Entry, Kind, LogSink, Server, Settings};

use super::wait_until;

/// Two loads at once would disturb each other: who has a specimen has the machine.
static MACHINE: Mutex<()> = Mutex::new(());

/// A specimen in this process, whose log can be compared with what the program counted.
pub(crate) struct Specimen {
    server: Server,
    _machine: MutexGuard<'static, ()>,
}

impl Specimen {
    /// One with its usual settings.
    pub(crate) fn of(kind: Kind) -> Self {
        Self::start(Settings::new(kind))
    }

    /// One in which every request meets the defect.
    pub(crate) fn always(kind: Kind) -> Self {
        Self::start(Settings { every: 1, ..Settings::new(kind) })
    }

    pub(crate) fn start(settings: Settings) -> Self {
        let machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
        Self { server: specimens::start(settings, LogSink::Memory).unwrap(), _machine: machine }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/rest/hello", self.server.address())
    }

    /// Waits until it has acted on `count` requests; gives the log, which may be ahead.
    pub(crate) fn log_of(&self, count: usize) -> Vec<Entry> {
        let of_requests = |log: &[Entry]| log.iter().filter(|entry| entry.action != Action::IdleClose).count();
        wait_until(&format!("a log of {count} requests"), || {
            Some(self.server.log()).filter(|log| of_requests(log) >= count)
        })
    }

    /// How often it did what to the `count` requests that were made.
    pub(crate) fn actions(&self, count: u64) -> Actions {
        Actions::of(&self.log_of(count as usize))
    }

    /// Stops it, and with it its connections.
    pub(crate) fn stop(self) -> Stopped {
        let address = self.server.address();
        Stopped { log: self.server.stop(), _port: Closed::at(address) }
    }
}

/// A specimen that has stopped. As long as it is held nobody is given its port, which a load may still be trying.
#[must_use]
pub(crate) struct Stopped {
    /// The whole log.
    pub(crate) log: Vec<Entry>,
    _port: Closed,
}

/// A log, counted.
pub(crate) struct Actions {
    counts: BTreeMap<&'static str, u64>,
    /// Idle closes after which no further request came on the connection.
    pub(crate) closed_idle: u64,
}

impl Actions {
    pub(crate) fn of(log: &[Entry]) -> Self {
        let mut counts = BTreeMap::new();
        log.iter().for_each(|entry| *counts.entry(entry.action.name()).or_default() += 1);
        // A connection that was closed while idle can only get requests that come too late.
        let mut last = BTreeMap::new();
        last.extend(log.iter().map(|entry| (entry.connection, entry.action)));
        let closed_idle = last.values().filter(|action| **action == Action::IdleClose).count() as u64;
        Self { counts, closed_idle }
    }

    pub(crate) fn count(&self, action: Action) -> u64 {
        self.counts.get(action.name()).copied().unwrap_or(0)
    }

    /// Requests on which it acted.
    pub(crate) fn requests(&self) -> u64 {
        self.counts.values().sum::<u64>() - self.count(Action::IdleClose)
    }
}

/// A port of this machine on which nobody listens, and which nobody else can get.
pub(crate) struct Closed {
    socket: OwnedFd,
}

impl Closed {
    pub(crate) fn port() -> Self {
        Self::at(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0).into())
    }

    /// The port of a server that has ended, connections of which may linger.
    fn at(address: SocketAddr) -> Self {
        let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        set_socket_reuseaddr(&socket, true).unwrap();
        bind(&socket, &address).unwrap();
        Self { socket }
    }

    pub(crate) fn url(&self) -> String {
        let address = SocketAddrV4::try_from(getsockname(&self.socket).unwrap()).unwrap();
        format!("http://{address}/")
    }
}
