grep -q max3 pick.h && grep -q max3 pick.c
