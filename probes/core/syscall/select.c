/* select: sets of descriptors that are ready, the time that is left, bad sets and times. */
#define CAPABILITY "syscall_select"
#include "_runner_c.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef SYS_select
static fd_set reading, writing;
static struct timeval now = {0};

static void nothing(int number) {
    (void)number;
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
    want(works(syscall(SYS_select, count, &reading, &writing, NULL, &now), "select") == 2, "not 2");
    want(FD_ISSET(ends[0], &reading) && FD_ISSET(ends[1], &writing), "the sets say otherwise");
}

CHECK(takes_out_what_is_not_ready) {
    int one[2], other[2];
    works(pipe(one), "pipe");
    works(pipe(other), "pipe");
    works(write(other[1], "x", 1), "write");
    add(one[0], &reading);
    int count = add(other[0], &reading);
    want(works(syscall(SYS_select, count, &reading, NULL, NULL, &now), "select") == 1, "not 1");
    want(!FD_ISSET(one[0], &reading) && FD_ISSET(other[0], &reading), "the set says otherwise");
}

CHECK(gives_0_and_an_empty_set_when_the_time_is_up) {
    int ends[2];
    struct timeval soon = {0, 20000};
    works(pipe(ends), "pipe");
    int count = add(ends[0], &reading);
    want(works(syscall(SYS_select, count, &reading, NULL, NULL, &soon), "select") == 0, "not 0");
    want(!FD_ISSET(ends[0], &reading), "the set is not empty");
    want(soon.tv_sec == 0 && soon.tv_usec == 0, "some time is left");
}

CHECK(reports_the_time_left) {
    int ends[2];
    struct timeval left = {1000, 0};
    works(pipe(ends), "pipe");
    int count = add(ends[1], &writing);
    works(syscall(SYS_select, count, NULL, &writing, NULL, &left), "select");
    want(left.tv_sec < 1000 && left.tv_sec > 0, "%ld s are left of 1000", (long)left.tv_sec);
}

CHECK(sees_the_end_of_a_pipe_as_readable) {
    int ends[2];
    works(pipe(ends), "pipe");
    close(ends[1]);
    int count = add(ends[0], &reading);
    want(syscall(SYS_select, count, &reading, NULL, NULL, &now) == 1, "not readable");
}

CHECK(looks_only_below_the_count) {
    int ends[2];
    works(pipe(ends), "pipe");
    add(ends[1], &writing);
    want(works(syscall(SYS_select, ends[1], NULL, &writing, NULL, &now), "select") == 0, "looked");
}

CHECK(waits_until_something_comes) {
    int ends[2];
    struct timeval long_time = {3, 0};
    works(pipe(ends), "pipe");
    pid_t child = (pid_t)works(fork(), "fork");
    if (child == 0) {
        usleep(50000);
        _exit(write(ends[1], "x", 1) != 1);
    }
    int count = add(ends[0], &reading);
    want(syscall(SYS_select, count, &reading, NULL, NULL, &long_time) == 1, "nothing came");
    waitpid(child, NULL, 0);
}

CHECK(sleeps_with_nothing_to_wait_for) {
    struct timespec before, after;
    struct timeval soon = {0, 20000};
    clock_gettime(CLOCK_MONOTONIC, &before);
    want(works(syscall(SYS_select, 0, NULL, NULL, NULL, &soon), "select") == 0, "not 0");
    clock_gettime(CLOCK_MONOTONIC, &after);
    long us = (after.tv_sec - before.tv_sec) * 1000000 + (after.tv_nsec - before.tv_nsec) / 1000;
    want(us >= 19999, "woke after %ld of 20000 us", us);
}

CHECK(is_ended_by_a_signal) {
    struct itimerval often = {.it_interval.tv_usec = 20000, .it_value.tv_usec = 20000};
    struct timeval long_time = {3, 0};
    signal(SIGALRM, nothing);
    works(setitimer(ITIMER_REAL, &often, NULL), "setitimer");
    refuses(syscall(SYS_select, 0, NULL, NULL, NULL, &long_time), EINTR, "select under an alarm");
}

CHECK(refuses_a_closed_descriptor) {
    int fd = (int)works(dup(0), "dup");
    close(fd);
    int count = add(fd, &reading);
    refuses(syscall(SYS_select, count, &reading, NULL, NULL, &now), EBADF, "a closed one");
}

CHECK(refuses_a_negative_count) {
    refuses(syscall(SYS_select, -1, NULL, NULL, NULL, &now), EINVAL, "select of -1");
}

CHECK(refuses_a_negative_time) {
    struct timeval negative = {-1, 0};
    refuses(syscall(SYS_select, 0, NULL, NULL, NULL, &negative), EINVAL, "select for -1 s");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_select, 1, (void *)8, NULL, NULL, &now), EFAULT, "select, a set at 8");
    refuses(syscall(SYS_select, 0, NULL, NULL, NULL, (void *)8), EFAULT, "select, the time at 8");
}
#else
CHECK(is_of_other_machines) {
    unavailable("this architecture has no select");
}
#endif

CHECKS
