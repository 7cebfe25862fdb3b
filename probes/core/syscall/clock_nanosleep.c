/* clock_nanosleep: sleeps by several clocks, for a while or until a time. */
#define CAPABILITY "syscall_clock_nanosleep"
#include "_runner_c.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static void nothing(int number) {
    (void)number;
}

static void alarms(void) {
    struct itimerval often = {.it_interval.tv_usec = 20000, .it_value.tv_usec = 20000};
    signal(SIGALRM, nothing);
    works(setitimer(ITIMER_REAL, &often, NULL), "setitimer");
}

static long between(struct timespec before, struct timespec after) {
    return (after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec;
}

static void sleeps_by(clockid_t clock) {
    struct timespec before, after, time = {0, 20000000};
    clock_gettime(CLOCK_MONOTONIC, &before);
    works(syscall(SYS_clock_nanosleep, clock, 0, &time, NULL), "clock_nanosleep");
    clock_gettime(CLOCK_MONOTONIC, &after);
    want(between(before, after) >= 19000000, "woke after %ld ns", between(before, after));
}

CHECK(sleeps_by_the_monotonic_clock) {
    sleeps_by(CLOCK_MONOTONIC);
}

CHECK(sleeps_by_the_real_clock) {
    sleeps_by(CLOCK_REALTIME);
}

CHECK(sleeps_by_the_boot_clock) {
    sleeps_by(CLOCK_BOOTTIME);
}

CHECK(sleeps_until_a_time) {
    struct timespec until, after;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 1;
    works(syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL), "sleep");
    clock_gettime(CLOCK_MONOTONIC, &after);
    want(between(until, after) >= 0, "woke too early");
}

CHECK(does_not_sleep_until_a_time_that_is_past) {
    struct timespec past = {0, 1};
    works(syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &past, NULL), "sleep");
}

CHECK(reports_what_is_left_after_a_signal) {
    struct timespec time = {1000, 0}, left = {0, 0};
    alarms();
    refuses(syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, &left), EINTR, "an alarm");
    want(left.tv_sec > 0 && left.tv_sec < 1000, "%ld s are left of 1000", (long)left.tv_sec);
}

CHECK(reports_nothing_left_of_a_sleep_until_a_time) {
    struct timespec until, left = {77, 0};
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 1000;
    alarms();
    refuses(syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &until, &left), EINTR,
            "an alarm");
    want(left.tv_sec == 77, "it returned %ld s", (long)left.tv_sec);
}

CHECK(refuses_the_thread_s_own_time) {
    struct timespec time = {0, 1};
    refuses(syscall(SYS_clock_nanosleep, CLOCK_THREAD_CPUTIME_ID, 0, &time, NULL), EOPNOTSUPP,
            "by the thread's processor time");
}

CHECK(refuses_unknown_clocks) {
    struct timespec time = {0, 1};
    refuses(syscall(SYS_clock_nanosleep, 99, 0, &time, NULL), EINVAL, "by clock 99");
}

CHECK(refuses_a_time_that_is_none) {
    struct timespec negative = {-1, 0}, fine = {0, 1000000000};
    refuses(syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &negative, NULL), EINVAL, "-1 s");
    refuses(syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &fine, NULL), EINVAL, "10^9 ns");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (void *)8, NULL), EFAULT, "at 8");
}

CHECKS
