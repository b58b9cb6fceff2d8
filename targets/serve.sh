# For the launchers of servers that, told to stop, would cut off requests in flight. Sourced by them.

# Runs a server, its stderr in $SCRATCH/stderr, and stays as its parent until it has ended. Told to stop, asks it by
# this signal to end gracefully. Leaves its process in `server`, its status in `status`, and in `told` whether it was
# told to stop (empty if not).
serve() { # SIGNAL COMMAND [ARGUMENT...]
    signal=$1 server='' told=''
    shift
    trap 'told=yes; kill -s "$signal" "$server" 2>/dev/null' TERM INT
    "$@" 2>"$SCRATCH/stderr" &
    server=$!
    # Told before it was there.
    [ -z "$told" ] || kill -s "$signal" "$server" 2>/dev/null
    wait "$server"
    status=$?
    # A signal ends the wait, not the server.
    while kill -0 "$server" 2>/dev/null; do
        wait "$server"
        status=$?
    done
}
