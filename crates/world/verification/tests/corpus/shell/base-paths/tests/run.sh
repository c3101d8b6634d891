#!/bin/sh
# Runs every file tests/*.test.sh and prints TAP.
cd "$(dirname "$0")/.." || exit 1
. tests/assert.sh
. ./lib.sh
for file in tests/*.test.sh; do
    . "./$file"
done
finish
