/* setitimer: signals after a while, again and again, by three kinds of time. */
#define CAPABILITY "syscall_setitimer"
#include "_runner_c.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t rang;
static struct itimerval never, old;

static void ring(int number) {
    (void)number;
    rang++;
}

/* Spend up to two seconds of processor time, until it rings so often. */
static void work(int often) {
    struct timespec spent;
    do {
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
        for (int i = 0; i < 1000; i++)
            syscall(SYS_getppid);
    } while (rang < often && spent.tv_sec < 2);
}

static void doze(int often) {
    for (int i = 0; i < 300 && rang < often; i++)
        usleep(10000);
}

CHECK(rings_once) {
    struct itimerval once = {{0, 0}, {0, 10000}};
    signal(SIGALRM, ring);
    works(syscall(SYS_setitimer, ITIMER_REAL, &once, NULL), "setitimer");
    doze(1);
    usleep(50000);
    want(rang == 1, "it rang %d times", rang);
}

CHECK(does_not_ring_too_early) {
    struct itimerval once = {{0, 0}, {0, 30000}};
    struct timespec before, after;
    signal(SIGALRM, ring);
    clock_gettime(CLOCK_MONOTONIC, &before);
    works(syscall(SYS_setitimer, ITIMER_REAL, &once, NULL), "setitimer");
    doze(1);
    clock_gettime(CLOCK_MONOTONIC, &after);
    long us = (after.tv_sec - before.tv_sec) * 1000000 + (after.tv_nsec - before.tv_nsec) / 1000;
    want(rang && us >= 29999, "after %ld of 30000 us", us);
}

CHECK(rings_again_and_again) {
    struct itimerval often = {{0, 10000}, {0, 10000}};
    signal(SIGALRM, ring);
    works(syscall(SYS_setitimer, ITIMER_REAL, &often, NULL), "setitimer");
    doze(5);
    want(rang >= 5, "it rang %d times", rang);
}

CHECK(counts_the_program_s_own_time) {
    struct itimerval soon = {{0, 0}, {0, 10000}};
    signal(SIGVTALRM, ring);
    works(syscall(SYS_setitimer, ITIMER_VIRTUAL, &soon, NULL), "setitimer");
    work(1);
    want(rang == 1, "it did not ring");
}

CHECK(counts_the_processor_s_time) {
    struct itimerval soon = {{0, 0}, {0, 10000}};
    signal(SIGPROF, ring);
    works(syscall(SYS_setitimer, ITIMER_PROF, &soon, NULL), "setitimer");
    work(1);
    want(rang == 1, "it did not ring");
}

CHECK(stops_a_timer) {
    struct itimerval soon = {{0, 0}, {0, 500000}};
    signal(SIGALRM, ring);
    works(syscall(SYS_setitimer, ITIMER_REAL, &soon, NULL), "setitimer");
    works(syscall(SYS_setitimer, ITIMER_REAL, &never, NULL), "setitimer to stop");
    usleep(600000);
    want(rang == 0, "it rang");
}

CHECK(reports_what_was_set_before) {
    struct itimerval far = {{7, 0}, {1000, 0}};
    works(syscall(SYS_setitimer, ITIMER_REAL, &far, NULL), "setitimer");
    works(syscall(SYS_setitimer, ITIMER_REAL, &never, &old), "setitimer");
    want(old.it_interval.tv_sec == 7 && old.it_value.tv_sec > 0, "something else");
    want(old.it_value.tv_sec <= 1000, "more than was set");
}

CHECK(is_not_inherited_by_children) {
    struct itimerval far = {{0, 0}, {1000, 0}};
    int status;
    works(syscall(SYS_setitimer, ITIMER_REAL, &far, NULL), "setitimer");
    pid_t child = (pid_t)works(fork(), "fork");
    if (child == 0)
        _exit(getitimer(ITIMER_REAL, &old) != 0 || old.it_value.tv_sec != 0);
    waitpid(child, &status, 0);
    want(status == 0, "a child has it");
}

CHECK(refuses_unknown_timers) {
    refuses(syscall(SYS_setitimer, 3, &never, NULL), EINVAL, "timer 3");
}

CHECK(refuses_a_time_that_is_none) {
    struct itimerval negative = {{0, 0}, {-1, 0}}, fine = {{0, 0}, {0, 1000000}};
    refuses(syscall(SYS_setitimer, ITIMER_REAL, &negative, NULL), EINVAL, "-1 s");
    refuses(syscall(SYS_setitimer, ITIMER_REAL, &fine, NULL), EINVAL, "10^6 us");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_setitimer, ITIMER_REAL, (void *)8, NULL), EFAULT, "a time at 8");
}

CHECKS
