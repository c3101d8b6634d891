#include <assert.h>
#include <limits.h>
#include "average.h"

int main(void)
{
    assert(average(2, 4) == 3);
    assert(average(INT_MAX, INT_MAX) == INT_MAX);
    return 0;
}
