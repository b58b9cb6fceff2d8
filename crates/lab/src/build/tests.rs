use super::*;
use model::{LaunchRecipe, Toolchain};
use rustix::fs::{Timespec, Timestamps};
use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::sync::{Mutex, PoisonError};

/// Stands in for the executable: the outward behaviour of `bourdon reaper detach CPUS SCRATCH APART COMMAND…`.
const REAPER: &str = "#!/bin/sh\napart=$5; shift 5\necho pid $$ 0 >&0\n[ $apart ] || exec >&2\n\"$@\" </dev/null\n\
                      echo exit status $? >&0\ncat >/dev/null\necho done >&0\n";

/// Only one test forks at a time: a fork between writing and starting the script would keep it busy.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn build(folder: &Path, target: &Target) -> Result<Built, BuildError> {
    let script = folder.join("reaper");
    if !script.exists() {
        std::fs::write(&script, REAPER).unwrap();
        std::fs::set_permissions(&script, Permissions::from_mode(0o755)).unwrap();
    }
    let (builder, stop) = (Builder::new(folder.join("cache"), script), AtomicBool::new(false));
    let mut starts = 0;
    let built = builder.build(target, &Runtime::default(), None, &stop, &mut || starts += 1);
    let is_run = built.as_ref().map_or_else(|error| !error.is_absence(), |built| !built.cached);
    assert_eq!(starts, usize::from(is_run), "said when its recipe is run, and only then");
    built
}

fn target(folder: &Path, run: &[&str]) -> Target {
    let build = BuildRecipe {
        run: run.iter().map(|word| (*word).to_owned()).collect(),
        cwd: folder.to_owned(),
        inputs: vec![folder.join("in")],
        env: BTreeMap::new(),
    };
    let launch = LaunchRecipe {
        run: vec![],
        cwd: folder.to_owned(),
        env: BTreeMap::new(),
        ready: "/".into(),
        metrics: None,
        ready_within_ns: model::READY_WITHIN_NS,
        warm_within_ns: 0,
    };
    Target { build: Some(build), ..Target::of("t", launch) }
}

/// How many files and folders a cache holds beside the one for what is being built.
fn left_in(cache: &Path) -> usize {
    let count = |folder: &Path| std::fs::read_dir(folder).unwrap().count();
    count(cache) - 1 + count(&cache.join(UNFINISHED))
}

#[test]
fn a_target_is_built_once_until_its_inputs_change() {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("in"), "one").unwrap();
    let target = target(folder.path(), &["cp", "in", "$TARGET_BIN"]);
    let first = build(folder.path(), &target).unwrap();
    assert!(!first.cached);
    let again = build(folder.path(), &target).unwrap();
    assert_eq!((again.cached, &again.program), (true, &first.program));
    std::fs::write(folder.path().join("in"), "two").unwrap();
    let changed = build(folder.path(), &target).unwrap();
    assert!(!changed.cached && changed.program != first.program);
}

#[test]
fn a_build_that_fails_says_why_and_leaves_nothing() {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("in"), "one").unwrap();
    let cache = folder.path().join("cache");
    let failing = target(folder.path(), &["sh", "-c", "echo half > $TARGET_BIN; echo no such thing >&2; exit 3"]);
    let error = build(folder.path(), &failing).unwrap_err();
    assert!(error.to_string().contains("no such thing"), "{error}");
    assert_eq!(left_in(&cache), 0);
}

#[test]
fn a_build_may_make_a_folder_and_leaves_none_when_it_fails() {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("in"), "one").unwrap();
    let failing = target(folder.path(), &["sh", "-c", "mkdir $TARGET_BIN; touch $TARGET_BIN/half; exit 3"]);
    build(folder.path(), &failing).unwrap_err();
    assert_eq!(left_in(&folder.path().join("cache")), 0);
    let making = target(folder.path(), &["sh", "-c", "mkdir $TARGET_BIN; touch $TARGET_BIN/whole"]);
    let built = build(folder.path(), &making).unwrap();
    assert!(built.program.unwrap().path.join("whole").is_file());
}

#[test]
fn a_build_that_makes_a_fifo_is_refused_and_not_waited_for() {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("in"), "one").unwrap();
    let making = target(folder.path(), &["mkfifo", "$TARGET_BIN"]);
    let said = build(folder.path(), &making).unwrap_err().to_string();
    assert!(said.contains("the build made no program"), "{said}");
    assert_eq!(left_in(&folder.path().join("cache")), 0);
}

#[test]
fn a_build_that_makes_a_link_is_refused_for_what_it_leads_to_may_change() {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("in"), "one").unwrap();
    let linking = target(folder.path(), &["sh", "-c", "ln -s $PWD/in $TARGET_BIN"]);
    let said = build(folder.path(), &linking).unwrap_err().to_string();
    assert!(said.contains("a link") && said.ends_with("copy it"), "{said}");
    assert_eq!(left_in(&folder.path().join("cache")), 0);
}

