/* The cases of the timer wheel, the scheduler and the tick. Time passes by calling wheel_tick, but for the last cases. */
#include <string.h>

#include "check.h"
#include "sched.h"
#include "tick.h"

static struct wheel wheel;
static struct timer timers[4];
static int fired[4];
static struct sched sched;
static char order[16];
static size_t ordered;

static void count(struct timer *timer)
{
    fired[timer - timers]++;
}

static void fresh(void)
{
    wheel_init(&wheel);
    sched_init(&sched);
    memset(fired, 0, sizeof fired);
    memset(order, 0, sizeof order);
    ordered = 0;
    for (int i = 0; i < 4; i++) {
        timer_init(&timers[i], count);
    }
}

static void pass(unsigned ticks)
{
    while (ticks--) {
        wheel_tick(&wheel);
    }
}

static void pass_for_tasks(unsigned ticks)
{
    while (ticks--) {
        wheel_tick(&sched.wheel);
    }
}

static void note(struct sched *s, int id)
{
    (void)s;
    if (ordered < sizeof order - 1) {
        order[ordered++] = (char)('A' + id);
    }
}

static void note_and_sleep(struct sched *s, int id)
{
    note(s, id);
    sched_sleep(s, id, 3);
}

static void note_and_end(struct sched *s, int id)
{
    note(s, id);
    sched_end(s, id);
}

static void timer_ends_at_its_tick(void)
{
    fresh();
    CHECK(wheel_start(&wheel, &timers[0], 5, 0));
    CHECK_EQ(1, wheel.running);
    pass(4);
    CHECK_EQ(0, fired[0]);
    pass(1);
    CHECK_EQ(1, fired[0]);
    CHECK_EQ(0, wheel.running);
    pass(40);
    CHECK_EQ(1, fired[0]);
}

static void delay_of_nothing_is_the_next_tick(void)
{
    fresh();
    CHECK(wheel_start(&wheel, &timers[0], 0, 0));
    CHECK_EQ(0, fired[0]);
    pass(1);
    CHECK_EQ(1, fired[0]);
}

static void delay_of_whole_turns_is_kept(void)
{
    fresh();
    wheel_start(&wheel, &timers[0], 16, 0);
    wheel_start(&wheel, &timers[1], 17, 0);
    wheel_start(&wheel, &timers[2], 48, 0);
    pass(15);
    CHECK_EQ(0, fired[0]);
    pass(1);
    CHECK_EQ(1, fired[0]);
    CHECK_EQ(0, fired[1]);
    pass(1);
    CHECK_EQ(1, fired[1]);
    pass(30);
    CHECK_EQ(0, fired[2]);
    pass(1);
    CHECK_EQ(1, fired[2]);
}

static void too_long_a_delay_is_refused(void)
{
    fresh();
    CHECK(!wheel_start(&wheel, &timers[0], WHEEL_DELAY_MAX + 1, 0));
    CHECK_EQ(0, wheel.running);
    CHECK(wheel_start(&wheel, &timers[0], WHEEL_DELAY_MAX, 0));
    timer_init(&timers[1], NULL);
    CHECK(!wheel_start(&wheel, &timers[1], 1, 0));
}

static void periodic_timer_goes_on(void)
{
    fresh();
    wheel_start(&wheel, &timers[0], 2, 10);
    pass(2);
    CHECK_EQ(1, fired[0]);
    pass(9);
    CHECK_EQ(1, fired[0]);
    pass(1);
    CHECK_EQ(2, fired[0]);
    pass(30);
    CHECK_EQ(5, fired[0]);
    CHECK_EQ(1, wheel.running);
}

static void stopped_timer_does_not_end(void)
{
    fresh();
    wheel_start(&wheel, &timers[0], 5, 0);
    wheel_start(&wheel, &timers[1], 5, 0);
    wheel_start(&wheel, &timers[2], 5, 0);
    CHECK(wheel_stop(&wheel, &timers[1]));
    CHECK(!wheel_stop(&wheel, &timers[1]));
    CHECK_EQ(2, wheel.running);
    pass(5);
    CHECK_EQ(1, fired[0]);
    CHECK_EQ(0, fired[1]);
    CHECK_EQ(1, fired[2]);
}

