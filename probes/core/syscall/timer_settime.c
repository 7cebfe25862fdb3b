/* timer_settime: a timer that rings once or often, in a while or at a time, or stops. */
#define CAPABILITY "syscall_timer_settime"
#include "_runner_c.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t rang;
static struct itimerspec never, old, soon = {.it_value.tv_nsec = 10000000};

static void ring(int number) {
    (void)number;
    rang++;
}

static int make(clockid_t clock) {
    int timer;
    signal(SIGALRM, ring);
    works(syscall(SYS_timer_create, clock, NULL, &timer), "timer_create");
    return timer;
}

static long set(int timer, int flags, const struct itimerspec *time) {
    return syscall(SYS_timer_settime, timer, flags, time, &old);
}

static void doze(int often) {
    for (int i = 0; i < 300 && rang < often; i++)
        usleep(10000);
}

CHECK(rings_once) {
    works(set(make(CLOCK_MONOTONIC), 0, &soon), "timer_settime");
    doze(1);
    usleep(50000);
    want(rang == 1, "it rang %d times", rang);
}

CHECK(does_not_ring_too_early) {
    struct timespec before, after;
    int timer = make(CLOCK_MONOTONIC);
    clock_gettime(CLOCK_MONOTONIC, &before);
    works(set(timer, 0, &soon), "timer_settime");
    doze(1);
    clock_gettime(CLOCK_MONOTONIC, &after);
    long ns = (after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec;
    want(rang && ns >= 10000000, "after %ld of 10000000 ns", ns);
}

CHECK(rings_again_and_again) {
    struct itimerspec often = {{0, 10000000}, {0, 10000000}};
    works(set(make(CLOCK_MONOTONIC), 0, &often), "timer_settime");
    doze(5);
    want(rang >= 5, "it rang %d times", rang);
}

CHECK(rings_at_a_time) {
    struct itimerspec at = {0};
    struct timespec now;
    int timer = make(CLOCK_REALTIME);
    clock_gettime(CLOCK_REALTIME, &at.it_value);
    at.it_value.tv_sec += 1;
    works(set(timer, TIMER_ABSTIME, &at), "timer_settime");
    doze(1);
    clock_gettime(CLOCK_REALTIME, &now);
    want(rang == 1 && now.tv_sec >= at.it_value.tv_sec, "it rang %d times", rang);
}

CHECK(rings_at_once_for_a_time_that_is_past) {
    struct itimerspec past = {.it_value.tv_nsec = 1};
    works(set(make(CLOCK_MONOTONIC), TIMER_ABSTIME, &past), "timer_settime");
    doze(1);
    want(rang == 1, "it did not ring");
}

CHECK(stops_a_timer) {
    struct itimerspec later = {.it_value.tv_nsec = 500000000};
    int timer = make(CLOCK_MONOTONIC);
    works(set(timer, 0, &later), "timer_settime");
    works(set(timer, 0, &never), "timer_settime to stop");
    usleep(600000);
    want(rang == 0, "it rang");
}

CHECK(reports_what_was_set_before) {
    struct itimerspec far = {{7, 0}, {1000, 0}};
    int timer = make(CLOCK_MONOTONIC);
    works(set(timer, 0, &far), "timer_settime");
    want(old.it_value.tv_sec == 0 && old.it_interval.tv_sec == 0, "something was set");
    works(set(timer, 0, &never), "timer_settime");
    want(old.it_interval.tv_sec == 7 && old.it_value.tv_sec > 0, "something else was set");
}

CHECK(refuses_a_time_that_is_none) {
    struct itimerspec negative = {.it_value.tv_sec = -1}, fine = {.it_value.tv_nsec = 1000000000};
    int timer = make(CLOCK_MONOTONIC);
    refuses(set(timer, 0, &negative), EINVAL, "-1 s");
    refuses(set(timer, 0, &fine), EINVAL, "10^9 ns");
}

CHECK(refuses_what_is_no_timer) {
    refuses(set(12345, 0, &soon), EINVAL, "timer 12345");
    refuses(set(-1, 0, &soon), EINVAL, "timer -1");
}

CHECK(refuses_no_time) {
    refuses(set(make(CLOCK_MONOTONIC), 0, NULL), EINVAL, "no time");
}

CHECK(refuses_a_bad_address) {
    refuses(set(make(CLOCK_MONOTONIC), 0, (void *)8), EFAULT, "a time at 8");
}

CHECKS
