//! `bourdon node` and `bourdon load --nodes`: a load that several processes make together, through a real server of messages.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::path::{Path, PathBuf};
use std::time::Duration;

use lab::RunFolder;
use model::TrialRecord;
use rustix::process::Signal;
use specimens::{Kind, Settings};
use support::{Document, Ended, Liar, Nats, Replay, Running, Specimen, bourdon, spawn};

/// A server of messages, and the secret that all know.
struct Link {
    nats: Nats,
    folder: tempfile::TempDir,
}

impl Link {
    fn new() -> Option<Self> {
        Self::with("")
    }

    /// With these settings of the server of messages.
    fn with(settings: &str) -> Option<Self> {
        Some(Self::of(Nats::with(settings)?))
    }

    fn of(nats: Nats) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("key"), "a secret of all of them\n").unwrap();
        Self { nats, folder }
    }

    fn key(&self) -> String {
        self.file("key").display().to_string()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn node(&self, options: &[&str]) -> Running {
        spawn(&[&["node", "--nats", &self.nats.url(), "--key", &self.key()], options].concat())
    }

    fn begin(&self, url: &str, options: &[&str]) -> Running {
        spawn(
            &[&["load", url, "--nodes", &self.nats.url(), "--key", &self.key(), "--format", "json"], options].concat(),
        )
    }

    fn load(&self, url: &str, options: &[&str]) -> Ended {
        self.begin(url, options).end()
    }
}

fn saved(file: &Path) -> Document {
    Document::of_balanced(&std::fs::read_to_string(file).unwrap()).unwrap()
}

#[test]
fn two_nodes_make_one_load_whatever_their_clocks_say() {
    let Some(link) = Link::new() else { return };
    let specimen = Specimen::of(Kind::Clean);
    let ahead = [5.0, -5.0];
    let _nodes = ahead.map(|seconds| link.node(&["--once", "--clock-ahead", &seconds.to_string()]));
    let file = link.file("both.json");
    let options = ["--workers", "2", "-n", "901", "-R", "1800", "-t", "2", "-c", "9", "-o", file.to_str().unwrap()];
    let whole = link.load(&specimen.url(), &options).document_with(0);
    assert_eq!([whole.count("accounting/ok"), whole.count("accounting/scheduled")], [901, 901]);
    assert_eq!(whole.count("latency_us/response/count"), 901);
    assert_eq!([whole.count("load/connections"), whole.count("load/threads")], [9, 4], "each has two threads");
    assert_eq!(specimen.log_of(901).len(), 901, "it served no more");
    let parts = whole.get("merged").as_array().unwrap();
    assert_eq!(parts.len(), 2);
    let number = |at: usize, name: &str| parts[at][name].as_f64().unwrap();
    let mut found: Vec<f64> = (0..2).map(|at| number(at, "clock_ahead_s")).collect();
    found.sort_by(f64::total_cmp);
    // Both read one clock, so that what they were told to be ahead is how far they are.
    let within_s = (0..2).map(|at| number(at, "clock_within_us") / 1e6).fold(0.0, f64::max);
    assert!((found[0] + 5.0).abs() <= within_s && (found[1] - 5.0).abs() <= within_s, "{found:?} within {within_s}");
    assert_eq!([0, 1].map(|at| number(at, "begun_after_s")), [0.0; 2]);
    assert_eq!([0, 1].map(|at| number(at, "connections")), [5.0, 4.0], "each its share of nine");
    let kept = saved(&file);
    assert_eq!(kept.get("accounting"), whole.get("accounting"));
    assert!(kept.get("part").is_string());
    assert_eq!(bourdon(&["report", file.to_str().unwrap()]).status, Some(0), "it is a load like any other");
}

