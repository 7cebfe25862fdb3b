/* A process can copy itself (fork), and wait for the copy. */
#define CAPABILITY "process_fork"
#include "_runner_c.h"

#include <sys/wait.h>
#include <unistd.h>

static void exercise(void) {
    int status;
    pid_t pid = fork();
    if (pid < 0)
        blocked("fork");
    if (pid == 0)
        _exit(7);
    if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 7)
        blocked("waitpid");
    allowed("the child's exit code came back");
}

PROBE(exercise)
