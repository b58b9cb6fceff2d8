#!/bin/sh
# Installs what bourdon and the targets need from Debian's packages, where that is allowed, and says what else is missing.
set -eu

here=$(dirname "$0")
PATH=$PATH:/usr/sbin
policy=/usr/sbin/policy-rc.d
listed=

has() {
    command -v "$1" >/dev/null
}

missing() { # WHAT-FOR WORDS
    echo "missing for $1: $2"
}

# Each purpose by itself, so that a package that is not to be had takes only its own targets away.
install() { # WHAT-FOR PACKAGE…
    purpose=$1
    shift
    if ! has apt-get || [ "$(id -u)" != 0 ]; then
        missing "$purpose" "apt-get install $* (needs root and Debian's packages)"
        return
    fi
    if [ -z "$listed" ]; then
        listed=yes
        export DEBIAN_FRONTEND=noninteractive
        # bourdon starts its own servers; the packages' must not run beside them.
        [ -e $policy ] || { printf '#!/bin/sh\nexit 101\n' >$policy && chmod +x $policy && trap 'rm -f $policy' EXIT; }
        apt-get update -qq || true
    fi
    echo "installing for $purpose: $*"
    apt-get install -y -qq --no-install-recommends "$@" >/dev/null </dev/null ||
        missing "$purpose" "$* (apt-get could not install them)"
}

has cargo || missing bourdon "Rust, https://rustup.rs"
has cc || install "bourdon and rust-axum, which Rust links with cc" gcc libc6-dev
has git || install "bourdon compare and its tests" git
has chromium || install "the tests of report.html" chromium
# Whatever Node it brings: where that is too old, the tests take a newer one from npm's registry.
has npm || install "the tests of report.html" npm
has nginx || install nginx nginx-light
has apache2 && [ -e /usr/lib/apache2/modules/libphp8.2.so ] || install php-apache apache2 libapache2-mod-php8.2
has php || install "the tests of php-apache" php8.2-cli
has php && php -r 'exit(extension_loaded("pdo_sqlite") ? 0 : 1);' || install php-apache-work php8.2-sqlite3
has mvn || install "the Java targets" maven
# Debian's Maven brings a Java without its compiler.
has javac || install "the Java targets" default-jdk-headless

# Each says in one line what it lacks: there is none, or it is too old.
if ! has go; then
    missing "the Go targets" "Go 1.26 or newer, https://go.dev/dl"
elif ! said=$(sh "$here/go/build.sh" version 2>&1); then
    missing "the Go targets" "$said; get it from https://go.dev/dl"
fi
if ! has node; then
    missing "the Node targets" "Node 20 or newer with npm, https://nodejs.org"
elif ! said=$(sh "$here/node/toolchain.sh"); then
    missing "the Node targets" "$said; get it from https://nodejs.org"
fi
if has mvn && has javac; then
    said=$(sh "$here/java/java.sh" version) || missing "the Java targets" "$said; get one from https://adoptium.net"
fi
said=$(JDK=25 sh "$here/java/java.sh" java -version 2>&1) ||
    missing "runtime jdk25 and java-tomcat-virtual" "$said; unpack one from https://adoptium.net into /usr/lib/jvm"