#[test]
fn what_a_node_owes_whose_server_is_not_there_is_in_the_books() {
    let Some(link) = Link::new() else { return };
    let specimen = Specimen::of(Kind::Clean);
    let _nodes = [link.node(&[]), link.node(&[])];
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = specimen.url();
    let (address, _) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let servers = format!("{address},{free}");
    let options = ["--workers", "2", "-c", "4", "-R", "200", "-d", "2s", "--warm-up", "0s", "--servers", &servers];
    let ended = link.load(&url, &options);
    let load = ended.document_with(1);
    let books = ["accounting/scheduled", "accounting/sent", "accounting/ok"].map(|count| load.count(count));
    assert_eq!(books, [400, 200, 200], "{ended:?}");
    // Of so many replies what was refused to the other is next to nothing.
    let file = link.file("half.json").display().to_string();
    let options = ["--workers", "2", "-c", "4", "-d", "2s", "--warm-up", "0s", "--servers", &servers, "-o", &file];
    let ended = link.load(&url, &options);
    let load = ended.document_with(1);
    assert!(ended.stderr.contains("had no connection at all"), "{}", ended.stderr);
    assert!(load.get("not_one_load").as_str().unwrap().contains("had no connection at all"));
    let shown = bourdon(&["report", &file]);
    assert!(shown.status == Some(3) && shown.stderr.contains("is not the load that was asked for"), "{shown:?}");
    assert_refused(&bourdon(&["merge", &file, &file]), 2, "is not the load that was asked for", "make it again");
}

#[test]
fn a_stall_is_seen_through_four_nodes_as_by_the_server() {
    const RATE: f64 = 400.0;
    let Some(link) = Link::new() else { return };
    let times = Duration::from_millis(400);
    let settings = Settings { stall_at: times, stall_for: times, ..Settings::new(Kind::Stall) };
    let specimen = Specimen::start(settings);
    let _nodes = [(); 4].map(|()| link.node(&["--once"]));
    let options = ["--workers", "4", "-R", "400", "-d", "1500ms", "--warm-up", "0s", "-c", "200"];
    let whole = link.load(&specimen.url(), &options).document_with(0);
    let scheduled = whole.count("accounting/scheduled") as usize;
    let replay = Replay::of(&specimen.log_of(scheduled), scheduled, RATE);
    for (name, q) in [("p50", 0.50), ("p95", 0.95), ("p99", 0.99)] {
        let (measured, expected) = (whole.latency_s(&format!("response/{name}")), replay.quantile_s(q));
        let most = (0.03 * expected).max(0.05);
        assert!((measured - expected).abs() <= most, "{name}: {measured} s, by the log {expected} s");
    }
}

#[test]
fn a_node_that_is_killed_is_declared_and_the_seconds_before_count() {
    let Some(link) = Link::new() else { return };
    let specimen = Specimen::of(Kind::Clean);
    let (victim, survivor) = (link.node(&[]), link.node(&[]));
    let file = link.file("partial.json");
    let options =
        ["--workers", "2", "-R", "400", "-c", "4", "-d", "20s", "--warm-up", "0s", "-o", file.to_str().unwrap()];
    let load = link.begin(&specimen.url(), &options);
    // It has served for two seconds and more.
    specimen.log_of(900);
    victim.signal(Signal::KILL);
    let ended = load.end();
    let whole = ended.document_with(3);
    assert!(ended.stderr.contains("is lost: nothing was heard of it for"), "{}", ended.stderr);
    let seconds = whole.count("partial/whole_seconds");
    let (scheduled, lost) = (whole.count("accounting/scheduled"), whole.get("partial/lost").as_array().unwrap());
    assert!(seconds >= 1 && scheduled >= 400 * seconds && scheduled < 400 * (seconds + 1), "{seconds}: {scheduled}");
    assert!(lost.len() == 1 && whole.get("interrupted") == true, "{lost:?}");
    assert_eq!(saved(&file).get("partial"), whole.get("partial"));
    // The other is free again.
    let again = link.load(&specimen.url(), &["--workers", "1", "-n", "10", "-c", "1"]).document_with(0);
    assert_eq!(again.count("accounting/ok"), 10);
    survivor.signal(Signal::TERM);
    assert_eq!(survivor.end().status, Some(0));
}

