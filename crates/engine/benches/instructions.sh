#!/bin/sh
# Instructions of the load loop for each request, counted by callgrind over the simulated server of hot_path.rs. A count,
# unlike a time, does not change with what else the machine does. BASE=REV counts those of another revision too.
set -eu
cd "$(dirname "$0")/../../.."

# What a load costs once (its histograms, above all) falls out of the difference of two lengths.
short_ms=100
long_ms=900

fail() {
    echo "bench-instructions: $1" >&2
    exit 1
}

# build CHECKOUT TARGET_DIR: the path of its bench.
build() {
    grep -q HOT_PATH_WINDOW_MS "$1/crates/engine/benches/hot_path.rs" ||
        fail "the bench of $BASE knows one length only: take a later revision"
    messages=$(cd "$1" && CARGO_TARGET_DIR=$2 cargo bench -q -p bourdon-engine --bench hot_path --no-run --locked \
        --message-format=json) || fail "the bench of ${BASE:-this revision} cannot be built"
    echo "$messages" | sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1
}

# count BENCH LOAD MS: instructions of one load of that length.
count() {
    HOT_PATH_WINDOW_MS=$3 valgrind --tool=callgrind --callgrind-out-file=/dev/null "$1" --test "$2" 2>&1 |
        sed -n 's/.*Collected : //p'
}

# per_request BENCH LOAD REQUESTS_PER_MS
per_request() {
    short=$(count "$1" "$2" "$short_ms")
    long=$(count "$1" "$2" "$long_ms")
    [ -n "$short" ] && [ -n "$long" ] || fail "callgrind counted nothing: try valgrind --tool=callgrind $1 --test $2"
    awk "BEGIN { printf \"%.1f\", ($long - $short) / (($long_ms - $short_ms) * $3) }"
}

command -v valgrind >/dev/null || fail "valgrind is not on PATH: apt-get install valgrind"

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
here=$(build . "$target")

base=
if [ -n "${BASE:-}" ]; then
    checkout=$(mktemp -d)
    trap 'git worktree remove --force "$checkout/base" 2>/dev/null || true; rm -r "$checkout"' EXIT
    trap 'exit 130' INT TERM
    git worktree add --quiet --detach "$checkout/base" "$BASE"
    base=$(build "$checkout/base" "$target/bench-instructions")
fi

echo "instructions a request${base:+: $BASE, here, ratio}"
for load in "closed_load 50" "pipelined_load 800" "open_load 50"; do
    now=$(per_request "$here" $load)
    if [ -n "$base" ]; then
        before=$(per_request "$base" $load)
        awk "BEGIN { printf \"%-16s%10.1f%10.1f%8.4f\\n\", \"${load% *}\", $before, $now, $now / $before }"
    else
        printf '%-16s%10.1f\n' "${load% *}" "$now"
    fi
done
