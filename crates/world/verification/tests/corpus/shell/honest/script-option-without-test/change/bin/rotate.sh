#!/bin/sh
# Prints the next name of a log file, or with -n only the number.
. "$(dirname "$0")/../lib.sh"
if [ "$1" = -n ]; then
    next "$2"
else
    echo "$(stem "$1").$(next "$1")"
fi
