use std::io::{ErrorKind, PipeReader, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use crate::clock::{after, now_ns};

/// Bytes that are kept of the beginning, and as many of the end.
const KEPT: usize = 8 * 1024;

/// What the kernel lets an ordinary user have: a target that prints a line for each request is not held up while the
/// reaper rests.
const PIPE_BYTES: usize = 1024 * 1024;

/// How long the reaper lets what is printed gather. Waking for each line would cost a CPU that is being measured.
const REST: Duration = Duration::from_millis(5);

/// Read at once, it is too much for a rest.
const MUCH: usize = 256 * 1024;

/// What a command prints, read as it comes.
pub(crate) struct Output<W: Write> {
    pipe: Option<PipeReader>,
    kept: Kept<W>,
    rest_until_ns: u64,
}

impl<W: Write> Output<W> {
    /// Takes over the reading end of a pipe; what is kept goes to `to`.
    pub(crate) fn new(pipe: PipeReader, to: W) -> std::io::Result<Self> {
        rustix::io::ioctl_fionbio(&pipe, true)?;
        // With a smaller one it is read more often.
        let _ = rustix::pipe::fcntl_setpipe_size(&pipe, PIPE_BYTES);
        Ok(Self { pipe: Some(pipe), kept: Kept::new(to), rest_until_ns: 0 })
    }

    /// What to wait for, unless it is let gather; and until when it is.
    pub(crate) fn waits_for(&self) -> (Option<BorrowedFd<'_>>, Option<u64>) {
        match &self.pipe {
            None => (None, None),
            Some(_) if now_ns() < self.rest_until_ns => (None, Some(self.rest_until_ns)),
            Some(pipe) => (Some(pipe.as_fd()), None),
        }
    }

    /// Reads what is there.
    pub(crate) fn read(&mut self) {
        let (mut taken, mut buffer) = (0, [0; 64 * 1024]);
        while let Some(pipe) = &mut self.pipe
            && taken < MUCH
        {
            match pipe.read(&mut buffer) {
                Ok(0) => self.pipe = None,
                Ok(count) => {
                    taken += count;
                    self.kept.take(&buffer[..count]);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => self.pipe = None,
            }
        }
        if (1..MUCH).contains(&taken) {
            self.rest_until_ns = after(REST);
        }
    }

    /// Reads what is still there, and writes down the end.
    pub(crate) fn finish(mut self) {
        // As much as the pipe holds; somebody who escaped may print for ever.
        (0..PIPE_BYTES.div_ceil(MUCH)).for_each(|_| self.read());
        self.kept.finish();
    }
}

/// The beginning and the end of a text of any length. The beginning is written as it comes.
struct Kept<W: Write> {
    to: W,
    head_left: usize,
    tail: Vec<u8>,
    left_out: u64,
}

impl<W: Write> Kept<W> {
    fn new(to: W) -> Self {
        Self { to, head_left: KEPT, tail: Vec::new(), left_out: 0 }
    }

    fn take(&mut self, bytes: &[u8]) {
        let (head, rest) = bytes.split_at(bytes.len().min(self.head_left));
        self.head_left -= head.len();
        self.write(head);
        self.tail.extend_from_slice(rest);
        if self.tail.len() > 16 * KEPT {
            self.cut();
        }
    }

    fn cut(&mut self) {
        let surplus = self.tail.len().saturating_sub(KEPT);
        self.tail.drain(..surplus);
        self.left_out += surplus as u64;
    }

    fn finish(mut self) {
        self.cut();
        if self.left_out > 0 {
            self.write(format!("\n… {} bytes left out …\n", self.left_out).as_bytes());
        }
        let tail = std::mem::take(&mut self.tail);
        self.write(&tail);
    }

    /// A disk that is full has no room for what a target says, and that does not stop it.
    fn write(&mut self, bytes: &[u8]) {
        let _ = self.to.write_all(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is kept of a text that comes in pieces of such a length.
    fn kept(text: &[u8], piece: usize) -> Vec<u8> {
        let mut file = Vec::new();
        let mut kept = Kept::new(&mut file);
        text.chunks(piece).for_each(|piece| kept.take(piece));
        kept.finish();
        file
    }

    #[test]
    fn the_beginning_and_the_end_are_kept_and_what_is_left_out_is_counted() {
        let text: Vec<u8> = (0..100_003).map(|number: u32| (number % 251) as u8).collect();
        for piece in [1, 7, 8191, 8192, 8193, 65_536, 100_003] {
            let expected = [&text[..KEPT], "\n… 83619 bytes left out …\n".as_bytes(), &text[text.len() - KEPT..]];
            assert_eq!(kept(&text, piece), expected.concat(), "in pieces of {piece}");
            for short in [0, 1, KEPT, KEPT + 1, 2 * KEPT] {
                assert_eq!(kept(&text[..short], piece), text[..short], "{short} bytes in pieces of {piece}");
            }
        }
        assert_eq!(100_003 - 2 * KEPT, 83_619);
    }

    #[test]
    fn a_pipe_is_emptied_without_waiting_for_its_end() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let mut file = Vec::new();
        let mut output = Output::new(reader, &mut file).unwrap();
        output.read();
        assert!(output.waits_for().0.is_some(), "there is nothing to gather");
        writer.write_all(b"one\n").unwrap();
        output.read();
        assert!(output.waits_for().1.is_some(), "what comes next is let gather");
        writer.write_all(b"two\n").unwrap();
        output.finish();
        assert_eq!(file, b"one\ntwo\n");
    }
}
