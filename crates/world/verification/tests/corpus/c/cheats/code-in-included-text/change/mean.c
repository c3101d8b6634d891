#include "mean.h"
#include "mean.inc"
