#!/bin/sh
# Builds a target with the Go that GO_RUNTIME names, such as 1.9.7; without it
# with the Go on PATH.
#
#   sh build.sh version         what the chosen Go says of its version, or why the Go on PATH cannot be used
#   sh build.sh build DIR BIN   builds the target in DIR, beside this script, to BIN
#
# An old Go comes as a module from the Go proxy, where the Go on PATH fetches
# it and checks it against Go's checksum database, and is then kept in
# ${XDG_CACHE_HOME:-$HOME/.cache}/bourdon/toolchains. It builds in GOPATH mode,
# as the oldest knows no other, and without the environment's Go settings.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
toolchains=${XDG_CACHE_HOME:-$HOME/.cache}/bourdon/toolchains

fail() {
	echo "build.sh: $*" >&2
	exit 1
}

# downloaded MODULE@VERSION prints the folder of a module, fetched if need be;
# downloaded MODULE DIR that of the version in DIR's go.mod, checked against go.sum.
downloaded() {
	answer=$(cd "${2:-/}" && GO111MODULE=on GOFLAGS= GOTOOLCHAIN=local GOWORK=off go mod download -json "$1" 2>/dev/null) || true
	echo "$answer" | sed -n 's/^[[:space:]]*"Dir": "\(.*\)",*$/\1/p'
}

# fetch puts the toolchain into its place, if it is not there. It is copied
# because the module cache is read-only and knows no executable files; it is
# renamed when it is whole, because builds may race.
fetch() {
	[ -d "$goroot" ] && return
	arch=$(go env GOHOSTOS)-$(go env GOHOSTARCH)
	module=$(downloaded "golang.org/toolchain@v0.0.1-go$GO_RUNTIME.$arch")
	[ -n "$module" ] || fail "Go $GO_RUNTIME for $arch cannot be had from the Go proxy ($(go env GOPROXY))"
	mkdir -p "$toolchains" || fail "Go $GO_RUNTIME cannot be kept in $toolchains"
	new=$(mktemp -d "$toolchains/.new.XXXXXX")
	trap 'rm -rf "$new"' EXIT
	trap 'exit 1' HUP INT TERM
	cp -R "$module" "$new/go" && chmod -R u+w "$new/go" || fail "Go $GO_RUNTIME cannot be copied to $toolchains"
	chmod +x "$new"/go/bin/* "$new"/go/pkg/tool/*/*
	# Whoever comes second finds the place taken, and throws its own away.
	mv -T "$new/go" "$goroot" 2>/dev/null || [ -d "$goroot" ] || fail "Go $GO_RUNTIME cannot be kept in $goroot"
	rm -rf "$new"
}

# old_go runs the fetched Go with nothing of the environment's Go settings.
old_go() {
	env -u GOBIN -u GOOS -u GOARCH -u GOAMD64 -u GODEBUG -u GOEXPERIMENT \
		GOROOT="$goroot" GOPATH="$gopath" GOENV=off GO111MODULE=off GOFLAGS= GOTOOLCHAIN=local CGO_ENABLED=0 \
		"$goroot/bin/go" "$@"
}

# old_build lays the sources, and the one module they need, into a GOPATH.
old_build() {
	router=$(downloaded github.com/julienschmidt/httprouter "$here")
	[ -n "$router" ] || fail "httprouter cannot be had from the Go proxy ($(go env GOPROXY))"
	gopath=$(mktemp -d)
	trap 'rm -rf "$gopath"' EXIT
	trap 'exit 1' HUP INT TERM
	source=$gopath/src/bourdon.dev/targets/go
	mkdir -p "$source" "$gopath/src/github.com/julienschmidt"
	cp -R "$router" "$gopath/src/github.com/julienschmidt/httprouter"
	cp -R "$here/work" "$here/routes" "$here/$1" "$source"
	chmod -R u+w "$gopath"
	# What embed.go does for Go 1.16 and newer.
	{
		printf '// +build !go1.16\n\npackage routes\n\nvar text = `'
		cat "$here/routes/routes.txt"
		printf '`\n'
	} >"$source/routes/embed_old.go"
	# In GOPATH mode a newer Go takes on the defaults of Go 1.20, where the
	# ServeMux knows no patterns. Its own are asked for; an older Go reads a comment.
	printf '//go:debug default=go%s\n\npackage main\n' "${GO_RUNTIME%.*}" >"$source/$1/defaults.go"
	cd "$source"
	old_go build -o "$2" "./$1"
}

# usable fails with a line why the Go on PATH cannot build here. A Go before 1.21 cannot read our go.mod; a newer one
# fetches the Go named there, or says that it may not.
usable() {
	said=$(cd "$here" && go list -m 2>&1) && return
	case $said in
	*'invalid go version'*) said="$(go version) is too old; Go 1.26 or newer is needed" ;;
	esac
	echo "$said"
	return 1
}

command=${1:-}
goroot=$toolchains/go${GO_RUNTIME:-}
gopath=/nowhere
case $command:$# in
version:1)
	usable || exit
	if [ -z "${GO_RUNTIME:-}" ]; then cd "$here" && exec go version; fi
	fetch
	old_go version
	;;
build:3)
	if [ -z "${GO_RUNTIME:-}" ]; then cd "$here" && exec go build -trimpath -o "$3" "./$2"; fi
	fetch
	old_build "$2" "$3"
	;;
*) fail "say: version, or: build DIR BIN" ;;
esac
