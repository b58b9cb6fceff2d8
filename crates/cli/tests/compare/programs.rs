//! Programs that are of no revision: one for both, or none.

use std::process::Command;

use crate::run_support::{Lab, is_here};
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
    // Of a folder it is said.
    std::os::unix::fs::symlink(&app, app.join("library")).unwrap();
    git(lab.path(), &["add", "app/library"]);
    git(lab.path(), &["commit", "--quiet", "-m", "a folder"]);
    let linked = ["compare", "--run", "sh serve.sh $BOURDON", "--rev", "main", "--rev", "slow", "-d", "1s", "-R", "10"];
    let said = lab.bourdon_in(&app, &[&linked[..], &["--gate", "p999<+900%"]].concat()).exits(2);
    said.says(&["app/library is a link of a revision into the working tree", "cannot come out"]);
    // What it runs may be of each; the gate ends it before anything is measured.
    let in_vain = ["-d", "1s", "-R", "10", "--gate", "p999<+900%"];
    let arguments =
        [&["compare", "--run", "./linked serve.sh $BOURDON", "--rev", "slow", "--rev", "."][..], &in_vain].concat();
    lab.bourdon_in(&app, &arguments).exits(2).says(&["cannot come out"]);
    assert_clean(&lab);
}

#[test]
fn of_builds_that_install_in_one_place_the_last_one_is_not_measured_twice() {
    let lab = repository_beside_others();
    let installed = tempfile::tempdir().unwrap();
    let place = installed.path().to_str().unwrap().to_owned();
    let path = std::env::var("PATH").unwrap();
    let lab = lab.env("PATH", format!("{place}:{path}")).env("PLACE", place);
    let build =
        "sh -c '(echo \"#!/bin/sh\"; cat serve.sh) > $PLACE/shop-in-one-place && chmod +x $PLACE/shop-in-one-place'";
    let run = ["--build", build, "--run", "shop-in-one-place $BOURDON", "-d", "100ms", "--blocks", "1"];
    let arguments = |revs: [&'static str; 2]| {
        let [old, new] = revs;
        [&["compare"][..], &run, &["--rev", old, "--rev", new]].concat()
    };
    let app = lab.path().join("app");
    lab.bourdon_in(&app, &arguments(["main", "slow"])).exits(2).says(&[
        "shop-in-one-place was written by the builds of both revisions",
        "Each must be built into a folder of its own",
    ]);
    lab.bourdon_in(&app, &arguments(["main", "main"])).answers();
    let started = ["--build", build, "--run", "env A=b shop-in-one-place $BOURDON", "--blocks", "1"];
    let arguments = [&["compare"][..], &started, &["--rev", "main", "--rev", "slow"]].concat();
    let said = lab.bourdon_in(&app, &arguments).exits(2);
    said.says(&["shop-in-one-place was written by the builds of both revisions"]);
    assert_clean(&lab);
}

#[test]
fn what_the_builds_of_both_have_written_is_of_neither_also_where_its_bytes_are_the_same() {
    let lab = repository_beside_others();
    let installed = tempfile::tempdir().unwrap();
    let place = installed.path().to_str().unwrap().to_owned();
    let path = std::env::var("PATH").unwrap();
    let lab = lab.env("PATH", format!("{place}:{path}")).env("PLACE", place);
    // As `pip install` does it: a program that only starts what was installed beside it.
    let build = "sh -c 'cp serve.sh $PLACE/ && echo \"#!/bin/sh\nexec sh $PLACE/serve.sh \\$1\" > $PLACE/starter && chmod +x $PLACE/starter'";
    let run = ["--build", build, "--run", "starter $BOURDON", "-d", "100ms", "--blocks", "1"];
    let arguments = |new: &'static str| [&["compare"][..], &run, &["--rev", "main", "--rev", new]].concat();
    let app = lab.path().join("app");
    let said = lab.bourdon_in(&app, &arguments("slow")).exits(2);
    said.says(&["starter was written by the builds of both revisions"]);
    lab.bourdon_in(&app, &arguments("main")).answers();
    assert_clean(&lab);
}

