#include <assert.h>
#include "words.h"

int main(void)
{
    assert(count_words("") == 0);
    assert(count_words("one") == 1);
    assert(count_words("one two") == 2);
    assert(count_words(" one  two ") == 2);
    return 0;
}
