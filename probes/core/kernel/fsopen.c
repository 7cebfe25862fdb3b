/* A new filesystem can be set up (fsopen). */
#define CAPABILITY "kernel_fsopen"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

static void exercise(void) {
    if (syscall(SYS_fsopen, "tmpfs", 0) < 0)
        blocked("fsopen tmpfs");
    allowed("began a tmpfs, and mounted it nowhere");
}

PROBE(exercise)
