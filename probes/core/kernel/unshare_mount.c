/* A process can have mounts of its own. */
#define CAPABILITY "kernel_unshare_mount"
#include "_runner_c.h"

#include <sched.h>

static void leave(void) {
    if (unshare(CLONE_NEWNS) < 0)
        blocked("unshare CLONE_NEWNS");
    allowed("made a mount namespace, in a child");
}

static void exercise(void) {
    in_child(leave);
}

PROBE(exercise)
