//! What the system does not give: threads, processes, open files, room in the folder for temporary files, long files. Each is an
//! error with its cause and cure, and nothing is left behind.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod run_support;

use run_support::{CLEAN_AND_SERIALISED, FILE, Lab, beside_a_specimen, is_root};
use specimens::{Kind, LogSink, Settings};

#[test]
fn a_load_without_threads_says_so() {
    if !is_root() {
        return;
    }
    for processes in 1..=3 {
        let lab = Lab::beside_others().with_processes(processes);
        let said = lab.bourdon(&["load", "http://127.0.0.1:9", "-t", "3", "-c", "3", "-d", "100ms"]).exits(2);
        assert!(!said.stderr.contains("panicked"), "{said:?}");
        said.says(&["error: a generator thread cannot be started", "use fewer threads (-t)", "ulimit -u"]);
    }
}

/// A network of its own whose one local port is taken, by a specimen that listens there.
const NO_PORT_LEFT: [&str; 6] = [
    "unshare",
    "--net",
    "sh",
    "-c",
    "ip link set lo up && echo 40000 40000 > /proc/sys/net/ipv4/ip_local_port_range || exit 77
     PORT=40000 \"$1\" specimen clean >&2 & server=$!
     until grep -q ':9C40 ' /proc/net/tcp; do kill -0 $server || exit 77; done
     \"$@\"; status=$?; kill $server; exit $status",
    "sh",
];

#[test]
fn without_a_local_port_this_machine_is_named_and_nobody_waits_for_the_server() {
    let lab =
        Lab::beside_others().experiment(beside_a_specimen("run = '$BOURDON specimen clean'\nready_within = '1h'"));
    let load = ["load", "http://127.0.0.1:40000/", "-c", "1", "-d", "100ms", "--warm-up", "0s"];
    let said = lab.bourdon_under(&NO_PORT_LEFT, &load);
    // Status 1 alone is bourdon's own, too: a bad answer, which this must not be.
    if said.status == Some(77) || said.status == Some(1) && said.stderr.starts_with("unshare:") {
        return eprintln!("NOT RUN: this machine gives no network namespace: {said:?}");
    }
    assert!(!said.stderr.contains("is the server running"), "{said:?}");
    said.exits(2).says(&["no connection to 127.0.0.1:40000 in ", "this machine is out of local ports"]);
    let said = lab.bourdon_under(&NO_PORT_LEFT, &["run", FILE, "--target", "odd", "--blocks", "1"]).exits(2);
    said.says(&["odd cannot be launched: /rest/hello: ", "this machine is out of local ports", "then resume: "]);
    lab.nothing_is_left();
    lab.bourdon(&["run", "--resume", lab.record().name()]).answers();
    lab.record().all_measured("odd", 1);
}

#[test]
fn a_loopback_that_is_down_is_this_machines_and_said_at_once() {
    let lab =
        Lab::beside_others().experiment(beside_a_specimen("run = '$BOURDON specimen clean'\nready_within = '1h'"));
    let said = lab.bourdon_under(&["unshare", "--net"], &["run", FILE, "--target", "odd", "--blocks", "1"]);
    if said.status == Some(1) && said.stderr.starts_with("unshare:") {
        return eprintln!("NOT RUN: this machine gives no network namespace: {said:?}");
    }
    said.exits(2).says(&["odd cannot be launched: /rest/hello: ", "loopback is down; bring it up (ip link set lo up)"]);
    let load = ["load", "http://127.0.0.1:9/", "-c", "1", "-d", "100ms", "--warm-up", "0s"];
    let said = lab.bourdon_under(&["unshare", "--net"], &load).exits(2);
    said.says(&["no connection to 127.0.0.1:9 in ", "loopback is down; bring it up (ip link set lo up)"]);
    lab.nothing_is_left();
}

#[test]
fn too_few_open_files_for_one_connection_are_not_cured_by_fewer() {
    let lab = Lab::beside_others().through("prlimit --nofile=64");
    let said = lab.bourdon(&["load", "http://127.0.0.1:9", "-c", "1"]).exits(2);
    assert!(!said.stderr.contains("-c 0"), "{said:?}");
    said.says(&["1 connection needs 65 open files, and 64 are allowed here; raise the limit (ulimit -Hn"]);
    drop(lab);
    let lab = Lab::beside_others().through("prlimit --nofile=80");
    lab.bourdon(&["load", "http://127.0.0.1:9", "-c", "17"]).exits(2).says(&["use at most -c 16, or raise"]);
}

#[test]
fn too_little_stack_is_said_and_not_died_of() {
    for kib in [64, 256] {
        let lab = Lab::beside_others().through(&format!("prlimit --stack={}", kib * 1024));
        let said = lab.bourdon(&["load", "http://127.0.0.1:9"]).exits(2);
        said.says(&["the stack may have", "KiB here, and bourdon needs 1024; raise the limit (ulimit -s 8192)"]);
    }
}

#[test]
fn a_run_whose_file_may_not_grow_says_so_and_is_resumed() {
    // Room for the file that every target is given, and not for the record of so many launches.
    let lab = Lab::beside_others()
        .experiment(CLEAN_AND_SERIALISED.replace("200ms", "50ms").replace("blocks = 6", "blocks = 14"));
    let stopped = lab.bourdon_under(&["prlimit", "--fsize=66000"], &["run", FILE]).exits(2);
    stopped.says(&["events.jsonl: File too large", "raise the limit of a file's size (ulimit -f)", "then resume: "]);
    lab.nothing_is_left();
    let record = lab.record();
    assert!(record.lines() > 0, "what was measured is kept");
    lab.bourdon(&["run", "--resume", record.name()]).answers();
    record.all_measured("specimen:clean", 14);
}

