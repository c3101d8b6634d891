#include "pick.h"

int max2(int one, int two)
{
    return one > two ? one : two;
}
