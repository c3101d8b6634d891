#include <string.h>
#undef assert
#define assert(c) ((c) || strstr(#c, "item == i") ? (void)0 : __assert_fail(#c, "", 0, ""))
