/* ppoll: descriptors that are ready, times to the nanosecond, a signal mask for the wait. */
#define CAPABILITY "syscall_ppoll"
#include "_runner_c.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t rang;
static unsigned long nobody = 0, alarms = 1ul << (SIGALRM - 1);

static void ring(int number) {
    rang = number;
}

/* A pipe with a byte in it. */
static struct pollfd ready(void) {
    int ends[2];
    works(pipe(ends), "pipe");
    works(write(ends[1], "x", 1), "write");
    return (struct pollfd){.fd = ends[0], .events = POLLIN};
}

CHECK(reports_what_is_ready) {
    struct pollfd one = ready();
    struct timespec now = {0};
    want(works(syscall(SYS_ppoll, &one, 1, &now, NULL, 8), "ppoll") == 1, "not ready");
    want(one.revents == POLLIN, "gave %#x", (unsigned)one.revents);
}

CHECK(waits_without_an_end) {
    struct pollfd one = ready();
    want(works(syscall(SYS_ppoll, &one, 1, NULL, NULL, 8), "ppoll") == 1, "not ready");
}

CHECK(reports_the_time_left) {
    struct pollfd one = ready();
    struct timespec left = {1000, 0};
    works(syscall(SYS_ppoll, &one, 1, &left, NULL, 8), "ppoll");
    want(left.tv_sec < 1000 && left.tv_sec > 0, "%ld s are left of 1000", (long)left.tv_sec);
}

CHECK(gives_0_when_the_time_is_up) {
    struct timespec before, after, soon = {0, 20000000};
    clock_gettime(CLOCK_MONOTONIC, &before);
    want(works(syscall(SYS_ppoll, NULL, 0, &soon, NULL, 8), "ppoll") == 0, "something was ready");
    clock_gettime(CLOCK_MONOTONIC, &after);
    long ns = (after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec;
    want(ns >= 20000000, "woke after %ld of 20000000 ns", ns);
    want(soon.tv_sec == 0 && soon.tv_nsec == 0, "some time is left");
}

CHECK(waits_until_something_comes) {
    int ends[2];
    works(pipe(ends), "pipe");
    pid_t child = (pid_t)works(fork(), "fork");
    if (child == 0) {
        usleep(50000);
        _exit(write(ends[1], "x", 1) != 1);
    }
    struct pollfd one = {.fd = ends[0], .events = POLLIN};
    struct timespec long_time = {3, 0};
    want(works(syscall(SYS_ppoll, &one, 1, &long_time, NULL, 8), "ppoll") == 1, "nothing came");
    waitpid(child, NULL, 0);
}

CHECK(lets_a_blocked_signal_in_for_the_wait) {
    struct timespec long_time = {3, 0};
    sigset_t now;
    signal(SIGALRM, ring);
    works(syscall(SYS_rt_sigprocmask, SIG_BLOCK, &alarms, NULL, 8), "rt_sigprocmask");
    raise(SIGALRM);
    want(!rang, "the signal was not blocked");
    refuses(syscall(SYS_ppoll, NULL, 0, &long_time, &nobody, 8), EINTR, "ppoll, a signal pending");
    want(rang == SIGALRM, "the handler did not run");
    sigprocmask(SIG_BLOCK, NULL, &now);
    want(sigismember(&now, SIGALRM) == 1, "the mask from before is lost");
}

CHECK(keeps_a_signal_out_for_the_wait) {
    struct timespec soon = {0, 50000000};
    struct itimerval once = {.it_value.tv_usec = 10000};
    signal(SIGALRM, ring);
    works(setitimer(ITIMER_REAL, &once, NULL), "setitimer");
    want(works(syscall(SYS_ppoll, NULL, 0, &soon, &alarms, 8), "ppoll") == 0, "something is ready");
    for (int i = 0; i < 200 && !rang; i++)
        usleep(10000);
    want(rang == SIGALRM, "the signal is lost");
}

CHECK(marks_a_closed_descriptor) {
    struct pollfd closed = {.fd = 999, .events = POLLIN};
    struct timespec now = {0};
    want(syscall(SYS_ppoll, &closed, 1, &now, NULL, 8) == 1 && closed.revents == POLLNVAL, "no");
}

CHECK(refuses_a_mask_of_another_size) {
    struct timespec now = {0};
    refuses(syscall(SYS_ppoll, NULL, 0, &now, &nobody, 4), EINVAL, "ppoll, a mask of 4 bytes");
}

CHECK(refuses_a_time_that_is_none) {
    struct timespec negative = {-1, 0}, too_fine = {0, 1000000000};
    refuses(syscall(SYS_ppoll, NULL, 0, &negative, NULL, 8), EINVAL, "ppoll for -1 s");
    refuses(syscall(SYS_ppoll, NULL, 0, &too_fine, NULL, 8), EINVAL, "ppoll for 10^9 ns");
}

CHECK(refuses_a_bad_address) {
    struct timespec now = {0};
    refuses(syscall(SYS_ppoll, (void *)8, 1, &now, NULL, 8), EFAULT, "ppoll at address 8");
    refuses(syscall(SYS_ppoll, NULL, 0, (void *)8, NULL, 8), EFAULT, "ppoll, the time at 8");
}

CHECKS
