/* The machine can be stopped. Asked without the magic numbers, which the kernel never obeys. */
#define CAPABILITY "kernel_reboot"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <unistd.h>

static void exercise(void) {
    if (syscall(SYS_reboot, 0, 0, 0, (void *)0) == 0 || errno == EINVAL)
        allowed("reboot looked at its numbers: the right to stop the machine was there");
    blocked("reboot");
}

PROBE(exercise)
