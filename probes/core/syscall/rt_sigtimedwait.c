/* rt_sigtimedwait: a signal taken by waiting for it. */
#define CAPABILITY "syscall_rt_sigtimedwait"
#include "_runner_c.h"

#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BIT(signal) (1UL << ((signal) - 1))

static siginfo_t info;
static const struct timespec now = {0, 0}, second = {1, 0};

static long wait_for(uint64_t set, const struct timespec *limit) {
    return syscall(SYS_rt_sigtimedwait, &set, &info, limit, sizeof set);
}

static void hold_back(int first, int second) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, first);
    sigaddset(&set, second);
    works(sigprocmask(SIG_BLOCK, &set, NULL), "sigprocmask");
}

CHECK(takes_a_signal_that_waits) {
    hold_back(SIGUSR1, SIGUSR2);
    works(kill(getpid(), SIGUSR1), "kill");
    want(works(wait_for(BIT(SIGUSR1), &now), "rt_sigtimedwait") == SIGUSR1, "another signal");
    want(info.si_signo == SIGUSR1 && info.si_pid == getpid(), "another signal or sender");
    refuses(wait_for(BIT(SIGUSR1), &now), EAGAIN, "taking it again");
}

static void signals_the_parent(void) {
    union sigval value = {.sival_int = 77};
    usleep(10000);
    sigqueue(getppid(), SIGUSR1, value);
}

CHECK(waits_for_a_signal_to_come) {
    hold_back(SIGUSR1, SIGCHLD);
    pid_t child = child_that(signals_the_parent);
    want(works(wait_for(BIT(SIGUSR1), NULL), "rt_sigtimedwait") == SIGUSR1, "another signal");
    want(info.si_value.sival_int == 77 && info.si_pid == child, "another sender");
    end_of(child);
}

CHECK(leaves_other_signals) {
    hold_back(SIGUSR1, SIGUSR2);
    works(kill(getpid(), SIGUSR2), "kill");
    refuses(wait_for(BIT(SIGUSR1), &now), EAGAIN, "another signal");
    want(wait_for(BIT(SIGUSR2), &now) == SIGUSR2, "it was lost");
}

CHECK(takes_the_lowest_first_and_queues_in_order) {
    hold_back(SIGRTMIN, SIGRTMIN + 1);
    for (int i = 0; i < 3; i++) {
        union sigval value = {.sival_int = i};
        works(sigqueue(getpid(), SIGRTMIN + (i == 0), value), "sigqueue");
    }
    static const int order[] = {1, 2, 0};
    for (int i = 0; i < 3; i++) {
        works(wait_for(BIT(SIGRTMIN) | BIT(SIGRTMIN + 1), &now), "rt_sigtimedwait");
        want(info.si_value.sival_int == order[i], "number %d came at %d", info.si_int, i);
    }
}

CHECK(waits_no_longer_than_asked) {
    struct timespec limit = {0, 10000000}, before, after;
    hold_back(SIGUSR1, SIGUSR2);
    clock_gettime(CLOCK_MONOTONIC, &before);
    refuses(wait_for(BIT(SIGUSR1), &limit), EAGAIN, "a wait of 10 ms");
    clock_gettime(CLOCK_MONOTONIC, &after);
    want((after.tv_sec - before.tv_sec) * 1000000000L + after.tv_nsec - before.tv_nsec >= 10000000,
         "it was shorter");
}

static void hear(int signal) {
    (void)signal;
}

CHECK(is_interrupted_by_another_signal) {
    hold_back(SIGUSR1, SIGUSR2);
    signal(SIGALRM, hear);
    ualarm(20000, 20000);
    refuses(wait_for(BIT(SIGUSR1), NULL), EINTR, "a wait under an alarm");
}

CHECK(refuses_a_bad_time) {
    struct timespec bad = {0, -1};
    refuses(wait_for(BIT(SIGUSR1), &bad), EINVAL, "-1 nanoseconds");
}

CHECK(refuses_another_size) {
    uint64_t set = 0;
    refuses(syscall(SYS_rt_sigtimedwait, &set, &info, &second, 4), EINVAL, "4 bytes");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_rt_sigtimedwait, 8, &info, &second, 8), EFAULT, "a set at address 8");
}

CHECKS
