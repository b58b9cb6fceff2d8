#!/bin/sh
# launch.sh [PUBLIC]: reads the settings, starts Apache with httpd.conf, and stays as its parent: told to stop, Apache itself would cut off
# requests in flight at once, so it is asked to end gracefully instead. All files are in $SCRATCH.
set -u
here=$(dirname "$0")
public=${1:-$here/public}
. "$here/../../serve.sh"
PATH=$PATH:/usr/sbin

fail() { # STATUS TEXT
    printf 'php-apache: %s\n' "$2" >&2
    exit "$1"
}

# Prints a whole number without leading zeros, which the shell would take for octal; fails if it is none.
number() { # TEXT
    case $1 in
    '' | *[!0-9]* | ??????????*) return 1 ;;
    esac
    digits=${1#"${1%%[!0]*}"}
    echo "${digits:-0}"
}

whole() { # NAME VALUE LEAST MOST
    count=$(number "$2") && [ "$count" -ge "$3" ] && [ "$count" -le "$4" ] && echo "$count" && return
    fail 2 "$1=\"$2\" cannot be used; set it to a whole number from $3 to $4"
}

milliseconds() { # NAME VALUE
    case $2 in
    *ms) count=$(number "${2%ms}") && echo "$count" && return ;;
    *s) count=$(number "${2%s}") && echo $((count * 1000)) && return ;;
    esac
    fail 2 "$1=\"$2\" is not a duration; set it to a number with a unit, such as 10ms or 1s, or leave it unset"
}

[ -n "${PORT:-}" ] || fail 2 "PORT is not set; set it to the TCP port to listen on, such as PORT=8080"
PORT=$(whole PORT "$PORT" 1 65535) || exit
ADDRESS=$(address "${ADDRESS:-}") || exit
ADMIN_PORT=$([ -z "${ADMIN_PORT:-}" ] || whole ADMIN_PORT "$ADMIN_PORT" 1 65535) || exit
[ "$ADMIN_PORT" != "$PORT" ] ||
    fail 2 "ADMIN_PORT=$ADMIN_PORT is the same as PORT; give it a port of its own or leave it unset"
MAX_REQUEST_WORKERS=$(whole MAX_REQUEST_WORKERS "${MAX_REQUEST_WORKERS:-150}" 1 20000) || exit
MAX_KEEP_ALIVE_REQUESTS=$(whole MAX_KEEP_ALIVE_REQUESTS "${MAX_KEEP_ALIVE_REQUESTS:-100}" 0 999999999) || exit
SERVER_LIMIT=$((MAX_REQUEST_WORKERS > 256 ? MAX_REQUEST_WORKERS : 256))
HANDLER_DELAY_MS=$(milliseconds HANDLER_DELAY "${HANDLER_DELAY:-0ms}") || exit
HANDLER_DELAY_US=$((HANDLER_DELAY_MS * 1000))
RENDERING=${RENDERING:-bytes}
case $RENDERING in
bytes | framework) ;;
*) fail 2 "RENDERING=\"$RENDERING\" is not known; set it to bytes or framework, or leave it unset" ;;
esac
DIGEST=${DIGEST:-php}
case $DIGEST in
php | php-at-once | openssl) ;;
*) fail 2 "DIGEST=\"$DIGEST\" is not known; set it to php, php-at-once or openssl, or leave it unset" ;;
esac

idle=$(milliseconds IDLE_TIMEOUT "${IDLE_TIMEOUT:-5s}") || exit
# Apache has no word for no timeout here; a year is as good.
[ "$idle" -gt 0 ] || idle=31536000000
KEEP_ALIVE_TIMEOUT=${idle}ms

HEADER_TIMEOUT=20-40,minrate=500
if [ -n "${READ_HEADER_TIMEOUT:-}" ]; then
    header=$(milliseconds READ_HEADER_TIMEOUT "$READ_HEADER_TIMEOUT") || exit
    [ $((header % 1000)) -eq 0 ] ||
        fail 2 "READ_HEADER_TIMEOUT=\"$READ_HEADER_TIMEOUT\" cannot be used; Apache counts whole seconds: set it to such as 1s"
    HEADER_TIMEOUT=$((header / 1000))
fi

# The workers run as www-data if this runs as root; it is they who read the file.
as_worker= options=
if [ "$(id -u)" -eq 0 ]; then
    as_worker="setpriv --reuid=www-data --regid=www-data --clear-groups" options=-DAS_ROOT
