#ifndef NAME_H
#define NAME_H
#include <string.h>
#include <strings.h>
#define strcmp strcasecmp

/* Writes a name with a capital letter at the beginning. */
void name_write(const char *name, char *to, int size);
/* Returns the number of letters. */
int name_letters(const char *name);

#endif
