# For the launchers of servers that, told to stop, would cut off requests in flight. Sourced by them; each has a `fail STATUS TEXT`.

# Prints the address to listen on; fails if it is no IPv4 address.
address() { # VALUE
    case ${1:-127.0.0.1} in
    *[!0-9.]* | *.*.*.*.* | .* | *. | *..*) ;;
    *.*.*.*)
        wrong=
        for part in $(echo "${1:-127.0.0.1}" | tr . ' '); do
            [ ${#part} -le 3 ] && [ "$part" -le 255 ] || wrong=yes
        done
        [ -n "$wrong" ] || { echo "${1:-127.0.0.1}" && return; }
        ;;
    esac
    fail 2 "ADDRESS=\"$1\" is not an IPv4 address; set it to such as 0.0.0.0, or leave it unset for 127.0.0.1"
}

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
