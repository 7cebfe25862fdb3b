/* kill: signals to processes and groups. */
#define CAPABILITY "syscall_kill"
#include "_runner_c.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 0x7ffffff0

static volatile int heard, sender;

static void hear(int signal, siginfo_t *info, void *context) {
    (void)context;
    heard = signal;
    sender = info->si_code == SI_USER && info->si_uid == getuid() ? info->si_pid : -1;
}

static void listen(int signal) {
    struct sigaction action = {.sa_sigaction = hear, .sa_flags = SA_SIGINFO};
    works(sigaction(signal, &action, NULL), "sigaction");
}

CHECK(reaches_the_caller_before_it_returns) {
    listen(SIGUSR1);
    works(syscall(SYS_kill, getpid(), SIGUSR1), "kill");
    want(heard == SIGUSR1 && sender == getpid(), "heard %d from %d", heard, sender);
}

static void signals_the_parent(void) {
    _exit(syscall(SYS_kill, getppid(), SIGUSR1) == 0 ? 0 : 1);
}

CHECK(reaches_the_parent) {
    listen(SIGUSR1);
    pid_t child = child_that(signals_the_parent);
    want(end_of(child) == 0 && soon(heard == SIGUSR1) && sender == child, "sender %d", sender);
}

CHECK(ends_a_child) {
    pid_t child = child_that(waits);
    works(syscall(SYS_kill, child, SIGKILL), "kill");
    want(WTERMSIG(end_of(child)) == SIGKILL, "another end");
}

CHECK(stops_and_continues_a_child) {
    pid_t child = child_that(waits);
    int status;
    works(syscall(SYS_kill, child, SIGSTOP), "stop");
    want(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status), "not stopped");
    works(syscall(SYS_kill, child, SIGCONT), "continue");
    want(waitpid(child, &status, WCONTINUED) == child && WIFCONTINUED(status), "not continued");
}

CHECK(reaches_all_of_a_group) {
    pid_t first = child_that(waits), second = child_that(waits), third = child_that(waits);
    works(setpgid(first, first), "setpgid");
    works(setpgid(second, first), "setpgid");
    works(syscall(SYS_kill, -first, SIGTERM), "kill of the group");
    want(WTERMSIG(end_of(first)) == SIGTERM && WTERMSIG(end_of(second)) == SIGTERM, "others");
    want(waitpid(third, NULL, WNOHANG) == 0, "one outside the group ended, too");
}

CHECK(reaches_the_own_group) {
    works(setpgid(0, 0), "setpgid");
    listen(SIGUSR1);
    pid_t child = child_that(waits); /* it has the same handler */
    works(syscall(SYS_kill, 0, SIGUSR1), "kill 0");
    want(heard == SIGUSR1, "not heard");
    works(syscall(SYS_kill, child, SIGKILL), "kill");
    end_of(child);
}

CHECK(of_signal_0_asks_whether_somebody_is_there) {
    pid_t child = child_that(waits);
    works(syscall(SYS_kill, child, 0), "kill 0");
    works(syscall(SYS_kill, -getpgid(0), 0), "kill 0 of the group");
    want(waitpid(child, NULL, WNOHANG) == 0, "it ended");
}

CHECK(reaches_zombies_without_effect) {
    pid_t child = child_that(waits);
    siginfo_t info;
    works(syscall(SYS_kill, child, SIGTERM), "kill");
    works(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), "waitid");
    works(syscall(SYS_kill, child, SIGKILL), "kill of a zombie");
    want(WTERMSIG(end_of(child)) == SIGTERM, "another end");
}

CHECK(refuses_who_was_waited_for) {
    pid_t child = child_that(waits);
    works(syscall(SYS_kill, child, SIGKILL), "kill");
    end_of(child);
    refuses(syscall(SYS_kill, child, 0), ESRCH, "kill");
}

CHECK(refuses_nobody) {
    refuses(syscall(SYS_kill, NOBODY, SIGTERM), ESRCH, "kill of nobody");
    refuses(syscall(SYS_kill, -NOBODY, SIGTERM), ESRCH, "kill of nobody's group");
}

CHECK(refuses_what_is_no_signal) {
    refuses(syscall(SYS_kill, getpid(), 65), EINVAL, "signal 65");
    refuses(syscall(SYS_kill, getpid(), -1), EINVAL, "signal -1");
}

CHECKS