fi
DATA_FILE=${DATA_FILE:-}
if [ -n "$DATA_FILE" ]; then
    cure="set it to a file that the user of Apache's workers can read, or leave it unset to do without /hash"
    [ -f "$DATA_FILE" ] || fail 2 "DATA_FILE=\"$DATA_FILE\" cannot be used (not a regular file); $cure"
    DATA_FILE=$(realpath "$DATA_FILE")
    $as_worker test -r "$DATA_FILE" || fail 2 "DATA_FILE=\"$DATA_FILE\" cannot be used (it may not be read); $cure"
fi
[ -d "${SCRATCH:-}" ] || fail 2 "SCRATCH=\"${SCRATCH:-}\" is not a folder; set it to an empty one for Apache's files"

# Of php-apache-work alone.
work() {
    case ${CONNECTION:-for-each-request} in
    for-each-request | persistent) ;;
    *) fail 2 "CONNECTION=\"$CONNECTION\" is not known; set it to for-each-request or persistent, or leave it unset" ;;
    esac
    case ${JIT:-off} in
    off) ;;
    tracing)
        mkdir "$SCRATCH/ini" && printf 'opcache.jit=tracing\nopcache.jit_buffer_size=64M\n' >"$SCRATCH/ini/jit.ini" ||
            fail 1 "SCRATCH=\"$SCRATCH\" cannot be filled; set it to an empty folder"
        # An empty one stands for Debian's own.
        export PHP_INI_SCAN_DIR=":$SCRATCH/ini"
        ;;
    *) fail 2 "JIT=\"$JIT\" is not known; set it to off or tracing, or leave it unset" ;;
    esac
    case ${WORK:-sleep} in
    sleep | cpu | file | http) return ;;
    sqlite) ;;
    *) fail 2 "WORK=\"$WORK\" is not known; set it to sleep, cpu, file, sqlite or http, or leave it unset" ;;
    esac
    WORK_DATABASE=$SCRATCH/work.sqlite
    said=$(php "$here/../apache-work/fill.php" "${WORK_FILE:-}" "$WORK_DATABASE" 2>&1) && return
    said=$(echo "$said" | grep -v '^$' | head -n 1)
    fail 2 "WORK_FILE=\"${WORK_FILE:-}\" cannot be put into SQLite ($said); set it to a file with lines \`key TAB value\`"
}
[ -z "${1:-}" ] || work

# The workers must be able to read the scripts, wherever these are.
mkdir "$SCRATCH/www" && cp -R "$public" "$SCRATCH/www/public" && cp -R "$here/admin" "$here/../work" "$SCRATCH/www" && chmod -R a+rX "$SCRATCH" ||
    fail 1 "SCRATCH=\"$SCRATCH\" cannot be filled; set it to an empty folder"

[ -z "$ADMIN_PORT" ] || options="$options -DADMIN"
export ADDRESS PORT ADMIN_PORT SCRATCH MAX_REQUEST_WORKERS MAX_KEEP_ALIVE_REQUESTS SERVER_LIMIT KEEP_ALIVE_TIMEOUT
export HEADER_TIMEOUT HANDLER_DELAY_US DATA_FILE RENDERING DIGEST WORK WORK_FILE WORK_DATABASE BACKEND CONNECTION
# In a session of its own: when Apache ends, it sends TERM to its whole process group.
# shellcheck disable=SC2086 # the options are words
serve WINCH setsid apache2 -D FOREGROUND $options -f "$(realpath "$here")/httpd.conf"
# A worker with a connection that is kept open may be left over.
kill -s KILL -- "-$server" 2>/dev/null
[ -z "$told" ] || exit 0

taken=$(sed -n 's/.*Address already in use.*address \([0-9.]*:[0-9]*\).*/\1/p' "$SCRATCH/stderr" | head -n 1)
if [ -n "$taken" ]; then
    name=PORT port=${taken#*:}
    [ "$port" = "$PORT" ] || name=ADMIN_PORT
    fail 1 "$name=$port: $taken is already in use; stop what listens there or set $name to a free port"
fi
fail 1 "Apache ended by itself with status $status: $(cat "$SCRATCH/stderr" "$SCRATCH/error.log" 2>/dev/null | tail -n 1)"
