//! `events.jsonl`: what happens in a run, a line each, for whoever wants to follow it. It is told, not judged: no analysis
//! rests on it.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::{EVENT_SCHEMA, EVENT_SCHEMAS, Event, EventLine, TrialRecord};
use serde::Serialize;

use super::owned::{Owned, cut_torn_line};
use crate::document::{self, from_json, to_json};
use crate::error::LabError;

const EVENTS: &str = "events.jsonl";

/// Bytes that a follower takes at once, unless a line is longer.
const CHUNK: u64 = 1024 * 1024;

/// Bytes of an event's line at most, as of a trial's: it may hold one.
const MOST_LINE_BYTES: u64 = 64 * 1024 * 1024;

/// The events of a run, appended as they happen. Each is there for others at once, and survives a kill; a power cut only
/// what was synced.
#[derive(Debug)]
pub(super) struct Journal {
    file: Owned,
    /// The first failure. Nothing is written after it: a line would follow half of one.
    failure: Option<LabError>,
}

impl Journal {
    /// Opens that of a run folder, or makes one. A torn last line is not an event; it is cut off so that the next begins on a
    /// line of its own.
    pub(super) fn open(run: &Path) -> Result<Self, LabError> {
        let path = run.join(EVENTS);
        let mut file = document::open_or_make(&path, OpenOptions::new().read(true).append(true))?;
        cut_torn_line(&mut file).map_err(LabError::file(&path))?;
        Ok(Self { file: Owned::of(&path, file)?, failure: None })
    }

    /// The same where its folder has another name now.
    pub(super) fn at(self, run: &Path) -> Self {
        Self { file: self.file.at(run), ..self }
    }

    /// Adds an event, as one line in one write.
    pub(super) fn tell(&mut self, event: &Event) {
        if self.failure.is_some() {
            return;
        }
        let mut line = to_json(&Line { schema: EVENT_SCHEMA, at: Timestamp::now(), event });
        line.push(b'\n');
        self.failure = self.file.add(&line).err();
    }

    /// Brings to disk what was told.
    pub(super) fn sync(&mut self) {
        if self.failure.is_none() {
            self.failure = self.file.sync().err();
        }
    }

    /// Whether everything was written, and is still there. What was not written once is missing from then on.
    pub(super) fn check(&self) -> Result<(), LabError> {
        self.failure.clone().map_or_else(|| self.file.check(), Err)
    }

    /// The same, byte for byte.
    pub(super) fn verify(&mut self) -> Result<(), LabError> {
        self.sync();
        self.check()?;
        self.file.verify()
    }
}

/// Those of a run's recorded trials of whose end its events do not tell.
pub(super) fn untold(run: &Path, trials: &[TrialRecord]) -> Result<Vec<String>, LabError> {
    let (mut follower, mut told) = (Follower::open(run)?, BTreeSet::new());
    loop {
        let before = follower.read;
        for line in follower.read_on()? {
            if let Event::TrialEnded { record } = line.event {
                told.insert((record.id, record.started_at));
            }
        }
        if follower.read == before {
            break;
        }
    }
    let is_told = |trial: &&TrialRecord| told.contains(&(trial.id.clone(), trial.started_at));
    Ok(trials.iter().filter(|trial| !is_told(trial)).map(|trial| trial.id.clone()).collect())
}

/// An [`EventLine`] whose event is not given away.
#[derive(Serialize)]
struct Line<'a> {
    schema: &'static str,
    at: Timestamp,
    event: &'a Event,
}

/// Reads the events of a run from their beginning, and those that come later as they come.
#[derive(Debug)]
pub struct Follower {
    file: File,
    path: PathBuf,
    /// Bytes of whole lines that were read.
    read: u64,
    /// Lines that are not events of a kind that this bourdon knows.
    unknown: u64,
}

impl Follower {
    /// Opens the events of a run folder.
    ///
    /// # Errors
    /// When there are none: it is not a run folder, or a bourdon recorded it that told none.
    pub fn open(run: &Path) -> Result<Self, LabError> {
        let path = run.join(EVENTS);
        let file = document::open(&path, OpenOptions::new().read(true))?;
        Ok(Self { file, path, read: 0, unknown: 0 })
    }

    /// The next whole lines, none where there are no more yet. Lines that are not events are counted and left out.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read_on(&mut self) -> Result<Vec<EventLine>, LabError> {
        let mut wanted = CHUNK;
        loop {
            let bytes = self.ahead(wanted).map_err(LabError::file(&self.path))?;
            match bytes.iter().rposition(|byte| *byte == b'\n') {
                Some(last) => {
                    self.read += last as u64 + 1;
                    return Ok(self.events(&bytes[..last]));
                }
                // A line without end is damage: what follows it can still be read.
                None if bytes.len() as u64 >= MOST_LINE_BYTES => {
                    self.read += bytes.len() as u64;
                    self.unknown += 1;
                }
                None if (bytes.len() as u64) < wanted => return Ok(Vec::new()),
                None => wanted *= 2,
            }
        }
    }

    /// Lines that were left out so far.
    pub fn unknown(&self) -> u64 {
        self.unknown
    }

    /// What lies behind the lines that were read. It is read anew each time: a torn line is cut off when the run is resumed.
    fn ahead(&mut self, wanted: u64) -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.file.seek(SeekFrom::Start(self.read))?;
        Read::by_ref(&mut self.file).take(wanted).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn events(&mut self, lines: &[u8]) -> Vec<EventLine> {
        let mut events = Vec::new();
        for line in lines.split(|byte| *byte == b'\n') {
            match from_json(line, &EVENT_SCHEMAS, &self.path, 0) {
                Ok(event) => events.push(event),
                Err(_) => self.unknown += 1,
            }
        }
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_a_failure_nothing_is_written_however_often_it_was_asked_about() {
        let folder = tempfile::tempdir().unwrap();
        let (file, aside) = (folder.path().join(EVENTS), folder.path().join("aside"));
        let mut journal = Journal::open(folder.path()).unwrap();
        let event = Event::Finished { reason: model::Done::Calibrated };
        journal.tell(&event);
        std::fs::rename(&file, &aside).unwrap();
        journal.tell(&event);
        assert!(journal.check().is_err());
        std::fs::rename(&aside, &file).unwrap();
        journal.tell(&event);
        assert!(journal.check().is_err(), "an event is missing");
        assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), 1);
    }
}
