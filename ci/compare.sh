#!/bin/sh
# Is this change slower? Compares two revisions of the repository in the working directory and writes the answer as
# Markdown, fit for a comment. The exit status is bourdon's: 1 when a gate failed, 3 when one is undecided.
#
#   BOURDON_RUN      the command that launches the server, with $PORT in it (needed)
#   BOURDON_BUILD    the command that builds it
#   BOURDON_BASE     the old revision [origin/main]
#   BOURDON_HEAD     the new revision [HEAD]
#   BOURDON_GATE     how much worse it may become, such as 'cpu_per_request<+3%, p99<+25%'
#   BOURDON_UNDECIDED  `pass` lets a gate pass that is undecided, unless nothing could be compared at all
#   BOURDON_OPTIONS  further options of `bourdon compare`, parted by blanks, such as '--path /api -c 100'
#   BOURDON_COMMENT  the file that the answer is written to [bourdon-comment.md]
#   BOURDON_SITE     a folder that gets the pages of the runs, for a host of static pages; none unless it is set
#   BOURDON_RUNS     the folder that the runs are recorded in [runs]
#   BOURDON          the program [bourdon]
set -eu

: "${BOURDON_RUN:?is not set: give the command that launches the server, such as './server --port \$PORT'}"
comment=${BOURDON_COMMENT:-bourdon-comment.md}
runs=${BOURDON_RUNS:-runs}

set -- --rev "${BOURDON_BASE:-origin/main}" --rev "${BOURDON_HEAD:-HEAD}" --run "$BOURDON_RUN" --runs "$runs"
[ -z "${BOURDON_BUILD:-}" ] || set -- "$@" --build "$BOURDON_BUILD"
[ -z "${BOURDON_GATE:-}" ] || set -- "$@" --gate "$BOURDON_GATE"
[ -z "${BOURDON_GATE:-}" ] || [ "${BOURDON_UNDECIDED:-}" != pass ] || set -- "$@" --allow-undecided

status=0
# shellcheck disable=SC2086 # the options are parted by blanks
"${BOURDON:-bourdon}" compare "$@" ${BOURDON_OPTIONS:-} --format markdown > "$comment" || status=$?
if [ ! -s "$comment" ]; then
    echo "bourdon could not compare the two (exit status $status); the log of this job says why." > "$comment"
fi
cat "$comment"
# Its status says again what the runs came to.
[ -z "${BOURDON_SITE:-}" ] || "${BOURDON:-bourdon}" site "$runs" -o "$BOURDON_SITE" >&2 || true
[ -z "${GITHUB_STEP_SUMMARY:-}" ] || cat "$comment" >> "$GITHUB_STEP_SUMMARY"
exit "$status"
