/* timer_delete: timers that ring no more. */
#define CAPABILITY "syscall_timer_delete"
#include "_runner_c.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t rang;

static void ring(int number) {
    rang = number;
}

static int make(void) {
    int timer;
    signal(SIGALRM, ring);
    works(syscall(SYS_timer_create, CLOCK_MONOTONIC, NULL, &timer), "timer_create");
    return timer;
}

CHECK(keeps_a_timer_from_ringing) {
    struct itimerspec soon = {.it_value.tv_nsec = 500000000};
    int timer = make();
    works(syscall(SYS_timer_settime, timer, 0, &soon, NULL), "timer_settime");
    works(syscall(SYS_timer_delete, timer), "timer_delete");
    usleep(600000);
    want(!rang, "it rang");
}

CHECK(takes_the_timer_away) {
    struct itimerspec left;
    int timer = make();
    works(syscall(SYS_timer_delete, timer), "timer_delete");
    refuses(syscall(SYS_timer_gettime, timer, &left), EINVAL, "timer_gettime");
}

CHECK(refuses_a_timer_twice) {
    int timer = make();
    works(syscall(SYS_timer_delete, timer), "timer_delete");
    refuses(syscall(SYS_timer_delete, timer), EINVAL, "again");
}

CHECK(refuses_what_is_no_timer) {
    refuses(syscall(SYS_timer_delete, -1), EINVAL, "timer -1");
}

CHECKS
