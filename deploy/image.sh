#!/bin/sh
# An OCI image of bourdon from a static binary, as a tar that containerd and podman read; without Docker.
#   sh deploy/image.sh bourdon.tar
# It needs the target x86_64-unknown-linux-gnu with a static C library (on Debian libc6-dev has it), tar, gzip and sha256sum.
set -eu
umask 022
out=$(realpath -m "${1:?"usage: $0 IMAGE.tar"}")
cd "$(dirname "$0")/.."

target=$(rustc -vV | sed -n 's/^host: //p')
RUSTFLAGS="-C target-feature=+crt-static" cargo build --release --locked -p bourdon --target "$target"
binary="${CARGO_TARGET_DIR:-target}/$target/release/bourdon"
if ldd "$binary" 2>&1 | grep -q '=>'; then
    echo "$binary is not static" >&2
    exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
blobs="$work/blobs/sha256"
mkdir -p "$blobs" "$work/root/usr/local/bin" "$work/root/tmp"
cp "$binary" "$work/root/usr/local/bin/bourdon"
chmod 755 "$work/root/usr/local/bin/bourdon"
chmod 1777 "$work/root/tmp"

# The same files make the same image: no times, no owners.
tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C "$work/root" -cf "$work/layer.tar" .
diff=$(sha256sum "$work/layer.tar" | cut -d' ' -f1)
gzip -n -9 "$work/layer.tar"

# Puts a file among the blobs, under its digest; gives that and its size.
blob() {
    digest=$(sha256sum "$1" | cut -d' ' -f1)
    size=$(wc -c < "$1")
    mv "$1" "$blobs/$digest"
}
blob "$work/layer.tar.gz"
layer=$digest layer_size=$size

arch=$(uname -m | sed 's/x86_64/amd64/; s/aarch64/arm64/')
printf '{"architecture":"%s","os":"linux","config":{"Entrypoint":["/usr/local/bin/bourdon"],"User":"65534"},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' \
    "$arch" "$diff" > "$work/config.json"
blob "$work/config.json"
config=$digest config_size=$size

printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":"sha256:%s","size":%d},"layers":[{"mediaType":"application/vnd.oci.image.layer.v1.tar+gzip","digest":"sha256:%s","size":%d}]}' \
    "$config" "$config_size" "$layer" "$layer_size" > "$work/manifest.json"
blob "$work/manifest.json"

printf '{"schemaVersion":2,"manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:%s","size":%d,"annotations":{"org.opencontainers.image.ref.name":"bourdon:latest","io.containerd.image.name":"docker.io/library/bourdon:latest"}}]}' \
    "$digest" "$size" > "$work/index.json"
printf '{"imageLayoutVersion":"1.0.0"}' > "$work/oci-layout"
tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C "$work" -cf "$out" blobs index.json oci-layout
echo "$out: sha256:$digest"
