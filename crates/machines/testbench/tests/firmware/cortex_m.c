// Cortex-M3 on mps2-an385. With HANDLER it prints the place of a fault; without it, a fault locks up the processor.
#include "bench.h"

#define UART ((volatile uint32_t *)0x40004000)
extern uint32_t stack_top;
static char told[256];

void put(char letter) {
    while (UART[1] & 1) {}
    UART[0] = (uint32_t)letter;
}

char get(void) {
    while (!(UART[1] & 2)) {}
    return (char)UART[0];
}

long semihosting(long operation, void *block) {
    register long r0 __asm__("r0") = operation;
    register void *r1 __asm__("r1") = block;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

void fault(void) {
    *(volatile uint32_t *)0xfffffff0 = 1; // the fault
}

void reset(void) {
    *(volatile uint32_t *)0xe000ed0c = 0x05fa0004;
    for (;;) {}
}

uint32_t ticks(void) {
    // SysTick counts down from its reload value.
    volatile uint32_t *timer = (volatile uint32_t *)0xe000e010;
    if (!timer[0]) timer[1] = 0xffffff, timer[2] = 0, timer[0] = 5;
    return 0xffffff - timer[2];
}

#ifdef HANDLER
void report(uint32_t *frame) {
    say("HardFault\n");
    say_hex("pc", frame[6]);
    say_hex("lr", frame[5]);
    say_hex("cfsr", *(volatile uint32_t *)0xe000ed28);
    finish(139);
}

__attribute__((naked)) void hard_fault(void) {
    __asm__ volatile("mrs r0, msp\n b report");
}
#else
void hard_fault(void) {
    *(volatile uint32_t *)0xfffffff0 = 2; // a fault within a fault
}
#endif

void start(void) {
    UART[4] = 16;
    UART[2] = 3;
    uintptr_t block[2] = {(uintptr_t)told, sizeof told};
    const char *what = "";
    // SYS_GET_CMDLINE.
    if (semihosting(0x15, block) == 0)
        for (char *at = told; *at; at++) if (*at == ' ') what = at + 1;
    run(what);
}

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    &stack_top, start, hard_fault, hard_fault, hard_fault, hard_fault, hard_fault,
};
