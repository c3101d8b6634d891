#include "uart.h"

static bool set_speed(struct uart *uart, uint32_t clock, uint32_t baud)
{
    if (baud == 0) {
        return false;
    }
    uint32_t divider = (clock + baud / 2) / baud;
    if (divider < UART_DIVIDER_MIN || divider > UART_DIVIDER_MAX) {
        return false;
    }
    uint32_t real = clock / divider;
    uint32_t off = real > baud ? real - baud : baud - real;
    if (off > baud / 50) {
        return false;
    }
    uart->registers->divider = divider;
    return true;
}

bool uart_init(struct uart *uart, volatile struct uart_registers *registers, uint32_t clock, uint32_t baud)
{
    uart->registers = registers;
    uart->control = 0;
    uart->stopped_by_them = false;
    uart->stopped_by_us = false;
    uart->overruns = 0;
    ring_init(&uart->tx, uart->tx_bytes, UART_TX_ROOM);
    ring_init(&uart->rx, uart->rx_bytes, UART_RX_ROOM);
    if (!set_speed(uart, clock, baud)) {
        return false;
    }
    registers->ctrl = UART_CTRL_TX_ENABLE | UART_CTRL_RX_ENABLE | UART_CTRL_RX_INTERRUPT;
    return true;
}

static void want_to_send(struct uart *uart)
{
    uart->registers->ctrl |= UART_CTRL_TX_INTERRUPT;
}

static void control(struct uart *uart, uint8_t byte)
{
    uart->control = byte;
    uart->stopped_by_us = byte == UART_XOFF;
    want_to_send(uart);
}

static void received(struct uart *uart, uint8_t byte)
{
    if (byte == UART_XOFF) {
        uart->stopped_by_them = true;
        return;
    }
    if (byte == UART_XON) {
        uart->stopped_by_them = false;
        want_to_send(uart);
        return;
    }
    ring_put(&uart->rx, byte);
    if (!uart->stopped_by_us && ring_free(&uart->rx) < UART_STOP_BELOW) {
        control(uart, UART_XOFF);
    }
}

/* A control byte goes before the data, and also when the other side has stopped us. */
static void send_next(struct uart *uart)
{
    uint8_t byte;
    if (uart->control) {
        uart->registers->data = uart->control;
        uart->control = 0;
    } else if (!uart->stopped_by_them && ring_get(&uart->tx, &byte)) {
        uart->registers->data = byte;
    } else {
        uart->registers->ctrl &= ~UART_CTRL_TX_INTERRUPT;
    }
}

void uart_interrupt(struct uart *uart)
{
    uint32_t state = uart->registers->state;
    if (state & UART_STATE_RX_OVERRUN) {
        uart->overruns++;
        uart->registers->state = UART_STATE_RX_OVERRUN;
    }
    if (state & UART_STATE_RX_FULL) {
        received(uart, (uint8_t)uart->registers->data);
    }
    if ((uart->registers->ctrl & UART_CTRL_TX_INTERRUPT) && !(state & UART_STATE_TX_FULL)) {
        send_next(uart);
    }
}

uint16_t uart_write(struct uart *uart, const void *bytes, uint16_t count)
{
    uint16_t taken = ring_write(&uart->tx, bytes, count);
    if (taken > 0) {
        want_to_send(uart);
    }
    return taken;
}

int uart_read_line(struct uart *uart, char *line, uint16_t size)
{
    uint16_t length = ring_find(&uart->rx, '\n');
    if (length == RING_NOT_FOUND || size == 0) {
        return -1;
    }
    uint16_t kept = length < size ? length : size - 1;
    ring_read(&uart->rx, (uint8_t *)line, kept);
    ring_discard(&uart->rx, length - kept + 1);
    if (kept > 0 && line[kept - 1] == '\r') {
        kept--;
    }
    line[kept] = '\0';
    if (uart->stopped_by_us && ring_free(&uart->rx) > UART_GO_ABOVE) {
        control(uart, UART_XON);
    }
    return kept;
}
