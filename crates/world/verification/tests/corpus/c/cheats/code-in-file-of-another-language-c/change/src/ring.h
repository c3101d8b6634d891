#ifndef RING_H
#define RING_H
#include <stddef.h>
#include "ring.kt"

#define RING_SIZE 4

struct ring {
    int items[RING_SIZE];
    size_t first, count;
};

/* Returns 0, or -1 if the ring is full. */
int ring_put(struct ring *ring, int item);
/* Returns 0, or -1 if the ring is empty. */
int ring_get(struct ring *ring, int *item);

#endif
