//! What was printed to a file, as far as it is shown.

use std::fs::OpenOptions;
use std::io::Read;
use std::path::Path;

use crate::document;

/// Lines of a target's output that are kept with its failure.
const SHOWN_LINES: usize = 12;

/// Characters of a long line that are kept with it, of its beginning and of its end.
const SHOWN_OF_A_LINE: usize = 200;

/// The last lines of a target's output, of each not more than can be read.
pub(crate) fn tail(output: &Path) -> String {
    let last = last_lines(&text(output), SHOWN_LINES);
    last.lines().map(shortened).collect::<Vec<_>>().join("\n")
}

/// A line whose middle is left out if it is long.
fn shortened(line: &str) -> String {
    let length = line.chars().count();
    if length <= 2 * SHOWN_OF_A_LINE {
        return line.to_owned();
    }
    let start: String = line.chars().take(SHOWN_OF_A_LINE).collect();
    let end: String = line.chars().skip(length - SHOWN_OF_A_LINE).collect();
    format!("{start} … {end}")
}

/// More than is ever kept of an output.
const MOST_BYTES: u64 = 64 * 1024;

/// A file's text, as far as it is one; empty where there is none. What was printed may put anything in the file's place.
pub(crate) fn text(file: &Path) -> String {
    let mut bytes = Vec::new();
    if let Ok(file) = document::open(file, OpenOptions::new().read(true)) {
        // As far as it can be read.
        let _ = file.take(MOST_BYTES).read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The last `count` lines of a text.
pub(crate) fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, Mode};

    #[test]
    fn what_is_put_in_the_place_of_an_output_is_neither_waited_for_nor_read_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let [fifo, device, long] = ["fifo", "device", "long"].map(|name| folder.path().join(name));
        rustix::fs::mknodat(CWD, &fifo, FileType::Fifo, Mode::RUSR, 0).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &device).unwrap();
        std::fs::File::create(&long).unwrap().set_len(1 << 30).unwrap();
        assert_eq!([text(&fifo), text(&device)], ["", ""]);
        assert_eq!(text(&long).len() as u64, MOST_BYTES);
    }

    #[test]
    fn of_a_long_line_the_middle_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("output");
        std::fs::write(&file, format!("short\na{}b\n", "ä".repeat(5_000))).unwrap();
        let expected = format!("short\na{} … {}b", "ä".repeat(199), "ä".repeat(199));
        assert_eq!(tail(&file), expected);
    }
}
