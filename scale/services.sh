#!/bin/sh
# A machine of its own whose first process is systemd: a copy of this one's files that keeps no change, with a network of its own. Runs COMMAND
# there as root, with FOLDER as /shared, and halts it: what COMMAND exits with it exits with.
#   sh scale/services.sh FOLDER COMMAND
# It needs root and Debian's systemd-container (installed if it is missing).
set -eu
. "$(dirname "$0")/cgroups.sh"
folder=$(realpath "${1:?"usage: $0 FOLDER COMMAND"}") command=${2:?"usage: $0 FOLDER COMMAND"}
[ "$(id -u)" = 0 ] || { echo "a machine of its own needs root" >&2; exit 1; }
command -v systemd-nspawn >/dev/null || apt-get install -y -qq --no-install-recommends systemd-container dbus >/dev/null

work=$(mktemp -d)
name=$(basename "$work")
machine=
ended() {
    [ -z "$machine" ] || kill -9 $machine 2>/dev/null || true
    wait
    remove_cgroups "$name"
    rm -rf --one-file-system "$work"
}
trap ended EXIT
trap 'exit 130' INT TERM HUP
rm -f "$folder/status"
mkdir "$work/root"
cat >"$work/shared.service" <<END
[Unit]
After=basic.target dbus.socket
[Service]
Type=oneshot
TimeoutStartSec=300
StandardOutput=append:/shared/said
StandardError=append:/shared/said
ExecStart=/bin/sh -c '$command; echo \$? >/shared/status'
ExecStopPost=/bin/systemctl poweroff --no-block
END
make_cgroups "$name"
# In groups of its own, under which it makes more. What is mounted there is seen by nobody else, and gone with it; all its processes end with
# the first one.
cat >"$work/boot" <<END
for root in $(hierarchies | tr '\n' ' '); do
    echo \$\$ >"\$root/$name/cgroup.procs"
done
mount --bind / "$work/root"
mount -t tmpfs -o mode=755 bourdon-services /run
exec systemd-nspawn --quiet --boot --volatile=overlay --directory="$work/root" --register=no --keep-unit --private-network \
    --bind="$folder:/shared" --bind-ro="$work/shared.service:/etc/systemd/system/shared.service" systemd.wants=shared.service
END
unshare --mount --propagation private --pid --fork --mount-proc --kill-child sh "$work/boot" </dev/null >"$work/console" 2>&1 &
machine=$!
wait $machine || true
[ -e "$folder/status" ] || tail -n 20 "$work/console" >&2
exit "$(cat "$folder/status")"
