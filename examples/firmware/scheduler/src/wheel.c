#include "wheel.h"

void wheel_init(struct wheel *wheel)
{
    for (size_t i = 0; i < WHEEL_SLOTS; i++) {
        wheel->slots[i] = NULL;
    }
    wheel->now = 0;
    wheel->running = 0;
}

void timer_init(struct timer *timer, void (*expired)(struct timer *timer))
{
    timer->next = NULL;
    timer->link = NULL;
    timer->expired = expired;
    timer->turns = 0;
    timer->period = 0;
}

static void hang(struct timer **slot, struct timer *timer)
{
    timer->next = *slot;
    timer->link = slot;
    if (timer->next != NULL) {
        timer->next->link = &timer->next;
    }
    *slot = timer;
}

static void take_off(struct timer *timer)
{
    *timer->link = timer->next;
    if (timer->next != NULL) {
        timer->next->link = timer->link;
    }
    timer->next = NULL;
    timer->link = NULL;
}

bool wheel_start(struct wheel *wheel, struct timer *timer, uint32_t delay, uint16_t period)
{
    if (delay > WHEEL_DELAY_MAX || timer->expired == NULL) {
        return false;
    }
    if (delay == 0) {
        delay = 1;
    }
    wheel_stop(wheel, timer);
    timer->turns = (uint16_t)((delay - 1) / WHEEL_SLOTS);
    timer->period = period;
    hang(&wheel->slots[(wheel->now + delay) % WHEEL_SLOTS], timer);
    wheel->running++;
    return true;
}

bool wheel_stop(struct wheel *wheel, struct timer *timer)
{
    if (timer->link == NULL) {
        return false;
    }
    take_off(timer);
    wheel->running--;
    return true;
}

static void expire(struct wheel *wheel, struct timer *timer)
{
    wheel_stop(wheel, timer);
    if (timer->period > 0) {
        wheel_start(wheel, timer, timer->period, timer->period);
    }
    timer->expired(timer);
}

/* The slot is emptied first: what a timer does when it ends may start and stop others, in this slot too. */
void wheel_tick(struct wheel *wheel)
{
    struct timer *due = NULL;
    wheel->now++;
    struct timer **slot = &wheel->slots[wheel->now % WHEEL_SLOTS];
    struct timer *timer = *slot;
    while (timer != NULL) {
        struct timer *next = timer->next;
        if (timer->turns == 0) {
            take_off(timer);
            hang(&due, timer);
        } else {
            timer->turns--;
        }
        timer = next;
    }
    while (due != NULL) {
        expire(wheel, due);
    }
}
