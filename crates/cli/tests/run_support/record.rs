use std::path::{Path, PathBuf};

/// A document, read without bourdon's own types: what any other program sees.
pub(crate) type Json = serde_json::Value;

/// A run folder.
#[derive(Debug)]
pub(crate) struct Record(PathBuf);

impl Record {
    pub(crate) fn new(path: PathBuf) -> Self {
        Record(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Its path as an argument.
    pub(crate) fn name(&self) -> &str {
        self.0.to_str().unwrap()
    }

    pub(crate) fn text(&self, file: &str) -> String {
        std::fs::read_to_string(self.0.join(file)).unwrap()
    }

    pub(crate) fn has(&self, file: &str) -> bool {
        self.0.join(file).exists()
    }

    /// How many files a folder of the record has.
    pub(crate) fn files_in(&self, folder: &str) -> usize {
        std::fs::read_dir(self.0.join(folder)).unwrap().count()
    }

    /// How many whole lines `trials.jsonl` has.
    pub(crate) fn lines(&self) -> usize {
        std::fs::read(self.0.join("trials.jsonl")).map_or(0, |text| text.iter().filter(|byte| **byte == b'\n').count())
    }

    /// Every launch, also those by which a target is measured against itself.
    pub(crate) fn launches(&self) -> Vec<Json> {
        self.text("trials.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The launches of cells.
    pub(crate) fn trials(&self) -> Vec<Json> {
        self.launches().into_iter().filter(|trial| trial["twin"] != true).collect()
    }

    pub(crate) fn analysis(&self) -> Json {
        serde_json::from_str(&self.text("analysis.json")).unwrap()
    }

    /// Block, position and cell of each trial, as they were recorded.
    pub(crate) fn order(&self) -> Vec<[u64; 3]> {
        let column = |trial: &Json, name: &str| trial[name].as_u64().unwrap();
        self.trials().iter().map(|trial| ["block", "position", "cell"].map(|name| column(trial, name))).collect()
    }

    /// Asserts that every cell of every block was recorded once.
    #[track_caller]
    pub(crate) fn is_whole(&self, blocks: u64, cells: u64) {
        let mut seen: Vec<(u64, u64)> = self.order().iter().map(|[block, _, cell]| (*block, *cell)).collect();
        seen.sort_unstable();
        let all: Vec<(u64, u64)> = (1..=blocks).flat_map(|block| (0..cells).map(move |cell| (block, cell))).collect();
        assert_eq!(seen, all, "{}", self.name());
    }

    /// The failures of one target's trials.
    pub(crate) fn failures_of(&self, target: &str) -> Vec<Json> {
        let of_target = |trial: &Json| trial["where"]["target"] == target;
        self.trials().into_iter().filter(of_target).map(|trial| trial["failure"].clone()).collect()
    }

    /// Asserts that each trial of a target came to its figures: so many, or more where the machine was busy in a block.
    #[track_caller]
    pub(crate) fn all_measured(&self, target: &str, trials: usize) {
        let failures = self.failures_of(target);
        assert!(failures.len() >= trials, "{target}: {} trials", failures.len());
        assert!(failures.iter().all(Json::is_null), "{target}: {failures:?}");
    }
}
