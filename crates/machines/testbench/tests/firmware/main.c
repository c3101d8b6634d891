// One image with many endings: its argument selects the behaviour.
#include "bench.h"

volatile int sink;

__attribute__((noinline)) static int add(int one, int other) {
    return one + other;
}

__attribute__((noinline)) static void never_called(void) {
    sink = 42; // never reached
}

__attribute__((noinline)) static void wait_for_ever(void) {
    while (sink == 0) {} // the hang
}

__attribute__((noinline)) static void chatter(void) {
    for (;;) say("still here\n");
}

__attribute__((noinline)) static void dialogue(void) {
    char name[16];
    int length = 0;
    say("name> ");
    for (char letter; (letter = get()) != '\n' && length < 15;) name[length++] = letter;
    name[length] = 0;
    say("hello ");
    say(name);
    say("\nready> ");
    finish(get() == 'q' ? 0 : 3);
}

__attribute__((noinline)) static void escape(void) {
    // SYS_OPEN for writing; SYS_WRITE; SYS_SYSTEM.
    const char *paths[] = {OUTSIDE "/written", "inside.txt"};
    for (int i = 0; i < 2; i++) {
        uintptr_t open[3] = {(uintptr_t)paths[i], 4, (uintptr_t)length(paths[i])};
        long handle = semihosting(0x01, open);
        say(handle == -1 ? "open refused\n" : "open allowed\n");
        uintptr_t write[3] = {(uintptr_t)handle, (uintptr_t)"x", 1};
        if (handle != -1) semihosting(0x05, write);
        uintptr_t close[1] = {(uintptr_t)handle};
        if (handle != -1) semihosting(0x02, close);
    }
    const char *command = "echo x > " OUTSIDE "/commanded; ln -s " OUTSIDE "/linked linked.txt; ln -s " OUTSIDE "/linked ../serial.log; ln -s " OUTSIDE "/linked ../ran.new";
    uintptr_t system[2] = {(uintptr_t)command, (uintptr_t)length(command)};
    semihosting(0x12, system);
    say("tried\n");
    finish(0);
}

__attribute__((noinline)) static void by_semihosting(void) {
    semihosting(0x04, "said by semihosting\n"); // SYS_WRITE0
    finish(0);
}

__attribute__((noinline)) static void time(void) {
    uint32_t begun = ticks();
    for (int i = 0; i < 20000; i++) sink = i;
    say_hex("ticks", (ticks() - begun) & 0xffffff);
    finish(0);
}

__attribute__((noinline)) static void work(void) {
    for (int i = 0; i < 100000000; i++) sink = i;
}

void run(const char *what) {
    say("booted\n");
    if (same(what, "work")) work();
    if (same(what, "hang")) wait_for_ever();
    if (same(what, "fault")) fault();
    if (same(what, "loop")) reset();
    if (same(what, "early")) finish(0);
    if (same(what, "talk")) dialogue();
    if (same(what, "escape")) escape();
    if (same(what, "chatter")) chatter();
    if (same(what, "semihosting")) by_semihosting();
    if (same(what, "time")) time();
    if (same(what, "never")) never_called();
    int is_right = add(2, 2) == 4;
    if (same(what, "fail")) is_right = 0;
    say(is_right ? "main.c:1:test_add:PASS\n" : "main.c:1:test_add:FAIL: expected 4\n");
    say(is_right ? "1 Tests 0 Failures 0 Ignored\nOK\n" : "1 Tests 1 Failures 0 Ignored\nFAIL\n");
    finish(is_right ? 0 : 1);
}
