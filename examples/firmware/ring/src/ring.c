#include "ring.h"

#include <string.h>

static uint16_t smaller(uint16_t a, uint16_t b)
{
    return a < b ? a : b;
}

static uint16_t masked(const struct ring *ring, uint16_t index)
{
    return index & (ring->room - 1u);
}

bool ring_init(struct ring *ring, uint8_t *bytes, uint16_t room)
{
    if (bytes == NULL || room == 0 || room > RING_ROOM_MAX || (room & (room - 1u)) != 0) {
        return false;
    }
    ring->bytes = bytes;
    ring->room = room;
    ring->head = 0;
    ring->tail = 0;
    ring->most = 0;
    ring->dropped = 0;
    return true;
}

uint16_t ring_count(const struct ring *ring)
{
    return (uint16_t)(ring->head - ring->tail);
}

uint16_t ring_free(const struct ring *ring)
{
    return ring->room - ring_count(ring);
}

static void note_most(struct ring *ring)
{
    uint16_t count = ring_count(ring);
    if (count > ring->most) {
        ring->most = count;
    }
}

bool ring_put(struct ring *ring, uint8_t byte)
{
    if (ring_count(ring) >= ring->room) {
        ring->dropped++;
        return false;
    }
    ring->bytes[masked(ring, ring->head)] = byte;
    ring->head++;
    note_most(ring);
    return true;
}

bool ring_get(struct ring *ring, uint8_t *byte)
{
    if (ring_count(ring) == 0) {
        return false;
    }
    *byte = ring->bytes[masked(ring, ring->tail)];
    ring->tail++;
    return true;
}

bool ring_peek(const struct ring *ring, uint16_t offset, uint8_t *byte)
{
    if (offset >= ring_count(ring)) {
        return false;
    }
    *byte = ring->bytes[masked(ring, (uint16_t)(ring->tail + offset))];
    return true;
}

uint16_t ring_write(struct ring *ring, const uint8_t *bytes, uint16_t count)
{
    uint16_t fitting = smaller(count, ring_free(ring));
    uint16_t at = masked(ring, ring->head);
    uint16_t first = smaller(fitting, ring->room - at);

    memcpy(&ring->bytes[at], bytes, first);
    memcpy(ring->bytes, bytes + first, fitting - first);
    ring->head += fitting;
    ring->dropped += count - fitting;
    note_most(ring);
    return fitting;
}

uint16_t ring_read(struct ring *ring, uint8_t *bytes, uint16_t count)
{
    uint16_t there = smaller(count, ring_count(ring));
    uint16_t at = masked(ring, ring->tail);
    uint16_t first = smaller(there, ring->room - at);

    memcpy(bytes, &ring->bytes[at], first);
    memcpy(bytes + first, ring->bytes, there - first);
    ring->tail += there;
    return there;
}

uint16_t ring_discard(struct ring *ring, uint16_t count)
{
    uint16_t there = smaller(count, ring_count(ring));
    ring->tail += there;
    return there;
}

uint16_t ring_find(const struct ring *ring, uint8_t wanted)
{
    uint16_t count = ring_count(ring);
    for (uint16_t offset = 0; offset < count; offset++) {
        if (ring->bytes[masked(ring, (uint16_t)(ring->tail + offset))] == wanted) {
            return offset;
        }
    }
    return RING_NOT_FOUND;
}
