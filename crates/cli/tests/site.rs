//! A site of recorded runs, through the real binary.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod run_support;

use std::path::Path;

use run_support::{Lab, repository};

/// A lab with these records of `report`'s tests in its folder `runs`.
fn recorded(names: &[&str]) -> Lab {
    let lab = Lab::new();
    for name in names {
        let (from, to) =
            (repository().join("crates/report/tests/records").join(name), lab.path().join("runs").join(name));
        std::fs::create_dir_all(&to).unwrap();
        for file in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
            if file.file_type().unwrap().is_file() {
                std::fs::copy(file.path(), to.join(file.file_name())).unwrap();
            }
        }
    }
    lab
}

fn read(lab: &Lab, path: &str) -> String {
    std::fs::read_to_string(lab.path().join(path)).unwrap()
}

#[test]
fn a_site_has_the_answers_first_and_leads_to_each_page() {
    let lab = recorded(&["comparison", "side-by-side"]);
    let made = lab.bourdon(&["site", "runs", "-o", "public"]);
    assert!(made.stdout.contains("2 runs in public/index.html"), "{}{}", made.stdout, made.stderr);
    let index = read(&lab, "public/index.html");
    for name in ["comparison", "side-by-side"] {
        assert!(index.contains(&format!("href=\"runs/{name}/report.html\"")), "{index}");
        let page = read(&lab, &format!("public/runs/{name}/report.html"));
        let answer = page.split("class=\"answer").nth(1).unwrap().split('>').nth(1).unwrap();
        assert!(index.contains(answer.split('<').next().unwrap()), "{name}: {answer}");
    }
    assert!(index.contains("claim bad") && index.contains("More than 1 % of the requests failed"), "{index}");
    assert!(!index.contains("<script") && index.contains("default-src 'none'"));
    // What ships comes first, wherever its folder stands.
    let place = |index: &str, name: &str| index.find(&format!("runs/{name}/report.html")).unwrap();
    assert!(place(&index, "side-by-side") < place(&index, "comparison"), "the newer one");
    let begun = |name: &str| read(&lab, &format!("runs/{name}/environment.json"));
    let older = begun("side-by-side").replacen("\"started_at\":\"20", "\"started_at\":\"19", 1);
    assert_ne!(older, begun("side-by-side"));
    let lab = lab.file("runs/side-by-side/environment.json", older);
    lab.bourdon(&["site", "runs", "-o", "public"]).exits(0);
    let index = read(&lab, "public/index.html");
    assert!(place(&index, "comparison") < place(&index, "side-by-side"), "{index}");
    let plan = read(&lab, "runs/side-by-side/plan.toml").replace("name = \"side-by-side\"", "name = \"routing\"");
    let lab = lab.file("runs/side-by-side/plan.toml", plan);
    lab.bourdon(&["site", "runs", "-o", "public"]).exits(0);
    let index = read(&lab, "public/index.html");
    assert!(place(&index, "side-by-side") < place(&index, "comparison"), "{index}");
    lab.bourdon(&["site", "runs/comparison", "-o", "public"]).exits(0);
    assert!(!lab.path().join("public/runs/side-by-side").exists(), "the earlier site is replaced");
}

#[test]
fn of_two_runs_with_one_name_the_folder_around_tells_which() {
    let lab = recorded(&["comparison"]);
    let other = lab.path().join("tuesday/comparison");
    std::fs::create_dir_all(&other).unwrap();
    for file in std::fs::read_dir(lab.path().join("runs/comparison")).unwrap().map(Result::unwrap) {
        std::fs::copy(file.path(), other.join(file.file_name())).unwrap();
    }
    lab.bourdon(&["site", "runs", "tuesday", "-o", "public"]).exits(0);
    let index = read(&lab, "public/index.html");
    for name in ["comparison", "tuesday-comparison"] {
        assert!(index.contains(&format!("runs/{name}/report.html")), "{name}: {index}");
    }
}

#[test]
fn a_damaged_run_is_named_and_the_others_are_there() {
    let lab = recorded(&["comparison", "side-by-side"]);
    std::fs::write(lab.path().join("runs/side-by-side/plan.toml"), "<script>alert(1)</script>").unwrap();
    let made = lab.bourdon(&["site", "runs", "-o", "public"]);
    assert!(made.exits(2).stdout.contains("1 run in public/index.html"));
    let index = read(&lab, "public/index.html");
    assert!(index.contains("Not readable") && index.contains("side-by-side") && !index.contains("<script"), "{index}");
    assert!(Path::new(&lab.path().join("public/runs/comparison/report.html")).is_file());
}

#[test]
fn a_run_without_its_plan_and_a_folder_of_something_else_are_named_and_one_that_is_being_begun_is_not() {
    let lab = recorded(&["comparison", "side-by-side"]);
    std::fs::remove_file(lab.path().join("runs/side-by-side/plan.toml")).unwrap();
    let lab = lab.file("runs/notes/today.txt", "mine\n").file("runs/.unfinished-x/plan.toml", "half a pl");
    let made = lab.bourdon(&["site", "runs", "-o", "public"]).exits(2);
    let made = made
        .says(&["left out: runs/notes is not a run folder", "side-by-side is not a run folder: it has no plan.toml"]);
    assert!(!made.stderr.contains(".unfinished"), "{}", made.stderr);
    let index = read(&lab, "public/index.html");
    assert!(index.contains("Not readable") && index.contains("restore the file from a copy"), "{index}");
    assert!(!index.contains(".unfinished") && !index.contains("runs/notes"), "{index}");
}

#[test]
fn what_is_not_a_site_stays_and_what_holds_no_run_is_said() {
    let lab = recorded(&["comparison"]);
    let site = lab.path().join("public");
    std::fs::create_dir(&site).unwrap();
    std::fs::write(site.join("mine.txt"), "mine").unwrap();
    let refused = lab.bourdon(&["site", "runs", "-o", "public"]).exits(2);
    assert!(refused.stderr.contains("mine.txt"), "{}", refused.stderr);
    assert_eq!(std::fs::read_dir(&site).unwrap().count(), 1);
    let nothing = lab.bourdon(&["site", "public", "-o", "other"]).exits(2);
    assert!(nothing.stderr.contains("holds no recorded run"), "{}", nothing.stderr);
    assert!(!lab.path().join("other").exists());
}
