#!/bin/sh
# The languages' own tests of what the targets share. A missing toolchain is reported and does not fail.
set -eu
cd "$(dirname "$0")/.."

here() {
    command -v "$1" >/dev/null && return
    echo "NOT TESTED: no $1 on PATH: the $2 targets' own tests were not run (get it from $3)"
    return 1
}

if here go Go https://go.dev/dl; then
    for module in targets/go interop/hlog; do
        (cd $module && unformatted=$(gofmt -l .) && { [ -z "$unformatted" ] || { echo "gofmt: $unformatted"; exit 1; }; } &&
            go vet ./... && go test ./...)
    done
fi
if here mvn Java https://maven.apache.org && here java Java https://adoptium.net; then sh targets/java/test.sh; fi
if here node Node https://nodejs.org; then (cd targets/node && node --test --test-reporter=dot work/ http-work/); fi
if here php PHP "Debian's php-cli"; then php targets/php/work/work_test.php && php targets/php/work/kinds_test.php; fi
export CARGO_TARGET_DIR="$PWD/target/rust-targets"
(cd targets/rust && cargo fmt --all --check && cargo clippy --all-targets --locked -- -D warnings && cargo test --locked --quiet)
