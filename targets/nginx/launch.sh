#!/bin/sh
# Reads the settings, starts nginx with a configuration in $SCRATCH, and stays as its parent: told to stop, nginx itself
# would cut off requests in flight at once, so it is asked to end gracefully instead.
set -u
here=$(dirname "$0")
. "$here/../serve.sh"
PATH=$PATH:/usr/sbin

fail() { # STATUS TEXT
    printf 'nginx: %s\n' "$2" >&2
    exit "$1"
}

whole() { # NAME VALUE MOST
    case $2 in
    '' | 0* | *[!0-9]* | ??????????*) ;;
    *) [ "$2" -le "$3" ] && return ;;
    esac
    fail 2 "$1=\"$2\" cannot be used; set it to a whole number from 1 to $3"
}

[ -n "${PORT:-}" ] || fail 2 "PORT is not set; set it to the TCP port to listen on, such as PORT=8080"
whole PORT "$PORT" 65535
address=$(address "${ADDRESS:-}") || exit
connections=${WORKER_CONNECTIONS:-768}
whole WORKER_CONNECTIONS "$connections" 1000000
[ -d "${SCRATCH:-}" ] || fail 2 "SCRATCH=\"${SCRATCH:-}\" is not a folder; set it to an empty one for nginx's files"

# The files keep their place; where there are none, nginx serves plainly.
tls=
case ${TLS_CERT:+c}${TLS_KEY:+k} in
'') ;;
ck) tls=" ssl; ssl_certificate $TLS_CERT; ssl_certificate_key $TLS_KEY" ;;
*) fail 2 "TLS_CERT=\"${TLS_CERT:-}\" with TLS_KEY=\"${TLS_KEY:-}\" cannot be used; set both to PEM files, or leave both unset" ;;
esac

# Each connection is an open file.
ulimit -S -n "$(ulimit -H -n)"

sed "s/@ADDRESS@/$address/; s/@PORT@/$PORT/; s|@TLS@|$tls|; s/@WORKER_CONNECTIONS@/$connections/" "$here/nginx.conf.in" >"$SCRATCH/nginx.conf" ||
    fail 1 "SCRATCH=\"$SCRATCH\" cannot be filled; set it to an empty folder"
user=
if [ "$(id -u)" -eq 0 ]; then
    user='user www-data;' # as Debian has it
fi
serve QUIT nginx -p "$SCRATCH" -c nginx.conf -g "$user"
[ -z "$told" ] || exit 0

if grep -q 'Address already in use' "$SCRATCH/stderr"; then
    fail 1 "PORT=$PORT: $address:$PORT is already in use; stop what listens there or set PORT to a free port"
fi
fail 1 "nginx ended by itself with status $status: $(tail -n 1 "$SCRATCH/stderr")"
