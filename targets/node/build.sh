#!/bin/sh
# build.sh TARGET RESULT: copies a target and the shared code into the folder RESULT and installs there what their
# lock files name. Nothing is written here.
set -eu
mkdir "$2"
cp -R "$1" work "$2"
for part in "$2/work" "$2/$1"; do
    if [ -f "$part/package-lock.json" ]; then
        (cd "$part" && npm ci --omit=dev --ignore-scripts --no-audit --no-fund)
    fi
done
