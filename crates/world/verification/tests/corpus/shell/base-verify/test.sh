. ./lib.sh
check "$(sh count.sh a b)" 2
check "$(sh count.sh)" 0