#[test]
fn what_was_long_not_used_is_forgotten_with_the_next_build() {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let age = |path: &Path, days: i64| {
        let tv_sec = path.metadata().unwrap().mtime() - days * 24 * 3600;
        let at = Timespec { tv_sec, tv_nsec: 0 };
        let times = Timestamps { last_access: at, last_modification: at };
        rustix::fs::utimensat(rustix::fs::CWD, path, &times, rustix::fs::AtFlags::empty()).unwrap();
    };
    let built = |content: &str| {
        std::fs::write(folder.path().join("in"), content).unwrap();
        let recipe = ["sh", "-c", "mkdir $TARGET_BIN; cp in $TARGET_BIN"];
        build(folder.path(), &target(folder.path(), &recipe)).unwrap()
    };
    let [old, used, lately] = ["old", "used", "lately"].map(|content| built(content).program.unwrap().path);
    [(&old, 15), (&used, 15), (&lately, 13)].into_iter().for_each(|(path, days)| age(path, days));
    assert!(built("used").cached);
    built("another");
    assert_eq!([&old, &used, &lately].map(|path| path.exists()), [false, true, true]);
}

#[test]
fn a_program_as_old_as_what_was_copied_is_there_after_the_next_build() {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let built = |content: &str| {
        std::fs::write(folder.path().join("in"), content).unwrap();
        let recipe = ["sh", "-c", "cp in $TARGET_BIN && touch -d 2020-01-01 $TARGET_BIN"];
        build(folder.path(), &target(folder.path(), &recipe)).unwrap().program.unwrap()
    };
    let [first, second] = ["first", "second"].map(built);
    assert!(first.path.exists() && second.path.exists());
}

#[test]
fn a_program_that_wrote_beside_itself_is_no_longer_what_was_built() {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("in"), "content").unwrap();
    let recipe = ["sh", "-c", "mkdir $TARGET_BIN; cp in $TARGET_BIN"];
    let built = || build(folder.path(), &target(folder.path(), &recipe)).unwrap();
    let program = built().program.unwrap();
    std::fs::write(program.path.join("cache"), "of its own").unwrap();
    let anew = built();
    assert!(!anew.cached && anew.program == Some(program.clone()), "{anew:?}");
    assert!(!program.path.join("cache").exists());
    assert!(built().cached);
}

#[test]
fn a_toolchain_that_is_half_there_says_what_is_missing() {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("version.sh"), "echo no JDK 25 here; exit 1").unwrap();
    let mut target = target(folder.path(), &["true", "$TARGET_BIN"]);
    target.toolchain = Some(Toolchain {
        command: "sh".into(),
        version: "sh version.sh".into(),
        get: "https://example.invalid".into(),
    });
    let said = build(folder.path(), &target).unwrap_err().to_string();
    assert_eq!(said, "t cannot be built here: no JDK 25 here; get what is missing from https://example.invalid");
}

#[test]
fn a_missing_toolchain_is_named_with_its_cure() {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let mut target = target(folder.path(), &["true", "$TARGET_BIN"]);
    target.toolchain = Some(Toolchain {
        command: "no-such-compiler".into(),
        version: "no-such-compiler --version".into(),
        get: "https://example.invalid".into(),
    });
    let error = build(folder.path(), &target).unwrap_err();
    assert_eq!(error.to_string(), "`no-such-compiler` is not on PATH; get it from https://example.invalid");
}

#[test]
fn two_builds_of_the_same_words_are_two_programs_and_neither_touches_the_other() {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let built = |content: &str| {
        let here = folder.path().join(content);
        std::fs::create_dir_all(&here).unwrap();
        std::fs::write(here.join("in"), content).unwrap();
        let mut target = target(&here, &["cp", "in", "$TARGET_BIN"]);
        target.build.as_mut().unwrap().inputs.clear();
        build(folder.path(), &target).unwrap().program.unwrap().path
    };
    let (one, other, again) = (built("one"), built("other"), built("one"));
    assert_eq!([&one, &other].map(|path| std::fs::read_to_string(path).unwrap()), ["one", "other"]);
    assert_eq!(one, again);
}

#[test]
fn a_build_without_inputs_may_make_a_folder_again_and_again() {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let mut target = target(folder.path(), &["sh", "-c", "mkdir $TARGET_BIN; echo x > $TARGET_BIN/whole"]);
    target.build.as_mut().unwrap().inputs.clear();
    let first = build(folder.path(), &target).unwrap();
    assert_eq!(build(folder.path(), &target), Ok(first));
    assert_eq!(left_in(&folder.path().join("cache")), 1);
}
