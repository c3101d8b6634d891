/* The first serial port of the mps2-an385, and semihosting to reach the host: exit and command line. */
#include "board.h"

#define UART0 ((volatile struct uart *)0x40004000u)
#define UART_STATE_TX_FULL 1u
#define UART_CTRL_TX_ENABLE 1u

#define SYS_GET_CMDLINE 0x15
#define SYS_EXIT_EXTENDED 0x20
#define APPLICATION_EXIT 0x20026u

struct uart {
    uint32_t data;
    uint32_t state;
    uint32_t ctrl;
    uint32_t interrupts;
    uint32_t baud_divider;
};

static int semihosting(int operation, void *block)
{
    register int r0 __asm__("r0") = operation;
    register void *r1 __asm__("r1") = block;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

static void put(char c)
{
    UART0->baud_divider = 16;
    UART0->ctrl = UART_CTRL_TX_ENABLE;
    while (UART0->state & UART_STATE_TX_FULL) {
    }
    UART0->data = (uint8_t)c;
}

void board_print(const char *text)
{
    while (*text) {
        put(*text++);
    }
}

void board_print_number(long number)
{
    char digits[12];
    size_t at = sizeof digits - 1;
    unsigned long rest = number < 0 ? 0ul - (unsigned long)number : (unsigned long)number;
    digits[at] = '\0';
    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (number < 0) {
        put('-');
    }
    board_print(&digits[at]);
}

void board_print_hex(uint32_t number)
{
    board_print("0x");
    for (int shift = 28; shift >= 0; shift -= 4) {
        put("0123456789abcdef"[number >> shift & 0xf]);
    }
}

void board_exit(int status)
{
    uint32_t block[2] = {APPLICATION_EXIT, (uint32_t)status};
    for (;;) {
        semihosting(SYS_EXIT_EXTENDED, block);
    }
}

void board_command_line(char *line, size_t size)
{
    struct {
        char *line;
        size_t size;
    } block = {line, size};
    line[0] = '\0';
    if (semihosting(SYS_GET_CMDLINE, &block) != 0) {
        line[0] = '\0';
    }
}
