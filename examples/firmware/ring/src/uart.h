/*
 * The driver of a serial port of the CMSDK kind: two rings, one interrupt, XON/XOFF so that neither side is overrun.
 * It is given the address of the registers, so that tests can be the hardware.
 */
#ifndef UART_H
#define UART_H

#include "ring.h"

#define UART_TX_ROOM 32u
#define UART_RX_ROOM 64u

/* The other side is stopped when less than this is free, and goes on when more than this is. */
#define UART_STOP_BELOW 16u
#define UART_GO_ABOVE 48u

#define UART_XON 0x11u
#define UART_XOFF 0x13u

#define UART_STATE_TX_FULL (1u << 0)
#define UART_STATE_RX_FULL (1u << 1)
#define UART_STATE_RX_OVERRUN (1u << 3)
#define UART_CTRL_TX_ENABLE (1u << 0)
#define UART_CTRL_RX_ENABLE (1u << 1)
#define UART_CTRL_TX_INTERRUPT (1u << 2)
#define UART_CTRL_RX_INTERRUPT (1u << 3)
#define UART_DIVIDER_MIN 16u
#define UART_DIVIDER_MAX 0xfffffu

struct uart_registers {
    uint32_t data;
    uint32_t state;
    uint32_t ctrl;
    uint32_t interrupts;
    uint32_t divider;
};

struct uart {
    volatile struct uart_registers *registers;
    struct ring tx;
    struct ring rx;
    uint8_t tx_bytes[UART_TX_ROOM];
    uint8_t rx_bytes[UART_RX_ROOM];
    uint8_t control;      /* XON or XOFF that waits to be sent, else 0 */
    bool stopped_by_them; /* XOFF was received */
    bool stopped_by_us;   /* XOFF was sent */
    uint16_t overruns;
};

/* False where the speed cannot be had from the clock, or is more than one in fifty off. */
bool uart_init(struct uart *uart, volatile struct uart_registers *registers, uint32_t clock, uint32_t baud);
void uart_interrupt(struct uart *uart);
uint16_t uart_write(struct uart *uart, const void *bytes, uint16_t count);

/* Takes a whole line out, without its end, cut to fit and terminated; -1 where there is none yet. */
int uart_read_line(struct uart *uart, char *line, uint16_t size);

#endif
