// Cortex-A15 on QEMU's `virt`. With HANDLER it prints the place of a fault; without it, a fault jumps to an address without code.
#include "bench.h"

#define UART ((volatile uint32_t *)0x09000000)
static char told[256];

void put(char letter) {
    while (UART[6] & 0x20) {}
    UART[0] = (uint32_t)letter;
}

char get(void) {
    while (UART[6] & 0x10) {}
    return (char)UART[0];
}

long semihosting(long operation, void *block) {
    register long r0 __asm__("r0") = operation;
    register void *r1 __asm__("r1") = block;
    __asm__ volatile("svc 0x123456" : "+r"(r0) : "r"(r1) : "memory", "lr");
    return r0;
}

void fault(void) {
    *(volatile uint32_t *)0xfffffff0 = 1; // the fault
}

void reset(void) {
    // PSCI's SYSTEM_RESET by `hvc #0`.
    register long r0 __asm__("r0") = (long)0x84000009;
    __asm__ volatile(".word 0xe1400070" : "+r"(r0) : : "memory");
    for (;;) {}
}

uint32_t ticks(void) {
    uint32_t low, high;
    __asm__ volatile("mrrc p15, 1, %0, %1, c14" : "=r"(low), "=r"(high));
    return low;
}

void report(uint32_t pc, uint32_t lr) {
    uint32_t dfsr;
    __asm__ volatile("mrc p15, 0, %0, c5, c0, 0" : "=r"(dfsr));
    say("Data abort\n");
    say_hex("pc", pc);
    say_hex("lr", lr);
    say_hex("dfsr", dfsr);
    finish(139);
}

void begin(void) {
    uintptr_t block[2] = {(uintptr_t)told, sizeof told};
    const char *what = "";
    // SYS_GET_CMDLINE.
    if (semihosting(0x15, block) == 0)
        for (char *at = told; *at; at++) if (*at == ' ') what = at + 1;
    run(what);
}

__asm__(
    ".section .vectors, \"ax\"\n.arm\n.global start\n"
    "start:\n"
    "  ldr sp, =stack_top\n"
#ifdef HANDLER
    "  ldr r0, =vectors\n"
    "  mcr p15, 0, r0, c12, c0, 0\n"
#endif
    "  bl begin\n"
    "  .balign 32\n"
    "vectors:\n"
    "  b .\n  b .\n  b .\n  b .\n  b data_abort\n  b .\n  b .\n  b .\n"
    "data_abort:\n"
    "  sub r0, lr, #8\n"
    "  cps #0x13\n"
    "  mov r1, lr\n"
    "  b report\n"
    "  .ltorg\n"
    ".text\n");
