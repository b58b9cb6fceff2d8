//! How many units of execution serve N connections at once: what `/whoami` answers is counted.

use std::collections::BTreeSet;
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use model::{Census, WHOAMI};

use crate::client::{Answer, Client, Probe};
use crate::deadline::GoesOn;
use crate::tls::Place;

/// How often each client asks: on one connection with keep-alive, else on a new one each time.
const ROUNDS: u32 = 5;

/// Clients at most: each is a thread here, and beyond it the count says nothing new.
const MOST_CLIENTS: u32 = 1_000;

/// Longest answer that is a name.
const MOST_BYTES: usize = 4 * 1024;

/// How long an answer may take: a pool that is smaller than the number of clients makes the last ones wait.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A client calls one function and has little on its stack.
const STACK_BYTES: usize = 256 * 1024;

/// Has so many clients, or as many as there can be threads, ask at the same time who serves them; once it is to `stop`,
/// nobody asks again or waits for an answer.
pub(crate) fn take(place: &Place, clients: u32, keep_alive: bool, stop: &AtomicBool) -> Census {
    let clients = clients.min(MOST_CLIENTS);
    let (gate, goes_on) = (RwLock::new(()), &|| !stop.load(Ordering::Relaxed));
    let (clients, names) = std::thread::scope(|scope| {
        let closed = gate.write();
        let ask = || ask_in_turn(place, keep_alive, &gate, goes_on);
        let builder = || std::thread::Builder::new().stack_size(STACK_BYTES);
        let threads: Vec<_> = (0..clients).map_while(|_| builder().spawn_scoped(scope, ask).ok()).collect();
        drop(closed);
        let clients = threads.len() as u32;
        let told: Vec<Answers<'_>> = threads.into_iter().filter_map(|thread| thread.join().ok()).collect();
        (clients, told.into_iter().flat_map(|told| told.names).collect::<Vec<String>>())
    });
    let units: BTreeSet<&String> = names.iter().collect();
    Census {
        clients,
        asked: clients * ROUNDS,
        answered: names.len() as u32,
        units: units.len() as u32,
        example: names.first().cloned().unwrap_or_default(),
    }
}

/// What one client was told.
struct Answers<'a> {
    /// In their order; an answer that failed is missing.
    names: Vec<String>,
    /// Keeps the connection until everybody was answered: who leaves early makes room for who waits.
    _client: Client<'a>,
}

fn ask_in_turn<'a>(place: &'a Place, keep_alive: bool, gate: &RwLock<()>, goes_on: GoesOn<'a>) -> Answers<'a> {
    let client = Client::new(place, TIMEOUT, MOST_BYTES).while_it(goes_on);
    let mut client = if keep_alive { client.keeping() } else { client };
    // Nobody asks before all are there.
    drop(gate.read());
    let mut ask = |_| {
        let answer = client.ask(&Probe { path: WHOAMI, ..Probe::default() }).ok().filter(Answer::is_success)?;
        String::from_utf8(answer.body).ok()
    };
    let rounds = (0..ROUNDS).take_while(|_| goes_on());
    Answers { names: rounds.filter_map(&mut ask).collect(), _client: client }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{SocketAddr, TcpListener};

    use engine::MonotonicClock;
    use model::Clock;

    /// A thread for each connection, which answers with a number of its own until the connection ends.
    fn server() -> Place {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let place = Place::plain(listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let mut stream = stream.unwrap();
                std::thread::spawn(move || {
                    let name = format!("thread {number:04}");
                    let mut buffer = [0; 4096];
                    while stream.read(&mut buffer).is_ok_and(|count| count > 0) {
                        let close = buffer.windows(5).any(|window| window == b"close");
                        let reply = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{name}", name.len());
                        if stream.write_all(reply.as_bytes()).is_err() || close {
                            return;
                        }
                    }
                });
            }
        });
        place
    }

    #[test]
    fn connections_are_told_from_requests() {
        let go_on = AtomicBool::new(false);
        let kept = take(&server(), 4, true, &go_on);
        assert_eq!((kept.clients, kept.asked, kept.answered, kept.units), (4, 20, 20, 4));
        assert!(kept.example.starts_with("thread "), "{kept:?}");
        let closed = take(&server(), 4, false, &go_on);
        assert_eq!((closed.answered, closed.units), (20, 20));
        let stopped = take(&server(), 4, true, &AtomicBool::new(true));
        assert_eq!((stopped.clients, stopped.answered), (4, 0));
    }

    #[test]
    fn a_silent_server_is_not_waited_for_once_it_is_to_stop() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (place, stop) = (Place::plain(listener.local_addr().unwrap()), AtomicBool::new(false));
        let start_ns = MonotonicClock.now_ns();
        let seen = std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut stream = listener.accept().unwrap().0;
                assert!(stream.read(&mut [0; 1024]).unwrap() > 0);
                stop.store(true, Ordering::Relaxed);
                let _ = stream.read(&mut [0; 1024]);
            });
            take(&place, 1, true, &stop)
        });
        assert_eq!((seen.clients, seen.answered), (1, 0));
        assert!(MonotonicClock.now_ns() - start_ns < TIMEOUT.as_nanos() as u64, "it was waited for to the end");
    }

    #[test]
    fn nobody_there_is_a_census_of_nobody() {
        // Bound, so that nobody else gets the port, and nobody listens.
        let bound =
            rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::STREAM, None).unwrap();
        rustix::net::bind(&bound, &SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        let address: SocketAddr = rustix::net::getsockname(&bound).unwrap().try_into().unwrap();
        let nobody = take(&Place::plain(address), 2, true, &AtomicBool::new(false));
        assert_eq!(nobody, Census { clients: 2, asked: 10, ..Census::default() });
    }
}
