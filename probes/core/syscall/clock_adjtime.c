/* clock_adjtime: how a clock is steered, read; nothing is changed. */
#define CAPABILITY "syscall_clock_adjtime"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

CHECK(reports_how_the_clock_is_steered) {
    struct timex state = {.modes = 0};
    long clock = works(syscall(SYS_clock_adjtime, CLOCK_REALTIME, &state), "clock_adjtime");
    want(clock >= TIME_OK && clock <= TIME_ERROR && state.tick > 0, "state %ld", clock);
}

CHECK(refuses_clocks_that_nobody_steers) {
    struct timex state = {.modes = 0};
    refuses(syscall(SYS_clock_adjtime, 99, &state), EINVAL, "clock 99");
    refuses(syscall(SYS_clock_adjtime, CLOCK_MONOTONIC, &state), EOPNOTSUPP, "the monotonic one");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_clock_adjtime, CLOCK_REALTIME, (void *)8), EFAULT, "at 8");
}

CHECKS
