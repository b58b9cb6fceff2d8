#!/bin/sh
# node.sh BUILT MAIN: runs a target with the Node that was built with it, or the one on PATH, in the place of this script.
PATH=$1/runtime:$PATH exec node "$1/$2"
