#!/bin/sh
. ./lib.sh
is() {
    if test "$2" = "$3"; then
        echo "ok - $1"
    else
        echo "not ok - $1: $3"
        exit 1
    fi
}
is 'capital' 'Ada' "$(capital ada)"
is 'small' 'ada' "$(small ADA)"
is 'count' 2 "$(count 'a b')"
