#!/bin/sh
# An OCI image of one static binary, as a tar that containerd and podman read; without Docker.
#   sh deploy/oci.sh NAME:TAG BINARY IMAGE.tar
# It needs tar, gzip and sha256sum.
set -eu
umask 022
usage="usage: $0 NAME:TAG BINARY IMAGE.tar"
name=${1:?"$usage"} binary=${2:?"$usage"} out=${3:?"$usage"}
path=/usr/local/bin/$(basename "$binary")

# Of a program that needs libraries `ldd` names them.
if ldd "$binary" 2>&1 | grep -q '=>'; then
    echo "$binary is not static" >&2
    exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
blobs="$work/blobs/sha256"
mkdir -p "$blobs" "$work/root/usr/local/bin" "$work/root/tmp"
cp "$binary" "$work/root$path"
chmod 755 "$work/root$path"
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
printf '{"architecture":"%s","os":"linux","config":{"Entrypoint":["%s"],"User":"65534"},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' \
    "$arch" "$path" "$diff" > "$work/config.json"
blob "$work/config.json"
config=$digest config_size=$size

printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":"sha256:%s","size":%d},"layers":[{"mediaType":"application/vnd.oci.image.layer.v1.tar+gzip","digest":"sha256:%s","size":%d}]}' \
    "$config" "$config_size" "$layer" "$layer_size" > "$work/manifest.json"
blob "$work/manifest.json"

printf '{"schemaVersion":2,"manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:%s","size":%d,"annotations":{"org.opencontainers.image.ref.name":"%s","io.containerd.image.name":"docker.io/library/%s"}}]}' \
    "$digest" "$size" "$name" "$name" > "$work/index.json"
printf '{"imageLayoutVersion":"1.0.0"}' > "$work/oci-layout"
tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C "$work" -cf "$out" blobs index.json oci-layout
echo "$out: $name, sha256:$digest"
