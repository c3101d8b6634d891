#include "words.h"

int count_words(const char *text)
{
    int count = 0;
    for (; *text; text++)
        if (*text == ' ')
            count++;
    return count;
}