#[test]
fn a_program_that_a_shell_names_is_known_by_its_processes() {
    let lab = repository_beside_others();
    let installed = tempfile::tempdir().unwrap();
    let place = installed.path().to_str().unwrap().to_owned();
    let path = std::env::var("PATH").unwrap();
    let lab = lab.env("PATH", format!("{place}:{path}")).env("PLACE", place);
    let app = lab.path().join("app");
    let compared = |build: &str, run: &str, new: &str| {
        let short = ["-d", "100ms", "--blocks", "1", "--rev", "main", "--rev", new];
        lab.bourdon_in(&app, &[&["compare", "--build", build, "--run", run][..], &short].concat())
    };
    // What the kernel runs, and what it was given to run.
    let program = ("sh -c 'cp /bin/sh $PLACE/own-shell'", "sh -c \"own-shell -c 'sh serve.sh \\$0; exit' $BOURDON\"");
    let script = (
        "sh -c 'cp serve.sh $PLACE/ && echo \"#!/bin/sh\nsh $PLACE/serve.sh \\$1; exit\" > $PLACE/starter && chmod +x $PLACE/starter'",
        "sh -c 'exec starter $BOURDON'",
    );
    for ((build, run), name) in [(program, "own-shell"), (script, "starter")] {
        let said = compared(build, run, "slow").exits(2).says(&["Each must be built into a folder of its own"]);
        said.says(&[&format!("{name}, which was written while the other revision was built")]);
        compared(build, run, "main").answers();
    }
    // Another name for a file that was made before.
    std::fs::copy("/bin/sh", installed.path().join("made")).unwrap();
    let build = "sh -c 'ln -f $PLACE/made $PLACE/own-shell'";
    compared(build, program.1, "slow")
        .exits(2)
        .says(&["own-shell, which was written while the other revision was built"]);
    // What an interpreter is given where it works, from a process that nobody's child started; and a link that each build puts in the place of the other's.
    let build = "sh -c '(cat serve.sh | sed s/exec//) > $PLACE/app.sh'";
    let run = "sh -c 'cd $PLACE; (setsid sh app.sh $BOURDON &); exec sleep 1d'";
    compared(build, run, "slow").exits(2).says(&["app.sh, which was written while the other revision was built"]);
    let build = "sh -c 'sed -i s/exec// serve.sh && ln -sfn $PWD $PLACE/current'";
    let run = "sh -c 'sh $PLACE/current/serve.sh $BOURDON; exit'";
    compared(build, run, "slow").exits(2).says(&["serve.sh, which is of the other revision"]);
    // One for each, wherever it lies, is none for both.
    let build = "sh -c 'cp /bin/sh $PLACE/own-shell-$(git rev-parse HEAD)'";
    let run = "sh -c \"own-shell-$(git rev-parse HEAD) -c 'sh serve.sh \\$0; exit' $BOURDON\"";
    compared(build, run, "slow").answers();
    assert_clean(&lab);
}

#[test]
fn a_library_that_both_builds_install_is_what_the_last_one_installed() {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let Some(library) =
        maps.lines().find_map(|line| line.find('/').map(|at| &line[at..]).filter(|it| it.contains("libgcc_s")))
    else {
        eprintln!("NOT RUN: nothing here uses libgcc_s");
        return;
    };
    let lab = repository_beside_others();
    let installed = tempfile::tempdir().unwrap();
    let place = installed.path().display();
    let (build, run) =
        (format!("cp {library} {place}/libown.so"), format!("env LD_PRELOAD={place}/libown.so sh serve.sh $BOURDON"));
    let compared = |new: &str| {
        let short = ["-d", "100ms", "--blocks", "1", "--rev", "main", "--rev", new];
        lab.bourdon_in(&lab.path().join("app"), &[&["compare", "--build", &build, "--run", &run][..], &short].concat())
    };
    compared("slow").exits(2).says(&["libown.so, which was written while the other revision was built"]);
    compared("main").answers();
    assert_clean(&lab);
}

