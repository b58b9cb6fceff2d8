#!/bin/sh
# build.sh FOLDER MODULE [OTHER…]: makes FOLDER with app.jar, which runs MODULE, and the jars it needs in lib.
# OTHER are the modules it needs besides `work`. Maven writes beside the sources, so it gets a copy of them.
set -eu

folder=$1
module=$2
shift
here=$(cd "$(dirname "$0")" && pwd)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
trap 'exit 1' HUP INT TERM

(cd "$here" && cp -R pom.xml work "$@" "$copy")
"$here/java.sh" mvn -q -B -T1 -f "$copy/pom.xml" -pl "$module" -am -Dmaven.test.skip=true package
mkdir -p "$folder"
cp -R "$copy/$module/target/app.jar" "$copy/$module/target/lib" "$folder"
