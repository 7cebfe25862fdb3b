/* rt_sigprocmask: signals held back and let through. */
#define CAPABILITY "syscall_rt_sigprocmask"
#include "_runner_c.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BIT(signal) (1UL << ((signal) - 1))

static volatile int heard;

static void hear(int signal) {
    heard = signal;
}

static uint64_t mask(int how, uint64_t set) {
    uint64_t old;
    works(syscall(SYS_rt_sigprocmask, how, &set, &old, sizeof set), "rt_sigprocmask");
    return old;
}

CHECK(holds_a_signal_back_until_it_is_let_through) {
    signal(SIGUSR1, hear);
    mask(SIG_BLOCK, BIT(SIGUSR1));
    raise(SIGUSR1);
    want(heard == 0, "it was not held back");
    mask(SIG_UNBLOCK, BIT(SIGUSR1));
    want(heard == SIGUSR1, "it was lost");
}

CHECK(adds_takes_away_and_sets) {
    mask(SIG_SETMASK, BIT(SIGUSR1));
    want(mask(SIG_BLOCK, BIT(SIGUSR2)) == BIT(SIGUSR1), "not what was set");
    want(mask(SIG_UNBLOCK, BIT(SIGUSR1)) == (BIT(SIGUSR1) | BIT(SIGUSR2)), "nothing was added");
    want(mask(SIG_SETMASK, 0) == BIT(SIGUSR2), "nothing was taken away");
}

CHECK(only_reports_without_a_set) {
    uint64_t old = 0;
    mask(SIG_SETMASK, BIT(SIGHUP));
    works(syscall(SYS_rt_sigprocmask, 99, NULL, &old, sizeof old), "rt_sigprocmask");
    want(old == BIT(SIGHUP), "another mask");
}

CHECK(never_holds_back_SIGKILL_and_SIGSTOP) {
    mask(SIG_SETMASK, ~0UL);
    want(mask(SIG_BLOCK, 0) == ~(BIT(SIGKILL) | BIT(SIGSTOP)), "another mask");
}

CHECK(keeps_one_of_each_and_all_real_time_ones) {
    static volatile int count[65];
    mask(SIG_BLOCK, BIT(SIGUSR1) | BIT(SIGRTMIN));
    for (int i = 0; i < 3; i++) {
        raise(SIGUSR1);
        raise(SIGRTMIN);
    }
    sigset_t set;
    sigfillset(&set);
    struct timespec now = {0, 0};
    for (int got; (got = sigtimedwait(&set, NULL, &now)) > 0;)
        count[got]++;
    want(count[SIGUSR1] == 1, "SIGUSR1 %d times", count[SIGUSR1]);
    want(count[SIGRTMIN] == 3, "SIGRTMIN %d times", count[SIGRTMIN]);
}

static void *ask(void *answer) {
    *(uint64_t *)answer = mask(SIG_BLOCK, BIT(SIGUSR2));
    return NULL;
}

CHECK(is_inherited_by_a_thread_and_then_its_own) {
    pthread_t thread;
    uint64_t theirs = 0;
    mask(SIG_SETMASK, BIT(SIGUSR1));
    want(pthread_create(&thread, NULL, ask, &theirs) == 0, "no thread");
    pthread_join(thread, NULL);
    want(theirs & BIT(SIGUSR1), "not inherited");
    want(mask(SIG_BLOCK, 0) == BIT(SIGUSR1), "the thread's mask is the process's");
}

CHECK(refuses_an_unknown_way) {
    uint64_t set = 0;
    refuses(syscall(SYS_rt_sigprocmask, 99, &set, NULL, sizeof set), EINVAL, "way 99");
}

CHECK(refuses_another_size) {
    uint64_t set = 0;
    refuses(syscall(SYS_rt_sigprocmask, SIG_BLOCK, &set, NULL, 4), EINVAL, "4 bytes");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_rt_sigprocmask, SIG_BLOCK, 8, NULL, 8), EFAULT, "a set at address 8");
    refuses(syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, 8, 8), EFAULT, "the old to address 8");
}

CHECKS
