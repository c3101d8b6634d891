#include "average.h"

int average(int one, int two)
{
    return (one + two) / 2;
}
