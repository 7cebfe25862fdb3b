/* A process can have clocks of its own. */
#define CAPABILITY "kernel_unshare_time"
#include "_runner_c.h"

#include <sched.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

static void leave(void) {
    if (unshare(CLONE_NEWTIME) < 0)
        blocked("unshare CLONE_NEWTIME");
    allowed("made a time namespace, in a child");
}

static void exercise(void) {
    in_child(leave);
}

PROBE(exercise)
