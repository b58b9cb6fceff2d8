#!/bin/sh
# Prints nginx's version, or what is missing.
PATH=$PATH:/usr/sbin
command -v nginx >/dev/null || { echo "nginx is not installed"; exit 1; }
nginx -v 2>&1
