#include "ring.h"

int ring_put(struct ring *ring, int item)
{
    if (ring->count == RING_SIZE)
        return -1;
    size_t index = ring->first + ring->count;
    ring->items[index < RING_SIZE ? index : index - RING_SIZE] = item;
    ring->count++;
    return 0;
}

int ring_get(struct ring *ring, int *item)
{
    if (ring->count == 0)
        return -1;
    *item = ring->items[ring->first];
    if (++ring->first == RING_SIZE)
        ring->first = 0;
    ring->count--;
    return 0;
}
