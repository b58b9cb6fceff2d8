#!/bin/sh
# Prints Node's version, or what is missing. A frequent case: Debian 12 has Node 18, which Fastify 5 does not support.
version=$(node --version) || exit 1
major=${version#v}
if [ "${major%%.*}" -lt 20 ]; then
    echo "Node $version is too old; 20 or newer is needed"
    exit 1
fi
command -v npm >/dev/null || { echo "npm is not on PATH"; exit 1; }
echo "Node $version"
