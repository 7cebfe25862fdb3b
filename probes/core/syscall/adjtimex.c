/* adjtimex: how the clock is steered, read; nothing is changed. */
#define CAPABILITY "syscall_adjtimex"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

CHECK(reports_how_the_clock_is_steered) {
    struct timex state = {.modes = 0};
    time_t before = time(NULL);
    long clock = works(syscall(SYS_adjtimex, &state), "adjtimex");
    want(clock >= TIME_OK && clock <= TIME_ERROR, "state %ld", clock);
    want(state.tick > 0 && state.time.tv_sec >= before, "tick %ld", (long)state.tick);
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_adjtimex, (void *)8), EFAULT, "at 8");
}

CHECKS