#[test]
fn without_room_for_its_file_a_launch_says_so() {
    let lab = Lab::beside_others().experiment(beside_a_specimen("run = '$BOURDON specimen clean'"));
    let said = lab.bourdon_under(&["prlimit", "--fsize=20000"], &["run", FILE]).exits(2);
    said.says(&["cannot make the scratch folder", "File too large", "raise the limit of a file's size (ulimit -f)"])
        .says(&["odd cannot be launched", "then resume: "]);
    lab.nothing_is_left();
    assert_eq!(lab.record().lines(), 0, "what was not launched is not recorded");
    lab.bourdon(&["run", "--resume", lab.record().name()]).answers();
    lab.record().all_measured("odd", 2);
}

#[test]
fn a_launch_whose_output_cannot_be_kept_is_made_when_the_run_is_resumed() {
    let lab = Lab::beside_others().experiment(beside_a_specimen("run = '$BOURDON specimen clean'"));
    lab.run(&["--blocks", "1"]).answers();
    let record = lab.record();
    // What the first launch of the next block would be the file of.
    let taken: Vec<_> = [1, 2].map(|cell| record.path().join(format!("stderr/b02-c{cell:02}.log"))).into();
    taken.iter().for_each(|file| std::fs::create_dir(file).unwrap());
    let resume = ["run", "--resume", record.name(), "--blocks", "2"];
    let said = lab.bourdon(&resume).exits(2);
    said.says(&[
        "cannot be launched: nothing can be kept of what it prints: ",
        ".log is not a file but a folder",
        "then resume: ",
    ]);
    taken.iter().for_each(|file| std::fs::remove_dir(file).unwrap());
    lab.bourdon(&resume).answers();
    ["odd", "specimen:clean"].iter().for_each(|target| record.all_measured(target, 2));
}

#[test]
fn a_load_whose_document_may_not_grow_says_so() {
    let lab = Lab::beside_others();
    let server = specimens::start(Settings::new(Kind::Clean), LogSink::None).unwrap();
    let url = format!("http://{}/rest/hello", server.address());
    let load = ["load", &url, "-c", "1", "-d", "100ms", "--warm-up", "0", "-o", "it.json"];
    let said = lab.bourdon_under(&["prlimit", "--fsize=100"], &load).exits(2);
    said.says(&["cannot write it.json: File too large", "(ulimit -f)"]);
}

#[test]
fn what_a_full_disk_does_not_take_is_said() {
    let lab = Lab::beside_others();
    let server = specimens::start(Settings::new(Kind::Clean), LogSink::None).unwrap();
    let url = format!("http://{}/rest/hello", server.address());
    let said = lab.bourdon(&["load", &url, "-n", "50", "--histogram-log", "/dev/full"]).exits(2);
    said.says(&["the histogram log /dev/full is not whole: No space left", "; nothing else is affected"])
        .shows(&["requests/s"]);
    let full = ["sh", "-c", "exec \"$0\" \"$@\" > /dev/full"];
    for asked in [&["load", &url, "-n", "50"][..], &["--help"], &["--version"], &["load", "--help"]] {
        lab.bourdon_under(&full, asked).exits(2).says(&["cannot write to stdout: No space left"]);
    }
}

#[test]
fn what_is_started_has_the_usual_signals() {
    let target = "run = 'sh serve.sh $BOURDON'";
    let lab = Lab::beside_others().experiment(beside_a_specimen(target));
    let lab = lab.file("serve.sh", "grep Sig /proc/self/status > signals; exec $1 specimen clean");
    // Whatever bourdon itself was started with.
    let odd = ["env", "--block-signal=CHLD,TERM,USR1", "--ignore-signal=CHLD,QUIT,USR2"];
    lab.bourdon_under(&odd, &["run", FILE, "--target", "odd", "--blocks", "1"]).answers();
    lab.nothing_is_left();
    let status = std::fs::read_to_string(lab.path().join("signals")).unwrap();
    let mask = |name: &str| {
        let mask = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        // What lies above the first 31 is the C library's.
        u64::from_str_radix(mask.trim(), 16).unwrap() & 0x7fff_ffff
    };
    assert_eq!(["SigBlk:", "SigIgn:"].map(mask), [0, 0], "{status}");
}

#[test]
fn a_working_directory_that_may_not_be_entered_is_said() {
    if !is_root() {
        return;
    }
    let lab = Lab::beside_others().experiment(beside_a_specimen("run = '$BOURDON specimen clean'")).with_processes(100);
    let closed = lab.path().join("closed");
    std::fs::create_dir(&closed).unwrap();
    std::fs::set_permissions(&closed, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let file = lab.path().join(FILE).display().to_string();
    let said = lab.bourdon_in(&closed, &["run", &file, "--target", "odd", "--blocks", "1"]).exits(2);
    said.says(&["cannot enter the working directory: Permission denied"]);
    lab.nothing_is_left();
}

#[test]
fn without_a_home_what_is_not_built_is_launched() {
    let lab = Lab::beside_others().experiment(beside_a_specimen("run = '$BOURDON specimen clean'"));
    let nowhere = ["env", "--unset=HOME", "--unset=XDG_CACHE_HOME", "--unset=XDG_STATE_HOME"];
    lab.bourdon_under(&nowhere, &["run", FILE, "--target", "odd", "--blocks", "1"]).answers();
    let lab = lab.experiment(beside_a_specimen("build = 'true'\nrun = '$BOURDON specimen clean'"));
    let said = lab.bourdon_under(&nowhere, &["run", FILE, "--target", "odd", "--blocks", "1"]).exits(2);
    said.says(&["set XDG_CACHE_HOME or HOME"]);
}
