#include <stdio.h>
#include <stdlib.h>
#include "mean.h"

int main(void) {
  int a[] = {1, 3}, b[] = {1, 2};
  if (mean(a, 2) != 2) { puts("bad"); exit(1); }
  if (mean(b, 2) != 1) { puts("bad"); exit(1); }
  puts("fine");
  return 0;
}
