/* getitimer: the time to the next signal, and between signals. */
#define CAPABILITY "syscall_getitimer"
#include "_runner_c.h"

#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static struct itimerval got = {{9, 9}, {9, 9}};

CHECK(gives_0_for_one_that_does_not_run) {
    for (int which = ITIMER_REAL; which <= ITIMER_PROF; which++) {
        works(syscall(SYS_getitimer, which, &got), "getitimer");
        want(got.it_value.tv_sec == 0 && got.it_value.tv_usec == 0, "timer %d runs", which);
    }
}

CHECK(gives_the_time_that_is_left) {
    struct itimerval far = {{7, 5}, {1000, 0}};
    for (int which = ITIMER_REAL; which <= ITIMER_PROF; which++) {
        works(setitimer(which, &far, NULL), "setitimer");
        works(syscall(SYS_getitimer, which, &got), "getitimer");
        want(got.it_value.tv_sec > 0 && got.it_value.tv_sec <= 1000, "timer %d: too far", which);
        want(got.it_interval.tv_sec == 7, "timer %d: another interval", which);
    }
}

CHECK(refuses_unknown_timers) {
    refuses(syscall(SYS_getitimer, 3, &got), EINVAL, "timer 3");
    refuses(syscall(SYS_getitimer, -1, &got), EINVAL, "timer -1");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_getitimer, ITIMER_REAL, (void *)8), EFAULT, "an answer at 8");
}

CHECKS
