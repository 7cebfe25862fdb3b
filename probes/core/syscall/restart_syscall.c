/* restart_syscall: how the kernel resumes what a stop interrupted. */
#define CAPABILITY "syscall_restart_syscall"
#include "_runner_c.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void handled(int number) {
    (void)number;
}

CHECK(has_nothing_to_resume_when_called_by_hand) {
    /* What the process that forked us had to resume is inherited; a handler's return ends it. */
    works(signal(SIGUSR1, handled) == SIG_ERR ? -1 : 0, "signal");
    works(raise(SIGUSR1), "raise");
    refuses(syscall(SYS_restart_syscall), EINTR, "restart_syscall");
}

static void interrupt(pid_t child) {
    usleep(50000); /* for it to fall asleep */
    works(kill(child, SIGSTOP), "stop");
    want(waitpid(child, NULL, WUNTRACED) == child, "not stopped");
    works(kill(child, SIGCONT), "continue");
}

static void sleeps(void) {
    struct timespec time = {0, 300000000};
    _exit(syscall(SYS_nanosleep, &time, NULL) == 0 ? 0 : 1);
}

CHECK(resumes_a_sleep) {
    pid_t child = child_that(sleeps);
    interrupt(child);
    want(end_of(child) == 0, "it was cut short");
}

static void polls(void) {
    _exit(poll(NULL, 0, 300) == 0 ? 0 : 1);
}

CHECK(resumes_a_poll) {
    pid_t child = child_that(polls);
    interrupt(child);
    want(end_of(child) == 0, "it was cut short");
}

CHECKS
