#!/bin/sh
# Prints the next name of a log file.
. "$(dirname "$0")/../lib.sh"
echo "$(stem "$1").$(next "$1")"
