/* The cases of the frame parser. `main` is here: the firmware under test is its tests. */
#include <string.h>

#include "check.h"
#include "command.h"
#include "crc16.h"
#include "frame.h"

static struct frame_decoder decoder;
static struct device device;
static struct frame request, answer;
static uint8_t wire[FRAME_WIRE_MAX];

static void fresh(void)
{
    frame_decoder_init(&decoder);
    device_init(&device);
    memset(&request, 0, sizeof request);
    memset(&answer, 0xaa, sizeof answer);
    memset(wire, 0, sizeof wire);
}

/* Feeds bytes and answers the last event that was not NONE. */
static enum frame_event feed(const uint8_t *bytes, size_t count)
{
    enum frame_event last = FRAME_NONE;
    for (size_t i = 0; i < count; i++) {
        enum frame_event event = frame_decode(&decoder, bytes[i]);
        if (event != FRAME_NONE) {
            last = event;
        }
    }
    return last;
}

static void ask(uint8_t command, const uint8_t *payload, uint8_t length)
{
    request.command = command;
    request.length = length;
    memcpy(request.payload, payload, length);
}

static size_t send(uint8_t command, const uint8_t *payload, uint8_t length)
{
    ask(command, payload, length);
    return frame_encode(&request, wire, sizeof wire);
}

static void crc_of_the_check_string(void)
{
    CHECK_EQ(0x29b1, crc16((const uint8_t *)"123456789", 9));
}

static void crc_of_nothing(void)
{
    CHECK_EQ(0xffff, crc16(NULL, 0));
}

static void empty_frame_is_decoded(void)
{
    fresh();
    size_t count = send(COMMAND_VERSION, NULL, 0);
    CHECK_EQ(6, count);
    CHECK_EQ(FRAME_READY, feed(wire, count));
    CHECK_EQ(COMMAND_VERSION, decoder.frame.command);
    CHECK_EQ(0, decoder.frame.length);
    CHECK_EQ(1, decoder.good);
}

static void encoder_writes_the_known_bytes(void)
{
    static const uint8_t known[] = {0x7e, 0x01, 0x10, 0x55, 0xf2, 0x8f, 0x7e};
    fresh();
    size_t count = send(COMMAND_READ, (const uint8_t *)"\x55", 1);
    CHECK_EQ(sizeof known, count);
    CHECK_BYTES(known, wire, sizeof known);
}

static void flag_and_escape_in_the_payload_survive(void)
{
    static const uint8_t payload[] = {0x7e, 0x7d, 0x20, 0x5e, 0x7e};
    fresh();
    size_t count = send(COMMAND_PING, payload, sizeof payload);
    CHECK_EQ(6 + 5 + 3, count);
    CHECK_EQ(0x7d, wire[3]);
    CHECK_EQ(0x5e, wire[4]);
    CHECK_EQ(FRAME_READY, feed(wire, count));
    CHECK_EQ(sizeof payload, decoder.frame.length);
    CHECK_BYTES(payload, decoder.frame.payload, sizeof payload);
}

static void longest_frame_is_decoded(void)
{
    uint8_t payload[FRAME_PAYLOAD_MAX];
    fresh();
    for (size_t i = 0; i < sizeof payload; i++) {
        payload[i] = (uint8_t)(i * 7);
    }
    size_t count = send(COMMAND_PING, payload, sizeof payload);
    CHECK(count > 0);
    CHECK_EQ(FRAME_READY, feed(wire, count));
    CHECK_EQ(FRAME_PAYLOAD_MAX, decoder.frame.length);
    CHECK_BYTES(payload, decoder.frame.payload, sizeof payload);
}

static void frame_one_byte_too_long_is_refused(void)
{
    fresh();
    frame_decode(&decoder, FRAME_FLAG);
    for (size_t i = 0; i < FRAME_BODY_MAX; i++) {
        CHECK_EQ(FRAME_NONE, frame_decode(&decoder, 0x11));
    }
    CHECK_EQ(FRAME_TOO_LONG, frame_decode(&decoder, 0x11));
    CHECK_EQ(1, decoder.bad);
    CHECK_EQ(FRAME_NONE, frame_decode(&decoder, 0x11));
}

static void frame_after_a_too_long_one_is_decoded(void)
{
    fresh();
    frame_decode(&decoder, FRAME_FLAG);
    for (size_t i = 0; i < 3 * FRAME_BODY_MAX; i++) {
        enum frame_event event = frame_decode(&decoder, 0x22);
        CHECK_EQ(i == FRAME_BODY_MAX ? FRAME_TOO_LONG : FRAME_NONE, event);
    }
    CHECK_EQ(FRAME_READY, feed(wire, send(COMMAND_PING, (const uint8_t *)"ok", 2)));
    CHECK_EQ(1, decoder.bad);
    CHECK_EQ(1, decoder.good);
}

