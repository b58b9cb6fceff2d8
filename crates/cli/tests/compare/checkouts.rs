//! Checkouts of revisions in repositories as they are found: under a hook, hanging, broken, left by others.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::run_support::Lab;
use crate::{assert_clean, compare, git, repository_beside_others};

/// Git ties its hooks to the index of the commit under way: a comparison in a hook must not check out into it.
#[test]
fn a_comparison_within_a_hook_leaves_the_index_alone_and_runs_no_hook_and_a_build_is_in_its_own_repository() {
    let lab = repository_beside_others();
    let lab = lab.file("app/new.txt", "staged\n").file(".git/hooks/post-checkout", "#!/bin/sh\n: > \"$RAN\"\n");
    std::fs::set_permissions(lab.path().join(".git/hooks/post-checkout"), Permissions::from_mode(0o755)).unwrap();
    git(lab.path(), &["add", "app/new.txt"]);
    let (index, ran) = (lab.path().join(".git/index"), lab.path().join("ran"));
    let before = std::fs::read(&index).unwrap();
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let lab = lab
        .env("GIT_DIR", text(&index).replace("/index", ""))
        .env("GIT_INDEX_FILE", text(&index))
        .env("RAN", text(&ran));
    let app = lab.path().join("app");
    let build = ["--build", "sh -c 'test -z \"$GIT_DIR$GIT_INDEX_FILE\"'"];
    lab.bourdon_in(&app, &compare(&[&build[..], &["--rev", "main", "--rev", "slow"]].concat())).answers();
    assert!(before == std::fs::read(&index).unwrap(), "the index was written");
    assert!(!ran.exists(), "a hook ran");
}

/// A repository whose checkout never ends: a filter in it hangs.
fn that_hangs() -> Lab {
    let lab = repository_beside_others().file("app/.gitattributes", "serve.sh filter=hangs\n");
    git(lab.path(), &["add", "app"]);
    git(lab.path(), &["commit", "--quiet", "-m", "with a filter"]);
    let begun = lab.path().join("begun");
    let hang = format!("sh -c ': > {}; sleep 600 & exec sleep 600'", begun.display());
    git(lab.path(), &["config", "filter.hangs.smudge", &hang]);
    lab
}

#[test]
fn a_checkout_that_hangs_ends_with_the_comparison_however_that_ends() {
    let arguments = compare(&["--rev", "main", "--rev", "slow"]);
    let begin = |lab: &Lab| {
        let mut started = lab.start_in(&lab.path().join("app"), &arguments);
        started.until("the filter", || lab.path().join("begun").exists().then_some(()));
        started
    };
    let lab = that_hangs();
    let mut interrupted = begin(&lab);
    interrupted.interrupt();
    interrupted.end().exits(130).says(&["interrupted; nothing was recorded"]);
    assert_clean(&lab);
    drop(lab);
    let lab = that_hangs();
    begin(&lab).kill();
    lab.nothing_is_left();
}

#[test]
fn what_git_says_of_a_broken_object_is_shown() {
    let lab = repository_beside_others();
    let broken = Command::new("git").current_dir(lab.path()).args(["rev-parse", "slow"]).output().unwrap();
    let name = String::from_utf8(broken.stdout).unwrap();
    let object = lab.path().join(".git/objects").join(&name[..2]).join(name[2..].trim());
    std::fs::set_permissions(&object, Permissions::from_mode(0o644)).unwrap();
    std::fs::write(&object, "").unwrap();
    let said = lab.bourdon_in(&lab.path().join("app"), &compare(&["--rev", "main", "--rev", "slow"])).exits(2);
    assert!(!said.stderr.contains("unknown revision") && !said.stderr.contains("needs a git repository"), "{said:?}");
    said.says(&["error: git cannot read `slow`: error: object file ", " is empty", "fatal: "]);
}

#[test]
fn what_git_remembers_of_a_killed_comparison_is_forgotten_by_the_next_and_nothing_else() {
    let lab = that_hangs();
    let app = lab.path().join("app");
    let mut killed = lab.start_in(&app, &compare(&["--rev", "main", "--rev", "slow"]));
    killed.until("the filter", || lab.path().join("begun").exists().then_some(()));
    killed.kill();
    lab.nothing_is_left();
    git(lab.path(), &["config", "--unset", "filter.hangs.smudge"]);
    // The folder may go by another's sweep; what a user has on a disk that is not mounted looks the same.
    std::fs::remove_dir_all(lab.path().join("cache/bourdon/revisions")).unwrap();
    git(lab.path(), &["worktree", "add", "--quiet", "--detach", "theirs"]);
    std::fs::rename(lab.path().join("theirs"), lab.path().join("elsewhere")).unwrap();
    lab.bourdon_in(&app, &compare(&["--rev", "main", "--rev", "slow", "--build", "false"])).exits(4);
    let left: Vec<_> = std::fs::read_dir(lab.path().join(".git/worktrees")).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(lab.path().join(".git/worktrees/theirs").exists(), "{left:?}");
}

/// Another container that shares the folder has process numbers of its own.
#[test]
fn a_checkout_is_swept_when_nobody_holds_it_whatever_process_its_name_may_mean() {
    let lab = repository_beside_others();
    let revisions = lab.path().join("cache/bourdon/revisions");
    let [held, left] =
        [format!("{}-0", u32::MAX), format!("{}-0", std::process::id())].map(|name| revisions.join(name));
    [&held, &left].into_iter().for_each(|folder| std::fs::create_dir_all(folder).unwrap());
    let lock = std::fs::File::open(&held).unwrap();
    lock.lock().unwrap();
    let arguments = compare(&["--rev", "main", "--rev", "slow", "--build", "false"]);
    lab.bourdon_in(&lab.path().join("app"), &arguments).exits(4);
    assert_eq!([held.exists(), left.exists()], [true, false]);
}

#[test]
fn a_git_that_is_killed_says_nothing_of_the_repository() {
    let lab = repository_beside_others().file("bin/git", "#!/bin/sh\nkill -TERM $$\n");
    let bin = lab.path().join("bin");
    std::fs::set_permissions(bin.join("git"), Permissions::from_mode(0o755)).unwrap();
    let lab = lab.env("PATH", format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()));
    let said = lab.bourdon(&compare(&["--rev", "main", "--rev", "slow"])).exits(2);
    assert!(!said.stderr.contains("needs a git repository"), "{said:?}");
    said.says(&["git was ended by signal 15", "try again"]);
}

/// Only who reads it is made unlike by it, which nobody can see from outside: so it is a note.
#[test]
fn what_servers_write_in_their_folders_is_named_unless_the_first_launch_alone_does() {
    let lab = repository_beside_others();
    let keeps = "echo order >> orders.journal\ntest -e compiled || : > compiled\nexec \"$1\" specimen clean\n";
    let lab = lab.file("app/serve.sh", keeps);
    git(lab.path(), &["commit", "--quiet", "-am", "keeps a journal"]);
    let outcome = lab.bourdon_in(&lab.path().join("app"), &compare(&["--rev", "main", "--rev", "slow"])).answers();
    let outcome =
        outcome.says(&["note: while the servers ran, files were written in the folder of slow (", " (orders.journal "]);
    assert!(!outcome.stderr.contains("the folder of main"), "{outcome:?}");
    assert!(!outcome.stderr.contains("compiled"), "{outcome:?}");
    assert_clean(&lab);
}
