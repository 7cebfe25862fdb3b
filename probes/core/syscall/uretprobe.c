/* uretprobe: code that the kernel inserts for a tracer calls it, and nobody else. */
#define CAPABILITY "syscall_uretprobe"
#include "_runner_c.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __x86_64__
static void calls_it(void) {
    prctl(PR_SET_DUMPABLE, 0);
    signal(SIGILL, SIG_DFL);
    syscall(335);
    _exit(errno);
}

CHECK(ends_who_calls_it_by_hand) {
    int status = end_of(child_that(calls_it));
    if (WIFEXITED(status))
        blocked_with(WEXITSTATUS(status), "uretprobe");
    want(WTERMSIG(status) == SIGILL, "status is %#x", status);
}

static volatile int heard;

static void hear(int signal) {
    heard = signal;
}

CHECK(is_answered_by_a_signal) {
    signal(SIGILL, hear);
    long result = syscall(335);
    if (!heard)
        works(result, "uretprobe");
    want(heard == SIGILL, "no SIGILL");
}
#else
CHECK(is_unknown_here) {
    unavailable("this architecture has no such call");
}
#endif

CHECKS
