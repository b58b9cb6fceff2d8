//! CPU profiles: of targets that give their own, and by perf.

use std::fs::Permissions;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use lab::{Perf, RunFolder, RunRecord};
use model::{CellPlan, Draft, Event, Extent, Metric, NoPerf, NoPprof, NoProfile, ProfiledBy};

use crate::fakes::{FakeLauncher, MS, cell, conduct, conduct_telling, create, draft, environment, load};

/// Answers each request with the next of these texts.
fn answer(answers: Vec<Vec<u8>>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 1024]).unwrap();
            stream.write_all(&answer).unwrap();
        }
    });
    address
}

#[test]
fn a_profile_is_kept_and_read_and_a_target_without_one_is_not_void() {
    let profile = include_bytes!("../../../observe/tests/profiles/go-net-http.pb.gz");
    let ok = format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", profile.len());
    let none = b"HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".to_vec();
    let admin = answer(vec![[ok.as_bytes(), profile.as_slice()].concat(), none]);
    let runs = tempfile::tempdir().unwrap();
    let mut draft = Draft { cells: vec![cell("a", 10)], profile_functions: vec!["futex".into()], ..draft(2) };
    draft.cells[0].profile = true;
    draft.cells[0].load.warm_up_ns = 0;
    let launcher = FakeLauncher { admin: Some(admin), ..FakeLauncher::default() };
    let plan = draft.resolve().unwrap();
    let mut folder = create(runs.path(), &plan);
    let end = conduct(&plan, &mut folder, &launcher, None);
    let [first, second] = &end.trials[..] else { panic!("{:?}", end.trials) };
    assert!(end.trials.iter().all(|trial| trial.failure.is_none() && trial.measurement.is_some()));
    assert_eq!(Metric::ProfileShare.value(first), Some(2.0 / 116.0));
    assert_eq!(std::fs::read(folder.path().join("profiles/b01-c01.pb.gz")).unwrap(), profile);
    let seen = second.observation.as_ref().unwrap();
    let why = NoProfile::Seen { pprof: Some(NoPprof::Status(404)), perf: Some(NoPerf::NotInstalled) };
    assert_eq!(seen.no_profile, Some(why));
    assert_eq!(Metric::ProfileShare.value(second), None);
    assert!(!folder.path().join("profiles/b02-c01.pb.gz").exists());
    assert_eq!(
        RunFolder::read(folder.path()).unwrap(),
        RunRecord { plan, environment: environment(), trials: end.trials }
    );
}

/// Stands in for the executable: what `bourdon reaper detach CPUS SCRATCH APART COMMAND…` does while all goes well.
const REAPER: &str = "#!/bin/sh\nfolder=$4; mkdir $folder; shift 5\n\"$@\" >&2 & echo pid $! 0 >&0\nwait $!\n\
                      echo exit status $? >&0\ncat >/dev/null; rm -r $folder; echo done >&0\n";

/// Stands in for perf on a target that ends at once: records nothing, and tells of two samples.
const PERF: &str = "#!/bin/sh\necho $1 >> ${0%/*}/called\n[ $1 = record ] && exit\n\
                    echo 'cpu-clock: ffffffff81000000 do_futex ([kernel.kallsyms])'\n\
                    echo 'cpu-clock: 55d0b6f2a1c0 serve (/bin/server)'\n";

/// A file that can be run. No other test here starts a process, which would hold it open meanwhile.
fn executable(path: &Path, text: &str) -> PathBuf {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    path.to_owned()
}

#[test]
fn perf_profiles_what_does_not_profile_itself_and_nothing_else() {
    let profile = include_bytes!("../../../observe/tests/profiles/go-net-http.pb.gz");
    let ok = format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", profile.len());
    let none = b"HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".to_vec();
    let runs = tempfile::tempdir().unwrap();
    let launcher = FakeLauncher {
        admin: Some(answer(vec![[ok.as_bytes(), profile.as_slice()].concat(), none])),
        perf: Perf {
            executable: executable(&runs.path().join("reaper"), REAPER),
            command: Some(executable(&runs.path().join("perf"), PERF)),
        },
        ..FakeLauncher::default()
    };
    let mut draft = Draft { cells: vec![cell("a", 10)], profile_functions: vec!["futex".into()], ..draft(2) };
    draft.cells[0].profile = true;
    draft.cells[0].load.warm_up_ns = 0;
    // Simulated; what is left of it once the target has been asked must be something on any machine.
    draft.cells[0].load.extent = Extent::Window(10_000 * MS);
    let plan = draft.resolve().unwrap();
    let mut folder = create(runs.path(), &plan);
    let end = conduct(&plan, &mut folder, &launcher, None);
    let profiles: Vec<_> =
        end.trials.iter().map(|trial| trial.observation.as_ref().unwrap().profile.clone().unwrap()).collect();
    assert_eq!(profiles.iter().map(|profile| profile.by).collect::<Vec<_>>(), [ProfiledBy::Pprof, ProfiledBy::Perf]);
    assert_eq!((profiles[1].samples, profiles[1].share), (2, Some(0.5)));
    let called = std::fs::read_to_string(runs.path().join("called")).unwrap();
    assert_eq!(called, "record\nscript\n", "in the second trial alone");
    let kept = |file: &str| folder.path().join("profiles").join(file).exists();
    assert_eq!(["b01-c01.perf.txt.gz", "b02-c01.pb.gz"].map(kept), [false; 2]);
    assert_eq!(["b01-c01.pb.gz", "b02-c01.perf.txt.gz"].map(kept), [true; 2]);
}

/// Somebody asks for the end in the last second of the first window, which is measured whole; gives how many trials are
/// recorded.
fn recorded_of_an_interrupted(change: impl Fn(&mut CellPlan)) -> usize {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let runs = tempfile::tempdir().unwrap();
    let mut draft = Draft { cells: vec![cell("a", 10)], ..draft(2) };
    draft.cells[0].load.warm_up_ns = 0;
    change(&mut draft.cells[0]);
    let plan = draft.resolve().unwrap();
    let mut folder = create(runs.path(), &plan);
    let launcher = FakeLauncher { admin: Some(silent.local_addr().unwrap()), ..FakeLauncher::default() };
    let stop = AtomicBool::new(false);
    let on_event = &mut |event: &Event| {
        stop.fetch_or(matches!(event, Event::Second { .. }), Ordering::Relaxed);
    };
    let end = conduct_telling(&plan, &mut folder, (&launcher, &load), &stop, on_event).unwrap();
    assert!(end.interrupted);
    RunFolder::read(folder.path()).unwrap().trials.len()
}

#[test]
fn a_trial_whose_profile_or_census_is_cut_short_is_made_again_and_a_whole_one_is_kept() {
    assert_eq!(recorded_of_an_interrupted(|_| {}), 1);
    assert_eq!(recorded_of_an_interrupted(|cell| cell.census = Some(true)), 0, "who serves was not counted");
    assert_eq!(recorded_of_an_interrupted(|cell| cell.profile = true), 0, "nor waited for, whoever asked for the end");
}
