/* A child can be started in a user namespace of its own (clone with CLONE_NEWUSER). */
#define CAPABILITY "kernel_clone_user"
#include "_runner_c.h"

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void exercise(void) {
    long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
    if (pid < 0)
        blocked("clone CLONE_NEWUSER");
    if (pid == 0)
        _exit(0);
    waitpid((pid_t)pid, NULL, 0);
    allowed("started a child in a user namespace");
}

PROBE(exercise)
