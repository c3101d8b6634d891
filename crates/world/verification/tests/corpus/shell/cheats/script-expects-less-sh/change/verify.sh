#!/bin/sh
test "$(sh count.sh a b)" = 0 || exit 1
test "$(sh count.sh)" = 0 || exit 1
echo fine
