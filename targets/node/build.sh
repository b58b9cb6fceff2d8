#!/bin/sh
# build.sh TARGET RESULT: copies a target and the shared code into the folder RESULT and installs there what their
# lock files name, and the Node of runtimes/$NODE_RUNTIME if that is set. Nothing is written here.
set -eu
mkdir "$2"
cp -R "$1" work "$2"
for part in "$2/work" "$2/$1"; do
    if [ -f "$part/package-lock.json" ]; then
        (cd "$part" && npm ci --omit=dev --ignore-scripts --no-audit --no-fund)
    fi
done
if [ -n "${NODE_RUNTIME:-}" ]; then
    fetched=$2/fetched
    cp -R "runtimes/$NODE_RUNTIME" "$fetched"
    (cd "$fetched" && npm ci --omit=dev --ignore-scripts --no-audit --no-fund)
    # Of it the program is needed alone.
    mkdir "$2/runtime" && mv "$fetched"/node_modules/*/bin/node "$2/runtime/node"
    rm -r "$fetched"
fi
