/* A timer can send a signal (timer_create). */
#define CAPABILITY "time_posix_timer"
#include "_runner_c.h"

#include <signal.h>
#include <time.h>

static void exercise(void) {
    timer_t timer;
    sigset_t set;
    struct timespec patience = {5, 0};
    struct itimerspec soon = {.it_value.tv_nsec = 1000000};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) < 0)
        blocked("timer_create");
    if (timer_settime(timer, 0, &soon, NULL) < 0 || sigtimedwait(&set, NULL, &patience) < 0)
        blocked("timer_settime");
    allowed("the timer's signal came");
}

PROBE(exercise)
