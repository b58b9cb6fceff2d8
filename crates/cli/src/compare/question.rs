//! From the arguments of `bourdon compare` to an experiment like any other: two targets, one load.

use std::path::Path;

use model::RevisionContent;
use toml::{Table, Value};

use super::revisions::Revision;
use super::times;
use crate::args::CompareArgs;
use crate::exit::Failure;

/// Window when none is asked for: with launches and warm-ups, two servers take two minutes.
const WINDOW: &str = "3s";
const WARM_UP: &str = "1s";

/// As many characters of a commit's name as tell it from others.
const SHOWN_OF_A_COMMIT: usize = 10;

/// Two servers that are to be compared.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Arms {
    /// The one that was there before.
    pub(super) old: Arm,
    /// The one in question.
    pub(super) new: Arm,
}

/// One server.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Arm {
    /// Its name in the experiment.
    pub(super) name: String,
    title: String,
    run: String,
    build: Option<String>,
    cwd: String,
}

impl Arms {
    /// Two command lines, or one that each of two revisions is launched with.
    pub(super) fn new(args: &CompareArgs, revisions: &[Revision], here: &Path) -> Result<Self, Failure> {
        let [old_run, new_run] =
            each(&args.run, "run", "the command that launches the server: --run './server --port $PORT'")?;
        let [old_build, new_build] = if args.build.is_empty() {
            [None, None]
        } else {
            each(&args.build, "build", "the command that builds the server")?.map(Some)
        };
        let (old, new) = match revisions {
            [old, new] => (of_revision(old), of_revision(new)),
            _ if args.run.len() == 2 => (of_command("old", old_run, here), of_command("new", new_run, here)),
            _ => {
                return Err(Failure::usage(
                    "there is one server and nothing to compare it with; name two revisions (--rev main --rev HEAD), \
                     or a second command (--run)",
                ));
            }
        };
        let arm = |(name, title, cwd): (String, String, String), run: &str, build: Option<&String>| Arm {
            name,
            title,
            cwd,
            run: run.to_owned(),
            build: build.cloned(),
        };
        let (mut old, new) = (arm(old, old_run, old_build), arm(new, new_run, new_build));
        if old.name == new.name {
            // A server against itself: what the machine's noise looks like.
            old.name = format!("{}-old", old.name);
        }
        Ok(Arms { old, new })
    }

    /// The experiment's text.
    pub(super) fn experiment(&self, args: &CompareArgs) -> String {
        let mut load = Table::new();
        load.insert("path".into(), args.path().into());
        load.insert("connections".into(), i64::from(args.connections()).into());
        if let Some(rate_per_s) = args.rate {
            load.insert("model".into(), "open".into());
            load.insert("rate".into(), rate_per_s.into());
        }
        if let Some(status) = args.expect_status {
            load.insert("expect_status".into(), i64::from(status).into());
        }
        if let Some(body) = &args.expect_body {
            load.insert("expect_body".into(), body.clone().into());
        }
        let text = |given: &Option<String>, default: &str| Value::from(given.clone().unwrap_or(default.to_owned()));
        let mut trials = Table::new();
        trials.insert("warm_up".into(), text(&args.warm_up, WARM_UP));
        trials.insert("window".into(), text(&args.duration, WINDOW));
        // The new one first: ratios are new ÷ old.
        let names: Vec<Value> = [&self.new, &self.old].map(|arm| arm.name.clone().into()).to_vec();
        let targets: Vec<Value> = [&self.new, &self.old].map(|arm| Value::Table(arm.table(args))).to_vec();
        let mut experiment = Table::new();
        experiment.insert("question".into(), format!("Is {} slower than {}?", self.new.title, self.old.title).into());
        experiment.insert("margin".into(), args.margin().into());
        experiment.insert("load".into(), load.into());
        experiment.insert("trials".into(), trials.into());
        experiment.insert("vary".into(), Table::from_iter([("target".to_owned(), Value::Array(names))]).into());
        experiment.insert("target".into(), Value::Array(targets));
        experiment.to_string()
    }
}

impl Arm {
    fn table(&self, args: &CompareArgs) -> Table {
        let mut table = Table::new();
        table.insert("name".into(), self.name.clone().into());
        table.insert("title".into(), self.title.clone().into());
        table.insert("run".into(), self.run.clone().into());
        table.insert("cwd".into(), self.cwd.clone().into());
        table.insert("ready".into(), args.ready.as_deref().unwrap_or(args.path()).into());
        if let Some(build) = &self.build {
            table.insert("build".into(), build.clone().into());
        }
        table
    }
}

/// One value for both servers, or one for each, the old one's first.
fn each<'a>(given: &'a [String], option: &str, what: &str) -> Result<[&'a String; 2], Failure> {
    match given {
        [both] => Ok([both, both]),
        [old, new] => Ok([old, new]),
        [] => Err(Failure::usage(format!("--{option} is missing: {what}"))),
        _ => Err(Failure::usage(format!("--{option} is given {}; two servers are compared", times(given.len())))),
    }
}

fn of_revision(revision: &Revision) -> (String, String, String) {
    let (name, title) = match &revision.content {
        RevisionContent::WorkingTree(_) => ("working-tree", "the working tree".to_owned()),
        RevisionContent::Commit(commit) => (revision.named.as_str(), title(&revision.named, commit)),
    };
    // A target's name is a word of claims: a branch's slashes are none.
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name = name.chars().map(|c| if is_word(c) { c } else { '-' }).collect();
    (name, title, revision.folder.display().to_string())
}

/// A branch or tag with its commit; a commit as it was typed.
fn title(named: &str, commit: &str) -> String {
    let commit: String = commit.chars().take(SHOWN_OF_A_COMMIT).collect();
    if commit.starts_with(named) { named.to_owned() } else { format!("{named} ({commit})") }
}

fn of_command(name: &str, run: &str, here: &Path) -> (String, String, String) {
    (name.to_owned(), format!("`{run}`"), here.display().to_string())
}
