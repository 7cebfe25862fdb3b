/* gettimeofday: the time in microseconds, as the clock has it. */
#define CAPABILITY "syscall_gettimeofday"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long us(struct timespec time) {
    return time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

CHECK(lies_between_two_looks_at_the_clock) {
    struct timespec before, after;
    struct timeval now;
    clock_gettime(CLOCK_REALTIME, &before);
    works(syscall(SYS_gettimeofday, &now, NULL), "gettimeofday");
    clock_gettime(CLOCK_REALTIME, &after);
    long between = now.tv_sec * 1000000 + now.tv_usec;
    want(us(before) <= between && between <= us(after), "%ld us", between - us(before));
    want(now.tv_usec >= 0 && now.tv_usec < 1000000, "%ld microseconds", (long)now.tv_usec);
}

CHECK(reports_a_time_zone) {
    struct timezone zone = {9999, 9999};
    works(syscall(SYS_gettimeofday, NULL, &zone), "gettimeofday");
    want(zone.tz_minuteswest > -1000 && zone.tz_minuteswest < 1000, "%d", zone.tz_minuteswest);
}

CHECK(needs_no_answer) {
    works(syscall(SYS_gettimeofday, NULL, NULL), "gettimeofday");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_gettimeofday, (void *)8, NULL), EFAULT, "an answer at 8");
}

CHECKS
