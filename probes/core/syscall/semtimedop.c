/* semtimedop: semaphores that are waited for, up to a time. */
#define CAPABILITY "syscall_semtimedop"
#include "_runner_c.h"

#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int set = -1;

static void make(void) {
    set = (int)works(semget(IPC_PRIVATE, 1, 0600), "semget");
}

static long change(int by, const struct timespec *time) {
    struct sembuf one = {0, (short)by, 0};
    return syscall(SYS_semtimedop, set, &one, 1, time);
}

static long after(long result) {
    int number = errno;
    semctl(set, 0, IPC_RMID);
    errno = number;
    return result;
}

CHECK(counts_without_a_time) {
    make();
    long up = change(5, NULL), value = after(semctl(set, 0, GETVAL));
    want(up == 0 && value == 5, "it is %ld", value);
}

CHECK(gives_up_when_the_time_is_up) {
    struct timespec before, now, soon = {0, 20000000};
    make();
    clock_gettime(CLOCK_MONOTONIC, &before);
    refuses(after(change(-1, &soon)), EAGAIN, "nobody counts up");
    clock_gettime(CLOCK_MONOTONIC, &now);
    long ns = (now.tv_sec - before.tv_sec) * 1000000000 + now.tv_nsec - before.tv_nsec;
    want(ns >= 20000000, "after %ld of 20000000 ns", ns);
}

CHECK(goes_on_before_the_time_is_up) {
    struct timespec late = {3, 0};
    make();
    pid_t child = fork();
    if (child == 0) {
        usleep(50000);
        _exit(change(1, NULL) != 0);
    }
    long result = change(-1, &late);
    int number = errno;
    waitpid(child, NULL, 0);
    errno = number;
    works(after(result), "semtimedop");
}

CHECK(refuses_a_time_that_is_none) {
    struct timespec bad = {0, 1000000000};
    make();
    refuses(after(change(-1, &bad)), EINVAL, "10^9 ns");
}

CHECK(refuses_what_are_no_semaphores) {
    refuses(change(1, NULL), EINVAL, "-1");
}

CHECK(refuses_a_bad_address) {
    make();
    refuses(after(change(-1, (void *)8)), EFAULT, "a time at 8");
}

CHECKS