#[test]
fn who_is_interrupted_keeps_what_all_have_measured() {
    let Some(link) = Link::new() else { return };
    let specimen = Specimen::of(Kind::Clean);
    let _nodes = [(); 2].map(|()| link.node(&["--once"]));
    let options = ["--workers", "2", "-R", "400", "-c", "4", "-d", "60s", "--warm-up", "0s"];
    let load = link.begin(&specimen.url(), &options);
    specimen.log_of(300);
    load.signal(Signal::INT);
    let whole = load.end().document_with(130);
    let scheduled = whole.count("accounting/scheduled");
    assert!(scheduled >= 300 && whole.get("interrupted") == true, "{scheduled}");
    assert_eq!(whole.get("merged").as_array().unwrap().len(), 2);
}

#[test]
fn the_server_of_messages_may_go_and_come_back_with_what_it_kept_or_without() {
    for keeps in [true, false] {
        let Some(mut link) = Link::new() else { return };
        let specimen = Specimen::of(Kind::Clean);
        let _nodes = [(); 2].map(|()| link.node(&["--once"]));
        let options = ["--workers", "2", "-R", "400", "-c", "4", "-d", "4s", "--warm-up", "0s"];
        let load = link.begin(&specimen.url(), &options);
        specimen.log_of(400);
        link.nats.restart(keeps, || {
            specimen.log_of(800);
        });
        let whole = load.end().document_with(0);
        assert_eq!([whole.count("accounting/ok"), whole.count("accounting/scheduled")], [1_600, 1_600], "{keeps}");
    }
}

/// That nothing was loaded, with the cause and the cure.
fn assert_refused(ended: &Ended, status: i32, cause: &str, cure: &str) {
    assert_eq!((ended.status, &*ended.stdout), (Some(status), ""), "{ended:?}");
    assert!(ended.stderr.contains(cause) && ended.stderr.contains(cure), "{}", ended.stderr);
}

#[test]
fn what_cannot_be_is_told_with_its_cure() {
    let Some(link) = Link::new() else { return };
    let specimen = Specimen::of(Kind::Clean);
    let (url, nats, key) = (specimen.url(), link.nats.url(), link.key());
    let short = ["--workers", "1", "--gather", "1s", "-c", "1", "-n", "1"];
    assert_refused(
        &link.load(&url, &short),
        4,
        "0 of 1 nodes came in 1 s",
        "start bourdon node with the same --pool and --key",
    );
    // One whose secret is another is not heeded, and named by both.
    let other = link.file("other");
    std::fs::write(&other, "somebody else's secret\n").unwrap();
    let stranger = spawn(&["node", "--nats", &nats, "--key", other.to_str().unwrap()]);
    let waits = link.begin(&url, &["--workers", "1", "--gather", "2s", "-c", "1", "-n", "1"]);
    assert_refused(&waits.end(), 4, "0 of 1 nodes came", "--key");
    stranger.signal(Signal::TERM);
    let said = stranger.end();
    assert!(said.stderr.contains("is not signed with this key"), "{}", said.stderr);
    let node = link.node(&["--allow", "192.0.2.1"]);
    let refused = link.load(&url, &["--workers", "1", "-c", "1", "-n", "1"]);
    assert_refused(&refused, 4, "refused its share: it may load 192.0.2.1 only", "--allow ADDRESS");
    let many = link.load(&url, &["--workers", "1", "-c", "1", "-n", "1", "-t", "2"]);
    assert_refused(&many, 2, "2 threads cannot share 1 connection", "use at most -t 1");
    node.signal(Signal::TERM);
    assert_eq!(node.end().status, Some(0));
    let nowhere = bourdon(&["load", &url, "--nodes", "nats://me:secret@127.0.0.1:1", "--key", &key]);
    assert_refused(&nowhere, 4, "cannot reach nats://127.0.0.1:1", "is nats-server running there");
    assert!(!nowhere.stderr.contains("secret"), "{}", nowhere.stderr);
    let keyless = bourdon(&["node", "--nats", &nats]);
    assert_refused(&keyless, 2, "--key is missing", "openssl rand -hex 32");
    let short_key = link.file("short");
    std::fs::write(&short_key, "abc").unwrap();
    let weak = bourdon(&["node", "--nats", &nats, "--key", short_key.to_str().unwrap()]);
    assert_refused(&weak, 2, "it has 3 bytes", "openssl rand -hex 32");
    let sources = link.load(&url, &["--source", "127.0.0.1"]);
    assert_refused(&sources, 2, "--source is each node's own", "give it to bourdon node");
    let alone = bourdon(&["load", &url, "--key", &key]);
    assert_refused(&alone, 2, "--key is of nodes", "--nodes URL");
}

