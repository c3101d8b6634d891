/* The core's own timer: ticks counted by its interrupt, and time spans that survive the counter's turning over. */
#ifndef TICK_H
#define TICK_H

#include <stdbool.h>
#include <stdint.h>

#define TICK_RELOAD_MAX 0xffffffu

/* False where the reload value does not fit the hardware. */
bool tick_start(uint32_t cycles_per_tick);
void tick_stop(void);
uint32_t tick_now(void);
void tick_set(uint32_t ticks);

/* Whether `span` ticks have gone by since `since`. */
bool tick_passed(uint32_t since, uint32_t span);

/* Waits for ticks, at most for so many turns of a loop: false where the timer does not run. */
bool tick_wait(uint32_t ticks, uint32_t turns_max);

void systick_handler(void);

#endif
