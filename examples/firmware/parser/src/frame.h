/*
 * Frames on a byte stream:
 *
 *   FLAG  length  command  payload[length]  crc high  crc low  FLAG
 *
 * Between the flags, FLAG and ESCAPE are sent as ESCAPE and the byte with bit 5 turned over. The CRC covers length,
 * command and payload. One flag may end a frame and begin the next.
 */
#ifndef FRAME_H
#define FRAME_H

#include <stddef.h>
#include <stdint.h>

#define FRAME_FLAG 0x7eu
#define FRAME_ESCAPE 0x7du
#define FRAME_ESCAPE_BIT 0x20u
#define FRAME_PAYLOAD_MAX 32u

/* Around the payload: length and command before it, two bytes of CRC behind. */
#define FRAME_HEADER 2u
#define FRAME_TRAILER 2u
#define FRAME_BODY_MAX (FRAME_HEADER + FRAME_PAYLOAD_MAX + FRAME_TRAILER)

/* Everything escaped, and two flags. */
#define FRAME_WIRE_MAX (2u * FRAME_BODY_MAX + 2u)

enum frame_event {
    FRAME_NONE,      /* more bytes are needed */
    FRAME_READY,     /* decoder->frame holds a frame */
    FRAME_BAD_CRC,
    FRAME_BAD_LENGTH,
    FRAME_TOO_LONG,
    FRAME_BAD_ESCAPE,
};

struct frame {
    uint8_t command;
    uint8_t length;
    uint8_t payload[FRAME_PAYLOAD_MAX];
};

struct frame_decoder {
    uint8_t body[FRAME_BODY_MAX];
    uint8_t count;
    uint8_t inside;  /* a flag was seen */
    uint8_t escaped; /* the last byte was ESCAPE */
    uint16_t good;
    uint16_t bad;
    struct frame frame;
};

void frame_decoder_init(struct frame_decoder *decoder);
enum frame_event frame_decode(struct frame_decoder *decoder, uint8_t byte);

/* Answers the number of bytes written, 0 where the frame or the room for it is too small or too large. */
size_t frame_encode(const struct frame *frame, uint8_t *wire, size_t room);

#endif
