/* What a frame asks for: echo, version, sixteen registers of 32 bits, their sum. */
#ifndef COMMAND_H
#define COMMAND_H

#include "frame.h"

#define COMMAND_PING 0x01u
#define COMMAND_VERSION 0x02u
#define COMMAND_READ 0x10u
#define COMMAND_WRITE 0x11u
#define COMMAND_SUM 0x12u

/* An answer carries the command with this bit, a refusal the bit alone and the reason as payload. */
#define COMMAND_ANSWER 0x80u
#define COMMAND_REFUSED 0x80u

#define REGISTER_COUNT 16u
#define REGISTER_READ_ONLY 0u
#define REGISTER_LOCKED_FROM 12u

enum command_error {
    COMMAND_OK,
    COMMAND_UNKNOWN,
    COMMAND_LENGTH,
    COMMAND_RANGE,
    COMMAND_LOCKED,
};

struct device {
    uint32_t registers[REGISTER_COUNT];
    uint16_t handled;
    uint16_t refused;
};

void device_init(struct device *device);

/* Does what `request` asks for and fills `answer`; there is always one. */
enum command_error command_handle(struct device *device, const struct frame *request, struct frame *answer);

#endif
