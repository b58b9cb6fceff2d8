//! `additions.jsonl`: what a planner added to the plan while it was carried out, a line each. Without it the plan is the one
//! in `plan.toml`.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use model::{ADDITION_SCHEMA, ADDITION_SCHEMAS, Addition, AdditionLine, Plan};

use super::owned::{Owned, cut_torn_line};
use crate::document::{self, from_json, to_json};
use crate::durable::sync_folder;
use crate::error::LabError;

const ADDITIONS: &str = "additions.jsonl";

/// Bytes of a line at most: a cell holds the bodies that it sends and expects.
const MOST_LINE_BYTES: u64 = 64 << 20;

/// Lines at most: more than any plan has cells.
const MOST_LINES: usize = 10_000;

/// The file of a run, where it is there. What a kill left half written in it is not an addition; nothing was done with it.
pub(super) fn open(run: &Path) -> Result<Option<Owned>, LabError> {
    let path = run.join(ADDITIONS);
    match document::open(&path, OpenOptions::new().read(true).append(true)) {
        Err(error) if error.is_missing() => Ok(None),
        opened => whole(&path, opened?).map(Some),
    }
}

/// The same, made where there is none.
pub(super) fn begin(run: &Path) -> Result<Owned, LabError> {
    let path = run.join(ADDITIONS);
    let file = document::open_or_make(&path, OpenOptions::new().read(true).append(true))?;
    sync_folder(run).map_err(LabError::file(&path))?;
    whole(&path, file)
}

fn whole(path: &Path, mut file: File) -> Result<Owned, LabError> {
    cut_torn_line(&mut file).map_err(LabError::file(path))?;
    Owned::of(path, file)
}

/// An addition as a line of it.
pub(super) fn line(addition: &Addition) -> Vec<u8> {
    let mut line = to_json(&AdditionLine { schema: ADDITION_SCHEMA.to_owned(), addition: addition.clone() });
    line.push(b'\n');
    line
}

/// The plan with what was added to it.
pub(super) fn read(run: &Path, plan: Plan) -> Result<Plan, LabError> {
    let path = run.join(ADDITIONS);
    let file = match document::open(&path, OpenOptions::new().read(true)) {
        Err(error) if error.is_missing() => return Ok(plan),
        opened => opened?,
    };
    let mut reader = BufReader::new(file);
    let mut plan = plan;
    for number in 1.. {
        let mut line = Vec::new();
        reader.by_ref().take(MOST_LINE_BYTES).read_until(b'\n', &mut line).map_err(LabError::file(&path))?;
        if line.len() as u64 == MOST_LINE_BYTES || number > MOST_LINES {
            let fault = "there is more than any plan has added: the file is damaged".to_owned();
            return Err(document::content(&path, number, fault));
        }
        if line.last() != Some(&b'\n') {
            break;
        }
        let added: AdditionLine = from_json(&line, &ADDITION_SCHEMAS, &path, number)?;
        plan = plan.adding(&added.addition).map_err(|fault| LabError::Plan { path: path.clone(), fault })?;
    }
    Ok(plan)
}
