/* The clocks that programs use are there, and do not run backwards. */
#define CAPABILITY "time_clocks"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void exercise(void) {
    clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_MONOTONIC_RAW,
                          CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID};
    for (unsigned i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        struct timespec now;
        if (syscall(SYS_clock_gettime, clocks[i], &now) < 0) /* the kernel itself, not the vDSO */
            blocked("clock_gettime of clock %d", clocks[i]);
    }
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    clock_gettime(CLOCK_MONOTONIC, &after);
    if (after.tv_sec < before.tv_sec ||
        (after.tv_sec == before.tv_sec && after.tv_nsec < before.tv_nsec))
        faulty("the monotonic clock ran backwards");
    allowed("six clocks answer");
}

PROBE(exercise)
