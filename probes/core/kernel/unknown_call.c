/* A call that does not exist is answered with ENOSYS, so that programs fall back. */
#define CAPABILITY "kernel_unknown_call"
#include "_runner_c.h"

#include <unistd.h>

static void call(void) {
    if (syscall(1999) == 0 || errno != ENOSYS)
        blocked("syscall 1999");
    allowed("syscall 1999 is ENOSYS");
}

static void exercise(void) {
    in_child(call);
}

PROBE(exercise)
