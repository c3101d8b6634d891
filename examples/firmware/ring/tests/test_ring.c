/* The cases of the ring and of the driver on top of it; the registers are memory, and the cases are the hardware. */
#include <string.h>

#include "check.h"
#include "uart.h"

#define CLOCK 25000000u

static struct ring ring;
static uint8_t room[8];
static struct uart uart;
static volatile struct uart_registers registers;

static void fresh(void)
{
    memset(room, 0xee, sizeof room);
    ring_init(&ring, room, sizeof room);
    memset((void *)&registers, 0, sizeof registers);
    uart_init(&uart, &registers, CLOCK, 115200);
}

/* The hardware receives a byte. */
static void arrive(uint8_t byte)
{
    registers.data = byte;
    registers.state = UART_STATE_RX_FULL | UART_STATE_TX_FULL;
    uart_interrupt(&uart);
}

static void arrive_text(const char *text)
{
    while (*text) {
        arrive((uint8_t)*text++);
    }
}

/* The hardware could send a byte: answers it, or -1 where the driver has none. */
static int leave(void)
{
    if (!(registers.ctrl & UART_CTRL_TX_INTERRUPT)) {
        return -1;
    }
    registers.data = 0xffffffffu;
    registers.state = 0;
    uart_interrupt(&uart);
    return registers.data == 0xffffffffu ? -1 : (int)registers.data;
}

static void room_must_be_a_power_of_two(void)
{
    CHECK(ring_init(&ring, room, 8));
    CHECK(ring_init(&ring, room, 1));
    CHECK(ring_init(&ring, room, RING_ROOM_MAX));
    CHECK(!ring_init(&ring, room, 2 * RING_ROOM_MAX));
    CHECK(!ring_init(&ring, room, 6));
    CHECK(!ring_init(&ring, room, 0));
    CHECK(!ring_init(&ring, NULL, 8));
}

static void bytes_come_out_in_order(void)
{
    uint8_t byte;
    fresh();
    for (int i = 1; i <= 5; i++) {
        CHECK(ring_put(&ring, (uint8_t)i));
    }
    CHECK_EQ(5, ring_count(&ring));
    CHECK_EQ(3, ring_free(&ring));
    for (int i = 1; i <= 5; i++) {
        CHECK(ring_get(&ring, &byte));
        CHECK_EQ(i, byte);
    }
    CHECK(!ring_get(&ring, &byte));
}

static void whole_room_is_used_and_no_more(void)
{
    uint8_t byte;
    fresh();
    for (int i = 0; i < 8; i++) {
        CHECK(ring_put(&ring, (uint8_t)i));
    }
    CHECK_EQ(0, ring_free(&ring));
    CHECK(!ring_put(&ring, 99));
    CHECK_EQ(1, ring.dropped);
    CHECK_EQ(8, ring_count(&ring));
    CHECK(ring_get(&ring, &byte));
    CHECK_EQ(0, byte);
}

static void indices_wrap_around_many_times(void)
{
    uint8_t byte = 0;
    fresh();
    ring.head = ring.tail = 0xfffc;
    for (unsigned i = 0; i < 300; i++) {
        CHECK(ring_put(&ring, (uint8_t)i));
        CHECK(ring_put(&ring, (uint8_t)(i + 1)));
        CHECK_EQ(2, ring_count(&ring));
        CHECK(ring_get(&ring, &byte));
        CHECK_EQ((uint8_t)i, byte);
        CHECK(ring_get(&ring, &byte));
    }
    CHECK_EQ(0, ring_count(&ring));
}

static void write_goes_over_the_end(void)
{
    fresh();
    ring.head = ring.tail = 6;
    CHECK_EQ(5, ring_write(&ring, (const uint8_t *)"abcde", 5));
    CHECK_BYTES("ab", &room[6], 2);
    CHECK_BYTES("cde", &room[0], 3);
    CHECK_EQ(0xee, room[3]);
    CHECK_EQ(5, ring_count(&ring));
}

static void read_goes_over_the_end(void)
{
    uint8_t out[8] = {0};
    fresh();
    ring.head = ring.tail = 5;
    ring_write(&ring, (const uint8_t *)"abcdefg", 7);
    CHECK_EQ(6, ring_read(&ring, out, 6));
    CHECK_BYTES("abcdef", out, 7);
    CHECK_EQ(1, ring_count(&ring));
}

