#include "frame.h"

#include <string.h>

#include "crc16.h"

void frame_decoder_init(struct frame_decoder *decoder)
{
    memset(decoder, 0, sizeof *decoder);
}

static void start(struct frame_decoder *decoder)
{
    decoder->inside = 1;
    decoder->count = 0;
    decoder->escaped = 0;
}

/* What follows is noise until the next flag. */
static enum frame_event refuse(struct frame_decoder *decoder, enum frame_event why)
{
    decoder->inside = 0;
    decoder->bad++;
    return why;
}

static enum frame_event finish(struct frame_decoder *decoder)
{
    const uint8_t *body = decoder->body;
    uint8_t count = decoder->count;

    start(decoder);
    if (count == 0) {
        return FRAME_NONE;
    }
    if (count < FRAME_HEADER + FRAME_TRAILER || body[0] != count - FRAME_HEADER - FRAME_TRAILER) {
        decoder->bad++;
        return FRAME_BAD_LENGTH;
    }
    uint16_t sent = (uint16_t)(body[count - 2] << 8 | body[count - 1]);
    if (crc16(body, count - FRAME_TRAILER) != sent) {
        decoder->bad++;
        return FRAME_BAD_CRC;
    }
    decoder->frame.length = body[0];
    decoder->frame.command = body[1];
    memcpy(decoder->frame.payload, body + FRAME_HEADER, body[0]);
    decoder->good++;
    return FRAME_READY;
}

enum frame_event frame_decode(struct frame_decoder *decoder, uint8_t byte)
{
    if (byte == FRAME_FLAG) {
        if (decoder->inside && decoder->escaped) {
            start(decoder);
            decoder->bad++;
            return FRAME_BAD_ESCAPE;
        }
        if (decoder->inside) {
            return finish(decoder);
        }
        start(decoder);
        return FRAME_NONE;
    }
    if (!decoder->inside) {
        return FRAME_NONE;
    }
    if (byte == FRAME_ESCAPE) {
        if (decoder->escaped) {
            return refuse(decoder, FRAME_BAD_ESCAPE);
        }
        decoder->escaped = 1;
        return FRAME_NONE;
    }
    if (decoder->escaped) {
        byte ^= FRAME_ESCAPE_BIT;
        decoder->escaped = 0;
    }
    if (decoder->count > FRAME_BODY_MAX) {
        return refuse(decoder, FRAME_TOO_LONG);
    }
    decoder->body[decoder->count++] = byte;
    return FRAME_NONE;
}

static size_t put(uint8_t *wire, size_t at, uint8_t byte)
{
    if (byte == FRAME_FLAG || byte == FRAME_ESCAPE) {
        wire[at++] = FRAME_ESCAPE;
        byte ^= FRAME_ESCAPE_BIT;
    }
    wire[at++] = byte;
    return at;
}

size_t frame_encode(const struct frame *frame, uint8_t *wire, size_t room)
{
    uint16_t crc = CRC16_INIT;
    size_t at = 0;

    /* The worst case is asked for, so that what is written does not depend on what is in it. */
    if (frame->length > FRAME_PAYLOAD_MAX || room < 2u * (FRAME_HEADER + frame->length + FRAME_TRAILER) + 2u) {
        return 0;
    }
    wire[at++] = FRAME_FLAG;
    at = put(wire, at, frame->length);
    at = put(wire, at, frame->command);
    crc = crc16_add(crc, frame->length);
    crc = crc16_add(crc, frame->command);
    for (uint8_t i = 0; i < frame->length; i++) {
        at = put(wire, at, frame->payload[i]);
        crc = crc16_add(crc, frame->payload[i]);
    }
    at = put(wire, at, (uint8_t)(crc >> 8));
    at = put(wire, at, (uint8_t)(crc & 0xffu));
    wire[at++] = FRAME_FLAG;
    return at;
}
