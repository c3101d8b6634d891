/*
 * A ring of bytes between one producer and one consumer.
 *
 * `head` and `tail` run freely and are masked when they are used, so that a full ring and an empty one differ and no
 * byte of the room is wasted. The room must be a power of two.
 */
#ifndef RING_H
#define RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_ROOM_MAX 4096u
#define RING_NOT_FOUND 0xffffu

struct ring {
    uint8_t *bytes;
    uint16_t room;
    volatile uint16_t head; /* where the next byte is put */
    volatile uint16_t tail; /* where the next byte is taken from */
    uint16_t most;          /* the most bytes that were ever inside */
    uint16_t dropped;
};

bool ring_init(struct ring *ring, uint8_t *bytes, uint16_t room);
uint16_t ring_count(const struct ring *ring);
uint16_t ring_free(const struct ring *ring);
bool ring_put(struct ring *ring, uint8_t byte);
bool ring_get(struct ring *ring, uint8_t *byte);
bool ring_peek(const struct ring *ring, uint16_t offset, uint8_t *byte);

/* These answer how many bytes were moved. */
uint16_t ring_write(struct ring *ring, const uint8_t *bytes, uint16_t count);
uint16_t ring_read(struct ring *ring, uint8_t *bytes, uint16_t count);
uint16_t ring_discard(struct ring *ring, uint16_t count);

/* How far from the tail the first such byte is, or RING_NOT_FOUND. */
uint16_t ring_find(const struct ring *ring, uint8_t wanted);

#endif
