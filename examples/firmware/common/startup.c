/* From reset to main, and what happens on a fault: the registers are printed, and the emulation ends with 139. */
#include "board.h"

#define FAULT_STATUS 139
#define CFSR (*(volatile uint32_t *)0xe000ed28u)

extern uint32_t data_image[], data_start[], data_end[], bss_start[], bss_end[], stack_top[];

int main(void);
void reset_handler(void);
void fault_handler(void);
void fault_report(const uint32_t *frame) __attribute__((used));
void systick_handler(void) __attribute__((weak));

void reset_handler(void)
{
    uint32_t *from = data_image;
    for (uint32_t *to = data_start; to < data_end;) {
        *to++ = *from++;
    }
    for (uint32_t *to = bss_start; to < bss_end;) {
        *to++ = 0;
    }
    board_exit(main());
}

/* The core has pushed r0-r3, r12, lr, pc and xpsr. */
void fault_report(const uint32_t *frame)
{
    board_print("\nHardFault pc=");
    board_print_hex(frame[6]);
    board_print(" lr=");
    board_print_hex(frame[5]);
    board_print(" cfsr=");
    board_print_hex(CFSR);
    board_print("\n");
    board_exit(FAULT_STATUS);
}

__attribute__((naked)) void fault_handler(void)
{
    __asm__ volatile("tst lr, #4\n"
                     "ite eq\n"
                     "mrseq r0, msp\n"
                     "mrsne r0, psp\n"
                     "b fault_report\n");
}

void systick_handler(void)
{
}

__attribute__((section(".vectors"), used)) static void *const vectors[16] = {
    stack_top,     reset_handler, fault_handler, fault_handler, fault_handler, fault_handler,
    fault_handler, NULL,          NULL,          NULL,          NULL,          fault_handler,
    fault_handler, NULL,          fault_handler, systick_handler,
};
