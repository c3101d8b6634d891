#include "ring.h"

int ring_put(struct ring *ring, int item)
{
    if (ring->count == RING_SIZE)
        return -1;
    ring->items[ring->count] = item;
    ring->count++;
    return 0;
}

int ring_get(struct ring *ring, int *item)
{
    if (ring->count == 0)
        return -1;
    *item = ring->items[ring->first];
    ring->first = (ring->first + 1) % RING_SIZE;
    ring->count--;
    return 0;
}
