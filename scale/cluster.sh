#!/bin/sh
# A Kubernetes cluster of one machine: etcd, the control plane, a kubelet with containerd, kube-proxy and CoreDNS, all real and of their own
# modules, in namespaces of their own (network, mounts, processes). Runs COMMAND there with KUBECONFIG and PATH set, then ends all of it; what
# COMMAND exits with it exits with. BOURDON_IMAGE is a file of an image that its machine is to have.
#   sh scale/cluster.sh COMMAND [ARGUMENT...]
# It needs root, Go, Debian's packages (installed if they are missing), and some 2 GB in target/tools.
set -eu
cd "$(dirname "$0")/.."
. scale/cgroups.sh
[ $# -gt 0 ] || { echo "usage: $0 COMMAND [ARGUMENT...]" >&2; exit 2; }

tools="$(realpath -m "${CARGO_TARGET_DIR:-target}")/tools"
bin="$tools/kubernetes"
address=10.99.0.1

if [ -z "${BOURDON_IN_CLUSTER:-}" ]; then
    [ "$(id -u)" = 0 ] || { echo "a cluster needs root" >&2; exit 1; }
    PATH=$PATH:/usr/sbin
    missing=
    for program in containerd runc iptables conntrack gcc ip; do
        command -v $program >/dev/null || missing=yes
    done
    if [ -n "$missing" ] || ! [ -x /usr/lib/cni/bridge ]; then
        had=$(command -v containerd || true)
        apt-get install -y -qq --no-install-recommends containerd runc containernetworking-plugins iptables conntrack gcc libc6-dev iproute2 >/dev/null
        # The package's own is not to run here at the next start of the machine.
        [ -n "$had" ] || systemctl disable --now containerd >/dev/null 2>&1 || true
    fi
    sh scale/kubernetes/build.sh "$bin"
    work=$(mktemp -d)
    within=
    ended() {
        [ -z "$within" ] || kill -9 $within 2>/dev/null || true
        wait
        remove_cgroups "$(basename "$work")"
        rm -rf --one-file-system "$work"
    }
    trap ended EXIT
    trap 'exit 130' INT TERM HUP
    # Of its namespace of processes all end with the first one, which ends with `unshare`.
    BOURDON_IN_CLUSTER=$work unshare --net --mount --propagation private --pid --fork --mount-proc --kill-child sh scale/cluster.sh "$@" &
    within=$!
    status=0
    wait $within || status=$?
    exit $status
fi

work=$BOURDON_IN_CLUSTER
# What is written where programs of a cluster write is gone with it; settings of the kernel that no namespace has are not theirs to change.
mount --make-rshared /
export HOME="$work"
mkdir -p /opt
for folder in /run /var/log /var/lib /usr/libexec /opt; do
    mount -t tmpfs -o mode=755 bourdon-cluster $folder
done
# Kubelet finds those that it insists on.
for setting in vm/overcommit_memory=1 kernel/panic=10 kernel/panic_on_oops=1 kernel/keys/root_maxkeys=1000000 kernel/keys/root_maxbytes=25000000; do
    name=$(echo "${setting%=*}" | tr / .)
    echo "${setting#*=}" >"$work/$name"
    mount --bind "$work/$name" "/proc/sys/${setting%=*}"
done
export PATH="$bin:$tools:$PATH" KUBECONFIG="$work/kubeconfig"
ip link set lo up
ip link add bourdon0 type bridge
ip addr add $address/24 dev bourdon0
ip link set bourdon0 up

# Starts a part of the cluster; what it says is in a file of its name.
start() { # NAME COMMAND...
    name=$1
    shift
    "$@" >"$work/$name.log" 2>&1 &
}

# Waits until COMMAND succeeds, some minutes at most.
until_it_is() { # WHAT COMMAND...
    what=$1
    shift
    for _ in $(seq 600); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.2
    done
    echo "$what did not come; what its parts said last:" >&2
    tail -n 5 "$work"/*.log >&2
    exit 1
}

openssl genrsa -out "$work/accounts.key" 2048 2>/dev/null
token=$(openssl rand -hex 16)
echo "$token,admin,admin,system:masters" >"$work/tokens"
cat >"$KUBECONFIG" <<END
apiVersion: v1
kind: Config
clusters: [{name: here, cluster: {server: "https://$address:6443", insecure-skip-tls-verify: true}}]
users: [{name: admin, user: {token: $token}}]
contexts: [{name: here, context: {cluster: here, user: admin}}]
current-context: here
END

start etcd etcd --data-dir "$work/etcd" --unsafe-no-fsync
start apiserver kube-apiserver --etcd-servers=http://127.0.0.1:2379 --cert-dir="$work/certificates" --advertise-address=$address \
    --token-auth-file="$work/tokens" --authorization-mode=RBAC --service-cluster-ip-range=10.96.0.0/16 \
    --service-account-issuer=https://$address:6443 --service-account-key-file="$work/accounts.key" --service-account-signing-key-file="$work/accounts.key" \
    --kubelet-preferred-address-types=InternalIP
until_it_is "the API server" kubectl get --raw /readyz

start controllers kube-controller-manager --kubeconfig="$KUBECONFIG" --service-account-private-key-file="$work/accounts.key" --leader-elect=false
start scheduler kube-scheduler --kubeconfig="$KUBECONFIG" --leader-elect=false

mkdir -p "$work/cni"
cat >"$work/cni/10-bourdon.conflist" <<END
{"cniVersion": "0.4.0", "name": "bourdon", "plugins": [
  {"type": "bridge", "bridge": "cni0", "isGateway": true, "ipMasq": true, "hairpinMode": true,
   "ipam": {"type": "host-local", "dataDir": "$work/addresses", "ranges": [[{"subnet": "10.98.0.0/16"}]], "routes": [{"dst": "0.0.0.0/0"}]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}]}
END
cat >"$work/containerd.toml" <<END
version = 2
root = "$work/containerd"
state = "$work/containerd-state"
[grpc]
address = "$work/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "docker.io/library/pause:bourdon"
disable_apparmor = true
# Not everywhere may a process be spared when memory runs out.
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "/usr/lib/cni"
conf_dir = "$work/cni"
END
start containerd containerd --config "$work/containerd.toml"
until_it_is "containerd" ctr -a "$work/containerd.sock" version
# Images of a registry are not to be had everywhere: these have their names, and hold the same program.
sh deploy/oci.sh nats:2.15.2-alpine "$bin/static/nats-server" "$work/nats.tar" >/dev/null
sh deploy/oci.sh pause:bourdon "$bin/static/pause" "$work/pause.tar" >/dev/null
for image in "$work/nats.tar" "$work/pause.tar" ${BOURDON_IMAGE:+"$BOURDON_IMAGE"}; do
    ctr -a "$work/containerd.sock" -n k8s.io images import "$image" >/dev/null
done

cat >"$work/Corefile" <<END
cluster.local:53 {
    bind $address
    kubernetes cluster.local {
        kubeconfig $KUBECONFIG
    }
}
END
start dns coredns -conf "$work/Corefile"
cat >"$work/kubelet.yaml" <<END
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
containerRuntimeEndpoint: unix://$work/containerd.sock
cgroupDriver: cgroupfs
cgroupRoot: /$(basename "$work")
cgroupsPerQOS: true
failCgroupV1: false
failSwapOn: false
clusterDNS: [$address]
clusterDomain: cluster.local
resolvConf: ""
authentication: {anonymous: {enabled: true}}
authorization: {mode: AlwaysAllow}
evictionHard: {memory.available: 1Mi}
imageGCHighThresholdPercent: 100
END
make_cgroups "$(basename "$work")"
start kubelet kubelet --kubeconfig="$KUBECONFIG" --config="$work/kubelet.yaml" --root-dir="$work/kubelet" --cert-dir="$work/kubelet-certificates" \
    --hostname-override=one --node-ip=$address
start proxy kube-proxy --kubeconfig="$KUBECONFIG" --proxy-mode=iptables --hostname-override=one --cluster-cidr=10.98.0.0/16 --conntrack-max-per-core=0
until_it_is "the machine of the cluster" kubectl wait --for=condition=Ready node/one --timeout=1s
until_it_is "the service account of pods" kubectl get serviceaccount default
"$@"
