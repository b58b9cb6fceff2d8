#!/bin/sh
# Runs a command with the JDK asked for: that of the release in JDK (JDK=25), or the `java` on PATH if JDK is unset.
#
#   java.sh java -jar app.jar   runs it in the place of this script, so that the JVM is the process
#   java.sh digest java …       the same, with the digests that DIGEST asks for
#   java.sh version             prints the first line of what the JDK says of itself; fails if it or Maven is missing
set -eu

oldest=17

# Release of the whole JDK in a folder, such as 25; nothing if there is none. Every JDK since 9 has the file
# `release`. Reading it takes no time; starting each JVM to ask would count as time to ready.
release_in() {
    [ -x "$1/bin/java" ] && [ -x "$1/bin/javac" ] && [ -r "$1/release" ] || return 0
    sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$1/release"
}

missing() {
    echo "$1"
    exit 1
}

if [ -n "${JDK:-}" ]; then
    wanted=$(printenv "JAVA_HOME_$JDK" || true)
    on_path=$(readlink -f "$(command -v java)" || true)
    home=
    for folder in "$wanted" "${JAVA_HOME:-}" /usr/lib/jvm/* "${on_path%/bin/java}"; do
        if [ "$(release_in "$folder")" = "$JDK" ]; then
            home=$folder
            break
        fi
    done
    [ -n "$home" ] || missing "there is no JDK $JDK in \$JAVA_HOME_$JDK, \$JAVA_HOME or /usr/lib/jvm, nor on PATH"
    export JAVA_HOME="$home" PATH="$home/bin:$PATH"
else
    # Maven would take a JDK from there rather than the one on PATH.
    unset JAVA_HOME
fi

flags=
# SHA-256 by the JDK's own Java, without what the JVM has for it.
if [ "${1:-}" = digest ]; then
    shift
    case ${DIGEST:-intrinsics} in
    intrinsics) ;;
    java) flags="-XX:+UnlockDiagnosticVMOptions -XX:-UseSHA256Intrinsics" ;;
    *)
        echo "DIGEST=\"$DIGEST\" is not known; set it to intrinsics or java, or leave it unset" >&2
        exit 2
        ;;
    esac
fi

# A heap of one size from the start, where the setting `heap` asks for it.
if [ "${1:-}" = java ] && [ -n "${HEAP:-}" ]; then
    number=${HEAP%[MG]iB}
    case $number in
    '' | 0* | *[!0-9]* | "$HEAP")
        echo "HEAP=\"$HEAP\" is not a size; set it to such as 256MiB or 2GiB, or leave it unset" >&2
        exit 2
        ;;
    esac
    case $HEAP in
    *M*) size=${number}m ;;
    *) size=${number}g ;;
    esac
    # All of it is touched at the start: else the process would grow with every request, whatever it holds.
    flags="$flags -Xms$size -Xmx$size -XX:+AlwaysPreTouch"
fi

case ${COLLECTOR:-auto} in
auto) ;;
g1) flags="$flags -XX:+UseG1GC" ;;
serial) flags="$flags -XX:+UseSerialGC" ;;
*)
    echo "COLLECTOR=\"$COLLECTOR\" is not known; set it to auto, g1 or serial, or leave it unset" >&2
    exit 2
    ;;
esac

if [ "${1:-}" = java ] && [ -n "$flags" ]; then
    shift
    # shellcheck disable=SC2086 # the flags are words
    set -- java $flags "$@"
fi

[ "${1:-}" = version ] || exec "$@"

command -v javac >/dev/null || missing "there is no JDK on PATH (no javac)"
command -v mvn >/dev/null || missing "there is no Maven on PATH (no mvn)"
said=$(java --version | head -n 1)
release=$(echo "$said" | sed -n 's/^[^0-9]*\([0-9]*\).*/\1/p')
[ "${release:-0}" -ge "$oldest" ] || missing "the java on PATH is older than $oldest: $said"
echo "$said"