static void timer_started_again_ends_once(void)
{
    fresh();
    wheel_start(&wheel, &timers[0], 3, 0);
    pass(2);
    wheel_start(&wheel, &timers[0], 3, 0);
    CHECK_EQ(1, wheel.running);
    pass(2);
    CHECK_EQ(0, fired[0]);
    pass(20);
    CHECK_EQ(1, fired[0]);
}

static void stop_the_neighbour(struct timer *timer)
{
    count(timer);
    wheel_stop(&wheel, &timers[1]);
    wheel_stop(&wheel, &timers[2]);
}

static void timer_that_ends_may_stop_its_neighbours(void)
{
    fresh();
    timer_init(&timers[0], stop_the_neighbour);
    wheel_start(&wheel, &timers[0], 4, 0);
    wheel_start(&wheel, &timers[1], 4, 0);
    wheel_start(&wheel, &timers[2], 20, 0);
    pass(40);
    CHECK_EQ(1, fired[0]);
    CHECK_EQ(0, fired[1]);
    CHECK_EQ(0, fired[2]);
    CHECK_EQ(0, wheel.running);
}

static void wheel_turns_over_with_its_counter(void)
{
    fresh();
    wheel.now = 0xfffffff8u;
    wheel_start(&wheel, &timers[0], 12, 0);
    pass(11);
    CHECK_EQ(0, fired[0]);
    pass(1);
    CHECK_EQ(1, fired[0]);
    CHECK_EQ(4, wheel.now);
}

static void highest_priority_runs(void)
{
    fresh();
    CHECK_EQ(0, sched_add(&sched, note, 1));
    CHECK_EQ(1, sched_add(&sched, note_and_sleep, 5));
    CHECK_EQ(2, sched_add(&sched, note, 0));
    CHECK_EQ(1, sched_step(&sched));
    CHECK_EQ(0, sched_step(&sched));
    CHECK_EQ(0, sched_step(&sched));
    pass_for_tasks(3);
    CHECK_EQ(1, sched_step(&sched));
    CHECK_BYTES("BAAB", order, 5);
    CHECK_EQ(2, sched.tasks[1].runs);
}

static void equal_priorities_take_turns(void)
{
    fresh();
    sched_add(&sched, note, 2);
    sched_add(&sched, note, 2);
    sched_add(&sched, note, 1);
    sched_add(&sched, note, 2);
    for (int i = 0; i < 7; i++) {
        sched_step(&sched);
    }
    CHECK_BYTES("ABDABDA", order, 8);
}

static void table_of_tasks_is_full_at_eight(void)
{
    fresh();
    for (int i = 0; i < SCHED_TASKS_MAX; i++) {
        CHECK_EQ(i, sched_add(&sched, note, 0));
    }
    CHECK_EQ(SCHED_NO_TASK, sched_add(&sched, note, 0));
    CHECK(sched_end(&sched, 6));
    CHECK_EQ(6, sched_add(&sched, note, 0));
    CHECK_EQ(0, sched.tasks[6].runs);
}

static void bad_tasks_are_refused(void)
{
    fresh();
    CHECK_EQ(SCHED_NO_TASK, sched_add(&sched, NULL, 1));
    CHECK_EQ(SCHED_NO_TASK, sched_add(&sched, note, -1));
    CHECK_EQ(SCHED_NO_TASK, sched_add(&sched, note, SCHED_PRIORITY_MAX + 1));
    CHECK_EQ(0, sched_add(&sched, note, SCHED_PRIORITY_MAX));
    CHECK(!sched_sleep(&sched, 1, 1));
    CHECK(!sched_sleep(&sched, -1, 1));
    CHECK(!sched_wake(&sched, SCHED_TASKS_MAX));
    CHECK(!sched_end(&sched, 7));
}

static void sleeping_task_wakes_by_time_or_by_hand(void)
{
    fresh();
    sched_add(&sched, note, 0);
    CHECK(!sched_wake(&sched, 0));
    CHECK(sched_sleep(&sched, 0, 10));
    CHECK_EQ(SCHED_NO_TASK, sched_step(&sched));
    pass_for_tasks(9);
    CHECK_EQ(SCHED_NO_TASK, sched_step(&sched));
    pass_for_tasks(1);
    CHECK_EQ(0, sched_step(&sched));
    CHECK(sched_sleep(&sched, 0, 10));
    CHECK(sched_wake(&sched, 0));
    CHECK_EQ(0, sched.wheel.running);
    CHECK_EQ(0, sched_step(&sched));
}

