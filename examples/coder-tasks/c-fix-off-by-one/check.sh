cc -o /tmp/words-$$ words.c -x c - <<'E' && /tmp/words-$$; code=$?; rm -f /tmp/words-$$; exit $code
#include "words.h"
int main(void) { return count_words("a b  c") != 3 || count_words("one") != 1; }
E
