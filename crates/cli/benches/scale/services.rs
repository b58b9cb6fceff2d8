//! What `deploy/` says of services, step by step, on a machine of its own whose first process is systemd (`scale/services.sh`).

use crate::bed::{BOURDON, shell};
use crate::support::{Document, nats_program};

/// As `deploy/README.md` has it; then both services are killed, and a load is made by those that systemd starts in their place.
const STEPS: &str = r#"set -eu
trap '[ $? = 0 ] || journalctl --no-pager --unit nats-server --unit bourdon-node' EXIT
cp /shared/bourdon /shared/nats-server /usr/local/bin/
mkdir -p /etc/bourdon
cp /shared/deploy/kustomize/nats.conf /etc/bourdon/
printf 'NODE_PASSWORD=node/1\nCOMMAND_PASSWORD=command/1\n' >/etc/bourdon/nats.env
openssl rand -hex 32 >/etc/bourdon/key
echo nats://node:node%2F1@127.0.0.1:4222 >/etc/bourdon/nats-url
echo ALLOW=127.0.0.1:8080 >/etc/bourdon/node.env
echo nats://command:command%2F1@127.0.0.1:4222 >/etc/bourdon/command
chmod 600 /etc/bourdon/*
cp /shared/deploy/systemd/*.service /etc/systemd/system/
systemctl enable --now nats-server bourdon-node
PORT=8080 bourdon specimen clean 2>/dev/null &
load() {
    until bash -c 'exec 3<>/dev/tcp/127.0.0.1/4222' 2>/dev/null; do
        sleep 0.1
    done
    bourdon load --nodes @/etc/bourdon/command --key /etc/bourdon/key --workers 1 --gather 20s -c 4 -n 2000 --format none -o /shared/$1 http://127.0.0.1:8080/rest/hello
}
load first.json
node=$(systemctl show --property=MainPID bourdon-node)
systemctl kill --signal=KILL nats-server bourdon-node
until systemctl is-active --quiet nats-server && systemctl is-active --quiet bourdon-node && [ "$(systemctl show --property=MainPID bourdon-node)" != "$node" ]; do
    sleep 0.1
done
load second.json
systemctl show --property=NRestarts,User,DynamicUser nats-server bourdon-node
"#;

pub(crate) fn part() {
    if !rustix::process::geteuid().is_root() {
        return println!("NOT TESTED: services: a machine of its own needs root");
    }
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::copy(BOURDON, at("bourdon")).unwrap();
    std::fs::copy(nats_program().unwrap(), at("nats-server")).unwrap();
    std::fs::write(at("steps"), STEPS).unwrap();
    let shared = folder.path().display();
    let script = format!("cp -r deploy {shared}/deploy; sh scale/services.sh {shared} 'sh /shared/steps'");
    let status = shell(&script).status().unwrap();
    let said = std::fs::read_to_string(at("said")).unwrap_or_default();
    assert!(status.success(), "{said}");
    let ok =
        |name: &str| Document::of_balanced(&std::fs::read_to_string(at(name)).unwrap()).unwrap().count("accounting/ok");
    assert_eq!(["first.json", "second.json"].map(ok), [2_000; 2], "{said}");
    assert_eq!(said.matches("NRestarts=1").count(), 2, "{said}");
    println!(
        "services: nats-server and a node of deploy/systemd made a load of 2,000 requests, were killed and started again, and made another"
    );
}
