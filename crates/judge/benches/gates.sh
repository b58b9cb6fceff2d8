#!/bin/sh
# Takes each gate of the diagnosis away, one after the other, in a copy of the working tree, and sees that its case fails: a gate that no case
# needs would be there for nothing. It takes some eight minutes.
set -eu
cd "$(dirname "$0")/../../.."
root=$PWD
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$copy"
diagnosis=$copy/crates/judge/src/diagnosis

# Which file of the diagnosis, what a line of it says, what it says without the gate, and the case that must fail then.
gates='
thresholds|CPU_FULL: f64 = 0.7|CPU_FULL: f64 = 1e9|a_full_cpu_is_not_a_limit_of_requests_at_once
thresholds|GENERATOR_FULL: f64 = 0.8|GENERATOR_FULL: f64 = 1e9|a_busy_generator_is_not_a_limit_of_requests_at_once
signs|let lacked = reading.cpus_taken() + reading.throttled()|let lacked = reading.cpus_taken()|a_quota_of_cpu_is_not_a_limit_of_requests_at_once
signs|own + taken >= CPU_FULL \&\& taken > own|own + taken >= 1e9|what_was_tried_while_others_had_the_cpu_is_tried_again
signs|if is_too_short|if false|a_server_that_takes_long_is_not_said_to_work_on_few_at_once
signs|failed as f64 > ALLOWED_FAILURES \* of as f64|failed > of|half_of_the_requests_failing_is_no_limit_of_the_others
signs|if reading.throttled() >= THROTTLED {|if reading.throttled() >= 1e9 {|light_requests_that_wait_for_a_heavy_one_are_found_with_how_long
signs|alone_s < SLOW_ALONE \* heavy_s|alone_s < 1e9|light_requests_that_are_slow_anyhow_do_not_wait_for_heavy_ones
signs|Suspect::MemoryGrowth if case.jvm|Suspect::MemoryGrowth if false|of_the_memory_of_a_jvm_nothing_is_said
signs|GROWN_BYTES.max(BYTES_A_REQUEST \* requests)|GROWN_BYTES|a_heap_that_grows_by_some_bytes_a_request_is_not_a_leak
signs|if is_few|if false|threads_of_a_pool_that_fills_are_not_kept_for_good
signs|Some(trips) if asks(reading)|Some(trips) if true|what_was_not_named_or_not_asked_is_not_known
limit|} else if !are_equal(delayed, four, 2.0 \* EQUAL) {|} else if false {|what_connections_hold_even_once_closed_is_not_a_limit_of_requests_at_once
limit|} else if !mean(&rates(arms.settled)).*|} else if false {|a_pool_that_grows_while_it_is_busy_has_no_size_yet
limit|(!again).then_some|(false).then_some|a_server_that_becomes_slower_is_not_held_against_what_it_was
case|acknowledges_late(\&self) -> bool {|acknowledges_late(\&self) -> bool { return false;|replies_that_wait_for_an_acknowledgement_are_found
case|fn is_whole(cell: \&CellPlan, record: \&TrialRecord) -> bool {|fn is_whole(cell: \&CellPlan, record: \&TrialRecord) -> bool { return true;|of_a_server_that_has_no_more_room_smaller_doses_tell
growth|if !linear {|if false {|memory_that_is_kept_is_told_from_a_cache_that_fills
growth|} else if grows_idle {|} else if false {|what_grows_with_time_is_not_kept_of_requests
'

# try FILTER...: the tests of the copy's judge.
try() {
    cd "$copy" && CARGO_TARGET_DIR=$root/target/gates RUSTFLAGS="${RUSTFLAGS:-} --cap-lints=allow" \
        cargo test -q -p bourdon-judge --lib --locked -- "$@" 2>&1
}

# passes CASE: whether the case is there, and passes.
passes() {
    said=$(try --exact "diagnosis::tests::$1" "diagnosis::tests::gates::$1" "diagnosis::tests::upstream::$1") &&
        echo "$said" | grep -q '1 passed' && return 0
    echo "$said" | grep -q 'test result: FAILED' && return 1
    echo "$said" >&2
    echo "prove-gates: $1 could not be run" >&2
    exit 1
}

(try diagnosis::tests >/dev/null) || { echo "prove-gates: a test of the diagnosis fails with all gates in place" >&2; exit 1; }
needless=0
while IFS='|' read -r file gate without case; do
    [ -n "$file" ] || continue
    source=$diagnosis/$file.rs
    cp "$source" "$copy/kept"
    sed -i "s@$gate@$without@" "$source"
    cmp -s "$source" "$copy/kept" && { echo "prove-gates: $file.rs does not say: $gate" >&2; exit 1; }
    if passes "$case"; then
        echo "NEEDLESS  $case passes without: $gate"
        needless=1
    else
        echo "fails     $case"
    fi
    cp "$copy/kept" "$source"
done <<END
$gates
END
exit $needless
