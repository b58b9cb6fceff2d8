//! The contract of the targets (targets/CONTRACT.md), kept or broken in one way that a figure would not show.
//!
//! A thread for each connection, unlike the other specimens: what a request asks here takes time.

mod http;
mod work;

use std::io::{self, ErrorKind, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Weak};
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use crate::settings::Settings;
use http::{Answer, Incoming, Reader, Request};
use work::Work;

/// Serves `listener`, and the admin port if there is one, until `wake` is written to; then closes the connections.
pub(crate) fn serve(listener: &TcpListener, wake: &OwnedFd, settings: &Settings) -> io::Result<()> {
    let work = Arc::new(Work::new(settings));
    let admin = settings.admin_port.map(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, port))).transpose()?;
    let listeners: Vec<&TcpListener> = [listener].into_iter().chain(&admin).collect();
    for listener in &listeners {
        // A connection that was aborted before it is accepted must not hold up the others.
        listener.set_nonblocking(true)?;
    }
    let mut open: Vec<Weak<TcpStream>> = Vec::new();
    let mut accepted = 0;
    loop {
        let (stopped, ready) = wait(wake, &listeners)?;
        if stopped {
            break;
        }
        for place in ready {
            let Ok((stream, _)) = listeners[place].accept() else { continue };
            let (stream, work) = (Arc::new(stream), Arc::clone(&work));
            accepted += 1;
            open.retain(|stream| stream.strong_count() > 0);
            open.push(Arc::downgrade(&stream));
            let answer = move |request: &Request| match place {
                0 => work.answer(request, accepted),
                _ => work.admin(request),
            };
            thread::Builder::new().spawn(move || converse(&stream, answer))?;
        }
    }
    // Fails only on a connection that is gone already.
    open.iter().filter_map(Weak::upgrade).for_each(|stream| drop(stream.shutdown(Shutdown::Both)));
    Ok(())
}

/// Waits; gives whether the server is to stop, and the places of the listeners that have a connection.
fn wait(wake: &OwnedFd, listeners: &[&TcpListener]) -> io::Result<(bool, Vec<usize>)> {
    let mut events = vec![PollFd::new(wake, PollFlags::IN)];
    events.extend(listeners.iter().map(|listener| PollFd::new(*listener, PollFlags::IN)));
    match poll(&mut events, None) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let came = |event: &PollFd| !event.revents().is_empty();
    let ready = events[1..].iter().enumerate().filter(|(_, event)| came(event)).map(|(place, _)| place).collect();
    Ok((came(&events[0]), ready))
}

/// Answers the requests of one connection, one after the other, until either side ends it.
fn converse(stream: &TcpStream, answer: impl Fn(&Request) -> Answer) {
    // Fails only on a connection that is gone already, which the first read finds out.
    let _ = stream.set_nodelay(true);
    let mut reader = Reader::new(stream);
    loop {
        let (answer, close) = match reader.next() {
            Ok(Incoming::Request(request)) => (answer(&request), request.close),
            Ok(Incoming::Refused(status)) => (Answer::error(status), true),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Ok(Incoming::End) | Err(_) => return,
        };
        let mut stream = stream;
        if stream.write_all(&answer.bytes(close)).is_err() || close {
            return;
        }
    }
}
