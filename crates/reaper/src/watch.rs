use std::io::{Read, Stdin};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level::pipe::register;

use crate::clock::{left, pause};

/// Waits for what can happen to a step: bourdon closes the socket, a signal asks for the end, a child changes.
pub(crate) struct Watch {
    children: UnixStream,
    asked: UnixStream,
    /// Everything is to end.
    pub(crate) stopped: bool,
    /// A signal says so, and bourdon does not.
    pub(crate) signalled: bool,
}

impl Watch {
    pub(crate) fn new() -> std::io::Result<Self> {
        let stream = |signals: &[i32]| {
            let (read, write) = UnixStream::pair()?;
            read.set_nonblocking(true)?;
            for signal in signals {
                register(*signal, write.try_clone()?)?;
            }
            std::io::Result::Ok(read)
        };
        Ok(Self {
            children: stream(&[SIGCHLD])?,
            asked: stream(&[SIGTERM, SIGINT, SIGHUP])?,
            stopped: false,
            signalled: false,
        })
    }

    /// Waits until everything is to end: bourdon may still want what is in the scratch folder.
    pub(crate) fn wait_for_stop(&mut self) {
        while !self.stopped {
            self.wait(None, None);
        }
    }

    /// Waits until something happens, there is something to read from `output`, or the time has come.
    pub(crate) fn wait(&mut self, output: Option<BorrowedFd<'_>>, until_ns: Option<u64>) {
        let stdin = std::io::stdin();
        let timeout = until_ns
            .map(left)
            .map(|left| Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() });
        let mut sources = vec![PollFd::new(&self.children, PollFlags::IN)];
        sources.extend(output.map(|output| PollFd::from_borrowed_fd(output, PollFlags::IN)));
        if !self.stopped {
            sources.push(PollFd::new(&self.asked, PollFlags::IN));
            sources.push(PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::IN));
        }
        // Where it fails, what may have happened is looked for all the same, and again soon: at once after a signal.
        if poll(&mut sources, timeout.as_ref()).is_err_and(|errno| errno != Errno::INTR) {
            pause();
        }
        let closed = is_closed(&stdin);
        self.signalled |= !closed && matches!((&self.asked).read(&mut [0]), Ok(1..));
        self.stopped |= closed || self.signalled;
        while matches!((&self.children).read(&mut [0; 64]), Ok(1..)) {}
    }
}

/// Whether bourdon has closed its end of the socket, or there is none.
fn is_closed(stdin: &Stdin) -> bool {
    match recv(stdin, &mut [0; 64], RecvFlags::DONTWAIT) {
        Ok((0, _)) => true,
        Ok(_) | Err(Errno::AGAIN | Errno::INTR) => false,
        Err(_) => true,
    }
}
