/* timer_getoverrun: the rings that came while one was waiting to be heard. */
#define CAPABILITY "syscall_timer_getoverrun"
#include "_runner_c.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int make(struct sigevent *event) {
    int timer;
    works(syscall(SYS_timer_create, CLOCK_MONOTONIC, event, &timer), "timer_create");
    return timer;
}

CHECK(counts_rings_that_were_not_heard) {
    struct itimerspec often = {{0, 1000000}, {0, 1000000}};
    struct timespec late = {3, 0};
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    works(sigprocmask(SIG_BLOCK, &alarms, NULL), "sigprocmask");
    int timer = make(NULL);
    works(syscall(SYS_timer_settime, timer, 0, &often, NULL), "timer_settime");
    usleep(50000);
    siginfo_t info;
    want(sigtimedwait(&alarms, &info, &late) == SIGALRM, "it did not ring");
    long missed = works(syscall(SYS_timer_getoverrun, timer), "timer_getoverrun");
    want(missed >= 20, "%ld rings were missed in 50 ms", missed);
    want(info.si_overrun == missed, "the signal reports %d", info.si_overrun);
}

CHECK(gives_0_for_one_that_never_rang) {
    struct sigevent silent = {.sigev_notify = SIGEV_NONE};
    want(works(syscall(SYS_timer_getoverrun, make(&silent)), "timer_getoverrun") == 0, "not 0");
}

CHECK(refuses_what_is_no_timer) {
    refuses(syscall(SYS_timer_getoverrun, 12345), EINVAL, "timer 12345");
}

CHECK(refuses_a_timer_that_is_gone) {
    int timer = make(NULL);
    works(syscall(SYS_timer_delete, timer), "timer_delete");
    refuses(syscall(SYS_timer_getoverrun, timer), EINVAL, "a removed timer");
}

CHECKS
