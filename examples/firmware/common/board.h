/* What the samples need of the board: a serial port to print on, a way to end, the words it was started with. */
#ifndef BOARD_H
#define BOARD_H

#include <stddef.h>
#include <stdint.h>

/* Prints on the first serial port, and waits until the port has taken it. */
void board_print(const char *text);
void board_print_number(long number);
void board_print_hex(uint32_t number);

/* Ends the emulation; `status` becomes the exit status of QEMU. */
void board_exit(int status) __attribute__((noreturn));

/* Fills `line` with the words that the firmware was started with; an empty text where there are none. */
void board_command_line(char *line, size_t size);

#endif