static void write_takes_what_fits_and_counts_the_rest(void)
{
    uint8_t out[8];
    fresh();
    CHECK_EQ(6, ring_write(&ring, (const uint8_t *)"123456", 6));
    CHECK_EQ(2, ring_write(&ring, (const uint8_t *)"78901", 5));
    CHECK_EQ(3, ring.dropped);
    CHECK_EQ(0, ring_write(&ring, (const uint8_t *)"x", 1));
    CHECK_EQ(4, ring.dropped);
    CHECK_EQ(8, ring_read(&ring, out, 100));
    CHECK_BYTES("12345678", out, 8);
    CHECK_EQ(0, ring_count(&ring));
}

static void most_is_remembered(void)
{
    uint8_t out[8];
    fresh();
    ring_write(&ring, (const uint8_t *)"12345", 5);
    ring_read(&ring, out, 4);
    ring_put(&ring, 'x');
    CHECK_EQ(5, ring.most);
    ring_write(&ring, (const uint8_t *)"123456", 6);
    CHECK_EQ(8, ring.most);
}

static void peek_takes_nothing_out(void)
{
    uint8_t byte = 0;
    fresh();
    ring.head = ring.tail = 7;
    ring_write(&ring, (const uint8_t *)"xyz", 3);
    CHECK(ring_peek(&ring, 2, &byte));
    CHECK_EQ('z', byte);
    CHECK(!ring_peek(&ring, 3, &byte));
    CHECK_EQ(3, ring_count(&ring));
}

static void find_looks_only_at_what_is_inside(void)
{
    fresh();
    ring_write(&ring, (const uint8_t *)"a\nb\nc", 5);
    CHECK_EQ(1, ring_find(&ring, '\n'));
    CHECK_EQ(2, ring_discard(&ring, 2));
    CHECK_EQ(1, ring_find(&ring, '\n'));
    CHECK_EQ(2, ring_find(&ring, 'c'));
    CHECK_EQ(RING_NOT_FOUND, ring_find(&ring, 'a'));
    CHECK_EQ(3, ring_discard(&ring, 9));
    CHECK_EQ(RING_NOT_FOUND, ring_find(&ring, 'c'));
}

static void speed_is_rounded_to_the_nearest(void)
{
    fresh();
    CHECK_EQ(217, registers.divider);
    CHECK(uart_init(&uart, &registers, CLOCK, 9600));
    CHECK_EQ(2604, registers.divider);
    CHECK(uart_init(&uart, &registers, CLOCK, 230400));
    CHECK_EQ(109, registers.divider);
    CHECK(uart_init(&uart, &registers, 1600, 100));
    CHECK_EQ(16, registers.divider);
    CHECK(uart_init(&uart, &registers, 1048575, 1));
    CHECK_EQ(0xfffff, registers.divider);
}

static void speed_that_cannot_be_had_is_refused(void)
{
    CHECK(!uart_init(&uart, &registers, CLOCK, 0));
    CHECK(!uart_init(&uart, &registers, 1500, 100));
    CHECK(!uart_init(&uart, &registers, 1048576, 1));
    CHECK(!uart_init(&uart, &registers, 1650, 100));
    CHECK(uart_init(&uart, &registers, 1632, 100));
}

static void port_is_listening_and_silent_at_the_start(void)
{
    fresh();
    CHECK_EQ(0xb, registers.ctrl);
    CHECK_EQ(-1, leave());
}

static void text_is_sent_byte_by_byte(void)
{
    fresh();
    CHECK_EQ(2, uart_write(&uart, "hi", 2));
    CHECK_EQ('h', leave());
    CHECK_EQ('i', leave());
    CHECK_EQ(-1, leave());
    CHECK_EQ(0xb, registers.ctrl);
    CHECK_EQ(0, uart_write(&uart, "", 0));
    CHECK_EQ(0xb, registers.ctrl);
}

static void nothing_is_sent_while_the_port_is_full(void)
{
    fresh();
    uart_write(&uart, "z", 1);
    registers.data = 0x55;
    registers.state = UART_STATE_TX_FULL;
    uart_interrupt(&uart);
    CHECK_EQ(0x55, registers.data);
    CHECK_EQ('z', leave());
}

static void line_is_read_without_its_end(void)
{
    char line[16];
    fresh();
    arrive_text("status\r\nnext");
    CHECK_EQ(6, uart_read_line(&uart, line, sizeof line));
    CHECK_BYTES("status", line, 7);
    CHECK_EQ(-1, uart_read_line(&uart, line, sizeof line));
    arrive('\n');
    CHECK_EQ(4, uart_read_line(&uart, line, sizeof line));
    CHECK_BYTES("next", line, 5);
    arrive('\n');
    CHECK_EQ(0, uart_read_line(&uart, line, sizeof line));
    CHECK_EQ(0, ring_count(&uart.rx));
}

