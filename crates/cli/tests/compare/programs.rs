//! Programs that are of no revision: one for both, or none.

use crate::{assert_clean, git, repository_beside_others};

#[test]
fn a_program_of_the_repository_that_is_named_by_where_it_lies_is_of_no_revision() {
    let lab = repository_beside_others();
    let app = lab.path().join("app").canonicalize().unwrap();
    let command = format!("sh {}/serve.sh $BOURDON", app.display());
    let arguments = ["compare", "--run", &command, "--rev", "main", "--rev", "slow"];
    lab.bourdon_in(&app, &arguments).exits(2).says(&["is one program, whichever revision is launched"]);
    // By another way to the same place, from within a shell, beside a file that launches nothing, and wherever it lies.
    let around = lab.path().join("around");
    std::os::unix::fs::symlink(&app, &around).unwrap();
    let elsewhere = lab.path().join("server");
    std::fs::copy("/bin/sh", &elsewhere).unwrap();
    let (inside, elsewhere) = (format!("{}/serve.sh", around.display()), elsewhere.display());
    for command in [format!("sh {inside}"), format!("sh -c '{inside} $BOURDON'"), format!("{elsewhere} README")] {
        let arguments = ["compare", "--run", &command, "--rev", "main", "--rev", "slow"];
        lab.bourdon_in(&app, &arguments).exits(2).says(&["is one program, whichever revision is launched"]);
    }
    // Where a shell goes is seen once it runs.
    let left = format!("sh -c 'cd {} && exec sh serve.sh $BOURDON'", app.display());
    let arguments = ["compare", "--run", &left, "--rev", "main", "--rev", "slow", "-d", "100ms", "--blocks", "1"];
    lab.bourdon_in(&app, &arguments).says(&["works in", "which is of neither revision"]);
    // What runs a file of each may be one for both; the gate ends it before anything is measured.
    std::fs::create_dir(app.join(".venv")).unwrap();
    std::os::unix::fs::symlink("/bin/sh", app.join(".venv/sh")).unwrap();
    let command = format!("{}/.venv/sh serve.sh $BOURDON", app.display());
    let in_vain = ["-d", "1s", "-R", "10", "--gate", "p999<+900%"];
    let arguments = [&["compare", "--run", &command, "--rev", "main", "--rev", "slow"][..], &in_vain].concat();
    lab.bourdon_in(&app, &arguments).exits(2).says(&["both revisions run the same", "cannot come out"]);
    std::fs::remove_dir_all(app.join(".venv")).unwrap();
    assert_clean(&lab);
}

#[test]
fn a_link_of_both_revisions_to_one_program_is_of_neither() {
    let lab = repository_beside_others();
    let (app, elsewhere) = (lab.path().join("app"), lab.path().join("server"));
    std::fs::copy("/bin/sh", &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, app.join("linked")).unwrap();
    git(lab.path(), &["add", "app"]);
    git(lab.path(), &["commit", "--quiet", "-m", "linked"]);
    let arguments = ["compare", "--run", "./linked $PORT", "--rev", "slow", "--rev", "."];
    lab.bourdon_in(&app, &arguments).exits(2).says(&["./linked is one program, whichever revision is launched"]);
    // What it runs may be of each; the gate ends it before anything is measured.
    let in_vain = ["-d", "1s", "-R", "10", "--gate", "p999<+900%"];
    let arguments =
        [&["compare", "--run", "./linked serve.sh $BOURDON", "--rev", "slow", "--rev", "."][..], &in_vain].concat();
    lab.bourdon_in(&app, &arguments).exits(2).says(&["cannot come out"]);
    assert_clean(&lab);
}

#[test]
fn a_program_that_no_checkout_has_is_told_with_its_cure_before_anything_runs() {
    let lab = repository_beside_others().file("app/server", "untracked\n");
    let arguments = ["compare", "--run", "./server $PORT", "--rev", "main", "--rev", "main"];
    let said = lab.bourdon_in(&lab.path().join("app"), &arguments).exits(2);
    said.says(&["has no `./server`: a checkout has no untracked files; give --build"]);
    assert_clean(&lab);
}
