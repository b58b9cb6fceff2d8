//! What is written of a trial while it runs: each second's histograms and samples go to their files as they come.

use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use engine::IntervalLog;
use model::{LoadSecond, Sample};

use crate::durable::{Growing, create_new_folder_durably};
use crate::error::LabError;

/// The files of one trial under way. The first failure is kept: it is said when the trial is to be recorded.
#[derive(Debug)]
pub(super) struct Trace {
    pub(super) trial: String,
    histograms: PathBuf,
    samples: PathBuf,
    log: Option<IntervalLog<BufWriter<Growing>>>,
    csv: Option<BufWriter<Growing>>,
    failure: Option<LabError>,
}

impl Trace {
    /// Of a trial in a run folder. It makes no file before there is something to write.
    pub(super) fn new(run: &Path, trial: &str) -> Self {
        Self {
            trial: trial.to_owned(),
            histograms: run.join("histograms").join(format!("{trial}.hlog")),
            samples: run.join("samples").join(format!("{trial}.csv")),
            log: None,
            csv: None,
            failure: None,
        }
    }

    pub(super) fn second(&mut self, second: &LoadSecond) {
        if self.log.is_none() {
            let begun = self.begin(&self.histograms.clone());
            self.log = begun.map(IntervalLog::begin);
        }
        self.log.iter_mut().for_each(|log| log.add(second));
    }

    pub(super) fn samples(&mut self, samples: &[Sample], start_ns: u64) {
        let mut rows = String::new();
        if self.csv.is_none() {
            self.csv = self.begin(&self.samples.clone());
            rows.push_str(observe::CSV_HEADER);
        }
        rows.push_str(&observe::csv_rows(samples, start_ns));
        let written = self.csv.as_mut().map_or(Ok(()), |csv| csv.write_all(rows.as_bytes()));
        if let Err(error) = written {
            self.failure.get_or_insert_with(|| LabError::file(&self.samples)(error));
        }
    }

    fn begin(&mut self, path: &Path) -> Option<BufWriter<Growing>> {
        if self.failure.is_some() {
            return None;
        }
        // A run that an earlier bourdon began lacks some of the folders. One that was moved is not begun anew.
        let folder = path.parent().unwrap_or(path);
        let there = if folder.is_dir() { Ok(()) } else { create_new_folder_durably(folder) };
        let begun = there.and_then(|()| Growing::begin(path));
        match begun {
            Ok(file) => Some(BufWriter::new(file)),
            Err(error) => {
                self.failure = Some(LabError::file(path)(error));
                None
            }
        }
    }

    /// Gives the files their names, for good.
    ///
    /// # Errors
    /// When one could not be written.
    pub(super) fn finish(self) -> Result<(), LabError> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let named = |file: BufWriter<Growing>| file.into_inner().map_err(|failed| failed.into_error())?.finish();
        if let Some(log) = self.log {
            log.end().and_then(named).map_err(LabError::file(&self.histograms))?;
        }
        if let Some(csv) = self.csv {
            named(csv).map_err(LabError::file(&self.samples))?;
        }
        Ok(())
    }
}

/// Removes what is kept of a launch under the name of one that is made anew: what this has not, its record must not have from
/// the one before.
///
/// # Errors
/// When a file cannot be removed.
pub(super) fn remove(run: &Path, trial: &str) -> Result<(), LabError> {
    for (folder, ending) in
        [("histograms", "hlog"), ("samples", "csv"), ("profiles", "pb.gz"), ("profiles", "perf.txt.gz")]
    {
        let file = run.join(folder).join(format!("{trial}.{ending}"));
        match std::fs::remove_file(&file) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(LabError::file(&file)(error)),
            _ => {}
        }
    }
    Ok(())
}
