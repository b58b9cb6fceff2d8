# To be read by scripts: groups of processes of one name, in each hierarchy there is.

# The roots of hierarchies: of version 2 there is one, whose folders are groups.
hierarchies() {
    for root in /sys/fs/cgroup /sys/fs/cgroup/*; do
        if [ -e "$root/cgroup.procs" ] && ! [ -e "$root/cgroup.type" ]; then
            echo "$root"
        fi
    done
}

make_cgroups() { # NAME
    for root in $(hierarchies); do
        mkdir -p "$root/$1"
        # Of version 1: a new group has none of the parent's CPUs before it is given them.
        for what in cpus mems; do
            [ ! -e "$root/cpuset.$what" ] || cat "$root/cpuset.$what" >"$root/$1/cpuset.$what"
        done
    done
}

# Removes them and those within, once the processes in them have ended; five seconds at most.
remove_cgroups() { # NAME
    for _ in $(seq 50); do
        left=$(find /sys/fs/cgroup -depth -type d -path "*/$1*" ! -exec rmdir {} ';' -print 2>/dev/null)
        [ -n "$left" ] || return 0
        sleep 0.1
    done
    echo "groups of processes remain: $left" >&2
}