static void wrong_crc_is_refused(void)
{
    fresh();
    size_t count = send(COMMAND_PING, (const uint8_t *)"abc", 3);
    wire[4] ^= 0x01;
    CHECK_EQ(FRAME_BAD_CRC, feed(wire, count));
    CHECK_EQ(0, decoder.good);
    CHECK_EQ(1, decoder.bad);
}

static void wrong_length_is_refused(void)
{
    static const uint8_t truncated[] = {FRAME_FLAG, 0x05, 0x01, 0x61, 0x12, 0x34, FRAME_FLAG};
    static const uint8_t stub[] = {0x00, 0x01, 0x02, FRAME_FLAG};
    fresh();
    CHECK_EQ(FRAME_BAD_LENGTH, feed(truncated, sizeof truncated));
    CHECK_EQ(FRAME_BAD_LENGTH, feed(stub, sizeof stub));
    CHECK_EQ(2, decoder.bad);
}

static void one_flag_ends_a_frame_and_begins_the_next(void)
{
    fresh();
    size_t count = send(COMMAND_PING, (const uint8_t *)"one", 3);
    CHECK_EQ(FRAME_READY, feed(wire, count));
    count = send(COMMAND_PING, (const uint8_t *)"two", 3);
    CHECK_EQ(FRAME_READY, feed(wire + 1, count - 1));
    CHECK_BYTES("two", decoder.frame.payload, 3);
    CHECK_EQ(2, decoder.good);
}

static void noise_between_frames_is_skipped(void)
{
    fresh();
    CHECK_EQ(FRAME_NONE, feed((const uint8_t *)"\x00\x7dnoise", 7));
    CHECK_EQ(FRAME_READY, feed(wire, send(COMMAND_PING, (const uint8_t *)"x", 1)));
    CHECK_EQ(FRAME_NONE, feed((const uint8_t *)"\x7e\x7e\x7e", 3));
    CHECK_EQ(0, decoder.bad);
}

static void broken_escapes_are_refused(void)
{
    static const uint8_t twice[] = {FRAME_FLAG, 0x01, FRAME_ESCAPE, FRAME_ESCAPE, 0x01};
    static const uint8_t cut_off[] = {FRAME_FLAG, 0x01, FRAME_ESCAPE, FRAME_FLAG};
    fresh();
    CHECK_EQ(FRAME_BAD_ESCAPE, feed(twice, sizeof twice));
    CHECK_EQ(FRAME_BAD_ESCAPE, feed(cut_off, sizeof cut_off));
    CHECK_EQ(2, decoder.bad);
    CHECK_EQ(FRAME_READY, feed(wire + 1, send(COMMAND_PING, (const uint8_t *)"y", 1) - 1));
}

static void encoder_refuses_what_does_not_fit(void)
{
    fresh();
    request.length = 4;
    CHECK_EQ(0, frame_encode(&request, wire, 17));
    CHECK(frame_encode(&request, wire, 18) > 0);
    request.length = FRAME_PAYLOAD_MAX + 1;
    CHECK_EQ(0, frame_encode(&request, wire, sizeof wire));
}

static void ping_answers_its_payload(void)
{
    fresh();
    ask(COMMAND_PING, (const uint8_t *)"hello", 5);
    CHECK_EQ(COMMAND_OK, command_handle(&device, &request, &answer));
    CHECK_EQ(COMMAND_PING | COMMAND_ANSWER, answer.command);
    CHECK_EQ(5, answer.length);
    CHECK_BYTES("hello", answer.payload, 5);
    CHECK_EQ(1, device.handled);
}

static void version_has_no_payload(void)
{
    fresh();
    ask(COMMAND_VERSION, NULL, 0);
    CHECK_EQ(COMMAND_OK, command_handle(&device, &request, &answer));
    CHECK_EQ(2, answer.length);
    CHECK_BYTES("\x01\x04", answer.payload, 2);
    ask(COMMAND_VERSION, (const uint8_t *)"!", 1);
    CHECK_EQ(COMMAND_LENGTH, command_handle(&device, &request, &answer));
}

static void written_register_is_read_back(void)
{
    fresh();
    ask(COMMAND_WRITE, (const uint8_t *)"\x05\x89\xab\xcd\xef", 5);
    CHECK_EQ(COMMAND_OK, command_handle(&device, &request, &answer));
    CHECK_EQ(4, answer.length);
    CHECK_BYTES("\0\0\0\0", answer.payload, 4);
    CHECK_EQ((long)0x89abcdef, device.registers[5]);
    ask(COMMAND_READ, (const uint8_t *)"\x04\x02", 2);
    CHECK_EQ(COMMAND_OK, command_handle(&device, &request, &answer));
    CHECK_EQ(8, answer.length);
    CHECK_BYTES("\0\0\0\0\x89\xab\xcd\xef", answer.payload, 8);
}

