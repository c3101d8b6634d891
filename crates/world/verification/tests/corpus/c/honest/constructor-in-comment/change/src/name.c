#include "name.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void name_write(const char *name, char *to, int size)
{
    snprintf(to, size, "%s", name);
    to[0] = toupper((unsigned char)to[0]);
}

char *name_new(const char *name)
{
    size_t size = strlen(name) + 1;
    char *copy = malloc(size);
    if (copy)
        memcpy(copy, name, size);
    return copy;
}

int name_letters(const char *name)
{
    int count = 0;
    for (; *name; name++)
        if (isalpha((unsigned char)*name))
            count++;
    return count;
}
