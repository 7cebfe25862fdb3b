/* rt_sigpending: the signals that wait. */
#define CAPABILITY "syscall_rt_sigpending"
#include "_runner_c.h"

#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BIT(signal) (1UL << ((signal) - 1))

static uint64_t pending(void) {
    uint64_t set = ~0UL;
    works(syscall(SYS_rt_sigpending, &set, sizeof set), "rt_sigpending");
    return set;
}

static void hold_back(int signal) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    works(sigprocmask(SIG_BLOCK, &set, NULL), "sigprocmask");
}

CHECK(reports_none_at_first) {
    want(pending() == 0, "one waits");
}

CHECK(reports_what_is_held_back) {
    hold_back(SIGUSR1);
    works(kill(getpid(), SIGUSR1), "kill");
    want(pending() == BIT(SIGUSR1), "others wait");
}

CHECK(reports_those_of_the_thread_too) {
    hold_back(SIGUSR2);
    works(syscall(SYS_tgkill, getpid(), gettid(), SIGUSR2), "tgkill");
    want(pending() == BIT(SIGUSR2), "others wait");
}

CHECK(forgets_what_is_ignored) {
    hold_back(SIGUSR1);
    works(kill(getpid(), SIGUSR1), "kill");
    signal(SIGUSR1, SIG_IGN);
    want(pending() == 0, "it still waits");
}

CHECK(forgets_what_was_taken) {
    sigset_t set;
    int taken;
    hold_back(SIGUSR1);
    works(kill(getpid(), SIGUSR1), "kill");
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigwait(&set, &taken);
    want(pending() == 0, "it still waits");
}

CHECK(takes_a_shorter_set_and_no_longer_one) {
    uint64_t set[2] = {~0UL, ~0UL};
    works(syscall(SYS_rt_sigpending, set, 4), "4 bytes");
    want(set[0] == 0xffffffff00000000, "not 4 bytes were written");
    refuses(syscall(SYS_rt_sigpending, set, 16), EINVAL, "16 bytes");
}

CHECK(refuses_a_bad_address) {
    refuses(syscall(SYS_rt_sigpending, 8, 8), EFAULT, "address 8");
}

CHECKS
