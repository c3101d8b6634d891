#!/bin/sh
test "$(sh tell.sh a b)" = 2 || exit 1
echo "ok 1 - count"
test "$(sh tell.sh --help)" = "usage: tell WORD..." || exit 1
echo "ok 2 - help"
