/* A timer can be read from a descriptor (timerfd). */
#define CAPABILITY "time_timerfd"
#include "_runner_c.h"

#include <sys/timerfd.h>
#include <unistd.h>

static void exercise(void) {
    unsigned long long times = 0;
    struct itimerspec soon = {.it_value.tv_nsec = 1000000};
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    if (timer < 0)
        blocked("timerfd_create");
    if (timerfd_settime(timer, 0, &soon, NULL) < 0)
        blocked("timerfd_settime");
    if (read(timer, &times, sizeof times) != sizeof times || times != 1)
        blocked("read from timerfd");
    allowed("the timer came to its end");
}

PROBE(exercise)
