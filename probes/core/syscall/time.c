/* time: the time in seconds, as the clock has it. */
#define CAPABILITY "syscall_time"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef SYS_time
CHECK(lies_between_two_looks_at_the_clock) {
    struct timespec before, after;
    clock_gettime(CLOCK_REALTIME_COARSE, &before);
    long now = syscall(SYS_time, NULL);
    clock_gettime(CLOCK_REALTIME, &after);
    want(before.tv_sec <= now && now <= after.tv_sec, "%ld s", now - before.tv_sec);
}

CHECK(writes_what_it_returns) {
    time_t written = 0;
    long now = works(syscall(SYS_time, &written), "time");
    want(written == now, "%ld and %ld", now, (long)written);
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_time, (void *)8), EFAULT, "an answer at 8");
}
#else
CHECK(is_of_other_machines) {
    unavailable("this architecture has no time");
}
#endif

CHECKS
