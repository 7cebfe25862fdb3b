/* timerfd_settime: one tick or many, in a while or at a time, and what was set before. */
#define CAPABILITY "syscall_timerfd_settime"
#include "_runner_c.h"

#include <poll.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static struct itimerspec soon = {.it_value.tv_nsec = 1000000}, never, old;
static uint64_t count;

static int make(void) {
    return (int)works(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK), "timerfd_create");
}

static long set(int fd, int flags, const struct itimerspec *time) {
    return syscall(SYS_timerfd_settime, fd, flags, time, &old);
}

static int ticks_within(int fd, int ms) {
    struct pollfd timer = {.fd = fd, .events = POLLIN};
    return poll(&timer, 1, ms) == 1;
}

CHECK(ticks_once) {
    int fd = make();
    works(set(fd, 0, &soon), "timerfd_settime");
    want(ticks_within(fd, 3000), "no tick");
    want(read(fd, &count, 8) == 8 && count == 1, "not one");
    want(!ticks_within(fd, 20), "another tick");
}

CHECK(does_not_tick_too_early) {
    struct timespec before, after;
    struct itimerspec later = {.it_value.tv_nsec = 30000000};
    int fd = make();
    clock_gettime(CLOCK_MONOTONIC, &before);
    works(set(fd, 0, &later), "timerfd_settime");
    want(ticks_within(fd, 3000), "no tick");
    clock_gettime(CLOCK_MONOTONIC, &after);
    long ns = (after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec;
    want(ns >= 30000000, "ticked after %ld of 30000000 ns", ns);
}

CHECK(counts_the_ticks_that_nobody_read) {
    struct itimerspec often = {.it_value.tv_nsec = 1000000, .it_interval.tv_nsec = 1000000};
    int fd = make();
    works(set(fd, 0, &often), "timerfd_settime");
    usleep(30000);
    want(works(read(fd, &count, 8), "read") == 8 && count >= 20, "%lu ticks", (unsigned long)count);
}

CHECK(ticks_at_a_time_that_is_past) {
    struct itimerspec at = {.it_value.tv_nsec = 1};
    int fd = make();
    works(set(fd, TFD_TIMER_ABSTIME, &at), "timerfd_settime");
    want(ticks_within(fd, 3000), "no tick");
}

CHECK(ticks_at_a_time_to_come) {
    struct itimerspec at = {0};
    struct timespec now;
    int fd = make();
    clock_gettime(CLOCK_MONOTONIC, &at.it_value);
    at.it_value.tv_sec += 1;
    works(set(fd, TFD_TIMER_ABSTIME, &at), "timerfd_settime");
    want(ticks_within(fd, 3000), "no tick");
    clock_gettime(CLOCK_MONOTONIC, &now);
    want(now.tv_sec > at.it_value.tv_sec ||
             (now.tv_sec == at.it_value.tv_sec && now.tv_nsec >= at.it_value.tv_nsec),
         "too early");
}

CHECK(stops_a_timer) {
    struct itimerspec later = {.it_value.tv_nsec = 500000000};
    int fd = make();
    works(set(fd, 0, &later), "timerfd_settime");
    works(set(fd, 0, &never), "timerfd_settime to stop");
    want(!ticks_within(fd, 600), "it ticks");
}

CHECK(reports_what_was_set_before) {
    struct itimerspec far = {.it_value.tv_sec = 1000, .it_interval.tv_sec = 7};
    int fd = make();
    works(set(fd, 0, &far), "timerfd_settime");
    want(old.it_value.tv_sec == 0 && old.it_interval.tv_sec == 0, "something was set");
    works(set(fd, 0, &never), "timerfd_settime");
    want(old.it_interval.tv_sec == 7 && old.it_value.tv_sec > 0 && old.it_value.tv_sec <= 1000,
         "something else was set");
}

CHECK(forgets_unread_ticks) {
    int fd = make();
    works(set(fd, 0, &soon), "timerfd_settime");
    want(ticks_within(fd, 3000), "no tick");
    works(set(fd, 0, &never), "timerfd_settime");
    refuses(read(fd, &count, 8), EAGAIN, "read after a new setting");
}

CHECK(refuses_a_time_that_is_none) {
    struct itimerspec negative = {.it_value.tv_sec = -1}, fine = {.it_value.tv_nsec = 1000000000};
    int fd = make();
    refuses(set(fd, 0, &negative), EINVAL, "-1 s");
    refuses(set(fd, 0, &fine), EINVAL, "10^9 ns");
}

CHECK(refuses_unknown_flags) {
    refuses(set(make(), 64, &soon), EINVAL, "flag 64");
}

CHECK(refuses_what_is_no_timer) {
    refuses(set(-1, 0, &soon), EBADF, "-1");
    int ends[2];
    works(pipe(ends), "pipe");
    refuses(set(ends[0], 0, &soon), EINVAL, "a pipe");
}

CHECK(refuses_a_bad_address) {
    refuses(set(make(), 0, (void *)8), EFAULT, "a time at 8");
}

CHECKS
