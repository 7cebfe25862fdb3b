/* A process can have network interfaces of its own. */
#define CAPABILITY "kernel_unshare_network"
#include "_runner_c.h"

#include <sched.h>

static void leave(void) {
    if (unshare(CLONE_NEWNET) < 0)
        blocked("unshare CLONE_NEWNET");
    allowed("made a network namespace, in a child");
}

static void exercise(void) {
    in_child(leave);
}

PROBE(exercise)
