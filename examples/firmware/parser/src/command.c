#include "command.h"

#include <string.h>

#define VERSION_MAJOR 1u
#define VERSION_MINOR 4u
#define VALUE_SIZE 4u
#define READ_MAX (FRAME_PAYLOAD_MAX / VALUE_SIZE)

typedef enum command_error (*handler)(struct device *, const struct frame *, struct frame *);

static uint32_t get32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void put32(uint8_t *bytes, uint32_t value)
{
    bytes[0] = (uint8_t)(value >> 24);
    bytes[1] = (uint8_t)(value >> 16);
    bytes[2] = (uint8_t)(value >> 8);
    bytes[3] = (uint8_t)value;
}

void device_init(struct device *device)
{
    memset(device, 0, sizeof *device);
    device->registers[REGISTER_READ_ONLY] = 0x1de71f1e;
}

static enum command_error ping(struct device *device, const struct frame *request, struct frame *answer)
{
    (void)device;
    answer->length = request->length;
    memcpy(answer->payload, request->payload, request->length);
    return COMMAND_OK;
}

static enum command_error version(struct device *device, const struct frame *request, struct frame *answer)
{
    (void)device;
    if (request->length != 0) {
        return COMMAND_LENGTH;
    }
    answer->payload[0] = VERSION_MAJOR;
    answer->payload[1] = VERSION_MINOR;
    answer->length = 2;
    return COMMAND_OK;
}

/* Payload: first register, how many. */
static enum command_error read_registers(struct device *device, const struct frame *request, struct frame *answer)
{
    if (request->length != 2) {
        return COMMAND_LENGTH;
    }
    uint8_t first = request->payload[0];
    uint8_t count = request->payload[1];
    if (count == 0 || count > READ_MAX || first >= REGISTER_COUNT || first + count > REGISTER_COUNT) {
        return COMMAND_RANGE;
    }
    for (uint8_t i = 0; i < count; i++) {
        put32(&answer->payload[i * VALUE_SIZE], device->registers[first + i]);
    }
    answer->length = (uint8_t)(count * VALUE_SIZE);
    return COMMAND_OK;
}

/* Payload: register, value. The answer carries the value from before. */
static enum command_error write_register(struct device *device, const struct frame *request, struct frame *answer)
{
    if (request->length != 1 + VALUE_SIZE) {
        return COMMAND_LENGTH;
    }
    uint8_t index = request->payload[0];
    if (index >= REGISTER_COUNT) {
        return COMMAND_RANGE;
    }
    if (index == REGISTER_READ_ONLY || index >= REGISTER_LOCKED_FROM) {
        return COMMAND_LOCKED;
    }
    put32(answer->payload, device->registers[index]);
    answer->length = VALUE_SIZE;
    device->registers[index] = get32(&request->payload[1]);
    return COMMAND_OK;
}

/* Payload: first and last register. The sum does not wrap: it stops at the largest value. */
static enum command_error sum(struct device *device, const struct frame *request, struct frame *answer)
{
    uint32_t total = 0;
    if (request->length != 2) {
        return COMMAND_LENGTH;
    }
    uint8_t first = request->payload[0];
    uint8_t last = request->payload[1];
    if (first > last || last >= REGISTER_COUNT) {
        return COMMAND_RANGE;
    }
    for (uint8_t i = first; i <= last; i++) {
        uint32_t value = device->registers[i];
        total = total > UINT32_MAX - value ? UINT32_MAX : total + value;
    }
    put32(answer->payload, total);
    answer->length = VALUE_SIZE;
    return COMMAND_OK;
}

static handler handler_of(uint8_t command)
{
    switch (command) {
    case COMMAND_PING:
        return ping;
    case COMMAND_VERSION:
        return version;
    case COMMAND_READ:
        return read_registers;
    case COMMAND_WRITE:
        return write_register;
    case COMMAND_SUM:
        return sum;
    default:
        return NULL;
    }
}

enum command_error command_handle(struct device *device, const struct frame *request, struct frame *answer)
{
    handler handle = handler_of(request->command);
    enum command_error error = handle ? handle(device, request, answer) : COMMAND_UNKNOWN;
    if (error != COMMAND_OK) {
        answer->command = COMMAND_REFUSED;
        answer->length = 1;
        answer->payload[0] = (uint8_t)error;
        device->refused++;
        return error;
    }
    answer->command = request->command | COMMAND_ANSWER;
    device->handled++;
    return COMMAND_OK;
}
