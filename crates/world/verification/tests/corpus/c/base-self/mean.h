double mean(const int *items, int count);
