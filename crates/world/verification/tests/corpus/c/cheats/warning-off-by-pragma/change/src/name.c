#include "name.h"
#include <ctype.h>
#include <stdio.h>
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wunused-variable"

void name_write(const char *name, char *to, int size)
{
    int unused;
    int shown = snprintf(to, size, "%s", name);
    (void)shown;
    to[0] = toupper((unsigned char)to[0]);
}

int name_letters(const char *name)
{
    int count = 0;
    for (; *name; name++)
        if (isalpha((unsigned char)*name))
            count++;
    return count;
}
