#!/bin/sh
# The page of a run in a browser. What is missing is reported and does not fail.
set -eu
cd "$(dirname "$0")"

not_tested() {
    echo "NOT TESTED: $1: report.html was not opened in a browser"
    exit 0
}

# Debian 12 has Node 18, which the browser's driver does not run on: the registry has a newer one. Debian's npm runs on its own alone.
NODE=node
if ! said=$(sh ../targets/node/toolchain.sh 2>&1); then
    command -v npm >/dev/null || not_tested "$said (make setup installs Debian's npm)"
    npm ci --prefix node --no-audit --no-fund --loglevel=error >/dev/null || not_tested "$said, and npm could not install a newer one"
    NODE=$(echo "$PWD"/node/node_modules/node-linux-*/bin/node)
fi
CHROMIUM=$(command -v "${CHROMIUM:-chromium}") || not_tested "no chromium on PATH (make setup installs Debian's)"
export CHROMIUM
npm ci --no-audit --no-fund --loglevel=error >/dev/null || not_tested "npm could not install what package-lock.json names"
exec "$NODE" "$@"
