#include "tick.h"

#define SYSTICK ((volatile struct systick *)0xe000e010u)
#define SYSTICK_ENABLE (1u << 0)
#define SYSTICK_INTERRUPT (1u << 1)
#define SYSTICK_CORE_CLOCK (1u << 2)

struct systick {
    uint32_t control;
    uint32_t reload;
    uint32_t current;
};

static volatile uint32_t ticks_so_far;

void systick_handler(void)
{
    ticks_so_far++;
}

bool tick_start(uint32_t cycles_per_tick)
{
    if (cycles_per_tick < 2 || cycles_per_tick - 1 > TICK_RELOAD_MAX) {
        return false;
    }
    SYSTICK->reload = cycles_per_tick - 1;
    SYSTICK->current = 0;
    SYSTICK->control = SYSTICK_ENABLE | SYSTICK_INTERRUPT | SYSTICK_CORE_CLOCK;
    return true;
}

void tick_stop(void)
{
    SYSTICK->control = 0;
}

uint32_t tick_now(void)
{
    return ticks_so_far;
}

void tick_set(uint32_t ticks)
{
    ticks_so_far = ticks;
}

bool tick_passed(uint32_t since, uint32_t span)
{
    return ticks_so_far - since >= span;
}

bool tick_wait(uint32_t ticks, uint32_t turns_max)
{
    uint32_t since = ticks_so_far;
    for (uint32_t turn = 0; turn < turns_max; turn++) {
        if (tick_passed(since, ticks)) {
            return true;
        }
    }
    return false;
}
