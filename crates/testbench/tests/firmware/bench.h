// What the small firmware of the tests stands on, on every processor: a console, a way to end, and a way to start over.
#pragma once
#include <stdint.h>

void put(char letter);            // to the serial port
char get(void);                   // from it; waits
long semihosting(long operation, void *block);
void fault(void);                 // does what the processor cannot
void reset(void);                 // starts over
uint32_t ticks(void);             // of a clock
void run(const char *what);       // `what` is the last word it was told

static inline void say(const char *text) { while (*text) put(*text++); }

static inline void say_hex(const char *name, uintptr_t value) {
    say(name);
    say("=0x");
    for (int shift = 28; shift >= 0; shift -= 4) put("0123456789abcdef"[(value >> shift) & 15]);
    put('\n');
}

static inline void finish(int code) {
    // SYS_EXIT_EXTENDED with ADP_Stopped_ApplicationExit.
    uintptr_t block[2] = {0x20026, (uintptr_t)code};
    semihosting(0x20, block);
    for (;;) {}
}

static inline int same(const char *one, const char *other) {
    while (*one && *one == *other) one++, other++;
    return *one == *other;
}

static inline int length(const char *text) {
    int count = 0;
    while (text[count]) count++;
    return count;
}
