#!/bin/sh
# The page of a run in a browser. What is missing is reported and does not fail.
set -eu
cd "$(dirname "$0")"

not_tested() {
    echo "NOT TESTED: $1: report.html was not opened in a browser"
    exit 0
}

said=$(sh ../targets/node/toolchain.sh 2>&1) || not_tested "$said (get it from https://nodejs.org)"
CHROMIUM=$(command -v "${CHROMIUM:-chromium}") || not_tested "no chromium on PATH (make setup installs Debian's)"
export CHROMIUM
npm ci --no-audit --no-fund --loglevel=error >/dev/null || not_tested "npm could not install what package-lock.json names"
exec node "$@"
