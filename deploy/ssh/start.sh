#!/bin/sh
# Starts `bourdon node` on each host over ssh and ends them when this ends. Each host has bourdon on its PATH; the key and the URL are sent along
# and kept in memory there. A URL with a password stands in a file, which is named with an @ before it. For example:
#   sh deploy/ssh/start.sh key nats://10.0.0.1 10.0.0.7:8080 host1 host2 host3
set -eu

if [ $# -lt 4 ]; then
    echo "usage: $0 KEY-FILE NATS-URL ALLOWED-ADDRESS HOST..." >&2
    exit 2
fi
[ "$(grep -c . "$1")" -eq 1 ] || { echo "$0: $1 is to hold a secret of one line" >&2; exit 2; }
key=$1 nats=$2 allow=$3
case $nats in @*) nats=$(cat "${nats#@}") ;; esac
shift 3
ssh=${SSH:-ssh}
started=

end() {
    trap - EXIT
    # Each ssh ends what it started: its stdin is the node's life.
    for pid in $started; do kill "$pid" 2>/dev/null || :; done
    # What feeds them, too.
    pkill -P $$ 2>/dev/null || :
}
trap 'end; exit 130' INT TERM HUP
trap end EXIT

for host in "$@"; do
    # The first two lines are the URL and the key; when stdin ends, so does the node. Without job control a shell gives what runs beside it no stdin, so that it is
    # handed on as 3.
    sleep 2147483647 | { printf '%s\n' "$nats"; cat "$key"; echo; cat; } |
        $ssh "$host" 'exec 3<&0; read -r nats <&3; read -r secret <&3; dir=$(mktemp -d /dev/shm/bourdon.XXXXXX); chmod 700 "$dir"; printf %s "$secret" > "$dir/key"; printf %s "$nats" > "$dir/nats"
            bourdon node --nats "@$dir/nats" --key "$dir/key" --allow '"'$allow'"' & node=$!
            trap "kill $node 2>/dev/null; rm -rf $dir" EXIT; trap "exit 1" HUP INT TERM
            { cat <&3; kill "$node"; } > /dev/null 2>&1 & wait "$node"' &
    started="$started $!"
done
wait
