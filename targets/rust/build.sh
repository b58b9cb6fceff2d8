#!/bin/sh
# build.sh PACKAGE RESULT: builds a target's program in a temporary folder and copies it to RESULT. Nothing is written
# here.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
cargo build --release --locked --target-dir "$folder" -p "$1"
cp "$folder/release/$1" "$2"
