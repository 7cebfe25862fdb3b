/* pselect6: sets of descriptors, times to the nanosecond, a signal mask for the wait. */
#define CAPABILITY "syscall_pselect6"
#include "_runner_c.h"

#include <signal.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static fd_set reading, writing;
static struct timespec now = {0};
static volatile sig_atomic_t rang;
static unsigned long nobody = 0, alarms = 1ul << (SIGALRM - 1);

/* The sixth argument. */
struct mask {
    const void *mask;
    size_t size;
};

static void ring(int number) {
    rang = number;
}

static int add(int fd, fd_set *set) {
    FD_SET(fd, set);
    return fd + 1;
}

CHECK(reports_which_ends_of_a_pipe_are_ready) {
    int ends[2];
    works(pipe(ends), "pipe");
    works(write(ends[1], "x", 1), "write");
    add(ends[0], &reading);
    int count = add(ends[1], &writing);
    long found = syscall(SYS_pselect6, count, &reading, &writing, NULL, &now, NULL);
    want(works(found, "pselect6") == 2, "not two");
    want(FD_ISSET(ends[0], &reading) && FD_ISSET(ends[1], &writing), "not both");
}

CHECK(takes_out_what_is_not_ready) {
    int ends[2];
    works(pipe(ends), "pipe");
    int count = add(ends[0], &reading);
    want(syscall(SYS_pselect6, count, &reading, NULL, NULL, &now, NULL) == 0, "ready");
    want(!FD_ISSET(ends[0], &reading), "the set is not empty");
}

CHECK(reports_the_time_left) {
    int ends[2];
    struct timespec left = {1000, 0};
    works(pipe(ends), "pipe");
    int count = add(ends[1], &writing);
    works(syscall(SYS_pselect6, count, NULL, &writing, NULL, &left, NULL), "pselect6");
    want(left.tv_sec < 1000 && left.tv_sec > 0, "%ld s are left of 1000", (long)left.tv_sec);
}

CHECK(sleeps_with_nothing_to_wait_for) {
    struct timespec before, after, soon = {0, 20000000};
    clock_gettime(CLOCK_MONOTONIC, &before);
    want(works(syscall(SYS_pselect6, 0, NULL, NULL, NULL, &soon, NULL), "pselect6") == 0, "not 0");
    clock_gettime(CLOCK_MONOTONIC, &after);
    long ns = (after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec;
    want(ns >= 20000000, "woke after %ld of 20000000 ns", ns);
}

CHECK(waits_until_something_comes) {
    int ends[2];
    works(pipe(ends), "pipe");
    pid_t child = (pid_t)works(fork(), "fork");
    if (child == 0) {
        usleep(50000);
        _exit(write(ends[1], "x", 1) != 1);
    }
    int count = add(ends[0], &reading);
    struct timespec long_time = {3, 0};
    want(syscall(SYS_pselect6, count, &reading, NULL, NULL, &long_time, NULL) == 1, "nothing came");
    waitpid(child, NULL, 0);
}

CHECK(lets_a_blocked_signal_in_for_the_wait) {
    struct timespec long_time = {3, 0};
    struct mask all = {&nobody, 8};
    sigset_t after;
    signal(SIGALRM, ring);
    works(syscall(SYS_rt_sigprocmask, SIG_BLOCK, &alarms, NULL, 8), "rt_sigprocmask");
    raise(SIGALRM);
    refuses(syscall(SYS_pselect6, 0, NULL, NULL, NULL, &long_time, &all), EINTR,
            "pselect6, a signal pending");
    want(rang == SIGALRM, "the handler did not run");
    sigprocmask(SIG_BLOCK, NULL, &after);
    want(sigismember(&after, SIGALRM) == 1, "the mask from before is lost");
}

CHECK(keeps_a_signal_out_for_the_wait) {
    struct timespec soon = {0, 50000000};
    struct itimerval once = {.it_value.tv_usec = 10000};
    struct mask none = {&alarms, 8};
    signal(SIGALRM, ring);
    works(setitimer(ITIMER_REAL, &once, NULL), "setitimer");
    want(works(syscall(SYS_pselect6, 0, NULL, NULL, NULL, &soon, &none), "pselect6") == 0, "not 0");
    for (int i = 0; i < 200 && !rang; i++)
        usleep(10000);
    want(rang == SIGALRM, "the signal is lost");
}

CHECK(refuses_a_closed_descriptor) {
    int fd = (int)works(dup(0), "dup");
    close(fd);
    int count = add(fd, &reading);
    refuses(syscall(SYS_pselect6, count, &reading, NULL, NULL, &now, NULL), EBADF,
            "pselect6 of a closed one");
}

CHECK(refuses_a_negative_count) {
    refuses(syscall(SYS_pselect6, -1, NULL, NULL, NULL, &now, NULL), EINVAL, "pselect6 of -1");
}

CHECK(refuses_a_time_that_is_none) {
    struct timespec too_fine = {0, 1000000000};
    refuses(syscall(SYS_pselect6, 0, NULL, NULL, NULL, &too_fine, NULL), EINVAL,
            "pselect6 for 10^9 ns");
}

CHECK(refuses_a_mask_of_another_size) {
    struct mask small = {&nobody, 4};
    refuses(syscall(SYS_pselect6, 0, NULL, NULL, NULL, &now, &small), EINVAL,
            "pselect6, a mask of 4 bytes");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_pselect6, 1, (void *)8, NULL, NULL, &now, NULL), EFAULT, "a set at 8");
    refuses(syscall(SYS_pselect6, 0, NULL, NULL, NULL, &now, (void *)8), EFAULT, "a mask at 8");
}

CHECKS
