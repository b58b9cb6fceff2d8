#!/bin/sh
# An OCI image of bourdon from a static binary, as a tar that containerd and podman read; without Docker.
#   sh deploy/image.sh bourdon.tar
# It needs the target x86_64-unknown-linux-gnu with a static C library (on Debian libc6-dev has it), tar, gzip and sha256sum.
set -eu
out=$(realpath -m "${1:?"usage: $0 IMAGE.tar"}")
cd "$(dirname "$0")/.."

target=$(rustc -vV | sed -n 's/^host: //p')
RUSTFLAGS="-C target-feature=+crt-static" cargo build --release --locked -p bourdon --target "$target"
sh deploy/oci.sh bourdon:latest "${CARGO_TARGET_DIR:-target}/$target/release/bourdon" "$out"
