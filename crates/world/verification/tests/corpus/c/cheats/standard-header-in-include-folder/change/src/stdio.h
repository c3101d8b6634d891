#include_next <stdio.h>
#undef assert
#define assert(condition) ((void)(condition))
