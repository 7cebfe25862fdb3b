/* clock_getres: how fine clocks are. */
#define CAPABILITY "syscall_clock_getres"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

CHECK(reports_how_fine_each_clock_is) {
    static const clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW,
                                       CLOCK_BOOTTIME, CLOCK_PROCESS_CPUTIME_ID};
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        struct timespec step = {9, 9};
        works(syscall(SYS_clock_getres, clocks[i], &step), "clock_getres");
        want(step.tv_sec == 0 && step.tv_nsec > 0, "clock %d: %ld ns", clocks[i], step.tv_nsec);
    }
}

CHECK(reports_that_coarse_clocks_are_no_finer) {
    struct timespec fine, coarse;
    works(syscall(SYS_clock_getres, CLOCK_MONOTONIC, &fine), "clock_getres");
    works(syscall(SYS_clock_getres, CLOCK_MONOTONIC_COARSE, &coarse), "clock_getres");
    want(coarse.tv_nsec >= fine.tv_nsec, "%ld and %ld ns", coarse.tv_nsec, fine.tv_nsec);
}

CHECK(needs_no_answer) {
    works(syscall(SYS_clock_getres, CLOCK_REALTIME, NULL), "clock_getres");
}

CHECK(refuses_unknown_clocks) {
    struct timespec step;
    refuses(syscall(SYS_clock_getres, 99, &step), EINVAL, "clock 99");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_clock_getres, CLOCK_REALTIME, (void *)8), EFAULT, "an answer at 8");
}

CHECKS
