/* timerfd_gettime: the time to the next tick, and between ticks. */
#define CAPABILITY "syscall_timerfd_gettime"
#include "_runner_c.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static struct itimerspec got;

static int make(void) {
    return (int)works(timerfd_create(CLOCK_MONOTONIC, 0), "timerfd_create");
}

static long get(int fd) {
    return syscall(SYS_timerfd_gettime, fd, &got);
}

CHECK(gives_0_for_one_that_does_not_run) {
    got.it_value.tv_sec = got.it_interval.tv_sec = 9;
    works(get(make()), "timerfd_gettime");
    want(got.it_value.tv_sec == 0 && got.it_value.tv_nsec == 0, "it runs");
    want(got.it_interval.tv_sec == 0 && got.it_interval.tv_nsec == 0, "it ticks");
}

CHECK(gives_the_time_that_is_left) {
    struct itimerspec far = {.it_value.tv_sec = 1000, .it_interval = {3, 5}};
    int fd = make();
    works(timerfd_settime(fd, 0, &far, NULL), "timerfd_settime");
    works(get(fd), "timerfd_gettime");
    want(got.it_value.tv_sec > 0 && got.it_value.tv_sec < 1000, "%ld s", got.it_value.tv_sec);
    want(got.it_interval.tv_sec == 3 && got.it_interval.tv_nsec == 5, "another interval");
}

CHECK(gives_the_time_left_to_an_absolute_time) {
    struct itimerspec at = {0};
    int fd = make();
    clock_gettime(CLOCK_MONOTONIC, &at.it_value);
    at.it_value.tv_sec += 1000;
    works(timerfd_settime(fd, TFD_TIMER_ABSTIME, &at, NULL), "timerfd_settime");
    works(get(fd), "timerfd_gettime");
    want(got.it_value.tv_sec > 0 && got.it_value.tv_sec < 1000, "%ld s", got.it_value.tv_sec);
}

CHECK(gives_0_after_the_only_tick) {
    struct itimerspec soon = {.it_value.tv_nsec = 1000000};
    int fd = make();
    struct pollfd timer = {.fd = fd, .events = POLLIN};
    works(timerfd_settime(fd, 0, &soon, NULL), "timerfd_settime");
    want(poll(&timer, 1, 3000) == 1, "no tick");
    works(get(fd), "timerfd_gettime");
    want(got.it_value.tv_sec == 0 && got.it_value.tv_nsec == 0, "it still runs");
}

CHECK(refuses_what_is_no_timer) {
    int ends[2];
    works(pipe(ends), "pipe");
    refuses(get(-1), EBADF, "-1");
    refuses(get(ends[0]), EINVAL, "a pipe");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_timerfd_gettime, make(), (void *)8), EFAULT, "at 8");
}

CHECKS
