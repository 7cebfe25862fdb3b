/* An open descriptor can be taken out of another process (pidfd_getfd). */
#define CAPABILITY "process_steal_descriptor"
#include "_runner_c.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void exercise(void) {
    int ends[2];
    if (pipe(ends) < 0)
        blocked("pipe");
    pid_t pid = fork();
    if (pid < 0)
        blocked("fork");
    if (pid == 0) {
        alarm(20);
        for (;;)
            pause();
    }
    long process = syscall(SYS_pidfd_open, pid, 0);
    long taken = process < 0 ? -1 : syscall(SYS_pidfd_getfd, process, ends[0], 0);
    int number = errno;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    if (taken < 0)
        blocked_with(number, process < 0 ? "pidfd_open" : "pidfd_getfd");
    allowed("took a descriptor out of a child");
}

PROBE(exercise)
