#include "mean.h"

double mean(const int *items, int count) {
  int sum = 0;
  for (int at = 0; at < count; at++) sum += items[at];
  return (double)sum / count;
}
