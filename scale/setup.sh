#!/bin/sh
# The server of messages that the tests of nodes talk through, built from its Go module; without Go those tests are left out, which is said.
set -eu
cd "$(dirname "$0")/.."

version=v2.15.2
tools="${CARGO_TARGET_DIR:-$PWD/target}/tools"

if ! command -v go >/dev/null; then
    echo "NOT TESTED: no go on PATH: nodes need a nats-server to be tested (get Go from https://go.dev/dl)"
    exit 0
fi
if [ -x "$tools/nats-server" ] && [ "$("$tools/nats-server" --version)" = "nats-server: $version" ]; then
    exit 0
fi
mkdir -p "$tools"
GOBIN="$tools" GOFLAGS=-mod=mod go install "github.com/nats-io/nats-server/v2@$version"
