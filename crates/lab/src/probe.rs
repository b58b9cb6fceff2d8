use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use engine::{Advance, HeadCache, MonotonicClock, Reply, ReplyReader};
use model::{Clock, ReplyExpectation};

/// One request, sent on a connection of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Probe<'a> {
    /// Method; GET when empty.
    pub(crate) method: &'a str,
    /// Path and query.
    pub(crate) path: &'a str,
    /// Body.
    pub(crate) body: &'a [u8],
    /// What the reply must be; it is compared, never kept.
    pub(crate) expect: ReplyExpectation,
}

/// Largest reply a probe takes.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// Sends one request and reads its reply.
///
/// # Errors
/// When the server cannot be reached, does not answer within `timeout`, or answers something else than HTTP.
pub(crate) fn send(address: SocketAddr, probe: &Probe<'_>, timeout: Duration) -> std::io::Result<Reply> {
    let deadline_ns = MonotonicClock.now_ns() + timeout.as_nanos() as u64;
    let mut stream = TcpStream::connect_timeout(&address, timeout)?;
    stream.set_write_timeout(Some(timeout))?;
    let method = if probe.method.is_empty() { "GET" } else { probe.method };
    let (path, length) = (probe.path, probe.body.len());
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    );
    stream.write_all(&[head.as_bytes(), probe.body].concat())?;
    read_reply(&mut stream, &probe.expect, deadline_ns)
}

/// Reads until the deadline at the latest: a reply that drips for ever must not keep anybody waiting.
fn read_reply(stream: &mut TcpStream, expect: &ReplyExpectation, deadline_ns: u64) -> std::io::Result<Reply> {
    let (mut reader, mut cache) = (ReplyReader::default(), HeadCache::default());
    let (mut taken, mut buffer) = (0, [0; 16 * 1024]);
    loop {
        let left = Duration::from_nanos(deadline_ns.saturating_sub(MonotonicClock.now_ns()));
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        let count = stream.read(&mut buffer)?;
        taken += count;
        let advance = match count {
            0 => reader.end(expect),
            _ => reader.advance(&mut &buffer[..count], expect, false, &mut cache),
        };
        match advance {
            Advance::Complete(reply) => return Ok(reply),
            Advance::NeedMore if count == 0 => return Err(ErrorKind::UnexpectedEof.into()),
            Advance::NeedMore if taken < MOST_BYTES => {}
            _ => return Err(std::io::Error::new(ErrorKind::InvalidData, "the reply is not HTTP")),
        }
    }
}
