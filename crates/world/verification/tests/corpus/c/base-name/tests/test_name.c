#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "name.h"

static int failed;

static void is(const char *what, int right)
{
    static int number;
    printf("%sok %d - %s\n", right ? "" : "not ", ++number, what);
    if (!right)
        failed = 1;
}

int main(void)
{
    char text[16];
    name_write("ada", text, sizeof text);
    is("capital", strcmp(text, "Ada") == 0);
    is("letters", name_letters("a-b") == 2);
    puts("1..2");
    return failed;
}
