/* clock_settime: asked with times and clocks that can't be set. */
#define CAPABILITY "syscall_clock_settime"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct timespec bad = {0, 2000000000};

CHECK(refuses_a_time_that_is_none) {
    refuses(syscall(SYS_clock_settime, CLOCK_REALTIME, &bad), EINVAL, "2*10^9 ns");
}

CHECK(refuses_clocks_that_nobody_sets) {
    refuses(syscall(SYS_clock_settime, CLOCK_MONOTONIC, &bad), EINVAL, "the monotonic clock");
    refuses(syscall(SYS_clock_settime, 99, &bad), EINVAL, "clock 99");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_clock_settime, CLOCK_REALTIME, (void *)8), EFAULT, "a time at 8");
}

CHECKS
