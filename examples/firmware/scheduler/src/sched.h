/*
 * A scheduler of tasks that give the processor back: the ready task of the highest priority runs, tasks of one
 * priority take turns, a task may sleep for ticks, and one that waited too long in spite of being ready is counted.
 */
#ifndef SCHED_H
#define SCHED_H

#include "wheel.h"

#define SCHED_TASKS_MAX 8
#define SCHED_PRIORITY_MAX 7
#define SCHED_NO_TASK (-1)
#define SCHED_LATE_AFTER 20u

enum task_state {
    TASK_FREE,
    TASK_READY,
    TASK_SLEEPING,
    TASK_ENDED,
};

struct sched;

struct task {
    struct timer timer; /* must be first: the timer that ends is the task that wakes */
    struct sched *sched;
    void (*run)(struct sched *sched, int id);
    enum task_state state;
    uint8_t priority;
    uint32_t ready_since;
    uint32_t runs;
    uint16_t late;
};

struct sched {
    struct wheel wheel;
    struct task tasks[SCHED_TASKS_MAX];
    int last; /* who ran last: the others of its priority come first */
    uint32_t idle;
};

void sched_init(struct sched *sched);

/* Answers the task's number, or SCHED_NO_TASK. */
int sched_add(struct sched *sched, void (*run)(struct sched *sched, int id), int priority);
bool sched_sleep(struct sched *sched, int id, uint32_t ticks);
bool sched_wake(struct sched *sched, int id);
bool sched_end(struct sched *sched, int id);

/* Runs one task and answers which, or SCHED_NO_TASK where all sleep. */
int sched_step(struct sched *sched);

/* How much of the last `of` steps was idle, in percent, rounded down; 0 where there were none. */
uint32_t sched_idle_percent(const struct sched *sched, uint32_t of);

#endif