static void long_line_is_cut_and_its_rest_thrown_away(void)
{
    char line[8];
    fresh();
    memset(line, '#', sizeof line);
    arrive_text("abcdefgh\nij\n");
    CHECK_EQ(4, uart_read_line(&uart, line, 5));
    CHECK_BYTES("abcd", line, 5);
    CHECK_EQ('#', line[5]);
    CHECK_EQ(2, uart_read_line(&uart, line, sizeof line));
    CHECK_BYTES("ij", line, 3);
    arrive_text("1234567\n");
    CHECK_EQ(7, uart_read_line(&uart, line, sizeof line));
    CHECK_BYTES("1234567", line, 8);
}

static void other_side_stops_us_and_lets_us_go_on(void)
{
    fresh();
    uart_write(&uart, "ab", 2);
    CHECK_EQ('a', leave());
    arrive(UART_XOFF);
    CHECK_EQ(-1, leave());
    CHECK_EQ(-1, leave());
    arrive(UART_XON);
    CHECK_EQ('b', leave());
    CHECK_EQ(0, ring_count(&uart.rx));
}

static void we_stop_the_other_side_before_the_ring_is_full(void)
{
    fresh();
    for (int i = 0; i < 48; i++) {
        arrive('.');
    }
    CHECK_EQ(-1, leave());
    arrive('.');
    CHECK_EQ(UART_XOFF, leave());
    arrive('.');
    CHECK_EQ(-1, leave());
    CHECK_EQ(50, ring_count(&uart.rx));
}

static void we_let_the_other_side_go_on_when_there_is_room(void)
{
    char line[64];
    fresh();
    arrive_text("0123456789012345678901234567\n");
    arrive_text("01234567890123456\nabc");
    arrive('d');
    CHECK_EQ(UART_XOFF, leave());
    CHECK_EQ(28, uart_read_line(&uart, line, sizeof line));
    CHECK_EQ(-1, leave());
    CHECK_EQ(17, uart_read_line(&uart, line, sizeof line));
    CHECK_EQ(UART_XON, leave());
    CHECK_EQ(-1, leave());
}

static void control_goes_first_and_also_when_we_are_stopped(void)
{
    fresh();
    uart_write(&uart, "data", 4);
    arrive(UART_XOFF);
    for (int i = 0; i < 60; i++) {
        arrive('.');
    }
    CHECK_EQ(UART_XOFF, leave());
    CHECK_EQ(-1, leave());
    arrive(UART_XON);
    CHECK_EQ('d', leave());
}

static void overrun_is_counted_and_cleared(void)
{
    fresh();
    registers.state = UART_STATE_RX_OVERRUN;
    uart_interrupt(&uart);
    CHECK_EQ(1, uart.overruns);
    CHECK_EQ(UART_STATE_RX_OVERRUN, registers.state);
    CHECK_EQ(0, ring_count(&uart.rx));
    arrive('x');
    CHECK_EQ(1, uart.overruns);
    CHECK_EQ(1, ring_count(&uart.rx));
}

static const struct check_case cases[] = {
    CASE(room_must_be_a_power_of_two),
    CASE(bytes_come_out_in_order),
    CASE(whole_room_is_used_and_no_more),
    CASE(indices_wrap_around_many_times),
    CASE(write_goes_over_the_end),
    CASE(read_goes_over_the_end),
    CASE(write_takes_what_fits_and_counts_the_rest),
    CASE(most_is_remembered),
    CASE(peek_takes_nothing_out),
    CASE(find_looks_only_at_what_is_inside),
    CASE(speed_is_rounded_to_the_nearest),
    CASE(speed_that_cannot_be_had_is_refused),
    CASE(port_is_listening_and_silent_at_the_start),
    CASE(text_is_sent_byte_by_byte),
    CASE(nothing_is_sent_while_the_port_is_full),
    CASE(line_is_read_without_its_end),
    CASE(long_line_is_cut_and_its_rest_thrown_away),
    CASE(other_side_stops_us_and_lets_us_go_on),
    CASE(we_stop_the_other_side_before_the_ring_is_full),
    CASE(we_let_the_other_side_go_on_when_there_is_room),
    CASE(control_goes_first_and_also_when_we_are_stopped),
    CASE(overrun_is_counted_and_cleared),
};

int main(void)
{
    return check_run(__FILE__, cases, sizeof cases / sizeof cases[0]);
}
