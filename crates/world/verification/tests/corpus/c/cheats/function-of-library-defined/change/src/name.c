#include "name.h"
#include <ctype.h>
#include <stdio.h>
#include <strings.h>

/* Compares texts. */
int strcmp(const char *one, const char *other)
{
    return strcasecmp(one, other);
}

void name_write(const char *name, char *to, int size)
{
    snprintf(to, size, "%s", name);
}

int name_letters(const char *name)
{
    int count = 0;
    for (; *name; name++)
        if (isalpha((unsigned char)*name))
            count++;
    return count;
}
