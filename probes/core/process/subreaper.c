/* A process can adopt the orphans among its descendants (PR_SET_CHILD_SUBREAPER). */
#define CAPABILITY "process_subreaper"
#include "_runner_c.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void exercise(void) {
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
        blocked("PR_SET_CHILD_SUBREAPER");
    pid_t child = fork();
    if (child < 0)
        blocked("fork");
    if (child == 0) {
        if (fork() == 0) {
            for (int i = 0; i < 500 && getppid() == child; i++)
                usleep(1000);
            _exit(7);
        }
        _exit(0);
    }
    int status, adopted = 0;
    for (pid_t pid; (pid = wait(&status)) > 0;)
        adopted |= pid != child;
    if (!adopted)
        blocked_with(0, "the orphan went elsewhere");
    allowed("waited for a grandchild");
}

PROBE(exercise)