static void locked_registers_are_not_written(void)
{
    fresh();
    ask(COMMAND_WRITE, (const uint8_t *)"\x00\x01\x02\x03\x04", 5);
    CHECK_EQ(COMMAND_LOCKED, command_handle(&device, &request, &answer));
    request.payload[0] = 12;
    CHECK_EQ(COMMAND_LOCKED, command_handle(&device, &request, &answer));
    request.payload[0] = 11;
    CHECK_EQ(COMMAND_OK, command_handle(&device, &request, &answer));
    request.payload[0] = 16;
    CHECK_EQ(COMMAND_RANGE, command_handle(&device, &request, &answer));
    CHECK_EQ(0x1de71f1e, device.registers[0]);
}

static void reading_stays_inside_the_registers(void)
{
    fresh();
    ask(COMMAND_READ, (const uint8_t *)"\x0f\x01", 2);
    CHECK_EQ(COMMAND_OK, command_handle(&device, &request, &answer));
    ask(COMMAND_READ, (const uint8_t *)"\x0f\x02", 2);
    CHECK_EQ(COMMAND_RANGE, command_handle(&device, &request, &answer));
    ask(COMMAND_READ, (const uint8_t *)"\x00\x08", 2);
    CHECK_EQ(COMMAND_OK, command_handle(&device, &request, &answer));
    CHECK_EQ(32, answer.length);
    ask(COMMAND_READ, (const uint8_t *)"\x00\x09", 2);
    CHECK_EQ(COMMAND_RANGE, command_handle(&device, &request, &answer));
    ask(COMMAND_READ, (const uint8_t *)"\x00\x00", 2);
    CHECK_EQ(COMMAND_RANGE, command_handle(&device, &request, &answer));
}

static void sum_includes_both_ends(void)
{
    fresh();
    device.registers[3] = 1;
    device.registers[4] = 20;
    device.registers[5] = 300;
    device.registers[6] = 4000;
    ask(COMMAND_SUM, (const uint8_t *)"\x03\x05", 2);
    CHECK_EQ(COMMAND_OK, command_handle(&device, &request, &answer));
    CHECK_BYTES("\x00\x00\x01\x41", answer.payload, 4);
    ask(COMMAND_SUM, (const uint8_t *)"\x04\x04", 2);
    CHECK_EQ(COMMAND_OK, command_handle(&device, &request, &answer));
    CHECK_BYTES("\x00\x00\x00\x14", answer.payload, 4);
    ask(COMMAND_SUM, (const uint8_t *)"\x05\x03", 2);
    CHECK_EQ(COMMAND_RANGE, command_handle(&device, &request, &answer));
}

static void sum_stops_at_the_largest_value(void)
{
    fresh();
    device.registers[1] = 0xfffffff0u;
    device.registers[2] = 0x0fu;
    device.registers[3] = 0x01u;
    ask(COMMAND_SUM, (const uint8_t *)"\x01\x02", 2);
    command_handle(&device, &request, &answer);
    CHECK_BYTES("\xff\xff\xff\xff", answer.payload, 4);
    ask(COMMAND_SUM, (const uint8_t *)"\x01\x03", 2);
    command_handle(&device, &request, &answer);
    CHECK_BYTES("\xff\xff\xff\xff", answer.payload, 4);
}

static void unknown_command_is_refused_with_a_reason(void)
{
    fresh();
    ask(0x33, (const uint8_t *)"??", 2);
    CHECK_EQ(COMMAND_UNKNOWN, command_handle(&device, &request, &answer));
    CHECK_EQ(COMMAND_REFUSED, answer.command);
    CHECK_EQ(1, answer.length);
    CHECK_EQ(COMMAND_UNKNOWN, answer.payload[0]);
    CHECK_EQ(1, device.refused);
    CHECK_EQ(0, device.handled);
}

static const struct check_case cases[] = {
    CASE(crc_of_the_check_string),
    CASE(crc_of_nothing),
    CASE(empty_frame_is_decoded),
    CASE(encoder_writes_the_known_bytes),
    CASE(flag_and_escape_in_the_payload_survive),
    CASE(longest_frame_is_decoded),
    CASE(frame_one_byte_too_long_is_refused),
    CASE(frame_after_a_too_long_one_is_decoded),
    CASE(wrong_crc_is_refused),
    CASE(wrong_length_is_refused),
    CASE(one_flag_ends_a_frame_and_begins_the_next),
    CASE(noise_between_frames_is_skipped),
    CASE(broken_escapes_are_refused),
    CASE(encoder_refuses_what_does_not_fit),
    CASE(ping_answers_its_payload),
    CASE(version_has_no_payload),
    CASE(written_register_is_read_back),
    CASE(locked_registers_are_not_written),
    CASE(reading_stays_inside_the_registers),
    CASE(sum_includes_both_ends),
    CASE(sum_stops_at_the_largest_value),
    CASE(unknown_command_is_refused_with_a_reason),
};

int main(void)
{
    return check_run(__FILE__, cases, sizeof cases / sizeof cases[0]);
}
