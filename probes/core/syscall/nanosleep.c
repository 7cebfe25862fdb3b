/* nanosleep: a sleep that is long enough, and what is left of one that is broken off. */
#define CAPABILITY "syscall_nanosleep"
#include "_runner_c.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static void nothing(int number) {
    (void)number;
}

CHECK(sleeps_as_long_as_asked) {
    struct timespec before, after, time = {0, 30000000};
    clock_gettime(CLOCK_MONOTONIC, &before);
    works(syscall(SYS_nanosleep, &time, NULL), "nanosleep");
    clock_gettime(CLOCK_MONOTONIC, &after);
    long ns = (after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec;
    want(ns >= 30000000, "woke after %ld of 30000000 ns", ns);
}

CHECK(returns_at_once_for_0) {
    struct timespec none = {0, 0};
    works(syscall(SYS_nanosleep, &none, NULL), "nanosleep");
}

CHECK(reports_what_is_left_after_a_signal) {
    struct itimerval often = {.it_interval.tv_usec = 20000, .it_value.tv_usec = 20000};
    struct timespec time = {1000, 0}, left = {0, 0};
    signal(SIGALRM, nothing);
    works(setitimer(ITIMER_REAL, &often, NULL), "setitimer");
    refuses(syscall(SYS_nanosleep, &time, &left), EINTR, "nanosleep under an alarm");
    want(left.tv_sec > 0 && left.tv_sec < 1000, "%ld s are left of 1000", (long)left.tv_sec);
}

CHECK(sleeps_through_signals_that_are_ignored) {
    struct itimerval often = {.it_interval.tv_usec = 5000, .it_value.tv_usec = 5000};
    struct timespec time = {0, 30000000};
    signal(SIGALRM, SIG_IGN);
    works(setitimer(ITIMER_REAL, &often, NULL), "setitimer");
    works(syscall(SYS_nanosleep, &time, NULL), "nanosleep");
}

CHECK(refuses_a_time_that_is_none) {
    struct timespec negative = {-1, 0}, too_fine = {0, 1000000000};
    refuses(syscall(SYS_nanosleep, &negative, NULL), EINVAL, "for -1 s");
    refuses(syscall(SYS_nanosleep, &too_fine, NULL), EINVAL, "for 10^9 ns");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_nanosleep, (void *)8, NULL), EFAULT, "a time at 8");
}

CHECKS
