//! What `deploy/` says of Kubernetes, step by step, in a cluster of this machine (`scale/cluster.sh`).

use std::path::Path;
use std::process::{Command, Stdio};

use crate::bed::{BOURDON, Load, Running, shell};
use crate::support::wait_until;

/// The part that runs within the cluster.
pub(crate) const WITHIN: &str = "within-kubernetes";

/// Where the cluster's machine is reached, and the server that nodes load.
const SERVER: &str = "10.99.0.1:8080";

/// What a command says, which must succeed.
fn said(script: &str) -> String {
    let output = shell(script).output().unwrap();
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Builds an image and a cluster, and runs this program there again.
pub(crate) fn part() {
    if !rustix::process::geteuid().is_root() {
        return println!("NOT TESTED: kubernetes: a cluster needs root");
    }
    let (folder, this) = (tempfile::tempdir().unwrap(), std::env::current_exe().unwrap());
    let image = std::env::var("BOURDON_IMAGE").unwrap_or_else(|_| {
        let image = folder.path().join("bourdon.tar").display().to_string();
        said(&format!("sh deploy/image.sh {image}"));
        image
    });
    let script = format!("sh scale/cluster.sh {} --bench {WITHIN}", this.display());
    assert!(
        shell(&script).env("BOURDON_IMAGE", image).status().unwrap().success(),
        "the part within the cluster failed"
    );
}

/// Nodes in pods, as many as there are to be, waited for by nobody.
fn apply() {
    said("kubectl apply -k scale/kubernetes");
}

/// Makes a load by the nodes that wait in pods.
fn begin(folder: &Path, duration: &str) -> Load {
    let [nats, key] = ["command", "key"].map(|name| folder.join(name).display().to_string());
    let mut command = Command::new(BOURDON);
    command.args(["load", "--nodes", &format!("@{nats}"), "--key", &key, "--workers", "4", "--gather", "5m"]);
    command.args([
        "-c",
        "40",
        "-R",
        "2000",
        "-d",
        duration,
        "--format",
        "json",
        &format!("http://{SERVER}/rest/hello"),
    ]);
    Load::begin(command.env("XDG_STATE_HOME", "/dev/null").stdin(Stdio::null()))
}

pub(crate) fn within() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().display();
    said(&format!(
        "cd {at}; openssl rand -hex 32 > key; printf nats://node:node%%2F1@bourdon-nats:4222 > nats; printf node/1 > node-password; printf command/1 > command-password
         kubectl create secret generic bourdon --from-file=key --from-file=nats --from-file=node-password --from-file=command-password"
    ));
    std::fs::write(folder.path().join("command"), "nats://command:command%2F1@127.0.0.1:4222\n").unwrap();
    let (address, port) = SERVER.split_once(':').unwrap();
    let mut server = Command::new(BOURDON);
    server.args(["specimen", "clean"]).env("ADDRESS", address).env("PORT", port).stderr(Stdio::null());
    let _server = Running(server.spawn().unwrap());
    apply();
    said("kubectl rollout status deploy/bourdon-nats --timeout=3m");
    let mut forward = Command::new("kubectl");
    forward.args(["port-forward", "svc/bourdon-nats", "4222"]).stdout(Stdio::null()).stderr(Stdio::null());
    let _forward = Running(forward.spawn().unwrap());
    wait_until("the server of messages is forwarded", || std::net::TcpStream::connect("127.0.0.1:4222").ok());

    let load = begin(folder.path(), "5s").end();
    assert_eq!(["accounting/scheduled", "accounting/ok"].map(|count| load.count(count)), [10_000; 2]);
    let hosts: Vec<String> = load.texts("host");
    assert!(hosts.len() == 4 && hosts.iter().all(|host| host.starts_with("bourdon-nodes-")), "{hosts:?}");
    said("kubectl wait --for=condition=Complete job/bourdon-nodes --timeout=1m");
    println!(
        "kubernetes: four pods of the Job made one load: 10,000 of 10,000 requests in the books, and the Job is complete"
    );

    said("kubectl delete job bourdon-nodes --cascade=foreground --wait");
    apply();
    let mut load = begin(folder.path(), "10s");
    load.said("all begin in");
    let pods = "kubectl get pods -l app=bourdon-node --field-selector=status.phase=Running -o jsonpath='{.items[*].metadata.name}'";
    let killed = said(pods).split(' ').next().unwrap().to_owned();
    std::thread::sleep(std::time::Duration::from_secs(4));
    said(&format!("kubectl delete pod {killed} --force --grace-period=0 2>&1"));
    let load = load.end_with(&[3]);
    // A pod of an Indexed Job knows itself by the Job's name and its index.
    let (host, _) = killed.rsplit_once('-').unwrap();
    let (lost, seconds) = (format!("node {host}/"), load.count("partial/whole_seconds"));
    assert!(load.stderr().contains(&lost) && load.stderr().contains(" is lost: "), "{lost}: {}", load.stderr());
    // Of four seconds, 0.3 are before the begin and one is the warm-up.
    assert!((2..=3).contains(&seconds), "{seconds}");
    let index = format!("{host}-");
    wait_until("a pod takes its place", || {
        said(pods).split(' ').any(|pod| pod.starts_with(&index) && pod != killed).then_some(())
    });
    println!(
        "kubernetes: a pod that was deleted during a load was declared lost after {seconds} whole seconds; a pod took its place in the Job"
    );
}
