/* pause: asleep until a signal arrives. */
#define CAPABILITY "syscall_pause"
#include "_runner_c.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef SYS_pause
static volatile int heard;

static void hear(int signal) {
    heard = signal;
}

CHECK(ends_with_EINTR_after_a_handler) {
    signal(SIGALRM, hear);
    ualarm(20000, 20000);
    refuses(syscall(SYS_pause), EINTR, "pause");
    want(heard == SIGALRM, "no handler ran");
}

static void pauses(void) {
    syscall(SYS_pause);
    _exit(1);
}

CHECK(ends_with_the_process) {
    pid_t child = child_that(pauses);
    works(kill(child, SIGTERM), "kill");
    int status = end_of(child);
    want(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM, "status is %#x", status);
}

CHECK(sleeps_on_through_what_is_ignored) {
    signal(SIGUSR1, SIG_IGN);
    pid_t child = child_that(pauses);
    for (int i = 0; i < 3; i++) {
        usleep(10000);
        works(kill(child, SIGUSR1), "kill");
    }
    want(waitpid(child, NULL, WNOHANG) == 0, "it ended");
}
#else
CHECK(is_asked_of_ppoll_here) {
    unavailable("this architecture has ppoll only");
}
#endif

CHECKS
