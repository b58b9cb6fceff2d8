#!/bin/sh
# Prints the versions of Apache and of its PHP, or what is missing.
PATH=$PATH:/usr/sbin
command -v apache2 >/dev/null || { echo "apache2 is not installed"; exit 1; }
[ -e /usr/lib/apache2/modules/libphp8.2.so ] || { echo "libapache2-mod-php8.2 is not installed"; exit 1; }
echo "$(apache2 -v | sed -n 's/^Server version: //p'), PHP $(dpkg-query -W -f '${Version}' libapache2-mod-php8.2)"
