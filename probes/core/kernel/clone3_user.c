/* A child can be started in a user namespace by clone3, whose flags no syscall filter can read. */
#define CAPABILITY "kernel_clone3_user"
#include "_runner_c.h"

#include <linux/sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void exercise(void) {
    struct clone_args arguments = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
    long pid = syscall(SYS_clone3, &arguments, sizeof arguments);
    if (pid < 0)
        blocked("clone3 CLONE_NEWUSER");
    if (pid == 0)
        _exit(0);
    waitpid((pid_t)pid, NULL, 0);
    allowed("started a child in a user namespace");
}

PROBE(exercise)
