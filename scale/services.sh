#!/bin/sh
# A machine of its own whose first process is systemd: a copy of this one's files that keeps no change, with a network of its own. Runs COMMAND
# there as root, with FOLDER as /shared, and halts it: what COMMAND exits with it exits with.
#   sh scale/services.sh FOLDER COMMAND
# It needs root and Debian's systemd-container (installed if it is missing).
set -eu
folder=$(realpath "${1:?"usage: $0 FOLDER COMMAND"}") command=${2:?"usage: $0 FOLDER COMMAND"}
[ "$(id -u)" = 0 ] || { echo "a machine of its own needs root" >&2; exit 1; }
command -v systemd-nspawn >/dev/null || apt-get install -y -qq --no-install-recommends systemd-container dbus >/dev/null

work=$(mktemp -d)
mkdir "$work/root"
cat >"$work/shared.service" <<END
[Unit]
After=basic.target dbus.socket
[Service]
Type=oneshot
StandardOutput=append:/shared/said
StandardError=append:/shared/said
ExecStart=/bin/sh -c '$command; echo \$? >/shared/status'
ExecStopPost=/bin/systemctl poweroff --no-block
END
# What is mounted there is seen by nobody else, and gone with it.
unshare --mount sh -c 'mount --bind / "$1/root"; exec timeout -k 5 180 systemd-nspawn --quiet --boot --volatile=overlay --directory="$1/root" --register=no --keep-unit \
    --private-network --bind="$2:/shared" --bind-ro="$1/shared.service:/etc/systemd/system/shared.service" systemd.wants=shared.service' \
    - "$work" "$folder" </dev/null >"$work/console" 2>&1 || true
[ -e "$folder/status" ] || tail -n 20 "$work/console" >&2
rm -rf --one-file-system "$work"
exit "$(cat "$folder/status")"
