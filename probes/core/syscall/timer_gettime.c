/* timer_gettime: the time to the next ring, and between rings. */
#define CAPABILITY "syscall_timer_gettime"
#include "_runner_c.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct itimerspec got = {{9, 9}, {9, 9}};

static int make(void) {
    struct sigevent silent = {.sigev_notify = SIGEV_NONE};
    int timer;
    works(syscall(SYS_timer_create, CLOCK_MONOTONIC, &silent, &timer), "timer_create");
    return timer;
}

CHECK(gives_0_for_one_that_does_not_run) {
    works(syscall(SYS_timer_gettime, make(), &got), "timer_gettime");
    want(got.it_value.tv_sec == 0 && got.it_value.tv_nsec == 0, "it runs");
    want(got.it_interval.tv_sec == 0 && got.it_interval.tv_nsec == 0, "it rings");
}

CHECK(gives_the_time_that_is_left) {
    struct itimerspec far = {{7, 5}, {1000, 0}};
    int timer = make();
    works(syscall(SYS_timer_settime, timer, 0, &far, NULL), "timer_settime");
    works(syscall(SYS_timer_gettime, timer, &got), "timer_gettime");
    want(got.it_value.tv_sec > 0 && got.it_value.tv_sec < 1000, "%ld s", (long)got.it_value.tv_sec);
    want(got.it_interval.tv_sec == 7 && got.it_interval.tv_nsec == 5, "another interval");
}

CHECK(gives_the_time_left_to_an_absolute_time) {
    struct itimerspec at = {0};
    int timer = make();
    clock_gettime(CLOCK_MONOTONIC, &at.it_value);
    at.it_value.tv_sec += 1000;
    works(syscall(SYS_timer_settime, timer, TIMER_ABSTIME, &at, NULL), "timer_settime");
    works(syscall(SYS_timer_gettime, timer, &got), "timer_gettime");
    want(got.it_value.tv_sec > 0 && got.it_value.tv_sec < 1000, "%ld s", (long)got.it_value.tv_sec);
}

CHECK(refuses_what_is_no_timer) {
    refuses(syscall(SYS_timer_gettime, 12345, &got), EINVAL, "timer 12345");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_timer_gettime, make(), (void *)8), EFAULT, "an answer at 8");
}

CHECKS
