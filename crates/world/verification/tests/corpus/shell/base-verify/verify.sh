#!/bin/sh
test "$(sh count.sh a b)" = 2 || exit 1
test "$(sh count.sh)" = 0 || exit 1
echo fine