static void ended_task_never_runs_again(void)
{
    fresh();
    sched_add(&sched, note_and_end, 3);
    sched_add(&sched, note, 3);
    sched_step(&sched);
    sched_step(&sched);
    sched_step(&sched);
    CHECK_BYTES("ABB", order, 4);
    CHECK(!sched_end(&sched, 0));
    CHECK(!sched_sleep(&sched, 0, 1));
    CHECK(!sched_wake(&sched, 0));
}

static void task_ended_in_its_sleep_does_not_wake(void)
{
    fresh();
    sched_add(&sched, note, 0);
    sched_sleep(&sched, 0, 2);
    sched_end(&sched, 0);
    CHECK_EQ(0, sched.wheel.running);
    pass_for_tasks(5);
    CHECK_EQ(SCHED_NO_TASK, sched_step(&sched));
    CHECK_EQ(TASK_ENDED, sched.tasks[0].state);
}

static void waiting_too_long_is_counted(void)
{
    fresh();
    sched_add(&sched, note, 5);
    sched_add(&sched, note, 1);
    pass_for_tasks(20);
    sched_step(&sched);
    CHECK_EQ(0, sched.tasks[0].late);
    pass_for_tasks(1);
    sched_sleep(&sched, 0, 100);
    sched_step(&sched);
    CHECK_EQ(1, sched.tasks[1].late);
    pass_for_tasks(5);
    sched_step(&sched);
    CHECK_EQ(1, sched.tasks[1].late);
}

static void idle_time_is_counted_in_percent(void)
{
    fresh();
    CHECK_EQ(0, sched_idle_percent(&sched, 0));
    sched_add(&sched, note_and_sleep, 0);
    for (int i = 0; i < 8; i++) {
        sched_step(&sched);
        pass_for_tasks(1);
    }
    CHECK_EQ(5, sched.idle);
    CHECK_EQ(62, sched_idle_percent(&sched, 8));
    sched.idle = 100000000u;
    CHECK_EQ(50, sched_idle_percent(&sched, 200000000u));
}

static void span_survives_the_turn_of_the_counter(void)
{
    tick_set(5);
    CHECK(tick_passed(0, 5));
    CHECK(!tick_passed(0, 6));
    CHECK(tick_passed(0xfffffffcu, 3));
    CHECK(tick_passed(0xfffffffcu, 9));
    CHECK(!tick_passed(0xfffffffcu, 10));
}

static void reload_that_does_not_fit_is_refused(void)
{
    CHECK(!tick_start(0));
    CHECK(!tick_start(1));
    CHECK(!tick_start(0x1000001));
    CHECK(tick_start(0x1000000));
    tick_stop();
}

static void ticks_are_counted_by_the_interrupt(void)
{
    tick_set(0);
    CHECK(tick_start(1000));
    CHECK(tick_wait(3, 20000000));
    CHECK(tick_now() >= 3);
    tick_stop();
    uint32_t now = tick_now();
    CHECK(!tick_wait(2, 1000));
    CHECK_EQ(now, tick_now());
}

static const struct check_case cases[] = {
    CASE(timer_ends_at_its_tick),
    CASE(delay_of_nothing_is_the_next_tick),
    CASE(delay_of_whole_turns_is_kept),
    CASE(too_long_a_delay_is_refused),
    CASE(periodic_timer_goes_on),
    CASE(stopped_timer_does_not_end),
    CASE(timer_started_again_ends_once),
    CASE(timer_that_ends_may_stop_its_neighbours),
    CASE(wheel_turns_over_with_its_counter),
    CASE(highest_priority_runs),
    CASE(equal_priorities_take_turns),
    CASE(table_of_tasks_is_full_at_eight),
    CASE(bad_tasks_are_refused),
    CASE(sleeping_task_wakes_by_time_or_by_hand),
    CASE(ended_task_never_runs_again),
    CASE(task_ended_in_its_sleep_does_not_wake),
    CASE(waiting_too_long_is_counted),
    CASE(idle_time_is_counted_in_percent),
    CASE(span_survives_the_turn_of_the_counter),
    CASE(reload_that_does_not_fit_is_refused),
    CASE(ticks_are_counted_by_the_interrupt),
};

int main(void)
{
    return check_run(__FILE__, cases, sizeof cases / sizeof cases[0]);
}
