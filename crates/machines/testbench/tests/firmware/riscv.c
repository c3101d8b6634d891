// RISC-V on QEMU's `virt`. With HANDLER it prints the place of a fault; without it, a fault jumps to an address without code.
#include "bench.h"

#define UART ((volatile uint8_t *)0x10000000)
static char told[256];

void put(char letter) {
    while (!(UART[5] & 0x20)) {}
    UART[0] = (uint8_t)letter;
}

char get(void) {
    while (!(UART[5] & 1)) {}
    return (char)UART[0];
}

// The semihosting call: three adjacent uncompressed instructions within one page.
__attribute__((noinline, aligned(16))) long semihosting(long operation, void *block) {
    register long a0 __asm__("a0") = operation;
    register void *a1 __asm__("a1") = block;
    __asm__ volatile(
        ".option push\n .option norvc\n slli x0, x0, 0x1f\n ebreak\n srai x0, x0, 7\n .option pop"
        : "+r"(a0) : "r"(a1) : "memory");
    return a0;
}

void fault(void) {
    *(volatile uint32_t *)0xfffffff0 = 1; // the fault
}

void reset(void) {
    *(volatile uint32_t *)0x100000 = 0x7777;
    for (;;) {}
}

uint32_t ticks(void) {
    return *(volatile uint32_t *)0x200bff8; // the low half of mtime
}

void report(uintptr_t mepc, uintptr_t ra, uintptr_t mcause) {
    say("unhandled trap\n");
    say_hex("mepc", mepc);
    say_hex("ra", ra);
    say_hex("mcause", mcause);
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
    ".section .vectors, \"ax\"\n.global start\n"
    "start:\n"
    "  la sp, stack_top\n"
#ifdef HANDLER
    "  la t0, trap\n"
    "  csrw mtvec, t0\n"
#endif
    "  j begin\n"
    "  .balign 4\n"
    "trap:\n"
    "  csrr a0, mepc\n"
    "  mv a1, ra\n"
    "  csrr a2, mcause\n"
    "  j report\n"
    ".text\n");