#[test]
fn who_may_not_hear_or_speak_on_the_server_of_messages_is_told_so() {
    let users = "authorization { users: [
      { user: deaf, password: x, permissions: { publish: '>', subscribe: '_INBOX.>' } }
      { user: mute, password: x, permissions: { publish: '$JS.API.>', subscribe: '>' } }
    ] }";
    let Some(link) = Link::with(users) else { return };
    let (key, specimen) = (link.key(), Specimen::of(Kind::Clean));
    let url = |user: &str| link.nats.url().replace("nats://", &["nats://", user, ":x@"].concat());
    let cure = "as deploy/kustomize/nats.conf lets it";
    assert_refused(&bourdon(&["node", "--nats", &url("deaf"), "--key", &key]), 4, "refuses: ", cure);
    for user in ["deaf", "mute"] {
        let ended = bourdon(&["load", &specimen.url(), "--nodes", &url(user), "--key", &key, "--workers", "1"]);
        assert_refused(&ended, 4, "refuses: ", cure);
        assert!(ended.stderr.to_lowercase().contains("permissions violation"), "{}", ended.stderr);
    }
}

#[test]
fn with_the_users_that_are_shipped_a_load_is_made() {
    let Some(nats) = Nats::of_deploy() else { return };
    let link = Link::of(nats);
    let (key, specimen) = (link.key(), Specimen::of(Kind::Clean));
    let node = spawn(&["node", "--nats", &link.nats.url_of("node"), "--key", &key, "--once"]);
    let options = ["--nodes", &link.nats.url_of("command"), "--key", &key, "--workers", "1", "-c", "1", "-n", "7"];
    let ended = bourdon(&[&["load", &specimen.url(), "--format", "json"], &options[..]].concat());
    assert_eq!(ended.document_with(0).count("accounting/ok"), 7);
    assert_eq!(node.end().status, Some(0));
}

#[test]
fn who_is_let_in_as_a_node_and_has_not_the_key_changes_nothing_and_that_is_said() {
    let Some(nats) = Nats::of_deploy() else { return };
    let link = Link::of(nats);
    let (key, specimen) = (link.key(), Specimen::of(Kind::Clean));
    let liar = Liar::start(link.nats.port, ("node", "node/1"));
    // What nodes say to who commands, what they bring, and what others are answered.
    assert_eq!(liar.refusals.len(), 3, "{:?}", liar.refusals);
    let _nodes = [(); 2].map(|()| spawn(&["node", "--nats", &link.nats.url_of("node"), "--key", &key]));
    let options = ["--nodes", &link.nats.url_of("command"), "--key", &key, "--workers", "2"];
    let load = ["load", &specimen.url(), "--format", "json", "-R", "400", "-c", "4", "-d", "3s", "--warm-up", "0s"];
    let load = spawn(&[&load[..], &options].concat());
    specimen.log_of(100);
    let before = liar.told_of_results();
    specimen.log_of(1_200);
    let told = liar.told_of_results() - before;
    let ended = load.end();
    let whole = ended.document_with(0);
    assert_eq!([whole.count("accounting/ok"), whole.count("accounting/scheduled")], [1_200, 1_200]);
    // All that was kept of both nodes could have been pushed out in each second.
    assert!(told > 3 * 2 * 128, "he told but {told} lies");
    let (once, all) = ("ignored a message: it is not signed with this key", "ignored 16 messages in all");
    assert!(
        ended.stderr.contains(once) && ended.stderr.contains(all),
        "the server brought eight from each address: {}",
        ended.stderr
    );
    liar.end();
}

