#!/bin/sh
# Programs of a Kubernetes cluster, built from their Go modules into a folder, some seven minutes on two CPUs; nothing where they are there.
#   sh scale/kubernetes/build.sh FOLDER
set -eu
kubernetes=1.35.4 etcd=3.6.8 coredns=1.15.0 nats=2.15.2
into=$(realpath -m "${1:?"usage: $0 FOLDER"}")
versions="kubernetes $kubernetes, etcd $etcd, CoreDNS $coredns, NATS $nats"
[ "$(cat "$into/versions" 2>/dev/null)" = "$versions" ] && exit 0
command -v go >/dev/null || { echo "a cluster needs Go: https://go.dev/dl" >&2; exit 1; }
echo "building $versions: some minutes" >&2
mkdir -p "$into/static"
modules=$(mktemp -d)
trap 'rm -rf "$modules"' EXIT
export GOFLAGS=-mod=mod

# Goes into a module of its own that requires MODULE, and what its PACKAGEs need.
module() { # MODULE VERSION PACKAGE...
    mkdir "$modules/$(basename "$1")"
    cd "$modules/$(basename "$1")"
    go mod init tools 2>/dev/null
    go mod edit -require "$1@v$2"
    # Kubernetes keeps its libraries beside it, and others have them by versions of their own.
    go mod download -json "$1@v$2" | sed -n 's/.*"GoMod": "\(.*\)",/\1/p' | xargs sed -n 's#^\t\(k8s.io/[^ ]*\) v0\.0\.0$#\1#p' |
        while read -r library; do go mod edit -replace "$library=$library@v0.${2#1.}"; done
    shift 2
    { printf '//go:build tools\n\npackage tools\n\n'; printf 'import _ "%s"\n' "$@"; } >tools.go
    go mod tidy
}

module k8s.io/kubernetes $kubernetes k8s.io/kubernetes/cmd/kube-apiserver/app k8s.io/kubernetes/cmd/kube-controller-manager/app \
    k8s.io/kubernetes/cmd/kube-scheduler/app k8s.io/kubernetes/cmd/kubelet/app k8s.io/kubernetes/cmd/kube-proxy/app k8s.io/kubernetes/cmd/kubectl
for program in kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy kubectl; do
    go build -o "$into/" k8s.io/kubernetes/cmd/$program
done
module go.etcd.io/etcd/server/v3 $etcd go.etcd.io/etcd/server/v3/etcdmain
go build -o "$into/etcd" go.etcd.io/etcd/server/v3
module github.com/coredns/coredns $coredns github.com/coredns/coredns/coremain
go build -o "$into/" github.com/coredns/coredns
# What goes into images has no libraries there.
module github.com/nats-io/nats-server/v2 $nats github.com/nats-io/nats-server/v2
CGO_ENABLED=0 go build -o "$into/static/nats-server" github.com/nats-io/nats-server/v2
echo 'int pause(void); int main(void) { for (;;) pause(); }' | cc -static -x c -o "$into/static/pause" -
echo "$versions" >"$into/versions"
