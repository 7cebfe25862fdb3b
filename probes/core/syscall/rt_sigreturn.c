/* rt_sigreturn: the way back from a handler. */
#define CAPABILITY "syscall_rt_sigreturn"
#include "_runner_c.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static volatile int heard;

static void hear(int signal) {
    heard = signal;
}

CHECK(goes_on_where_the_signal_came) {
    signal(SIGUSR1, hear);
    for (int i = 0; i < 100; i++) {
        heard = 0;
        raise(SIGUSR1);
        want(heard == SIGUSR1, "round %d", i);
    }
}

CHECK(restores_the_mask) {
    sigset_t set;
    signal(SIGUSR1, hear);
    raise(SIGUSR1);
    sigprocmask(SIG_BLOCK, NULL, &set);
    want(!sigismember(&set, SIGUSR1), "it is still held back");
}

static void change_the_mask(int signal, siginfo_t *info, void *context) {
    (void)signal;
    (void)info;
    sigaddset(&((ucontext_t *)context)->uc_sigmask, SIGUSR2);
}

CHECK(takes_the_mask_that_the_handler_left) {
    struct sigaction action = {.sa_sigaction = change_the_mask, .sa_flags = SA_SIGINFO};
    sigset_t set;
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    sigprocmask(SIG_BLOCK, NULL, &set);
    want(sigismember(&set, SIGUSR2), "another mask");
}

static volatile double number;

static void spoil_numbers(int signal) {
    heard = signal;
    number = number * 3 + signal;
}

CHECK(restores_floating_point_registers) {
    double sum = 0;
    signal(SIGUSR1, spoil_numbers);
    for (int i = 1; i <= 1000; i++) {
        sum += 1.0 / i;
        if (i % 100 == 0)
            raise(SIGUSR1);
    }
    want(sum > 7.48547 && sum < 7.48548, "the sum is %f", sum);
}

static char stack[65536] __attribute__((aligned(64))); /* of zeros: no frame of a handler's */

static int return_from_nothing(void *unused) {
    (void)unused;
    prctl(PR_SET_DUMPABLE, 0);
    return (int)syscall(SYS_rt_sigreturn);
}

CHECK(kills_who_comes_from_no_handler) {
    int pid = clone(return_from_nothing, stack + sizeof stack / 2, SIGCHLD, NULL);
    int status = end_of((int)works(pid, "clone"));
    want(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "status is %#x", status);
}

CHECKS
