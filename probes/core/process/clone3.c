/* A child can be started by the newest call for it (clone3). */
#define CAPABILITY "process_clone3"
#include "_runner_c.h"

#include <linux/sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void exercise(void) {
    int status;
    struct clone_args arguments = {.exit_signal = SIGCHLD};
    long pid = syscall(SYS_clone3, &arguments, sizeof arguments);
    if (pid < 0)
        blocked("clone3");
    if (pid == 0)
        _exit(7);
    if (waitpid((pid_t)pid, &status, 0) != pid || WEXITSTATUS(status) != 7)
        blocked("waitpid");
    allowed("the child's exit code came back");
}

PROBE(exercise)