#[test]
fn a_node_that_ends_after_one_load_says_whether_that_came_to_something() {
    let Some(link) = Link::new() else { return };
    let specimen = Specimen::of(Kind::Clean);
    let options = ["--workers", "1", "-c", "1", "-n", "1"];
    let node = link.node(&["--once"]);
    link.load(&specimen.url(), &options).document_with(0);
    assert_eq!(node.end().status, Some(0));
    let node = link.node(&["--once"]);
    let load = link.begin(&specimen.url(), &["--workers", "1", "-c", "1", "-R", "100", "-d", "60s"]);
    specimen.log_of(10);
    node.signal(Signal::TERM);
    let ended = node.end();
    assert_eq!(ended.status, Some(1), "it was ended in the middle of it: {ended:?}");
    load.signal(Signal::TERM);
    load.end();
}

#[test]
fn nodes_make_the_loads_of_a_run_and_those_of_its_blocks_that_follow() {
    let Some(link) = Link::new() else { return };
    let (nats, key) = (link.nats.url(), link.key());
    let experiment = "question = 'Who is faster?'\ntrials = { warm_up = '200ms', window = '1s', blocks = 2, repeats = 0 }\n\
                      load = { path = '/rest/hello', expect_body = 'Hello world', connections = 5, model = 'open', rate = 400 }\n\
                      vary.target = ['specimen:clean']\n";
    std::fs::write(link.file("who.toml"), experiment).unwrap();
    let [file, runs] = [link.file("who.toml"), link.file("runs")].map(|path| path.display().to_string());
    let by_nodes = ["--nodes", &nats, "--key", &key];
    let run = |options: &[&str]| spawn(&[&["run", "--format", "json"], options].concat()).end();
    let alone = run(&[&file, "--runs", &runs, "--nodes", &nats, "--key", &key]);
    assert_refused(&alone, 2, "--workers is missing", "the same number of nodes");
    let all = run(&[&["all", "--runs", &runs, "--workers", "2"], &by_nodes[..]].concat());
    assert_refused(&all, 2, "--nodes belongs to a run of one experiment", "name one");
    let _nodes = [link.node(&[]), link.node(&["--clock-ahead", "5"])];
    let whole = run(&[&[&*file, "--runs", &runs, "--workers", "2"], &by_nodes[..]].concat());
    assert_eq!(whole.status, Some(0), "{whole:?}");
    assert!(whole.stdout.contains("\"nodes\": 2"), "{}", whole.stdout);
    let folder = std::fs::read_dir(&runs).unwrap().flatten().find(|entry| entry.path().is_dir()).unwrap().path();
    let trials = || -> Vec<TrialRecord> { RunFolder::read(&folder).unwrap().trials };
    assert_eq!(trials().len(), 4, "two blocks, each with a twin");
    for trial in trials() {
        let (load, seen) = (trial.measurement.unwrap(), trial.observation.unwrap());
        assert_eq!((load.accounting.ok, load.accounting.scheduled, load.accounting.imbalance()), (400, 400, None));
        assert!(seen.cpu_s() > 0.0 && (seen.window_s - 1.0).abs() < 0.3, "it was watched meanwhile: {seen:?}");
    }
    let resume = ["--resume", folder.to_str().unwrap(), "--blocks", "3"];
    assert_refused(&run(&resume), 2, "were made by 2 nodes", "--workers 2");
    let more = run(&[&resume[..], &by_nodes, &["--workers", "2"]].concat());
    assert_eq!((more.status, trials().len()), (Some(0), 6), "{more:?}");
    // Where nodes elsewhere would reach it; and a server that listens on 127.0.0.1 alone.
    let elsewhere = ["--runs", &runs, "--workers", "2", "--at", "127.0.0.2", "--blocks", "1"];
    let outside = run(&[&[&*file], &elsewhere[..], &by_nodes].concat());
    assert_eq!(outside.status, Some(0), "{outside:?}");
    let inside = "vary.target = ['inside']\n[[target]]\nname = 'inside'\nready = '/ping'\n\
                  run = 'env ADDRESS=127.0.0.1 $BOURDON specimen clean'\n";
    std::fs::write(link.file("who.toml"), experiment.replace("vary.target = ['specimen:clean']\n", inside)).unwrap();
    let outside = run(&[&[&*file], &elsewhere[..], &by_nodes].concat());
    assert_refused(&outside, 4, "nothing answers on 127.0.0.2", "have the server listen on all addresses");
}