#[test]
fn a_python_package_that_both_builds_install_is_what_the_last_one_installed() {
    if !is_here("python3") {
        return;
    }
    let lab = repository_beside_others().file("app/src/shop/__init__.py", "").file("app/src/shop/__main__.py", "");
    git(lab.path(), &["add", "app/src"]);
    git(lab.path(), &["commit", "--quiet", "-m", "a package"]);
    let lab = lab.file("app/src/shop/__main__.py", "print('another')\n");
    git(lab.path(), &["commit", "--quiet", "-am", "another"]);
    let installed = tempfile::tempdir().unwrap();
    let lab = lab.env("PYTHONPATH", installed.path().to_str().unwrap());
    let place = installed.path().display();
    let compared = |build: &str, run: &str| {
        let sides = ["--rev", "HEAD~1", "--rev", "HEAD", "-d", "100ms", "--blocks", "1"];
        lab.bourdon_in(&lab.path().join("app"), &[&["compare", "--build", build, "--run", run][..], &sides].concat())
    };
    let (copied, run) = (format!("cp -r src/shop {place}"), "python3 -u -m shop --port $PORT");
    let said = compared(&copied, run).exits(2);
    said.says(&["takes shop from", "was written while the other revision was built", ".venv/bin/pip install ."]);
    // Another program starts it, which may look elsewhere.
    compared(&copied, "sh -c 'exec python3 -m shop'").says(&["takes shop from", "unless what you launch looks"]);
    // Each command is that of its own revision.
    let apart: Vec<String> = ["a", "b"].iter().map(|of| format!("cp -r src/shop {place}/{of}/")).collect();
    ["a", "b"].iter().for_each(|of| std::fs::create_dir(installed.path().join(of)).unwrap());
    let runs = ["a", "b"].map(|of| format!("env PYTHONPATH={place}/{of} python3 -m shop --port $PORT"));
    let sides = ["--rev", "HEAD~1", "--rev", "HEAD", "-d", "100ms", "--blocks", "1"];
    let both = ["--build", &apart[0], "--build", &apart[1], "--run", &runs[0], "--run", &runs[1]];
    let said = lab.bourdon_in(&lab.path().join("app"), &[&["compare"][..], &both, &sides].concat());
    assert!(!said.stderr.contains("takes shop from"), "{}", said.stderr);
    said.says(&["did not become ready"]);
    // As an editable install leaves it: the way to what was built last.
    let linked = format!("sh -c 'rm -rf {place}/shop && ln -s $PWD/src/shop {place}/shop'");
    compared(&linked, run).exits(2).says(&["takes shop from", "which lies in the other revision"]);
    assert_clean(&lab);
}

#[test]
fn a_variable_that_leads_to_code_in_the_repository_is_told() {
    let lab = repository_beside_others();
    let place = lab.path().join("app").to_str().unwrap().to_owned();
    let lab = lab.env("NODE_PATH", format!("/usr/lib/node_modules:{place}"));
    let app = lab.path().join("app");
    let in_vain = ["-d", "1s", "-R", "10", "--gate", "p999<+900%"];
    let of = |lab: &Lab, run: &str| {
        let arguments = [&["compare", "--run", run, "--rev", "main", "--rev", "slow"][..], &in_vain].concat();
        lab.bourdon_in(&app, &arguments).exits(2).says(&["cannot come out"]).stderr
    };
    let said = of(&lab, "sh serve.sh $BOURDON");
    assert!(said.contains("note: NODE_PATH leads to") && said.contains("both run the same"), "{said}");
    let lab = lab.env("NODE_PATH", "/usr/lib/node_modules");
    assert!(!of(&lab, "sh serve.sh $BOURDON").contains("leads to"));
    // Cargo is asked of revisions that it builds.
    let lab = lab.env("CARGO_TARGET_DIR", "/tmp");
    assert!(!of(&lab, "sh serve.sh $BOURDON").contains("CARGO_TARGET_DIR"));
    let lab = lab.file("app/Cargo.toml", "");
    git(lab.path(), &["add", "app/Cargo.toml"]);
    git(lab.path(), &["commit", "--quiet", "-m", "of cargo"]);
    assert!(of(&lab, "sh serve.sh $BOURDON").contains("note: CARGO_TARGET_DIR is /tmp, whichever revision is built"));
    assert!(of(&lab, &format!("env RUBYLIB={place} sh serve.sh $BOURDON")).contains("note: RUBYLIB leads to"));
    assert_clean(&lab);
}

