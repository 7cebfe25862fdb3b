/* rt_sigsuspend: asleep under another mask, until a signal arrives. */
#define CAPABILITY "syscall_rt_sigsuspend"
#include "_runner_c.h"

#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BIT(signal) (1UL << ((signal) - 1))

static volatile int heard;
static sigset_t during;

static void hear(int signal) {
    heard = signal;
    sigprocmask(SIG_BLOCK, NULL, &during);
}

static long suspend(uint64_t mask) {
    return syscall(SYS_rt_sigsuspend, &mask, sizeof mask);
}

static void hold_back(int number) {
    sigset_t set;
    signal(number, hear);
    sigemptyset(&set);
    sigaddset(&set, number);
    works(sigprocmask(SIG_BLOCK, &set, NULL), "sigprocmask");
}

CHECK(lets_a_waiting_signal_through) {
    hold_back(SIGUSR1);
    raise(SIGUSR1);
    want(heard == 0, "it was not held back");
    refuses(suspend(0), EINTR, "rt_sigsuspend");
    want(heard == SIGUSR1, "heard %d", heard);
}

CHECK(restores_the_mask) {
    sigset_t set;
    hold_back(SIGUSR1);
    raise(SIGUSR1);
    suspend(BIT(SIGUSR2));
    want(sigismember(&during, SIGUSR2), "the handler ran under another mask");
    sigprocmask(SIG_BLOCK, NULL, &set);
    want(sigismember(&set, SIGUSR1) && !sigismember(&set, SIGUSR2), "another mask after it");
}

static void signals_the_parent(void) {
    usleep(10000);
    kill(getppid(), SIGUSR1);
}

CHECK(waits_for_a_signal_to_come) {
    hold_back(SIGUSR1);
    pid_t child = child_that(signals_the_parent);
    refuses(suspend(BIT(SIGCHLD)), EINTR, "rt_sigsuspend");
    want(heard == SIGUSR1, "heard %d", heard);
    end_of(child);
}

static void suspends_holding_all_back(void) {
    suspend(~0UL);
    _exit(1);
}

CHECK(never_holds_back_SIGKILL) {
    pid_t child = child_that(suspends_holding_all_back);
    usleep(10000);
    works(kill(child, SIGKILL), "kill");
    want(WTERMSIG(end_of(child)) == SIGKILL, "another end");
}

CHECK(refuses_another_size) {
    uint64_t mask = 0;
    refuses(syscall(SYS_rt_sigsuspend, &mask, 4), EINVAL, "4 bytes");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_rt_sigsuspend, 8, 8), EFAULT, "a mask at address 8");
}

CHECKS
