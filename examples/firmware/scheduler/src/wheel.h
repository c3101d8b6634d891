/*
 * A timer wheel: timers hang in the slot of the tick at which they end, and one that is more than a turn away counts
 * its turns. Starting, stopping and a tick cost the same however many timers there are.
 */
#ifndef WHEEL_H
#define WHEEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WHEEL_SLOTS 16u
#define WHEEL_DELAY_MAX 60000u

struct timer {
    struct timer *next;
    struct timer **link; /* what points at this timer; NULL while it is not running */
    void (*expired)(struct timer *timer);
    uint16_t turns;
    uint16_t period; /* 0: once */
};

struct wheel {
    struct timer *slots[WHEEL_SLOTS];
    uint32_t now;
    uint16_t running;
};

void wheel_init(struct wheel *wheel);
void timer_init(struct timer *timer, void (*expired)(struct timer *timer));

/* Starts a timer, again where it runs; a delay of 0 is the next tick. False where the delay is too long. */
bool wheel_start(struct wheel *wheel, struct timer *timer, uint32_t delay, uint16_t period);
bool wheel_stop(struct wheel *wheel, struct timer *timer);
void wheel_tick(struct wheel *wheel);

#endif
