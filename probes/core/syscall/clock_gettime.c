/* clock_gettime: the times of all clocks. */
#define CAPABILITY "syscall_clock_gettime"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct timespec get(clockid_t clock) {
    struct timespec now;
    works(syscall(SYS_clock_gettime, clock, &now), "clock_gettime");
    want(now.tv_nsec >= 0 && now.tv_nsec < 1000000000, "%ld nanoseconds", now.tv_nsec);
    return now;
}

static long ns(struct timespec time) {
    return time.tv_sec * 1000000000 + time.tv_nsec;
}

CHECK(reports_the_time_of_day) {
    time_t before = time(NULL);
    long now = get(CLOCK_REALTIME).tv_sec;
    want(before <= now && now <= time(NULL) + 1, "%ld s", now - before);
}

CHECK(never_goes_back) {
    for (int i = 0; i < 1000; i++) {
        long before = ns(get(CLOCK_MONOTONIC));
        want(ns(get(CLOCK_MONOTONIC)) >= before, "back in round %d", i);
    }
}

CHECK(goes_on_while_asleep) {
    long before = ns(get(CLOCK_MONOTONIC));
    usleep(20000);
    want(ns(get(CLOCK_MONOTONIC)) - before >= 20000000, "less than 20 ms");
}

CHECK(reports_raw_and_coarse_time) {
    long fine = ns(get(CLOCK_MONOTONIC));
    want(ns(get(CLOCK_MONOTONIC_COARSE)) + 1000000000 > fine, "coarse time lags");
    want(get(CLOCK_MONOTONIC_RAW).tv_sec > 0 && get(CLOCK_REALTIME_COARSE).tv_sec > 0, "no time");
    want(get(CLOCK_BOOTTIME).tv_sec >= 0, "no boot time");
}

CHECK(reports_processor_time) {
    struct timespec spent;
    do {
        spent = get(CLOCK_PROCESS_CPUTIME_ID);
    } while (ns(spent) < 10000000);
    want(ns(get(CLOCK_THREAD_CPUTIME_ID)) >= 9000000, "the thread worked less");
}

CHECK(reports_another_process_s_time) {
    clockid_t clock = (clockid_t)(~(unsigned)getppid() << 3 | 2);
    get(clock);
}

CHECK(refuses_unknown_clocks) {
    struct timespec now;
    refuses(syscall(SYS_clock_gettime, 99, &now), EINVAL, "clock 99");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_clock_gettime, CLOCK_REALTIME, (void *)8), EFAULT, "an answer at 8");
}

CHECKS
