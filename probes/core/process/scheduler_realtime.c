/* A process can get real-time priority (SCHED_FIFO). */
#define CAPABILITY "process_scheduler_realtime"
#include "_runner_c.h"

#include <sched.h>

static void change(void) {
    struct sched_param lowest = {.sched_priority = 1};
    if (sched_setscheduler(0, SCHED_FIFO, &lowest) < 0)
        blocked("sched_setscheduler SCHED_FIFO");
    allowed("ran with SCHED_FIFO, in a child");
}

static void exercise(void) {
    in_child(change);
}

PROBE(exercise)
