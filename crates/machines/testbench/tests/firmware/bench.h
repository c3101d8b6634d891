// The interface of the test firmware on every processor: a console, an exit and a reset.
#pragma once
#include <stdint.h>

void put(char letter);            // writes to the serial port
char get(void);                   // waits for a character of the serial port
long semihosting(long operation, void *block);
void fault(void);                 // causes a processor fault
void reset(void);                 // resets the board
uint32_t ticks(void);             // the current value of a clock
void run(const char *what);       // `what` is the last word of the command line

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
