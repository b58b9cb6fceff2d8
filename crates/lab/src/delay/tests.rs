use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use engine::MonotonicClock;
use model::Clock;
use proptest::prelude::*;

use super::*;

const MS: u64 = 1_000_000;

/// A target that serves so many connections, one after the other, each by `serve`.
fn target<T: Send + 'static>(
    connections: usize,
    mut serve: impl FnMut(TcpStream) -> T + Send + 'static,
) -> (SocketAddr, JoinHandle<Vec<T>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let serving = move || (0..connections).map(|_| serve(listener.accept().unwrap().0)).collect();
    (address, std::thread::spawn(serving))
}

fn delayed(target: SocketAddr, delay_ns: u64) -> DelayProxy {
    DelayProxy::start(target, delay_ns, &[]).unwrap()
}

/// A connection through the proxy; a test that waits in vain fails.
fn connect(proxy: &DelayProxy) -> TcpStream {
    let stream = TcpStream::connect(proxy.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream
}

/// Sends back what comes, in pieces as they come, until the end.
fn echo(mut stream: TcpStream) {
    let mut buffer = vec![0; 10_000];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        stream.write_all(&buffer[..count]).unwrap();
    }
}

fn read_all(mut stream: &TcpStream) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).map(|_| bytes)
}

/// Writes pieces while another thread reads, then says that it has sent all; gives what came back.
fn round_trip(proxy: &DelayProxy, pieces: &[Vec<u8>]) -> Vec<u8> {
    let stream = connect(proxy);
    std::thread::scope(|scope| {
        let back = scope.spawn(|| read_all(&stream).unwrap());
        for piece in pieces {
            (&stream).write_all(piece).unwrap();
        }
        stream.shutdown(Shutdown::Write).unwrap();
        back.join().unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn bytes_keep_their_order_however_they_are_cut(
        lengths in proptest::collection::vec(1_usize..30_000, 1..40),
        delay_ns in 1_u64..3_000_000,
        seed in any::<u64>(),
    ) {
        let mut random = fastrand::Rng::with_seed(seed);
        let pieces: Vec<Vec<u8>> =
            lengths.iter().map(|length| std::iter::repeat_with(|| random.u8(..)).take(*length).collect()).collect();
        let (address, served) = target(1, echo);
        prop_assert!(round_trip(&delayed(address, delay_ns), &pieces) == pieces.concat());
        served.join().unwrap();
    }
}

#[test]
fn more_than_is_held_waits_at_the_sender_and_arrives() {
    let (address, served) = target(1, echo);
    let bytes: Vec<u8> = (0..6_000_000_u32).map(|n| (n % 251) as u8).collect();
    assert!(round_trip(&delayed(address, MS), std::slice::from_ref(&bytes)) == bytes);
    served.join().unwrap();
}

#[test]
fn no_byte_is_early() {
    const DELAY_NS: u64 = 4 * MS;
    let (address, served) = target(1, |mut stream| {
        let mut arrived_ns = Vec::new();
        while stream.read(&mut [0]).unwrap() == 1 {
            arrived_ns.push(MonotonicClock.now_ns());
            stream.write_all(b"!").unwrap();
        }
        arrived_ns
    });
    let proxy = delayed(address, DELAY_NS);
    let mut stream = connect(&proxy);
    let mut trips = Vec::new();
    for _ in 0..20 {
        let sent_ns = MonotonicClock.now_ns();
        stream.write_all(b"?").unwrap();
        stream.read_exact(&mut [0]).unwrap();
        trips.push((sent_ns, MonotonicClock.now_ns()));
    }
    drop(stream);
    let arrived_ns = served.join().unwrap().remove(0);
    assert_eq!(arrived_ns.len(), trips.len());
    for ((sent_ns, back_ns), arrived_ns) in trips.into_iter().zip(arrived_ns) {
        assert!(arrived_ns - sent_ns >= DELAY_NS / 2, "{} ns to the target", arrived_ns - sent_ns);
        assert!(back_ns - sent_ns >= DELAY_NS, "{} ns there and back", back_ns - sent_ns);
    }
}

#[test]
fn a_connection_may_be_finished_in_one_direction() {
    let (address, served) = target(1, |mut stream| {
        let asked = read_all(&stream).unwrap();
        stream.write_all(b"answer").unwrap();
        asked
    });
    let proxy = delayed(address, MS);
    let mut stream = connect(&proxy);
    stream.write_all(b"question").unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(read_all(&stream).unwrap(), b"answer");
    assert_eq!(served.join().unwrap(), [b"question"]);
}

#[test]
fn a_reset_is_passed_on_in_both_directions() {
    let linger = |stream: &TcpStream| rustix::net::sockopt::set_socket_linger(stream, Some(Duration::ZERO)).unwrap();
    let (address, served) = target(2, move |mut stream| {
        let mut asked = [0];
        stream.read_exact(&mut asked).unwrap();
        match asked {
            [b'r'] => linger(&stream),
            _ => assert_eq!(read_all(&stream).unwrap_err().kind(), ErrorKind::ConnectionReset),
        }
    });
    let proxy = delayed(address, MS);
    let mut reset_by_target = connect(&proxy);
    reset_by_target.write_all(b"r").unwrap();
    assert_eq!(read_all(&reset_by_target).unwrap_err().kind(), ErrorKind::ConnectionReset);
    let mut reset_by_us = connect(&proxy);
    reset_by_us.write_all(b"x").unwrap();
    linger(&reset_by_us);
    drop(reset_by_us);
    served.join().unwrap();
}

#[test]
fn a_connection_that_the_target_refuses_is_reset() {
    // Bound, so that nobody else gets the port, and nobody listens.
    let bound = rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::STREAM, None).unwrap();
    rustix::net::bind(&bound, &SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let proxy = delayed(rustix::net::getsockname(&bound).unwrap().try_into().unwrap(), MS);
    assert_eq!(read_all(&connect(&proxy)).unwrap_err().kind(), ErrorKind::ConnectionReset);
}

#[test]
fn many_connections_are_kept_apart() {
    // Below the 128 that std's listener lets wait: beyond it the kernel turns connections away, and rightly.
    const CONNECTIONS: usize = 100;
    let (address, served) = target(CONNECTIONS, |stream| std::thread::spawn(|| echo(stream)));
    let proxy = delayed(address, 2 * MS);
    let streams: Vec<TcpStream> = (0..CONNECTIONS).map(|_| connect(&proxy)).collect();
    for (number, mut stream) in streams.iter().enumerate() {
        stream.write_all(&number.to_be_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
    }
    for (number, stream) in streams.iter().enumerate() {
        assert_eq!(read_all(stream).unwrap(), number.to_be_bytes());
    }
    served.join().unwrap().into_iter().for_each(|echo| echo.join().unwrap());
}

#[test]
fn what_went_through_is_counted_by_turns_and_not_by_pieces() {
    let (address, served) = target(2, |stream| std::thread::spawn(|| echo(stream)));
    let proxy = delayed(address, MS);
    let streams = [connect(&proxy), connect(&proxy)];
    let ask = |mut stream: &TcpStream, pieces: usize| {
        (0..pieces).for_each(|_| stream.write_all(b"?").unwrap());
        stream.read_exact(&mut vec![0; pieces]).unwrap();
    };
    ask(&streams[0], 1);
    let before = proxy.begin();
    assert_eq!((before.opened, before.connections_max, before.replies), (2, 2, 1));
    (0..3).for_each(|_| ask(&streams[0], 1));
    streams.iter().for_each(|mut stream| stream.write_all(b"?").unwrap());
    streams.iter().for_each(|mut stream| stream.read_exact(&mut [0]).unwrap());
    let seen = proxy.seen();
    assert_eq!((seen.opened, seen.connections_max, seen.replies), (2, 2, 1 + 3 + 2), "{seen:?}");
    assert!((1..=2).contains(&seen.at_once_max), "{seen:?}");
    drop(streams);
    served.join().unwrap().into_iter().for_each(|echo| echo.join().unwrap());
}

#[test]
fn nothing_is_left_after_its_end() {
    let (address, served) = target(1, |mut stream| {
        stream.read_exact(&mut [0]).unwrap();
        stream.write_all(b"!").unwrap();
        read_all(&stream).unwrap_or_default()
    });
    let proxy = delayed(address, MS);
    let (listened, mut stream) = (proxy.address(), connect(&proxy));
    stream.write_all(b"?").unwrap();
    stream.read_exact(&mut [0]).unwrap();
    let used = proxy.stop();
    assert!(used.wall_s > 0.0 && used.cpu_s > 0.0 && used.busy() <= 1.0, "{used:?}");
    assert_eq!(read_all(&stream).unwrap_or_default(), b"", "our connection is closed");
    assert_eq!(served.join().unwrap(), [b""], "and the target's");
    assert_eq!(TcpStream::connect(listened).unwrap_err().kind(), ErrorKind::ConnectionRefused);
}