#[test]
fn a_python_package_that_is_installed_from_the_working_tree_is_of_neither() {
    if !is_here("python3") {
        return;
    }
    let lab = repository_beside_others().file("app/src/shop/__init__.py", "").file("app/src/shop/__main__.py", "");
    let lab = lab.file("app/flat/__init__.py", "").file("app/flat/__main__.py", "");
    git(lab.path(), &["add", "app/src", "app/flat"]);
    git(lab.path(), &["commit", "--quiet", "-m", "a package"]);
    let venv = tempfile::tempdir().unwrap();
    let made = Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(venv.path()).status().unwrap();
    if !made.success() {
        eprintln!("NOT RUN: `python3 -m venv` makes no environment here");
        return;
    }
    let libraries = venv.path().join("lib").read_dir().unwrap().next().unwrap().unwrap().path();
    let (app, bin) = (lab.path().join("app"), venv.path().join("bin"));
    // What `pip install -e` leaves, of both layouts.
    let editable = format!("{}\n{}\n", app.join("src").display(), app.display());
    std::fs::write(libraries.join("site-packages/shop.pth"), editable).unwrap();
    std::fs::write(bin.join("shop"), format!("#!{}/python3\nimport shop\n", bin.display())).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let lab = lab.env("PATH", path);
    let in_vain = ["-d", "1s", "-R", "10", "--gate", "p999<+900%"];
    let of = |run: &str| {
        let arguments = [&["compare", "--run", run, "--rev", "HEAD", "--rev", "slow"][..], &in_vain].concat();
        lab.bourdon_in(&app, &arguments).exits(2)
    };
    let said = of("python3 -u -m shop --port $PORT").says(&["imports shop from", "an editable install"]);
    assert!(!said.stderr.contains("cannot come out"), "{}", said.stderr);
    of("shop --port $PORT").says(&["note: ", "finds flat in", "cannot come out"]);
    // Another program starts it, which may have an environment of its own.
    of("sh -c 'exec python3 -m shop'").says(&["note: ", "finds shop in", "cannot come out"]);
    // What a build is to make is the revision's own.
    let arguments = ["compare", "--build", "true", "--run", ".venv/bin/shop", "--rev", "HEAD", "--rev", "slow"];
    let said = lab.bourdon_in(&app, &[&arguments[..], &in_vain].concat()).exits(2).says(&["cannot come out"]);
    assert!(!said.stderr.contains("finds"), "{}", said.stderr);
    // A script of the revision starts it.
    of("sh serve.sh $BOURDON").says(&["note: ", "finds shop in", "cannot come out"]);
    let said = of("env PYTHONPATH=src python3 -m shop").says(&["cannot come out"]);
    assert!(!said.stderr.contains("finds"), "{}", said.stderr);
    // One that prints much, or nothing of what it is asked.
    let wrapper = |prints: &str, ends: &str| {
        let text = format!("#!/bin/sh\n{prints}\nexec {}/python3.real {ends}\n", bin.display());
        std::fs::write(bin.join("python3"), text).unwrap();
    };
    std::fs::rename(bin.join("python3"), bin.join("python3.real")).unwrap();
    wrapper("head -c 70000 /dev/zero | tr '\\0' x", "\"$@\"");
    std::fs::set_permissions(bin.join("python3"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    of("python3 -m shop").says(&["imports shop from"]);
    wrapper("head -c 3000000 /dev/zero | tr '\\0' x", "\"$@\"");
    of("python3 -m shop").says(&["does not say where it takes the packages of a revision from"]);
    wrapper("", "-c 'raise SystemExit(3)'");
    of("python3 -m shop").says(&["does not say where it takes the packages of a revision from"]);
    std::fs::rename(bin.join("python3.real"), bin.join("python3")).unwrap();
    // It looks in the folder where it is run first.
    let said = of("python3 -m flat").says(&["cannot come out", "note: ", "finds shop in"]);
    assert!(!said.stderr.contains("flat"), "{}", said.stderr);
    assert_clean(&lab);
}

#[test]
fn what_git_does_not_track_is_told_to_be_in_the_working_tree_alone() {
    let lab = repository_beside_others().file("app/orders.journal", "1\n").file("app/.env", "A=b\n");
    let in_vain = ["-d", "1s", "-R", "10", "--gate", "p999<+900%"];
    let run = ["compare", "--run", "sh serve.sh $BOURDON", "--rev", "main", "--rev"];
    let said =
        |new: &'static str| lab.bourdon_in(&lab.path().join("app"), &[&run[..], &[new], &in_vain].concat()).exits(2);
    said(".").says(&["has nothing that git does not track (.env, orders.journal in the working tree)"]);
    assert!(!said("slow").stderr.contains("does not track"));
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
