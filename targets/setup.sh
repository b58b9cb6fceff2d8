#!/bin/sh
# Installs what the targets need from Debian's packages, where that is allowed, and says what else is missing.
set -eu

packages=""
PATH=$PATH:/usr/sbin
command -v apache2 >/dev/null || packages="$packages apache2"
[ -e /usr/lib/apache2/modules/libphp8.2.so ] || packages="$packages libapache2-mod-php8.2"
command -v php >/dev/null || packages="$packages php8.2-cli"
command -v nginx >/dev/null || packages="$packages nginx-light"
if [ -n "$packages" ]; then
    if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
        export DEBIAN_FRONTEND=noninteractive
        # bourdon starts its own servers; the packages' must not run beside them.
        policy=/usr/sbin/policy-rc.d
        [ -e $policy ] || { printf '#!/bin/sh\nexit 101\n' >$policy && chmod +x $policy && trap 'rm -f $policy' EXIT; }
        # A package that is not to be had makes its targets absent, and is no reason to stop here.
        apt-get update -qq && apt-get install -y -qq --no-install-recommends $packages >/dev/null ||
            echo "not installed:$packages"
    else
        echo "missing (needs root and Debian's packages): apt-get install$packages"
    fi
fi
command -v go >/dev/null || echo "missing for the Go targets: Go 1.26 or newer, https://go.dev/dl"
command -v node >/dev/null || echo "missing for the Node targets: Node 20 or newer with npm, https://nodejs.org"
command -v mvn >/dev/null || echo "missing for the Java targets: Maven 3.6.3 or newer, https://maven.apache.org"
sh "$(dirname "$0")/java/java.sh" java -version >/dev/null 2>&1 || echo "missing for the Java targets: a JDK, 17 or newer, https://adoptium.net"
JDK=25 sh "$(dirname "$0")/java/java.sh" java -version >/dev/null 2>&1 || echo "missing for runtime jdk25 and java-tomcat-virtual: JDK 25, https://adoptium.net"
