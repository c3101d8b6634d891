test "$(sh run.sh a b)" = 2 && test "$(sh run.sh)" = 0 && echo fine
