#include "sched.h"

static bool is_task(const struct sched *sched, int id)
{
    return id >= 0 && id < SCHED_TASKS_MAX && sched->tasks[id].state != TASK_FREE;
}

static void make_ready(struct task *task)
{
    task->state = TASK_READY;
    task->ready_since = task->sched->wheel.now;
}

static void slept(struct timer *timer)
{
    struct task *task = (struct task *)timer;
    if (task->state == TASK_SLEEPING) {
        make_ready(task);
    }
}

void sched_init(struct sched *sched)
{
    wheel_init(&sched->wheel);
    for (int id = 0; id < SCHED_TASKS_MAX; id++) {
        sched->tasks[id].state = TASK_FREE;
    }
    sched->last = SCHED_NO_TASK;
    sched->idle = 0;
}

int sched_add(struct sched *sched, void (*run)(struct sched *sched, int id), int priority)
{
    if (run == NULL || priority < 0 || priority > SCHED_PRIORITY_MAX) {
        return SCHED_NO_TASK;
    }
    for (int id = 0; id < SCHED_TASKS_MAX; id++) {
        struct task *task = &sched->tasks[id];
        if (task->state == TASK_FREE || task->state == TASK_ENDED) {
            timer_init(&task->timer, slept);
            task->sched = sched;
            task->run = run;
            task->priority = (uint8_t)priority;
            task->runs = 0;
            task->late = 0;
            make_ready(task);
            return id;
        }
    }
    return SCHED_NO_TASK;
}

bool sched_sleep(struct sched *sched, int id, uint32_t ticks)
{
    if (!is_task(sched, id) || sched->tasks[id].state == TASK_ENDED) {
        return false;
    }
    if (!wheel_start(&sched->wheel, &sched->tasks[id].timer, ticks, 0)) {
        return false;
    }
    sched->tasks[id].state = TASK_SLEEPING;
    return true;
}

bool sched_wake(struct sched *sched, int id)
{
    if (!is_task(sched, id) || sched->tasks[id].state != TASK_SLEEPING) {
        return false;
    }
    wheel_stop(&sched->wheel, &sched->tasks[id].timer);
    make_ready(&sched->tasks[id]);
    return true;
}

bool sched_end(struct sched *sched, int id)
{
    if (!is_task(sched, id) || sched->tasks[id].state == TASK_ENDED) {
        return false;
    }
    wheel_stop(&sched->wheel, &sched->tasks[id].timer);
    sched->tasks[id].state = TASK_ENDED;
    return true;
}

/* Begins behind the task that ran last, so that the first of the highest priority is the next in turn. */
static int choose(const struct sched *sched)
{
    int best = SCHED_NO_TASK;
    for (int i = 1; i <= SCHED_TASKS_MAX; i++) {
        int id = (sched->last + i + SCHED_TASKS_MAX) % SCHED_TASKS_MAX;
        const struct task *task = &sched->tasks[id];
        if (task->state != TASK_READY) {
            continue;
        }
        if (best == SCHED_NO_TASK || task->priority > sched->tasks[best].priority) {
            best = id;
        }
    }
    return best;
}

int sched_step(struct sched *sched)
{
    int id = choose(sched);
    if (id == SCHED_NO_TASK) {
        sched->idle++;
        return SCHED_NO_TASK;
    }
    struct task *task = &sched->tasks[id];
    if (sched->wheel.now - task->ready_since > SCHED_LATE_AFTER) {
        task->late++;
    }
    sched->last = id;
    task->runs++;
    task->ready_since = sched->wheel.now;
    task->run(sched, id);
    return id;
}

uint32_t sched_idle_percent(const struct sched *sched, uint32_t of)
{
    if (of == 0) {
        return 0;
    }
    return (uint32_t)((uint64_t)sched->idle * 100u / of);
}
