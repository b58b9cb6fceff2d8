#!/bin/sh
# Runs the tests of the shared code, in a copy because Maven writes beside the sources.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
trap 'exit 1' HUP INT TERM

(cd "$here" && cp -R pom.xml work tomcat tomcat-work "$copy")
"$here/java.sh" mvn -q -B -T1 -f "$copy/pom.xml" test
