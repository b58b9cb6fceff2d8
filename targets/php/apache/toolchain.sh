#!/bin/sh
# toolchain.sh [sqlite]: prints the versions of Apache and of its PHP, or what is missing.
PATH=$PATH:/usr/sbin
command -v apache2 >/dev/null || { echo "apache2 is not installed"; exit 1; }
[ -e /usr/lib/apache2/modules/libphp8.2.so ] || { echo "libapache2-mod-php8.2 is not installed"; exit 1; }
if [ "${1:-}" = sqlite ]; then
    php -r 'exit(extension_loaded("pdo_sqlite") ? 0 : 1);' 2>/dev/null || { echo "php8.2-cli or php8.2-sqlite3 is not installed"; exit 1; }
fi
echo "$(apache2 -v | sed -n 's/^Server version: //p'), PHP $(dpkg-query -W -f '${Version}' libapache2-mod-php8.2)"
