failed=0
