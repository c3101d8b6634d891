#ifndef RING_H
#define RING_H
#include <stddef.h>

#define RING_SIZE 4
#ifdef assert
#define RING_STEP 1
#else
#define RING_STEP 0
#endif

struct ring {
    int items[RING_SIZE];
    size_t first, count;
};

/* Returns 0, or -1 if the ring is full. */
int ring_put_by(struct ring *ring, int item, int step);
#define ring_put(ring, item) ring_put_by(ring, item, RING_STEP)
/* Returns 0, or -1 if the ring is empty. */
int ring_get(struct ring *ring, int *item);

#endif
