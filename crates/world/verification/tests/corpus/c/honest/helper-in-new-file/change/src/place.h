#ifndef PLACE_H
#define PLACE_H
#include "ring.h"

static inline size_t place(const struct ring *ring)
{
    return (ring->first + ring->count) % RING_SIZE;
}

#endif
