/* A process can make itself root of a user namespace of its own. */
#define CAPABILITY "kernel_unshare_user"
#include "_runner_c.h"

#include <sched.h>

static void leave(void) {
    if (unshare(CLONE_NEWUSER) < 0)
        blocked("unshare CLONE_NEWUSER");
    allowed("made a user namespace, in a child");
}

static void exercise(void) {
    in_child(leave);
}

PROBE(exercise)
