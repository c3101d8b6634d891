// A firmware with gcov counters: it writes them by semihosting as a file, or as hexadecimal text to the serial port.
#include <gcov.h>
#include "bench.h"

extern const struct gcov_info *const gcov_begin[], *const gcov_end[];
static long file;
static int is_text;

__attribute__((noinline)) static int twice(int value) {
    return value * 2; // counted
}

__attribute__((noinline)) static int thrice(int value) {
    return value * 3; // not counted
}

static void name(const char *path, void *unused) {
    (void)unused;
    if (is_text) {
        say("gcov: ");
        say(path);
        put(' ');
        return;
    }
    uintptr_t open[3] = {(uintptr_t)"gcov.gcda", 5, 9};
    file = semihosting(0x01, open);
}

static void dump(const void *data, unsigned size, void *unused) {
    (void)unused;
    const unsigned char *bytes = data;
    uintptr_t write[3] = {(uintptr_t)file, (uintptr_t)data, size};
    if (!is_text) semihosting(0x05, write);
    for (unsigned at = 0; is_text && at < size; at++) {
        put("0123456789abcdef"[bytes[at] >> 4]);
        put("0123456789abcdef"[bytes[at] & 15]);
    }
}

static void *allocate(unsigned size, void *unused) {
    static char heap[4096];
    static unsigned used;
    (void)unused;
    used += size;
    return heap + used - size;
}

void run(const char *what) {
    is_text = same(what, "text");
    int result = same(what, "thrice") ? thrice(2) : twice(2);
    for (const struct gcov_info *const *info = gcov_begin; info < gcov_end; info++) {
        __gcov_info_to_gcda(*info, name, dump, allocate, 0);
        if (is_text) put('\n');
    }
    finish(result == 4 ? 0 : 1);
}
