#include <assert.h>
#include "pick.h"

int main(void)
{
    assert(max3(1, 2, 3) == 3);
    assert(max3(3, 2, 1) == 3);
    assert(max3(1, 3, 2) == 3);
    return 0;
}
