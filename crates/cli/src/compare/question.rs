//! From the arguments of `bourdon compare` to a plan like any other: two targets, one load.

use std::path::{Component, Path, PathBuf};

use model::{Arrivals, Draft, Load, LoadModel, Mix, NS_PER_S, ReplyExpectation, RevisionContent, Target, TargetTls};
use report::format::times;

use super::NAME;
use super::revisions::Revision;
use crate::args::CompareArgs;
use crate::exit::Failure;
use crate::experiment::{Server, ready_path};
use crate::request::{OK, request, text_or_file};
use crate::served_tls::served_tls;

/// Window when none is asked for. In rotation these are twelve slices, two whole sets of orders of three launches: six blocks of
/// two servers and the twin take a minute and a half, of which launches and warm-ups are a quarter.
const WINDOW_NS: u64 = 3 * NS_PER_S;
const WARM_UP_NS: u64 = NS_PER_S;

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
    /// Its name in the plan.
    pub(super) name: String,
    title: String,
    run: String,
    build: Option<String>,
    cwd: PathBuf,
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
        let arm = |(name, title, cwd): (String, String, PathBuf), run: &str, build: Option<&String>| Arm {
            name,
            title,
            cwd,
            run: run.to_owned(),
            build: build.cloned(),
        };
        let (mut old, new) = (arm(old, old_run, old_build), arm(new, new_run, new_build));
        if !revisions.is_empty() {
            [&old, &new].into_iter().try_for_each(Arm::has_its_program)?;
        }
        if old.name == new.name {
            // A server against itself: what the machine's noise looks like.
            old.name = format!("{}-old", old.name);
        }
        Ok(Arms { old, new })
    }

    /// The plan: the new one first, for ratios are new ÷ old.
    pub(super) fn draft(&self, args: &CompareArgs, asked: AskedOfBoth) -> Result<Draft, Failure> {
        let target = |arm: &Arm| arm.target(args, &asked).map_err(Failure::usage);
        let targets = vec![target(&self.new)?, target(&self.old)?];
        let question = format!("Is {} slower than {}?", self.new.title, self.old.title);
        Ok(super::draft(args, NAME, question, targets, asked.load))
    }
}

/// Whether a path, seen from a folder, lies outside of the repository that the folder is of.
fn leaves(folder: &Path, path: &str) -> bool {
    let up = Path::new(path).components().take_while(|part| *part == Component::ParentDir).count();
    let Some(reached) = folder.ancestors().nth(up) else { return true };
    !reached.ancestors().any(|above| above.join(".git").exists())
}

impl Arm {
    /// Whether the file that its command names is among those that are checked out, where nothing builds it.
    fn has_its_program(&self) -> Result<(), Failure> {
        let program = self.run.split_whitespace().next().unwrap_or_default();
        let is_checked_out = Path::new(program).is_absolute()
            || !program.contains('/')
            || program.contains(['$', '\'', '"'])
            || self.cwd.join(program).exists();
        if self.build.is_some() || is_checked_out {
            return Ok(());
        }
        if leaves(&self.cwd, program) {
            return Err(Failure::usage(format!(
                "{} has no `{program}`: each revision is checked out elsewhere, and what lies beside the repository is one for both; write \
                 what is of each revision as it lies in its folder (./server)",
                self.title
            )));
        }
        Err(Failure::usage(format!(
            "{} has no `{program}`: a checkout has no untracked files; give --build, the command that makes it",
            self.title
        )))
    }

    fn target(&self, args: &CompareArgs, asked: &AskedOfBoth) -> Result<Target, String> {
        let ready = args.ready.as_deref().unwrap_or_else(|| ready_path(&asked.load.mix));
        let Arm { name, title, run, build, cwd } = self;
        Server { name, title, run, build: build.as_deref(), cwd, ready, tls: asked.tls.clone() }.target()
    }
}

/// What is asked of both servers alike, with the files that it needs.
#[derive(Debug)]
pub(super) struct AskedOfBoth {
    load: Load,
    /// How both serve TLS; none where they do not.
    tls: Option<TargetTls>,
}

impl AskedOfBoth {
    pub(super) fn read(args: &CompareArgs) -> Result<Self, Failure> {
        Ok(AskedOfBoth { load: load(args)?, tls: tls(args).map_err(Failure::usage)? })
    }
}

fn load(args: &CompareArgs) -> Result<Load, Failure> {
    let request = request(&args.request, args.path(), [])?;
    let body = args.expect_body.as_deref().map(text_or_file).transpose()?;
    // What a POST is answered with differs from one server to the next.
    let usual = (request.method == "GET").then_some(OK);
    let closed_or_open = |rate_per_s| LoadModel::Open { rate_per_s, arrivals: Arrivals::Constant };
    let mix = Mix::one(request, ReplyExpectation { status: args.expect_status.or(usual), body });
    let (warm_up_ns, window_ns) = (args.warm_up.unwrap_or(WARM_UP_NS), args.duration.unwrap_or(WINDOW_NS));
    let load = Load::closed(mix, args.connections(), warm_up_ns, window_ns);
    Ok(Load { model: args.rate.map_or(LoadModel::Closed, closed_or_open), ..load })
}

/// How both serve TLS; none where they do not.
fn tls(args: &CompareArgs) -> Result<Option<TargetTls>, String> {
    match served_tls(&args.tls)? {
        None if args.tls_resume => Err("--tls-resume is about TLS; add --tls, --ca FILE or --insecure".to_owned()),
        tls => Ok(tls),
    }
}

/// One value for both servers, or one for each, the old one's first.
fn each<'a>(given: &'a [String], option: &str, what: &str) -> Result<[&'a String; 2], Failure> {
    match given {
        [both] => Ok([both, both]),
        [old, new] => Ok([old, new]),
        [] => Err(Failure::usage(format!("--{option} is missing: {what}"))),
        _ => {
            Err(Failure::usage(format!("--{option} is given {}; two servers are compared", times(given.len() as u64))))
        }
    }
}

fn of_revision(revision: &Revision) -> (String, String, PathBuf) {
    let (name, title) = match &revision.content {
        RevisionContent::WorkingTree(_) => ("working-tree", "the working tree".to_owned()),
        RevisionContent::Commit(commit) => (revision.named.as_str(), title(&revision.named, commit)),
    };
    // A target's name is a word of claims: a branch's slashes are none.
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name = name.chars().map(|c| if is_word(c) { c } else { '-' }).collect();
    (name, title, revision.folder.clone())
}

/// A branch or tag with its commit; a commit as it was typed.
fn title(named: &str, commit: &str) -> String {
    let commit = report::short_commit(commit);
    if commit.starts_with(named) { named.to_owned() } else { format!("{named} ({commit})") }
}

fn of_command(name: &str, run: &str, here: &Path) -> (String, String, PathBuf) {
    (name.to_owned(), format!("`{run}`"), here.to_owned())
}
