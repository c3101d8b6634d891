grep -q 'long' average.c || grep -q 'int64' average.c
