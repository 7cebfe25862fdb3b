/* rt_sigaction: what happens when a signal arrives. */
#define CAPABILITY "syscall_rt_sigaction"
#include "_runner_c.h"

#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* As the kernel has it. */
struct action {
    void *handler;
    unsigned long flags;
    void *restorer; /* libc's way back from a handler */
    uint64_t mask;
};

static volatile int heard, depth, deepest, masked;

static long act(int signal, const struct action *new, struct action *old) {
    return syscall(SYS_rt_sigaction, signal, new, old, sizeof new->mask);
}

static void set(int number, void *handler, unsigned long flags, uint64_t mask) {
    struct action new;
    signal(number, SIG_IGN);
    works(act(number, NULL, &new), "rt_sigaction");
    new = (struct action){handler, flags | (new.flags & 0x04000000), new.restorer, mask};
    works(act(number, &new, NULL), "rt_sigaction");
}

static void hear(int signal) {
    heard = signal;
}

CHECK(runs_a_handler) {
    set(SIGUSR1, hear, 0, 0);
    raise(SIGUSR1);
    want(heard == SIGUSR1, "heard %d", heard);
}

CHECK(reports_what_was_set) {
    struct action old;
    set(SIGUSR1, hear, SA_RESTART, 1UL << (SIGUSR2 - 1));
    works(act(SIGUSR1, NULL, &old), "rt_sigaction");
    want(old.handler == hear && old.flags & SA_RESTART, "another handler or flag");
    want(old.mask == 1UL << (SIGUSR2 - 1), "another mask");
}

CHECK(ignores_and_restores) {
    struct action action = {.handler = SIG_IGN}, old;
    works(act(SIGTERM, &action, NULL), "rt_sigaction");
    raise(SIGTERM);
    action.handler = SIG_DFL;
    works(act(SIGTERM, &action, &old), "rt_sigaction");
    want(old.handler == SIG_IGN, "the former action is another");
}

static void hear_in_full(int signal, siginfo_t *info, void *context) {
    heard = context && info->si_signo == signal && info->si_pid == getpid() ? signal : -1;
}

CHECK(hands_over_who_sent_it) {
    set(SIGUSR1, hear_in_full, SA_SIGINFO, 0);
    works(kill(getpid(), SIGUSR1), "kill");
    want(heard == SIGUSR1, "heard %d", heard);
}

CHECK(forgets_the_handler_if_asked) {
    struct action old;
    set(SIGUSR1, hear, (int)SA_RESETHAND, 0);
    raise(SIGUSR1);
    works(act(SIGUSR1, NULL, &old), "rt_sigaction");
    want(heard == SIGUSR1 && old.handler == SIG_DFL, "the handler is still there");
}

static void hear_again(int signal) {
    if (++depth > deepest)
        deepest = depth;
    if (++heard < 3)
        raise(signal);
    depth--;
}

CHECK(holds_the_signal_back_during_its_handler) {
    set(SIGUSR1, hear_again, 0, 0);
    raise(SIGUSR1);
    want(heard == 3 && deepest == 1, "%d times, %d deep", heard, deepest);
}

CHECK(nests_if_asked) {
    set(SIGUSR1, hear_again, SA_NODEFER, 0);
    raise(SIGUSR1);
    want(heard == 3 && deepest == 3, "%d times, %d deep", heard, deepest);
}

static void look_at_the_mask(int signal) {
    (void)signal;
    sigset_t set;
    sigprocmask(SIG_BLOCK, NULL, &set);
    masked = sigismember(&set, SIGUSR2) && sigismember(&set, SIGUSR1);
}

CHECK(masks_others_during_the_handler) {
    set(SIGUSR1, look_at_the_mask, 0, 1UL << (SIGUSR2 - 1));
    raise(SIGUSR1);
    sigset_t after;
    sigprocmask(SIG_BLOCK, NULL, &after);
    want(masked && !sigismember(&after, SIGUSR2), "the mask is another");
}

static int ends[2];

static void answer(int signal) {
    heard = signal;
    if (write(ends[1], "x", 1) != 1)
        _exit(1);
}

CHECK(restarts_a_call_if_asked) {
    char byte;
    works(pipe(ends), "pipe");
    set(SIGALRM, answer, SA_RESTART, 0);
    ualarm(20000, 0);
    want(works(read(ends[0], &byte, 1), "read") == 1 && heard == SIGALRM, "no byte");
}

CHECK(interrupts_a_call_otherwise) {
    char byte;
    works(pipe(ends), "pipe");
    set(SIGALRM, hear, 0, 0);
    ualarm(20000, 20000);
    refuses(read(ends[0], &byte, 1), EINTR, "read");
}

CHECK(leaves_no_zombies_if_asked) {
    set(SIGCHLD, hear, SA_NOCLDWAIT | SA_RESTART, 0);
    pid_t child = child_that(waits);
    works(kill(child, SIGKILL), "kill");
    refuses(waitpid(child, NULL, 0), ECHILD, "waitpid");
    want(soon(heard == SIGCHLD), "no SIGCHLD");
}

CHECK(reports_no_stops_if_asked) {
    siginfo_t info;
    set(SIGCHLD, hear, SA_NOCLDSTOP, 0);
    pid_t child = child_that(waits);
    works(kill(child, SIGSTOP), "stop");
    works(waitid(P_PID, (id_t)child, &info, WSTOPPED), "waitid");
    want(heard == 0, "a stop was reported");
    works(kill(child, SIGKILL), "kill");
    end_of(child);
    want(soon(heard == SIGCHLD), "the end was not reported");
}

CHECK(refuses_SIGKILL_and_SIGSTOP) {
    struct action action = {.handler = SIG_IGN};
    refuses(act(SIGKILL, &action, NULL), EINVAL, "SIGKILL");
    refuses(act(SIGSTOP, &action, NULL), EINVAL, "SIGSTOP");
}

CHECK(refuses_what_is_no_signal) {
    struct action action = {.handler = SIG_IGN};
    refuses(act(0, &action, NULL), EINVAL, "signal 0");
    refuses(act(65, &action, NULL), EINVAL, "signal 65");
}

CHECK(refuses_another_size) {
    refuses(syscall(SYS_rt_sigaction, SIGUSR1, NULL, NULL, 4), EINVAL, "a mask of 4 bytes");
}

CHECK(refuses_a_bad_address) {
    refuses(act(SIGUSR1, (struct action *)8, NULL), EFAULT, "an action at address 8");
    refuses(act(SIGUSR1, NULL, (struct action *)8), EFAULT, "the former one to address 8");
}

CHECKS
