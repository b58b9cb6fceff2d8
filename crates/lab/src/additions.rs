//! `additions.jsonl`: what a planner added to the plan while it was carried out, a line each. Without it the plan is the one
//! in `plan.toml`.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;

use model::{ADDITION_SCHEMA, Addition, AdditionLine, Plan};

use crate::document::{self, from_json, to_json};
use crate::durable::sync_folder;
use crate::error::LabError;
use crate::lines::cut_torn_line;

const ADDITIONS: &str = "additions.jsonl";

/// Bytes of the file at most: a cell holds the bodies that it sends and expects.
const MOST_BYTES: u64 = 512 << 20;

/// Records an addition. Once this returns, a power cut does not undo it.
pub(crate) fn append(run: &Path, addition: &Addition) -> Result<(), LabError> {
    let path = run.join(ADDITIONS);
    let mut file = document::open(&path, OpenOptions::new().read(true).append(true).create(true))?;
    let mut line = to_json(&AdditionLine { schema: ADDITION_SCHEMA.to_owned(), addition: addition.clone() });
    line.push(b'\n');
    // What a kill left half written is not an addition; nothing was done with it.
    cut_torn_line(&mut file)
        .and_then(|()| file.write_all(&line))
        .and_then(|()| file.sync_data())
        .and_then(|()| sync_folder(run))
        .map_err(LabError::file(&path))
}

/// The plan with what was added to it.
pub(crate) fn read(run: &Path, plan: Plan) -> Result<Plan, LabError> {
    let path = run.join(ADDITIONS);
    let file = match document::open(&path, OpenOptions::new().read(true)) {
        Err(error) if error.is_missing() => return Ok(plan),
        opened => opened?,
    };
    let mut reader = BufReader::new(file.take(MOST_BYTES));
    let mut plan = plan;
    for number in 1.. {
        let mut line = Vec::new();
        reader.read_until(b'\n', &mut line).map_err(LabError::file(&path))?;
        if line.last() != Some(&b'\n') {
            break;
        }
        let added: AdditionLine = from_json(&line, &[ADDITION_SCHEMA], &path, number)?;
        plan = plan.adding(&added.addition).map_err(|fault| LabError::Plan { path: path.clone(), fault })?;
    }
    Ok(plan)
}
