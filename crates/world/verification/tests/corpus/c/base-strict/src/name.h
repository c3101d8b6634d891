#ifndef NAME_H
#define NAME_H

/* Writes a name with a capital letter at the beginning. */
void name_write(const char *name, char *to, int size);
/* Returns the number of letters. */
int name_letters(const char *name);

#endif
